"""Runs that go on becoming longer, and those that only became longer once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from services.domain.insight.forecast import durations, trend
from services.domain.insight.forecast.durations import Ran

ROUND_S = 1200.0  #: eight shops run every 20 minutes, within five of them


def runs(grown: Callable[[float], float], seed: int, rounds: int = 3) -> list[tuple[float, float]]:
    """When each began and how long it took, some longer and some shorter; ``grown``: by seconds how many times."""
    chance = random.Random(seed)
    starts = [place * ROUND_S + chance.uniform(0, 300) for place in range(rounds) for _ in range(7)]
    return [(at, 90 * grown(at) * math.exp(chance.gauss(0, 0.25))) for at in starts]


def found(grown: Callable[[float], float]) -> list[trend.Trend]:
    return [one for seed in range(40) if (one := trend.of(runs(grown, seed))) is not None]


def test_what_grows_is_seen_to_grow_and_how_fast() -> None:
    by_minute = 0.03
    seen = found(lambda at: math.exp(by_minute * at / 60))
    assert len(seen) >= 35
    assert sum(one.per_s for one in seen) / len(seen) == pytest.approx(by_minute / 60, rel=0.25)
    assert all(one.doubt > 0 and one.lasted_s > 2000 for one in seen)


@pytest.mark.parametrize(
    ("grown", "most"),
    [
        (lambda _at: 1.0, 2),
        (lambda at: 1 / (1 + at / 1200), 0),  # they become shorter
        (lambda at: 6.0 if at > 1000 else 1.0, 0),  # a step, and it stays so
        (lambda at: 2.0 if at > 1800 else 1.0, 5),
    ],
)
def test_neither_chance_nor_a_step_is_a_trend(grown: Callable[[float], float], most: int) -> None:
    assert len(found(grown)) <= most


def test_few_runs_show_none() -> None:
    assert trend.of([(n * 60.0, 60.0 + n) for n in range(trend.LEAST - 1)]) is None
    assert trend.of([]) is None


def test_a_trend_goes_on_for_as_long_as_it_is_thought_to() -> None:
    one = trend.Trend(per_s=0.001, doubt=0.0002, lasted_s=600.0)
    assert one.then(300, 0.0, 1.0) == pytest.approx(1.3)
    assert one.then(3600, 0.0, 1.0) == pytest.approx(1.6), "it has lasted for ten minutes, and lasts for ten more"
    assert one.then(600, -10.0, 1.0) == 1.0, "who becomes slower does not become faster"


def test_how_long_tasks_take_now_is_told_by_all_that_show_the_trend() -> None:
    said = [Ran(round(at * 1000) + 1, took) for at, took in runs(lambda at: math.exp(0.03 * at / 60), 1)]
    late = durations.of_late(said)
    assert late.trend is not None
    last = 90 * math.exp(0.03 * max(one.since for one in said) / 60_000)
    assert late.usual_s == pytest.approx(last, rel=0.2)
