"""A throttle keeps a pace, a debounce waits for quiet."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from views.support.throttle import Debounce, Throttle


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
