"""Work in small pieces."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from views.pages.overview.steps import Steps


def test_the_first_runs_now_and_the_others_follow(qtbot: QtBot) -> None:
    owner, said = QObject(), list[int]()
    steps = Steps(owner)
    steps.run([partial(said.append, n) for n in range(3)])
    assert said == [0]
    qtbot.waitUntil(lambda: said == [0, 1, 2])


def test_a_newer_list_replaces_what_is_left(qtbot: QtBot) -> None:
    owner, said = QObject(), list[int]()
    steps = Steps(owner)
    steps.run([partial(said.append, n) for n in (1, 2, 3)])
    steps.run([partial(said.append, n) for n in (7, 8)])
    steps.finish()
    assert said == [1, 7, 8]


def test_stopping_forgets(qtbot: QtBot) -> None:
    owner, said = QObject(), list[int]()
    steps = Steps(owner)
    steps.run([partial(said.append, n) for n in (1, 2)])
    steps.stop()
    steps.finish()
    assert said == [1]
