"""Tasks whose outcome nobody knows: the three verbs, the evidence before them, and what comes of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QMenu
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.insight.attempts import Unknown
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from tests.gui.desk import Desk
from tests.gui.tasks_rig import act, shown, wait
from tests.support.widgets import press, words
from views.dialogs.confirm import ConfirmDialog
from views.pages.tasks.page import TasksPage
from views.pages.tasks.panel.detail import DecideSection
from views.support.shown import clock
from views.support.words.shop import platform_name
from views.widgets.buttons import Button

pytestmark = pytest.mark.both_pairs


def dialog_of(page: TasksPage, qtbot: QtBot) -> ConfirmDialog:
    """The dialog once it is open."""
    wait(qtbot, lambda: bool(page.findChildren(ConfirmDialog)))
    dialog = page.findChildren(ConfirmDialog)[-1]
    assert isinstance(dialog, ConfirmDialog)
    return dialog


def decision_of(page: TasksPage) -> DecideSection:
    """Where its panel asks for a decision."""
    (found,) = page.findChildren(DecideSection)
    assert isinstance(found, DecideSection)
    return found


def send_delayed(desk: Desk, qtbot: QtBot) -> None:
    """Send at once what is held with Undo, and wait for what is told of it."""
    wait(qtbot, lambda: bool(desk.toasts))
    told = desk.toasts[-1]
    assert [action.text for action in told.actions] == ["Undo", "Send now"]
    told.actions[1].call()
    wait(qtbot, lambda: desk.toasts[-1] is not told)


def held(desk: Desk, shop: int = 0, progress: int = -1) -> Task:
    """A task that must not run twice and was interrupted."""
    return desk.hold(desk.create(shop, task_type="batch_reply", payload={"text": "hello"}), progress)


@pytest.mark.one_pair
def test_the_panel_says_where_to_look_and_what_each_answer_does(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = held(desk)
    page.show_task(task.task_id)
    section = decision_of(page)
    wait(qtbot, section.isVisible)
    said = words(section)
    assert f"First look in the {platform_name(task.platform)} backend of " in said
    assert "was “batch_reply” done after " in said
    rows = list(section.buttons.values())
    assert [button.text() for button in rows] == ["It ran", "Run again", "Give up", "Cancel"]
    look = section.look_button
    assert (look.text(), look.kind) == ("Open this shop's browser", "primary"), "to look comes first"
    assert [button.kind for button in rows] == ["plain", "plain", "ghost", "ghost"]
    look.click()
    assert desk.ways == [("look_shop", task.shop)]
    assert look.kind == "plain", "now it is for the person to say"
    effects = ("succeeded, nothing runs", "runs again", "dead letter, nothing runs", "cancelled, nothing runs")
    for button, effect in zip(rows, effects, strict=True):
        (beside,) = [label for label in section.findChildren(QLabel) if label.buddy() is button]
        assert effect in beside.text()
        assert abs(beside.mapTo(section, QPoint()).y() - button.mapTo(section, QPoint()).y()) < 12
    others = [one for one in page.panel.buttons.values() if one.isVisible()]
    assert not others, "what cannot be done with it stands nowhere"
    waiting = desk.create(1)
    page.show_task(waiting.task_id)
    wait(qtbot, lambda: page.panel.buttons["raise"].isVisible())
    assert not section.isVisible()


@pytest.mark.one_pair
def test_the_panel_says_once_what_would_be_done_twice_and_when(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    page.show_task(held(desk, progress=60).task_id)
    wait(qtbot, decision_of(page).isVisible)
    said = words(page)
    assert said.count("If you choose “Run again”, the work would be done a second time") == 1
    assert "Would duplicate" not in said


def test_the_moment_it_was_lost_is_the_last_sign_of_its_worker(qtbot: QtBot) -> None:
    section = DecideSection()
    qtbot.addWidget(section)
    task = Task(task_id="t", shop_id="s1", platform="pdd", task_type="batch_reply", status=Status.HELD)
    end = Unknown(worker="w1", started_at=1_000, at=61_000, lost=True, sign_at=5_000)
    section.show_task(task, None, end, 70_000)
    assert f"its last sign came at {clock(5_000, 70_000)}, it was given up at {clock(61_000, 70_000)}" in words(section)


def test_one_that_a_verb_asks_for_by_its_id_is_opened_with_its_answers(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    task = held(desk)
    desk.create(1)
    page.show_request(f"id:{task.task_id}")
    wait(qtbot, decision_of(page).isVisible)
    assert page.panel.task_id == task.task_id


def test_it_ran_needs_a_note_and_keeps_it(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = held(desk)
    page.show_task(task.task_id)
    wait(qtbot, lambda: decision_of(page).buttons[Status.SUCCEEDED].isVisible())
    decision_of(page).buttons[Status.SUCCEEDED].click()
    dialog = dialog_of(page, qtbot)
    assert "Check first" in words(dialog)
    assert "attempt 1 ended without an outcome" in words(dialog)
    assert dialog.verb_button.toolTip() == "Write down first how you know that it ran"
    dialog.note_field.setText("  seen in the shop <b>now</b> ")
    dialog.verb_button.click()
    send_delayed(desk, qtbot)
    assert desk.toasts[-1].text == "1 task recorded as succeeded"
    record = desk.get(task.task_id)
    assert (record.status, record.triage_note) == (Status.SUCCEEDED, "seen in the shop <b>now</b>")
    (entry, *_rest) = desk.session.engine.store.audit(1)
    assert entry.action == "task.resolve"
    assert "seen in the shop" in entry.detail
    wait(qtbot, lambda: "It ran, confirmed by" in words(page.panel) or page.panel.task == record)


@pytest.mark.one_pair
def test_what_was_written_about_a_task_that_could_not_be_decided_is_not_lost(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    task = held(desk)
    page.show_task(task.task_id)
    wait(qtbot, lambda: decision_of(page).buttons[Status.SUCCEEDED].isVisible())
    decision_of(page).buttons[Status.SUCCEEDED].click()
    dialog = dialog_of(page, qtbot)
    dialog.note_field.setText("seen in the shop")
    dialog.verb_button.click()
    wait(qtbot, lambda: bool(desk.toasts))
    desk.session.commands.tasks.resolve([task.task_id], "dead", note="nobody knows")
    send_delayed(desk, qtbot)
    assert desk.toasts[-1].text == "Nothing was changed."
    press(desk.toasts[-1], "Ask again")
    assert dialog_of(page, qtbot).note == "seen in the shop"


@pytest.mark.one_pair
def test_what_would_be_done_twice_is_said_in_red(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = held(desk, progress=60)
    page.show_task(task.task_id)
    wait(qtbot, lambda: decision_of(page).buttons[Status.PENDING].isVisible())
    decision_of(page).buttons[Status.PENDING].click()
    dialog = dialog_of(page, qtbot)
    assert "Would duplicate" in words(dialog)
    assert "attempt 1 was at 60.0\u202f%" in words(dialog)
    assert dialog.verb_button.kind == "dangerfill"
    assert dialog.verb_button.toolTip() == "Write down first why it is to run again"
    dialog.note_field.setText("the shop lost it")
    dialog.verb_button.click()
    send_delayed(desk, qtbot)
    assert desk.toasts[-1].text == "1 task runs again"
    assert desk.get(task.task_id).status in (Status.PENDING, Status.QUEUED)
    assert desk.get(task.task_id).triage_note == "the shop lost it"


@pytest.mark.one_pair
def test_a_retry_by_its_key_asks_with_the_evidence_too(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = held(desk, progress=60)
    shown(page, qtbot, 1)
    page.table.set_current_key(task.task_id)
    act(page, "retry")
    dialog = dialog_of(page, qtbot)
    assert dialog.windowTitle() == "Run it again"
    dialog.reject()
    assert not desk.toasts
    assert desk.get(task.task_id).status == Status.HELD


def test_several_are_decided_at_once_their_evidence_by_number(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    tasks = [held(desk, shop, progress=60 * (shop == 2)) for shop in (0, 1, 2)]
    other = desk.create(0)
    shown(page, qtbot, 4)
    assert page.bar.decide_button.isHidden()
    retry = next(button for button in page.bar.findChildren(Button) if button.text() == "Retry")
    page.table.records.set_ticked([*(task.task_id for task in tasks), other.task_id])
    assert not retry.isHidden()
    page.table.records.set_ticked([other.task_id], on=False)
    assert retry.isHidden(), "it is one of the answers"
    assert not page.bar.decide_button.isHidden()
    give_up = page.bar.decisions.actions()[2]
    assert give_up.text().startswith("Give up: Nobody can tell: it becomes a dead letter")
    give_up.trigger()
    dialog = dialog_of(page, qtbot)
    assert "Would duplicate: 1" in words(dialog)
    assert "Check first: 2" in words(dialog)
    assert dialog.verb_button.text() == "Give up 3 tasks"
    assert dialog.verb_button.toolTip() == "Write down first why it is given up"
    dialog.note_field.setText("the shops are closed")
    dialog.verb_button.click()
    send_delayed(desk, qtbot)
    assert desk.toasts[-1].text == "3 tasks are dead letters now"
    assert {desk.get(task.task_id).triage for task in tasks} == {Triage.OPEN}
    assert not page.table.records.ticked(), "a selection that was acted on has done its duty"
    assert desk.get(other.task_id).status != Status.DEAD


@pytest.mark.one_pair
def test_a_cancel_asks_why_too(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = held(desk)
    page.show_task(task.task_id)
    wait(qtbot, lambda: decision_of(page).buttons["cancel"].isVisible())
    decision_of(page).buttons["cancel"].click()
    wait(qtbot, lambda: bool(desk.toasts))
    desk.toasts[-1].actions[1].call()
    dialog = dialog_of(page, qtbot)
    assert "others may do the same work again" in words(dialog)
    assert dialog.verb_button.toolTip() == "Write down first why it is given up"
    assert desk.get(task.task_id).status == Status.HELD
    dialog.note_field.setText("it did not run")
    dialog.verb_button.click()
    wait(qtbot, lambda: desk.get(task.task_id).status == Status.CANCELLED)
    assert desk.get(task.task_id).reason == "it did not run"


@pytest.mark.one_pair
def test_the_menu_of_a_row_and_the_palette_offer_them(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task, waiting = held(desk), desk.create(1)
    shown(page, qtbot, 2)
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, task.task_id)
    assert [action.text().partition(": ")[0] for action in menu.actions()][:3] == ["It ran", "Run again", "Give up"]
    assert "it ends as succeeded, nothing runs" in menu.actions()[0].text()
    other = QMenu(page)
    page.table.menu_requested.emit(other, waiting.task_id)
    assert not any(action.text().startswith("It ran") for action in other.actions())
    page.table.set_current_key(task.task_id)
    assert "It ran" in [one.words for one in page.commands()]


def test_all_of_them_are_one_view_that_the_overview_leads_to(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = held(desk)
    desk.create(1)
    page.show_request("status:held")
    wait(qtbot, lambda: [row.key for row in page.table.records.records()] == [task.task_id])
    assert page.tabs.current() == "held"


@pytest.mark.one_pair
@pytest.mark.parametrize(("language", "lead"), [("en", "Would duplicate"), ("zh_CN", "会重复执行")])
def test_the_evidence_is_said_in_the_language_of_the_window(
    desk: Desk, page: TasksPage, qtbot: QtBot, language: str, lead: str
) -> None:
    i18n.set_language(language)
    task = held(desk, progress=60)
    page.show_task(task.task_id)
    wait(qtbot, lambda: decision_of(page).buttons[Status.DEAD].isVisible())
    decision_of(page).buttons[Status.DEAD].click()
    text = words(dialog_of(page, qtbot))
    assert lead in text, text
    i18n.set_language("en")
