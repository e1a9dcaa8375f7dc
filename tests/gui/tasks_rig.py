"""What the tests of the Tasks page do again and again."""

from __future__ import annotations

from collections.abc import Callable

from pytestqt.qtbot import QtBot

from tests.gui.desk import Desk
from views.pages.tasks.page import TasksPage

WAIT_MS = 8000


def wait(qtbot: QtBot, check: Callable[[], bool]) -> None:
    """Until the window shows it."""
    qtbot.waitUntil(check, timeout=WAIT_MS)


def shown(page: TasksPage, qtbot: QtBot, number: int) -> None:
    """Wait for so many rows."""
    page.refresh()
    wait(qtbot, lambda: page._model.rowCount() == number)


def press(desk: Desk, text: str) -> None:
    """Press a verb of the newest toast."""
    next(one for one in desk.toasts[-1].actions if one.text == text).call()
