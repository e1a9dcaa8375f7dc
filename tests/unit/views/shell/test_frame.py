"""The parts of the window stand where they belong."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from views.shell.frame import frame


def test_the_last_of_the_column_takes_the_room(qtbot: QtBot) -> None:
    rail, bar, page, below = QLabel("r"), QLabel("b"), QLabel("p"), QLabel("s")
    whole = frame(rail, (bar, page), below)
    qtbot.addWidget(whole)
    whole.resize(400, 300)
    whole.show()
    assert rail.x() == 0
    assert page.y() == bar.geometry().bottom() + 1
    assert page.height() > bar.height()
    assert below.width() == 400
    assert below.geometry().bottom() == 299
