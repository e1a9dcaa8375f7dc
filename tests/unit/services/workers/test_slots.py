"""Slots: as many jobs at once as wanted, changed at any time, left in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from services.domain.task.record import Task
from services.workers.slots import ClaimedTask, SlotPool
from tests.contract.waiting import eventually

MakePool = Callable[..., SlotPool]


class Work:
    """Jobs that wait until they are let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.slots: dict[str, int] = {}
        self.done: list[str] = []

    def __call__(self, held: ClaimedTask, slot: int) -> None:
        self.slots[held.task.task_id] = slot
        self.go.wait(30)
        self.done.append(held.task.task_id)


def job(name: str) -> ClaimedTask:
    task = Task(task_id=name, shop_id="s1", platform="pdd", task_type="work", started_at=7, attempt=2, lane="high")
    return ClaimedTask(task=task, owner=f"w#{name}", delivery=None)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def pool(work: Work) -> Iterator[MakePool]:
    made: list[SlotPool] = []

    def make(slots: int) -> SlotPool:
        made.append(SlotPool(work, slots, "test"))
        return made[-1]

    yield make
    work.go.set()
    for one in made:
        assert one.close(10)


def test_no_more_jobs_run_at_once_than_there_are_slots(pool: MakePool, work: Work) -> None:
    two = pool(2)
    for name in "abc":
        two.put(job(name))
    eventually(lambda: len(work.slots) == 2)
    assert (two.claimed(), len(two.running())) == (3, 2)
    assert two.wait_room(1, 0.0) is False
    assert two.wait_room(2, 0.0) is True
    work.go.set()
    eventually(lambda: sorted(work.done) == ["a", "b", "c"])
    assert two.wait_room(0, 5.0) is True


def test_slots_have_numbers_that_are_used_again(pool: MakePool, work: Work) -> None:
    two = pool(2)
    work.go.set()
    for name in "abcdef":
        two.put(job(name))
    eventually(lambda: len(work.done) == 6)
    assert set(work.slots.values()) <= {0, 1}


def test_more_slots_take_up_what_waits_and_fewer_let_it_end(pool: MakePool, work: Work) -> None:
    one = pool(1)
    for name in "abc":
        one.put(job(name))
    eventually(lambda: len(work.slots) == 1)
    one.resize(3)
    eventually(lambda: len(work.slots) == 3)
    one.resize(1)
    assert (one.slots, len(one.running())) == (1, 3), "nobody is thrown out"
    work.go.set()
    eventually(lambda: len(work.done) == 3)
    work.go.clear()
    for name in "de":
        one.put(job(name))
    eventually(lambda: len(work.slots) == 4)
    assert len(one.running()) == 1


def test_the_heartbeat_shows_each_slot(pool: MakePool, work: Work) -> None:
    two = pool(2)
    two.put(job("a"))
    eventually(lambda: work.slots)
    busy, free = two.states(lambda held: held.task.started_at)
    assert (busy.task_id, busy.shop, busy.lane, busy.attempt, busy.since) == ("a", "pdd:s1", "high", 2, 7)
    assert free.task_id == ""


def test_closing_tells_whether_all_have_left(work: Work) -> None:
    one = SlotPool(work, 1, "test")
    one.put(job("a"))
    eventually(lambda: work.slots)
    assert one.close(0.05) is False
    work.go.set()
    assert one.close(10) is True


def test_the_first_reason_to_stop_counts() -> None:
    held = job("a")
    held.cancel("requested")
    held.cancel("shutdown")
    assert (held.cancel_reason, held.cancelled.is_set()) == ("requested", True)


def test_a_job_that_is_taken_back_takes_no_place_of_its_lane(pool: MakePool, work: Work) -> None:
    """Or the lane would have a slot less with every job that was given back, until nothing of it ran."""
    slots = pool(1)
    first, second = job("a"), job("b")
    slots.put(first)
    eventually(lambda: slots.running(), 30)
    slots.put(second)
    assert slots.lanes() == {"high": 2}
    assert slots.withdraw(second)
    assert slots.lanes() == {"high": 1}
    assert not slots.withdraw(second), "once"
    assert slots.lanes() == {"high": 1}
    work.go.set()
    eventually(lambda: slots.claimed() == 0, 30)
    assert not any(slots.lanes().values())
    assert work.done == ["a"]
