"""The spreadsheet of an operator through the New task dialog: each row the task that it says, every bad row named."""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from services import i18n
from services.commands.sheet.orders import Fault
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.types.type_index import titles_of
from tests.support import task_sheets
from tests.support.cuts import cut
from tests.support.painted import faults
from tests.support.widgets import find, press, words
from tests.unit.views.pages.fleet_rig import Fleet
from views.dialogs.new_task.dialog import NewTaskDialog
from views.support.words import type_names
from views.widgets.buttons import LinkLabel

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

    def make(path: Path, begin: Callable[[], object] = lambda: None, window: QWidget | None = None) -> NewTaskDialog:
        dialog = NewTaskDialog(fleet.context, parent=window)
        if window is None:
            qtbot.addWidget(dialog)
        dialog.resize(1098, 660)
        dialog.open()
        qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
        dialog.shops.mode.choose("file")
        begin()
        dialog.shops.picker.file.open(path)
        qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not looking(dialog), timeout=60_000)
        return dialog

    return make


def tasks(fleet: Fleet) -> list[Task]:
    """All records."""
    return list(fleet.context.tasks.page("", limit=500).tasks)


def looking(dialog: NewTaskDialog) -> bool:
    """Whether rows are being looked at."""
    return dialog._work.busy


def left_out(dialog: NewTaskDialog) -> tuple[Fault, ...]:
    """What keeps rows from becoming tasks."""
    assert dialog.sheet.orders is not None
    return dialog.sheet.orders.left_out


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".jsonl"])
def test_each_row_becomes_the_task_that_it_says_and_bad_rows_are_named(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path, ending: str
) -> None:
    good = task_sheets.rows(shops)
    dialog = read_file(task_sheets.write(tmp_path / f"tasks{ending}", task_sheets.spoilt(good)))
    first = 1 if ending == ".jsonl" else 2
    assert dialog.sheet.counts.text() == "300 rows, 7 with errors"
    assert "300 rows, 7 with errors" in dialog.sheet.counts.toolTip(), "with little room only the errors are said"
    assert dialog.sheet.columns.fields[1].currentText() == "Shop (id or name)"
    facts = dialog.sheet.summary.facts()
    assert (facts["sync_order"], facts["refresh_goods"], facts["single_product"]) == ("96", "99", "98")
    assert facts["Pinduoduo"] == str(sum(shop.startswith("pdd") for shop in shops) * 2 - 5)
    rows = [(one.row, one.column) for one in left_out(dialog)]
    assert rows == [(row - 2 + first, task_sheets.HEADER[column]) for row, column, _value in task_sheets.BAD]
    if ending == ".csv":
        assert dialog.sheet.reading.currentText() == "GBK (GB18030)"

    assert not dialog.verbs.create.isVisible(), "one button says what happens"
    assert (dialog.verbs.part.kind, dialog.verbs.part.isEnabled()) == ("primary", True)
    assert dialog.verbs.missing.text() == "7 rows have errors"
    assert dialog.verbs.part.text() == "Send the 293 good ones, keep 7 as a file"
    with qtbot.waitSignal(dialog.created, timeout=30_000):
        dialog.send_good(tmp_path / "bad.xlsx")
    made = tasks(fleet)
    assert Counter(task.task_type for task in made) == {
        "sync_order": 96, "refresh_goods": 99, "single_product": 98,
    }  # fmt: skip
    bad = {row for row, _column in rows}
    wanted = []
    for number, (_platform, shop_id, _kind, priority, _payload) in enumerate(good):
        if number + first not in bad:
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
    qtbot.waitUntil(lambda: not looking(dialog) and dialog.sheet.orders is not None)
    (spec,) = dialog.sheet.orders.specs  # type: ignore[union-attr]
    assert spec.payload == {"page_size": 20}
    assert dialog.verbs.create.text() == "Create 1 task"
    assert field.width() > field.fontMetrics().horizontalAdvance("Parameter page_size"), "is read whole"


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
    qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not looking(dialog))
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    assert {(task.task_type, task.priority) for task in tasks(fleet)} == {("sync_order", 9), ("sync_order", 2)}


