"""What a person copies for whoever helps them: what matters is in it, secrets are not."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from services import log as logs
from services.settings import Settings
from services.version import VERSION
from tests.gui.desk import Desk
from views.pages.settings.page import AboutCard

PASSWORD = "Copied7Marker"


@pytest.fixture
def settings(place: Settings) -> Settings:
    """A worker with more slots, and flows that get a password under a name that says nothing."""
    rpa = replace(place.executors.rpa, environment={"SHOP_WORD": PASSWORD})
    return replace(place, worker=replace(place.worker, slots=9), executors=replace(place.executors, rpa=rpa))


def copied(desk: Desk, settings: Settings, qtbot: QtBot) -> str:
    """What its button puts into the clipboard."""
    card = AboutCard(desk.context, str(settings.home_path), settings)
    qtbot.addWidget(card)
    QGuiApplication.clipboard().clear()
    card.copy_button.click()
    qtbot.waitUntil(lambda: bool(QGuiApplication.clipboard().text()))
    return QGuiApplication.clipboard().text()


def test_it_says_what_runs_here_and_no_secret(desk: Desk, settings: Settings, qtbot: QtBot) -> None:
    folder = settings.home_path / logs.FOLDER
    folder.mkdir(exist_ok=True)
    said = f"redis://:{PASSWORD}@r:1 is gone"
    line = json.dumps({"at": "2026-11-26T08:00:00+00:00", "level": "error", "text": said})
    (folder / f"worker{logs.ENDING}").write_text(line + "\n", encoding="utf-8")
    text = copied(desk, settings, qtbot)
    assert f"Fleetdeck: {VERSION}\n" in text
    assert "worker.slots = 9\n" in text
    assert "SHOP_WORD" in text
    assert "error worker: redis://" in text
    assert PASSWORD not in text
    assert desk.toasts[-1].text == "The diagnostics are in the clipboard"


def test_what_was_said_again_and_again_stands_there_once(desk: Desk, settings: Settings, qtbot: QtBot) -> None:
    folder = settings.home_path / logs.FOLDER
    folder.mkdir(exist_ok=True)
    said = [(f"2026-11-26T08:00:{number:02}+00:00", "the broker is silent") for number in range(40)]
    said.insert(0, ("2026-11-26T07:00:00+00:00", "the disk is full"))
    lines = "".join(json.dumps({"at": at, "level": "error", "text": words}) + "\n" for at, words in said)
    (folder / f"worker{logs.ENDING}").write_text(lines, encoding="utf-8")
    text = copied(desk, settings, qtbot)
    assert text.count("the broker is silent") == 1
    assert (
        "2026-11-26T08:00:39+00:00 error worker: the broker is silent (40 times since 2026-11-26T08:00:00+00:00)"
        in text
    )
    assert "2026-11-26T07:00:00+00:00 error worker: the disk is full\n" in text
