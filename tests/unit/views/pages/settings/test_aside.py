"""What was set aside, in Settings: nothing while there is nothing, then where it lay and why, and a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from services.engine import documents
from services.repairs import commands
from tests.unit.views.pages.fleet_rig import Fleet
from views.pages.settings.page import SettingsPage

pytestmark = pytest.mark.both_pairs


@pytest.fixture
def page(qtbot: QtBot, fleet: Fleet) -> SettingsPage:
    """The page as the window shows it."""
    made = SettingsPage(fleet.context)
    qtbot.addWidget(made)
    made.show()
    made.activate()
    return made


def spoil(fleet: Fleet) -> None:
    """A task type that is none, with a secret in it."""
    fleet.store.put_document("type", "spoilt", '{"name": "spoilt", "schema": 7, "password": "hunter2"}')
    assert fleet.store.damage(documents.check, deep=True)


def test_it_is_not_there_until_something_was_set_aside(qtbot: QtBot, fleet: Fleet, page: SettingsPage) -> None:
    spoil(fleet)
    page.refresh()
    qtbot.waitUntil(lambda: len(page.people.rows) == 1)
    assert not page.aside.isVisible(), "it lies where it lay"
    commands(fleet.engine).repair()
    page.refresh()
    qtbot.waitUntil(page.aside.isVisible)
    (row,) = page.aside.rows
    assert "spoilt" in row.place.text()
    (found,) = fleet.context.audit.aside()
    assert found.entry.why in row.facts.text()
    assert found.by in row.facts.text()
    assert page.aside.note.text().startswith("1 entry ")
    assert "hunter2" not in row.value.text()


def test_it_is_written_to_a_new_file_with_secrets_as_dots(
    qtbot: QtBot, fleet: Fleet, page: SettingsPage, tmp_path: Path
) -> None:
    spoil(fleet)
    commands(fleet.engine).repair()
    page.aside.write(tmp_path / "aside.jsonl")
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert fleet.toasts[-1].text == "1 entry exported to aside.jsonl"
    text = (tmp_path / "aside.jsonl").read_text(encoding="utf-8")
    assert "spoilt" in json.loads(text)["entry"]
    assert "hunter2" not in text
    page.aside.write(tmp_path / "aside.jsonl")
    qtbot.waitUntil(lambda: len(fleet.toasts) == 2)
    assert (tmp_path / "aside.jsonl").read_text(encoding="utf-8") == text
