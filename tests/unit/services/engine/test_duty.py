"""A duty that starts and stops with the leadership."""

from __future__ import annotations

import logging
import threading

import pytest

from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.engine.lead.duty import DutyThread, Rounds


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
