"""The spreadsheet of an operator through the New task dialog: each row the task that it says, every bad row named."""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.support import task_sheets
from tests.support.widgets import press, words
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.new_task.dialog import NewTaskDialog

Open = Callable[..., NewTaskDialog]


@pytest.fixture
def shops(fleet: Fleet) -> list[str]:
    """Keys of enough shops."""
    fleet.store.put_shops(task_sheets.shops())
    fleet.engine.registry.forget()
    return [shop.key for shop in task_sheets.shops()]


@pytest.fixture
def read_file(qtbot: QtBot, fleet: Fleet, shops: list[str]) -> Open:
    """Opens the dialog and lets it read a file."""

    def make(path: Path, begin: Callable[[], object] = lambda: None) -> NewTaskDialog:
        dialog = NewTaskDialog(fleet.context)
        qtbot.addWidget(dialog)
        dialog.resize(1098, 660)
        dialog.open()
        qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
        dialog.shops.mode.choose("file")
        begin()
        dialog.shops.picker.file.open(path)
        qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not dialog._work.busy, timeout=60_000)
        return dialog

    return make


def tasks(fleet: Fleet) -> list[Task]:
    """All records."""
    return list(fleet.context.tasks.page("", limit=500).tasks)


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".jsonl"])
def test_each_row_becomes_the_task_that_it_says_and_bad_rows_are_named(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path, ending: str
) -> None:
    good = task_sheets.rows(shops)
    dialog = read_file(task_sheets.write(tmp_path / f"tasks{ending}", task_sheets.spoilt(good)))
    first = 1 if ending == ".jsonl" else 2
    assert dialog.verbs.create.text() == "Create 293, leave out 7"
    assert dialog.sheet.columns.fields[1].currentText() == "Shop (id or name)"
    facts = dialog.sheet.summary.facts()
    assert (facts["Order sync"], facts["Goods refresh"], facts["Single product"]) == ("96", "99", "98")
    assert facts["Pinduoduo"] == str(sum(shop.startswith("pdd") for shop in shops) * 2 - 5)
    rows = [(one.fault.row, one.fault.column) for one in dialog.sheet.model.records()]
    assert rows == [(row - 2 + first, task_sheets.HEADER[column]) for row, column, _value in task_sheets.BAD]
    if ending == ".csv":
        assert dialog.sheet.reading.currentText() == "GBK (GB18030)"

    dialog.verbs.create.click()
    assert tasks(fleet) == [] or dialog._creator.busy
    with qtbot.waitSignal(dialog.created, timeout=30_000):
        pass
    made = tasks(fleet)
    assert Counter(task.task_type for task in made) == {
        "sync_order": 96, "refresh_goods": 99, "single_product": 98,
    }  # fmt: skip
    left_out = {row for row, _column in rows}
    wanted = []
    for number, (_platform, shop_id, _kind, priority, _payload) in enumerate(good):
        if number + first not in left_out:
            kind = task_sheets.TYPES[number % 3]
            level = {"高": 10, "普通": 6, "低": 2, "9": 9, 5: 5, "": 6}[priority]  # type: ignore[index]
            payload = {"goods_id": f"G{number:04}"} if kind == "single_product" else {"page_size": 10 + number % 50}
            wanted.append((shop_id, kind, level, json.dumps(payload)))
    found = [(task.shop_id, task.task_type, task.priority, json.dumps(json.loads(task.payload))) for task in made]
    assert Counter(found) == Counter(wanted)
    assert len({task.batch for task in made}) == 1
    toast = fleet.toasts[-1]
    assert (toast.text, toast.seconds) == ("293 tasks created", 10)
    press(toast, "Undo")
    qtbot.waitUntil(lambda: all(task.status == Status.CANCELLED for task in tasks(fleet)), timeout=30_000)


