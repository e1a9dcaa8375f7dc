"""How many tasks there are, where nobody counted them all."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from views.pages.tasks.action_bar import ActionBar, BarState
from views.support.words.rows import News


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


def test_the_pill_does_not_name_a_number_that_nobody_counted(qtbot: QtBot) -> None:
    bar = ActionBar(())
    qtbot.addWidget(bar)
    for news, words in (
        (News(12, 200, cut=True), "12 new rows"),
        (News(1, 1), "1 new row"),
        (News(200, 200), "200 new rows"),
        (News(200, 200, cut=True), "200 or more new rows"),
    ):
        bar.show_state(BarState(loaded=200, total=4_120, news=news), lambda _key: "")
        assert words in [one.text() for one in bar.findChildren(QAbstractButton)]
