"""The New task dialog over a real engine: tasks for several shops from the form and from raw JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.status import Status
from services.domain.task import Task
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.draft import ALL
from views.dialogs.new_task import NewTaskDialog
from views.dialogs.schema_fields import ChoicesInput, LineInput

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
        qtbot.waitUntil(lambda: bool(dialog._known.shops))
        return dialog

    return make


def tasks(fleet: Fleet) -> list[Task]:
    """All records."""
    return list(fleet.context.tasks.page("", sort="created", descending=False).tasks)


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
    assert dialog.parameters.form.problem_of("since") == "must be a day such as 2026-11-21"
    assert not dialog.verbs.create.isEnabled()
    assert dialog.verbs.missing.text() == "Fix 2 errors first"
    dialog._on_create()
    assert tasks(fleet) == []
    type_into(qtbot, dialog, "page_size", "many")
    assert dialog.parameters.form.problem_of("page_size") == "must be of type integer"
    dialog.parameters.go_to_problem()
    dialog.parameters.set_mode("json")
    problems = {problem.line for problem in dialog.parameters.editor.problems()}
    assert len(problems) == 2, "each stands at its own line"


def test_a_required_field_is_asked_for(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "batch_reply", "shops": list(SHOPS)})
    assert dialog.parameters.form.problem_of("text") == "is missing"
    type_into(qtbot, dialog, "text", "Thank you")
    assert dialog.parameters.form.problem_of("text") == ""
    assert dialog.verbs.create.isEnabled()


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
    assert paste._state.text() == "1 not found"
    paste._copy.click()
    assert QGuiApplication.clipboard().text() == "pdd-1006"
    paste._take(paste.field.entries[-1])
    paste.flush()
    assert paste.field.entries[-1].shop == "pdd:pdd-10067"
    assert len(dialog.draft().shops) == 5


def test_shops_are_filtered_and_ticked_all_at_once(open_dialog: Open) -> None:
    dialog = open_dialog({"platform": "pdd", "task_type": "get_content"})
    picker = dialog.shops.picker
    picker.filter.setText("数码")
    shown = picker.model.rowCount()
    assert 0 < shown < 25
    picker._all.click()
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
    qtbot.waitUntil(lambda: first._said.text() == "created")
    second.force.click()
    assert not second.go.isEnabled(), "a reason is due"
    qtbot.keyClicks(second.reason, "the shop asked for it")
    second.go.click()
    qtbot.waitUntil(lambda: second._said.text() == "created")
    forced = next(task for task in tasks(fleet) if task.reason)
    assert (forced.shop, forced.reason) == (SHOPS[1], "the shop asked for it")
    assert len(tasks(fleet)) == 5


def test_all_duplicates_can_be_queued_from_the_form(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    twin = TaskSpec(platform="pdd", shop_id="pdd-10021", task_type="sync_order")
    fleet.context.commands.tasks.create([twin], origin="cli")
    dialog = open_dialog({**PREFILL, "shops": ["pdd-10021"]})
    qtbot.waitUntil(lambda: bool(dialog.forecast.twins.lead()))
    assert dialog.verbs.missing.text() == "All of them are active already"
    dialog.forecast._queue_link.click()
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
    fleet.context = dataclasses.replace(fleet.context, environment="PROD")
    dialog = NewTaskDialog(fleet.context, {"task_type": "get_content"})
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: bool(dialog._known.shops))
    dialog.what.platforms.choose(ALL)
    dialog.shops.picker._all.click()
    dialog.verbs.create.click()
    question = dialog.findChild(ConfirmDialog)
    assert question is not None
    assert not question.verb_button.isEnabled()
    question._field.setText("60")
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
    assert dialog._scrim is not None
    assert dialog._scrim.size() == window.size()
    dialog.reject()
    assert dialog._scrim is None


def test_it_speaks_both_languages(open_dialog: Open) -> None:
    dialog = open_dialog(PREFILL)
    assert dialog.what.types.currentText().startswith("Order sync")
    i18n.set_language("zh_CN")
    assert dialog.what.types.currentText().startswith("订单同步")
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
