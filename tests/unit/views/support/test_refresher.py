"""Asks regularly while seen, never twice at a time."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from views.support import operation
from views.support.refresher import Refresher


@pytest.fixture
def widget(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_it_asks_while_the_widget_is_seen(qtbot: QtBot, widget: QWidget) -> None:
    results: list[object] = []
    refresher = Refresher(widget, lambda: 7, results.append, interval_ms=1)
    refresher.start()
    assert not refresher.active
    widget.show()
    qtbot.waitUntil(lambda: len(results) >= 3)
    widget.hide()
    assert not refresher.active
    widget.show()
    assert refresher.active
    refresher.stop()
    assert not refresher.active
    assert set(results) == {7}


def test_one_answer_at_a_time(qtbot: QtBot, widget: QWidget) -> None:
    gate, asked = threading.Event(), []

    def fetch() -> int:
        asked.append(1)
        gate.wait()
        return 1

    refresher = Refresher(widget, fetch, interval_ms=1)
    refresher.now()
    refresher._on_timeout()
    refresher._on_timeout()
    assert refresher.busy
    gate.set()
    qtbot.waitUntil(lambda: not refresher.busy)
    assert len(asked) == 1


def test_asking_during_an_answer_asks_once_more(qtbot: QtBot, widget: QWidget) -> None:
    gate, asked = threading.Event(), []

    def fetch() -> int:
        asked.append(1)
        gate.wait()
        return 1

    refresher = Refresher(widget, fetch)
    refresher.now()
    refresher.now()
    refresher.now()
    gate.set()
    qtbot.waitUntil(lambda: len(asked) == 2 and not refresher.busy)


def test_a_failure_is_told_and_the_next_success_too(qtbot: QtBot, widget: QWidget) -> None:
    answers = iter([ValueError("lost"), 5])

    def fetch() -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    refresher = Refresher(widget, fetch)
    with qtbot.waitSignal(refresher.failed) as lost:
        refresher.now()
    with qtbot.waitSignal(refresher.refreshed) as back:
        refresher.now()
    assert str(lost.args[0]) == "lost"
    assert back.args == [5]


def test_the_pace_can_change(qtbot: QtBot, widget: QWidget) -> None:
    refresher = Refresher(widget, lambda: 1, interval_ms=60_000)
    refresher.set_interval(5)
    widget.show()
    with qtbot.waitSignals([refresher.refreshed, refresher.refreshed]):
        refresher.start()
    refresher.stop()


def test_an_error_nobody_listens_to_reaches_the_notifier(qtbot: QtBot, widget: QWidget) -> None:
    told: list[BaseException] = []
    operation.configure(told.append)

    def fetch() -> int:
        raise ValueError("lost")

    refresher = Refresher(widget, fetch)
    refresher.now()
    qtbot.waitUntil(lambda: bool(told))
    assert str(told[0]) == "lost"
