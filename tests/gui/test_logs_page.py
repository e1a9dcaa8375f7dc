"""The Logs page over a real session: what programs of this machine logged is followed, searched and copied."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from services import i18n
from tests.gui.desk import Desk
from tests.unit.views.pages.opening import opening
from views.pages.logs.page import LogsPage

pytestmark = [pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]
Open = Callable[[], LogsPage]
BASE = datetime(2026, 11, 25, 11, 0, tzinfo=UTC)


def line(second: int, text: str, level: str = "info", **more: object) -> str:
    at = (BASE + timedelta(seconds=second)).isoformat(timespec="milliseconds")
    return json.dumps({"at": at, "level": level, "logger": "services.x", "text": text} | more) + "\n"


@pytest.fixture
def folder(desk: Desk) -> Path:
    place = desk.context.logs.folder
    place.mkdir(parents=True, exist_ok=True)
    first = line(0, "takes the lanes high, normal") + line(1, "T1 ended as dead", "warning", task="T1", worker="desk-1")
    failed = line(2, "the page of orders changed", "error", task="T2", trace="Traceback\nValueError: no price")
    (place / "worker.jsonl").write_text(first + failed, "utf-8")
    (place / "api.jsonl").write_text(line(3, "GET /stats: 200", request="R1", more={"token": "s3cret"}), "utf-8")
    return place


@pytest.fixture
def open_page(desk: Desk, folder: Path, qtbot: QtBot) -> Iterator[Open]:
    yield from opening(qtbot, lambda: LogsPage(desk.context), size=(1280, 760))


def texts(page: LogsPage) -> list[str]:
    return [row.text for row in page.table.records.records()]


def search(qtbot: QtBot, page: LogsPage, expression: str) -> list[str]:
    with qtbot.waitSignal(page.refreshed):
        page.show_request(expression)
    return texts(page)


def test_lines_of_all_programs_stand_there_the_newest_first(open_page: Open) -> None:
    page = open_page()
    assert texts(page) == [
        "GET /stats: 200",
        "the page of orders changed",
        "T1 ended as dead",
        "takes the lanes high, normal",
    ]
    levels = next(column for column in page.table.records.columns if column.key == "level")
    assert [levels.display(row) for row in page.table.records.records()] == ["Info", "Error", "Warning", "Info"]
    assert page.header.summary() == "4 lines of this machine, 1 error"


def test_levels_tasks_and_words_are_searched_for(open_page: Open, qtbot: QtBot) -> None:
    page = open_page()
    assert search(qtbot, page, "level:warning") == ["the page of orders changed", "T1 ended as dead"]
    assert search(qtbot, page, "task:T1") == ["T1 ended as dead"]
    assert search(qtbot, page, "price") == ["the page of orders changed"]
    assert search(qtbot, page, "nothing-of-that-kind") == []
    page.show_request("colour:red")
    qtbot.waitUntil(lambda: bool(page.filter.problem()))


def test_what_is_written_meanwhile_appears_by_itself(open_page: Open, folder: Path, qtbot: QtBot) -> None:
    page = open_page()
    with (folder / "worker.jsonl").open("a", encoding="utf-8") as file:
        file.write(line(9, "says more"))
    qtbot.waitUntil(lambda: texts(page)[0] == "says more", timeout=30_000)


def test_who_does_not_follow_is_told_of_new_lines(open_page: Open, folder: Path, qtbot: QtBot) -> None:
    page = open_page()
    page.follow_button.click()
    with (folder / "worker.jsonl").open("a", encoding="utf-8") as file:
        file.write(line(9, "says more"))
    qtbot.waitUntil(page.new_button.isVisible, timeout=30_000)
    assert texts(page)[0] == "GET /stats: 200"
    page.follow_button.click()
    assert texts(page)[0] == "says more"


def test_a_line_is_looked_at_whole_and_copied_without_secrets(open_page: Open, qtbot: QtBot) -> None:
    page = open_page()
    failed = page.table.records.records()[1]
    page.table.set_current_key(failed.key)
    page.table.peek_requested.emit(failed.key)
    assert page.panel.isVisible()
    assert "ValueError: no price" in page.panel.trace.text()
    assert page.panel.facts.values()["Task"] == "T2"
    with qtbot.waitSignal(page.navigate) as went:
        page.panel.task_button.click()
    assert went.args == ["tasks", 'id:"T2"']
    page.table.set_current_key(page.table.records.records()[0].key)
    page.panel.copy_button.click()
    copied = QGuiApplication.clipboard().text()
    assert json.loads(copied)["text"] == "GET /stats: 200"
    assert "s3cret" not in copied


def test_all_that_is_shown_is_copied_in_the_order_of_a_log(open_page: Open) -> None:
    page = open_page()
    page.copy_button.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[:3] == ["Time", "Level", "Program"]
    assert next(row.split("\t")[3] for row in lines[1:]) == "takes the lanes high, normal"
    assert len(lines) == 5


def test_lines_about_the_same_are_a_click_away(open_page: Open, qtbot: QtBot) -> None:
    page = open_page()
    page.table.peek_requested.emit(page.table.records.records()[2].key)
    with qtbot.waitSignal(page.refreshed):
        page.panel.same_button.click()
    assert texts(page) == ["T1 ended as dead"]


def test_it_speaks_chinese(open_page: Open) -> None:
    i18n.set_language("zh_CN")
    page = open_page()
    assert page.header.title() == "日志"
    assert page.header.summary().startswith("本机")


def test_enter_brings_the_keyboard_to_the_first_act_of_the_panel(open_page: Open) -> None:
    page = open_page()
    page.table.open_requested.emit(page.table.records.key_at(0))
    assert page.window().focusWidget() is page.panel.copy_button
