"""Columns scroll where the window is too low."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from views.support.look import panel
from views.theme import theme
from views.widgets.scroll_pane import ScrollPane


def test_it_scrolls_up_and_down_only(qtbot: QtBot) -> None:
    pane = ScrollPane()
    qtbot.addWidget(pane)
    tall = QWidget()
    tall.setMinimumSize(100, 2000)
    pane.body.addWidget(tall)
    pane.resize(300, 300)
    pane.show()
    assert pane.verticalScrollBar().maximum() > 1000
    assert not pane.horizontalScrollBar().isVisible()


def test_a_line_tells_that_there_is_more_until_its_end_is_seen(qtbot: QtBot) -> None:
    pane, tall = ScrollPane(), QWidget()
    qtbot.addWidget(pane)
    tall.setFixedHeight(600)
    pane.body.addWidget(tall)
    pane.resize(300, 300)
    pane.show()
    told = [pane.goes_on]
    below = pane.grab().toImage().pixelColor(20, 299)
    pane.verticalScrollBar().setValue(pane.verticalScrollBar().maximum())
    told.append(pane.goes_on)
    assert told == [True, False]
    assert below == theme().color("line") != pane.grab().toImage().pixelColor(20, 299)
    pane.resize(300, 700)
    assert not pane.goes_on


def test_the_ground_shines_through(qtbot: QtBot) -> None:
    card = panel("surface")
    qtbot.addWidget(card)
    pane = ScrollPane(card)
    pane.body.addWidget(QLabel("x"))
    pane.resize(100, 100)
    card.resize(100, 100)
    assert card.grab().toImage().pixelColor(80, 80) == theme().color("surface")


@pytest.mark.parametrize(("height", "room"), [(200, 0), (450, 100)])
def test_it_stands_still_while_the_same_lies_on_it(qtbot: QtBot, height: int, room: int) -> None:
    pane, inside = ScrollPane(), QWidget()
    qtbot.addWidget(pane)
    inside.setFixedHeight(height)
    pane.body.addWidget(inside)
    pane.body.addStretch(1)
    pane.resize(300, 500)
    pane.show()
    rooms = []
    for _time in range(3):
        pane.keep_clear(100)
        QApplication.processEvents()
        rooms.append(pane.body.contentsMargins().bottom())
    assert rooms == [room] * 3


def _wrapping(qtbot: QtBot, stretch: int = 0) -> tuple[ScrollPane, QLabel, int]:
    """A pane with a bar, its words, and how wide it is now: they need another line beside the bar."""
    pane, words = ScrollPane(), QLabel("word " * 60)
    words.setWordWrap(True)
    qtbot.addWidget(pane)
    pane.body.addWidget(words)
    if stretch:
        pane.body.addStretch(stretch)
    pane.resize(300, 40)
    pane.show()
    bar, tall = pane.verticalScrollBar(), words.heightForWidth
    qtbot.waitUntil(bar.isVisible)
    wide = next(wide for wide in range(300, 500) if tall(wide) < tall(wide - bar.width()))
    pane.resize(wide, 40)
    return pane, words, wide


def test_no_bar_stands_where_all_fits_without_it(qtbot: QtBot) -> None:
    """Beside a bar words wrap, and need the height that they would not need without it."""
    pane, words, wide = _wrapping(qtbot, stretch=1)
    bar, tall = pane.verticalScrollBar(), words.heightForWidth
    pane.resize(wide, tall(wide))
    qtbot.waitUntil(lambda: not bar.isVisible())
    pane.resize(wide, tall(wide) - 1)
    qtbot.waitUntil(bar.isVisible)
    words.setText("few words")
    qtbot.waitUntil(lambda: not bar.isVisible())


def test_what_is_needed_is_counted_at_the_width_beside_the_bar(qtbot: QtBot) -> None:
    pane, words, wide = _wrapping(qtbot)
    bar, tall = pane.verticalScrollBar(), words.heightForWidth
    qtbot.waitUntil(lambda: pane.viewport().width() == wide - bar.width())
    assert pane.needed() == tall(wide - bar.width())
    qtbot.waitUntil(lambda: bar.maximum() == pane.needed() - pane.viewport().height())
    pane.keep_clear(20)
    assert pane.needed() == tall(wide - bar.width()), "without what was added for what lies on it"
    pane.resize(wide, tall(wide) + 100)
    qtbot.waitUntil(lambda: pane.viewport().width() == wide)
    assert pane.needed() == tall(wide)


def test_a_list_is_as_tall_as_its_rows_up_to_a_bound_and_keeps_the_room_it_took(qtbot: QtBot) -> None:
    pane, row = ScrollPane(), QWidget()
    qtbot.addWidget(pane)
    pane.body.addWidget(row)
    pane.body.addStretch(1)
    pane.grow_with_content(200)
    pane.show()
    heights = []
    for tall in (60, 150, 30, 900):
        row.setFixedHeight(tall)
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        heights.append(pane.height())
    assert heights == [60, 150, 150, 200]
    assert pane.verticalScrollBar().maximum() == 700
