"""When a series of an endurance run is said to grow."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.soak.verdict import Bound, Kind, Point, curve, judge

HOURS, SAMPLES = 2.0, 240
BOUND = Bound(floor=5.0, share=0.05)


def series(
    value: Callable[[float], float], *, noise: float = 0.0, seed: int = 1, samples: int = SAMPLES
) -> list[Point]:
    """``value`` of the share of the run that has passed, every so often."""
    dice = random.Random(seed)
    return [
        (HOURS * place / samples, value(place / samples) + dice.gauss(0.0, noise) if noise else value(place / samples))
        for place in range(samples + 1)
    ]


def warm(share: float) -> float:
    """100 after it has risen for the first fifth."""
    return 100.0 * min(1.0, 0.3 + share * 3.5)


@pytest.mark.parametrize("seed", range(20))
def test_noise_on_a_level_is_flat(seed: int) -> None:
    found = judge(series(warm, noise=6.0, seed=seed), BOUND)
    assert found.kind is Kind.FLAT
    assert found.level == pytest.approx(100.0, abs=3.0)


@pytest.mark.parametrize("seed", range(20))
def test_slow_growth_under_noise_is_told_with_its_pace(seed: int) -> None:
    found = judge(series(lambda share: 100.0 + 20.0 * share, noise=2.0, seed=seed), BOUND)
    assert found.kind is Kind.GROWS
    assert found.per_hour == pytest.approx(10.0, rel=0.3)
    assert "GROWS by" in found.words
    assert "an hour" in found.words


def test_what_rises_within_the_bound_is_flat_and_its_pace_is_told_all_the_same() -> None:
    found = judge(series(lambda share: 100.0 + 8.0 * share), BOUND)
    assert found.kind is Kind.FLAT
    assert "+4 an hour" in found.words


@pytest.mark.parametrize("at", [0.6, 0.7, 0.75, 0.8, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_one_step_is_no_growth(at: float, seed: int) -> None:
    found = judge(series(lambda share: 100.0 + (30.0 if share > at else 0.0), noise=1.0, seed=seed), BOUND)
    assert found.kind in (Kind.STEP, Kind.FLAT)
    if found.kind is Kind.STEP:
        assert found.step == pytest.approx(30.0, abs=3.0)
        assert found.at == pytest.approx(HOURS * at, abs=0.1)


def test_a_step_in_the_middle_of_the_judged_half_is_told() -> None:
    assert judge(series(lambda share: 100.0 + (30.0 if share > 0.7 else 0.0), noise=1.0), BOUND).kind is Kind.STEP


def test_a_stairway_grows() -> None:
    found = judge(series(lambda share: 100.0 + 8.0 * int(share * 12), noise=0.5), BOUND)
    assert found.kind is Kind.GROWS


@pytest.mark.parametrize("teeth", [6, 9, 16, 40])
@pytest.mark.parametrize("shift", [0.0, 0.3, 0.6])
def test_the_sawtooth_of_retention_is_flat(teeth: int, shift: float) -> None:
    found = judge(series(lambda share: 100.0 + 60.0 * ((share * teeth + shift) % 1.0), noise=1.0), BOUND)
    assert found.kind is Kind.FLAT


@pytest.mark.parametrize("teeth", [9, 16, 40])
def test_a_sawtooth_that_never_comes_down_as_far_grows(teeth: int) -> None:
    found = judge(
        series(lambda share: 100.0 + 80.0 * share + 30.0 * ((share * teeth) % 1.0), noise=1.0),
        BOUND,
    )
    assert found.kind is Kind.GROWS


def test_what_fills_up_only_while_it_warms_up_is_flat() -> None:
    assert judge(series(lambda share: min(1000.0, 2500.0 * share)), BOUND).kind is Kind.FLAT


def test_what_falls_is_flat() -> None:
    found = judge(series(lambda share: 100.0 - 50.0 * share), BOUND)
    assert found.kind is Kind.FLAT
    assert found.per_hour < 0


def test_a_run_of_minutes_says_nothing_of_an_hour() -> None:
    found = judge([(at / 10, value) for at, value in series(lambda share: 100.0 + 8.0 * share)], BOUND)
    assert "+4 in 6.0 min" in found.words


def test_a_counter_at_nought_is_flat() -> None:
    assert judge(series(lambda _share: 0.0), Bound(floor=3.0)).kind is Kind.FLAT


@pytest.mark.parametrize("samples", [1, 5, 12])
def test_a_short_run_tells_nothing(samples: int) -> None:
    assert judge(series(lambda share: 100.0 + 900.0 * share, samples=samples), BOUND).kind is Kind.SHORT


def test_what_was_never_measured_tells_nothing() -> None:
    assert judge([], BOUND).kind is Kind.SHORT


def test_what_is_kept_for_ever_is_told_and_not_judged() -> None:
    assert judge(series(lambda share: 1000.0 * share), None).kind is Kind.TOLD


def test_days_of_samples_are_judged_in_a_moment() -> None:
    found = judge(series(lambda share: 100.0 + 20.0 * share, noise=2.0, samples=8_640), BOUND)
    assert found.kind is Kind.GROWS


def test_a_curve_shows_the_whole_run() -> None:
    assert curve([]) == ""
    assert curve([(0.0, 5.0)]) == "▁"
    assert curve(series(lambda share: share), 8) == "▁▂▃▄▅▆▇█"
    assert curve(series(lambda share: 100.0 * (share > 0.5)), 4) == "▁▁██"
