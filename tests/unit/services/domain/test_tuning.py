"""Advice from figures: what each bears out, and silence where nothing does."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.gates.limit import Limit, LimitNow
from services.domain.insight.forecast.durations import measured
from services.domain.upkeep import tuning
from services.domain.upkeep.tuning import FleetFacts, LaneFacts, TypeFacts, WorkerFacts
from services.messages import english

RUNS = measured([8.0, 9.0, 10.0, 11.0, 12.0] * 10)


def told(**facts: Any) -> list[str]:
    """Codes of the advice for a fleet of eight slots where nothing waits."""
    fleet = {"slots": 8, "busy": 3, "waiting": 0} | facts
    return [one.message.code for one in tuning.advice(FleetFacts(**fleet))]


def lane(name: str = "normal", **facts: Any) -> LaneFacts:
    return LaneFacts(lane=name, runs=facts.pop("runs", RUNS), **facts)


def test_a_fleet_that_keeps_up_hears_nothing() -> None:
    lanes = [lane("high", came=30), lane(came=900, busy=3), lane("low")]
    types = [TypeFacts(name="work", timeout_s=60, runs=RUNS, ended=50)]
    assert told(lanes=lanes, types=types, limits=[LimitNow(limit=Limit(scope="platform:pdd", concurrency=4))]) == []


@pytest.mark.parametrize(
    ("came", "busy", "waiting", "found"),
    [
        (4000, 8, 500, ["tuning.slots"]),
        (4000, 8, 0, []),  # it came in one go and was done
        (4000, 5, 500, []),  # something else holds it
        (1000, 8, 500, []),  # eight are enough, this passes
        (10, 0, 0, ["tuning.idle"]),
        (10, 0, 3, []),
        (10, 6, 0, []),
    ],
)
def test_slots_are_judged_by_the_work_that_came(came: int, busy: int, waiting: int, found: list[str]) -> None:
    assert told(busy=busy, waiting=waiting, lanes=[lane(came=came)]) == found


def test_the_advice_says_what_was_measured_and_what_would_keep_up() -> None:
    (one,) = tuning.advice(FleetFacts(slots=8, busy=8, waiting=500, lanes=[lane(came=4000)]))
    assert english(one.message) == (
        "Slots: 4000 tasks came within the last hour and run 10 s each, which keeps 11.1 slots busy; there are 8,"
        " 8 of them busy, and 500 tasks wait"
    )
    assert one.remedy is not None
    assert english(one.remedy) == "14 slots would keep up: `worker slots WORKER N`, or another worker."


def test_of_more_than_was_counted_no_load_is_told() -> None:
    """Of 70,000 in an hour it said that 2,237 came, and that two slots would do."""
    assert told(busy=0, lanes=[lane(came=10), lane("high", came=2237, counted=False)]) == []
    assert told(busy=8, waiting=500, lanes=[lane(came=4000, counted=False)]) == []


def test_too_few_measurements_say_nothing() -> None:
    few = measured([10.0] * (tuning.ENOUGH - 1))
    assert told(busy=8, waiting=500, lanes=[lane(came=4000, runs=few)]) == []
    assert told(types=[TypeFacts(name="work", timeout_s=10, runs=few, ended=100, cut=50)]) == []


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({}, ["tuning.lane"]),
        ({"kept": 3}, []),
        ({"waited_s": 20.0}, []),
        ({"came": 20_000}, []),  # there are too few slots for anybody
        ({"busy": 4}, []),  # it has them already
    ],
)
def test_a_lane_that_waits_behind_others_gets_slots_of_its_own(facts: dict[str, Any], found: list[str]) -> None:
    high = {"came": 600, "waiting": 40, "waited_s": 400.0, "kept": 0, "busy": 1} | facts
    others = lane("low", came=100, busy=7)
    assert told(busy=6, waiting=40, lanes=[lane("high", **high), others]) == found


@pytest.mark.parametrize(
    ("timeout_s", "cut", "found"),
    [
        (13, 5, ["tuning.timeout_near"]),
        (13, 0, []),
        (30, 5, []),
        (240, 0, []),
        (3600, 1, ["tuning.timeout_far"]),
        (3600, 0, []),  # nothing ever hung
    ],
)
def test_a_time_out_is_judged_by_what_runs_take(timeout_s: int, cut: int, found: list[str]) -> None:
    assert told(types=[TypeFacts(name="work", timeout_s=timeout_s, runs=RUNS, ended=60, cut=cut)]) == found


@pytest.mark.parametrize(
    ("now", "busy", "found"),
    [
        ({"limit": Limit(scope="platform:pdd", concurrency=2), "running": 2, "waiting": 7}, 2, ["tuning.limit"]),
        ({"limit": Limit(scope="platform:pdd", concurrency=2), "running": 2, "waiting": 7}, 8, []),
        ({"limit": Limit(scope="platform:pdd", concurrency=2), "running": 2}, 2, []),
        ({"limit": Limit(scope="type:work", per_minute=30), "started": 30, "waiting": 1}, 2, ["tuning.rate"]),
        ({"limit": Limit(scope="type:work", concurrency=50)}, 2, ["tuning.limit_idle"]),
    ],
)
def test_limits_are_judged_by_who_waits_for_them(now: dict[str, Any], busy: int, found: list[str]) -> None:
    assert told(busy=busy, limits=[LimitNow(**now)]) == found


def test_work_that_is_held_while_others_are_free_is_told() -> None:
    holder = WorkerFacts(name="w1", slots=2, ahead=8, mean_s=3.0)
    assert told(workers=[holder]) == ["tuning.ahead"]
    assert told(workers=[holder], busy=8) == []
    assert told(workers=[WorkerFacts(name="w1", slots=2, ahead=8, mean_s=0.05)]) == []


@pytest.mark.parametrize("code", [code for code in tuning.SENTENCES if not code.endswith(".remedy")])
def test_every_advice_has_its_remedy(code: str) -> None:
    assert f"{code}.remedy" in tuning.SENTENCES
