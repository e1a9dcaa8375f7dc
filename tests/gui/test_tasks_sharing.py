"""Copying, exporting, columns and the menu of a row on the Tasks page."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from services.domain.task.status import Status
from services.domain.text import shell, view_link
from tests.gui.desk import Desk
from tests.gui.tasks_rig import WAIT_MS, shown, wait
from tests.support.held import held, settled
from tests.support.widgets import in_chinese
from views.pages.tasks import listing, sharing
from views.pages.tasks.listing import Wanted
from views.pages.tasks.page import TasksPage
from views.pages.tasks.sharing import FORMS


def copied(qtbot: QtBot, page: TasksPage, form: str) -> str:
    """What the clipboard holds after copying the selection."""
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("before")
    menu = QMenu(page)
    page.sharing.fill_menu(menu, page.selection.ids)
    place = [key for key, _words in FORMS].index(form)
    menu.actions()[place].trigger()
    wait(qtbot, lambda: clipboard.text() != "before")
    return clipboard.text()


def actions(menu: QMenu) -> dict[str, QAction]:
    """Actions of a menu by their words."""
    return {action.text(): action for action in menu.actions()}


def test_on_windows_it_is_said_for_which_shell_a_command_is(
    desk: Desk, page: TasksPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PowerShell reads what stands for a quotation mark in cmd as the end of the word."""
    monkeypatch.setattr(shell, "WINDOWS", True)
    desk.create(0)
    page.show_request("")
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    page.select_all()
    wait(qtbot, lambda: page.selection.count == 1)
    for form, told in (("command", True), ("curl", True), ("json", False)):
        copied(qtbot, page, form)
        assert ("for the Command Prompt (cmd)" in desk.toasts[-1].text) is told


def test_a_selection_beyond_the_loaded_rows_is_copied_whole(
    desk: Desk, page: TasksPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "FIRST", 2)
    made = [
        desk.create(0, task_type="single_product", payload={"goods_id": f"G{n}", "api_token": "hunter2"})
        for n in range(4)
    ]
    page.show_request("")
    wait(qtbot, lambda: page.table.records.rowCount() == 2)
    page.select_all()
    wait(qtbot, lambda: page.selection.count == 4)
    assert set(copied(qtbot, page, "ids").split("\n")) == {task.task_id for task in made}
    assert desk.toasts[-1].text == "4 tasks copied"
    rows = copied(qtbot, page, "tsv").strip().split("\n")
    assert len(rows) == 5
    assert rows[0].split("\t")[1] == "Type"
    assert "微光数码专卖店" in rows[1]
    documents = json.loads(copied(qtbot, page, "json"))
    assert {document["payload"]["goods_id"] for document in documents} == {"G0", "G1", "G2", "G3"}
    assert "hunter2" not in QGuiApplication.clipboard().text()
    calls = copied(qtbot, page, "curl").split("\n")
    assert len(calls) == 4
    body = json.loads(shlex.split(calls[0])[shlex.split(calls[0]).index("-d") + 1])
    assert body["type"] == "single_product"
    assert body["payload"]["goods_id"] in {"G0", "G1", "G2", "G3"}
    assert "hunter2" not in "".join(calls)
    assert view_link.read(copied(qtbot, page, "link")).page == "tasks"
    lines = copied(qtbot, page, "command").split("\n")
    assert len(lines) == 4
    assert all(line.startswith("fleetdeck task create --platform pdd --shop pdd-10021") for line in lines)


