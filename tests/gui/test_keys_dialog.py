"""The keys of commands in the window: pressed into their row, refused by name, live in every place that shows them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import i18n
from services.i18n import _
from views.dialogs.keys import KeysDialog
from views.pages.settings.page import SettingsPage
from views.shell.key_help import KeyHelp
from views.support.keymap import keymap
from views.support.memory import ShortMemory
from views.widgets.buttons import shortcut_text

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def dialog(console: Console, qtbot: QtBot) -> Iterator[KeysDialog]:
    """As Settings opens it."""
    page = console.window.page("settings")
    assert isinstance(page, SettingsPage)
    page.change_keys_button.click()
    (shown,) = console.window.findChildren(KeysDialog)
    shown.activateWindow()
    qtbot.waitUntil(shown.table.hasFocus)
    yield shown
    keymap().follow(ShortMemory())


def press(dialog: KeysDialog, name: str, key: Qt.Key, modifier: Qt.KeyboardModifier, qtbot: QtBot) -> None:
    """Choose the row, Enter, then the new key, and go back to the table."""
    assert dialog.table.set_current_key(name)
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    field = dialog.field
    assert field is not None
    qtbot.waitUntil(field.hasFocus)
    QTest.keyClick(field, key, modifier)
    dialog.table.setFocus()
    qtbot.waitUntil(lambda: dialog.field is None)


def test_what_is_nowhere_is_said(dialog: KeysDialog) -> None:
    dialog.search.setText("no such words")
    assert dialog.nothing.isVisible()
    dialog.nothing.action.emit()
    assert dialog.table.isVisible()
    assert dialog.model.rowCount() > 0


def test_another_language_is_spoken_at_once(dialog: KeysDialog) -> None:
    i18n.set_language("zh_CN")
    assert dialog.search.placeholderText() == dialog.search.accessibleName() == _("Command, page or key")
    assert dialog.search.placeholderText() != "Command, page or key"
    assert _("It holds at once; in text fields letters stay letters.") in dialog.said.text()


def test_a_new_key_holds_at_once_wherever_it_is_shown(console: Console, dialog: KeysDialog, qtbot: QtBot) -> None:
    window = console.window
    press(dialog, "window.freeze", Qt.Key.Key_J, CTRL, qtbot)
    row = dialog.model.find("window.freeze")
    assert row is not None
    assert (row.now, row.default, row.page) == ("Ctrl+J", "Ctrl+.", "Anywhere")
    press(dialog, "window.new", Qt.Key.Key_M, CTRL, qtbot)
    assert console.context.memory.get("keys") == {"window.freeze": "Ctrl+J", "window.new": "Ctrl+M"}
    dialog.reject()
    assert window.top_bar.create_button.toolTip().endswith("(Ctrl+M)")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_Period, CTRL)
    assert not window.frozen
    QTest.keyClick(window, Qt.Key.Key_J, CTRL)
    assert window.frozen
    console.keys.show_help()
    (help_,) = window.findChildren(KeyHelp)
    said = [one.text() for one in help_.findChildren(QLabel)]
    assert said[said.index("Ctrl+J") + 1] == "freeze the view, or let it go on"
    assert "Ctrl+." not in said
    help_.change_button.click()
    assert [one.isVisible() for one in window.findChildren(KeysDialog)][-1]
    window.findChildren(KeysDialog)[-1].reject()


def test_a_key_that_another_command_has_is_refused_by_its_name(dialog: KeysDialog, qtbot: QtBot) -> None:
    press(dialog, "tasks.retry", Qt.Key.Key_P, Qt.KeyboardModifier.NoModifier, qtbot)
    assert dialog.said.text() == "P belongs to: raise the priority (Tasks). Give that one another key first."
    press(dialog, "tasks.retry", Qt.Key.Key_A, CTRL, qtbot)
    assert (
        dialog.said.text()
        == "Ctrl+A belongs to: tick all loaded rows (Tables and charts). Give that one another key first."
    )
    press(dialog, "tasks.retry", Qt.Key.Key_Menu, Qt.KeyboardModifier.NoModifier, qtbot)
    assert dialog.said.text() == "Menu belongs to: menu of the row (Tables and charts). It is always the same."
    assert keymap().chosen() == {}
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    assert dialog.field is not None
    QTest.keyClick(dialog.field, Qt.Key.Key_Escape)
    assert dialog.field is None
    assert dialog.isVisible()


def test_keys_of_lists_pages_and_connections_are_changed_as_all_others(
    console: Console, dialog: KeysDialog, qtbot: QtBot
) -> None:
    window, alt = console.window, Qt.KeyboardModifier.AltModifier
    press(dialog, "rail.3", Qt.Key.Key_F7, Qt.KeyboardModifier.NoModifier, qtbot)
    press(dialog, "connection.1", Qt.Key.Key_F9, Qt.KeyboardModifier.NoModifier, qtbot)
    press(dialog, "tables.down", Qt.Key.Key_I, Qt.KeyboardModifier.NoModifier, qtbot)
    press(dialog, "tables.open", Qt.Key.Key_F2, Qt.KeyboardModifier.NoModifier, qtbot)
    assert keymap().chosen()["tables.open"] == "F2"
    before = dialog.table.current_key()
    QTest.keyClick(dialog.table, Qt.Key.Key_I)  # in this very table
    assert dialog.table.current_key() != before
    assert dialog.said.text().startswith("F2 or a double click, then the new key.")
    before = dialog.table.current_key()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    assert dialog.table.current_key() == before
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    assert dialog.field is None
    QTest.keyClick(dialog.table, Qt.Key.Key_F2)
    assert dialog.field is not None
    dialog.reject()
    window.open_page("overview")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_3, alt)
    assert window.current == "overview"
    QTest.keyClick(window, Qt.Key.Key_F7)
    assert window.current == "tasks"
    console.keys.show_help()
    (help_,) = window.findChildren(KeyHelp)
    said = [one.text() for one in help_.findChildren(QLabel)]
    for keys, words in (
        ("F7", "page 3 of the rail"),
        ("Alt+4", "page 4 of the rail"),
        ("F9", "connection 1 of the list"),
        ("I", "one down"),
        ("F2", "open the row"),
    ):
        assert said[said.index(keys) + 1] == words
    help_.reject()


def test_one_or_all_go_back_to_their_defaults(dialog: KeysDialog, qtbot: QtBot) -> None:
    dialog.search.setText("tasks priority")
    assert [row.name for row in dialog.model.records()] == ["tasks.raise", "tasks.lower"]
    dialog.table.set_current_key("tasks.raise")
    dialog.none_button.click()
    assert keymap().now("tasks.raise") == ""
    dialog.default_button.click()
    assert keymap().now("tasks.raise") == "P"
    assert not dialog.default_button.isEnabled()
    dialog.none_button.click()
    dialog.all_button.click()
    assert keymap().chosen() == {}
    dialog.undo_link.click()
    assert keymap().chosen() == {"tasks.raise": ""}


def test_a_key_of_ones_own_that_something_else_has_by_now_is_told_once(console: Console, qtbot: QtBot) -> None:
    memory = ShortMemory()
    memory.put("keys", {"window.search": "Ctrl+F", "window.new": "Ctrl+J"})
    keymap().follow(memory)
    console.keys.tell_displaced()
    (toast,) = console.window.toasts.toasts()
    assert toast.spec.text == f"{shortcut_text('Ctrl+F')} no longer does: search tasks, shops, commands"
    assert "find in the log that is shown" in toast.spec.detail
    assert toast.spec.stays
    toast.spec.actions[0].call()
    (shown,) = console.window.findChildren(KeysDialog)
    shown.reject()
    assert memory.get("keys", {}) == {"window.new": "Ctrl+J"}
    toast.close_now()
    keymap().follow(memory)
    console.keys.tell_displaced()
    assert not console.window.toasts.toasts()
    keymap().follow(ShortMemory())


def test_no_page_tells_a_key_that_a_command_has_no_more(console: Console) -> None:
    window = console.window
    gone = [one.default for one in keymap().commands() if "+" in one.default]
    pages = [window.page(spec.id) for spec in window.specs]
    try:
        for one in keymap().commands():
            keymap().choose(one.name, "")
        told = [(widget.toolTip(), key) for page in pages for widget in page.findChildren(QWidget) for key in gone]
    finally:
        keymap().follow(ShortMemory())
    assert [(tip, key) for tip, key in told if f"({key})" in tip] == []
    assert window.page("overview").past_button.toolTip() == "Look back in time  (Ctrl+T)"


@pytest.mark.parametrize("held", [Qt.Key.Key_AltGr, Qt.Key.Key_CapsLock, Qt.Key.Key_Super_L, Qt.Key.Key_Dead_Acute])
def test_what_is_held_or_switched_on_beside_a_key_is_none(dialog: KeysDialog, qtbot: QtBot, held: Qt.Key) -> None:
    dialog.press("tasks.retry")
    field = dialog.field
    assert field is not None
    qtbot.waitUntil(field.hasFocus)
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(field, QKeyEvent(kind, held, Qt.KeyboardModifier.NoModifier))
    QTest.keyClick(field, Qt.Key.Key_X)
    dialog.table.setFocus()
    qtbot.waitUntil(lambda: dialog.field is None)
    assert keymap().now("tasks.retry") == "X"
