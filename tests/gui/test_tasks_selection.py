"""Selecting and acting on the Tasks page, up to what is not loaded."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from services.commands.operator import Operator
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from tests.gui.desk import Desk
from tests.gui.tasks_rig import act, pending, press, shown, wait
from tests.support.held import held, settled
from views.dialogs.confirm import ConfirmDialog
from views.pages.tasks import listing, selection
from views.pages.tasks.page import TasksPage
from views.pages.tasks.selection import picked

pytestmark = pytest.mark.both_pairs


def several(desk: Desk, number: int, shop: int = 0) -> list[Task]:
    """Queued tasks."""
    return [desk.create(shop, task_type="single_product", payload={"goods_id": f"G{n}"}) for n in range(number)]


def asked(page: TasksPage, qtbot: QtBot) -> ConfirmDialog:
    """The preview that is open."""
    wait(qtbot, lambda: any(dialog.isVisible() for dialog in page.findChildren(ConfirmDialog)))
    return next(dialog for dialog in page.findChildren(ConfirmDialog) if dialog.isVisible())


def test_ctrl_a_takes_the_loaded_rows_and_offers_all(
    desk: Desk, page: TasksPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "FIRST", 4)
    made = several(desk, 12)
    page.show_request("")
    wait(qtbot, lambda: page.table.records.rowCount() == 4)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert page.bar.count.text() == "4 selected"
    assert page.bar.all_link.isVisibleTo(page)
    assert page.bar.all_link.text() == "Select all 12"
    page.bar.all_link.click()
    wait(qtbot, lambda: page.selection.count == 12)
    assert page.bar.count.text() == "12 selected, 8 of them not shown"
    assert not page.bar.all_link.isVisibleTo(page)
    later = desk.create(1)
    page.bar.buttons["cancel"].click()
    dialog = asked(page, qtbot)
    assert dialog.verb_button.text() == "Cancel 12 tasks"
    dialog.verb_button.click()
    wait(qtbot, lambda: all(desk.get(task.task_id).status == Status.CANCELLED for task in made))
    assert desk.get(later.task_id).status == Status.QUEUED
    assert page.selection.count == 0
    entry = desk.session.engine.store.audit(1)[0]
    assert (entry.action, len(entry.target)) == ("task.cancel", 12)


def test_what_stays_selected_under_another_filter_is_counted_apart(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    here, there = several(desk, 2), several(desk, 3, shop=1)
    shown(page, qtbot, 5)
    page.table.records.tick_all()
    page.show_request(f"shop:{here[0].shop}")
    wait(qtbot, lambda: page.table.records.rowCount() == 2)
    assert page.bar.count.text() == "5 selected, 3 of them not shown"
    assert page.bar.buttons["cancel"].isVisibleTo(page)
    page.table.records.set_ticked([here[0].task_id], on=False)
    assert page.bar.count.text() == "4 selected, 3 of them not shown"
    page.show_request("")
    wait(qtbot, lambda: page.table.records.rowCount() == 5)
    assert page.bar.count.text() == "4 selected"
    assert {one.task_id for one in page.selection.picks()} == {task.task_id for task in (here[1], *there)}


def test_all_that_are_selected_again_are_known_as_they_stand_now(
    desk: Desk, page: TasksPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that are not loaded, of which no row tells; each is counted once."""
    monkeypatch.setattr(listing, "FIRST", 4)
    made = several(desk, 8)
    page.show_request("")
    wait(qtbot, lambda: page.table.records.rowCount() == 4)
    page.table.records.tick_all()
    page.selection.select_all("")
    wait(qtbot, lambda: page.selection.count == 8)
    away = next(task for task in made if page.table.records.find(task.task_id) is None)
    there = next(task for task in made if page.table.records.find(task.task_id) is not None)
    asked_before = picked(page.selection.picks())
    desk.fail(away)
    desk.fail(there)
    seen = {(Status.QUEUED, ""): 7, (Status.DEAD, Triage.OPEN): 1}
    wait(qtbot, lambda: page.selection.standing() == seen)
    page.table.records.set_ticked([there.task_id], on=False)
    page.selection.take(asked_before)
    assert page.selection.standing() == seen, "an answer that is late does not outdo what the rows say"
    desk.create(1)
    page.selection.select_all("")
    wait(qtbot, lambda: page.selection.count == 9)
    assert page.selection.standing() == {(Status.QUEUED, ""): 7, (Status.DEAD, Triage.OPEN): 2}
    assert {one.task_id for one in page.selection.picks() if one.status == Status.DEAD} == {
        away.task_id, there.task_id,
    }  # fmt: skip


