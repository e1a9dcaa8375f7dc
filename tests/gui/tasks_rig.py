"""What the tests of the Tasks page do again and again."""

from __future__ import annotations

from collections.abc import Callable

from pytestqt.qtbot import QtBot

from tests.gui.desk import Desk
from tests.support import widgets
from views.pages.tasks.page import TasksPage
from views.support.acting import Acting

WAIT_MS = 8000


def wait(qtbot: QtBot, check: Callable[[], bool]) -> None:
    """Until the window shows it."""
    qtbot.waitUntil(check, timeout=WAIT_MS)


def shown(page: TasksPage, qtbot: QtBot, number: int) -> None:
    """Wait for so many rows."""
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == number)


def press(desk: Desk, text: str) -> None:
    """Press a verb of the newest toast."""
    widgets.press(desk.toasts[-1], text)


def act(page: TasksPage, verb: str) -> None:
    """Choose a verb of the bar, also one that it does not offer now."""
    page.bar.verb_wanted.emit(verb)


def pending(page: TasksPage) -> bool:
    """Whether an action waits for its Undo or is on its way."""
    acting = page.findChild(Acting)
    assert acting is not None
    return acting.busy
