"""Estimates against what came of it: loads of several shapes, played with seeds and judged as they are at work."""

from __future__ import annotations

import math
import statistics
from collections import Counter

import pytest

from services.domain.insight import flow
from tests.unit.services.monitor.replay import Load, Replay, Seen

#: below this nobody plans by an estimate
WORTH_S = 5.0


def shops(
    number: int, rate: float, mean_s: float = 3.0, bursts: tuple[tuple[float, int], ...] = ()
) -> tuple[Load, ...]:
    return tuple(Load(shop=f"s{n}", rate=rate / number, mean_s=mean_s, bursts=bursts) for n in range(number))


FLOOD = Load(shop="flood", mean_s=4.0, concurrency=1, bursts=((60.0, 120),))
SLOW_ONES = tuple(Load(shop=f"u{n}", mean_s=12.0, concurrency=1, bursts=((60.0, 5 + 3 * n),)) for n in range(6))
SHAPES: dict[str, tuple[tuple[Load, ...], int]] = {
    "steady": (shops(20, 1.8), 6),
    "growing": (shops(20, 2.6), 6),
    "draining": (shops(20, 1.0, bursts=((60.0, 25),)), 6),
    "slow tasks": (shops(10, 0.08, 40.0, ((60.0, 4),)), 6),
    "one shop floods": ((*shops(20, 1.0), FLOOD), 8),
    "one shop alone": ((FLOOD,), 20),
    "a part at a gate": ((*shops(20, 0.9, bursts=((60.0, 15),)), Load(shop="out", rate=0.2, closed=True)), 6),
    "unequal shops": ((*shops(10, 0.5, 1.0, ((60.0, 30),)), *SLOW_ONES), 8),
}
SEEDS = 4


def looks(shape: str) -> list[Seen]:
    loads, slots = SHAPES[shape]
    return [one for seed in range(SEEDS) for one in Replay(loads, slots, seed=seed).play()]


@pytest.mark.parametrize("shape", list(SHAPES))
def test_estimates_hold_and_their_spread_covers_what_happened(shape: str) -> None:
    told = [(one.flow.estimate, one.truth) for one in looks(shape) if one.flow.estimate is not None]
    told = [(spread, truth) for spread, truth in told if math.isfinite(truth)]
    covered = [spread.low_s - 1 <= truth <= spread.high_s + 1 for spread, truth in told]
    assert sum(covered) >= 0.8 * len(covered)
    worth = [(spread.mid_s, truth) for spread, truth in told if max(spread.mid_s, truth) >= WORTH_S]
    assert statistics.median(abs(mid - truth) / truth for mid, truth in worth) <= 0.3


def test_a_growing_queue_is_called_so_and_nobody_is_promised_its_end() -> None:
    found = looks("growing")
    states = Counter(one.flow.state for one in found)
    assert states[flow.GROWING] >= 0.8 * len(found)
    growing = [one.flow for one in found if one.flow.state == flow.GROWING]
    assert all(one.estimate is None and flow.MORE_SLOTS in one.helps for one in growing)
    # 2.6 tasks of 3 s a second want 8 slots
    assert 1 <= statistics.median(one.more_slots for one in growing) <= 4


@pytest.mark.parametrize("shape", ["draining", "one shop alone", "one shop floods"])
def test_a_burst_is_no_growth(shape: str) -> None:
    states = Counter(one.flow.state for one in looks(shape))
    assert states[flow.GROWING] <= 0.02 * states.total()


def test_one_shop_takes_its_tasks_one_by_one_however_many_slots_are_free() -> None:
    first = Replay((FLOOD,), 200, seed=1).play()[0].flow
    assert first.estimate is not None
    assert 0.7 * 110 * 4 <= first.estimate.mid_s <= 1.3 * 120 * 4
    assert [line.waiting > 90 for line in first.limited] == [True]


def test_what_waits_for_a_person_is_no_part_of_the_estimate() -> None:
    found = [one.flow for one in looks("a part at a gate") if one.flow.estimate is not None]
    assert all(one.for_person and one.runnable == one.facts.waiting - one.for_person for one in found)
