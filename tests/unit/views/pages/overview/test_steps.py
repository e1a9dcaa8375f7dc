"""Work in small pieces."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from views.pages.overview.cards import Steps


def test_the_first_runs_now_and_the_others_follow(qtbot: QtBot) -> None:
    owner, said = QObject(), list[int]()
    steps = Steps(owner)
    steps.run([partial(said.append, n) for n in range(3)])
    assert said == [0]
    qtbot.waitUntil(lambda: said == [0, 1, 2])


def test_a_newer_list_begins_with_what_was_left(qtbot: QtBot) -> None:
    owner, said = QObject(), list[int]()
    steps = Steps(owner)
    for round_ in (10, 20, 30):
        steps.run([partial(said.append, round_ + n) for n in (1, 2, 3)])
    assert said == [11, 22, 33], "each is reached, also when every list is overtaken"
    steps.finish()
    assert said[3:] == [31, 32]
    steps.run([partial(said.append, n) for n in (7, 8)])
    steps.finish()
    assert said[5:] == [7, 8]


def test_stopping_forgets(qtbot: QtBot) -> None:
    owner, said = QObject(), list[int]()
    steps = Steps(owner)
    steps.run([partial(said.append, n) for n in (1, 2)])
    steps.stop()
    steps.finish()
    assert said == [1]
