"""The rail."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from services import i18n
from views.shell.rail import NavEntry, Rail
from views.support.keymap import keymap
from views.support.look import focus_chain
from views.theme import theme

ENTRIES = (
    NavEntry(id="overview", title="Filters", icon="ph.gauge"),
    NavEntry(id="tasks", title="Retry", icon="ph.list-bullets"),
    NavEntry(id="settings", title="Close", icon="ph.gear-six", group=1, shortcut="Ctrl+,"),
)


@pytest.fixture
def rail(qtbot: QtBot) -> Rail:
    rail = Rail()
    qtbot.addWidget(rail)
    rail.set_entries(ENTRIES)
    rail.resize(196, 600)
    with qtbot.waitActive(rail):
        rail.show()
        rail.activateWindow()
    return rail


def test_click_and_keys_choose(qtbot: QtBot, rail: Rail) -> None:
    with qtbot.waitSignal(rail.chosen) as signal:
        qtbot.mouseClick(rail.item("tasks"), Qt.MouseButton.LeftButton)
    assert signal.args == ["tasks"]
    with qtbot.waitSignal(rail.chosen) as signal:
        qtbot.keyClick(rail, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert signal.args == ["overview"]
    with qtbot.waitSignal(rail.chosen) as signal:
        qtbot.keyClick(rail, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert signal.args == ["settings"]


def test_a_tip_names_the_key_of_the_moment(rail: Rail) -> None:
    assert [rail.item(name).toolTip() for name in ("overview", "tasks", "settings")] == [
        "Filters  (Alt+1)",
        "Retry  (Alt+2)",
        "Close  (Ctrl+,)",
    ]
    try:
        keymap().choose("rail.1", "F7")
        assert rail.item("overview").toolTip() == "Filters  (F7)"
        keymap().choose("rail.1", "")
        assert "Alt+1" not in rail.item("overview").toolTip()
    finally:
        keymap().restore({})


def test_the_active_page_is_marked(rail: Rail) -> None:
    plain = rail.item("tasks").grab().toImage()
    rail.set_active("tasks")
    assert rail.item("tasks").grab().toImage() != plain
    rail.set_active("overview")
    assert rail.item("tasks").grab().toImage() == plain


def test_badges_are_drawn_and_spoken(rail: Rail) -> None:
    item = rail.item("tasks")
    plain = item.grab().toImage()
    rail.set_badge("tasks", "143", "dead", "dead letters")
    rail.set_badge("tasks", "143", "dead", "dead letters")
    rail.set_badge("nobody", "1")
    assert item.grab().toImage() != plain
    assert item.accessibleName() == "Retry, dead letters: 143"
    assert item.toolTip().splitlines()[-1] == "dead letters: 143"
    rail.set_badge("tasks")
    assert item.accessibleName() == "Retry"


def test_it_folds(qtbot: QtBot, rail: Rail) -> None:
    with qtbot.waitSignal(rail.collapsed_changed) as signal:
        qtbot.keyClick(rail, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert signal.args == [True]
    assert rail.collapsed
    assert rail.width() == 52
    rail.set_badge("tasks", "143", "dead")
    rail.grab()
    rail.set_collapsed(False)
    assert rail.width() == 196


def test_arrows_move_the_focus(qtbot: QtBot, rail: Rail) -> None:
    rail.item("overview").setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(rail.item("overview"), Qt.Key.Key_Down)
    assert rail.item("tasks").hasFocus()
    qtbot.keyClick(rail.item("tasks"), Qt.Key.Key_Up)
    assert rail.item("overview").hasFocus()
    rail.grab()
    qtbot.keyClick(rail, Qt.Key.Key_Up)


def test_the_keyboard_goes_from_top_to_bottom(qtbot: QtBot, rail: Rail) -> None:
    chain = [one for one in focus_chain(rail) if one.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert chain == sorted(chain, key=lambda one: one.y())
    assert len(chain) > 2


def test_language_and_theme(rail: Rail) -> None:
    dark = rail.grab().toImage()
    i18n.set_language("zh_CN")
    theme().set_mode("light")
    rail.setEnabled(False)
    assert rail.item("tasks").accessibleName() == "重试"
    assert rail.grab().toImage() != dark
