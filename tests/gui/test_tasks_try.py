"""Try one anyway, in the window: offered where a pause holds a task back; it asks why and says what became of it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.change import Claim
from services.domain.fleet.shop import Pause
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.gui.desk import Desk
from tests.gui.tasks_rig import shown, wait
from tests.support.widgets import press
from views.dialogs.confirm import ConfirmDialog
from views.pages.tasks.page import TasksPage
from views.widgets.buttons import Button

pytestmark = pytest.mark.both_pairs
NAME, WHY = "Try this one anyway", "the buyer is on the phone"


def parked(desk: Desk) -> Task:
    """A task behind a pause of its shop."""
    task = desk.create(0)
    desk.session.engine.store.set_pause(Pause(scope=f"shop:{task.shop}", by="bob@desk", reason="audit"))
    claim = Claim(task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w#1", worker="w", lease_ms=1)
    (answer,) = desk.session.engine.store.apply([claim])
    assert answer.code == "blocked"
    return desk.get(task.task_id)


def buttons(page: QWidget) -> list[Button]:
    return [one for one in page.findChildren(Button) if one.text() == NAME and one.isVisibleTo(page)]


def menu(page: TasksPage) -> list[str]:
    return [action.text() for action in page.table.build_menu(page.table.records.index(0, 2)).actions()]


def test_it_asks_why_and_lets_one_attempt_through(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = parked(desk)
    shown(page, qtbot, 1)
    page.table.set_current_key(task.task_id)
    wait(qtbot, lambda: NAME in menu(page))
    assert NAME in [one.words for one in page.commands()]
    page.show_task(task.task_id)
    wait(qtbot, lambda: len(buttons(page)) == 1)
    buttons(page)[0].click()
    wait(qtbot, lambda: bool(page.findChildren(ConfirmDialog)))
    dialog = page.findChildren(ConfirmDialog)[-1]
    assert not dialog.verb_button.isEnabled()
    dialog.note_field.setText(WHY)
    assert dialog.verb_button.isEnabled()
    dialog.verb_button.click()
    wait(qtbot, lambda: bool(desk.toasts))
    assert desk.toasts[-1].text == "1 task is let through once"
    assert desk.get(task.task_id).status in (Status.PENDING, Status.QUEUED)
    entries = page.panel.timeline.entries
    wait(qtbot, lambda: [one.tail for one in entries() if one.text == "Let through once by"] == [WHY])
    wait(qtbot, lambda: not buttons(page))
    press(desk.toasts[-1], "Undo")
    wait(qtbot, lambda: desk.toasts[-1].text == "Taken back.")
    again = desk.get(task.task_id)
    claim = Claim(task_id=again.task_id, gen=again.gen, attempt=again.attempt, owner="w#2", worker="w", lease_ms=1)
    (answer,) = desk.session.engine.store.apply([claim])
    assert answer.code == "blocked", "the pause holds it again"


def test_where_it_has_begun_meanwhile_nobody_is_asked_about_none(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = parked(desk)
    shown(page, qtbot, 1)
    page.show_task(task.task_id)
    wait(qtbot, lambda: len(buttons(page)) == 1)
    desk.session.commands.tasks.cancel([task.task_id])
    buttons(page)[0].click()
    wait(qtbot, lambda: bool(desk.toasts))
    assert (desk.toasts[-1].text, desk.toasts[-1].status) == ("Nothing was done", "warning")
    assert desk.toasts[-1].detail
    assert not page.findChildren(ConfirmDialog)


def test_where_nothing_of_the_kind_is_closed_it_is_not_offered(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    shown(page, qtbot, 1)
    page.table.set_current_key(task.task_id)
    assert NAME not in menu(page)
    assert NAME not in [one.words for one in page.commands()]
    page.show_task(task.task_id)
    wait(qtbot, lambda: page.panel.task is not None)
    assert not buttons(page)


@pytest.mark.one_pair
def test_it_is_for_one_task(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first = parked(desk)
    other = desk.create(1)
    shown(page, qtbot, 2)
    page.table.records.set_ticked(frozenset({first.task_id, other.task_id}))
    assert NAME not in [one.words for one in page.commands()]


@pytest.mark.one_pair
def test_in_chinese(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = parked(desk)
    i18n.set_language("zh_CN")
    try:
        page.show_task(task.task_id)
        wait(qtbot, lambda: any(one.text() == "仍试这一个" for one in page.findChildren(Button)))
    finally:
        i18n.set_language("en")
