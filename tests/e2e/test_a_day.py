"""A person's day at the window, by clicks and keys alone, over a fleet whose workers are processes of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QSlider, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from console.connection.open_connection import OpenConnection
from services import i18n, workforce
from services import settings as config
from services.domain.fleet.shop import Shop
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.engine.producer import TaskSpec
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import HANDLERS, lines
from tests.support import widgets
from tests.support.console_window import window_over
from views.dialogs.sheet.grid import SheetGrid
from views.support import operation
from views.tables.table_view import TableView
from views.theme import theme

LEFT = Qt.MouseButton.LeftButton
#: patience, not an expectation
WAIT_S = 60.0


@dataclass
class Day:
    """The window, whoever sits before it, and the machine room."""

    qtbot: QtBot
    console: Console
    session: OpenConnection
    folder: Path

    def wait(self, check: Callable[[], Any], what: str = "") -> None:
        def holds() -> bool:
            return bool(check())

        end = time.monotonic() + WAIT_S
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"never: {what}; there was: {widgets.words(self.front())[-1500:]}")
            self.qtbot.wait(20)

    def front(self) -> QWidget:
        """What stands in front of everything."""
        return QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.console.window

    def buttons(self, text: str, within: QWidget | None = None) -> list[QAbstractButton]:
        found = (within or self.front()).findChildren(QAbstractButton)
        return [one for one in found if one.isVisible() and text in (_plain(one.text()), one.accessibleName())]

    def click(self, text: str, within: QWidget | None = None) -> None:
        """Press a button that says so, as soon as it can be pressed."""
        self.wait(
            lambda: any(one.isEnabled() for one in self.buttons(text, within)),
            f"the button {text}",
        )
        QTest.mouseClick(next(one for one in self.buttons(text, within) if one.isEnabled()), LEFT)

    def keys(self, text: str = "", *, key: Qt.Key | None = None, ctrl: bool = False) -> None:
        """Type into what has the focus."""
        front = self.front()
        front.activateWindow()
        self.wait(lambda: front.isActiveWindow() and QApplication.focusWidget() is not None, "something to type into")
        target = QApplication.focusWidget()
        held = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
        if text:
            QTest.keyClicks(target, text)
        if key is not None:
            QTest.keyClick(target, key, held)

    def go(self, page: str) -> Any:
        door = next(
            one
            for one in self.console.window.rail.findChildren(QAbstractButton)
            if one.accessibleName().startswith(page)
        )
        QTest.mouseClick(door, LEFT)
        return self.console.window.page(self.console.window.current)

    def row(self, table: TableView, key: object, column: int = 2) -> None:
        """Click the row of a record."""
        self.wait(lambda: table.records.row_of(key) is not None, f"a row of {key}")
        index = table.model().index(table.records.row_of(key), column)
        table.scrollTo(index)
        QTest.mouseClick(table.viewport(), LEFT, pos=table.visualRect(index).center())

    # ------------------------------------------------------------- the machine room
    def tasks(self, *terms: tuple[str, str]) -> list[Task]:
        return list(self.session.engine.store.query(Query(terms=tuple(equals(*one) for one in terms), limit=400)).tasks)

    def task(self, task_id: str) -> Task:
        (found,) = self.session.engine.store.get([task_id])
        assert found is not None
        return found

    def create(self, shop: str, kind: str = "sync_order", **payload: Any) -> str:
        platform, _, shop_id = shop.partition(":")
        spec = TaskSpec(platform=platform, shop_id=shop_id, task_type=kind, payload=payload)
        (made,) = self.session.commands.tasks.create([spec], origin="schedule").created
        return made.task_id


def _plain(text: str) -> str:
    return text.replace("&", "")


@pytest.fixture
def day(qtbot: QtBot, qapp: QApplication, cli: Cli, words: tuple[str, ...], tmp_path: Path) -> Iterator[Day]:
    i18n.set_language("en")
    theme().set_mode("dark")
    theme().install(qapp)
    named = dict(zip(words[::2], words[1::2], strict=True))
    session = OpenConnection(
        config.load(home=tmp_path, broker=named.get("--broker", ""), redis=named.get("--redis", ""))
    )
    shops = [Shop(platform="pdd", shop_id=f"s{n}", name=f"拼多多 {n} 号店") for n in range(1, 31)]
    session.commands.fleet.import_shops([*shops, *(Shop(platform="temu", shop_id=f"t{n}") for n in range(1, 6))])
    session.live.start()
    console = window_over(session)
    console.window.resize(1366, 768)
    console.window.open_page("overview")
    console.window.show()
    console.window.activateWindow()
    qtbot.waitUntil(lambda: console.feed.latest.at_ms > 0)
    steward = workforce.steward(session.engine)
    steward.start()
    with cli.start("worker", "--slots", "4", "--handlers", HANDLERS):
        yield Day(qtbot, console, session, tmp_path)
    steward.close()
    console.window.close()
    console.window.deleteLater()
    console.feed.deleteLater()
    operation.shut_down()
    operation.configure(None)
    session.close(0.0)


def test_why_a_shop_is_red_is_read_there_and_mended_there(day: Day) -> None:
    day.create("pdd:s7", fail="login_expired", fail_first=1)
    day.wait(lambda: day.tasks(("status", "blocked")), "its shop waits for a login")
    page = day.go("Shops")
    day.row(page.table, "pdd:s7")
    day.wait(lambda: "Must be logged in" in widgets.words(page), "the reason")
    day.click("Logged in elsewhere: go on", page)
    day.wait(lambda: day.tasks(("status", "succeeded")), "its work has run")
    day.wait(lambda: "Must be logged in" not in widgets.words(page), "the shop is no longer red")


def test_letters_of_one_cause_are_sent_again_after_a_probe(day: Day) -> None:
    mended = day.folder / "mended"
    fails = {"fail": "element_not_found", "text": "SelectorNotFound: .order-list__row", "unless": str(mended)}
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{n % 29 + 1}", task_type="work", max_retries=0, payload={"n": n, **fails})
        for n in range(58)
    ]
    day.session.commands.tasks.create(specs, origin="schedule")
    day.wait(lambda: len(day.tasks(("status", "dead"))) == 58, "58 letters")
    page = day.go("Dead letters")
    day.click("Republish 58 all the same…", page)
    day.click("Try 3 first")
    day.wait(lambda: "3 of 3 failed again with the same error" in widgets.words(day.front()), "they still fail")
    day.click("Leave the rest")
    day.wait(lambda: len(day.tasks(("triage", "open"))) == 58, "the others were left alone")
    mended.touch()
    day.click("Republish 58 all the same…", page)
    day.click("Try 3 first")
    day.wait(lambda: len(day.tasks(("status", "succeeded"))) == 3, "three have been tried")
    dialog = day.front()
    for _ in range(40):  # to the right as far as it goes
        QTest.keyClick(dialog.findChild(QSlider), Qt.Key.Key_Right)
    day.click("Republish 55 tasks")
    day.click("Send now")
    day.wait(lambda: len(day.tasks(("status", "succeeded"))) == 58, "all have run")
    assert not day.tasks(("triage", "open"))


def test_an_urgent_sync_goes_before_the_others(day: Day) -> None:
    gate = day.folder / "open"
    for n in range(4):
        day.create(f"pdd:s{n + 1}", "work", until=str(gate), n=n)
    day.wait(lambda: len(day.tasks(("status", "running"))) == 4, "all slots are taken")
    seen = day.folder / "seen"
    others = [day.create(f"pdd:s{n}", "sync_order", seen=str(seen)) for n in range(10, 20)]
    page = day.go("Tasks")
    day.wait(lambda: page.table.records.rowCount() == 14, "all are shown")
    day.row(page.table, others[-1])
    day.wait(lambda: page.table.current_key() == others[-1], "the row")
    day.click("Raise priority", page)
    day.wait(lambda: day.task(others[-1]).lane == "high", "it is urgent")
    gate.touch()
    day.wait(lambda: len(lines(seen, "end")) == 10, "all have run")
    # what a worker has claimed ahead may go before it, but not all ten of them
    started = [line[1] for line in lines(seen, "start")]
    assert started.index(others[-1]) < 9


def test_a_file_of_300_rows_has_its_seven_bad_ones_corrected(day: Day) -> None:
    bad = range(43, 302, 43)
    rows = [f"pdd,{'' if n in bad else f's{n % 30 + 1}'},refresh_goods,{n % 100 + 1}" for n in range(1, 301)]
    rows[299] = "pdd,s1,refresh_goods,many"
    path = day.folder / "\u4efb\u52a1.csv"
    path.write_bytes("\r\n".join(["\u5e73\u53f0,\u5e97\u94fa,\u4efb\u52a1\u7c7b\u578b,page_size", *rows]).encode("gbk"))
    day.keys(key=Qt.Key.Key_N, ctrl=True)
    dialog = day.front()
    mode = dialog.shops.mode
    QTest.mouseClick(mode, LEFT, pos=mode.segment_rect(2).center())
    dialog.shops.picker.file.open(path)
    for left in range(7, 0, -1):
        day.wait(lambda left=left: f"300 rows, {left} with errors" in widgets.words(dialog), f"{left} errors are told")
        day.click("Next error", dialog)
        grid = dialog.findChild(SheetGrid)
        _row, column = grid.place()
        QTest.keyClick(grid, Qt.Key.Key_F2)
        editor = grid.viewport().findChild(QLineEdit)
        assert editor is not None
        editor.selectAll()
        QTest.keyClicks(editor, "50" if column == 3 else f"s{left}")
        QTest.keyClick(editor, Qt.Key.Key_Return)
    day.wait(lambda: any(one.isEnabled() for one in day.buttons("Create 300 tasks", dialog)), "all are right")
    assert dialog.focusWidget() is dialog.findChild(SheetGrid), "the keyboard has not left the rows"
    create = day.buttons("Create 300 tasks", dialog)[0]
    for _press in range(2):
        QTest.mouseClick(create, LEFT)
    day.wait(lambda: not dialog.isVisible(), "they are created")
    # a page of what is just being worked on may miss the one that ends while it is read
    day.wait(lambda: len(day.tasks(("type", "refresh_goods"), ("status", "succeeded"))) == 300, "all have run")
    assert len(day.tasks(("type", "refresh_goods"))) == 300, "none twice"


def test_a_platform_is_stopped_until_six(day: Day) -> None:
    day.go("Shops")
    day.click("Quiet hours")
    dialog = day.front()
    day.wait(lambda: dialog.scope.count(), "what can be picked")
    QTest.mouseClick(dialog.scope, LEFT)
    day.keys("temu")
    day.keys(key=Qt.Key.Key_Return)
    assert dialog.name.text() == "temu"
    # six in the morning may be in a second
    until = (datetime.now().astimezone() + timedelta(hours=6)).strftime("until %H:00")
    for field, said in {dialog.when: until, dialog.why: "risk control"}.items():
        QTest.mouseClick(field, LEFT)
        QTest.keyClicks(field, said)
    day.click("Save")
    day.wait(lambda: "risk control" in widgets.words(dialog), "it is set")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    held, free = day.create("temu:t1"), day.create("pdd:s1")
    day.wait(lambda: day.task(free).status == "succeeded", "the others go on")
    assert (day.task(held).status, day.task(held).gate) == ("blocked", "quiet_hours")


def test_a_batch_that_runs_away_is_cancelled_and_taken_back(day: Day) -> None:
    gate = day.folder / "open"
    specs = [
        TaskSpec(
            platform="pdd",
            shop_id=f"s{n % 29 + 1}",
            task_type="work",
            batch="runaway",
            payload={"n": n, "until": str(gate)},
        )
        for n in range(200)
    ]
    day.session.commands.tasks.create(specs, origin="file")
    day.wait(lambda: len(day.tasks(("status", "running"))) == 4, "it runs")
    day.go("Tasks")
    day.click("Batches")
    day.click("Cancel 200")
    day.click("Cancel 200 tasks")
    day.wait(lambda: not day.tasks(("status", "queued")), "what waited is cancelled")
    day.wait(lambda: "asked to stop" in widgets.words(day.console.window), "what ran is told apart")
    day.click("Create again")
    day.wait(
        lambda: len(day.tasks(("status", "queued"))) + len(day.tasks(("status", "blocked"))) >= 190, "they are back"
    )
    gate.touch()


def test_a_worker_is_drained_and_takes_work_again(day: Day) -> None:
    page = day.go("Workers")
    day.click("Drain: take no new tasks", page)
    day.wait(lambda: "draining" in widgets.words(page), "it drains")
    task_id = day.create("pdd:s1")
    day.click("Resume: take tasks again", page)
    day.wait(lambda: day.task(task_id).status == "succeeded", "it works again")


def test_did_it_run_today_is_answered_by_keys(day: Day) -> None:
    day.create("pdd:s1")
    day.wait(lambda: day.tasks(("status", "succeeded")), "it ran")
    day.keys(key=Qt.Key.Key_D, ctrl=True)
    dialog = day.front()
    day.keys("pdd:s1 sync_order")
    day.wait(lambda: "Yes" in widgets.words(dialog).splitlines(), "the answer")


def test_the_shift_is_handed_over_in_words(day: Day) -> None:
    day.create("pdd:s7", fail="login_expired", fail_first=1)
    day.wait(lambda: day.tasks(("status", "blocked")), "its shop waits for a login")
    day.keys(key=Qt.Key.Key_H, ctrl=True)
    dialog = day.front()
    day.wait(lambda: "What waits for whom" in widgets.words(dialog), "the page")
    said = widgets.words(dialog)
    assert "must be logged in" in said, said
    assert "Nobody leads" not in said
    day.click("Copy as text", dialog)
    assert "What waits for whom" in QApplication.clipboard().text()


def test_the_storage_is_lost_for_a_while_and_nothing_with_it(
    day: Day, pair: str, request: pytest.FixtureRequest
) -> None:
    if pair == "embedded":
        pytest.skip("a file is not lost")
    gate, seen = day.folder / "open", day.folder / "seen"
    day.create("pdd:s1", "work", until=str(gate), seen=str(seen))
    day.wait(lambda: day.tasks(("status", "running")), "it runs")
    redis = request.getfixturevalue("redis_server")
    redis.pause()
    try:
        day.wait(day.console.window.banner.isVisible, "the window says so")
        gate.touch()
        day.wait(lambda: lines(seen, "end"), "the task ends meanwhile")
    finally:
        redis.resume()
    day.wait(lambda: not day.console.window.banner.isVisible(), "the window goes on")
    day.wait(lambda: day.tasks(("status", "succeeded")), "its end is recorded")
    assert len(lines(seen, "start")) == 1