def test_a_row_without_a_type_does_not_take_the_one_of_the_dialog(read_file: Open, tmp_path: Path) -> None:
    path = task_sheets.write(tmp_path / "a.csv", [["pdd-10001", ""], ["pdd-10002", "同步订单"]], ("店铺", "任务类型"))
    dialog = read_file(path)
    assert dialog.sheet.counts.text() == "2 rows, 1 with errors"


def test_a_column_of_blanks_names_no_platform(read_file: Open, tmp_path: Path) -> None:
    path = task_sheets.write(
        tmp_path / "a.csv",
        [[" ", "pdd-10001", "同步订单"], ["", "pdd-10002", "同步订单"]],
        ("平台", "店铺", "任务类型"),
    )
    dialog = read_file(path)
    assert dialog.sheet.counts.text() == "2 rows"
    assert dialog.sheet.summary.facts()["Platform"] == "Pinduoduo", "that of the dialog"


def test_no_button_of_the_sheet_moves_with_what_is_said_and_done_there(
    qtbot: QtBot, read_file: Open, tmp_path: Path
) -> None:
    rows = [["pdd-10001", "同步订单", 20, "x"], ["pdd-10002", "同步定单", 20, "x"]]
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", rows, ("店铺", "任务", "页", "备注")))
    sheet = dialog.sheet
    assert sheet.ignored.isVisible()
    buttons = (sheet.next, sheet.copy, sheet.export, sheet.columns)

    def places() -> list[QPoint]:
        return [one.mapTo(dialog, QPoint(0, 0)) for one in buttons]

    before = places()
    for at, meant in ((2, "payload.page_size"), (3, "key")):
        field = sheet.columns.fields[at]
        field.setCurrentIndex(field.findData(meant))
        field.activated.emit(field.currentIndex())
        qtbot.waitUntil(lambda: not looking(dialog))
    qtbot.waitUntil(lambda: not sheet.ignored.isVisible())
    assert places() == before
    write(qtbot, dialog, 3, 1, "同步订单")
    assert sheet.undo.isVisible()
    assert places() == before


def test_what_is_left_out_is_copied_and_exported(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path
) -> None:
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", task_sheets.spoilt(task_sheets.rows(shops))))
    dialog.sheet.copy.click()
    assert dialog.notice.accessibleName() == "Copied"
    lines = QGuiApplication.clipboard().text().strip().split("\n")
    assert lines[0] == "Row\tColumn\tValue\tReason"
    assert len(lines) == 8
    dialog.sheet.export_wanted.emit(tmp_path / "out.csv")
    qtbot.waitUntil(lambda: "out.csv" in dialog.notice.accessibleName())
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as stream:
        written = list(csv.reader(stream))
    assert [row[0] for row in written[1:]] == [str(row) for row, _column, _value in task_sheets.BAD]
    assert all(row[3] for row in written)


def write(qtbot: QtBot, dialog: NewTaskDialog, row: int, column: int, words: str) -> None:
    """Type into a cell of the grid as a person does, and wait until it was looked at."""
    grid = dialog.sheet.grid
    grid.go_to(dialog.sheet.model.row_of(row), column + 1)
    QTest.keyClick(grid, Qt.Key.Key_F2)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    editor.insert(words)  # QTest types no Chinese
    QTest.keyClick(editor, Qt.Key.Key_Return)
    settle(qtbot, dialog)


def settle(qtbot: QtBot, dialog: NewTaskDialog) -> None:
    """Wait until nothing is looked at any more."""
    QApplication.processEvents()
    qtbot.waitUntil(lambda: not looking(dialog), timeout=30_000)


def test_bad_cells_are_corrected_in_place_and_nothing_is_sent_before(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path
) -> None:
    good = task_sheets.rows(shops)
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", task_sheets.spoilt(good)))
    sheet = dialog.sheet
    sheet.only_errors.click()
    assert sheet.model.rowCount() == 7
    QTest.keyClick(dialog, Qt.Key.Key_F8)
    assert sheet.grid.place() == (task_sheets.BAD[0][0], task_sheets.BAD[0][1])
    assert "no such shop is registered" in sheet.why.text()
    for number, (row, column, value) in enumerate(task_sheets.BAD, start=1):
        assert sheet.model.cell(sheet.model.row_of(row), column + 1) == value
        right = "page_size=50" if number == 7 else str(good[row - 2][column])
        write(qtbot, dialog, row, column, right)
        assert dialog.focusWidget() is sheet.grid, "the keyboard stays where the next row is corrected"
        left = 7 - number
        assert sheet.counts.text() == (f"300 rows, {left} with errors" if left else "300 rows")
        assert sheet.model.rowCount() == 7 or not left, "a corrected row stays under the cursor"
        if left:
            QTest.keyClick(dialog, Qt.Key.Key_F8)
            assert sheet.grid.place() == task_sheets.BAD[number][:2], "none is passed by where Enter goes"
    assert sheet.model.rowCount() == 300
    assert tasks(fleet) == []
    assert (dialog.verbs.part.isVisible(), dialog.verbs.create.text()) == (False, "Create 300 tasks")
    sheet.undo.click()
    settle(qtbot, dialog)
    assert sheet.counts.text() == "300 rows, 1 with errors"


