"""The rows of the task list follow what happens, and where they go by the clock, the time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from tests.unit.views.pages.fleet_rig import Fleet
from views.pages.tasks.listing import Listing, TaskLister, Wanted


@pytest.fixture
def lister(fleet: Fleet, qtbot: QtBot) -> Iterator[TaskLister]:
    """Hears of nothing that happens."""
    owner = QObject()
    found = TaskLister(fleet.context.tasks, owner, by_clock_ms=50)
    found.set_active(True)
    yield found
    found.set_active(False)
    owner.deleteLater()


def test_a_task_comes_to_match_by_time_alone(fleet: Fleet, lister: TaskLister, qtbot: QtBot) -> None:
    """In a fleet at rest nothing is heard that would make the list ask."""
    told: list[Listing] = []
    lister.listed.connect(told.append)
    lister.ask(Wanted(filter="age>2s"))
    qtbot.waitUntil(lambda: bool(told), timeout=10_000)
    spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="refresh_goods", payload={})
    (made,) = fleet.context.commands.tasks.create([spec], origin="cli").created
    qtbot.waitUntil(lambda: bool(told and told[-1].rows), timeout=10_000)
    assert [row.key for row in told[-1].rows] == [made.task_id]
    assert not told[0].rows
    assert not told[-1].settle, "no row moves that a person looks at"
