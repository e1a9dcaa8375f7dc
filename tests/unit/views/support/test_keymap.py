"""Commands and their keys: the defaults agree, what a person chose holds at once, what is spoiled falls back."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView, QWidget
from pytestqt.qtbot import QtBot

import views.pages
from services.cli.window import SITEMAP
from views.kit.verb import Verb
from views.support.keymap import COMMANDS, FIXED, LISTED, Command, KeyMap, keymap, written
from views.support.keys import bind
from views.support.memory import ShortMemory
from views.widgets.buttons import Button, shortcut_text

ROOT = Path(views.__path__[0]).parent
LINES = [(line.id, line.title, line.letter) for line in SITEMAP]


@pytest.fixture
def keys(qapp: object) -> KeyMap:
    """A map of its own, which knows the pages of the window."""
    made = KeyMap()
    made.know_pages(LINES)
    return made


@pytest.fixture
def shared(qapp: object) -> Iterator[KeyMap]:
    """That of the process, as it was afterwards."""
    yield keymap()
    keymap().follow(ShortMemory())


def remembered(**stored: object) -> ShortMemory:
    """What an earlier window has written; ``__`` stands for the dot of a command."""
    memory = ShortMemory()
    memory.put("keys", {name.replace("__", "."): value for name, value in stored.items()})
    return memory


def named(rival: object) -> str:
    """The command that is in the way, "" for none."""
    return rival.name if isinstance(rival, Command) else ""


def test_each_default_is_a_key_that_nothing_else_has(keys: KeyMap) -> None:
    for command in keys.commands():
        assert written(command.default) == command.default, command
        assert keys.rival(command.name, command.default) is None, command
    assert all(written(one) for fixed in FIXED for one in fixed.keys)


def test_each_command_is_used_and_each_verb_names_one_of_its_page() -> None:
    sources = [file for room in ("views", "console") for file in (ROOT / room).rglob("*.py") if file.stem != "keymap"]
    whole = "\n".join(file.read_text(encoding="utf-8") for file in sources)
    # lists are written for the defaults, and what is numbered is made of its place
    named_ = [one.name for one in COMMANDS if one.place not in LISTED and not one.number]
    assert [name for name in named_ if f'"{name}"' not in whole] == []
    known = {one.name for one in COMMANDS}
    for file in sorted((ROOT / "views" / "pages").glob("*/verbs.py")):
        page = file.parent.name
        for found in vars(importlib.import_module(f"views.pages.{page}.verbs")).values():
            for verb in found if isinstance(found, tuple) else (found,):
                if isinstance(verb, Verb) and verb.shortcut:
                    assert verb.shortcut in known, verb
                    assert verb.shortcut.startswith(f"{page}."), verb


@pytest.mark.parametrize(
    ("keys_", "form"),
    [
        ("Ctrl+Enter", "Ctrl+Return"),
        ("r", "R"),
        ("G, T", "G, T"),
        ("Ctrl++", "Ctrl++"),
        ("Shift+Ctrl+N", "Ctrl+Shift+N"),
    ]
    + [(spoiled, "") for spoiled in ("nonsense", "Ctrl+", "Foo+X", "\x00", "A, B, C", "")],
)
def test_a_key_is_written_in_one_way(keys_: str, form: str) -> None:
    assert written(keys_) == form


@pytest.mark.parametrize(
    ("name", "wanted", "whose"),
    [
        ("tasks.retry", "P", "tasks.raise"),  # of the same page
        ("tasks.retry", "Ctrl+K", "window.search"),  # works on every page
        ("window.search", "V", "queues.peek"),  # would take it from a page
        ("tasks.retry", "G", "go.overview"),  # begins it
        ("tasks.retry", "V", ""),  # of another page
        ("tables.peek", "V", "queues.peek"),  # lists are on every page
        ("tables.down", "P", "tasks.raise"),
        ("alerts.mute", "Shift+Down", "tables.down"),  # ticks on the way
        ("tables.down", "A", "alerts.take"),
        ("tables.up", "P", "tasks.raise"),
        ("tasks.retry", "Alt+3", "rail.3"),
        ("window.new", "Ctrl+2", "connection.2"),
        ("rail.11", "Ctrl+N", "window.new"),
        ("parts.next_error", "Ctrl+R", "work.again"),  # a dialog may have both
        ("work.again", "Ctrl+Return", "dialog.main"),
        ("dialog.main", "Ctrl+K", ""),  # no dialog hears the keys of the window
        ("work.shop", "R", ""),
    ],
)
def test_a_key_belongs_to_one_command_where_both_work(keys: KeyMap, name: str, wanted: str, whose: str) -> None:
    assert named(keys.rival(name, wanted)) == whose


def test_keys_of_tables_are_nobody_elses_until_they_are_given_away(keys: KeyMap) -> None:
    assert named(keys.rival("tasks.retry", "Space")) == "tables.peek"
    keys.choose("tables.peek", "I")
    assert keys.rival("tasks.retry", "Space") is None
    assert named(keys.rival("tasks.retry", "I")) == "tables.peek"


def test_only_what_leads_out_of_where_one_is_stays_for_everybody(keys: KeyMap) -> None:
    assert sorted({key for one in FIXED for key in one.keys}) == [
        "Backtab", "Esc", "Menu", "Shift+Backtab", "Shift+Tab", "Tab",
    ]  # fmt: skip
    assert keys.rival("tables.peek", "Esc") == FIXED[1]


@pytest.mark.parametrize(
    ("name", "wanted", "form"),
    [
        ("tasks.retry", "G, R", "G, R"),
        ("tables.peek", "G, R", ""),  # lists hear one key after the other
        ("parts.next_error", "G, R", ""),
        ("overview.earlier", "G, R", ""),  # so does a tile
        ("dialog.compare", "G, R", ""),
        ("tables.down", "Shift+J", ""),  # with Shift it ticks
        ("tables.down", "J", "J"),
    ],
)
def test_what_a_command_cannot_be_pressed_by_is_none(
    keys: KeyMap, caplog: pytest.LogCaptureFixture, name: str, wanted: str, form: str
) -> None:
    assert keys.usable(name, wanted) == form
    keys.follow(remembered(**{name.replace(".", "__"): wanted}))
    assert keys.chosen() == ({name: form} if form else {})
    assert ("is not usable" in caplog.text) == (not form)


def test_what_is_chosen_is_remembered_and_two_may_have_changed_places(keys: KeyMap) -> None:
    memory = ShortMemory()
    keys.follow(memory)
    keys.choose("tasks.raise", "")
    keys.choose("tasks.retry", "P")
    keys.choose("tasks.raise", "R")
    keys.choose("window.keys", "?")  # its default is no choice
    later = KeyMap()
    later.know_pages(LINES)
    later.follow(memory)
    assert later.chosen() == {"tasks.raise": "R", "tasks.retry": "P"}
    assert (later.now("tasks.raise"), later.now("tasks.retry"), later.now("Esc")) == ("R", "P", "Esc")


@pytest.mark.parametrize(
    ("stored", "word"),
    [
        ({"tasks__retry": "nonsense"}, "the key of tasks.retry is not usable: 'nonsense'"),
        ({"tasks__retry": 7}, "the key of tasks.retry is not usable: 7"),
        ({"tasks__retry": "P"}, "the key of tasks.retry, P, belongs to tasks.raise"),
        ({"tasks__retry": "Esc"}, "the key of tasks.retry, Esc, belongs to Esc"),
        ({"tasks__fly": "F"}, "keys names 'tasks.fly', which is no command"),
    ],
)
def test_what_is_stored_and_spoiled_falls_back_with_a_word(
    keys: KeyMap, caplog: pytest.LogCaptureFixture, stored: dict[str, Any], word: str
) -> None:
    keys.follow(remembered(**stored, window__search="Ctrl+J"))
    assert (keys.now("tasks.retry"), keys.now("window.search")) == ("R", "Ctrl+J")
    assert word in caplog.text


def test_what_this_version_does_not_know_is_kept_when_a_displaced_key_is_told(keys: KeyMap) -> None:
    memory = remembered(tasks__fly="F", tasks__raise="nonsense", window__search="Ctrl+F", window__new="Ctrl+J")
    keys.follow(memory)
    assert [one.command.name for one in keys.take_displaced()] == ["window.search"]
    assert memory.get("keys") == {"tasks.fly": "F", "tasks.raise": "nonsense", "window.new": "Ctrl+J"}


def test_what_this_version_does_not_know_is_kept_when_keys_are_chosen(keys: KeyMap) -> None:
    memory = remembered(tasks__fly="F", tasks__raise="nonsense")
    keys.follow(memory)
    keys.choose("tasks.retry", "Shift+R")
    assert memory.get("keys") == {"tasks.fly": "F", "tasks.retry": "Shift+R"}
    keys.restore({})
    assert memory.get("keys") == {"tasks.fly": "F"}


def test_a_table_that_is_none_leaves_the_defaults(keys: KeyMap, caplog: pytest.LogCaptureFixture) -> None:
    memory = ShortMemory()
    memory.put("keys", ["R"])
    keys.follow(memory)
    assert keys.chosen() == {}
    assert "keys is no table" in caplog.text
    keys.choose("tasks.retry", "Shift+R")
    assert memory.get("keys") == {"tasks.retry": "Shift+R"}


def test_a_new_key_acts_and_is_shown_at_once(shared: KeyMap, qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    table, button = QTableView(page), Button("Retry", hint="tasks.retry", parent=page)
    done: list[str] = []
    bind(table, {"tasks.retry": lambda: done.append("again")})
    page.show()
    page.activateWindow()
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    broad = button.sizeHint().width()
    shared.choose("tasks.retry", "Ctrl+Return")
    qtbot.keyClick(table, Qt.Key.Key_R)
    assert done == []
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        qtbot.keyClick(table, key, Qt.KeyboardModifier.ControlModifier)
    assert done == ["again", "again"]
    assert button.toolTip() == "Retry  (Ctrl+Enter)"
    assert button.sizeHint().width() > broad
    shared.choose("tasks.retry", "")
    assert (button.toolTip(), shortcut_text("tasks.retry")) == ("", "")
    assert button.sizeHint().width() < broad


def test_what_another_program_chose_holds_once_it_is_looked_for_and_is_not_written_over(qapp: object) -> None:
    memory, maps = ShortMemory(), (KeyMap(), KeyMap())
    for one in maps:
        one.know_pages(LINES)
        one.follow(memory)
    first, second = maps
    first.choose("tasks.retry", "X")
    second.look_again()
    assert second.now("tasks.retry") == "X"
    second.choose("tasks.cancel", "")
    first.look_again()
    assert (first.now("tasks.retry"), first.now("tasks.cancel")) == ("X", "")
