"""What the preview of each verb counts and does when others are at the same tasks meanwhile."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.domain.change import Cancel
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from tests.gui.desk import Desk
from tests.gui.tasks_rig import act, press, shown, wait
from views.dialogs.confirm import ConfirmDialog
from views.kit.task_verb import TaskVerb
from views.pages.tasks.page import TasksPage
from views.pages.tasks.verbs import CANCEL, LOWER, RAISE, RETRY, RUN_NOW


def make(desk: Desk, verb: TaskVerb, number: int) -> list[Task]:
    """Tasks that suit a verb."""
    urgency = "normal" if verb is LOWER else "low"
    made = [
        desk.create(0, task_type="single_product", priority=urgency, payload={"goods_id": f"G{n}"})
        for n in range(number)
    ]
    if verb is RETRY:
        for task in made:
            desk.fail(task)
    return made


def another(desk: Desk, verb: TaskVerb, task: Task) -> Task:
    """Somebody else deals with a task, so that the verb does not suit it any more."""
    if verb is RETRY:
        assert desk.session.commands.dead_letters.republish([task.task_id]).done
    else:
        assert desk.session.engine.store.apply([Cancel(task_id=task.task_id, by="bob")])[0].code == "ok"
    return desk.get(task.task_id)


def preview(page: TasksPage, qtbot: QtBot) -> ConfirmDialog:
    """The preview that is open."""
    wait(qtbot, lambda: any(dialog.isVisible() for dialog in page.findChildren(ConfirmDialog)))
    return next(dialog for dialog in page.findChildren(ConfirmDialog) if dialog.isVisible())


@pytest.mark.parametrize("verb", [RETRY, CANCEL, RAISE, RUN_NOW, LOWER], ids=lambda verb: str(verb.key))
def test_it_is_asked_anew_and_nothing_is_done_to_what_has_moved_on(
    desk: Desk, page: TasksPage, qtbot: QtBot, verb: TaskVerb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.kit.task_acting.FEW", 2)
    monkeypatch.setattr("views.kit.task_acting.confirm_limit", lambda _environment: 2)
    first, second, *rest = make(desk, verb, 5)
    shown(page, qtbot, 5)
    page.table.records.tick_all()
    page.deactivate()  # what it shows grows old
    moved = [another(desk, verb, first)]
    act(page, verb.key)
    dialog = preview(page, qtbot)
    assert " 4 tasks" in dialog.verb_button.text(), dialog.verb_button.text()
    assert any(name.startswith("Left alone") and value == "1 task" for name, value in dialog.question.rows)
    moved.append(another(desk, verb, second))  # while the question stands there
    dialog.verb_button.click()
    if desk.toasts:  # what can be reversed goes at once
        press(desk, verb.now)
    wait(qtbot, lambda: bool(desk.toasts) and "left alone" in desk.toasts[-1].detail)
    assert desk.toasts[-1].status == "warning"
    assert [desk.get(task.task_id) for task in moved] == moved
    entry = desk.session.engine.store.audit(1)[0]
    assert set(entry.target) == {task.task_id for task in (second, *rest)}, "what did not suit was not even asked for"
    after = [desk.get(task.task_id) for task in rest]
    done = {
        "retry": all(task.triage == Triage.REPUBLISHED for task in after),
        "cancel": all(task.status == Status.CANCELLED for task in after),
        "raise": all(task.priority > 2 for task in after),
        "lower": all(task.priority < 6 for task in after),
        "run_now": all(task.priority == 10 for task in after),
    }
    assert done[verb.key]
