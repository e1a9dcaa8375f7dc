"""Which deliveries of a batch are claimed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.clock import ManualClock
from services.domain.change import Answer
from services.domain.task.record import Task
from services.workers.burst import Burst, Room
from services.workers.prefetch import PrefetchWindow
from services.workers.slots import SlotPool


def task(shop: str, kind: str = "long", lane: str = "normal") -> Task:
    return Task(task_id=f"{shop}-{kind}", shop_id=shop, platform="pdd", task_type=kind, lane=lane)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def burst(clock: ManualClock) -> Iterator[Burst]:
    pool = SlotPool(lambda held, slot: None, 2, "test")
    prefetch = PrefetchWindow(pool, clock)
    prefetch.took("short", 0.01)
    yield Burst(clock, prefetch)
    assert pool.close(10)


def chosen(burst: Burst, free: int, total: int, *tasks: Task, **lanes: int) -> tuple[list[int], bool]:
    return tuple(burst.choose(tasks, Room(free, total, lanes)))  # type: ignore[return-value]


def parked(burst: Burst, *shops: str) -> None:
    burst.note((f"pdd:{shop}", Answer("blocked")) for shop in shops)


def test_what_takes_long_is_claimed_for_a_free_slot_only(burst: Burst) -> None:
    tasks = [task("a"), task("b"), task("c", "short"), task("d")]
    assert chosen(burst, 1, 9, *tasks) == ([0, 2], True)
    assert chosen(burst, 4, 4, *tasks) == ([0, 1, 2, 3], False)
    assert chosen(burst, 1, 1, *tasks) == ([0], False)
    assert chosen(burst, 0, 8, *tasks) == ([2], True)


def test_what_will_be_parked_takes_no_room(burst: Burst, clock: ManualClock) -> None:
    parked(burst, "loud")
    tasks = [task("loud"), task("loud"), task("a"), task("loud"), task("b")]
    assert chosen(burst, 1, 1, *tasks) == ([0, 1, 2, 3], False)
    clock.advance(2.0)
    assert chosen(burst, 1, 1, *tasks) == ([0], False), "by now it may be free"


def test_a_lane_gets_no_more_than_its_room(burst: Burst) -> None:
    tasks = [task("a", lane="low"), task("b", lane="low"), task("c")]
    assert chosen(burst, 3, 3, *tasks, low=1, normal=3) == ([0, 2], False)


def test_it_is_a_burst_while_half_of_the_last_claims_were_parked(burst: Burst) -> None:
    parked(burst, *("loud",) * 7)
    assert not burst.there
    parked(burst, "loud")
    assert burst.there
    burst.note(("pdd:a", Answer("run")) for _ in range(9))
    assert not burst.there
