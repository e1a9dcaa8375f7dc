"""The Tasks page while nothing may be changed: every way to act is closed and says why; looking goes on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.gui.desk import Desk
from tests.gui.tasks_rig import pending
from views.pages.tasks.page import TasksPage

pytestmark = pytest.mark.both_pairs

WAIT_MS = 8000
LOST = "Not while the connection is lost"
VERBS = ("Retry", "Cancel", "Raise priority", "Run now")


@pytest.fixture
def task(desk: Desk) -> Task:
    """A task that could be cancelled, raised and run now."""
    return desk.create(0)


@pytest.fixture
def page(desk: Desk, task: Task, qtbot: QtBot) -> TasksPage:
    """The page with the cursor on the task and its panel open."""
    shown = TasksPage(desk.context)
    qtbot.addWidget(shown)
    shown.resize(1280, 760)
    shown.show()
    shown.activateWindow()
    shown.activate()
    shown.refresh()
    qtbot.waitUntil(lambda: shown.table.records.rowCount() == 1, timeout=WAIT_MS)
    shown.table.set_current_key(task.task_id)
    shown.show_task(task.task_id)
    qtbot.waitUntil(lambda: shown.panel.buttons["cancel"].isEnabled() and shown.panel.task is not None)
    return shown


def menu_of(page: TasksPage, task: Task) -> dict[str, tuple[bool, str]]:
    """Whether each entry of the menu of a row can be chosen, and its tooltip."""
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, task.task_id)
    return {action.text(): (action.isEnabled(), action.toolTip()) for action in menu.actions()}


def test_buttons_of_bar_and_panel_are_closed_with_the_reason_and_open_again(page: TasksPage) -> None:
    buttons = [*page.bar.buttons.values(), *page.panel.buttons.values(), page.panel.edit_button]
    page.set_acting(LOST)
    assert {button.isEnabled() for button in buttons} == {False}
    assert {button.toolTip() for button in buttons} == {LOST}
    page.set_acting("")
    assert page.bar.buttons["cancel"].isEnabled()
    assert page.panel.buttons["cancel"].isEnabled()
    assert page.panel.edit_button.isEnabled()


@pytest.mark.one_pair
@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_P])
def test_keys_do_nothing(desk: Desk, page: TasksPage, task: Task, qtbot: QtBot, key: Qt.Key) -> None:
    page.set_acting(LOST)
    page.table.setFocus()
    qtbot.keyClick(page.table, key)
    assert not pending(page)
    assert not desk.toasts
    now = desk.get(task.task_id)
    assert (now.status, now.priority) == (Status.QUEUED, task.priority)


@pytest.mark.one_pair
def test_the_menu_of_a_row_and_the_palette_say_the_reason(page: TasksPage, task: Task) -> None:
    page.set_acting(LOST)
    menu = menu_of(page, task)
    assert {menu[verb] for verb in VERBS} == {(False, LOST)}
    assert menu["Copy as"][0]
    assert {one.reason for one in page.commands() if one.words in VERBS} == {LOST}
    page.set_acting("")
    assert menu_of(page, task)["Cancel"][0]


@pytest.mark.one_pair
def test_copying_and_filtering_go_on(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    desk.succeed(desk.create(1))
    page.set_acting(LOST)
    page.table.copy_rows()
    assert "微光数码专卖店" in QGuiApplication.clipboard().text()
    page.show_request("status:succeeded")
    qtbot.waitUntil(
        lambda: [row.task.status for row in page.table.records.records()] == [Status.SUCCEEDED], timeout=WAIT_MS
    )
