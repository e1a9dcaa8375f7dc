"""Count-downs of one event say the same wherever they stand, on either pair of drivers."""

from __future__ import annotations

import re
import threading

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services.domain.gates.breaker import Rule
from services.domain.insight.forecast.estimate import Estimate
from tests.gui.desk import Desk
from views.pages.overview.page import OverviewPage
from views.pages.tasks.page import TasksPage
from views.pages.tasks.panel.detail import TaskDetailPanel
from views.support import instant
from views.support.words import shop
from views.widgets.timeline import Timeline

pytestmark = [pytest.mark.both_pairs, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]


def span(words: str) -> str:
    """The first span in a sentence: ``9 m 41 s``, "" for none; ``5 m 00 s`` of a cell is ``5 min`` of a sentence."""
    plain = words.replace("\u202f", " ")
    found = re.search(r"\d+ m \d\d s|\d+(?:–\d+)? (?:s|min)\b", plain)
    return found[0].replace(" m 00 s", " min") if found else ""


def cell(page: TasksPage, task_id: str) -> str:
    """What the list says of a task now."""
    records = page.table.records
    row = records.find(task_id)
    return "" if row is None else str(records.column(records.section_of("progress")).value(row).text)


def panel_lines(page: TasksPage, begin: str) -> list[str]:
    """The sentences of the panel that begin so."""
    labels = page.findChild(TaskDetailPanel).findChildren(QLabel)
    return [one.text() for one in labels if one.text().startswith(begin)]


def test_list_sentence_and_timeline_count_one_start_alike_however_old_the_answer_is(
    qtbot: QtBot, page: TasksPage, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = desk.create(delay_s=300)
    page.show_request(f"id:{task.task_id}")
    page.show_task(task.task_id)
    qtbot.waitUntil(lambda: bool(panel_lines(page, "Starts in")) and bool(span(cell(page, task.task_id))))
    again, ask = threading.Event(), desk.session.queries.tasks.detail

    def held(task_id: str) -> object:
        again.wait(60)
        return ask(task_id)

    monkeypatch.setattr(desk.session.queries.tasks, "detail", held)
    seen, apart = set[str](), []

    def counted() -> bool:
        now = instant.now_ms()  # read again at the end: where it moved between, these are two instants
        told = {span(cell(page, task.task_id)), *map(span, panel_lines(page, "Starts in"))}
        told |= {span(line) for line in panel_lines(page, "It starts in")}
        for lines in page.findChild(TaskDetailPanel).findChildren(Timeline):
            told |= {span(entry.span) for entry in lines.entries() if entry.future and entry.span}
        if instant.now_ms() != now:
            return False
        if len(told) > 1:
            apart.append(told)
        seen.update(told)
        return len(seen) >= 4

    try:
        qtbot.waitUntil(counted, timeout=30_000)
    finally:
        again.set()
    assert not apart, apart


def test_a_row_says_what_the_panel_beside_it_says(
    qtbot: QtBot, page: TasksPage, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = desk.session.queries.tasks
    task = desk.create()
    now = desk.session.engine.store.now_ms()
    detail, waits = asked.detail, asked.waits
    of_list = Estimate(low_s=3600.0, mid_s=7200.0, high_s=7200.0, basis="measured", at_ms=now)
    of_panel = Estimate(low_s=600.0, mid_s=700.0, high_s=700.0, basis="measured", at_ms=now)
    monkeypatch.setattr(
        asked, "waits", lambda tasks: {key: replace(one, starts=of_list) for key, one in waits(tasks).items()}
    )
    monkeypatch.setattr(asked, "detail", lambda task_id: replace(detail(task_id), starts=of_panel))
    page.show_request("status:waiting")
    qtbot.waitUntil(lambda: "h" in cell(page, task.task_id))
    page.show_task(task.task_id)
    qtbot.waitUntil(lambda: "min" in cell(page, task.task_id))
    (sentence,) = panel_lines(page, "It starts in")
    assert span(sentence) == span(cell(page, task.task_id))


def test_list_and_panel_count_the_age_of_one_task_alike(qtbot: QtBot, page: TasksPage, desk: Desk) -> None:
    task = desk.create()
    page.show_request(f"id:{task.task_id}")
    page.show_task(task.task_id)
    records = page.table.records
    column = records.column(records.section_of("created"))
    panel = page.findChild(TaskDetailPanel)
    apart, seen = [], set[str]()

    def counted() -> bool:
        now = instant.now_ms()  # where the window was held up, whoever reads it first moves it for all
        row = records.find(task.task_id)
        notes = [one.text() for one in panel.findChildren(QLabel) if one.text().endswith(" so far")]
        if row is None or not notes:
            return False
        age = column.display(row)
        if instant.now_ms() != now:
            return False
        if notes != [f"{age} so far"]:
            apart.append((age, *notes))
        seen.add(age)
        return len(seen) >= 3

    qtbot.waitUntil(counted, timeout=30_000)
    assert not apart, apart


def test_item_and_shop_count_one_try_alike(qtbot: QtBot, console: Console, desk: Desk) -> None:
    desk.session.commands.breakers.set_rule(Rule(failures=2, of=3, cooldown_s=300, max_cooldown_s=300))
    for number in range(2):
        desk.fail(desk.create(payload={"n": number}), kind="network", error="no")
    page = console.window.page("overview")
    assert isinstance(page, OverviewPage)
    seen, apart = set[str](), []

    def counted() -> bool:
        now = instant.now_ms()  # where the window was held up, whoever reads it first moves it for all
        items = [item.row for item in page.attention.list.items() if item.row.key.startswith("breaker:")]
        cells = [one for one in page.fleet.map.rows.cells if one.breaker is not None]
        if not items or not cells:
            return False
        told = {span(items[0].sentence), span(shop.why(cells[0], now))}
        if instant.now_ms() != now:
            return False
        if len(told) > 1:
            apart.append(told)
        seen.update(told)
        return len(seen) >= 4

    qtbot.waitUntil(counted, timeout=60_000)
    assert not apart, apart


@pytest.mark.one_pair
def test_a_view_that_stands_still_counts_on_nowhere(qtbot: QtBot, console: Console, desk: Desk) -> None:
    task = desk.create(delay_s=300)
    console.window.open_page("tasks", f"id:{task.task_id}")
    page = console.window.page("tasks")
    assert isinstance(page, TasksPage)
    page.show_task(task.task_id)
    qtbot.waitUntil(lambda: bool(panel_lines(page, "Starts in")) and bool(span(cell(page, task.task_id))))
    console.window.toggle_freeze()
    stood = instant.now_ms()
    qtbot.waitUntil(lambda: desk.session.live.now_ms() > stood + 3_000)
    (sentence,) = panel_lines(page, "Starts in")
    assert (instant.now_ms(), span(cell(page, task.task_id))) == (stood, span(sentence))
    console.window.toggle_freeze()
    qtbot.waitUntil(lambda: panel_lines(page, "Starts in") != [sentence])
