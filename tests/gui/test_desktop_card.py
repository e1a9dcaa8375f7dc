"""Settings: what the desktop starts is shown as it is there, and changed there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from services.desktop.registration import NOTHING, WINDOW, Registration
from views.pages.settings.cards import DesktopCard
from views.support import operation


def test_the_card_shows_and_changes_what_the_desktop_says(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    registration = Registration(tmp_path / "home", "local")
    card = DesktopCard(registration)
    qtbot.addWidget(card)
    card.show()
    card.login.choose(WINDOW)
    entry = tmp_path / "autostart" / "fleetdeck.desktop"
    qtbot.waitUntil(lambda: "The window opens when you log in" in card.note.text())
    assert entry.exists()
    entry.write_text("[Desktop Entry]\nExec=/opt/other/fleetdeck\n", encoding="utf-8")
    card.refresh()
    qtbot.waitUntil(lambda: "/opt/other/fleetdeck" in card.note.text())
    assert not card.login.current(), "none of the choices holds"
    assert not card.login.accessibleDescription()
    card.login.choose(NOTHING)
    qtbot.waitUntil(lambda: not entry.exists() and not card.note.text())
    assert card.login.current() == NOTHING
    card.login.choose(WINDOW)
    qtbot.waitUntil(lambda: card.login.current() == WINDOW and "The window opens" in card.note.text())
    card.login.choose(NOTHING)
    qtbot.waitUntil(lambda: not entry.exists() and not card.note.text())
    card.links.choose("on")
    qtbot.waitUntil(lambda: "install xdg-utils" in card.error.accessibleName())
    assert card.links.current() == "off", "the choice goes back to what holds"
    assert card.links.isEnabled()
    entry = tmp_path / "applications" / "fleetdeck.desktop"
    entry.parent.mkdir(exist_ok=True)
    line = " ".join(registration.command("link"))
    entry.write_text(f"[Desktop Entry]\nExec={line}\n", encoding="utf-8")
    tool = tmp_path / "xdg-mime"
    tool.write_text("#!/bin/sh\necho fleetdeck.desktop\n", encoding="ascii")
    tool.chmod(0o755)
    card.refresh()
    qtbot.waitUntil(lambda: str(entry) in card.note.text() and not card.links.isEnabled())
    assert card.links.current() == "on"
    operation.shut_down()
