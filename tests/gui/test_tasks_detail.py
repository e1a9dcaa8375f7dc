"""Places in the lane, and the panel of one task."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services import i18n
from services.domain.change import Forget
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task import own_words
from services.monitor.tasks import TaskQueries
from services.ports import LogLine
from services.settings import Settings
from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from tests.support.heartbeats import heard_of
from tests.support.held import held, settled
from tests.support.widgets import find, words
from views.pages.tasks.page import TasksPage
from views.widgets.buttons import IconButton

pytestmark = pytest.mark.both_pairs


@pytest.fixture(autouse=True)
def ask_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places are asked for ten times a second."""
    monkeypatch.setattr("views.pages.tasks.page.ASK_MS", 100)


def progress(page: TasksPage) -> dict[str, str]:
    """What the column says, by task id."""
    column = page.table.records.column(page.table.records.section_of("progress"))
    return {row.key: column.value(row).text for row in page.table.records.records()}


def test_waiting_tasks_say_their_place_in_the_lane(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    worker = WorkerInfo(worker="w1", host="here", pid=1, executors=("rpa",), slots=(SlotState(task_id="another"),))
    first, second = desk.create(0), desk.create(1)
    urgent = desk.create(2, priority="high")
    with heard_of(desk.session.engine.store, worker):
        page.refresh()
        wanted = {first.task_id: "#1 in lane", second.task_id: "#2 in lane", urgent.task_id: "#1 in lane"}
        wait(qtbot, lambda: progress(page) == wanted)
        desk.claim(first)
        wait(qtbot, lambda: progress(page)[second.task_id] == "#1 in lane")


def test_a_lane_without_workers_says_so(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    wait(qtbot, lambda: desk.feed.latest.at_ms > 0)
    page.refresh()
    wait(qtbot, lambda: progress(page) == {task.task_id: "no worker"})


@pytest.mark.one_pair
def test_enter_goes_into_the_panel_and_esc_comes_back(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    page.table.setFocus()
    page.table.set_current_key(task.task_id)
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert page.panel.isVisible()
    focus = QApplication.focusWidget()
    assert page.panel.isAncestorOf(focus)  # type: ignore[arg-type]
    qtbot.keyClick(focus, Qt.Key.Key_Escape)
    assert not page.panel.isVisible()
    assert page.table.hasFocus()


@pytest.mark.one_pair
def test_a_panel_that_is_opened_to_look_leaves_the_keys_in_the_table(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    ids = {desk.create(number).task_id for number in range(2)}
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 2)
    page.table.setFocus()
    page.table.setCurrentIndex(page.table.records.index(0, 1))
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert page.panel.isVisible()
    assert page.table.hasFocus()
    first = page.table.current_key()
    wait(qtbot, lambda: str(first) in words(page.panel))
    qtbot.keyClick(page.table, Qt.Key.Key_Down)
    (second,) = ids - {str(first)}
    wait(qtbot, lambda: second in words(page.panel))
    assert page.table.hasFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert not page.panel.isVisible()
    assert page.table.hasFocus()


def test_the_log_follows_and_shows_earlier_attempts(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    store = desk.session.engine.store
    waiting = desk.create(1)
    page.show_task(waiting.task_id)
    wait(qtbot, lambda: page.panel.task is not None)
    assert not page.panel.logs.isVisibleTo(page)
    task = desk.claim(desk.create(0))
    store.append_log(task.task_id, 1, [LogLine(1_795_000_000_000, "out", "page.goto /orders")])
    page.show_task(task.task_id)
    log = page.panel.logs
    wait(qtbot, lambda: "page.goto /orders" in log.text.toPlainText())
    assert log.note() == "following, attempt 1 of 1"
    store.append_log(task.task_id, 1, [LogLine(1_795_000_000_000, "out", "second <b>line")])
    wait(qtbot, lambda: "second <b>line" in log.text.toPlainText())
    log._newest = 2
    menu = log.attempts_menu()
    assert [action.text() for action in menu.actions()] == ["Attempt 2", "Attempt 1"]
    menu.actions()[1].trigger()
    wait(qtbot, lambda: "second <b>line" in log.text.toPlainText())
    find(log, IconButton, "Copy the log").click()
    assert "page.goto" in QGuiApplication.clipboard().text()


@pytest.mark.one_pair
def test_words_are_looked_for_in_the_log_from_anywhere_on_the_page(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    quiet, task = desk.claim(desk.create(0)), desk.claim(desk.create(1))
    page.show_task(quiet.task_id)
    log = page.panel.logs
    wait(qtbot, lambda: log.text.placeholderText() == "Nothing written yet.")
    desk.session.engine.store.append_log(task.task_id, 1, [LogLine(1_795_000_000_000, "out", "page.goto /orders")])
    page.show_task(task.task_id)
    wait(qtbot, lambda: "page.goto /orders" in log.text.toPlainText())
    assert log.text.placeholderText() == ""
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert log.finder.isVisible()
    wait(qtbot, lambda: not log.finder.field.visibleRegion().isEmpty())  # nobody types where nothing is seen
    qtbot.keyClicks(log.finder.field, "goto")
    assert log.finder.count.text() == "1 of 1"
    qtbot.keyClick(log.finder.field, Qt.Key.Key_Escape)
    assert (log.finder.isVisible(), page.panel.isVisible()) == (False, True)


@pytest.mark.one_pair
def test_the_log_of_a_task_comes_though_that_of_the_one_before_is_on_its_way(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    store, tasks = desk.session.engine.store, [desk.claim(desk.create(number)) for number in range(2)]
    for task in tasks:
        store.append_log(task.task_id, 1, [LogLine(1_795_000_000_000, "out", f"of {task.task_id}")])
    page.panel.set_following(False)
    log = page.panel.logs
    with held(TaskQueries, "log") as call:
        page.show_task(tasks[0].task_id)
        call.wait(qtbot)
        page.show_task(tasks[1].task_id)
        wait(qtbot, lambda: f"of {tasks[1].task_id}" in log.text.toPlainText())
        call.let_go()
        settled(qtbot, page)
    assert f"of {tasks[0].task_id}" not in log.text.toPlainText()


@pytest.mark.one_pair
def test_another_language_tells_the_whole_log_anew_and_leaves_in_sight_what_was(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    task = desk.claim(desk.create(0))
    lines = [LogLine(1_795_000_000_000, "own", own_words.write("line.downloaded", file="a.csv", size="12"))]
    lines += [LogLine(1_795_000_000_000, "out", f"row {number}") for number in range(60)]
    desk.session.engine.store.append_log(task.task_id, 1, lines)
    page.show_task(task.task_id)
    log = page.panel.logs.text
    wait(qtbot, lambda: "row 59" in log.toPlainText())
    english, bar = log.toPlainText(), log.verticalScrollBar()
    bar.setValue(20)
    i18n.set_language("zh_CN")
    chinese = log.toPlainText().splitlines()
    assert chinese[1:] == english.splitlines()[1:]
    assert "downloaded" not in chinese[0]
    assert "a.csv" in chinese[0]
    assert bar.value() == 20
    i18n.set_language("en")
    assert log.toPlainText() == english


@pytest.mark.one_pair
def test_secrets_of_a_payload_are_dots_on_screen(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0, task_type="single_product", payload={"goods_id": "G1", "api_token": "hunter2"})
    page.show_task(task.task_id)
    wait(qtbot, lambda: "G1" in page.panel.payload.toPlainText())
    assert "hunter2" not in page.panel.payload.toPlainText()
    page.panel.edit_button.click()
    assert "hunter2" in str(desk.asked[-1]["payload"]), "a copy must be able to run"


def test_a_removed_task_on_screen_says_so(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.succeed(desk.create(0))
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    page.table.set_current_key(task.task_id)
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    wait(qtbot, lambda: page.panel.task is not None)
    store = desk.session.engine.store
    store.apply([Forget(task_id=task.task_id, updated_at=desk.get(task.task_id).updated_at, tomb_ms=60_000)])
    wait(qtbot, lambda: page.panel.task is None)
    assert page.panel.pill.words() == "Succeeded, record removed"
    assert not any(button.isEnabled() for button in page.panel.buttons.values())


@pytest.mark.one_pair
def test_of_a_record_that_nobody_can_read_the_panel_says_so_and_what_to_do(
    desk: Desk, page: TasksPage, qtbot: QtBot, place: Settings
) -> None:
    task = desk.create(0)
    with closing(sqlite3.connect(place.database, timeout=30)) as conn, conn:
        conn.execute("UPDATE tasks SET data = x'ff' WHERE task_id = ?", (task.task_id,))
    page.show_task(task.task_id)
    wait(qtbot, lambda: page.panel.pill.words() == "cannot be read")
    assert page.panel.unread.isVisible()
    assert "look in the shop whether its work was done" in words(page.panel.unread)
    assert not any(button.isEnabled() for button in page.panel.buttons.values())
    other = desk.create(1, payload={"page_size": 47})
    page.show_task(other.task_id)
    wait(qtbot, lambda: page.panel.task is not None)
    assert not page.panel.unread.isVisible()


@pytest.mark.one_pair
def test_of_a_task_that_is_none_nothing_stands_there_that_is_of_another(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    task = desk.create(0, payload={"page_size": 47})
    page.show_task(task.task_id)
    wait(qtbot, lambda: "47" in page.panel.payload.toPlainText() and page.panel.payload.isVisible())
    page.show_task("pdd_no_such_task")
    wait(qtbot, lambda: page.panel.pill.words() == "not found")
    said = words(page.panel)
    assert "pdd_no_such_task" in said
    assert task.task_id not in said
    assert "微光数码专卖店" not in said
    assert not page.panel.payload.isVisible()
    assert not any(button.isVisible() for button in page.panel.buttons.values())
    copy = find(page.panel, IconButton, "Copy the task id")
    copy.setFocus()
    assert copy.hasFocus()
    page.panel.refresh()
    settled(qtbot, page.panel)
    assert copy.hasFocus(), "whoever stands there stays"
    page.show_task(task.task_id)
    wait(qtbot, page.panel.payload.isVisible)
    assert "微光数码专卖店" in words(page.panel)
    assert page.panel.buttons["cancel"].isVisible()


def test_links_lead_to_what_belongs_to_a_task_and_back(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first = desk.create(0, batch="B1")
    second = desk.create(1, depends_on=(first.task_id,))
    third = desk.create(2, depends_on=(second.task_id,))
    wanted: list[tuple[str, object]] = []
    page.navigate.connect(lambda where, what: wanted.append((where, what)))
    page.show_task(first.task_id)
    links = page.panel.links
    wait(qtbot, lambda: links.links() == [("batch", "B1"), ("waits for this", second.task_id)])
    links.press("B1")
    assert wanted == [("batches", "B1")]
    links.press(second.task_id)
    wait(qtbot, lambda: links.links() == [("waits for", first.task_id), ("waits for this", third.task_id)])
    links.press(third.task_id)
    wait(qtbot, lambda: links.links() == [("waits for", second.task_id)])
    for task in (second, first):
        qtbot.keyClick(page, Qt.Key.Key_Escape)
        assert page.panel.task_id == task.task_id
    desk.succeed(first)
    page.show_task(second.task_id)
    wait(qtbot, lambda: ("waited for", first.task_id) in links.links())
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.panel.isVisible()
    page.show_task(second.task_id)
    page.panel.go(third.task_id)
    find(page.panel, IconButton, "Close panel").click()
    assert not page.panel.isVisible(), "the cross closes, also after a link"


@pytest.mark.one_pair
def test_a_task_takes_the_page_and_gives_it_back(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    page.show_request("status:flight")
    page.show_request(f"#{task.task_id}")
    wait(qtbot, lambda: page.panel.task is not None)
    assert (page.table.isVisible(), page.shown_request()) == (False, f"#{task.task_id}")
    assert page.panel.width() == page.width()
    find(page.panel, IconButton, "Beside the list again").click()
    assert page.table.isVisible()
    assert page.panel.isVisible()
    assert page.shown_request() == "status:flight"
    find(page.panel, IconButton, "Open in full").click()
    assert not page.table.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert page.table.isVisible()
    assert page.panel.isVisible(), "it stood there before"