def test_a_column_can_say_something_else_and_what_is_ignored_is_said(
    qtbot: QtBot, read_file: Open, shops: list[str], tmp_path: Path
) -> None:
    path = task_sheets.write(
        tmp_path / "a.csv", [["pdd-10001", "同步订单", 20, "x"]], ("店铺", "任务", "页", "备注"), encoding="gbk"
    )
    dialog = read_file(path)
    assert dialog.sheet.ignored.isVisible()
    assert [one.title for one in dialog.sheet.orders.ignored] == ["页", "备注"]  # type: ignore[union-attr]
    field = dialog.sheet.columns.fields[2]
    field.setCurrentIndex(field.findData("payload.page_size"))
    field.activated.emit(field.currentIndex())
    qtbot.waitUntil(lambda: not dialog._work.busy and dialog.sheet.orders is not None)
    (spec,) = dialog.sheet.orders.specs  # type: ignore[union-attr]
    assert spec.payload == {"page_size": 20}
    assert dialog.verbs.create.text() == "Create 1 task"


def test_another_encoding_or_sheet_can_be_chosen(qtbot: QtBot, read_file: Open, tmp_path: Path) -> None:
    path = task_sheets.write(tmp_path / "a.csv", [["pdd-10001", "同步订单"]], ("店铺", "任务类型"))
    dialog = read_file(path)
    dialog.sheet.reading.setCurrentIndex(dialog.sheet.reading.findData("utf-8"))
    dialog.sheet.reading.activated.emit(0)
    qtbot.waitUntil(dialog.error.isVisible)
    assert dialog.sheet.reading.currentData() == "gb18030", "it is read as before"
    assert dialog.verbs.create.text() == "Create 1 task"


def test_the_dialog_speaks_only_where_rows_say_nothing_and_says_so(
    qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path
) -> None:
    path = task_sheets.write(tmp_path / "a.csv", [["pdd-10001", ""], ["pdd-10002", "低"]], ("店铺", "优先级"))
    dialog = read_file(path)
    assert dialog.sheet.summary.facts()["Priority"] == "Normal 6"
    assert "Task type" in dialog.sheet.summary.facts()
    dialog.sheet.summary.change.activated.emit()
    assert dialog._form.isVisible()
    dialog.what.types.setCurrentIndex(dialog.what.types.findData("sync_order"))
    dialog.delivery.set_priority(9)
    assert dialog.verbs.create.text() == "Check 2 rows"
    dialog.verbs.create.click()
    qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not dialog._work.busy)
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert {(task.task_type, task.priority) for task in tasks(fleet)} == {("sync_order", 9), ("sync_order", 2)}


def test_a_row_without_a_type_does_not_take_the_one_of_the_dialog(read_file: Open, tmp_path: Path) -> None:
    path = task_sheets.write(tmp_path / "a.csv", [["pdd-10001", ""], ["pdd-10002", "同步订单"]], ("店铺", "任务类型"))
    dialog = read_file(path)
    assert dialog.verbs.create.text() == "Create 1, leave out 1"


def test_what_is_left_out_is_copied_and_exported(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path
) -> None:
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", task_sheets.spoilt(task_sheets.rows(shops))))
    dialog.sheet.copy.click()
    lines = QGuiApplication.clipboard().text().strip().split("\n")
    assert lines[0] == "Row\tColumn\tValue\tReason"
    assert len(lines) == 8
    dialog.sheet.export_wanted.emit(tmp_path / "out.csv")
    qtbot.waitUntil(lambda: bool(fleet.toasts) and "out.csv" in fleet.toasts[-1].text)
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as stream:
        written = list(csv.reader(stream))
    assert [row[0] for row in written[1:]] == [str(row) for row, _column, _value in task_sheets.BAD]
    assert all(row[3] for row in written)


HEADER = ("店铺", "任务类型")
ROWS = [["pdd-10001", "同步订单"], ["pdd-10001", "商品刷新"], ["pdd-10002", "同步订单"]]


@pytest.fixture
def second(qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path) -> NewTaskDialog:
    """The step of a file of four rows of which two are active already, one of them twice."""
    first = read_file(task_sheets.write(tmp_path / "a.csv", ROWS[:2], HEADER))
    with qtbot.waitSignal(first.created):
        first.verbs.create.click()
    return read_file(task_sheets.write(tmp_path / "b.csv", [*ROWS, ROWS[0]], HEADER))


