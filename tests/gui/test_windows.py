"""Several windows over one session: each with a page and a filter of its own, all there again after the next start."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from console.desk import Console
from console.main_window import MainWindow
from tests.gui.test_console import play, until
from views.pages.tasks.page import TasksPage

BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
FILTER = "status:dead shop:pdd:s1"


def windows(console: Console) -> list[MainWindow]:
    """Those that are open, the first one first."""
    first = [console.desk.window] if console.desk is not None else []
    return [one for one in (*first, *(desk.window for desk in console.others)) if one.isVisible()]


def filter_of(window: MainWindow) -> str:
    page = window.page("tasks")
    assert isinstance(page, TasksPage)
    return page.filter.expression()


def test_a_second_window_has_its_own_page_and_comes_back(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")

    async def work(console: Console) -> None:
        await until(lambda: len(windows(console)) == 1, "the window")
        (first,) = windows(console)
        first.open_page("tasks", FILTER)
        QTest.keyClick(first, Qt.Key.Key_N, BOTH)
        second = windows(console)[1]
        assert (second.current, filter_of(second)) == ("tasks", FILTER)
        second.open_page("workers")
        first.open_page("tasks", "status:running")
        assert (first.current, second.current) == ("tasks", "workers")

    play(qapp, tmp_path, work)

    async def look(console: Console) -> None:
        await until(lambda: len(windows(console)) == 2, "both windows")
        first, second = windows(console)
        assert (first.current, filter_of(first), second.current) == ("tasks", "status:running", "workers")
        second.close()
        assert windows(console) == [first]
        await until(lambda: not console.ended, "the first one goes on")

    play(qapp, tmp_path, look)
