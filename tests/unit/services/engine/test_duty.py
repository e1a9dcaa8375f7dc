"""A duty that starts and stops with the leadership."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.engine.lead.duty import DutyThread, Rounds, together


def test_each_start_runs_until_its_own_stop() -> None:
    runs: list[threading.Event] = []
    begun = threading.Semaphore(0)

    def run(stop: threading.Event) -> None:
        runs.append(stop)
        begun.release()
        stop.wait()

    duty = DutyThread(run, "duty")
    for number in (1, 2):
        duty.start()
        assert begun.acquire(timeout=20)
        assert not duty.stopped
        duty.stop()
        assert duty.stopped
        assert len(runs) == number


def test_a_run_that_hangs_still_ends_after_the_next_start() -> None:
    frozen, begun, over = threading.Event(), threading.Semaphore(0), threading.Event()

    def run(stop: threading.Event) -> None:
        begun.release()
        if not frozen.is_set():
            frozen.wait()
            assert stop.wait(timeout=20)
            over.set()
        stop.wait()

    duty = DutyThread(run, "duty", leave_s=0.0)
    duty.start()
    assert begun.acquire(timeout=20)
    duty.stop()
    duty.start()
    frozen.set()
    assert over.wait(timeout=20)
    duty.stop()


def test_one_thread_may_stop_what_another_begins_and_stops() -> None:
    duty, over = DutyThread(threading.Event.wait, "duty"), threading.Event()

    def closing() -> None:
        while not over.is_set():
            duty.stop()

    with ThreadPoolExecutor(2) as others:
        closes = [others.submit(closing) for _ in range(2)]
        try:
            for _ in range(300):
                duty.start()
                duty.stop()
        finally:
            over.set()
        for one in closes:
            one.result(timeout=60)
    assert not [one for one in threading.enumerate() if one.name == "duty"]


def test_what_never_started_can_be_stopped() -> None:
    DutyThread(lambda _stop: None, "duty").stop()


def test_a_round_that_fails_does_not_end_the_next(caplog: pytest.LogCaptureFixture) -> None:
    faults, begun, done = iter((StoreUnavailable("away"), RuntimeError("odd"))), [], threading.Semaphore(0)

    def tick() -> None:
        done.release()
        for fault in faults:
            raise fault

    log = logging.getLogger("rounds")
    duty = Rounds(
        tick, 0.001, SystemClock(), "duty", log=log, waits="it waits", begin=lambda: begun.append(len(caplog.records))
    )
    duty.start()
    for _ in range(3):
        assert done.acquire(timeout=20)
    duty.stop()
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "it waits: away"),
        ("ERROR", "it waits"),
    ]
    assert begun == [0]


def test_a_round_that_fails_after_it_was_asked_to_end_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    begun, never = threading.Event(), threading.Event()

    def tick() -> None:
        begun.set()
        while not duty.stopped:
            never.wait(0.001)
        raise StoreUnavailable("closed by now")

    duty = Rounds(tick, 1.0, SystemClock(), "duty", log=logging.getLogger("duty"), waits="nothing is done")
    duty.start()
    assert begun.wait(20)
    duty.stop()
    assert not caplog.records


def test_who_waits_for_another_is_called_with_it() -> None:
    asked, ended = threading.Event(), list[str]()

    def first() -> None:
        assert asked.wait(20)
        ended.append("first")

    together((first, asked.set), 20.0)
    assert ended == ["first"]


def test_what_takes_longer_than_it_may_goes_on_by_itself() -> None:
    gate, over = threading.Event(), threading.Event()

    def slow() -> None:
        gate.wait(20)
        over.set()

    together((slow,), 0.0)
    assert not over.is_set()
    gate.set()
    assert over.wait(20)


def test_of_calls_made_together_one_that_fails_is_told_and_holds_up_none(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[str] = []

    def closed() -> None:
        raise StoreUnavailable("no answer")

    def wrong() -> None:
        raise KeyError("what is not there")

    with caplog.at_level(logging.WARNING):
        together([closed, wrong, lambda: ended.append("well")], 20.0)
    assert ended == ["well"]
    assert [(one.levelname, one.exc_info is None) for one in sorted(caplog.records, key=lambda one: one.levelno)] == [
        ("WARNING", True),
        ("ERROR", False),
    ]
