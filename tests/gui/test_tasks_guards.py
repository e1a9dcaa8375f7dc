"""What stands between a verb and many tasks, whoever calls it: a bar, a lost store, tasks whose end nobody knows."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from services.domain.errors import StoreUnavailable
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from views.dialogs.confirm import ConfirmDialog
from views.kit.task_verb import TaskVerb, standing_of
from views.pages.tasks.actions import TaskActions
from views.pages.tasks.verbs import CANCEL, CREATE_AGAIN, DECISIONS, RETRY, VERBS
from views.support.acting import Acting

pytestmark = pytest.mark.both_pairs
LOST = "Not while the connection is lost"


@pytest.fixture
def owner(desk: Desk, qtbot: QtBot) -> QWidget:
    """What dialogs stand over."""
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def actions(desk: Desk, owner: QWidget) -> TaskActions:
    """The verbs as a page has them."""
    return TaskActions(desk.context, Acting(owner, desk.toasts.append, desk.context.pending), owner)


def run(desk: Desk, actions: TaskActions, verb: TaskVerb, *tasks: Task) -> str:
    """Ask for a verb on tasks as they stand now; the reason against it that a button would show."""
    picks = desk.context.tasks.picks_of([task.task_id for task in tasks])
    actions.run(verb, picks)
    return actions.reason(verb, standing_of(picks))


def test_a_verb_that_reaches_a_barred_page_does_nothing(desk: Desk, actions: TaskActions, owner: QWidget) -> None:
    waiting, dead = desk.create(0), desk.fail(desk.create(1))
    actions.forbid(LOST)
    for verb in [one for one in VERBS if one not in (*DECISIONS, CREATE_AGAIN)]:
        assert run(desk, actions, verb, dead if verb is RETRY else waiting) == LOST
    assert desk.toasts == []
    assert owner.findChildren(ConfirmDialog) == []
    assert desk.get(waiting.task_id).status == Status.QUEUED
    actions.forbid("")
    assert run(desk, actions, CANCEL, waiting) == ""
    assert [spec.text for spec in desk.toasts] == ["Cancelling 1 task in 5 s"]


def test_a_store_that_is_lost_bars_every_verb_before_the_window_has_said_so(
    desk: Desk, actions: TaskActions, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = desk.create(0)
    picks = desk.context.tasks.picks_of([waiting.task_id])
    wait(qtbot, lambda: desk.feed.latest.at_ms > 0)
    assert actions.barred() == ""

    def silent() -> object:
        raise StoreUnavailable("redis.example.com:6380 timed out")

    with monkeypatch.context() as patch:
        patch.setattr(desk.session.engine.store, "counts", silent)
        wait(qtbot, lambda: not desk.feed.latest.store.connected)
        assert {actions.reason(verb, standing_of(picks)) for verb in VERBS} == {LOST}
        actions.run(CANCEL, picks)
        assert desk.toasts == []
    desk.feed.try_now()
    wait(qtbot, lambda: actions.barred() == "")
    assert desk.get(waiting.task_id).status == Status.QUEUED


def test_one_of_which_nobody_knows_how_it_ended_is_asked_about_however_few_they_are(
    desk: Desk, actions: TaskActions, owner: QWidget, qtbot: QtBot
) -> None:
    doubtful = desk.hold(desk.create(0, task_type="batch_reply", payload={"text": "hello"}))
    dead = desk.fail(desk.create(1))
    run(desk, actions, RETRY, doubtful, dead)
    wait(qtbot, lambda: any(dialog.isVisible() for dialog in owner.findChildren(ConfirmDialog)))
    assert desk.toasts == [], "nothing is held before somebody has read it"
    (dialog,) = owner.findChildren(ConfirmDialog)
    dialog.cancel_button.click()
    assert desk.toasts == []
    assert (desk.get(doubtful.task_id).status, desk.get(dead.task_id).triage) == (Status.HELD, Triage.OPEN)