def test_the_next_error_goes_round_also_after_enter_went_to_a_bad_cell(
    qtbot: QtBot, shops: list[str], read_file: Open, tmp_path: Path
) -> None:
    good = [shop.partition(":")[2] for shop in shops[:4]]
    rows = [[where, "sync_order"] for where in ("no-1", "no-2", "no-3", good[3])]
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", rows, ("店铺", "任务类型")))
    write(qtbot, dialog, 2, 0, good[0])
    met = []
    for _turn in range(4):
        QTest.keyClick(dialog, Qt.Key.Key_F8)
        met.append(dialog.sheet.grid.place())
    assert met == [(3, 0), (4, 0), (3, 0), (4, 0)]
    dialog.sheet.grid.go_to(dialog.sheet.model.row_of(3), 1)  # by hand, to where Enter had gone
    QTest.keyClick(dialog, Qt.Key.Key_F8)
    assert dialog.sheet.grid.place() == (4, 0)


def test_rows_that_could_not_start_now_are_told_and_shown_alone(
    qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path
) -> None:
    fleet.heartbeat("rpa-01", slots=4, busy=0)
    for shop in ("pdd:pdd-10002", "pdd:pdd-10005"):
        fleet.context.commands.sessions.close(shop, kind="login_expired")
    rows = [[f"pdd-{10001 + n}", "sync_order", ""] for n in range(4)]
    rows += [
        ["pdd-10002", "refresh_goods", ""],
        ["pdd-10005", "refresh_goods", f"{datetime.now(tz=UTC) + timedelta(days=3):%Y-%m-%d %H:%M}"],
    ]
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", rows, ("店铺", "任务类型", "开始时间")))
    sheet, barred = dialog.sheet, dialog.sheet.summary.barred
    qtbot.waitUntil(lambda: barred.lead() == "2 of 6 tasks cannot start now", timeout=30_000)
    assert "Rows 3, 6: needs login" in words(barred), "of what is for later nobody knows"
    at = sheet.model.row_of(3)
    assert (sheet.model.goes(at), sheet.model.words(at, 0)) == ("barred", "cannot start now")
    room = sheet.grid.columnWidth(0)
    assert room >= sheet.grid.fontMetrics().horizontalAdvance("cannot start now") + 30, "it is read whole"
    assert sheet.model.why(at, 0) == "It becomes a task that cannot start now: needs login."
    find(barred, LinkLabel, "Show only these rows").click()
    assert [sheet.model.number(row) for row in range(sheet.model.rowCount())] == [3, 6]
    find(barred, LinkLabel, "Show all rows").click()
    assert sheet.model.rowCount() == 6
    sheet.summary.barred_link.click()
    fleet.context.commands.fleet.pause("type:refresh_goods", reason="sale")
    qtbot.waitUntil(lambda: "Row 6: paused" in words(barred), timeout=30_000)
    fleet.context.commands.fleet.resume("type:refresh_goods")
    fleet.context.commands.sessions.open("pdd:pdd-10002")
    qtbot.waitUntil(lambda: not barred.isVisibleTo(dialog), timeout=30_000)
    assert sheet.model.rowCount() == 6, "where no row is left to show, all are shown"


