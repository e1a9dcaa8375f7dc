"""What a screen reader is told: whatever takes the focus, on every page and in every dialog, has a name and a role."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services.cli.window import pages
from tests.gui.desk import Desk
from tests.gui.test_masking import settle
from views.pages.settings.page import SettingsPage
from views.widgets.segmented import Segmented

pytestmark = pytest.mark.deep

Role = QAccessible.Role
#: what Qt calls a widget of which it knows nothing
NOTHING = {Role.NoRole, Role.Client}


def mute(root: QWidget) -> Iterator[str]:
    """What takes the focus and is not told as what it is."""
    for one in root.findChildren(QWidget):
        if not one.isVisible() or one.focusPolicy() == Qt.FocusPolicy.NoFocus or one.focusProxy() is not None:
            continue
        face = QAccessible.queryAccessibleInterface(one)
        name, role = face.text(QAccessible.Text.Name).strip(), face.role()
        if not name or role in NOTHING:
            above = one.parentWidget()
            yield f"{type(one).__name__} in {type(above).__name__}: {role.name} {name!r}"


def test_every_page_is_told(console: Console, desk: Desk, qtbot: QtBot) -> None:
    desk.fail(desk.create(0))
    desk.create(1)
    silent: list[str] = []
    for name in pages():
        console.window.open_page(name)
        settle(qtbot, console.window.page(name))
        silent += [f"{name}: {one}" for one in mute(console.window)]
    assert not silent, "\n".join(silent)


def test_every_dialog_of_the_window_is_told(console: Console, qtbot: QtBot) -> None:
    keys = console.keys
    page = console.window.page("settings")
    assert isinstance(page, SettingsPage)
    opens = (
        keys.show_help, keys.show_guide, keys.show_page_help, keys.ask_of_work, keys.hand_over,
        console.window.top_bar.create_button.click, page.edit, page.change_keys,
    )  # fmt: skip
    silent: list[str] = []
    qtbot.waitUntil(console.window.top_bar.create_button.isEnabled)
    for show in opens:
        show()
        settle(qtbot, console.window)
        (dialog,) = [one for one in console.window.findChildren(QDialog) if one.isVisible()]
        assert dialog.accessibleName() or dialog.windowTitle()
        silent += mute(dialog)
        dialog.reject()
        settle(qtbot, console.window)
    keys.look_back()
    settle(qtbot, console.window)
    silent += mute(console.window)
    assert not silent, "\n".join(silent)


def test_a_choice_tells_its_value_and_keeps_to_itself(qtbot: QtBot) -> None:
    choice = Segmented((("a", "First"), ("b", "Second")), "Order")
    qtbot.addWidget(choice)
    choice.choose("b")
    face = QAccessible.queryAccessibleInterface(choice)
    assert (face.role(), face.text(QAccessible.Text.Name)) == (Role.ComboBox, "Order")
    assert face.text(QAccessible.Text.Value) == "Second"
    field = QLineEdit()
    qtbot.addWidget(field)
    assert QAccessible.queryAccessibleInterface(field).role() == Role.EditableText


def test_a_machine_that_cannot_read_the_screen_is_told_what_to_install() -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-I", "-S", str(root / "tests/looks/reader.py")]  # without what the system has
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={"PATH": ""})
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "apt-get install" in line
    assert {"dbus-daemon", "python3-pyatspi", "xvfb"} <= set(line.split())
