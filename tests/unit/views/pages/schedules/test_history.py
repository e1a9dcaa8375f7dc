"""What became of runs, what is missing, who changed what: as bars, in dialogs, and each with its way back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from services.commands.schedules import ScheduleCommands
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Past, Schedule, Tally
from services.ports import ScheduleEntry
from tests.support.widgets import words
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.confirm import ConfirmDialog
from views.pages.schedules import runs
from views.pages.schedules.backfill import BackfillDialog
from views.pages.schedules.editor import ScheduleDialog
from views.pages.schedules.page import SchedulesPage
from views.pages.schedules.table import COLUMNS
from views.pages.schedules.versions import VersionsDialog

DAY_MS = 86_400_000
WAIT_MS = 10_000


@pytest.fixture
def shops(fleet: Fleet) -> int:
    """Four shops."""
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"s{number}", name=f"Shop {number}") for number in range(4)])
    fleet.engine.registry.forget()
    return 4


def plan(fleet: Fleet, name: str = "nightly", **fields: Any) -> None:
    """A schedule of every night."""
    base = {"name": name, "task_type": "sync_order", "cron": "30 2 * * *", "all_shops": True, "zone": "UTC"}
    fleet.context.commands.schedules.add(Schedule(**(base | fields)))


def opened(qtbot: QtBot, fleet: Fleet) -> BackfillDialog:
    """The dialog of its missed runs."""
    row = fleet.context.schedules.row("nightly")
    assert row is not None
    dialog = BackfillDialog(fleet.context, row)
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


def of_old(fleet: Fleet, name: str, *past: Past, days: int = 20) -> None:
    """Let it be there for so many days, with such a past."""
    entry = next(one for one in fleet.store.schedules() if one.name == name)
    planned = schedules.load(entry.body)
    made = msgspec.structs.replace(planned.schedule, created_at=fleet.store.now_ms() - days * DAY_MS)
    planned = schedules.with_past(msgspec.structs.replace(planned, schedule=made), *past)
    body = schedules.dump(planned)
    fleet.store.put_schedule(ScheduleEntry(name=name, body=body, next_at=entry.next_at), entry.version)


def open_page(qtbot: QtBot, fleet: Fleet) -> SchedulesPage:
    """The page with what there is."""
    page = SchedulesPage(fleet.context)
    qtbot.addWidget(page)
    page.resize(1400, 600)
    with qtbot.waitSignal(page.refreshed, timeout=WAIT_MS):
        page.show()
        page.activate()
    return page


def test_a_bar_says_what_became_of_a_run_and_opens_its_tasks(
    qtbot: QtBot, fleet: Fleet, shops: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(fleet)
    tally = fleet.context.commands.schedules.run("nightly")
    for task in fleet.context.batches.tasks(tally.label):
        fleet.finish(task.task_id)
    now = fleet.store.now_ms()
    late = Past(at=now - 3 * DAY_MS, began=now - 3 * DAY_MS + 120_000)
    skipped = Past(at=now - DAY_MS, kind="skipped", by="ann")
    of_old(fleet, "nightly", late, Past(at=now - 2 * DAY_MS, kind="missed"), skipped)
    page = open_page(qtbot, fleet)
    (row,) = page.table.records.records()
    assert runs.summary(row) == "1 no task was needed, 1 missed, 1 skipped, 1 done"
    told = runs.lines(row, now).split("\n")
    assert told[0].endswith(f"done, 4 done, by hand, {fleet.context.commands.operator.who}")
    assert told[1].endswith("skipped, ann")
    assert told[3].endswith("no task was needed, 2\u202fmin late")
    section = [column.key for column in page.table.records.columns].index("runs")
    left, top = page.table.columnViewportPosition(section) + 8, page.table.rowViewportPosition(0) + 12
    spot = QPoint(left + 3 * runs.STEP + 2, top)
    monkeypatch.setattr(QCursor, "pos", lambda: page.table.viewport().mapToGlobal(spot))
    with qtbot.waitSignal(page.navigate) as asked:
        qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert asked.args[0] == "tasks"
    assert tally.label in asked.args[1]
    menu = QMenu()
    page.table.menu_requested.emit(menu, "nightly")
    past = next(action.menu() for action in menu.actions() if action.text() == "Last runs")
    assert isinstance(past, QMenu)
    assert [action.isEnabled() for action in past.actions()] == [True, False, False, False]
    page.deactivate()


def test_missing_runs_are_shown_before_they_are_made_up_for(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet)
    of_old(fleet, "nightly")
    fleet.succeed("pdd", "s0", "sync_order")
    dialog = opened(qtbot, fleet)
    dialog.span.choose("7")
    qtbot.waitUntil(lambda: dialog.plan is not None, timeout=WAIT_MS)
    plan_ = dialog.plan
    assert plan_ is not None
    assert plan_.tasks == 3, "one has succeeded since"
    assert dialog.make.text() == "Create 3 tasks"
    dialog.each.toggle()
    assert not dialog.make.isEnabled(), "what would be made now was not seen yet"
    dialog.each.toggle()
    qtbot.waitUntil(dialog.make.isEnabled, timeout=WAIT_MS)
    dialog.each.click()
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.tasks > 20, timeout=WAIT_MS)
    dialog.each.click()
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.tasks < 5, timeout=WAIT_MS)
    assert fleet.context.tasks.page("status:waiting").tasks == ()
    with qtbot.waitSignal(dialog.wanted, timeout=WAIT_MS) as wanted:
        dialog.make.click()
    span = wanted.args[0]
    assert (span.tasks, (span.since, span.until)) == (plan_.tasks, dialog.bounds())
    assert not dialog.isVisible()
    made = fleet.context.commands.schedules.backfill("nightly", span.since, span.until, each=span.each)
    assert made.created == plan_.tasks
    again = opened(qtbot, fleet)
    again.span.choose("1")
    qtbot.waitUntil(lambda: again.plan is not None, timeout=WAIT_MS)
    assert (again.make.isEnabled(), again.make.toolTip()) == (False, "Nothing is missing in this span.")
    assert words(again).count("Nothing is missing in this span.") == 1


def test_where_no_run_is_there_that_is_said_in_place_of_an_empty_table(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet)
    dialog = opened(qtbot, fleet)
    dialog.span.choose("1")
    qtbot.waitUntil(lambda: dialog.plan is not None, timeout=WAIT_MS)
    assert not dialog.table.isVisible()
    assert words(dialog).count("Nothing is missing in this span.") == 1


def test_what_is_made_up_for_waits_for_a_moment_and_can_be_taken_back(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet)
    of_old(fleet, "nightly")
    page = open_page(qtbot, fleet)
    page.table.set_current_key("nightly")

    def make() -> None:
        page.buttons["backfill"].click()
        dialog = page.findChildren(BackfillDialog)[-1]
        dialog.span.choose("7")
        qtbot.waitUntil(dialog.make.isEnabled, timeout=WAIT_MS)
        dialog.make.click()

    make()
    held = fleet.toasts[-1]
    assert (held.text, [action.text for action in held.actions]) == (
        "nightly makes up for 4 tasks in 5 s",
        ["Undo", "Send now"],
    )
    make()
    assert fleet.toasts[-1].text == "That is about to happen already."
    held.actions[0].call()
    assert fleet.toasts[-1].text == "Taken back; nothing was changed."
    assert fleet.context.tasks.page("").tasks == ()
    make()
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        fleet.toasts[-1].actions[1].call()
    assert fleet.toasts[-1].text == "Created: 4 tasks"
    assert len(fleet.context.tasks.page("").tasks) == 4
    page.deactivate()


def test_what_could_not_be_made_up_for_is_asked_again_as_it_was(
    qtbot: QtBot, fleet: Fleet, shops: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(fleet)
    of_old(fleet, "nightly")
    page = open_page(qtbot, fleet)
    page.table.set_current_key("nightly")
    page.buttons["backfill"].click()
    (dialog,) = page.findChildren(BackfillDialog)
    dialog.span.choose("7")
    dialog.each.click()
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.tasks > 20, timeout=WAIT_MS)
    bounds = dialog.bounds()
    dialog.make.click()
    monkeypatch.setattr(ScheduleCommands, "backfill", gone)
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        fleet.toasts[-1].actions[1].call()
    again = next(action for action in fleet.toasts[-1].actions if action.text == "Ask again")
    again.call()
    asked = page.findChildren(BackfillDialog)[-1]
    assert asked.isVisible()
    assert (asked.bounds(), asked.each.isChecked(), asked.span.current()) == (bounds, True, "")
    page.deactivate()


def test_what_was_made_up_for_in_part_is_told_as_a_warning(
    qtbot: QtBot, fleet: Fleet, shops: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(fleet)
    of_old(fleet, "nightly")
    page = open_page(qtbot, fleet)
    page.table.set_current_key("nightly")
    monkeypatch.setattr(ScheduleCommands, "backfill", lambda *_given, **_more: Tally(created=3, failed=1))
    page.buttons["backfill"].click()
    (dialog,) = page.findChildren(BackfillDialog)
    dialog.span.choose("7")
    qtbot.waitUntil(dialog.make.isEnabled, timeout=WAIT_MS)
    dialog.make.click()
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        fleet.toasts[-1].actions[1].call()
    assert (fleet.toasts[-1].status, "1" in fleet.toasts[-1].text) == ("warning", True)
    page.deactivate()


def gone(*_given: object, **_more: object) -> None:
    raise StoreUnavailable("gone")


def test_a_span_that_the_ledger_does_not_tell_is_refused_in_words(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet)
    dialog = opened(qtbot, fleet)
    dialog.since.setDateTime(dialog.since.dateTime().addDays(-60))
    qtbot.waitUntil(lambda: "the ledger tells runs of the last 31 days" in dialog.words.text(), timeout=WAIT_MS)
    assert not dialog.make.isEnabled()


def test_more_than_the_limit_asks_for_the_number(qtbot: QtBot, fleet: Fleet) -> None:
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"s{number}") for number in range(501)])
    fleet.engine.registry.forget()
    plan(fleet)
    of_old(fleet, "nightly")
    dialog = opened(qtbot, fleet)
    qtbot.waitUntil(lambda: dialog.plan is not None, timeout=WAIT_MS)
    dialog.make.click()
    (asked,) = dialog.findChildren(ConfirmDialog)
    assert not asked.verb_button.isEnabled()
    assert fleet.context.tasks.page("").tasks == ()


def test_a_change_is_told_and_put_back(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet, payload={"password": "s3cr3t-s3cr3t", "page_size": 5})
    plan_then = fleet.context.schedules.row("nightly")
    changed = {"cron": "0 4 * * *", "payload": {"password": "s3cr3t-s3cr3t", "page_size": 9}}
    assert plan_then is not None
    fleet.context.commands.schedules.add(msgspec.structs.replace(plan_then.schedule, **changed), replace=True)
    page = open_page(qtbot, fleet)
    page.table.set_current_key("nightly")
    page.actions_of_page.versions(page.current())  # type: ignore[arg-type]
    (dialog,) = page.findChildren(VersionsDialog)
    qtbot.waitUntil(lambda: dialog.model.rowCount() == 2, timeout=WAIT_MS)
    assert dialog.words.text().startswith("Cron: 30 2 * * * → 0 4 * * *")
    assert "s3cr3t" not in dialog.words.text()
    assert dialog.revert.isEnabled()
    with qtbot.waitSignal(dialog.reverted, timeout=WAIT_MS):
        dialog.revert.click()
    row = fleet.context.schedules.row("nightly")
    assert row is not None
    assert (row.schedule.cron, row.schedule.payload) == ("30 2 * * *", {"password": "s3cr3t-s3cr3t", "page_size": 5})
    assert fleet.store.audit(1)[0].action == "schedule.change"
    page.deactivate()


def test_a_viewer_sees_changes_and_puts_nothing_back(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet)
    row = fleet.context.schedules.row("nightly")
    assert row is not None
    fleet.context.commands.schedules.add(msgspec.structs.replace(row.schedule, note="x"), replace=True)
    dialog = VersionsDialog(fleet.context, row, "You may only look")
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.model.rowCount() == 2, timeout=WAIT_MS)
    assert not dialog.revert.isEnabled()


def test_collisions_are_told_before_it_is_kept_and_in_the_list(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet, "orders")
    plan(fleet, "more", shops=("pdd:s1",), all_shops=False)
    page = open_page(qtbot, fleet)
    told = {row.schedule.name: [one.code for one in row.conflicts] for row in page.table.records.records()}
    assert told == {"more": ["schedule.same_work"], "orders": ["schedule.same_work"]}
    page.resize(1084, 640)  # as wide as it is in a window of 1280
    model, note = page.table.model(), [one.key for one in COLUMNS].index("note")
    assert not page.table.isColumnHidden(note)
    assert "the same work, created twice for 1 shop" in str(model.index(0, note).data())
    dialog = ScheduleDialog(fleet.context, page.current())
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: "the same work, created twice for 1 shop" in dialog.conflicts.accessibleName())
    page.deactivate()


def test_a_span_is_chosen_again_after_another_one_was_typed(qtbot: QtBot, fleet: Fleet, shops: int) -> None:
    plan(fleet)
    dialog = opened(qtbot, fleet)
    begin = dialog.since.dateTime()
    assert dialog.span.current() == "3"
    dialog.since.setDateTime(begin.addDays(1))
    assert dialog.span.current() == ""
    dialog.span.choose("3")
    assert (dialog.span.current(), dialog.since.dateTime()) == ("3", begin)
