"""A throttle keeps a pace, a debounce waits for quiet, turns lie apart."""

from __future__ import annotations

import time

from PySide6.QtCore import QEventLoop, QTimer
from pytestqt.qtbot import QtBot

from views.support.throttle import Debounce, Throttle, turns


def test_the_first_call_is_made_at_once_and_the_last_one_later(qtbot: QtBot) -> None:
    calls: list[object] = []
    throttle = Throttle(calls.append, 20)
    for number in range(5):
        throttle(number)
    assert calls == [0]
    qtbot.waitUntil(lambda: calls == [0, 4])


def test_a_waiting_call_can_be_dropped_or_made_now(qtbot: QtBot) -> None:
    calls: list[object] = []
    throttle = Throttle(calls.append, 10_000)
    throttle(1)
    throttle(2)
    throttle.flush()
    throttle.flush()
    throttle(3)
    throttle.cancel()
    assert calls == [1, 2]


def test_after_quiet_the_next_call_is_made_at_once(qtbot: QtBot) -> None:
    calls: list[object] = []
    throttle = Throttle(calls.append, 1)
    throttle(1)
    qtbot.waitUntil(lambda: not throttle._timer.isActive())
    throttle(2)
    assert calls == [1, 2]
    throttle.cancel()


def test_a_debounce_calls_once_with_the_newest(qtbot: QtBot) -> None:
    calls: list[object] = []
    debounce = Debounce(calls.append, 5)
    for number in range(5):
        debounce(number)
    assert calls == []
    qtbot.waitUntil(lambda: calls == [4])


def test_a_debounce_can_be_flushed_or_cancelled(qtbot: QtBot) -> None:
    calls: list[object] = []
    debounce = Debounce(calls.append, 10_000)
    debounce(1)
    debounce.flush()
    debounce(2)
    debounce.cancel()
    debounce.flush()
    assert calls == [1]


def _long(done: list[str], name: str) -> None:
    """Something that takes longer than others are to wait."""
    end = time.thread_time() + 0.005
    while time.thread_time() < end:
        pass
    done.append(name)


def test_what_falls_due_comes_between_two_turns(qtbot: QtBot) -> None:
    done: list[str] = []
    beat = QTimer(interval=1)
    beat.timeout.connect(lambda: done.append("heard"))
    beat.start()
    turns().later(lambda: _long(done, "c"))
    turns().paint(lambda: _long(done, "b"))
    turns().soon(lambda: _long(done, "a"))
    qtbot.waitUntil(lambda: "c" in done)
    beat.stop()
    assert [name for name in done if name != "heard"] == ["a", "b", "c"]
    assert "heard" in done[done.index("a") : done.index("b")]
    assert "heard" in done[done.index("b") : done.index("c")]


def test_what_falls_due_comes_between_something_long_and_a_turn(qtbot: QtBot) -> None:
    done: list[str] = []
    beat, other = QTimer(interval=1), QTimer(singleShot=True, interval=0)
    beat.timeout.connect(lambda: done.append("heard"))
    other.timeout.connect(lambda: _long(done, "other"))
    beat.start()
    other.start()
    turns().paint(lambda: done.append("turn"))
    qtbot.waitUntil(lambda: "turn" in done)
    beat.stop()
    assert "heard" in done[done.index("other") : done.index("turn")]


def test_turns_go_on_while_one_waits_for_a_person_and_after_one_that_failed(qtbot: QtBot) -> None:
    done: list[str] = []
    asks = QEventLoop()

    def ask() -> None:
        asks.exec()
        done.append("answered")

    def fail() -> None:
        raise KeyError("wrong")

    turns().later(ask)
    turns().later(fail)
    turns().later(lambda: done.append("next"))
    turns().later(asks.quit)
    with qtbot.captureExceptions() as raised:
        qtbot.waitUntil(lambda: "answered" in done)
    assert done == ["next", "answered"]
    assert [kind for kind, *_ in raised] == [KeyError]