def test_what_suits_all_that_are_selected_is_told_without_going_through_them(
    desk: Desk, page: TasksPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "FIRST", 1)
    for number in range(2):
        desk.fail(desk.create(number))
    page.show_request("")
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    gone_through: list[int] = []
    keys = page.table.target_keys
    monkeypatch.setattr(page.table, "target_keys", lambda: gone_through.append(page.selection.count) or keys())
    page.select_all()
    wait(qtbot, lambda: page.bar.count.text() == "2 selected, 1 of them not shown")
    assert page.bar.buttons["retry"].isEnabled()
    assert 2 not in gone_through
    assert len(page.selection.picks()) == gone_through[-1] == 2


@pytest.mark.one_pair
@pytest.mark.parametrize("turn", ["another filter", "nothing"])
def test_what_was_to_be_selected_is_not_once_a_person_wants_something_else(
    desk: Desk, page: TasksPage, qtbot: QtBot, turn: str
) -> None:
    several(desk, 3)
    shown(page, qtbot, 3)
    with held(selection, "_everything") as call:
        page.select_all()
        call.wait(qtbot)
        if turn == "nothing":
            page.bar.clear_wanted.emit()
        else:
            page.show_request("status:dead")
        assert not page.bar.all_link.isVisibleTo(page), "nothing is awaited"
        call.let_go()
        settled(qtbot, page.selection)
    assert page.selection.count == 0
    page.select_all()
    page.show_request("")  # what is asked for again is taken
    page.select_all()
    wait(qtbot, lambda: page.selection.count == 3)


