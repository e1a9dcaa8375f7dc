"""The Tasks page as its user works with it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.task.status import Status, Triage
from services.monitor.tasks import TaskQueries
from services.ports import LogLine
from tests.gui.desk import Desk
from tests.gui.tasks_rig import pending, press, wait
from tests.support.held import settled
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.name import NameDialog
from views.pages.tasks import listing, rows
from views.pages.tasks.page import TasksPage
from views.widgets.filter.bar import ValuePopup

pytestmark = pytest.mark.both_pairs


def ids(page: TasksPage) -> list[str]:
    """Ids of the rows in their order."""
    return [row.key for row in page.table.records.records()]


def test_rows_appear_and_change_in_place(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first, second = desk.create(0), desk.create(1)
    page.refresh()
    wait(qtbot, lambda: ids(page) == [second.task_id, first.task_id])
    desk.claim(desk.get(first.task_id))
    wait(qtbot, lambda: page.table.records.records()[1].task.status == Status.RUNNING)
    assert ids(page) == [second.task_id, first.task_id]


def test_the_heading_by_which_they_stand_has_an_arrow(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: ids(page) == [first.task_id])
    assert page.table.records.order == (("created", True),)
    page.table.records.request_sort(page.table.records.section_of("created"))
    assert page.table.records.order == (("created", False),)


def test_new_rows_wait_behind_the_pill(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: ids(page) == [first.task_id])
    qtbot.keyClick(page.table, Qt.Key.Key_Shift)
    second = desk.create(1)
    wait(qtbot, lambda: page.table.records.pending == 1)
    assert ids(page) == [first.task_id]
    assert page.bar.new_button.isVisibleTo(page)
    page.bar.new_button.click()
    wait(qtbot, lambda: ids(page) == [second.task_id, first.task_id])


def test_rows_arrive_by_themselves_until_somebody_works_with_the_table(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    first = desk.create(0)
    wait(qtbot, lambda: ids(page) == [first.task_id])
    second = desk.create(1)
    wait(qtbot, lambda: ids(page) == [second.task_id, first.task_id])
    page.table.set_current_key(second.task_id)
    desk.create(2)
    wait(qtbot, lambda: page.table.records.pending == 1)
    assert ids(page) == [second.task_id, first.task_id]


def test_the_summary_and_the_tab_say_one_number(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    for n in range(3):
        desk.create(n)
    desk.fail(desk.create(0, task_type="shop_crawl"))
    wait(qtbot, lambda: page.header.summary() == "4 match, of 4 kept")
    assert page.tabs.text_of("all") == "All  4"
    page.tabs.choose("flight")
    wait(qtbot, lambda: page.header.summary() == "3 match, of 4 kept")
    assert page.tabs.text_of("flight") == "In flight  3"
    assert page.filter.expression() == "status:flight"
    page.filter.add_value("platform", "temu")
    wait(qtbot, lambda: page.header.summary() == "1 match, of 4 kept")


@pytest.mark.one_pair
def test_another_list_begins_at_its_top_with_no_row_that_nobody_pointed_at(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    for number in range(60):
        desk.create(1, payload={"page": number})
    gone = desk.create(2, task_type="shop_crawl")
    for number in range(60):
        desk.create(0, payload={"page": number})
    page.resize(1200, 400)
    page.refresh()
    wait(qtbot, lambda: len(ids(page)) == 121)
    page.table.set_current_key(gone.task_id)
    kept = ids(page)[115]
    page.show_request("type:refresh_goods")
    wait(qtbot, lambda: gone.task_id not in ids(page))
    assert page.table.current_key() is None
    assert page.table.verticalScrollBar().value() == 0
    page.table.set_current_key(kept)
    page.show_request("")
    wait(qtbot, lambda: gone.task_id in ids(page))
    assert page.table.current_key() == kept, "what is in both lists stays below the cursor"


@pytest.mark.one_pair
def test_the_batch_whose_tasks_are_shown_is_a_chip(page: TasksPage) -> None:
    page.show_request("batch:nightly-2026 status:dead")
    assert page.filter.field.text() == ""
    assert "Batch is nightly-2026" in [chip.accessibleName() for chip in page.filter.chip_views()]


@pytest.mark.one_pair
def test_a_cause_in_the_filter_is_called_as_people_know_it(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    cause = desk.fail(desk.create(0)).fingerprint
    page.show_request(f"fp:{cause},ffffffffffffffff")
    chips = page.filter.chip_views
    known = "Cause is Seller login expired, ffffffffffffffff"
    wait(qtbot, lambda: known in [chip.accessibleName() for chip in chips()])
    assert page.filter.expression() == f"fp:{cause},ffffffffffffffff"


@pytest.mark.one_pair
@pytest.mark.parametrize(
    "narrow",
    [
        "shop:temu:{shop_id}", "platform:temu", "type:refresh_goods", "batch:b1", "id:{task_id}",
        "status:queued,blocked", "gate:message,lane_order", "priority>7", "age<1h", "temu", "error:timeout",
    ],
)  # fmt: skip
def test_under_a_filter_no_tab_says_a_number_of_another_list(
    desk: Desk, page: TasksPage, qtbot: QtBot, narrow: str
) -> None:
    task = desk.create(2)
    for n in range(2):
        desk.create(n)
    views = ("all", "flight", "waiting", "running", "retrying", "held", "dead")
    page.refresh()
    wait(qtbot, lambda: page.tabs.text_of("flight") == "In flight  3")
    page.show_request(narrow.format(shop_id=task.shop_id, task_id=task.task_id))
    others = [page.tabs.text_of(key) for key in views[1:]]
    assert not any(character.isdigit() for words in others for character in words), "at once, before the answer"
    desk.create(1, payload={"n": 9})
    found = desk.context.tasks.page(page.filter.expression())
    assert found.next is None
    matching = f"All  {len(found.tasks)}"  # a search through texts is counted where it has met all
    wait(
        qtbot, lambda: page.header.summary().endswith("of 4 kept") and page.table.records.rowCount() == len(found.tasks)
    )
    wait(qtbot, lambda: page.tabs.text_of("all") == matching)
    assert not any(character.isdigit() for key in views[1:] for character in page.tabs.text_of(key))
    page.tabs.choose("flight")
    wait(qtbot, lambda: page.tabs.text_of("all") == "All  4")
    assert page.tabs.text_of("flight") == "In flight  4"


@pytest.mark.one_pair
def test_columns_are_kept_at_once_for_who_is_killed(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    menu = page.table.layout_of_columns.menu()
    next(action for action in menu.actions() if action.text() == "Worker").trigger()
    again = TasksPage(desk.context)
    qtbot.addWidget(again)
    assert again.table.isColumnHidden(again.table.records.section_of("worker"))


def test_a_saved_view_keeps_filter_columns_and_number(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    desk.create(0)
    wanted = desk.create(2)
    page.show_request("platform:temu")
    wait(qtbot, lambda: ids(page) == [wanted.task_id])
    page.tabs.save_wanted.emit()
    dialog = page.findChild(NameDialog)
    assert dialog is not None
    assert "Platform is TEMU" in [one.text() for one in dialog.findChildren(QLabel)], "in the words of its chips"
    dialog.field.setText("Temu & co")
    dialog.done_button.click()
    key = page.tabs.current()
    wait(qtbot, lambda: page.tabs.text_of(key) == "Temu && co  1")
    page.table.layout_of_columns.show_column(page.table.records.section_of("worker"), on=False)
    page.tabs.choose("all")
    wait(qtbot, lambda: len(ids(page)) == 2)
    assert not page.table.isColumnHidden(page.table.records.section_of("worker"))
    again = TasksPage(desk.context)
    qtbot.addWidget(again)
    again.resize(1280, 760)
    again.show()
    again.activate()
    again.tabs.choose(key)
    wait(qtbot, lambda: ids(again) == [wanted.task_id])
    assert again.table.isColumnHidden(again.table.records.section_of("worker"))
    assert not again.table.isColumnHidden(again.table.records.section_of("error"))
    again.tabs.remove_wanted.emit(key)
    wait(qtbot, lambda: len(ids(again)) == 2)
    again.deactivate()


@pytest.mark.one_pair
def test_the_model_keeps_qts_rules(desk: Desk, page: TasksPage, qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    task = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: len(ids(page)) == 1)
    qtmodeltester.check(page.table.records)
    desk.fail(desk.get(task.task_id))
    page.refresh()
    wait(qtbot, lambda: page.table.records.records()[0].task.status == Status.DEAD)
    qtmodeltester.check(page.table.records)


def test_cancel_waits_for_undo_and_then_ends_the_task(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: ids(page) == [task.task_id])
    page.table.records.set_ticked([task.task_id])
    page.bar.buttons["cancel"].click()
    assert desk.get(task.task_id).status == Status.QUEUED
    press(desk, "Cancel now")
    wait(qtbot, lambda: desk.get(task.task_id).status == Status.CANCELLED)


@pytest.mark.one_pair
def test_undo_leaves_the_task_alone(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: ids(page) == [task.task_id])
    page.table.records.set_ticked([task.task_id])
    page.bar.buttons["cancel"].click()
    press(desk, "Undo")
    assert desk.toasts[-1].text == "Taken back; nothing was changed."
    assert not pending(page)
    assert desk.get(task.task_id).status == Status.QUEUED


def test_many_waiting_tasks_are_cancelled_only_after_their_undo(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    tasks = [desk.create(number % 2, payload={"n": number}) for number in range(11)]
    page.refresh()
    wait(qtbot, lambda: len(ids(page)) == 11)
    page.table.records.set_ticked([task.task_id for task in tasks])
    page.bar.buttons["cancel"].click()
    wait(qtbot, lambda: bool(page.findChildren(ConfirmDialog)))
    page.findChildren(ConfirmDialog)[-1].verb_button.click()
    assert desk.toasts[-1].text == "Cancelling 11 tasks in 10 s"
    page.undo()
    assert desk.toasts[-1].text == "Taken back; nothing was changed."
    assert {desk.get(task.task_id).status for task in tasks} <= {Status.QUEUED, Status.PENDING, Status.BLOCKED}


def test_retry_of_a_dead_task_republishes_it(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    dead = desk.fail(desk.create(0))
    page.refresh()
    wait(qtbot, lambda: ids(page) == [dead.task_id])
    page.table.set_current_key(dead.task_id)
    page.bar.buttons["retry"].click()
    press(desk, "Send now")
    wait(qtbot, lambda: desk.get(dead.task_id).triage == Triage.REPUBLISHED)
    successor = desk.get(desk.get(dead.task_id).successor)
    assert successor.parent == dead.task_id
    assert successor.status in (Status.PENDING, Status.QUEUED)
    assert desk.session.engine.store.audit(5)[0].action == "dead.republish"


def test_raise_priority_and_run_now(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0, priority="low")
    page.refresh()
    wait(qtbot, lambda: ids(page) == [task.task_id])
    page.table.set_current_key(task.task_id)
    page.bar.buttons["raise"].click()
    wait(qtbot, lambda: desk.get(task.task_id).lane == "normal")
    qtbot.keyClick(page.table, Qt.Key.Key_P, Qt.KeyboardModifier.ShiftModifier)
    wait(qtbot, lambda: desk.get(task.task_id).lane == "low")
    run_now = page.bar.buttons["run_now"]
    wait(qtbot, lambda: not run_now.isEnabled())  # nobody is there to run it; the key still puts it first
    qtbot.keyClick(page.table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    press(desk, "Send now")
    wait(qtbot, lambda: desk.get(task.task_id).priority == 10)
    assert desk.get(task.task_id).gen == 3


def test_the_filter_and_the_saved_views_narrow_the_list(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    waiting = desk.create(0)
    dead = desk.fail(desk.create(1))
    page.refresh()
    wait(qtbot, lambda: len(ids(page)) == 2)
    page.show_request("status:dead")
    wait(qtbot, lambda: ids(page) == [dead.task_id])
    page.show_request("shop:pdd:pdd-10021")
    wait(qtbot, lambda: ids(page) == [waiting.task_id])
    page.show_request("shop:nobody")
    wait(qtbot, lambda: page.empty.isVisible())
    page.empty.button.click()
    wait(qtbot, lambda: len(ids(page)) == 2)


@pytest.mark.one_pair
def test_a_wrong_filter_is_explained_in_place(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    desk.create(0)
    page.show_request("stauts:dead")
    wait(qtbot, lambda: "status" in page.filter.problem())
    assert not page.error.isVisibleTo(page)
    i18n.set_language("zh_CN")
    page.refresh()
    wait(qtbot, lambda: "未知" in page.filter.problem() or "没有" in page.filter.problem())
    page.show_request("")
    wait(qtbot, lambda: page.filter.problem() == "")


@pytest.mark.one_pair
def test_the_whole_filter_is_edited_as_text(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    desk.create(0)
    wanted = desk.create(2)
    page.show_request("platform:pdd")
    wait(qtbot, lambda: len(ids(page)) == 1)
    page.filter.text_button.click()
    assert page.filter.line.text() == "platform:pdd"
    page.filter.line.setText("platform:temu age<1d")
    wait(qtbot, lambda: ids(page) == [wanted.task_id])
    page.filter.line.setText("platform:temu age<")
    wait(qtbot, lambda: bool(page.filter.problem()))
    page.filter.line.setText("platform:temu age<1d")
    wait(qtbot, lambda: not page.filter.problem())
    page.filter.text_button.click()
    assert page.filter.expression() == "platform:temu age<1d"
    assert page.filter.chip_views()[0].accessibleName() == "Platform is TEMU"


def test_words_search_id_shop_and_error(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    waiting = desk.create(2)
    dead = desk.fail(desk.create(0), error="LoginExpired: redirected to /login")
    page.refresh()
    wait(qtbot, lambda: len(ids(page)) == 2)
    for typed, found in (
        ("temu-20117", waiting),
        (waiting.task_id[-8:], waiting),
        ("redirected login", dead),
        ("LoginExpired: redirected", dead),
    ):
        page.filter.field.setText(typed)
        wait(qtbot, lambda wanted=found: ids(page) == [wanted.task_id])  # type: ignore[misc]
        page.filter.clear()
        wait(qtbot, lambda: len(ids(page)) == 2)


@pytest.mark.one_pair
def test_the_filter_offers_types_and_shops_by_name(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    desk.create(0)
    page.refresh()
    wait(qtbot, lambda: bool(page.filter.chips.fields["shop"].values))
    words = {value.value: value.word for value in page.filter.chips.fields["shop"].values}
    assert words["pdd:pdd-10021"] == "微光数码专卖店  pdd-10021"
    assert page.filter.chips.fields["shop"].takes_text


def test_the_panel_tells_the_whole_story(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    dead = desk.fail(desk.create(0))
    page.refresh()
    wait(qtbot, lambda: ids(page) == [dead.task_id])
    page.table.set_current_key(dead.task_id)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    wait(qtbot, lambda: page.panel.isVisible() and page.panel.error.text() != "")
    assert "LoginExpired" in page.panel.error.text()
    lines = [entry.text + entry.tail for entry in page.panel.timeline.entries()]
    assert any("Attempt 1 failed" in line and "LoginExpired" in line for line in lines)
    assert page.panel.verdict.isVisibleTo(page)


def test_why_a_task_waits_is_said(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    desk.claim(desk.create(0))
    second = desk.create(0, task_type="shop_crawl")
    page.refresh()
    wait(qtbot, lambda: len(ids(page)) == 2)
    page.show_task(second.task_id)
    wait(qtbot, lambda: bool(page.panel.gates.entries()))
    strong = [entry.strong for entry in page.panel.gates.entries() if entry.strong]
    assert strong == ["shop busy"], "its sentence stands once, above the list"
    assert "The shop is busy" in page.panel.sentence.text()
    parked = [entry.tail for entry in page.panel.timeline.entries() if entry.text == "Parked"]
    assert set(parked) <= {"shop busy"}, "the timeline says it as the list does"
    cell = rows.progress(next(row for row in page.table.records.records() if row.key == second.task_id), 0)
    assert cell.text.startswith("shop busy")


@pytest.mark.one_pair
def test_edit_as_new_task_hands_the_payload_over(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0, task_type="single_product", payload={"goods_id": "G0001"})
    page.show_task(task.task_id)
    wait(qtbot, lambda: page.panel.task is not None)
    page.panel.edit_button.click()
    assert desk.asked[-1]["task_type"] == "single_product"
    assert "G0001" in str(desk.asked[-1]["payload"])


@pytest.mark.one_pair
def test_tags_in_foreign_text_stay_text(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    dead = desk.fail(desk.create(0), error="<img src=http://127.0.0.1:9/x> \u202eevil\u0007", kind="unknown")
    page.show_task(dead.task_id)
    wait(qtbot, lambda: page.panel.error.text() != "")
    assert page.panel.error.textFormat() == Qt.TextFormat.PlainText
    assert "<img" in page.panel.error.text()
    assert "\u202e" not in page.panel.error.text()


def test_rows_beyond_the_loaded_window_do_not_look_as_if_they_had_left(
    desk: Desk, page: TasksPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "FIRST", 3)
    old = [desk.create(0, task_type="single_product", payload={"goods_id": f"G{n}"}) for n in range(3)]
    page.show_request("")
    wait(qtbot, lambda: len(ids(page)) == 3)
    qtbot.keyClick(page.table, Qt.Key.Key_Shift)
    for n in range(4):
        desk.create(1, task_type="single_product", payload={"goods_id": f"G{n}"})
    wait(qtbot, lambda: page.table.records.pending >= 3)
    assert ids(page) == [task.task_id for task in reversed(old)]
    assert page.table.records.departed == 0


@pytest.mark.one_pair
def test_an_empty_page_offers_the_first_task(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    wait(qtbot, lambda: page.empty.isVisible())
    assert page.header.summary() == "Nothing is kept yet."
    page.empty.button.click()
    assert desk.asked == [{}]


def test_an_empty_page_offers_no_first_task_while_nothing_may_be_created(page: TasksPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(page.empty.button.isVisible)
    page.set_acting("The store takes no writes")
    assert not page.empty.button.isEnabled()
    assert page.empty.button.toolTip() == "The store takes no writes"
    page.set_acting("")
    assert page.empty.button.isEnabled()


def test_the_head_says_what_no_index_answers(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    tasks = [desk.create(number % 2, payload={"n": number, "m": 1}) for number in range(3)]
    store = desk.session.engine.store
    page.show_request("payload.n:1")
    wait(qtbot, lambda: page.header.summary().endswith("payload.n is not indexed: looks through 3 tasks"))
    store.index_fields(["n"])
    while store.index_more():
        pass
    page.refresh()
    wait(qtbot, lambda: page.header.summary() == "1 match, of 3 kept")
    assert page.table.records.find(tasks[1].task_id) is not None


def test_words_of_a_log_find_its_task_and_the_head_says_how_far(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    slow, other = desk.claim(desk.create(0)), desk.claim(desk.create(1))
    store = desk.session.engine.store
    store.append_log(slow.task_id, 1, [LogLine(1, "out", "Timeout waiting for #buy")])
    store.append_log(other.task_id, 1, [LogLine(1, "out", "done")])
    page.show_request('log:"timeout waiting"')
    wait(qtbot, lambda: page.header.summary().endswith("looked into the logs of 2 of 2 tasks"))
    assert [row.key for row in page.table.records.records()] == [slow.task_id]


@pytest.mark.one_pair
def test_types_are_counted_for_who_opens_their_list(
    desk: Desk, page: TasksPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One question for each: nobody waits for sixty of them every few seconds."""
    asked: list[str] = []
    page_of = TaskQueries.page

    def noted(queries: TaskQueries, text: str = "", **more: object) -> object:
        asked.append(text)
        return page_of(queries, text, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(TaskQueries, "page", noted)
    first = desk.create(0)
    page.deactivate()
    page.activate()
    settled(qtbot, page)
    wait(qtbot, lambda: ids(page) == [first.task_id])
    assert not any(text.startswith(("type:", "worker:")) for text in asked)
    chip = next(one for one in page.filter.chip_views() if one.accessibleName() == "Add filter: Type")
    chip.opened.emit()
    (popup,) = page.findChildren(ValuePopup)
    wait(qtbot, lambda: any(popup.list.item(n).text().endswith("   1") for n in range(popup.list.count())))
    assert not any(text.startswith("worker:") for text in asked)
    popup.close()
