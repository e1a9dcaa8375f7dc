"""Bulk acts of the Tasks page and the way back that each of them offers."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from services.domain.change import Finish
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from tests.gui.desk import Desk
from tests.gui.tasks_rig import act, press, shown, wait
from tests.gui.test_tasks_selection import asked, several
from views.pages.tasks.page import TasksPage

pytestmark = pytest.mark.both_pairs


def chosen(desk: Desk, page: TasksPage, qtbot: QtBot, tasks: list[Task], verb: str) -> None:
    """Tick these, ask for a verb, and say yes to its preview."""
    shown(page, qtbot, len(tasks))
    page.table.records.tick_all()
    act(page, verb)
    if len(tasks) > 9 or any(desk.get(task.task_id).status == Status.RUNNING for task in tasks):
        asked(page, qtbot).verb_button.click()


def offered(desk: Desk) -> list[str]:
    """The verbs of the newest toast."""
    return [one.text for one in desk.toasts[-1].actions]


def statuses(desk: Desk, tasks: list[Task]) -> set[str]:
    """Where these stand."""
    return {str(desk.get(task.task_id).status) for task in tasks}


def test_what_was_cancelled_is_created_again(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    made = several(desk, 11)
    chosen(desk, page, qtbot, made, "cancel")
    wait(qtbot, lambda: offered(desk) == ["Undo", "Cancel now"])
    press(desk, "Cancel now")
    wait(qtbot, lambda: desk.toasts[-1].text == "11 tasks cancelled")
    assert offered(desk) == ["Create again"]
    assert statuses(desk, made) == {Status.CANCELLED}
    press(desk, "Create again")
    wait(qtbot, lambda: desk.toasts[-1].text == "11 tasks created again")
    found = desk.context.tasks.page("status:queued", limit=50).tasks
    assert {task.parent for task in found} == {task.task_id for task in made}
    assert {task.payload for task in found} == {task.payload for task in made}


def test_of_a_cancel_with_running_ones_the_waiting_ones_are_created_again(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    runs, *waits = [desk.create(number) for number in range(3)]
    desk.claim(runs)
    chosen(desk, page, qtbot, [runs, *waits], "cancel")
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text.startswith("2 tasks cancelled"))
    assert offered(desk) == ["Create again"]
    page.undo()
    wait(qtbot, lambda: desk.toasts[-1].text == "2 tasks created again")
    assert desk.toasts[-1].detail == (
        "1 task left alone: It is still stopping; it can be created again once it has stopped."
    )
    found = desk.context.tasks.page("status:queued", limit=50).tasks
    assert {task.parent for task in found} == {task.task_id for task in waits}
    assert desk.get(runs.task_id).status == Status.RUNNING


@pytest.mark.parametrize(("task_type", "number"), [("refresh_goods", 2), ("batch_reply", 1)])
def test_what_stopped_meanwhile_is_created_again_where_that_does_no_work_twice(
    desk: Desk, page: TasksPage, qtbot: QtBot, task_type: str, number: int
) -> None:
    payload = {"text": "hello"} if task_type == "batch_reply" else {}
    runs, waits = desk.create(0, task_type, payload=payload), desk.create(1)
    owner = desk.claim(runs).owner
    chosen(desk, page, qtbot, [runs, waits], "cancel")
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text.startswith("1 task cancelled; 1 running"))
    end = Attempt(number=1, worker="w1", started_at=1, ended_at=900, outcome="cancelled")
    stopped = Finish(task_id=runs.task_id, owner=owner, to=Status.CANCELLED, attempt=end)
    assert desk.session.engine.store.apply([stopped])[0].code == "ok"
    page.undo()
    wait(qtbot, lambda: desk.toasts[-1].text.endswith("created again"))
    found = desk.context.tasks.page("status:queued", limit=50).tasks
    assert {task.parent for task in found} == {task.task_id for task in (waits, runs)[:number]}
    assert ("left alone" in desk.toasts[-1].detail) == (number == 1)


def test_what_only_ran_when_it_was_cancelled_is_offered_until_it_has_stopped(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    runs = desk.create(0)
    owner = desk.claim(runs).owner
    chosen(desk, page, qtbot, [runs], "cancel")
    wait(qtbot, lambda: bool(desk.toasts) and offered(desk) == ["Create again"])
    press(desk, "Create again")
    wait(qtbot, lambda: desk.toasts[-1].text == "Nothing was changed.")
    assert desk.toasts[-1].detail.endswith("It is still stopping; it can be created again once it has stopped.")
    assert offered(desk) == ["Create again"], "too early"
    end = Attempt(number=1, worker="w1", started_at=1, ended_at=900, outcome="cancelled")
    stopped = Finish(task_id=runs.task_id, owner=owner, to=Status.CANCELLED, attempt=end)
    assert desk.session.engine.store.apply([stopped])[0].code == "ok"
    assert page.undo()
    wait(qtbot, lambda: desk.toasts[-1].text == "1 task created again")
    assert offered(desk) == []
    assert [task.parent for task in desk.context.tasks.page("status:queued", limit=50).tasks] == [runs.task_id]


def test_a_cancelled_task_offers_it_in_its_panel_and_the_bar(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    desk.session.commands.tasks.cancel([task.task_id])
    shown(page, qtbot, 1)
    page.show_task(task.task_id)
    panel = page.panel
    wait(qtbot, lambda: panel.task is not None)
    button = panel.buttons["create_again"]
    assert button.isVisibleTo(panel)
    assert not panel.buttons["retry"].isVisibleTo(panel)
    page.table.records.tick_all()
    assert page.bar.buttons["create_again"].isVisibleTo(page)
    button.click()
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "1 task created again")
    wait(qtbot, lambda: page.table.records.rowCount() == 2)
    panel.refresh()
    wait(qtbot, lambda: not button.isEnabled())
    assert button.toolTip().startswith("Created again already, as ")
    press(desk, "Undo")
    wait(qtbot, lambda: statuses(desk, list(desk.context.tasks.page("").tasks)) == {Status.CANCELLED})


def test_a_raise_of_many_gives_back_each_priority(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    made = [desk.create(0, payload={"n": number}, priority="low" if number % 2 else "normal") for number in range(12)]
    before = {task.task_id: task.priority for task in made}
    shown(page, qtbot, len(made))
    page.table.records.tick_all()
    act(page, "raise")
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "12 tasks raised")
    assert offered(desk) == ["Undo"]
    assert all(desk.get(one).priority > priority for one, priority in before.items())
    press(desk, "Undo")
    wait(qtbot, lambda: desk.toasts[-1].text == "Taken back.")
    assert {one: desk.get(one).priority for one in before} == before


def test_run_now_of_many_is_held_and_taken_back(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    made = several(desk, 11)
    before = {task.task_id: (task.priority, task.gen) for task in made}
    chosen(desk, page, qtbot, made, "run_now")
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "11 tasks run now in 10 s")
    press(desk, "Undo")
    assert desk.toasts[-1].text == "Taken back; nothing was changed."
    assert {one: (desk.get(one).priority, desk.get(one).gen) for one in before} == before


def test_a_retry_of_many_is_held_and_taken_back(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    dead = [desk.fail(desk.create(number % 3, payload={"n": number})) for number in range(10)]
    chosen(desk, page, qtbot, dead, "retry")
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "Retrying 10 tasks in 10 s")
    press(desk, "Undo")
    assert desk.toasts[-1].text == "Taken back; nothing was changed."
    assert statuses(desk, dead) == {Status.DEAD}
    assert desk.context.tasks.page("").total == 10
