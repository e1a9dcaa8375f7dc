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

from console.connection import welcome
from services import settings as config
from views.dialogs.guide import GuideDialog
from views.support import operation
from views.support.connections import Connection


@pytest.fixture(autouse=True)
def operations() -> Iterator[None]:
    """Ends, after the window, what looks for it."""
    yield
    operation.shut_down(wait=True)


def test_a_home_that_cannot_be_written_keeps_from_starting_until_it_can(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(welcome, "LOOK_AGAIN_MS", 20)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x", encoding="utf-8")
    settings = msgspec.structs.replace(config.load(home=tmp_path), home=str(in_the_way / "home"))
    window, page = welcome.make_welcome(settings)
    qtbot.addWidget(window)
    window.show()
    assert not page.local.button.isEnabled()
    assert "FLEETDECK_HOME" in page.local.button.toolTip()
    assert "ready" not in page.local.checks.accessibleName()
    in_the_way.unlink()
    qtbot.waitUntil(page.local.button.isEnabled)
    assert "Local engine: ready" in page.local.checks.accessibleName()


def test_a_home_on_a_network_folder_keeps_from_starting(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = SimpleNamespace(mountpoint=str(tmp_path), fstype="nfs4", opts="rw")
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: [share])
    window, page = welcome.make_welcome(config.load(home=tmp_path / "home"))
    qtbot.addWidget(window)
    assert not page.local.button.isEnabled()
    assert "is on a network folder (nfs4); choose one on this machine" in page.local.button.toolTip()


@pytest.mark.parametrize("shift", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier])
def test_the_guide_opens_where_nothing_else_does(qtbot: QtBot, shift: Qt.KeyboardModifier) -> None:
    window, _page = welcome.make_unopened(
        Connection(name="shops", title="shops", address="10.0.0.7"), back_to="", on_other=lambda _corner: None
    )
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_F1, shift)
    (guide,) = window.findChildren(GuideDialog)
    assert guide.isVisible()
    guide.done(0)
