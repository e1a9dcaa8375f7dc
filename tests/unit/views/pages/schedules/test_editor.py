"""The dialog of a schedule: a look at the next runs while typing, errors at their field, kept by a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans.schedule import Planned, Schedule
from services.domain.types.task_type import TaskType
from services.monitor.schedules import ScheduleRow
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs import record
from views.dialogs.confirm import ConfirmDialog
from views.pages.schedules import editor
from views.pages.schedules.editor import ScheduleDialog
from views.support.words import type_names

Open = Callable[..., ScheduleDialog]
WAIT_MS = 10_000


@pytest.fixture
def open_dialog(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the dialog as the page does, its list of types filled."""
    made: list[ScheduleDialog] = []

    def make(row: ScheduleRow | None = None) -> ScheduleDialog:
        dialog = ScheduleDialog(fleet.context, row)
        qtbot.addWidget(dialog)
        made.append(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: dialog.task_type.count() > 0, timeout=WAIT_MS)
        return dialog

    yield make
    for dialog in made:
        dialog._look_later.cancel()


def keep(qtbot: QtBot, dialog: ScheduleDialog) -> str:
    """Press Save; returns the name that was kept."""
    with qtbot.waitSignal(dialog.saved, timeout=WAIT_MS) as kept:
        dialog.save_button.click()
    return str(kept.args[0])


def test_types_are_called_as_people_call_them_and_the_first_wants_nothing(fleet: Fleet, open_dialog: Open) -> None:
    type_names.know(fleet.context.types())
    i18n.set_language("zh_CN")
    try:
        dialog = open_dialog()
        begun = dialog.values().task_type
        called = [dialog.task_type.itemText(place) for place in range(dialog.task_type.count())]
        dialog.task_type.setEditText("同步订单")
        by_title = dialog.values().task_type
        dialog.task_type.setEditText("同步订单 · sync_order")
        by_item = dialog.values().task_type
    finally:
        i18n.set_language("en")
    assert begun == "full_sync", "as New task does: batch_products would miss a parameter at once"
    assert "同步订单 · sync_order" in called
    assert (by_title, by_item) == ("sync_order", "sync_order")