def test_what_is_pasted_goes_into_the_rows_that_are_shown(qtbot: QtBot, read_file: Open, tmp_path: Path) -> None:
    rows = [["pdd-1", "同步订单"], ["pdd-10001", "同步订单"], ["pdd-2", "同步订单"]]
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", rows, ("店铺", "任务类型")))
    sheet = dialog.sheet
    sheet.only_errors.click()
    sheet.grid.go_to(0, 1)
    for pasted, counts in (("a\nb\nc", "3 rows, 2 with errors"), ("pdd-10002\npdd-10003", "3 rows")):
        QGuiApplication.clipboard().setText(pasted)
        QTest.keyClick(sheet.grid, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        settle(qtbot, dialog)
        assert sheet.counts.text() == counts
    assert sheet.orders is not None
    shops = [sheet.model.cell(sheet.model.row_of(row.number), 1) for row in sheet.orders.table.rows]
    assert shops == ["pdd-10002", "pdd-10001", "pdd-10003"], "the good row between is as it was"


def test_what_was_probably_meant_is_one_click_for_all_cells_that_say_it(
    qtbot: QtBot, read_file: Open, tmp_path: Path
) -> None:
    rows = [[f"pdd-{10001 + n}", "同步定单"] for n in range(3)]
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", rows, ("店铺", "任务类型")))
    dialog.sheet.grid.go_to(0, 2)
    assert "did you mean sync_order?" in dialog.sheet.why.text()
    find(dialog.sheet, LinkLabel, "Use it in all 3 cells").click()
    settle(qtbot, dialog)
    assert dialog.verbs.create.text() == "Create 3 tasks"


def test_rows_with_errors_are_kept_in_a_file_that_can_be_corrected_and_read_again(
    qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path
) -> None:
    rows = [["pdd-10001", "同步订单", "高"], ["pdd-1", "同步订单", "低"]]
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", rows, ("店铺", "任务类型", "优先级")))
    with qtbot.waitSignal(dialog.created):
        dialog.send_good(tmp_path / "bad.xlsx")
    assert [task.shop for task in tasks(fleet)] == ["pdd:pdd-10001"]
    again = read_file(tmp_path / "bad.xlsx")
    assert again.sheet.counts.text() == "1 row, 1 with errors"
    assert again.sheet.orders is not None
    assert again.sheet.orders.table.columns == ("店铺", "任务类型", "优先级", "Reason")
    write(qtbot, again, 2, 0, "pdd-10002")
    assert again.verbs.create.text() == "Create 1 task"


def test_nothing_is_sent_where_the_file_of_the_bad_rows_cannot_be_written(
    qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path
) -> None:
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", [["pdd-10001", "x"], ["pdd-10001", "同步订单"]], HEADER))
    dialog.send_good(tmp_path / "nowhere" / "bad.xlsx")
    qtbot.waitUntil(lambda: dialog.error.isVisible() and dialog.verbs.part.isEnabled())
    assert tasks(fleet) == []


def test_rows_are_pasted_into_an_empty_table(qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open) -> None:
    dialog = NewTaskDialog(fleet.context)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
    dialog.shops.mode.choose("file")
    dialog.shops.picker.file.blank.click()
    qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not looking(dialog))
    assert dialog.verbs.missing.text() == "Paste or type rows first"
    dialog.sheet.grid.setFocus()
    write(qtbot, dialog, 3, 0, "pdd-10001")
    assert dialog.sheet.counts.text() == "1 row, 1 with errors", "it says no type yet"
    dialog.sheet.grid.go_to(1, 2)
    QGuiApplication.clipboard().setText("同步订单\t高\n商品刷新\t低\n")
    QTest.keyClick(dialog.sheet.grid, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, dialog)
    assert dialog.sheet.counts.text() == "2 rows, 1 with errors"
    write(qtbot, dialog, 4, 0, "pdd-10002")
    with qtbot.waitSignal(dialog.created):
        dialog.verbs.create.click()
    found = {(task.shop, task.task_type, task.priority) for task in tasks(fleet)}
    assert found == {("pdd:pdd-10001", "sync_order", 10), ("pdd:pdd-10002", "refresh_goods", 2)}


@pytest.mark.parametrize("head", ["店铺\t任务类型\t优先级\n", ""])
def test_a_table_is_pasted_whole_with_its_header_or_without_one(
    qtbot: QtBot, fleet: Fleet, shops: list[str], head: str
) -> None:
    dialog = NewTaskDialog(fleet.context)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.shops.picker.model.rowCount() > 0)
    dialog.what.types.setCurrentIndex(-1)
    dialog.shops.mode.choose("file")
    QGuiApplication.clipboard().setText(f"{head}pdd-10001\t同步订单\t\npdd-10002\t商品刷新\t\n")
    QTest.keyClick(dialog.shops.picker.file.choose, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not looking(dialog))
    assert dialog.verbs.create.text() == "Create 2 tasks"


