"""Letters act in tables and are letters in text fields."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QTableView, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.unit.views.samples import COLUMNS, sample_rows
from views.support.keymap import keymap
from views.support.keys import bind, list_keys, pressed
from views.support.memory import ShortMemory
from views.tables.record_model import RecordModel
from views.tables.table_view import TableView


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


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[tuple[TableView, QLineEdit, QPushButton]]:
    """A table, a field and a button in one window; the keys are as they were afterwards."""
    list_keys()
    page = QWidget()
    qtbot.addWidget(page)
    model = RecordModel(COLUMNS, key=lambda row: row.id, tickable=True)
    model.apply(sample_rows(9))
    table, field, button = TableView(model, "Tasks"), QLineEdit(), QPushButton("Go")
    column = QVBoxLayout(page)
    for part in (table, field, button):
        column.addWidget(part)
    page.show()
    page.activateWindow()
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    table.set_current_key(model.key_at(0))
    yield table, field, button
    keymap().follow(ShortMemory())


def test_a_list_hears_the_keys_that_a_person_chose_and_no_others(
    desk: tuple[TableView, QLineEdit, QPushButton], qtbot: QtBot
) -> None:
    table, field, button = desk
    shift, keypad = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.KeypadModifier
    peeked: list[object] = []
    opened: list[object] = []
    table.peek_requested.connect(peeked.append)
    table.open_requested.connect(opened.append)
    for name, keys in (("tables.peek", "Return"), ("tables.open", ""), ("tables.down", "J"), ("tables.open", "Space")):
        keymap().choose(name, keys)
    key = table.records.key_at
    qtbot.keyClick(table, Qt.Key.Key_J)
    assert table.current_key() == key(1)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert table.current_key() == key(1)
    qtbot.keyClick(table, Qt.Key.Key_Up)  # nobody chose another one
    assert table.current_key() == key(0)
    qtbot.keyClick(table, Qt.Key.Key_J, shift)
    assert table.records.ticked() == {key(0), key(1)}
    qtbot.keyClick(table, Qt.Key.Key_Enter, keypad)
    qtbot.keyClick(table, Qt.Key.Key_Space)
    assert (peeked, opened) == ([key(1)], [key(1)])
    field.setFocus()
    qtbot.keyClicks(field, "j jam")
    assert field.text() == "j jam"
    done: list[bool] = []
    button.clicked.connect(lambda: done.append(True))
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert len(done) == 1
    table.setFocus()
    keymap().restore({})
    qtbot.keyClick(table, Qt.Key.Key_J)
    assert table.current_key() == key(1)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert table.current_key() == key(2)


@pytest.mark.parametrize(
    ("key", "held", "same"),
    [
        (Qt.Key.Key_F8, Qt.KeyboardModifier.NoModifier, True),
        (Qt.Key.Key_F8, Qt.KeyboardModifier.KeypadModifier, True),
        (Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier, False),
        (Qt.Key.Key_F7, Qt.KeyboardModifier.NoModifier, False),
    ],
)
def test_it_is_told_whether_a_key_is_that_of_a_command(
    qapp: object, key: Qt.Key, held: Qt.KeyboardModifier, same: bool
) -> None:
    assert pressed(QKeyEvent(QEvent.Type.KeyPress, key, held), "parts.next_error") is same


def test_where_somebody_writes_what_writes_is_no_key(qapp: object) -> None:
    none, ctrl = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
    for keys, key, held, copies in (
        ("Y", Qt.Key.Key_Y, none, False),
        ("Backspace", Qt.Key.Key_Backspace, none, False),
        ("F7", Qt.Key.Key_F7, none, True),
        ("Ctrl+Y", Qt.Key.Key_Y, ctrl, True),
    ):
        keymap().choose("tables.copy", keys)
        event = QKeyEvent(QEvent.Type.KeyPress, key, held)
        assert (pressed(event, "tables.copy"), pressed(event, "tables.copy", writing=True)) == (True, copies), keys
    keymap().follow(ShortMemory())
