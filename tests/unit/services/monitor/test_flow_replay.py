"""Estimates against what came of it: loads of several shapes, played with seeds and judged as they are at work."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from functools import cache

import pytest
from msgspec.structs import replace

from services.domain.insight.forecast import durations, flow
from services.messages import english_headline
from services.spans import english_rates
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
    "a burst that ends": (shops(12, 0.0, bursts=((60.0, 20),)), 6),
    "a burst in parts": (shops(12, 0.0, bursts=tuple((60.0 + 3 * n, 2) for n in range(8))), 6),
    "as much in as out": (shops(20, 2.0, bursts=((60.0, 4),)), 6),
    "unequal shops": ((*shops(10, 0.5, 1.0, ((60.0, 30),)), *SLOW_ONES), 8),
}
SEEDS = 4


@cache
def looks(shape: str) -> list[Seen]:
    loads, slots = SHAPES[shape]
    return [one for seed in range(SEEDS) for one in Replay(loads, slots, seed=seed).play()]


def said(one: Seen) -> str:
    return english_headline(flow.headline(one.flow))


def both(one: Seen) -> tuple[float, float]:
    """In and Out as they are said, in one unit."""
    rates = one.flow.facts.rates
    came, went = (float(word.partition("/")[0].replace(",", "")) for word in english_rates(rates.in_s, rates.out_s))
    return came, went


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


@pytest.mark.parametrize("shape", list(SHAPES))
def test_no_end_is_told_beside_an_in_as_high_as_the_out_unless_what_came_has_ended(shape: str) -> None:
    for one in looks(shape):
        came, went = both(one)
        if came and came >= went and "clear in" in said(one):
            assert "hardly any new ones now" in said(one), (said(one), one.flow.facts.rates)


@pytest.mark.parametrize("shape", ["a burst that ends", "a burst in parts", "one shop alone"])
def test_a_burst_is_said_to_have_ended_once_it_has_and_only_then(shape: str) -> None:
    loads, slots = SHAPES[shape]
    last = max(at for load in loads for at, _ in load.bursts)
    seen = Replay(loads, slots, since=61.0, every=3.0, length=240.0).play()
    over = [one for one in seen if "hardly any new ones now" in said(one)]
    assert over
    assert all(one.at > last + flow.QUIET_S for one in over)
    late = [one for one in seen if last + 30 < one.at < last + 55 and one.flow.runnable > 12]
    assert late
    assert all("more came than went" not in said(one) for one in late)
    assert sum("clear in" in said(one) for one in late) >= 0.7 * len(late)


@pytest.mark.parametrize("shape", ["as much in as out", "growing", "steady"])
def test_an_inflow_that_goes_on_is_never_called_a_burst(shape: str) -> None:
    found = [one for one in looks(shape) if one.at > 130]
    assert sum("burst" in said(one) for one in found) <= 0.01 * len(found)


def test_a_start_without_history_promises_no_end_but_gives_both_rates() -> None:
    fresh = Replay(shops(20, 3.0), 6, since=2.0, every=1.0, length=60.0).play()[:12]
    waits = [one for one in fresh if one.flow.facts.waiting and one.flow.estimate is not None]
    assert waits
    assert not [said(one) for one in waits if "clear in" in said(one) and both(one)[0] >= both(one)[1]]
    assert any("more came than went" in said(one) for one in waits)


def test_newer_rates_take_back_the_end_that_was_told() -> None:
    rates = flow.Rates(in_s=0.5, out_s=2.0, recent_in=0.5, recent_out=2.0, steady_in=0.5, window_s=60.0)
    took = durations.Measured(count=30, mean_s=3.0, deviation_s=1.0)
    lines = tuple(flow.Line(shop=str(n), waiting=20, running=1, took=took) for n in range(6))
    facts = flow.Facts(waiting=120, running=6, slots=6, busy=6, rates=rates, lines=lines)
    before = flow.judge(facts)
    assert before.state == flow.DRAINING
    more = replace(rates, in_s=2.4, recent_in=6.0)
    words = english_headline(flow.headline(flow.again(before, replace(facts, rates=more))))
    assert "clear in" not in words
    assert "in 2.4/s, out 2.0/s" in words
