"""The instant that all windows tell."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from views.support.instant import Ticks

T0 = 1_795_000_000_000


class Fleet:
    """Whose time is turned by hand."""

    at_ms = T0

    def now_ms(self) -> int:
        return self.at_ms


class Place(QWidget):
    """A window that notes when it is told to say its ages again."""

    def __init__(self, name: str, said: list[str]) -> None:
        super().__init__()
        self._name, self._said = name, said

    def say(self) -> None:
        self._said.append(self._name)


def test_it_stands_still_until_the_last_window_that_holds_it_lets_go() -> None:
    told = Ticks()
    first, second = QObject(), QObject()
    told.hold(first, on=True)
    told.hold(second, on=True)
    told.hold(second, on=False)
    assert told.standing, "the other one is frozen still"
    told.hold(first, on=False)
    assert not told.standing


def test_a_window_that_stands_still_keeps_its_instant_while_another_goes_on(qtbot: QtBot) -> None:
    told, fleet, said = Ticks(), Fleet(), list[str]()
    told.follow(fleet)
    assert told.now_ms() == T0
    still, moving = Place("still", said), Place("moving", said)
    for window in (still, moving):
        qtbot.addWidget(window)
        told.serve(window)
        told.tell(window, window.say)
        window.show()
    told.hold(still, on=True)
    fleet.at_ms += 5_000
    told.tick()
    assert said == ["moving"]
    with told.painting(still):
        assert told.now_ms() == T0
    with told.painting(moving):
        assert told.now_ms() == T0 + 5_000
    moving.hide()
    assert told.standing, "nothing that is seen goes on"
    told.hold(still, on=False)
    assert said == ["moving", "still", "moving"]


def test_the_second_moves_nothing_again_that_a_reader_has_just_moved(qtbot: QtBot) -> None:
    told, fleet, said = Ticks(), Fleet(), list[str]()
    told.follow(fleet)
    told.now_ms()
    place = Place("place", said)
    qtbot.addWidget(place)
    told.tell(place, place.say)
    fleet.at_ms += 1_100
    assert told.now_ms() == T0 + 1_100
    assert said == ["place"]
    with qtbot.waitSignal(told.passed):
        fleet.at_ms += 100
    assert said == ["place"]
    with qtbot.waitSignal(told.passed):
        fleet.at_ms += 900
    assert said == ["place", "place"]


def test_a_fleet_that_was_left_is_gone_by_no_more() -> None:
    told, fleet, other = Ticks(), Fleet(), Fleet()
    told.follow(fleet)
    assert told.present_ms() == T0
    told.leave(other)
    assert told.present_ms() == T0, "another one is gone by"
    told.leave(fleet)
    assert told.present_ms() != T0, "this machine's own time"


def test_a_clock_of_this_machine_that_was_set_back_is_told_of_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Ticks()
    right = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: right + 7_200 * 10**9)
    assert told.now_ms() == right // 10**6 + 7_200_000
    monkeypatch.setattr(time, "time_ns", lambda: right)
    assert told.now_ms() == right // 10**6