def test_a_type_is_found_by_any_part_of_its_name_and_enter_takes_the_only_one(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    """What was typed offered nothing, and Enter left the field empty."""
    type_names.know(fleet.context.types())
    dialog = open_dialog()
    field = dialog.task_type
    line = field.lineEdit()
    line.selectAll()
    qtbot.keyClicks(line, "sync")
    offered = field.completer().completionModel()
    found = {str(offered.index(at, 0).data()) for at in range(offered.rowCount())}
    assert {"sync_order", "full_sync"} <= found
    field.completer().popup().hide()
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert field.currentText() == "sync", "two are called so, and none is taken"
    qtbot.keyClicks(line, "_ord")
    field.completer().popup().hide()
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert (field.currentText(), dialog.values().task_type) == ("sync_order", "sync_order")
    line.selectAll()
    qtbot.keyClicks(line, "export_ledger")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert dialog.values().task_type == "export_ledger", "what is typed stays"


def test_parameters_are_filled_in_by_a_form_and_what_was_typed_is_not_dropped_by_a_slip(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    dialog = open_dialog()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible(), "nothing was typed"
    dialog = open_dialog()
    dialog.name.setText("nightly")
    dialog.task_type.setCurrentText("sync_order")
    assert dialog.payload.mode.current() == "form"
    form = dialog.payload.form
    size = form.input("page_size")
    assert size is not None
    qtbot.keyClicks(size.widget, "7")
    assert dialog.values().payload == {"page_size": 7}
    dialog.payload.set_mode("json")
    dialog.payload.editor.setPlainText('{"page_size": 8')
    assert dialog.values().payload is None, "it is no JSON yet"
    dialog.payload.editor.setPlainText('{"page_size": 8}')
    assert dialog.values().payload == {"page_size": 8}
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    (question,) = dialog.findChildren(ConfirmDialog)
    assert dialog.isVisible()
    question.reject()
    assert keep(qtbot, dialog) == "nightly"
    assert fleet.context.schedules.rows()[0].schedule.payload == {"page_size": 8}
    dialog = open_dialog()
    dialog.note.setText("for the sale")
    dialog.reject()
    (question,) = dialog.findChildren(ConfirmDialog)
    question.confirmed.emit()
    assert not dialog.isVisible()


def test_secrets_of_a_schedule_are_shown_to_who_asks_and_that_is_written_down(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    wanted = {"page_size": 50, "shop_token": "t-0815-4711"}
    made = Schedule(name="nightly", task_type="sync_order", cron="30 2 * * *", all_shops=True, payload=wanted)
    fleet.context.commands.schedules.add(made)
    dialog = open_dialog(fleet.context.schedules.rows()[0])
    dialog.payload.set_mode("json")
    text = dialog.payload.editor
    assert "4711" not in text.toPlainText()
    assert dialog.payload.reveal_button.isVisible()
    dialog.payload.reveal_button.click()
    qtbot.waitUntil(lambda: "4711" in text.toPlainText(), timeout=WAIT_MS)
    assert not dialog.payload.reveal_button.isVisible()
    (entry,) = fleet.store.audit(1)
    assert (entry.action, entry.target) == ("reveal", ("schedule: nightly",))
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible(), "nothing was typed"


def test_a_type_that_nobody_has_defined_is_told(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    dialog = open_dialog()
    dialog.name.setText("nightly")
    dialog.task_type.setEditText("export_ledger")
    qtbot.waitUntil(lambda: "Next runs" in dialog.preview.text(), timeout=WAIT_MS)
    assert dialog.preview.text().startswith("Nobody has defined this task type: it runs on the rpa executor")
    dialog.task_type.setEditText("refresh_goods")
    qtbot.waitUntil(lambda: dialog.preview.text().startswith("Next runs"), timeout=WAIT_MS)


def test_a_new_schedule_is_looked_at_while_typing_and_kept(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    fleet.store.put_shops([Shop(platform="pdd", shop_id=f"s{number}", group="vip") for number in range(3)])
    fleet.engine.registry.forget()
    dialog = open_dialog()
    dialog.name.setText("nightly")
    dialog.task_type.setCurrentText("refresh_goods")
    dialog.spread.setText("20m")
    dialog.choice.choose("some")
    dialog.groups.setText("vip")
    qtbot.waitUntil(lambda: dialog.preview.text().startswith("Next runs for 3 shops: "), timeout=WAIT_MS)
    assert dialog.preview.text().count(";") == 4
    assert "no worker runs now" in dialog.load.words.text()
    assert not dialog.load.bars.isVisible()
    assert fleet.store.schedules() == []
    assert keep(qtbot, dialog) == "nightly"
    row = fleet.context.schedules.row("nightly")
    assert row is not None
    assert (row.schedule.cron, row.schedule.spread_s, row.schedule.groups) == ("30 2 * * *", 1200, ("vip",))


@pytest.mark.parametrize(
    ("field", "value", "name", "said"),
    [
        ("cron", "61 * * * *", "cron", "minute"),
        ("zone", "Asia/Shangai", "zone", "did you mean Asia/Shanghai"),
        ("spread", "2d", "spread", "shorter"),
        ("spread", "soon", "spread", "30m"),
        ("name", "two words", "name", "blanks"),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    qtbot: QtBot, open_dialog: Open, field: str, value: str, name: str, said: str
) -> None:
    dialog = open_dialog()
    dialog.name.setText("nightly")
    getattr(dialog, field).setText(value)
    qtbot.waitUntil(lambda: said in dialog.fields[name].error(), timeout=WAIT_MS)
    dialog.save_button.click()
    qtbot.waitUntil(lambda: said in dialog.fields[name].error() and dialog.isVisible(), timeout=WAIT_MS)
    getattr(dialog, field).setText(getattr(editor.Filled(), field) or "nightly" * (field == "name"))
    qtbot.waitUntil(lambda: dialog.fields[name].error() == "", timeout=WAIT_MS)


def test_what_is_wrong_with_one_field_leaves_the_one_beside_it_in_its_line(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog()
    dialog.choice.choose("some")
    dialog.name.setText("nightly")
    qtbot.waitUntil(lambda: bool(dialog.preview.text()), timeout=WAIT_MS)
    wrong, beside = dialog.fields["platform"], dialog.fields["group"]
    low = wrong.height()
    wrong.set_error("There is no such platform; write pdd, temu or tiktok")
    qtbot.waitUntil(lambda: wrong.height() > low + 20, timeout=WAIT_MS)
    tops = [one.field.mapTo(dialog, QPoint(0, 0)).y() for one in (wrong, beside)]
    assert tops[0] == tops[1]


def test_an_edit_keeps_what_the_dialog_does_not_show(qtbot: QtBot, fleet: Fleet, open_dialog: Open) -> None:
    fleet.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    fleet.engine.registry.forget()
    fleet.context.commands.schedules.add(
        Schedule(name="n", task_type="refresh_goods", every_s=5400, shops=("pdd:s1",), priority="9", enabled=False)
    )
    row = fleet.context.schedules.row("n")
    dialog = open_dialog(row)
    assert (dialog.name.isReadOnly(), dialog.every.text(), dialog.shops.text()) == (True, "90m", "pdd:s1")
    dialog.note.setText("slowly")
    assert keep(qtbot, dialog) == "n"
    found = fleet.context.schedules.row("n")
    assert row is not None
    assert found is not None
    kept = found.schedule
    assert (kept.priority, kept.enabled, kept.uid, kept.note) == ("9", False, row.schedule.uid, "slowly")
    assert (kept.first_at, kept.every_s) == (row.schedule.first_at, 5400)


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(name="a", task_type="t", cron="@daily", all_shops=True),
        Schedule(name="a", task_type="t", every_s=90, platforms=("pdd", "temu"), groups=("vip",), spread_s=60),
        Schedule(name="a", task_type="t", cron="0 1 * * *", zone="UTC", shops=("pdd:a", "temu:b"), missed="skip"),
        Schedule(
            name="a", task_type="t", every_s=86_400, all_shops=True, overlap="queue", note="x", payload={"n": [1]}
        ),
    ],
)
def test_fields_and_schedule_say_the_same(schedule: Schedule) -> None:
    assert editor.schedule_of(editor.filled(schedule), schedule) == schedule


@pytest.mark.parametrize(
    ("words", "cron"),
    [
        ("weekdays 9:00", "0 9 * * 1-5"),
        ("每天 9点", "0 9 * * *"),
        (" 30  2 * * * ", "30 2 * * *"),
        ("0 9 * * mon-fri", "0 9 * * mon-fri"),
        ("@daily", "@daily"),
        ("now and then", "now and then"),
        ("30m", "30m"),
    ],
)
def test_an_expression_may_be_written_as_people_say_it(words: str, cron: str) -> None:
    assert editor.schedule_of(structs.replace(editor.Filled(), cron=words)).cron == cron


@pytest.mark.parametrize(("number", "text"), [(0, "0s"), (90, "90s"), (5400, "90m"), (7200, "2h"), (172_800, "2d")])
def test_durations_are_written_as_they_are_read(number: int, text: str) -> None:
    assert (record.short(number), record.seconds(text, "every")) == (text, number)


def test_a_payload_that_is_no_object_is_refused() -> None:
    for payload in (None, [1], "x"):
        with pytest.raises(UsageError) as caught:
            editor.schedule_of(editor.Filled(payload=payload))
        assert caught.value.field == "payload"


def test_thousands_of_shops_by_name_stand_one_below_the_other_and_all_of_them_are_kept(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open
) -> None:
    names = tuple(f"pdd:shop-{number:06d}" for number in range(5000))
    made = Schedule(name="many", task_type="full_sync", cron="0 3 * * *", shops=names)
    dialog = open_dialog(ScheduleRow(planned=Planned(schedule=made), zone="UTC", shops=len(names)))
    assert dialog.shops.isVisible()
    assert dialog.shops.text().splitlines() == list(names)
    dialog.note.setText("checked")
    assert editor.schedule_of(dialog.values(), made).shops == names, "a change of the note loses none of them"
    dialog.shops.setText("pdd:a, pdd:b\npdd:c；pdd:a")
    assert editor.schedule_of(dialog.values(), made).shops == ("pdd:a", "pdd:b", "pdd:c")


def test_of_thousands_of_types_none_is_named_before_it_is_seen(
    qtbot: QtBot, fleet: Fleet, open_dialog: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {f"type_{number:04d}": TaskType(name=f"type_{number:04d}") for number in range(2000)}
    asked: list[str] = []

    def name(code: str) -> str:
        asked.append(code)
        return code

    monkeypatch.setattr(record.type_names, "name", name)
    dialog = ScheduleDialog(structs.replace(fleet.context, types=lambda: kinds))
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.task_type.count() == 2000, timeout=WAIT_MS)
    assert len(asked) < 200
    dialog.task_type.setEditText("type_1500")
    assert dialog.values().task_type == "type_1500"


def test_the_room_of_many_names_is_not_kept_for_a_choice_that_needs_one_line(qtbot: QtBot, open_dialog: Open) -> None:
    dialog = open_dialog()
    label = dialog.fields["group"]

    def choose(which: str) -> None:
        dialog.choice.set_current(which)
        dialog.choice.chosen.emit(which)

    choose(record.SOME)
    qtbot.waitUntil(label.isVisible)
    low = label.sizeHint().height() + 2
    qtbot.waitUntil(lambda: label.height() <= low, timeout=WAIT_MS)
    choose(record.NAMED)
    qtbot.waitUntil(lambda: dialog.fields["shop"].height() > 60, timeout=WAIT_MS)
    choose(record.SOME)
    qtbot.waitUntil(lambda: label.height() <= low, timeout=WAIT_MS)
