"""The first window: what it has looked at before anything starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import psutil
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from console.appearance import Appearance
from console.connection import welcome
from console.main_window import MainWindow
from console.state import ConsoleState
from services import i18n
from services import settings as config
from services.domain.insight.connection import BROKER, STORE, Answer
from tests.support.widgets import words
from views.dialogs.guide import GuideDialog
from views.pages.connection.page import ConnectionPage
from views.shell.key_help import KeyHelp
from views.shell.palette import Palette
from views.support import operation
from views.support.connections import Connection


@pytest.fixture(autouse=True)
def operations() -> Iterator[None]:
    """Ends, after the window, what looks for it."""
    yield
    operation.shut_down()


@pytest.fixture
def looks(tmp_path: Path) -> Iterator[Appearance]:
    state = ConsoleState(tmp_path)
    yield Appearance(state)
    state.close()


def test_a_home_that_cannot_be_written_keeps_from_starting_until_it_can(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: Appearance
) -> None:
    monkeypatch.setattr(welcome, "LOOK_AGAIN_MS", 20)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x", encoding="utf-8")
    settings = msgspec.structs.replace(config.load(home=tmp_path), home=str(in_the_way / "home"))
    window, page = welcome.make_welcome(settings, looks)
    qtbot.addWidget(window)
    window.show()
    assert not page.local.button.isEnabled()
    assert "FLEETDECK_HOME" in page.local.button.toolTip()
    assert "ready" not in page.local.checks.accessibleName()
    in_the_way.unlink()
    qtbot.waitUntil(page.local.button.isEnabled)
    assert "Local engine: ready" in page.local.checks.accessibleName()


def test_a_home_on_a_network_folder_keeps_from_starting(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: Appearance
) -> None:
    share = SimpleNamespace(mountpoint=str(tmp_path), fstype="nfs4", opts="rw")
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: [share])
    window, page = welcome.make_welcome(config.load(home=tmp_path / "home"), looks)
    qtbot.addWidget(window)
    assert not page.local.button.isEnabled()
    assert "is on a network folder (nfs4); choose one on this machine" in page.local.button.toolTip()


@pytest.mark.parametrize("shift", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier])
def test_the_guide_opens_where_nothing_else_does(qtbot: QtBot, shift: Qt.KeyboardModifier, looks: Appearance) -> None:
    window, _page = welcome.make_unopened(
        Connection(name="shops", title="shops", address="10.0.0.7"),
        back_to="",
        on_other=lambda _corner: None,
        looks=looks,
    )
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_F1, shift)
    (guide,) = window.findChildren(GuideDialog)
    assert guide.isVisible()
    guide.done(0)


@pytest.fixture
def unopened(qtbot: QtBot, looks: Appearance) -> Iterator[tuple[MainWindow, ConnectionPage]]:
    """The window of a connection that does not open."""
    window, page = welcome.make_unopened(
        Connection(name="shops", title="shops", address="10.0.0.7"),
        back_to="Local",
        on_other=lambda _corner: None,
        looks=looks,
    )
    qtbot.addWidget(window)
    window.resize(1280, 720)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield window, page
    window.close()


def test_all_keys_are_shown_where_no_connection_opens(
    qtbot: QtBot, unopened: tuple[MainWindow, ConnectionPage]
) -> None:
    window, _page = unopened
    qtbot.keyClick(window, Qt.Key.Key_Question)
    (keys,) = window.findChildren(KeyHelp)
    assert keys.isVisible()
    keys.done(0)


def test_the_palette_offers_what_can_be_done_where_no_connection_opens(
    qtbot: QtBot, unopened: tuple[MainWindow, ConnectionPage]
) -> None:
    window, page = unopened
    answers = (Answer(part=BROKER, words="refused"), Answer(part=STORE, words="refused"))
    page.show_failure(answers, "", reach=None, next_s=0)
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    (palette,) = window.findChildren(Palette)
    entries = (palette.rows.entry(row) for row in range(palette.rows.rowCount()))
    offered = {one.words: one for one in entries if one is not None}
    assert list(offered) == [
        "Try again", "Copy message for IT", "Back to Local", "Edit connection", "Other connection…", "Settings",
        "Operator's guide", "All keys", "Quit Fleetdeck",
    ]  # fmt: skip
    assert not any(one.reason for one in offered.values())
    assert "Ctrl+C" not in words(palette), "nothing has an id there"
    palette.field.setText("again")
    with qtbot.waitSignal(page.again):
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible()
    page.show_trying()
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette.field.setText("try again")
    found = palette.current()
    assert found is not None
    assert (found.words, found.reason) == ("Try again", "Trying now …")
    palette.hide()


def test_f5_tries_again_where_no_connection_opens(qtbot: QtBot, unopened: tuple[MainWindow, ConnectionPage]) -> None:
    window, page = unopened
    with qtbot.waitSignal(page.again):
        qtbot.keyClick(window, Qt.Key.Key_F5)


def test_how_everything_looks_is_chosen_where_no_connection_opens(
    qtbot: QtBot, unopened: tuple[MainWindow, ConnectionPage]
) -> None:
    window, _page = unopened
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    (palette,) = window.findChildren(Palette)
    palette.field.setText("中文")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert i18n.language() == "zh_CN"
    assert not palette.isVisible()
    i18n.set_language("en")
