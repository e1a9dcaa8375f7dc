"""The New task dialog over a real engine: tasks for several shops from the form and from raw JSON."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

import pytest
from msgspec import structs
from PySide6.QtCore import QDate, QDateTime, Qt, QTime, QTimeZone
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QLineEdit, QMenu, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from services import i18n
from services.clock import ManualClock
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.insight.forecast import durations
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.mask import DOTS
from services.domain.text.refusals import UNSURE
from services.domain.text.said import said
from services.engine.spec import Submitted
from tests.support.widgets import find, press, words
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.frame import Scrim
from views.dialogs.name import NameDialog
from views.dialogs.new_task.dialog import NewTaskDialog
from views.dialogs.new_task.draft import ALL, Draft, missing
from views.dialogs.schema.form import ChoicesInput, LineInput
from views.support import shown
from views.support.instant import ticks
from views.support.look import Label
from views.widgets.buttons import LinkLabel
from views.widgets.strip import Strip

Open = Callable[..., NewTaskDialog]
SHOPS = ("pdd:pdd-10021", "pdd:pdd-10025", "pdd:pdd-10048")
PREFILL = {"platform": "pdd", "task_type": "sync_order", "shops": list(SHOPS), "payload": '{"page_size": 50}'}


@pytest.fixture
def open_dialog(qtbot: QtBot, fleet: Fleet) -> Open:
    """Opens the dialog, once it knows shops and types."""

    def make(prefill: dict[str, object] | None = None, window: QWidget | None = None) -> NewTaskDialog:
        dialog = NewTaskDialog(fleet.context, prefill, window)
        if window is None:
            qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
        return dialog

    return make


def tasks(fleet: Fleet) -> list[Task]:
    """All records."""
    return list(fleet.context.tasks.page("", sort="created", descending=False).tasks)


def test_arrows_go_over_the_ways_to_name_shops_and_a_click_goes_on_in_the_way_chosen(
    qtbot: QtBot, open_dialog: Open
) -> None:
    """The second arrow went into the field for lists, and to a file it was a way back first."""
    dialog = open_dialog()
    mode = dialog.shops.mode
    mode.setFocus()
    for way in ("paste", "file", "group"):
        qtbot.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Right)
        assert (mode.current(), dialog.focusWidget()) == (way, mode)
    mode.choose("paste")
    assert dialog.focusWidget() is dialog.shops.picker.paste.field


def type_into(qtbot: QtBot, dialog: NewTaskDialog, name: str, text: str) -> None:
    """Type into a field of the form as a person does."""
    line = dialog.parameters.form.input(name)
    assert isinstance(line, LineInput)
    line.line.clear()
    qtbot.keyClicks(line.line, text)


def test_the_form_creates_one_task_for_each_ticked_shop(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    type_into(qtbot, dialog, "page_size", "20")
    type_into(qtbot, dialog, "since", "2026-11-20")
    states = dialog.parameters.form.input("status")
    assert isinstance(states, ChoicesInput)
    states.boxes["paid"].click()
    dialog.delivery.lane.choose("high")
    assert dialog.verbs.create.text() == "Create 3 tasks"
    with qtbot.waitSignal(dialog.created):
        qtbot.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        dialog.verbs.create.click()
    made = tasks(fleet)
    assert sorted(task.shop for task in made) == sorted(SHOPS)
    wanted = {"page_size": 20, "since": "2026-11-20", "status": ["paid"]}
    assert all(json.loads(task.payload) == wanted for task in made)
    assert {(task.priority, task.lane, task.origin) for task in made} == {(10, "high", "console")}
    assert len({task.batch for task in made}) == 1
    assert not dialog.isVisible()
    assert fleet.toasts[-1].text == "3 tasks created"


def test_shops_are_counted_of_the_platform_in_view(fleet: Fleet, open_dialog: Open) -> None:
    """0 of 60 stood above a list of 30."""
    here = sum(shop.platform == "pdd" for shop in fleet.context.shops().values())
    dialog = open_dialog(PREFILL)
    assert 0 < here < len(fleet.context.shops())
    assert f"3 of {here} shops" in words(dialog.shops)
    dialog.what.platform_chosen.emit(ALL)
    assert f"3 of {len(fleet.context.shops())} shops" in words(dialog.shops)
    dialog.what.platform_chosen.emit("nowhere")
    assert "no shop of this platform is known yet" in words(dialog.shops)


def test_a_shop_that_another_page_filled_in_is_seen(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog()
    picker = dialog.shops.picker
    last = picker.model.rowCount() - 1
    dialog.resume({**PREFILL, "shops": [picker.model.key_at(last)]})
    qtbot.waitUntil(lambda: bool(dialog.draft().shops))
    row = picker.table.visualRect(picker.model.index(last, 1))
    assert picker.table.viewport().rect().contains(row.center())


def test_raw_json_edits_the_same_document_and_keeps_unknown_fields(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    dialog = open_dialog({**PREFILL, "payload": {"page_size": 50, "x-note": {"by": "hand"}}})
    type_into(qtbot, dialog, "page_size", "30")
    dialog.parameters.set_mode("json")
    shown = json.loads(dialog.parameters.editor.toPlainText())
    assert shown == {"page_size": 30, "x-note": {"by": "hand"}}
    dialog.parameters.editor.setPlainText('{"page_size": 40, "x-note": {"by": "hand"}, "since": "2026-11-01"}')
    dialog.parameters.set_mode("form")
    since = dialog.parameters.form.input("since")
    assert isinstance(since, LineInput)
    assert since.line.text() == "2026-11-01"
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    wanted = {"page_size": 40, "x-note": {"by": "hand"}, "since": "2026-11-01"}
    assert [json.loads(task.payload) for task in tasks(fleet)] == [wanted] * 3


def test_a_wrong_value_is_told_at_its_field_and_nothing_is_created(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    dialog = open_dialog(PREFILL)
    type_into(qtbot, dialog, "page_size", "500")
    type_into(qtbot, dialog, "since", "soon")
    assert dialog.parameters.form.problem_of("page_size") == "must be at most 100"
    assert dialog.parameters.form.problem_of("since") == "must be a day such as 2026-11-22, not soon"
    assert not dialog.verbs.create.isEnabled()
    assert dialog.verbs.missing.text() == "Fix 2 errors first"
    dialog._on_create()
    assert tasks(fleet) == []
    type_into(qtbot, dialog, "page_size", "many")
    assert dialog.parameters.form.problem_of("page_size") == "must be of type integer"
    assert dialog._form.next_problem()
    dialog.parameters.set_mode("json")
    problems = {problem.line for problem in dialog.parameters.editor.problems()}
    assert len(problems) == 2, "each stands at its own line"


def test_a_required_field_is_asked_for_and_red_only_after_a_try(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "batch_reply", "shops": list(SHOPS)})
    assert dialog.parameters.form.problem_of("text") == "", "nobody typed anything yet"
    assert dialog.parameters.problems() == 0
    assert dialog.parameters._state.words() == "1 field to fill in"
    assert dialog.verbs.missing.text() == "Fill in Reply"
    assert dialog.verbs.missing.property("tone") == "text2"
    dialog.verbs.create.click()
    assert dialog.parameters.form.problem_of("text") == "is missing"
    assert (dialog.verbs.missing.text(), dialog.verbs.missing.property("tone")) == ("Fix 1 error first", "dead")
    assert tasks(fleet) == []
    type_into(qtbot, dialog, "text", "Thank you")
    assert dialog.parameters.form.problem_of("text") == ""
    assert dialog.verbs.create.isEnabled()


def test_a_required_field_that_was_emptied_is_red_at_once(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "batch_reply", "shops": list(SHOPS)})
    type_into(qtbot, dialog, "text", "x")
    line = dialog.parameters.form.input("text")
    assert isinstance(line, LineInput)
    qtbot.keyClick(line.line, Qt.Key.Key_Backspace)
    assert dialog.parameters.form.problem_of("text") == "is missing"
    dialog.what.types.setCurrentIndex(dialog.what.types.findData("single_product"))
    assert dialog.parameters.problems() == 0, "another type starts clean"


def test_raw_json_is_not_red_before_it_was_typed_into(open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "batch_reply", "shops": list(SHOPS)})
    dialog.parameters.set_mode("json")
    assert dialog.parameters.editor.problems() == ()
    dialog.parameters.editor.setPlainText('{"limit": 3}')
    assert [problem.text for problem in dialog.parameters.editor.problems()] == ["text: is missing"]


def test_f8_goes_round_through_shops_parameters_and_delivery(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    dialog.activateWindow()
    dialog.shops.mode.choose("paste")
    dialog.shops.picker.paste.show_lines(["pdd-10021", "nobody here"])
    type_into(qtbot, dialog, "page_size", "500")
    dialog.delivery.start.choose("later")
    dialog.delivery.minutes.setText("")
    assert [part._errors for part in (dialog.shops, dialog.parameters, dialog.delivery)] == [1, 1, 1]
    size = dialog.parameters.form.input("page_size")
    assert isinstance(size, LineInput)
    stops = [dialog.shops.picker.paste.field, size.line, dialog.delivery.minutes, dialog.shops.picker.paste.field]
    for stop in stops:
        qtbot.keyClick(dialog, Qt.Key.Key_F8)
        assert dialog.focusWidget() is stop
    assert dialog.shops.picker.paste.field.textCursor().blockNumber() == 1


def test_a_group_ticks_its_shops_and_follows_them(fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "get_content"})
    groups = dialog.shops.picker.groups.model
    wanted = {key for key, shop in fleet.context.shops().items() if (shop.platform, shop.group) == ("pdd", "数码")}
    groups.toggle(groups.row_of("pdd/数码"))
    assert set(dialog.draft().shops) == wanted
    assert groups.ticked() == {"pdd/数码"}
    dialog.shops.picker.model.set_ticked([next(iter(wanted))], on=False)
    assert groups.ticked() == frozenset(), "it is whole no more"
    groups.toggle(groups.row_of("pdd/"))
    assert {key.partition(":")[0] for key in dialog.draft().shops} == {"pdd"}
    assert "pdd/数码" in groups.ticked()
    groups.toggle(groups.row_of("pdd/"))
    assert dialog.draft().shops == ()


def test_the_result_is_told_in_numbers_before_anything_is_created(fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "get_content"})
    shops = fleet.context.shops()
    dialog.shops.picker.tick(tuple(key for key, shop in shops.items() if shop.platform == "pdd"))
    own = sum(shop.dedicated for shop in shops.values() if shop.platform == "pdd")
    facts = dialog.forecast.facts()
    assert facts["Dedicated queues"] == str(own)
    assert facts["Lane Normal 6"] == str(len(dialog.draft().shops) - own)
    assert facts["First starts"] == "when a worker runs"
    fleet.heartbeat("rpa-01", slots=4, busy=0)
    snapshot = dataclasses.replace(fleet.context.feed.latest, workers=(fleet.heartbeat("rpa-01", slots=4, busy=0),))
    dialog.forecast.show_outlook(dialog.draft(), dialog.what.kind(), shops, snapshot, durations.declared(30))
    assert "Likely all done" in dialog.forecast.facts()
    dialog.forecast.show_outlook(dialog.draft(), dialog.what.kind(), shops, snapshot)
    assert "Likely all done" not in dialog.forecast.facts(), "nobody knows how long one takes"
    full = dataclasses.replace(snapshot, broker=BrokerHealth(connected=True, blocked=True, why="low on memory"))
    dialog.forecast.show_outlook(dialog.draft(), dialog.what.kind(), shops, full)
    assert dialog.forecast.facts()["First starts"] == "once the broker takes messages"
    assert "Likely all done" not in dialog.forecast.facts()


def test_what_could_not_start_now_is_told_with_its_reason(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    sessions, fleet_now = fleet.context.commands.sessions, fleet.context.commands.fleet
    names = {key: shop.name for key, shop in fleet.context.shops().items()}
    worker = fleet.heartbeat("rpa-01", slots=4, busy=0)
    sessions.close(SHOPS[0], kind="login_expired")
    dialog = open_dialog(PREFILL)
    barred = dialog.forecast.barred
    qtbot.waitUntil(lambda: barred.lead() == "1 of 3 tasks cannot start now")
    assert f"Needs login: {names[SHOPS[0]]}" in words(barred)
    snapshot = dataclasses.replace(fleet.context.feed.latest, workers=(worker,))
    usual = durations.declared(30)
    dialog.forecast.show_outlook(dialog.draft(), dialog.what.kind(), fleet.context.shops(), snapshot, usual)
    assert "The others likely done" in dialog.forecast.facts()
    fleet_now.pause("platform:pdd", reason="sale")
    qtbot.waitUntil(lambda: barred.lead() == "3 of 3 tasks cannot start now", timeout=10_000)
    dialog.forecast.show_outlook(dialog.draft(), dialog.what.kind(), fleet.context.shops(), snapshot)
    assert dialog.forecast.facts()["First starts"] == "once one may start"
    dialog.delivery.start.choose("later")
    qtbot.waitUntil(lambda: not barred.isVisibleTo(dialog), timeout=10_000)  # of then nobody knows
    dialog.delivery.start.choose("now")
    qtbot.waitUntil(lambda: barred.lead() == "3 of 3 tasks cannot start now", timeout=10_000)
    fleet_now.resume("platform:pdd")
    sessions.open(SHOPS[0])
    qtbot.waitUntil(lambda: not barred.isVisibleTo(dialog), timeout=10_000)


def test_the_forecast_goes_by_what_was_measured_and_says_where_nothing_was(open_dialog: Open, fleet: Fleet) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "get_content"})
    kind, shops, latest = dialog.what.kind(), fleet.context.shops(), fleet.context.feed.latest
    said = {}
    for name, usual in (
        ("measured", durations.measured(range(200, 300, 5))),
        ("declared", durations.declared(30)),
        ("", durations.NOTHING),
    ):
        dialog.forecast.show_outlook(dialog.draft(), kind, shops, latest, usual)
        said[name] = dialog.forecast.facts()["One takes"].replace("\u202f", " ")
    assert said == {"measured": "3–5 min", "declared": "30 s, says its type", "": "not measured yet"}


def test_each_message_can_be_looked_at(open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    preview = dialog.forecast.preview
    assert "pdd-10021" in preview.code.toPlainText()
    assert not preview.before.isEnabled()
    preview.after.click()
    preview.after.click()
    assert "pdd-10048" in preview.code.toPlainText()
    assert preview._place.text() == "3 of 3"
    assert not preview.after.isEnabled()


def test_a_time_of_the_fleet_makes_scheduled_tasks(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    shown.set_zone("Asia/Shanghai")
    try:
        dialog = open_dialog({**PREFILL, "shops": ["pdd-10021"]})
        dialog.delivery.start.choose("at")
        assert any(more.text() == "UTC+8" for _n, _t, more, _note in dialog.delivery._titles)
        dialog.delivery.time.setDateTime(QDateTime(QDate(2020, 1, 1), QTime(8, 0), QTimeZone.utc()))
        assert dialog.verbs.missing.text() == "The time is past"
        year = shown.moment(fleet.store.now_ms()).year + 1
        dialog.delivery.time.setDateTime(QDateTime(QDate(year, 1, 2), QTime(8, 0), QTimeZone.utc()))
        with qtbot.waitSignal(dialog.created):
            dialog.verbs.create.click()
        (task,) = tasks(fleet)
        wanted = datetime(year, 1, 2, 0, 0, tzinfo=UTC)
        assert (task.status, task.due_at) == (Status.SCHEDULED, round(wanted.timestamp() * 1000))
    finally:
        shown.set_zone("")


def test_tasks_can_wait_for_others(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    (first,) = fleet.context.commands.tasks.create(
        [TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="get_content")], origin="cli"
    ).created
    dialog = open_dialog(PREFILL)
    after = dialog.delivery.after
    after.line.setText(f"{first.task_id}, nobody")
    assert dialog.draft().depends_on == (first.task_id,), "half a word means nobody yet"
    assert not dialog.verbs.create.isEnabled()
    assert dialog.verbs.missing.text() == "After: choose what nobody means, or press Enter to take it as it is"
    qtbot.keyClick(after.line, Qt.Key.Key_Return)
    assert dialog.draft().depends_on == (first.task_id, "nobody")
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert dialog.isVisible()
    assert "there is no task or task type 'nobody'" in dialog.verbs.missing.text()
    assert dialog.delivery._errors == 1
    after.clear()
    dialog.delivery.after.line.setText(f"{first.task_id}，{first.task_id}")
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    made = [task for task in tasks(fleet) if task.task_type == "sync_order"]
    assert [tuple(task.depends_on) for task in made] == [(first.task_id,)] * 3
    assert {task.gate for task in made} == {"dependency"}


def test_what_was_chosen_to_wait_for_is_seen(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    after = dialog.delivery.after
    after.line.setFocus()
    for word in ("sync_order", "get_content", "refresh_goods", *(f"of_another_program_{at:040}" for at in range(9))):
        after.line.setText(word)
        qtbot.keyClick(after.line, Qt.Key.Key_Return)
        chip = after.chips[word]
        qtbot.waitUntil(lambda chip=chip: chip.visibleRegion().boundingRect() == chip.rect())


def test_what_they_wait_for_is_found_by_type_and_shop_and_is_a_chip(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    specs = [
        TaskSpec(platform="pdd", shop_id=shop, task_type=kind)
        for shop in ("pdd-10021", "pdd-10025")
        for kind in ("get_content", "refresh_goods")
    ]
    made = fleet.context.commands.tasks.create(specs, origin="cli").created
    wanted = next(task for task in made if (task.shop_id, task.task_type) == ("pdd-10025", "refresh_goods"))
    dialog = open_dialog(PREFILL)
    after = dialog.delivery.after
    after.line.setFocus()
    qtbot.keyClicks(after.line, "goods pdd-10025")
    qtbot.waitUntil(lambda: bool(after.offered()))
    assert [task.task_id for task in after.offered()] == [wanted.task_id]
    after.take(0)
    assert dialog.delivery.depends_on() == (wanted.task_id,)
    qtbot.keyClick(after.line, Qt.Key.Key_Backspace)
    assert dialog.delivery.depends_on() == ()
    after.take(0)
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert {tuple(task.depends_on) for task in tasks(fleet) if task.task_type == "sync_order"} == {(wanted.task_id,)}


def test_they_can_wait_for_what_is_open_of_a_type(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    ticked = [shop.partition(":")[2] for shop in SHOPS]
    first, second = fleet.context.commands.tasks.create(
        [TaskSpec(platform="pdd", shop_id=ticked[0], task_type="get_content", payload={"n": n}) for n in (1, 2)],
        origin="cli",
    ).created
    dialog = open_dialog(PREFILL)
    after = dialog.delivery.after
    after.line.setFocus()
    qtbot.keyClicks(after.line, "get_con")
    qtbot.waitUntil(lambda: len(after.offered()) == 2)
    after.take(0)
    assert dialog.delivery.depends_on() == ("get_content",)
    facts = dialog.forecast.facts
    qtbot.waitUntil(lambda: "After get_content" in facts())
    assert facts()["After get_content"] == "1 waits for 2 tasks, 2 have none open"
    after.remove("get_content")
    qtbot.waitUntil(lambda: "After get_content" not in facts())
    after.line.setText("获取页面内容")
    qtbot.keyClick(after.line, Qt.Key.Key_Return)
    assert list(after.chips) == ["get_content"]
    dialog.verbs.keep.click()
    (asked,) = dialog.findChildren(NameDialog)
    asked.field.setText("after")
    asked.done_button.click()
    kept = dialog.templates.all()["after"]
    assert (kept["delivery"]["after"], kept["after"]) == (["get_content"], False)
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    made = {task.shop_id: set(task.depends_on) for task in tasks(fleet) if task.task_type == "sync_order"}
    assert made == {ticked[0]: {first.task_id, second.task_id}, ticked[1]: set(), ticked[2]: set()}


@pytest.mark.parametrize(
    ("words", "problem"),
    [("soon", "Write a time such as"), ("today 00:00", "The time is past"), ("in 5 min", "before the start")],
)
def test_a_deadline_that_is_none_keeps_tasks_from_being_created(open_dialog: Open, words: str, problem: str) -> None:
    dialog = open_dialog(PREFILL)
    dialog.delivery.start.choose("later")
    dialog.delivery.deadline.line.setText(words)
    assert problem in dialog.verbs.missing.text()
    assert not dialog.verbs.create.isEnabled()


def test_a_deadline_in_words_is_an_instant_of_each_task(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    dialog.delivery.deadline.line.setText("in 2 h")
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    now = fleet.store.now_ms()
    assert all(abs(task.deadline - now - 7_200_000) < 60_000 for task in tasks(fleet))


def test_times_in_words_go_by_the_clock_of_the_fleet(open_dialog: Open) -> None:
    fleet = ManualClock()  # this computer's is wrong by months
    ticks().follow(fleet)
    dialog = open_dialog(PREFILL)
    dialog.delivery.deadline.line.setText("in 2 h")
    assert abs(dialog.delivery.deadline.at_ms() - fleet.now_ms() - 7_200_000) < 60_000
    assert not dialog.delivery.problem()


def test_what_repeats_is_kept_as_a_schedule(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    dialog.delivery.start.choose("repeat")
    dialog.delivery.repeat.setText("sometimes")
    assert "not clear how often" in dialog.verbs.missing.text()
    dialog.delivery.repeat.setText("30m")
    first = dialog.delivery.first_run()
    assert first is not None
    assert abs(first - fleet.store.now_ms() - 1_800_000) < 60_000
    assert ":" in dialog.forecast.facts()["First starts"], "a time, and not 'at once'"
    assert "Likely all done" not in dialog.forecast.facts()
    dialog.delivery.repeat.setText("工作日 9:00")
    assert dialog.forecast.facts()["First starts"].endswith(("09:00:00", "09:00", "at its next time"))
    assert dialog.verbs.create.text() == "Repeat for 3 shops"
    dialog.verbs.create.click()
    (asked,) = dialog.findChildren(NameDialog)
    asked.field.setText("morning")
    asked.done_button.click()
    qtbot.waitUntil(lambda: not dialog.isVisible())
    row = fleet.context.schedules.row("morning")
    assert row is not None
    assert (row.schedule.cron, row.schedule.shops, row.schedule.payload) == ("0 9 * * 1-5", SHOPS, {"page_size": 50})
    assert tasks(fleet) == []
    press(fleet.toasts[-1], "Undo")
    qtbot.waitUntil(lambda: fleet.context.schedules.row("morning") is None)


def seen(dialog: NewTaskDialog) -> list[QLineEdit]:
    return [one for one in dialog.findChildren(QLineEdit) if one.isVisible()]


def test_the_keyboard_goes_through_the_form_as_it_is_read_and_sees_where_it_is(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    dialog.resize(900, 560)
    qtbot.waitUntil(lambda: any(one.accessibleName() == "Page size" for one in seen(dialog)))
    dialog.what.platforms.setFocus()
    walked: list[QWidget] = []
    hidden = []
    for _ in range(80):
        at = dialog.focusWidget()
        assert at is not None
        if at in walked:
            break
        walked.append(at)
        if at.visibleRegion().isEmpty():
            hidden.append(at.accessibleName())
        qtbot.keyClick(at, Qt.Key.Key_Tab)
    assert hidden == []
    field = next(one for one in walked if one.accessibleName() == "Page size")
    stops = [dialog.what.platforms, dialog.what.types, dialog.parameters.mode, field, dialog.delivery.lane]
    assert [one for one in walked if one in stops] == stops
    dialog.delivery.after.line.setFocus()
    dialog.from_template.setFocus()
    qtbot.keyClick(dialog.from_template, Qt.Key.Key_Tab)
    assert not dialog.focusWidget().visibleRegion().isEmpty()


@pytest.mark.parametrize("mode", ["repeat", "now"])
def test_a_wrong_deadline_is_marked_at_the_deadline(qtbot: QtBot, open_dialog: Open, mode: str) -> None:
    dialog = open_dialog(PREFILL)
    dialog.delivery.start.choose(mode)
    deadline, often = dialog.delivery.deadline.line, dialog.delivery.repeat
    deadline.setText("in 2 h" if mode == "repeat" else "soon")
    said = dialog.verbs.missing.text()
    assert said
    assert (deadline.property("invalid"), often.property("invalid")) == ("true", "false")
    assert deadline.accessibleDescription() == said
    qtbot.keyClick(dialog, Qt.Key.Key_F8)
    assert dialog.focusWidget() is deadline
    deadline.clear()
    assert (deadline.property("invalid"), dialog.verbs.missing.text()) == ("false", "")


def test_a_form_is_kept_as_a_template_and_filled_in_again(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog({**PREFILL, "priority": 9, "payload": {"page_size": 20, "token": "s3cr3t-s3cr3t"}})
    dialog.delivery.deadline.line.setText("in 2 h")
    dialog.verbs.keep.click()
    (asked,) = dialog.findChildren(NameDialog)
    asked.field.setText("orders")
    asked.done_button.click()
    assert "s3cr3t" not in json.dumps(fleet.context.memory.get("newtask.templates"))
    assert dialog.notice.isVisible()
    assert dialog.notice.accessibleName() == "Template orders is kept: under From template"
    dialog.start_over()
    other = open_dialog()
    menu = QMenu()
    other.templates.fill(menu)
    menu.actions()[0].trigger()
    draft = other.draft()
    assert (draft.task_type, draft.shops, draft.priority, draft.payload["page_size"]) == ("sync_order", SHOPS, 9, 20)
    assert other.delivery.deadline.line.text() == "in 2 h"
    other.templates.rename("orders", "all orders")
    assert list(other.templates.all()) == ["all orders"]
    other.templates.remove("all orders")
    other.templates.fill(menu)
    assert [action.isEnabled() for action in menu.actions()] == [False]


def test_a_draft_outlives_the_program(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    """Also one that ended by nobody's will: it is kept while it is typed, without its secrets."""
    (other,) = fleet.context.commands.tasks.create(
        [TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="get_content")], origin="cli"
    ).created
    memory, place = fleet.context.memory, fleet.context.own("newtask.draft")
    dialog = open_dialog({**PREFILL, "priority": 9, "payload": {"page_size": 20, "token": "s3cr3t-s3cr3t"}})
    then = fleet.store.now_ms() // 1000 * 1000 + 7_200_000
    dialog.delivery.set_at(then)
    dialog.delivery.after.add_all([other.task_id, "refresh_goods"])
    qtbot.waitUntil(lambda: (memory.get(place) or {}).get("depends_on") == [other.task_id, "refresh_goods"])
    assert "s3cr3t" not in json.dumps(memory.get(place))
    assert open_dialog().draft().shops == (), "the draft of this run is in its own window"

    memory.put(place, {**memory.get(place), "run": "the one before"})
    again = open_dialog()
    draft = again.draft()
    assert (draft.task_type, draft.shops, draft.priority, draft.payload["page_size"]) == ("sync_order", SHOPS, 9, 20)
    assert (draft.at_ms, set(draft.depends_on)) == (then, {other.task_id, "refresh_goods"})
    assert "is here again" in again.notice.accessibleName()
    assert any("type them where the dots stand" in one.accessibleName() for one in again.what.findChildren(Strip))
    again.verbs.discard.click()
    assert not memory.get(place)
    other_page = open_dialog(PREFILL)
    qtbot.waitUntil(lambda: bool(memory.get(place)))
    with qtbot.waitSignal(other_page.created):
        other_page.verbs.create.click()
    assert not memory.get(place), "it is created"