def test_what_a_column_says_is_remembered_for_the_next_file_like_it(
    qtbot: QtBot, read_file: Open, tmp_path: Path
) -> None:
    header, rows = ("店铺", "任务", "页"), [["pdd-10001", "同步订单", 20]]
    first = read_file(task_sheets.write(tmp_path / "a.csv", rows, header))
    field = first.sheet.columns.fields[2]
    field.setCurrentIndex(field.findData("payload.page_size"))
    field.activated.emit(field.currentIndex())
    settle(qtbot, first)
    second = read_file(task_sheets.write(tmp_path / "b.xlsx", rows, header))
    assert second.sheet.columns.fields[2].currentData() == "payload.page_size"
    other = read_file(task_sheets.write(tmp_path / "c.xlsx", [[*rows[0], "x"]], (*header, "别的")))
    assert other.sheet.columns.fields[2].currentData() == "", "these are other columns"


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
    told = [(one.row, one.reason.params["id"]) for one in left_out(second)]
    assert told == [(2, active["sync_order"]), (3, active["refresh_goods"]), (5, active["sync_order"])]
    with qtbot.waitSignal(second.tasks_wanted) as wanted:
        notice.show_wanted.emit()
    assert all(task_id in wanted.args[0] for task_id in active.values())
    with qtbot.waitSignal(second.created) as done:
        second.verbs.create.click()
    assert (len(done.args[0].created), done.args[0].duplicates) == (1, ())
    assert len(tasks(fleet)) == 3


def test_a_row_that_repeats_another_names_it_and_leads_to_both(second: NewTaskDialog) -> None:
    sheet = second.sheet
    notice = sheet.summary.repeats
    assert notice.accessibleName() == "1 row repeats another one and is left out Row 5 repeats row 2"
    assert not sheet.first.isVisible()
    notice.show_link.click()
    assert sheet.model.number(sheet.grid.currentIndex().row()) == 5
    sheet.first.click()
    assert sheet.model.number(sheet.grid.currentIndex().row()) == 2
    assert not sheet.first.isVisible()


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
    (one,) = left_out(done_before)
    assert (one.row, one.reason.params["id"]) == (2, ran["sync_order"].task_id)
    with qtbot.waitSignal(done_before.tasks_wanted) as wanted:
        notice.show_link.click()
    assert ran["sync_order"].task_id in wanted.args[0]
    with qtbot.waitSignal(done_before.created) as done:
        done_before.verbs.create.click()
    assert (len(done.args[0].created), done.args[0].done) == (2, ())


def test_what_is_said_beside_the_rows_is_scrolled_and_not_squeezed_in_a_low_window(done_before: NewTaskDialog) -> None:
    done_before.resize(1098, 460)
    assert cut(done_before.sheet.summary) == []
    grid = done_before.sheet.grid
    said = [str(grid.model().index(row, 0).data()) for row in range(grid.model().rowCount())]
    assert "done before, goes again" in said
    assert grid.columnWidth(0) > max(map(grid.fontMetrics().horizontalAdvance, said)) + 20, "beside its glyph"


def test_where_no_row_goes_only_fields_of_the_type_that_is_meant_are_offered(
    fleet: Fleet, read_file: Open, tmp_path: Path
) -> None:
    path = task_sheets.write(tmp_path / "a.csv", [["nobody", 20]], ("店铺", "每页数量"), encoding="gbk")
    dialog = read_file(path)
    assert not dialog.sheet.orders.going  # type: ignore[union-attr]
    field = dialog.sheet.columns.fields[1]
    offered = {str(field.itemData(at)) for at in range(field.count())}
    kind = fleet.engine.registry.task_type(str(dialog.what.types.currentData()))
    assert {one for one in offered if one.startswith("payload.")} == {f"payload.{name}" for name in titles_of(kind)}


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
    qtbot.waitUntil(lambda: "not a readable workbook, whatever its name" in dialog.shops.picker.file.state())
    assert not dialog.sheet.isVisible()
    dialog.shops.mode.choose("pick")
    assert dialog.verbs.missing.text() == "Tick a shop"