def test_rows_that_are_active_already_are_told_before_anything_is_created(
    qtbot: QtBot, fleet: Fleet, second: NewTaskDialog
) -> None:
    active = {task.task_type: task.task_id for task in tasks(fleet)}
    notice = second.sheet.summary.twins
    assert notice.isVisible()
    assert not second.sheet.ignored.isVisible(), "no column is ignored"
    assert all(link.width() >= link.sizeHint().width() for link in notice.links.values() if link.isVisible())
    assert notice.lead() == "2 rows are the same work as tasks that wait or run"
    assert notice.accessibleName().endswith("Rows 2-3: 2 waiting. They are left out.")
    assert second.verbs.create.text() == "Create 1, leave out 3"
    told = [(one.fault.row, one.fault.reason.params["id"]) for one in second.sheet.model.records()]
    assert told == [(2, active["sync_order"]), (3, active["refresh_goods"]), (5, active["sync_order"])]
    with qtbot.waitSignal(second.tasks_wanted) as wanted:
        notice.show_wanted.emit()
    assert all(task_id in wanted.args[0] for task_id in active.values())
    with qtbot.waitSignal(second.created) as done:
        second.verbs.create.click()
    assert (len(done.args[0].created), done.args[0].duplicates) == (1, ())
    assert len(tasks(fleet)) == 3


def test_while_rows_are_active_a_person_may_create_nothing(fleet: Fleet, second: NewTaskDialog) -> None:
    second.sheet.summary.twins.links["stop"].click()
    assert not second.verbs.create.isEnabled()
    assert second.verbs.missing.text() == "Nothing is created while rows are active already"
    assert len(tasks(fleet)) == 2
    second.sheet.summary.twins.links["reject"].click()
    assert second.verbs.create.isEnabled()


def test_rows_that_are_active_already_can_be_queued_behind_those(
    qtbot: QtBot, fleet: Fleet, second: NewTaskDialog
) -> None:
    second.sheet.summary.twins.links["queue"].click()
    assert second.verbs.create.text() == "Create 3, leave out 1"
    with qtbot.waitSignal(second.created) as done:
        second.verbs.create.click()
    assert (len(done.args[0].created), done.args[0].duplicates) == (3, ())
    assert Counter(task.task_type for task in tasks(fleet)) == {"sync_order": 3, "refresh_goods": 2}


def test_what_became_active_since_the_look_is_told_row_by_row(
    qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path
) -> None:
    dialogs = [read_file(task_sheets.write(tmp_path / "a.csv", ROWS, HEADER)) for _time in range(2)]
    for dialog in dialogs:
        with qtbot.waitSignal(dialog.created):
            dialog.verbs.create.click()
    assert len(tasks(fleet)) == 3
    row = dialogs[1].outcome.duplicate("pdd:pdd-10001", 3)
    assert row is not None
    row.queue.click()
    qtbot.waitUntil(lambda: row.said.text() == "created")
    assert Counter(task.task_type for task in tasks(fleet)) == {"sync_order": 2, "refresh_goods": 2}


@pytest.fixture
def done_before(qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path) -> NewTaskDialog:
    """The step of a file of three rows of which one was done just now and its type asks, and one whose does not."""
    body = json.loads(fleet.store.documents("type")["sync_order"])
    fleet.context.commands.fleet.import_types([json.dumps(body | {"unique_for": "1h"})])
    first = read_file(task_sheets.write(tmp_path / "a.csv", ROWS[:2], HEADER))
    with qtbot.waitSignal(first.created):
        first.verbs.create.click()
    for task in tasks(fleet):
        fleet.finish(task.task_id)
    return read_file(task_sheets.write(tmp_path / "b.csv", ROWS, HEADER))


