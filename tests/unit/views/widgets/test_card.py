"""Cards."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from views.widgets.badge import Badge
from views.widgets.card import Card


def test_the_title_names_it_and_follows_the_language(qtbot: QtBot) -> None:
    card = Card("Filters", divided=True)
    qtbot.addWidget(card)
    card.set_note("312 shops")
    card.add_action(QWidget())
    card.add_beside_title(Badge.count("5"))
    card.add_before_title(QWidget())
    i18n.set_language("zh_CN")
    assert card.accessibleName() == "筛选条件"
    card.grab()


def test_without_a_title_there_is_no_head(qtbot: QtBot) -> None:
    card = Card()
    qtbot.addWidget(card)
    card.show()
    bare = card.sizeHint().height()
    card.set_title("Filters")
    assert card.sizeHint().height() >= bare
    assert card.accessibleName() == "Filters"


def test_a_note_that_says_nothing_takes_no_room_from_the_title(qtbot: QtBot) -> None:
    card = Card("Waiting, with a message or held at a gate")
    qtbot.addWidget(card)
    card.show()
    bare = card.minimumSizeHint().width()
    card.set_note("312 shops")
    assert card.minimumSizeHint().width() > bare
    card.set_note("")
    qtbot.waitUntil(lambda: card.minimumSizeHint().width() == bare)