def test_a_draft_with_a_file_outlives_the_program(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path
) -> None:
    """With its file, which is read again, and the shops that were ticked before."""
    memory, place, path = fleet.context.memory, fleet.context.own("newtask.draft"), tmp_path / "tasks.csv"
    task_sheets.write(path, task_sheets.rows(shops)[:3])
    picked: list[str] = []

    def tick() -> None:
        picked.extend(shop.key for shop in list(fleet.context.shops().values())[:2])
        dialog_shops.tick(tuple(picked))

    dialog = NewTaskDialog(fleet.context)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog_shops = dialog.shops.picker
    qtbot.waitUntil(lambda: dialog_shops.model.rowCount() > 0)
    tick()
    dialog.take_file(path)
    qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not looking(dialog), timeout=60_000)
    qtbot.waitUntil(lambda: (memory.get(place) or {}).get("file", {}).get("path") == str(path))
    left = {**memory.get(place), "run": "the one before"}

    def again() -> NewTaskDialog:
        memory.put(place, left)
        found = NewTaskDialog(fleet.context)
        qtbot.addWidget(found)
        found.open()
        qtbot.waitUntil(lambda: "is here again" in found.notice.accessibleName() or found.sheet.isVisible())
        return found

    same = again()
    qtbot.waitUntil(lambda: same.sheet.isVisible() and not looking(same), timeout=60_000)
    assert same.sheet.orders is not None
    assert same.sheet.orders.total == 3
    assert "is here again" in same.notice.accessibleName()
    same.shops.mode.choose("pick")
    assert set(same.shops.picker.chosen()) == set(picked)
    same.reject()
    task_sheets.write(path, task_sheets.rows(shops)[:4])
    other = again()
    qtbot.waitUntil(lambda: other.sheet.isVisible() and not looking(other), timeout=60_000)
    assert other.notice.accessibleName() == "tasks.csv was changed since it was read for the draft."
    other.reject()
    left["file"] = {**left["file"], "edited": True}
    edited = again()
    qtbot.waitUntil(lambda: edited.sheet.isVisible() and not looking(edited), timeout=60_000)
    assert edited.notice.accessibleName() == (
        "tasks.csv was changed since it was read for the draft. What was changed in the cells of its file was not kept."
    )
    edited.reject()
    path.unlink()
    gone = again()
    qtbot.waitUntil(lambda: not looking(gone) and bool(gone.shops.picker.file.state()))
    assert not gone.sheet.isVisible()
    assert "tasks.csv" in gone.shops.picker.file.state()
    assert set(gone.shops.picker.chosen()) == set(picked)


def test_a_second_file_that_cannot_be_read_leaves_none_of_the_rows_before(
    qtbot: QtBot, fleet: Fleet, shops: list[str], read_file: Open, tmp_path: Path
) -> None:
    dialog = read_file(task_sheets.write(tmp_path / "tasks.csv", task_sheets.rows(shops)[:3]))
    assert dialog.verbs.create.isEnabled()
    (tmp_path / "list.xlsx").write_text("x")
    dialog.take_file(tmp_path / "list.xlsx")
    qtbot.waitUntil(lambda: "not a readable workbook" in dialog.shops.picker.file.state())
    assert not dialog.sheet.isVisible()
    assert dialog.verbs.create.text() == "Choose a file"
    dialog.take_file(tmp_path / "tasks.csv")
    qtbot.waitUntil(lambda: dialog.sheet.isVisible() and not looking(dialog))
    assert dialog.verbs.create.isEnabled()


def test_one_good_row_is_said_in_the_singular_and_its_deadline_may_be_words(
    read_file: Open, shops: list[str], tmp_path: Path
) -> None:
    good, bad = ([*row, words] for row, words in zip(task_sheets.rows(shops), ("明天 09:00", "soon"), strict=False))
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", [good, bad], (*task_sheets.HEADER, "截止")))
    assert [(one.row, one.column) for one in left_out(dialog)] == [(3, "截止")]
    assert dialog.verbs.part.text() == "Send the 1 good one, keep 1 as a file"


