"""A letter whose work has succeeded since goes out again only with a reason, from every page that can send it."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.monitor.tasks import pick
from tests.gui.desk import Desk
from tests.gui.tasks_rig import press, wait
from views.dialogs.confirm import ConfirmDialog
from views.kit.task_acting import TaskActing
from views.pages.dead_letters.verbs import LetterActions
from views.pages.overview.verbs import AttentionVerbs
from views.pages.tasks.panel.story import timeline
from views.pages.tasks.verbs import CREATE_AGAIN, RETRY
from views.support.acting import Acting

WHY = "the shop lost it"


@pytest.fixture
def letter(desk: Desk) -> Task:
    """One that a later success overtook."""
    dead = desk.fail(desk.create(task_type="sync_order"))
    desk.succeed(desk.create(task_type="sync_order"))
    assert desk.get(dead.task_id).triage == Triage.OVERTAKEN
    return desk.get(dead.task_id)


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    found = QWidget()
    qtbot.addWidget(found)
    found.show()
    return found


def send(page: str, desk: Desk, letter: Task, window: QWidget) -> None:
    """As a person does it there."""
    if page == "overview":
        AttentionVerbs(desk.context, window).republish(letter.task_id)
        return
    if page == "tasks":
        acting = TaskActing(desk.context, Acting(window, desk.context.toast, desk.context.pending), window)
        acting.run(RETRY, [pick(letter)])
    else:
        LetterActions(desk.context, window).republish([letter.task_id])
    press(desk, "Send now")


@pytest.mark.parametrize("page", ["dead letters", "tasks", "overview"])
def test_it_asks_why_and_keeps_the_answer(qtbot: QtBot, desk: Desk, letter: Task, window: QWidget, page: str) -> None:
    send(page, desk, letter, window)
    wait(qtbot, lambda: bool(window.findChildren(ConfirmDialog)))
    (dialog,) = window.findChildren(ConfirmDialog)
    assert "has succeeded already as" in dialog.question.text
    assert not dialog.verb_button.isEnabled()
    assert desk.get(letter.task_id).triage == Triage.OVERTAKEN
    dialog.note_field.setText(WHY)
    dialog.verb_button.click()
    wait(qtbot, lambda: desk.get(letter.task_id).triage == Triage.REPUBLISHED)
    fresh = desk.get(desk.get(letter.task_id).successor)
    assert fresh.reason == WHY
    assert timeline(fresh, fresh.created_at)[0].tail == f"from {letter.task_id}; {WHY}"
    assert WHY in desk.session.engine.store.audit(1)[0].detail


@pytest.mark.parametrize("page", ["dead letters", "tasks", "overview"])
def test_who_gives_no_reason_sends_nothing_and_is_told(
    qtbot: QtBot, desk: Desk, letter: Task, window: QWidget, page: str
) -> None:
    send(page, desk, letter, window)
    wait(qtbot, lambda: bool(window.findChildren(ConfirmDialog)))
    (dialog,) = window.findChildren(ConfirmDialog)
    before = len(desk.toasts)
    dialog.reject()
    assert desk.get(letter.task_id).triage == Triage.OVERTAKEN
    (told,) = desk.toasts[before:]
    assert told.status == "warning"
    assert "has succeeded already as" in f"{told.text} {told.detail}"
    assert page == "overview" or told.text == "Nothing was changed."


@pytest.mark.parametrize("page", ["dead letters", "tasks", "overview"])
def test_what_is_typed_on_when_the_question_appears_does_not_answer_it(
    qtbot: QtBot, desk: Desk, letter: Task, window: QWidget, page: str
) -> None:
    send(page, desk, letter, window)
    wait(qtbot, lambda: bool(window.findChildren(ConfirmDialog)))
    (dialog,) = window.findChildren(ConfirmDialog)
    field = dialog.focusWidget()
    assert field is dialog.note_field
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
        qtbot.keyClick(field, key)
    assert dialog.isVisible()
    assert desk.get(letter.task_id).triage == Triage.OVERTAKEN


def test_what_was_cancelled_and_done_since_asks_why_and_can_be_taken_back(
    qtbot: QtBot, desk: Desk, window: QWidget
) -> None:
    kind = {"name": "once", "executor": "python", "uniqueness": "shop_type", "unique_for": "1d"}
    desk.session.commands.fleet.import_types([json.dumps(kind)])
    old = desk.create(task_type="once")
    desk.session.commands.tasks.cancel([old.task_id])
    later = desk.create(task_type="once")
    desk.succeed(later)
    acting = TaskActing(desk.context, Acting(window, desk.context.toast, desk.context.pending), window)
    acting.run(CREATE_AGAIN, [pick(desk.get(old.task_id))])
    wait(qtbot, lambda: bool(window.findChildren(ConfirmDialog)))
    (dialog,) = window.findChildren(ConfirmDialog)
    assert later.task_id in dialog.question.text
    dialog.note_field.setText(WHY)
    dialog.verb_button.click()
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "1 task created again")
    (fresh,) = desk.context.tasks.page("status:queued", limit=9).tasks
    assert (fresh.parent, fresh.reason) == (old.task_id, WHY)
    press(desk, "Undo")
    wait(qtbot, lambda: desk.get(fresh.task_id).status == Status.CANCELLED)
