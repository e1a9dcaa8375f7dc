"""Which deliveries of a batch are claimed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.clock import ManualClock
from services.domain.change import Answer
from services.domain.task.record import Task
from services.workers.crowd import Crowd, Room
from services.workers.pace import Pace
from services.workers.slots import SlotPool


def task(shop: str, kind: str = "long", lane: str = "normal") -> Task:
    return Task(task_id=f"{shop}-{kind}", shop_id=shop, platform="pdd", task_type=kind, lane=lane)


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    pool = SlotPool(lambda held, slot: None, 2, "test")
    clock = ManualClock()
    pace = Pace(pool, clock)
    pace.took("short", 0.01)
    yield Crowd(clock, pace)
    assert pool.close(10)


def chosen(crowd: Crowd, free: int, total: int, *tasks: Task, **lanes: int) -> tuple[list[int], bool]:
    return tuple(crowd.choose(tasks, Room(free, total, lanes)))  # type: ignore[return-value]


def parked(crowd: Crowd, *shops: str) -> None:
    crowd.note((f"pdd:{shop}", Answer("blocked")) for shop in shops)


def test_what_takes_long_is_claimed_for_a_free_slot_only(crowd: Crowd) -> None:
    tasks = [task("a"), task("b"), task("c", "short"), task("d")]
    assert chosen(crowd, 1, 9, *tasks) == ([0, 2], True)
    assert chosen(crowd, 4, 4, *tasks) == ([0, 1, 2, 3], False)
    assert chosen(crowd, 1, 1, *tasks) == ([0], False)
    assert chosen(crowd, 0, 8, *tasks) == ([2], True)


def test_what_will_be_parked_takes_no_room(crowd: Crowd) -> None:
    parked(crowd, "loud")
    tasks = [task("loud"), task("loud"), task("a"), task("loud"), task("b")]
    assert chosen(crowd, 1, 1, *tasks) == ([0, 1, 2, 3], False)
    crowd._clock.advance(2.0)  # type: ignore[attr-defined]
    assert chosen(crowd, 1, 1, *tasks) == ([0], False), "by now it may be free"


def test_a_lane_gets_no_more_than_its_room(crowd: Crowd) -> None:
    tasks = [task("a", lane="low"), task("b", lane="low"), task("c")]
    assert chosen(crowd, 3, 3, *tasks, low=1, normal=3) == ([0, 2], False)


def test_it_is_a_crowd_while_half_of_the_last_claims_were_parked(crowd: Crowd) -> None:
    parked(crowd, *("loud",) * 7)
    assert not crowd.there
    parked(crowd, "loud")
    assert crowd.there
    crowd.note(("pdd:a", Answer("run")) for _ in range(9))
    assert not crowd.there