def test_a_small_window_shows_every_column_and_why_nothing_goes_whole(
    qtbot: QtBot, read_file: Open, shops: list[str], tmp_path: Path
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1280, 720)
    window.show()
    rows = [[*row, "明天 09:00"] for row in task_sheets.spoilt(task_sheets.rows(shops))]
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", rows, (*task_sheets.HEADER, "截止")), window=window)
    assert dialog.verbs.missing.text() == "7 rows have errors"
    assert dialog.verbs.missing.sizeHint().width() <= dialog.verbs.missing.width()
    qtbot.waitUntil(lambda: dialog.sheet.grid.horizontalScrollBar().maximum() == 0)
    assert faults(dialog) == ()
    assert dialog.geometry().center() == window.geometry().center(), "what grows stays in the middle"
    dialog.sheet.grid.setColumnWidth(1, 400)
    dialog.resize(dialog.width() + 1, dialog.height())
    assert dialog.sheet.grid.columnWidth(1) == 400, "what a person did stays"
    dialog.verbs.back.click()
    assert dialog.width() == 1098, "the form is as it was"
    assert dialog.geometry().center() == window.geometry().center()


def test_every_word_follows_the_language(
    request: pytest.FixtureRequest, fleet: Fleet, read_file: Open, shops: list[str], tmp_path: Path
) -> None:
    request.addfinalizer(lambda: type_names.know({}))
    type_names.know(fleet.context.types())
    dialog = read_file(task_sheets.write(tmp_path / "t.csv", task_sheets.spoilt(task_sheets.rows(shops))))
    try:
        i18n.set_language("zh_CN")
        dialog._say()
        assert dialog.verbs.part.text() == "发送 293 个正确的，7 个另存为文件"
        assert dialog.sheet.counts.text() == "300 行，7 行有错误"
        assert dialog.sheet.summary.facts()["同步订单"] == "96"
        assert "店铺" in dialog.sheet.columns.fields[1].currentText()
    finally:
        i18n.set_language("en")


def test_what_is_said_of_a_cell_follows_the_language(read_file: Open, tmp_path: Path) -> None:
    rows = [[f"pdd-{10001 + n}", "同步定单"] for n in range(3)]
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", rows, ("店铺", "任务类型")))
    dialog.sheet.grid.go_to(0, 2)
    assert "did you mean sync_order?" in dialog.sheet.why.text()
    try:
        i18n.set_language("zh_CN")
        assert "是否为 sync_order" in dialog.sheet.why.text()
        assert find(dialog.sheet, LinkLabel, "改为 sync_order").isVisible()
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
        now = time.thread_time()  # a machine that others use as well is no stall
        longest, last = max(longest, now - last if last else 0.0), now

    timer = QTimer(interval=5)
    timer.timeout.connect(tick)
    began = time.process_time()
    dialog = read_file(path, timer.start)
    whole = time.process_time() - began
    timer.stop()
    assert dialog.sheet.counts.text() == "10,000 rows, 1,000 with errors"
    assert longest < whole / 4, "all of it is done in the GUI thread"
    began = time.process_time()
    write(qtbot, dialog, 2, 3, "高")
    took = time.process_time() - began
    assert dialog.sheet.counts.text() == "10,000 rows, 999 with errors"
    assert took < whole / 4, "all rows are looked at again for one"


def test_what_rows_come_after_is_counted_beside_them(
    qtbot: QtBot, fleet: Fleet, read_file: Open, tmp_path: Path
) -> None:
    rows = [["pdd:pdd-10001", "sync_order", ""], ["pdd:pdd-10001", "refresh_goods", "sync_order"]]
    rows += [["pdd:pdd-10002", "refresh_goods", "同步订单"], ["pdd:pdd-10003", "refresh_goods", "nobody"]]
    dialog = read_file(task_sheets.write(tmp_path / "a.csv", rows, ("shop", "type", "after")))
    facts = dialog.sheet.summary.facts
    assert facts()["After sync_order"] == "1 waits for 1 task, 1 has none open"
    assert [(one.row, one.column) for one in left_out(dialog)] == [(5, "after")]
    assert "Deadline" not in facts()
    dialog.verbs.back.click()
    dialog.delivery.deadline.line.setText("in 2 h")
    dialog.delivery.after.add_kind("get_content")
    dialog.verbs.create.click()
    qtbot.waitUntil(lambda: "Deadline" in facts())
    assert facts()["After get_content"] == "4 have none open"
    assert facts()["After"] == "get_content"
