"""Work off the GUI thread: results come home, orphans are dropped, errors are told."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from views.support import operation
from views.support.operation import Operation, act_number


def fail() -> None:
    raise ValueError("broker is gone")


@pytest.fixture
def told() -> Iterator[list[BaseException]]:
    errors: list[BaseException] = []
    operation.configure(errors.append)
    yield errors
    operation.configure(None)


def test_the_result_comes_back_in_the_gui_thread(qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    task = Operation(owner)
    with qtbot.waitSignal(task.succeeded):
        task.start(threading.get_ident, lambda worker: seen.append((worker, threading.get_ident())))
    ((worker, home),) = seen
    assert home == threading.get_ident() != worker


def test_an_act_that_is_told_late_is_no_newer_than_one_that_was_made_after_it(qtbot: QtBot) -> None:
    owner, gate = QObject(), threading.Event()
    slow, then = Operation(owner), Operation(owner)
    numbers: list[int] = []
    slow.start(lambda: gate.wait(60), lambda _waited: then.start(list, lambda _none: numbers.append(act_number())))
    later = act_number()
    gate.set()
    qtbot.waitUntil(lambda: bool(numbers))
    assert numbers[0] < later < act_number(), "what takes back presses the Undo of the act made last"


def test_what_lasts_takes_no_thread_from_the_others(qtbot: QtBot) -> None:
    owner, gate = QObject(), threading.Event()
    long, short = Operation(owner, lasting=True), Operation(owner)
    for _ in range(operation.THREADS):
        long.start(lambda: gate.wait(60))
    with qtbot.waitSignal(short.succeeded):
        short.start(threading.get_ident)
    assert long.busy
    gate.set()
    qtbot.waitUntil(lambda: not long.busy)
    with qtbot.waitSignal(long.failed):
        long.start(fail, failure=lambda _error: None)


class Clicked(QObject):
    """Hears of something that a person does."""

    def __init__(self, told: list[str]) -> None:
        super().__init__()
        self._told = told

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.User:
            self._told.append("click")
        return super().event(event)


def answered(owner: QObject, *taken: Callable[[object], object]) -> None:
    """As many questions have their answers, and the window has yet to hear of the first."""
    for take in taken:
        Operation(owner, lasting=True).start(list, take)
    for thread in threading.enumerate():
        if thread.name == "lasting":  # it ends when its answer is sent
            thread.join()


def test_a_click_is_heard_between_two_answers(qtbot: QtBot) -> None:
    owner, told = QObject(), list[str]()
    clicked = Clicked(told)

    def first(_answer: object) -> None:
        told.append("first")
        QApplication.postEvent(clicked, QEvent(QEvent.Type.User))

    answered(owner, first, lambda _answer: told.append("second"))
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told == ["first", "click", "second"]


def test_an_answer_is_taken_while_the_one_before_waits_for_a_person(qtbot: QtBot) -> None:
    owner, told = QObject(), list[str]()

    def asks(_answer: object) -> None:
        qtbot.waitUntil(lambda: told == ["second"])
        told.append("first")

    answered(owner, asks, lambda _answer: told.append("second"))
    qtbot.waitUntil(lambda: told == ["second", "first"])


def test_busy_is_told_once_for_overlapping_runs(qtbot: QtBot) -> None:
    owner, gate, states = QObject(), threading.Event(), []
    task = Operation(owner)
    task.busy_changed.connect(states.append)
    task.start(gate.wait)
    task.start(gate.wait)
    assert task.busy
    gate.set()
    qtbot.waitUntil(lambda: not task.busy)
    assert states == [True, False]


def test_an_error_nobody_handles_is_told(qtbot: QtBot, told: list[BaseException]) -> None:
    owner = QObject()
    task = Operation(owner)
    with qtbot.waitSignal(task.failed):
        task.start(fail)
    assert [str(error) for error in told] == ["broker is gone"]
    assert not task.busy


def test_an_error_that_is_handled_is_not_told(qtbot: QtBot, told: list[BaseException]) -> None:
    owner, own = QObject(), []
    task = Operation(owner)
    task.start(fail, failure=own.append)
    qtbot.waitUntil(lambda: bool(own))
    assert told == []


def test_without_a_notifier_an_error_is_logged(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    owner = QObject()
    task = Operation(owner)
    with qtbot.waitSignal(task.failed):
        task.start(fail)
    assert "broker is gone" in caplog.text


def test_the_result_of_a_dead_owner_is_dropped(qtbot: QtBot, told: list[BaseException]) -> None:
    owner, gate, seen = QObject(), threading.Event(), []
    Operation(owner).start(gate.wait, seen.append)
    owner.deleteLater()
    del owner
    qtbot.wait(1)
    gate.set()
    operation.shut_down()
    qtbot.wait(1)
    assert seen == told == []


def test_only_the_latest_run_counts_where_asked(qtbot: QtBot) -> None:
    owner, first, seen = QObject(), threading.Event(), []
    task = Operation(owner, latest=True)
    task.start(lambda: first.wait() and 1, seen.append)
    task.start(lambda: 2, seen.append)
    qtbot.waitUntil(lambda: seen == [2])
    first.set()
    qtbot.waitUntil(lambda: not task.busy)
    assert seen == [2]


def test_what_is_in_flight_can_be_given_up(qtbot: QtBot) -> None:
    owner, gate, seen = QObject(), threading.Event(), []
    task = Operation(owner, latest=True)
    task.start(lambda: gate.wait() and 1, seen.append)
    task.drop()
    gate.set()
    qtbot.waitUntil(lambda: not task.busy)
    assert seen == []
    task.start(lambda: 2, seen.append)
    qtbot.waitUntil(lambda: seen == [2])


def test_what_is_given_up_is_awaited_no_more_though_it_goes_on(qtbot: QtBot) -> None:
    owner, gate = QObject(), threading.Event()
    task = Operation(owner, latest=True)
    task.start(gate.wait)
    assert task.awaited
    task.drop()
    assert (task.busy, task.awaited) == (True, False)
    seen = list[tuple[bool, bool]]()
    task.start(lambda: 2, lambda _two: seen.append((task.busy, task.awaited)))
    assert task.awaited
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [(True, False)], "the one before is on its way still"
    gate.set()
    qtbot.waitUntil(lambda: not task.busy)
    assert not task.awaited


def test_after_shutting_down_it_starts_anew(qtbot: QtBot) -> None:
    owner = QObject()
    task = Operation(owner)
    operation.shut_down()
    with qtbot.waitSignal(task.succeeded):
        task.start(lambda: 1)


def test_what_takes_longer_at_the_end_is_left_and_its_answer_told_to_nobody(
    qtbot: QtBot, told: list[BaseException]
) -> None:
    owner, gate, begun, over, seen = QObject(), threading.Event(), threading.Event(), threading.Event(), []

    def call() -> int:
        begun.set()
        gate.wait(20)
        over.set()
        raise ValueError("closed by now")

    Operation(owner).start(call, seen.append)
    assert begun.wait(20)
    operation.shut_down(most_s=0.0)
    gate.set()
    assert over.wait(20)
    task = Operation(owner)
    with qtbot.waitSignal(task.succeeded):
        task.start(lambda: 1)
    assert seen == told == []


def test_a_call_that_never_returns_keeps_no_program_from_ending() -> None:
    program = """
import threading
from PySide6.QtCore import QCoreApplication, QObject
from views.support import operation
app, owner = QCoreApplication([]), QObject()
operation.Operation(owner).start(threading.Event().wait)
operation.shut_down(most_s=0.0)
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)
