"""The Schedules page over a real engine: what it shows, and every act as its audited command."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from services import assembly
from services.domain.errors import StoreError
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Schedule
from services.domain.task.search.query import Query
from services.domain.types import task_type
from services.monitor.schedules import RunLoad
from services.sample.fleet import sample_shops
from tests.support.widgets import press as press_toast
from tests.support.widgets import words
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import WAIT_MS, opening
from views.dialogs.confirm import LIMITS, ConfirmDialog
from views.page import FromPast
from views.pages.schedules.editor import ScheduleDialog
from views.pages.schedules.page import SchedulesPage
from views.pages.schedules.words import remark
from views.theme import theme

pytestmark = pytest.mark.both_pairs

Open = Callable[[], SchedulesPage]


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: SchedulesPage(fleet.context), size=(1400, 700))


def plan(fleet: Fleet, name: str = "nightly", **fields: Any) -> None:
    """A schedule for the six shops of the fleet."""
    base = {"name": name, "task_type": "refresh_goods", "cron": "30 2 * * *", "all_shops": True}
    fleet.context.commands.schedules.add(Schedule(**(base | fields)))


def every_minute(fleet: Fleet, open_page: Open) -> SchedulesPage:
    """The page over a plan for two shops."""
    fleet.context.commands.fleet.import_shops(sample_shops(2))
    plan(fleet, cron="* * * * *")
    return open_page()


def press(qtbot: QtBot, page: SchedulesPage, button: Any) -> None:
    """Press a button and wait until the page has asked again."""
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()


def confirm(qtbot: QtBot, page: SchedulesPage, typed: str = "") -> None:
    """Say yes to the question that stands over the page."""
    (dialog,) = page.findChildren(ConfirmDialog)
    dialog.typed_field.setText(typed)
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        dialog.verb_button.click()
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()


def cells(page: SchedulesPage, name: str) -> dict[str, str]:
    """What the row of a schedule says."""
    row = page.table.records.find(name)
    assert row is not None
    return {column.key: column.display(row) for column in page.table.records.columns}


@pytest.mark.one_pair
def test_an_empty_page_says_what_schedules_are(open_page: Open) -> None:
    page = open_page()
    assert page.stack.currentWidget() is page.empty
    assert page.header.summary() == "Nothing repeats."
    assert not page.buttons["run"].isEnabled()


def test_rows_say_when_for_whom_and_what_came_of_it(fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet, note="orders of the day")
    plan(fleet, "berlin", cron="0 9 * * 1-5", zone="Europe/Berlin")
    plan(fleet, "often", cron="", every_s=5400, enabled=False)
    fleet.context.commands.schedules.run("nightly")
    page = open_page()
    assert page.stack.currentWidget() is page.table
    nightly = cells(page, "nightly")
    assert (nightly["when"], nightly["shops"], nightly["outcome"]) == ("daily at 02:30", "6", "6 tasks")
    assert nightly["next"].startswith("in ")
    assert nightly["note"] == "berlin: the same work, created twice for 6 shops; orders of the day"
    assert cells(page, "berlin")["when"] == "Monday to Friday at 09:00 (Europe/Berlin)"
    often = cells(page, "often")
    assert (often["next"], often["last"], often["outcome"]) == ("disabled", "", "")
    assert page.header.summary().startswith("3 schedules, 1 disabled, next ")


def test_switch_and_skip(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()
    row = page.current()
    assert row is not None
    page.buttons["skip"].click()
    held = fleet.toasts.pop()
    assert held.text.startswith("nightly leaves its run of ")
    assert [one.text for one in held.actions] == ["Undo", "Skip now"]
    held.actions[0].call()
    assert fleet.toasts.pop().text == "Taken back; nothing was changed."
    page.buttons["skip"].click()
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        fleet.toasts.pop().actions[1].call()
    skipped = page.current()
    assert skipped is not None
    assert skipped.upcoming[0] == row.upcoming[1]
    press(qtbot, page, page.buttons["switch"])
    assert cells(page, "nightly")["next"] == "disabled"
    assert [action.text for action in fleet.toasts[-1].actions] == ["Undo"]
    assert (page.buttons["switch"].text(), page.buttons["skip"].isEnabled()) == ("Enable", False)
    press(qtbot, page, page.buttons["switch"])
    assert (page.buttons["switch"].text(), page.buttons["skip"].isEnabled()) == ("Disable", True)
    assert [toast.text for toast in fleet.toasts] == [
        "The next run of nightly is left out.",
        "nightly is disabled.",
        "nightly is enabled.",
    ]
    for enabled in (False, True):  # Undo of the last one, then of that before
        with qtbot.waitSignal(page.actions_of_page.changed):
            fleet.toasts[2 if not enabled else 1].actions[0].call()
        assert fleet.toasts[-1].text == "Taken back."
        (kept,) = fleet.store.schedules()
        assert schedules.load(kept.body).schedule.enabled is enabled


def test_the_run_that_was_seen_is_skipped_and_no_other(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(2)
    plan(fleet)
    page = open_page()
    page.buttons["skip"].click()
    fleet.context.commands.schedules.skip(["nightly"])
    then = fleet.context.schedules.row("nightly", 1)
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        fleet.toasts[-1].actions[1].call()
    assert "has begun, or was moved" in fleet.toasts[-1].text + fleet.toasts[-1].detail
    now = fleet.context.schedules.row("nightly", 1)
    assert then is not None
    assert now is not None
    assert now.upcoming == then.upcoming


def test_what_a_colleague_changed_since_is_not_taken_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()
    press(qtbot, page, page.buttons["switch"])
    undo = fleet.toasts[-1].actions[0].call
    ben = assembly.commands(fleet.engine, name="ben@desk-02").schedules
    ben.switch(["nightly"], enabled=True)
    ben.switch(["nightly"], enabled=False)
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        undo()
    assert "ben@desk-02 changed it again since" in fleet.toasts[-1].text + fleet.toasts[-1].detail
    (kept,) = fleet.store.schedules()
    assert not schedules.load(kept.body).schedule.enabled


def test_run_now_asks_with_the_number_and_leads_to_its_tasks(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()
    page.buttons["run"].click()
    assert fleet.store.query(Query()).tasks == ()
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.verb_button.text() == "Create 6 tasks"
    dialog.verb_button.click()
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        press_toast(fleet.toasts[-1], "Send now")
    assert len(fleet.store.query(Query()).tasks) == 6
    assert fleet.toasts[-1].text == "Created: 6 tasks"
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    with qtbot.waitSignal(page.navigate) as gone:
        page.table.open_requested.emit("nightly")
    target, text = gone.args
    assert target == "tasks"
    assert len(fleet.context.tasks.page(text).tasks) == 6


@pytest.mark.one_pair
def test_one_that_never_ran_opens_itself(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(2)
    plan(fleet)
    page = open_page()
    page.table.open_requested.emit("nightly")
    (dialog,) = page.findChildren(ScheduleDialog)
    assert dialog.name.text() == "nightly"


@pytest.mark.one_pair
def test_run_now_of_a_production_fleet_wants_the_number_typed(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, True, 5)
    fleet.context = structs.replace(fleet.context, environment="production")
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()
    page.buttons["run"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    assert not dialog.verb_button.isEnabled()
    dialog.typed_field.setText("6")
    dialog.verb_button.click()
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        press_toast(fleet.toasts[-1], "Send now")
    assert len(fleet.store.query(Query()).tasks) == 6


@pytest.mark.one_pair
def test_a_run_is_held_and_taken_back_by_the_key_and_asked_for_twice_runs_once(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()

    def run() -> None:
        page.buttons["run"].click()
        next(one for one in page.findChildren(ConfirmDialog) if one.isVisible()).verb_button.click()

    run()
    assert fleet.toasts[-1].text == "nightly creates 6 tasks in 5 s"
    assert [action.text for action in fleet.toasts[-1].actions] == ["Undo", "Send now"]
    assert page.undo()
    assert fleet.toasts[-1].text == "Taken back; nothing was changed."
    run()
    held = fleet.toasts[-1]
    run()
    assert fleet.toasts[-1].text == "That is about to happen already."
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        press_toast(held, "Send now")
    assert len(fleet.store.query(Query()).tasks) == 6
    assert [entry.action for entry in fleet.store.audit(2)].count("schedule.run") == 1


def test_removing_wants_the_name_typed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()
    page.buttons["remove"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    dialog.typed_field.setText("nigh")
    assert not dialog.verb_button.isEnabled()
    confirm(qtbot, page, "nightly")
    assert fleet.store.schedules() == []
    assert page.stack.currentWidget() is page.empty


def test_new_and_edit_open_the_dialog_and_show_what_was_kept(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    page = open_page()
    page.empty.action.emit()
    (dialog,) = page.findChildren(ScheduleDialog)
    qtbot.waitUntil(lambda: dialog.task_type.count() > 0, timeout=WAIT_MS)
    dialog.name.setText("nightly")
    dialog.task_type.setCurrentText("refresh_goods")
    dialog.save_button.click()
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.table, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: not page.findChildren(ScheduleDialog), timeout=WAIT_MS)
    page.buttons["edit"].click()
    (dialog,) = page.findChildren(ScheduleDialog)
    dialog.cron.setText("0 4 * * *")
    dialog.save_button.click()
    qtbot.waitUntil(lambda: cells(page, "nightly")["when"] == "daily at 04:00", timeout=WAIT_MS)


@pytest.mark.one_pair
def test_what_is_refused_is_told(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()
    fleet.context.commands.schedules.remove(["nightly"])
    press(qtbot, page, page.buttons["switch"])
    assert (fleet.toasts[-1].status, "no schedule" in fleet.toasts[-1].detail) == ("error", True)
    assert page.stack.currentWidget() is page.empty, "and the page looks again"


@pytest.mark.one_pair
def test_the_menu_offers_the_same(fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    page = open_page()
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, "nightly")
    assert [(action.text(), action.isEnabled()) for action in menu.actions()] == [
        ("Tasks of the last run", False),
        ("Last runs", False),
        ("Who changed what…", True),
        ("Who did what to it", True),
        ("Edit", True),
        ("Run now", True),
        ("Make up for…", True),
        ("Skip next", True),
        ("Disable", True),
        ("Remove", True),
    ]


@pytest.mark.one_pair
def test_the_palette_offers_the_same_of_the_one_under_the_cursor(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    page = open_page()
    assert {one.key: one.reason for one in page.commands()} == {
        "schedules.new": "",
        **dict.fromkeys(
            (f"schedules.{key}" for key in ("edit", "run", "backfill", "skip", "switch", "remove")),
            "Choose a schedule first",
        ),
    }
    plan(fleet)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    offered = {one.key: one for one in page.commands()}
    assert {one.reason for one in offered.values()} == {""}
    assert (offered["schedules.switch"].words, offered["schedules.switch"].note) == ("Disable", "nightly")
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        offered["schedules.switch"].run()
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    assert {one.key: one.words for one in page.commands()}["schedules.switch"] == "Enable"
    page.set_acting("Your role may only look")
    assert {one.reason for one in page.commands()} == {"Your role may only look"}


def test_where_nobody_fires_schedules_the_page_starts_a_worker(qtbot: QtBot, fleet: Fleet) -> None:
    fleet.seed_shops(6)
    plan(fleet)
    (kept,) = fleet.store.schedules()
    wished: list[tuple[str, str]] = []
    context = structs.replace(fleet.context, way_out=lambda verb, target: wished.append((verb, target)))
    page = SchedulesPage(context)
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.show()
        page.activate()
    assert not page.late.isVisibleTo(page)
    assert page.new_button.kind == "plain", "the filled one is that of the window"
    late = fleet.store.now_ms() - 7_200_000
    assert fleet.store.put_schedule(msgspec.structs.replace(kept, next_at=late), kept.version)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    assert page.late.isVisibleTo(page)
    assert page.start_button.text() == "Start a worker"
    assert (page.start_button.kind, page.buttons["run"].kind) == ("primary", "ghost"), "one filled button"
    page.start_button.click()
    assert wished == [("start_worker", "")]
    page.set_acting("Your role may only look")
    assert not page.start_button.isEnabled()
    page.deactivate()


@pytest.mark.one_pair
def test_larger_text_takes_the_room_of_a_verb_that_the_menu_has_too(fleet: Fleet, open_page: Open) -> None:
    plan(fleet)
    page = open_page()
    page.resize(1084, 646)
    assert page.buttons["backfill"].isVisible()
    try:
        theme().set_text_size(130)
        assert page.buttons["backfill"].isHidden()
    finally:
        theme().set_text_size(100)
    assert page.buttons["backfill"].isVisible()
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, "nightly")
    assert page.buttons["backfill"].text() in [action.text() for action in menu.actions()]


@pytest.mark.one_pair
def test_what_comes_next_stands_below_in_order_and_leads_to_its_schedule(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    plan(fleet, "nightly")
    plan(fleet, "often", cron="", every_s=3600)
    page = open_page()
    assert page.coming_room.isVisible()
    runs = page.coming.model.records()
    assert [run.at for run in runs] == sorted(run.at for run in runs)
    assert {run.row.schedule.name for run in runs} == {"nightly", "often"}
    page.table.set_current_key("nightly")
    page.coming.table.open_requested.emit(next(run.key for run in runs if run.row.schedule.name == "often"))
    assert page.table.current_key() == "often"
    page.resize(1400, 440)
    assert page.coming_room.isVisible(), "two schedules leave it room on a low page too"
    for number in range(8):
        plan(fleet, f"more-{number}")
    page.refresh()
    qtbot.waitUntil(lambda: page.table.model().rowCount() == 10)
    assert not page.coming_room.isVisible(), "ten leave none"


@pytest.mark.one_pair
def test_what_comes_next_takes_the_room_that_a_short_list_leaves(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    plan(fleet, "nightly")
    plan(fleet, "often", cron="", every_s=3600)
    page = open_page()
    page.resize(1400, 900)
    qtbot.waitUntil(lambda: page.coming.table.verticalScrollBar().maximum() == 0)
    assert page.coming.model.rowCount() == 10
    assert page.table.verticalScrollBar().maximum() == 0, "the list comes first"
    tall = page.coming.height()
    page.resize(1400, 540)
    qtbot.waitUntil(lambda: page.coming.height() < tall)
    assert page.height() == 540
    page.resize(1400, 900)
    qtbot.waitUntil(lambda: page.coming.height() == tall)


def test_below_the_schedules_stands_what_they_make_of_the_hours_to_come(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = every_minute(fleet, open_page)
    qtbot.waitUntil(page.ahead_room.isVisible, timeout=WAIT_MS)
    said = "2,880 tasks are planned in these 24 h; no worker runs now that would take them."
    assert page.ahead.words.text() == said
    page.resize(1400, 560)
    qtbot.waitUntil(page.ahead_room.isHidden, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_what_was_planned_while_another_page_was_seen_stands_there_when_it_is_opened_again(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = every_minute(fleet, open_page)
    qtbot.waitUntil(lambda: "2,880 tasks are planned" in page.ahead.words.text(), timeout=WAIT_MS)
    page.deactivate()
    page.hide()
    plan(fleet, "hourly", cron="0 * * * *")
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.show()
        page.activate()
    assert page.table.records.find("hourly") is not None
    qtbot.waitUntil(lambda: "2,928 tasks are planned" in page.ahead.words.text(), timeout=WAIT_MS)
    assert "as of " not in words(page.ahead)


@pytest.mark.one_pair
def test_what_somebody_else_plans_is_counted_at_once_and_its_bars_have_room(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.context.commands.fleet.import_shops(sample_shops(2))
    fleet.heartbeat("w1")
    kind = fleet.context.types()["refresh_goods"]
    fleet.store.put_document("type", kind.name, task_type.dump(structs.replace(kind, expected_s=60)))
    for name in ("yearly", "rarely", "seldom"):
        plan(fleet, name, cron="0 0 29 2 *")
    page = open_page()
    page.resize(1400, 900)
    qtbot.waitUntil(lambda: page.ahead.words.text() == "No run is planned in these 24 h.", timeout=WAIT_MS)
    plan(fleet, "often", cron="*/5 * * * *")
    qtbot.waitUntil(page.ahead.bars.isVisible, timeout=WAIT_MS)
    assert "576 tasks are planned" in page.ahead.words.text()
    bars, said = page.ahead.bars, page.ahead.words
    qtbot.waitUntil(lambda: not bars.geometry().intersects(said.geometry()), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_where_it_cannot_be_counted_anew_it_says_of_when_it_is(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = every_minute(fleet, open_page)
    qtbot.waitUntil(page.ahead_room.isVisible, timeout=WAIT_MS)
    assert "as of " not in words(page.ahead)

    def unreachable() -> None:
        raise StoreError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(fleet.context.schedules, "ahead", unreachable)
        page.refresh()
        qtbot.waitUntil(lambda: "as of " in words(page.ahead), timeout=WAIT_MS)
    assert "2,880 tasks are planned" in words(page.ahead)
    page.refresh()
    qtbot.waitUntil(lambda: "as of " not in words(page.ahead), timeout=WAIT_MS)


@pytest.mark.one_pair
def test_what_comes_is_counted_once_at_a_time_however_often_it_is_asked_for(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(fleet)
    asked, go_on, ahead = list[int](), threading.Event(), fleet.context.schedules.ahead

    def slow() -> RunLoad:
        asked.append(1)
        go_on.wait(WAIT_MS / 1000)
        return ahead()

    monkeypatch.setattr(fleet.context.schedules, "ahead", slow)
    page = open_page()
    qtbot.waitUntil(lambda: len(asked) == 1, timeout=WAIT_MS)
    for _ in range(2):
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.refresh()
    assert len(asked) == 1
    go_on.set()
    qtbot.waitUntil(lambda: len(asked) == 2, timeout=WAIT_MS)


@pytest.mark.one_pair
def test_what_cannot_be_loaded_is_said_above_the_list_until_it_can(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise StoreError("the disk is full")

    page = open_page()
    with monkeypatch.context() as broken:
        broken.setattr(type(fleet.context.schedules), "board", fail)
        page.refresh()
        qtbot.waitUntil(page.error.isVisible, timeout=WAIT_MS)
    page.error.retry.emit()
    qtbot.waitUntil(lambda: not page.error.isVisible(), timeout=WAIT_MS)


def found_by(qtbot: QtBot, page: SchedulesPage, expression: str) -> list[str]:
    """The names that the list shows once somebody has filtered it."""
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.filter.field.setText(expression)
        qtbot.keyClick(page.filter.field, Qt.Key.Key_Return)
    return sorted(row.schedule.name for row in page.table.records.records())


def test_of_a_schedule_of_which_some_shops_are_paused_it_is_said_how_many(fleet: Fleet) -> None:
    fleet.seed_shops(60)
    plan(fleet, "orders", task_type="sync_order", all_shops=False, platforms=("temu",))
    plan(fleet, "off", enabled=False, all_shops=False, platforms=("temu",))
    shops = [key for key, shop in fleet.context.shops().items() if shop.platform == "temu"]
    of = f"of {len(shops)} shops"

    def told() -> dict[str, str]:
        return {row.schedule.name: remark(row) for row in fleet.context.schedules.board()}

    for key, said in ((shops[0], f"1 {of} is paused"), (shops[1], f"2 {of} are paused")):
        fleet.context.commands.fleet.pause(f"shop:{key}", reason="stock is counted")
        assert told() == {"orders": said, "off": ""}
    fleet.context.commands.fleet.pause("platform:temu", reason="page changed")
    assert told() == {"orders": "paused: what it makes waits", "off": ""}


def test_the_list_is_filtered_by_what_schedules_do_for_whom_and_how_they_stand(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_shops(60)
    plan(fleet, "orders", task_type="sync_order", all_shops=False, platforms=("temu",))
    plan(fleet, "goods", all_shops=False, shops=("pdd:pdd-10021",), note="before work")
    plan(fleet, "off", enabled=False, note="until the new page")
    fleet.context.commands.fleet.pause("type:sync_order", reason="page changed")
    page = open_page()
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.filter.set_expression("")
        page.refresh()
    found = {
        text: found_by(qtbot, page, text)
        for text in (
            "type:sync_order", "platform:temu", "shop:pdd-10021", "-state:off", "state:paused", "work", "ORD", "x",
            "名称：goods", "备注:before*", "状态:off",
            "-状态:已停用，已暂停",
        )
    }  # fmt: skip
    assert found == {
        "type:sync_order": ["orders"],
        "platform:temu": ["off", "orders"],
        "shop:pdd-10021": ["goods", "off"],
        "-state:off": ["goods", "orders"],
        "state:paused": ["orders"],
        "work": ["goods"],
        "ORD": ["orders"],
        "x": [],
        "名称：goods": ["goods"],
        "备注:before*": ["goods"],
        "状态:off": ["off"],
        "-状态:已停用，已暂停": ["goods"],
    }
    found_by(qtbot, page, "x")
    assert page.header.summary() == "0 of 3 schedules match"
    assert page.stack.currentWidget() is page.unmatched
    assert page.coming.model.rowCount() == 0
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.unmatched.button.click()
    assert page.table.records.rowCount() == 3
    assert "paused" in cells(page, "orders")["note"]


@pytest.mark.one_pair
def test_a_filter_is_remembered_and_goes_with_a_link(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet, "orders")
    plan(fleet, "goods")
    page = open_page()
    assert found_by(qtbot, page, "name:goods") == ["goods"]
    assert page.shown_request() == "name:goods"
    mine = fleet.context
    fleet.context = structs.replace(mine, profile="another")
    other = open_page()
    assert (other.filter.expression(), other.table.records.rowCount()) == ("", 2), "another fleet has other schedules"
    fleet.context = mine
    again = open_page()
    assert again.filter.expression() == "name:goods"
    assert again.table.records.rowCount() == 1
    with qtbot.waitSignal(again.refreshed, timeout=WAIT_MS):
        again.show_request("orders")
    assert (again.filter.expression(), again.table.current_key()) == ("", "orders"), "a name is shown among all of them"
    with qtbot.waitSignal(again.refreshed, timeout=WAIT_MS):
        again.show_request("state:off")
    assert again.stack.currentWidget() is again.unmatched


@pytest.mark.one_pair
def test_a_link_to_what_is_shown_already_shows_it_among_all_of_them(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_shops(6)
    plan(fleet, "orders")
    plan(fleet, "goods")
    page = open_page()
    assert found_by(qtbot, page, "name:goods") == ["goods"]
    page.show_request("goods")
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 2, timeout=WAIT_MS)
    assert (page.filter.expression(), page.table.current_key()) == ("", "goods")
    assert page.header.summary().startswith("2 schedules, next ")


@pytest.mark.one_pair
def test_what_fits_no_more_stays_under_the_cursor_until_a_person_asks(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_shops(6)
    for name in ("aaa", "bbb", "ccc"):
        plan(fleet, name)
    page = open_page()
    assert found_by(qtbot, page, "state:on") == ["aaa", "bbb", "ccc"]
    page.table.set_current_key("bbb")
    fleet.context.commands.schedules.switch(["bbb"], enabled=False)  # somebody else does
    for _again in range(2):
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.refresh()
    records = page.table.records
    assert (page.table.current_key(), page.buttons["switch"].text()) == ("bbb", "Enable")
    assert [records.is_dimmed(records.row_of(name)) for name in ("aaa", "bbb", "ccc")] == [False, True, False]
    assert page.header.summary().startswith("2 of 3 schedules match, ")
    fleet.context.commands.schedules.switch(["bbb"], enabled=True)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.refresh()
    assert not records.is_dimmed(records.row_of("bbb"))
    fleet.context.commands.schedules.switch(["bbb"], enabled=False)
    assert found_by(qtbot, page, "state:on ") == ["aaa", "ccc"]


@pytest.mark.one_pair
def test_where_somebody_removed_what_is_under_the_cursor_nothing_else_is(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_shops(6)
    for name in ("aaa", "bbb", "ccc"):
        plan(fleet, name)
    page = open_page()
    page.table.set_current_key("bbb")
    fleet.context.commands.schedules.remove(["bbb"])
    for _again in range(2):
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.refresh()
    assert page.table.records.rowCount() == 2
    assert page.table.current_key() is None
    assert not page.buttons["run"].isEnabled()


@pytest.mark.one_pair
def test_what_is_no_filter_is_said_below_it_and_the_list_stays(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.seed_shops(6)
    plan(fleet, "orders")
    page = open_page()
    page.filter.field.setText("state:asleep")
    qtbot.waitUntil(lambda: bool(page.filter.problem()), timeout=WAIT_MS)
    assert "overdue" in page.filter.problem()
    assert page.table.records.rowCount() == 1


@pytest.mark.one_pair
def test_a_schedule_that_the_past_led_to_stays_under_its_moment_until_somebody_filters(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.seed_shops(6)
    plan(fleet, "orders")
    plan(fleet, "goods")
    page = open_page()
    at_ms = fleet.store.now_ms() - 3_600_000
    page.show_past(FromPast(at_ms=at_ms, said=lambda: "All of it is as it is now.", show="orders"))
    for _again in range(2):
        with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
            page.refresh()
    assert (page.past_ms, page.table.current_key()) == (at_ms, "orders")
    found_by(qtbot, page, "name:goods")
    qtbot.waitUntil(lambda: page.past_ms == 0, timeout=WAIT_MS)
