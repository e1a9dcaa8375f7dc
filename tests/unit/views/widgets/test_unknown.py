"""What stands in an empty place while it is loaded, and where nothing could be."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from views.widgets.layout import stacked
from views.widgets.unknown import Bones, Unknown


def made(qtbot: QtBot) -> tuple[QWidget, Unknown, Bones]:
    """A page with an area, its cover, and the grey rows of it."""
    page = QWidget()
    qtbot.addWidget(page)
    area = QLabel("rows")
    QVBoxLayout(page).addWidget(area)
    page.resize(400, 300)
    cover = Unknown(page, area)
    (bones,) = page.findChildren(Bones)
    return page, cover, bones


def test_grey_rows_stand_there_until_the_first_answer_and_never_again(qtbot: QtBot) -> None:
    page, cover, bones = made(qtbot)
    cover.ask("open")
    page.show()
    assert not bones.isVisible(), "what comes soon is not announced"
    qtbot.waitUntil(bones.isVisible)
    page.resize(500, 300)
    area = page.findChild(QLabel)
    assert area is not None
    qtbot.waitUntil(lambda: bones.size() == area.size())
    cover.answer("open")
    assert not bones.isVisible()
    cover.ask("archived")
    with qtbot.waitSignal(page.destroyed, raising=False, timeout=300):
        assert not bones.isVisible(), "what stood there stays until the next is there"
    assert not bones.isVisible()


def test_without_a_connection_nobody_knows_in_place_of_grey_rows(qtbot: QtBot) -> None:
    page, cover, bones = made(qtbot)
    cover.ask()
    page.show()
    qtbot.waitUntil(bones.isVisible)
    cover.set_still(True)
    assert (bones.isVisible(), cover.isVisible()) == (False, True)
    cover.set_still(False)
    qtbot.waitUntil(bones.isVisible)
    assert not cover.isVisible()


def test_who_opens_a_page_that_was_made_before_waits_anew(qtbot: QtBot) -> None:
    page, cover, bones = made(qtbot)
    cover.ask()
    page.show()
    qtbot.waitUntil(bones.isVisible)
    page.hide()
    page.show()
    assert not bones.isVisible()
    qtbot.waitUntil(bones.isVisible)


def test_what_is_of_something_else_is_hidden_below_grey_rows_and_has_the_keyboard_no_more(qtbot: QtBot) -> None:
    page, listed, older = QWidget(), QLineEdit(), QLineEdit()
    qtbot.addWidget(page)
    column, area = QVBoxLayout(page), stacked(older)
    column.addWidget(listed)
    column.addWidget(area)
    bones = Bones(page, area, leave=listed.setFocus)
    page.show()
    page.activateWindow()
    older.setFocus()
    room = area.size()
    bones.begin()
    assert older.isVisible(), "it may come soon"
    qtbot.waitUntil(bones.isVisible)
    assert (older.isVisible(), page.focusWidget()) == (False, listed)
    page.hide()
    page.show()
    assert not older.isVisible(), "nobody was told of the other yet"
    bones.end()
    assert (older.isVisible(), area.size()) == (True, room)
    bones.end(known=False)
    assert (older.isVisible(), bones.isVisible()) == (False, False)
