"""Letters act in tables and are letters in text fields."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QTableView, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from views.support.keys import bind


def test_a_letter_acts_only_where_the_table_has_the_focus(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    table, field = QTableView(), QLineEdit()
    column = QVBoxLayout(page)
    column.addWidget(table)
    column.addWidget(field)
    done: list[str] = []
    bind(table, {"R": lambda: done.append("r"), "Ctrl+Return": lambda: done.append("now")})
    bind(page, {"Ctrl+.": lambda: done.append("page")})
    page.show()
    page.activateWindow()
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    qtbot.keyClick(table, Qt.Key.Key_R)
    qtbot.keyClick(table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(table, Qt.Key.Key_Enter, Qt.KeyboardModifier.ControlModifier)
    assert done == ["r", "now", "now"]
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_R)
    qtbot.keyClick(field, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert done == ["r", "now", "now", "page"]
    assert field.text() == "r"
