"""A duty that starts and stops with the leadership."""

from __future__ import annotations

import threading

from services.engine.lead.duty import DutyThread


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