def test_a_draft_outlives_its_window_as_where_the_connection_is_switched(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    memory, place, window = fleet.context.memory, fleet.context.own("newtask.draft"), QWidget()
    open_dialog({**PREFILL, "priority": 9}, window)
    qtbot.waitUntil(lambda: bool(memory.get(place)))
    assert open_dialog().draft().shops == (), "it is still there"
    delete(window)
    again = open_dialog()
    assert (again.draft().shops, again.draft().priority) == (SHOPS, 9)
    assert "is here again" in again.notice.accessibleName()


def test_a_draft_of_which_tasks_were_created_is_none_that_was_left(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    memory, place = fleet.context.memory, fleet.context.own("newtask.draft")
    fleet.context.commands.tasks.create(
        [TaskSpec(platform="pdd", shop_id=SHOPS[0].partition(":")[2], task_type="sync_order")], origin="cli"
    )
    dialog = open_dialog(PREFILL)
    with qtbot.waitSignal(dialog.created) as created:
        dialog.verbs.create.click()
    (result,) = created.args
    assert result.created
    assert result.duplicates
    dialog.reject()
    assert not memory.get(place)
    dialog.open()
    dialog.verbs.back.click()
    dialog.delivery.priority.set_value(2)
    dialog.reject()
    assert memory.get(place), "another one was begun"


def kept(fleet: Fleet, dialog: NewTaskDialog, name: str, **fields: object) -> None:
    """Pick a template of this name that was kept with these fields."""
    usual: dict[str, object] = {"platform": "pdd", "task_type": "sync_order", "shops": list(SHOPS), "payload": {}}
    fleet.context.memory.put("newtask.templates", {name: {**usual, **fields}})
    menu = QMenu()
    dialog.templates.fill(menu)
    menu.actions()[0].trigger()


def left_out(dialog: NewTaskDialog) -> Strip:
    """What the form says of the template that was picked last."""
    (strip,) = [one for one in dialog.what.findChildren(Strip) if one.accessibleName().startswith("Template")]
    return strip


def test_secrets_are_no_part_of_a_template_and_their_dots_are_never_sent(fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog()
    kept(fleet, dialog, "orders", payload={"page_size": 20, "token": DOTS})
    assert "type them where the dots stand" in left_out(dialog).accessibleName()
    assert not dialog.verbs.create.isEnabled()
    (told,) = [one.text() for one in dialog.parameters.findChildren(Label) if "dots stand there" in one.text()]
    assert told.count("token") == 1
    dialog.parameters.set_mode("json")
    dialog.parameters.editor.setPlainText('{"page_size": 20, "token": "a-new-one"}')
    assert dialog.verbs.create.isEnabled()
    assert dialog.draft().payload == {"page_size": 20, "token": "a-new-one"}


def test_a_template_says_what_of_it_is_no_more(fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog()
    gone = [f"pdd:gone-{number}" for number in range(7)]
    kept(fleet, dialog, "old", shops=[*SHOPS, *gone], task_type="old_type", delivery={"start": "at"}, after=True)
    strip = left_out(dialog)
    assert strip.isVisible()
    for part in (
        "7 shops are no more: pdd:gone-0, pdd:gone-1, pdd:gone-2, pdd:gone-3, pdd:gone-4, …",
        "There is no task type old_type any more",
        "choose one, else the tasks start at once",
        "The tasks it came after were not kept",
    ):
        assert part in strip.accessibleName()
    assert dialog.draft().shops == SHOPS
    kept(fleet, dialog, "whole")
    assert strip.isHidden(), "of this one nothing is missing"


def test_a_template_takes_the_place_of_another_only_where_that_is_said(fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    templates = dialog.templates
    for name in ("a", "b"):
        templates.keep(name, {"task_type": name})
    templates.rename("a", "b")
    assert templates.all() == {"a": {"task_type": "a"}, "b": {"task_type": "b"}}
    templates.keep("a", {"task_type": "other"})
    dialog.notice.undo.click()
    assert templates.all()["a"] == {"task_type": "a"}
    templates.remove("b")
    assert dialog.notice.accessibleName() == "Template b is removed"
    dialog.notice.undo.click()
    assert list(templates.all()) == ["a", "b"]
    for number in range(48):
        templates.keep(f"n{number}", {})
    asked = templates.ask_name({})
    asked.field.setText("one more")
    assert not asked.done_button.isEnabled(), "fifty are kept, and none of them goes by itself"
    asked.field.setText("a")
    assert asked.done_button.isEnabled()
    asked.reject()


def test_twins_can_be_forced_from_the_form_with_a_reason(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    twin = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    fleet.context.commands.tasks.create([twin], origin="cli")
    dialog = open_dialog(PREFILL)
    qtbot.waitUntil(lambda: bool(dialog.forecast.twins.lead()))
    dialog.forecast.twins.links["force"].click()
    assert dialog.verbs.missing.text() == "Say why they must run beside the active ones"
    qtbot.keyClicks(dialog.forecast.twins.reason, "month end")
    assert dialog.verbs.create.text() == "Create 3 tasks"
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    made = tasks(fleet)
    assert len(made) == 4
    assert {task.shop for task in made if task.reason == "month end"} == {"pdd:pdd-10021"}


def test_what_the_server_refuses_is_told_at_the_field(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "single_product", "shops": list(SHOPS)})
    type_into(qtbot, dialog, "goods_id", "G0003")
    # The type grew stricter after the dialog had read it.
    body = json.loads(fleet.store.documents("type")["single_product"])
    body["schema"]["properties"]["goods_id"]["pattern"] = "^X"
    fleet.context.commands.fleet.import_types([json.dumps(body)])
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert dialog.parameters.form.problem_of("goods_id") == "must match ^X"
    assert dialog.isVisible()
    assert tasks(fleet) == []


def test_shops_can_be_pasted_in_any_form(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "get_content"})
    assert dialog.verbs.missing.text() == "Tick a shop"
    dialog.shops.mode.choose("paste")
    paste = dialog.shops.picker.paste
    temu = next(shop for shop in fleet.context.shops().values() if shop.platform == "temu")
    paste.field.setPlainText(f"pdd-10021, pdd-10025\n晨雾家居旗舰店；{temu.name_en or temu.name}\npdd-1006")
    paste.flush()
    assert dialog.what.platform() == ALL, "the list names shops of two platforms"
    assert set(dialog.draft().shops) == {*SHOPS, temu.key}
    assert paste.state.text() == "1 not found"
    find(paste, LinkLabel, "Copy them").click()
    assert QGuiApplication.clipboard().text() == "pdd-1006"
    paste.field.suggestion_taken.emit(paste.field.entries[-1])
    paste.flush()
    assert paste.field.entries[-1].shop == "pdd:pdd-10067"
    assert len(dialog.draft().shops) == 5


def test_shops_are_filtered_and_ticked_all_at_once(open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "get_content"})
    picker = dialog.shops.picker
    picker.filter.setText("数码")
    shown = picker.model.rowCount()
    assert 0 < shown < 25
    find(picker, QCheckBox, "Tick all shops of the list").click()
    assert len(dialog.draft().shops) == shown
    picker.filter.clear()
    assert len(dialog.draft().shops) == shown
    dialog.what.platforms.choose("temu")
    assert dialog.draft().shops == (), "ticks of another platform wait"
    dialog.what.platforms.choose("pdd")
    assert len(dialog.draft().shops) == shown


def test_what_is_active_already_is_announced_and_left_out(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    twin = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    fleet.context.commands.tasks.create([twin], origin="cli")
    dialog = open_dialog(PREFILL)
    qtbot.waitUntil(lambda: dialog.forecast.twins.lead() == "1 shop already has this task")
    assert dialog.verbs.create.text() == "Create 2 tasks"
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    row = dialog.outcome.duplicate("pdd:pdd-10021")
    assert row is not None
    assert len(tasks(fleet)) == 3
    with qtbot.waitSignal(dialog.tasks_wanted) as heard:
        row.watch.click()
    assert heard.args[0].startswith("id:pdd_sync_order_pdd-10021_")


def test_a_duplicate_can_be_queued_or_forced_with_a_reason(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    fleet.context.commands.tasks.create(
        [TaskSpec(platform="pdd", shop_id=shop.partition(":")[2], task_type="sync_order") for shop in SHOPS[:2]],
        origin="cli",
    )
    dialog = open_dialog(PREFILL)
    qtbot.waitUntil(lambda: dialog.forecast.twins.lead() == "2 shops already have this task")
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    first, second = dialog.outcome.duplicate(SHOPS[0]), dialog.outcome.duplicate(SHOPS[1])
    assert first is not None
    assert second is not None
    first.queue.click()
    qtbot.waitUntil(lambda: first.said.text() == "created")
    second.force.click()
    assert not second.go.isEnabled(), "a reason is due"
    qtbot.keyClicks(second.reason, "the shop asked for it")
    second.go.click()
    qtbot.waitUntil(lambda: second.said.text() == "created")
    forced = next(task for task in tasks(fleet) if task.reason)
    assert (forced.shop, forced.reason) == (SHOPS[1], "the shop asked for it")
    assert len(tasks(fleet)) == 5


def test_all_duplicates_can_be_queued_from_the_form(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    twin = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    fleet.context.commands.tasks.create([twin], origin="cli")
    dialog = open_dialog({**PREFILL, "shops": ["pdd-10021"]})
    qtbot.waitUntil(lambda: bool(dialog.forecast.twins.lead()))
    assert dialog.verbs.missing.text() == "All of them are active already"
    dialog.forecast.twins.links["queue"].click()
    assert dialog.verbs.create.text() == "Create 1 task"
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert len(tasks(fleet)) == 2
    assert not dialog.isVisible()


def test_a_delay_makes_scheduled_tasks(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog({**PREFILL, "shops": ["pdd-10021"]})
    dialog.delivery.start.choose("later")
    dialog.delivery.minutes.setText("")
    assert not dialog.verbs.create.isEnabled()
    dialog.delivery.minutes.setText("15")
    dialog.delivery.attempts.step(-3)
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    (task,) = tasks(fleet)
    assert task.status == Status.SCHEDULED
    assert 14 * 60_000 < task.due_at - task.created_at <= 15 * 60_000 + 1000
    assert task.max_retries == 0


def test_created_tasks_can_be_taken_back_or_looked_at(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    opened, undo = fleet.toasts[-1].actions
    with qtbot.waitSignal(dialog.tasks_wanted) as heard:
        opened.call()
    assert len(fleet.context.tasks.page(heard.args[0]).tasks) == 3
    undo.call()
    qtbot.waitUntil(lambda: {task.status for task in tasks(fleet)} == {Status.CANCELLED})


def test_closed_it_keeps_the_draft_until_it_is_thrown_away(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    type_into(qtbot, dialog, "page_size", "33")
    dialog.verbs.cancel.click()
    dialog.open()
    dialog.resume()
    qtbot.waitUntil(lambda: not dialog._lookup.asking)
    assert dialog.draft().payload == {"page_size": 33}
    assert dialog.draft().shops == SHOPS
    dialog.verbs.discard.click()
    assert dialog.draft().payload == {}
    assert dialog.draft().shops == ()


def test_another_prefill_replaces_the_draft(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    dialog.resume(
        {"platform": "pdd", "task_type": "get_content", "shops": ["pdd-10048"], "payload": "{}", "priority": 10}
    )
    qtbot.waitUntil(lambda: dialog.draft().task_type == "get_content")
    draft = dialog.draft()
    assert (draft.shops, draft.payload, draft.priority, draft.lane) == (("pdd:pdd-10048",), {}, 10, "high")


def test_a_production_fleet_asks_for_the_number(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    fleet.context = structs.replace(fleet.context, environment="PROD")
    dialog = NewTaskDialog(fleet.context, {"task_type": "get_content"})
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
    dialog.what.platforms.choose(ALL)
    find(dialog.shops.picker, QCheckBox, "Tick all shops of the list").click()
    dialog.verbs.create.click()
    question = dialog.findChild(ConfirmDialog)
    assert question is not None
    assert not question.verb_button.isEnabled()
    question.typed_field.setText("60")
    with qtbot.waitSignal(dialog.created):
        question.verb_button.click()
    assert fleet.store.counts().total == 60


def test_it_fits_into_a_small_window_and_dims_it(qtbot: QtBot, open_dialog: Open) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    dialog = open_dialog(PREFILL, window)
    assert dialog.width() <= 1280 - 60
    assert dialog.height() <= 800 - 60
    assert dialog.dims
    assert window.findChild(Scrim).size() == window.size()
    dialog.reject()
    assert not dialog.dims


def test_it_speaks_both_languages(open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    assert dialog.what.types.currentText().startswith("Order sync")
    i18n.set_language("zh_CN")
    assert dialog.what.types.currentText().startswith("同步订单")
    row = dialog.parameters.form._rows["page_size"]
    assert row._title.text() == "每页数量"


def test_every_control_has_a_name(open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    kinds = (QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit)
    nameless = [
        widget
        for kind in kinds
        for widget in dialog.findChildren(kind)
        if not widget.objectName().startswith("qt_")
        and not widget.accessibleName()
        and not (isinstance(widget, QAbstractButton) and widget.text())
    ]
    assert [(type(widget).__name__, widget.parentWidget()) for widget in nameless] == []


def test_the_steps_of_a_browser_flow_are_written_as_json_and_each_fault_stands_at_its_step(open_dialog: Open) -> None:
    steps = [{"do": "goto", "url": "/orders"}, {"do": "clik", "selector": "#a"}, {"do": "click"}]
    prefill = {"platform": "pdd", "task_type": "browser_flow", "shops": list(SHOPS)}
    dialog = open_dialog({**prefill, "payload": json.dumps({"steps": steps})})
    parameters = dialog.parameters
    assert parameters.mode.current() == "json"
    lines = parameters.editor.toPlainText().split("\n")
    problems = sorted(parameters.editor.problems(), key=lambda one: one.path)
    assert len(problems) == 2, problems
    assert "clik" in lines[problems[0].line - 1]
    assert "must be one of goto, click" in problems[0].text
    assert problems[1].text == "steps[2].selector: is missing"
    assert lines[problems[1].line - 1].strip().startswith("{")
    form = open_dialog({**prefill, "task_type": "screenshot"})
    assert form.parameters.mode.current() == "form"


def test_the_picker_says_what_is_true_of_a_shop(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    fleet.context.commands.sessions.close(SHOPS[0], kind="captcha")
    fleet.context.commands.fleet.pause(f"shop:{SHOPS[1]}", reason="stock-taking")
    picker = open_dialog(PREFILL).shops.picker
    rows = {row.shop.key: row for row in picker.model.records()}
    assert [rows[key].note for key in SHOPS] == ["Needs login", "Paused, beneath: Idle", ""]
    assert "A captcha waits for a person" in rows[SHOPS[0]].why
    assert rows[SHOPS[1]].why.endswith(": stock-taking")


def test_secrets_of_the_task_that_is_edited_are_dots_and_go_along(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    old = json.dumps({"page_size": 50, "shop_token": "t-0815-4711"})
    dialog = open_dialog({**PREFILL, "shops": [SHOPS[0]], "payload": old})
    qtbot.waitUntil(lambda: bool(dialog.parameters.document()))
    dialog.parameters.set_mode("json")
    text = dialog.parameters.editor
    assert "4711" not in text.toPlainText()
    text.setPlainText(text.toPlainText().replace("50", "60"))
    assert dialog.draft().payload == {"page_size": 60, "shop_token": "t-0815-4711"}
    assert "4711" not in json.dumps(dialog.draft().message())
    text.setPlainText(json.dumps({"page_size": 60, "other_token": DOTS}))
    assert dialog.parameters.problems() == 1, "dots are no secret"
    text.setPlainText(json.dumps({"page_size": 60, "shop_token": DOTS}))
    dialog.parameters.reveal_button.click()
    qtbot.waitUntil(lambda: "4711" in text.toPlainText())
    assert [one.action for one in fleet.store.audit(1)] == ["reveal"]


def test_when_the_same_work_ran_last_stands_among_the_facts(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    (ran,) = fleet.context.commands.tasks.create([spec], origin="cli").created
    fleet.finish(ran.task_id)
    dialog = open_dialog(PREFILL)
    qtbot.waitUntil(lambda: "Ran last" in dialog.forecast.facts())
    assert dialog.forecast.facts()["Ran last"].endswith(f"by {ran.created_by}")


def test_what_was_done_so_lately_asks_for_a_reason(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    body = json.loads(fleet.store.documents("type")["sync_order"])
    fleet.context.commands.fleet.import_types([json.dumps(body | {"unique_for": "1h"})])
    spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    (ran,) = fleet.context.commands.tasks.create([spec], origin="cli").created
    fleet.finish(ran.task_id)
    dialog = open_dialog(PREFILL)
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert len(tasks(fleet)) == 3, "the other two"
    row = dialog.outcome.duplicate(SHOPS[0])
    assert row is not None
    row.force.click()
    assert not row.go.isEnabled()
    row.reason.setText("the shop lost it")
    row.go.click()
    qtbot.waitUntil(lambda: row.said.text() == "created")
    assert [task.shop for task in tasks(fleet) if task.reason == "the shop lost it"] == [SHOPS[0]]


def test_where_some_are_active_and_the_others_were_done_both_is_said() -> None:
    left = Draft(
        task_type="sync_order", shops=("pdd:1", "pdd:2"), twins=frozenset({"pdd:1"}), asks=frozenset({"pdd:2"})
    )
    assert missing(left, 0, "") == "All of them are active or were done already"


@pytest.mark.parametrize("spoilt", [False, True], ids=["done", "nobody can read whether"])
def test_what_asks_for_a_reason_is_told_before_and_left_out_or_done_again(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open, *, spoilt: bool
) -> None:
    body = json.loads(fleet.store.documents("type")["sync_order"])
    fleet.context.commands.fleet.import_types([json.dumps(body | {"unique_for": "1h"})])
    spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    (ran,) = fleet.context.commands.tasks.create([spec], origin="cli").created
    fleet.finish(ran.task_id)
    if spoilt:
        with closing(sqlite3.connect(fleet.engine.settings.database, timeout=30)) as db, db:
            db.execute("UPDATE works SET at = 'soon'")
    dialog = open_dialog(PREFILL)
    done = dialog.forecast.done
    qtbot.waitUntil(lambda: bool(done.lead()))
    many = "Of 1 shop nobody can read whether it has had this done" if spoilt else "1 shop has had this done already"
    assert (done.lead(), dialog.verbs.create.text()) == (many, "Create 2 tasks")
    assert done.show_link.isHidden() == spoilt, "no task is known"
    dialog.shops.picker.tick(SHOPS[:1])
    qtbot.waitUntil(lambda: dialog.verbs.missing.text() == "All of them were done already")
    done.again.click()
    assert dialog.verbs.missing.text() == "Say why what was done already must be done again"
    qtbot.keyClicks(done.reason, "the shop lost it")
    assert dialog.verbs.create.text() == "Create 1 task"
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert [(task.shop, task.reason) for task in tasks(fleet)[1:]] == [(SHOPS[0], "the shop lost it")]


def test_where_nobody_knows_whether_it_was_done_it_is_made_for_a_reason(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    dialog = open_dialog(PREFILL)
    spec = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    dialog.outcome.show_result(Submitted(errors=((spec, "reason", said(UNSURE, work="4f2c")),)))
    row = dialog.outcome.duplicate(SHOPS[0])
    assert row is not None
    assert row.watch.isHidden(), "no task is known"
    assert any("(4f2c) cannot be read" in label.text() for label in row.findChildren(Label))
    row.force.click()
    row.reason.setText("looked into the shop")
    row.go.click()
    qtbot.waitUntil(lambda: row.said.text() == "created")
    assert [task.reason for task in tasks(fleet)] == ["looked into the shop"]


@pytest.mark.one_pair
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_on_a_small_screen_all_of_it_is_on_the_screen(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open, language: str
) -> None:
    """As on 1280x720 at 150 %: *Create* was beside the screen, and so was half of the form."""
    fleet.seed_shops(6)
    i18n.set_language(language)
    window = QWidget()
    qtbot.addWidget(window)
    screen = window.screen().availableGeometry()
    window.setGeometry(0, 0, screen.width(), 440)
    window.show()
    dialog = open_dialog(PREFILL, window)
    qtbot.waitExposed(dialog)
    assert screen.contains(dialog.frameGeometry())
    inner = dialog.rect()
    for part in (dialog.verbs.create, dialog.forecast):
        assert inner.contains(part.rect().translated(part.mapTo(dialog, part.rect().topLeft())))
    for part in (dialog.what, dialog.shops, dialog.parameters, dialog.delivery):
        edge = part.mapTo(dialog, part.rect().topRight()).x()
        assert edge < dialog.forecast.mapTo(dialog, dialog.forecast.rect().topLeft()).x(), part