def test_rows_whose_work_was_done_just_now_are_told_before_anything_is_created(
    qtbot: QtBot, fleet: Fleet, done_before: NewTaskDialog
) -> None:
    ran = {task.task_type: task for task in tasks(fleet)}
    notice = done_before.sheet.summary.done
    assert notice.lead() == "1 row was done already"
    assert notice.accessibleName().startswith("1 row was done already Row 2: last at ")
    assert "1 row is work that has succeeded before; its type lets it be done again." in words(done_before)
    assert done_before.verbs.create.text() == "Create 2, leave out 1"
    (left_out,) = done_before.sheet.model.records()
    assert (left_out.fault.row, left_out.fault.reason.params["id"]) == (2, ran["sync_order"].task_id)
    with qtbot.waitSignal(done_before.tasks_wanted) as wanted:
        notice.show_link.click()
    assert ran["sync_order"].task_id in wanted.args[0]
    with qtbot.waitSignal(done_before.created) as done:
        done_before.verbs.create.click()
    assert (len(done.args[0].created), done.args[0].done) == (2, ())


def test_rows_whose_work_was_done_just_now_are_done_again_with_a_reason(
    qtbot: QtBot, fleet: Fleet, done_before: NewTaskDialog
) -> None:
    notice = done_before.sheet.summary.done
    notice.again.click()
    assert not done_before.verbs.create.isEnabled()
    assert done_before.verbs.missing.text() == "Say why what was done already must be done again"
    QTest.keyClicks(notice.reason, "the")
    found = done_before.sheet.orders
    QTest.keyClicks(notice.reason, " shop lost its orders")
    assert done_before.sheet.orders is found, "only the first letter changes what becomes of the rows"
    assert done_before.verbs.create.text() == "Create 3 tasks"
    with qtbot.waitSignal(done_before.created) as done:
        done_before.verbs.create.click()
    made = done.args[0].created
    assert [task.reason for task in made if task.task_type == "sync_order" and task.shop == "pdd:pdd-10001"] == [
        "the shop lost its orders"
    ]
    assert {task.reason for task in made if task.task_type == "refresh_goods"} == {""}, "nobody was asked for one"


def test_a_file_that_is_no_table_says_so_in_its_place(qtbot: QtBot, fleet: Fleet, tmp_path: Path) -> None:
    dialog = NewTaskDialog(fleet.context)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
    dialog.shops.mode.choose("file")
    (tmp_path / "list.xlsx").write_text("x")
    dialog.shops.picker.file.open(tmp_path / "list.xlsx")
    qtbot.waitUntil(lambda: "not a readable workbook" in dialog.shops.picker.file.state())
    assert not dialog.sheet.isVisible()
    dialog.shops.mode.choose("pick")
    assert dialog.verbs.missing.text() == "Tick a shop"


def test_every_word_follows_the_language(read_file: Open, shops: list[str], tmp_path: Path) -> None:
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", task_sheets.spoilt(task_sheets.rows(shops))))
    try:
        i18n.set_language("zh_CN")
        dialog._say()
        assert dialog.verbs.create.text() == "创建 293 个，跳过 7 行"
        assert dialog.sheet.summary.facts()["同步订单"] == "96"
        assert "店铺" in dialog.sheet.columns.fields[1].currentText()
    finally:
        i18n.set_language("en")


def test_ten_thousand_rows_do_not_stall_the_window(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path
) -> None:
    good = task_sheets.rows(shops)
    rows = [[*good[n % 150][:2], "商品刷新", "高", f"page_size={n % 100 + 1};low_stock={n}"] for n in range(10_000)]
    for n in range(0, 10_000, 10):
        rows[n][3] = "很急"
    path = task_sheets.write(tmp_path / "t.csv", rows)
    longest = last = 0.0

    def tick() -> None:
        nonlocal longest, last
        now = time.perf_counter()
        longest, last = max(longest, now - last if last else 0.0), now

    timer = QTimer(interval=5)
    timer.timeout.connect(tick)
    dialog = read_file(path, timer.start)
    timer.stop()
    assert dialog.verbs.create.text() == "Create 9,000, leave out 1,000"
    assert longest < 1.5, "in the GUI thread it takes many seconds"
