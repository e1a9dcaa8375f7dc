"""The command palette: where the cursor stands."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from views.shell.palette import Group, Palette
from views.shell.palette_rows import Entry
from views.support import keys
from views.support.keymap import keymap
from views.support.memory import ShortMemory
from views.theme import theme


class Found:
    """A finder that always finds the same."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries

    def find(self, query: str, scope: str) -> Sequence[Group]:
        """All of it."""
        return [("Commands", self.entries)]

    def want_no_more(self) -> None:
        """Nothing is under way."""

    def look_up(self, query: str, scope: str) -> None:
        """Nothing more."""

    def used(self, entry: Entry) -> None:
        """Nothing to remember."""


def entry(key: str, reason: str = "") -> Entry:
    """A command."""
    return Entry(key=key, kind="command", words=key, icon="ph.plus", reason=reason)


def current(qtbot: QtBot, *entries: Entry) -> str:
    """Where the cursor stands when it is opened."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 700)
    palette = Palette(Found(entries), window)
    palette.ask()
    found = palette.current()
    palette.hide()
    return found.key if found is not None else ""


def test_it_starts_on_what_can_be_done(qtbot: QtBot) -> None:
    assert current(qtbot, entry("retry", "Select a task first"), entry("new"), entry("export")) == "new"


def test_it_starts_at_the_top_where_nothing_can_be_done(qtbot: QtBot) -> None:
    assert current(qtbot, entry("retry", "no"), entry("cancel", "no")) == "retry"


def test_it_says_so_where_nothing_is_found(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 700)
    finder = Found([entry("new")])
    palette = Palette(finder, window)
    palette.ask()
    assert (palette.list.isVisible(), palette.nothing.isVisible()) == (True, False)
    finder.entries = []
    palette.field.setText("zzzz")
    assert (palette.list.isVisible(), palette.nothing.isVisible()) == (False, True)
    palette.show_later("zzzz", [("Tasks", [entry("zzzz1")])])
    assert (palette.list.isVisible(), palette.nothing.isVisible()) == (True, False)
    palette.hide()


def test_its_field_shows_that_it_has_the_keyboard(qtbot: QtBot, qapp: QApplication) -> None:
    theme().install(qapp)
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 700)
    palette = Palette(Found([entry("new")]), window)
    palette.ask()
    palette.activateWindow()
    qtbot.waitUntil(palette.field.hasFocus)
    field = palette.field.geometry()
    picture = palette.grab().toImage()
    for inner in (0, 1):
        assert picture.pixelColor(field.center().x(), field.top() + inner) == theme().color("focus")
    palette.hide()


def test_a_letter_that_copies_elsewhere_is_written_here(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 700)
    palette = Palette(Found([Entry(key="t_1", kind="task", words="t_1", icon="ph.plus", copy="t_1")]), window)
    keymap().choose("tables.copy", "Y")
    palette.ask()
    QApplication.clipboard().setText("before")
    qtbot.keyClicks(palette.field, "pay")
    assert (palette.field.text(), QApplication.clipboard().text()) == ("pay", "before")
    keymap().choose("tables.copy", "Ctrl+Y")
    qtbot.keyClick(palette.field, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "t_1"
    keymap().follow(ShortMemory())
    palette.hide()


def test_a_screen_reader_is_told_where_the_cursor_is_and_that_nothing_is_found(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keyboard stays in the field, of which alone it would hear."""
    told: list[str] = []
    monkeypatch.setattr(
        keys, "QAccessible", SimpleNamespace(updateAccessibility=lambda one: told.append(one.message()))
    )
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 700)
    finder = Found([entry("new"), entry("retry", "Select a task first")])
    palette = Palette(finder, window)
    palette.ask()
    qtbot.waitUntil(lambda: told == ["new"])
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    assert told[1:] == ["retry, Select a task first"]
    finder.entries = []
    palette.field.setText("zzzz")
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told[2].startswith("Nothing is called so")
    palette.show_later("zzzz", [("Tasks", [entry("zzzz1")])])
    qtbot.waitUntil(lambda: told[3:] == ["zzzz1"])
    palette.hide()