@pytest.mark.one_pair
def test_a_preview_that_is_left_changes_nothing_and_keeps_the_selection(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    made = several(desk, 10)
    shown(page, qtbot, 10)
    page.table.records.tick_all()
    act(page, "cancel")
    asked(page, qtbot).cancel_button.click()
    assert page.selection.count == 10
    assert all(desk.get(task.task_id).status == Status.QUEUED for task in made)


@pytest.mark.one_pair
def test_the_preview_counts_what_is_left_alone(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    several(desk, 10)
    desk.fail(desk.create(1))
    shown(page, qtbot, 11)
    page.table.records.tick_all()
    act(page, "cancel")
    dialog = asked(page, qtbot)
    assert dialog.question.rows == (("Waiting", "10 tasks"), ("Left alone: Dead", "1 task"))
    dialog.reject()


@pytest.mark.one_pair
def test_unsuitable_verbs_say_why(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    queued = [desk.create(0), desk.create(1)]
    dead = desk.fail(desk.create(2))
    shown(page, qtbot, 3)
    page.table.records.set_ticked([queued[0].task_id, queued[1].task_id, dead.task_id])
    buttons = page.bar.buttons
    assert not buttons["retry"].isEnabled()
    assert buttons["retry"].toolTip() == "2 of 3 are not failed"
    assert buttons["cancel"].toolTip() == "1 of 3 is over"
    page.table.records.set_ticked([task.task_id for task in queued], on=False)
    assert buttons["retry"].isEnabled()
    assert buttons["raise"].toolTip() == "This task is not waiting"


def test_a_selected_task_that_changes_changes_what_suits(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    shown(page, qtbot, 1)
    page.table.records.tick_all()
    assert page.bar.buttons["raise"].isEnabled()
    desk.fail(task)
    wait(qtbot, lambda: page.bar.buttons["retry"].isEnabled())
    assert not page.bar.buttons["raise"].isEnabled()


def test_the_task_under_the_cursor_changes_what_suits_with_its_row(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task, _other = desk.create(0), desk.create(1)
    shown(page, qtbot, 2)
    page.table.set_current_key(task.task_id)
    assert page.bar.buttons["cancel"].isEnabled()
    desk.succeed(task)
    wait(qtbot, lambda: page.table.records.find(task.task_id).task.status == Status.SUCCEEDED)
    assert not page.bar.buttons["cancel"].isEnabled()


def test_keys_act_on_the_row_and_ctrl_z_takes_back(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0, priority="low")
    shown(page, qtbot, 1)
    page.table.setFocus()
    page.table.set_current_key(task.task_id)
    qtbot.keyClick(page.table, Qt.Key.Key_P)
    wait(qtbot, lambda: desk.get(task.task_id).priority == 6)
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "1 task raised")
    page.undo()
    wait(qtbot, lambda: desk.get(task.task_id).priority == task.priority)
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    assert desk.toasts[-1].text == "Cancelling 1 task in 5 s"
    page.undo()
    assert desk.toasts[-1].text == "Taken back; nothing was changed."
    qtbot.keyClick(page.table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait(qtbot, lambda: desk.toasts[-1].text == "1 task runs now in 5 s")
    press(desk, "Send now")
    wait(qtbot, lambda: desk.get(task.task_id).priority == 10)
    wait(qtbot, lambda: not pending(page))
    before = len(desk.toasts)
    qtbot.keyClick(page.table, Qt.Key.Key_R)
    assert len(desk.toasts) == before, "a waiting task has not failed"


def test_stopping_a_running_task_asks_first(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.claim(desk.create(0))
    shown(page, qtbot, 1)
    page.table.set_current_key(task.task_id)
    act(page, "cancel")
    dialog = asked(page, qtbot)
    assert "asked to stop" in dialog.question.text
    assert desk.get(task.task_id).cancel == ""
    dialog.verb_button.click()
    wait(qtbot, lambda: desk.get(task.task_id).cancel != "")


@pytest.mark.one_pair
def test_esc_closes_the_panel_then_the_selection_then_the_filter(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    page.show_request("platform:pdd")
    shown(page, qtbot, 1)
    page.table.setFocus()
    page.table.set_current_key(task.task_id)
    page.table.records.tick_all()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert page.panel.isVisible()
    qtbot.keyClick(page.table, Qt.Key.Key_Escape)
    assert (page.panel.isVisible(), page.selection.count) == (False, 1)
    qtbot.keyClick(page.table, Qt.Key.Key_Escape)
    assert (page.selection.count, page.filter.expression()) == (0, "platform:pdd")
    qtbot.keyClick(page.table, Qt.Key.Key_Escape)
    assert page.filter.expression() == ""


@pytest.mark.one_pair
def test_who_may_only_look_is_told(desk: Desk, qtbot: QtBot) -> None:
    task = desk.create(0)
    commands = replace(desk.session.commands, operator=Operator(who="eve@desk", role="viewer"))
    page = TasksPage(replace(desk.context, commands=commands))
    qtbot.addWidget(page)
    page.show()
    page.activate()
    shown(page, qtbot, 1)
    page.table.setFocus()
    page.table.set_current_key(task.task_id)
    assert page.bar.buttons["cancel"].toolTip() == "Your role may only look"
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    assert not desk.toasts
    page.deactivate()


@pytest.mark.one_pair
def test_the_menu_of_a_row_beside_the_selection_means_this_row(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first, second = desk.create(0), desk.create(1)
    shown(page, qtbot, 2)
    page.table.records.set_ticked([first.task_id])
    assert [one.task_id for one in page.selection.picks_at(second.task_id)] == [second.task_id]
    assert [one.task_id for one in page.selection.picks_at(first.task_id)] == [first.task_id]
    page.table.records.set_ticked([second.task_id])
    both = {first.task_id, second.task_id}
    assert {one.task_id for one in page.selection.picks_at(first.task_id)} == both, "on the selection, all of it"


def test_dead_ones_of_which_none_would_go_are_refused_in_advance(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    dead = [desk.fail(desk.create(number)) for number in range(2)]
    again = [desk.create(number) for number in range(2)]
    shown(page, qtbot, 4)
    page.table.records.set_ticked([task.task_id for task in dead])
    button = page.bar.buttons["retry"]
    wait(qtbot, lambda: not button.isEnabled())
    assert "The same task is active already" in button.toolTip()
    before = len(desk.toasts)
    act(page, "retry")
    assert len(desk.toasts) == before
    desk.session.commands.tasks.cancel([again[0].task_id])
    page.refresh()
    wait(qtbot, lambda: page.table.records.find(dead[0].task_id).refusal is None)
    wait(qtbot, button.isEnabled)
