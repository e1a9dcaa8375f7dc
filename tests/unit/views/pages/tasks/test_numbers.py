"""How many tasks there are, where nobody counted them all."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from views.pages.tasks.action_bar import ActionBar, BarState


def test_the_foot_says_at_least_so_many(qtbot: QtBot) -> None:
    bar = ActionBar(())
    qtbot.addWidget(bar)
    for state, words in (
        (BarState(loaded=200, total=None, at_least=4_120), "200 of at least 4,120 loaded"),
        (BarState(loaded=200, total=None, at_least=200), "200 of … loaded"),
        (BarState(loaded=200, total=4_120, at_least=4_120), "200 of 4,120 loaded"),
    ):
        bar.show_state(state, lambda _key: "")
        assert words in [one.text() for one in bar.findChildren(QLabel)]
