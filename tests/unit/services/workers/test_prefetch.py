"""What may be claimed before a slot is free."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from services.clock import ManualClock
from services.domain.task.record import Task
from services.workers.prefetch import PrefetchWindow
from services.workers.slots import ClaimedTask, SlotPool
from tests.contract.waiting import eventually


def task(kind: str = "work", expected_s: float = 0.0) -> Task:
    return Task(task_id="t", shop_id="s", platform="pdd", task_type=kind, expected_s=expected_s)


@pytest.fixture
def go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def pool(go: threading.Event) -> Iterator[SlotPool]:
    made = SlotPool(lambda held, slot: bool(go.wait(30)), 4, "test")
    yield made
    go.set()
    assert made.close(10)


def test_nothing_is_claimed_ahead_before_some_tasks_were_short(pool: SlotPool) -> None:
    clock = ManualClock()
    prefetch = PrefetchWindow(pool, clock)
    for _ in range(7):
        prefetch.took("work", 0.001)
    assert prefetch.ahead() == 0
    prefetch.took("work", 0.001)
    assert prefetch.ahead() == 64
    prefetch.took("work", 0.05)
    assert prefetch.ahead() == 8
    prefetch.took("work", 2.0)
    assert prefetch.ahead() == 0


def test_a_task_that_runs_for_long_already_counts(pool: SlotPool) -> None:
    clock = ManualClock()
    prefetch = PrefetchWindow(pool, clock)
    for _ in range(8):
        prefetch.took("work", 0.001)
    clock.advance(1.0)
    held = ClaimedTask(task=task(), owner="w#1", delivery=None, started=clock.monotonic())
    pool.put(held)
    eventually(lambda: pool.running() == [held])
    assert prefetch.ahead() == 64
    clock.advance(0.3)
    assert prefetch.ahead() == 0


def test_a_type_is_short_by_measure_else_by_declaration_and_unknown_is_long(pool: SlotPool) -> None:
    prefetch = PrefetchWindow(pool, ManualClock())
    assert prefetch.short(task()) is False
    assert prefetch.short(task(expected_s=0.05)) is True
    assert prefetch.short(task(expected_s=5.0)) is False
    prefetch.took("work", 0.01)
    assert prefetch.short(task(expected_s=5.0)) is True
    prefetch.took("work", 1.0)
    assert prefetch.short(task(expected_s=0.05)) is False
    assert prefetch.short(task("other")) is False


def test_who_has_met_a_long_one_waits_until_it_shows(pool: SlotPool) -> None:
    clock = ManualClock()
    prefetch = PrefetchWindow(pool, clock)
    for _ in range(8):
        prefetch.took("work", 0.001)
    prefetch.met_long()
    assert prefetch.ahead() == 0
    clock.advance(0.3)
    assert prefetch.ahead() == 64