@pytest.mark.one_pair
def test_what_is_copied_last_stays_on_the_clipboard(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    with held(sharing, "_rows") as call:
        page.sharing.copy("tsv", [task.task_id])
        call.wait(qtbot)
        page.sharing.copy("ids", [task.task_id])
        call.let_go()
        settled(qtbot, page.sharing)
    assert QGuiApplication.clipboard().text() == task.task_id


def test_too_much_for_the_clipboard_is_refused_with_the_remedy(desk: Desk, page: TasksPage) -> None:
    page.sharing.copy("ids", [f"t{n}" for n in range(10_001)])
    assert "Export" in desk.toasts[-1].text


def test_the_whole_result_is_exported_in_the_background(
    desk: Desk, page: TasksPage, qtbot: QtBot, tmp_path: Path
) -> None:
    made = [desk.create(0), desk.create(1)]
    desk.create(2)
    page.show_request("platform:pdd")
    shown(page, qtbot, 2)
    page.buttons.export.click()
    dialog = page.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.windowTitle() == "Export all that match"
    dialog.reject()
    path = tmp_path / "out.csv"
    page.sharing.write(path, (), Wanted(filter=page.filter.expression()))
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "2 tasks exported to out.csv")
    assert in_chinese(desk.toasts[-1]).text == "已将 2 个任务导出到 out.csv"
    with path.open(encoding="utf-8-sig", newline="") as stream:
        assert {row["task_id"] for row in csv.DictReader(stream)} == {task.task_id for task in made}


def test_the_selection_alone_is_exported(desk: Desk, page: TasksPage, qtbot: QtBot, tmp_path: Path) -> None:
    first, _second = desk.create(0), desk.create(1)
    shown(page, qtbot, 2)
    page.table.records.set_ticked([first.task_id])
    path = tmp_path / "out.json"
    page.sharing.write(path, page.selection.ids(), Wanted(filter=page.filter.expression()))
    with qtbot.waitSignal(page.sharing.exported, timeout=WAIT_MS):
        pass
    assert [row["task_id"] for row in json.loads(path.read_text(encoding="utf-8"))] == [first.task_id]


def test_an_export_that_fails_says_why(desk: Desk, page: TasksPage, qtbot: QtBot, tmp_path: Path) -> None:
    desk.create(0)
    page.sharing.write(tmp_path / "no folder" / "out.csv", (), Wanted())
    wait(qtbot, lambda: bool(desk.toasts) and desk.toasts[-1].text == "The export failed.")
    page.sharing.write(tmp_path / "out.doc", (), Wanted())
    wait(qtbot, lambda: ".csv, .xlsx, .json or .jsonl" in desk.toasts[-1].detail)


def test_the_menu_of_a_row(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.claim(desk.create(0))
    desk.create(2)
    shown(page, qtbot, 2)
    page.table.set_current_key(task.task_id)
    row = page.table.records.row_of(task.task_id)
    menu = page.table.build_menu(page.table.records.index(row, page.table.records.section_of("platform")))
    found = actions(menu)
    for words in ("Retry", "Cancel", "Copy as", "Copy cell", "Copy row", "Filter by this value", "Open worker"):
        assert words in found
    assert not found["Retry"].isEnabled()
    assert found["Retry"].toolTip() == "This task has not failed"
    with qtbot.waitSignal(page.navigate) as gone:
        found["Open worker"].trigger()
    assert gone.args == ["workers", "w1"]
    with qtbot.waitSignal(page.navigate) as gone:
        found["Open shop"].trigger()
    assert gone.args == ["shops", "pdd:pdd-10021"]
    found["Exclude this value"].trigger()
    assert page.filter.expression() == "-platform:pdd"
    found["Tasks of this shop"].trigger()
    assert page.filter.expression() == "shop:pdd:pdd-10021"
    menu = page.table.build_menu(page.table.records.index(row, page.table.records.section_of("status")))
    actions(menu)["Filter by this value"].trigger()
    menu = page.table.build_menu(page.table.records.index(row, page.table.records.section_of("attempts")))
    assert "Copy cell" in actions(menu)
    assert "Filter by this value" not in actions(menu), "no filter takes it"
    assert f"status:{Status.RUNNING}" in page.filter.expression()


def test_columns_are_chosen_from_the_header_button(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    section = page.table.records.section_of("priority")
    assert page.table.isColumnHidden(section)
    menu = page.table.layout_of_columns.menu()
    actions(menu)["Priority"].trigger()
    assert not page.table.isColumnHidden(section)
