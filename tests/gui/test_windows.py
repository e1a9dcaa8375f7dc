"""Several windows over one session: each with a page and a filter of its own, all there again after the next start."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from console.connection.windows import BESIDE
from console.lifecycle import Console
from console.main_window import MainWindow
from console.state import ConsoleState, Shelf
from services import settings as config
from tests.gui.test_connections import shown
from tests.gui.test_console import play, until
from views.pages.overview.page import OverviewPage
from views.pages.settings.page import SettingsPage
from views.pages.tasks.page import TasksPage
from views.support.keymap import keymap
from views.support.memory import ShortMemory

BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
FILTER = "status:dead shop:pdd:s1"


def windows(console: Console) -> list[MainWindow]:
    """Those that are open, the first one first."""
    return [one for one in console.windows.all() if one.isVisible()] if console.windows is not None else []


def opened_another(console: Console, first: MainWindow) -> bool:
    """Whether there are two; the key works from a moment after the window stands."""
    if len(windows(console)) == 1:
        QTest.keyClick(first, Qt.Key.Key_N, BOTH)
    return len(windows(console)) == 2


def test_the_last_window_that_is_closed_ends_the_program(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")

    async def work(console: Console) -> None:
        await until(lambda: len(windows(console)) == 1, "the window")
        (first,) = windows(console)
        await until(lambda: opened_another(console, first), "the second one")
        for window in windows(console):
            assert not console.ended
            window.close()
            await asyncio.sleep(0)  # who ends the program at a close does so by now
        await until(lambda: console.ended, "the end")

    assert play(qapp, tmp_path, work).clean
    kept = json.loads((tmp_path / "console.json").read_text(encoding="utf-8"))
    assert [len(left) for left in kept["windows"].values()] == [1]


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
        first.close()
        assert windows(console) == [second]
        assert not console.ended, "the others go on"
        await until(lambda: console.opened is not None and console.opened.feed.latest.at_ms > 0, "and are told")
        second.open_page("settings")
        page = second.page("settings")
        assert isinstance(page, SettingsPage)
        page.notifications_choice.choose("off")
        QTest.keyClick(second, Qt.Key.Key_N, BOTH)
        third = windows(console)[1]
        second.close()
        assert windows(console) == [third]
        third.open_page("overview")
        third.activateWindow()
        await until(third.isActiveWindow, "it has the keys")
        QTest.keyClick(third, Qt.Key.Key_N, BOTH)
        fourth = windows(console)[1]
        fourth.open_page("workers")
        QTest.keyClick(fourth, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: console.ended, "all of it ends")

    play(qapp, tmp_path, look)
    kept = json.loads((tmp_path / "console.json").read_text(encoding="utf-8"))
    assert (kept["window"]["page"], kept["pages"]["notifications"]) == ("overview", "off")
    assert [len(left) for left in kept["windows"].values()] == [2]


def test_whoever_asks_for_one_page_gets_no_other_windows_with_it(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")

    async def leave_two(console: Console) -> None:
        await shown(console, "local")
        (first,) = windows(console)
        await until(lambda: opened_another(console, first), "the second one")

    async def look(console: Console) -> None:
        await shown(console, "local")
        await until(lambda: windows(console)[0].open_beside is not None, "more windows may be opened")
        assert [one.current for one in windows(console)] == ["workers"]

    play(qapp, tmp_path, leave_two)
    play(qapp, tmp_path, look, page="workers")


def test_what_leads_to_a_page_opens_it_in_a_second_window_with_ctrl(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    left, ctrl = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier

    async def work(console: Console) -> None:
        await shown(console, "local")
        (first,) = windows(console)
        await until(lambda: first.open_beside is not None, "more windows may be opened")
        first.open_page("overview")
        page = first.page("overview")
        assert isinstance(page, OverviewPage)
        QTest.mouseClick(page.tiles["running"], left, ctrl)
        assert (first.current, [one.current for one in windows(console)]) == ("overview", ["overview", "tasks"])
        second = windows(console)[1]
        assert filter_of(second) == "status:running"
        assert second.pos() == first.pos() + QPoint(BESIDE, BESIDE), "the one does not hide the other"
        QTest.mouseClick(second.rail.item("workers"), left, ctrl)
        assert [one.current for one in windows(console)] == ["overview", "tasks", "workers"]
        QTest.mouseClick(second.rail.item("queues"), left)
        QTest.mouseClick(page.tiles["running"], left)
        assert [one.current for one in windows(console)] == ["tasks", "queues", "workers"], "without it, here"

    play(qapp, tmp_path, work)


def test_what_is_open_here_opens_in_a_window_of_its_own_too(qapp: QApplication, tmp_path: Path) -> None:
    """A program of its own would find this one and only bring it to the front: nothing was seen to happen."""
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")

    async def work(console: Console) -> None:
        await shown(console, "local")
        await until(lambda: bool(console.connections.rows()), "the list")
        windows(console)[0].top_bar.profile.click()
        menu = console.connections.menu
        assert menu is not None
        (row,) = (one for one in menu.rows if one.connection.opened)
        row.beside_button.click()
        assert len(windows(console)) == 2

    play(qapp, tmp_path, work)


def test_the_connection_is_corrected_from_whichever_window_says_that_its_server_refuses(
    qapp: QApplication, tmp_path: Path
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")

    async def work(console: Console) -> None:
        await shown(console, "local")
        (first,) = windows(console)
        await until(lambda: opened_another(console, first), "the second one")
        assert console.windows is not None
        for one in (console.windows.first, *console.windows.others):
            before = console.connections.dialog
            one.wiring.loss.correct_wanted.emit()
            await until(lambda before=before: console.connections.dialog is not before, "the dialog")
            dialog = console.connections.dialog
            assert dialog is not None
            assert dialog.name.text() == "local-2", "the one that comes with the program is not this window's to write"
            dialog.reject()

    play(qapp, tmp_path, work)


def test_the_list_of_connections_stands_on_a_window_that_is_open(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")

    async def work(console: Console) -> None:
        await shown(console, "local")
        await until(lambda: bool(console.connections.rows()), "the list")
        (first,) = windows(console)
        await until(lambda: opened_another(console, first), "the second one")
        (_first, second), other = windows(console), QWidget()
        first.close()
        other.show()
        other.activateWindow()
        await until(other.isActiveWindow, "a window that is none of them is in front")
        second.top_bar.profile.click()
        menu = console.connections.menu
        assert menu is not None
        assert menu.parentWidget() is second
        other.close()

    play(qapp, tmp_path, work)


def test_what_a_page_shows_is_kept_for_each_connection(qapp: QApplication, tmp_path: Path) -> None:
    """The shop of one fleet is in no other: its filter stood there over an empty list."""
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    (tmp_path / "config.toml").write_text("[profiles.tryout]\nenvironment = 'test'\n", encoding="utf-8")

    def at(profile: str, page: str, expression: str, leave: str) -> None:
        async def look(console: Console) -> None:
            await until(lambda: len(windows(console)) == 1, "the window")
            (window,) = windows(console)
            assert (window.current, filter_of(window) if window.current == "tasks" else "") == (page, expression)
            window.open_page("tasks", leave)

        named = {"settings": config.load(home=tmp_path, profile=profile), "named": True} if profile else {}
        play(qapp, tmp_path, look, **named)

    at("", "overview", "", leave=FILTER)
    at("tryout", "tasks", "", leave="status:running")
    at("", "tasks", FILTER, leave="")
    at("tryout", "tasks", "status:running", leave="")


def test_whoever_goes_over_to_another_connection_takes_the_page_along_and_no_filter(
    qapp: QApplication, tmp_path: Path
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")
    (tmp_path / "config.toml").write_text("[profiles.tryout]\nenvironment = 'test'\n", encoding="utf-8")

    async def scene(console: Console) -> None:
        await shown(console, "local")
        windows(console)[0].open_page("tasks", FILTER)
        for name, expression in (("tryout", ""), ("local", FILTER)):
            console.connections.choose(name)
            await shown(console, name)
            (window,) = windows(console)
            assert (window.current, filter_of(window)) == ("tasks", expression)
        windows(console)[0].open_page("workers")
        console.connections.choose("tryout")
        await shown(console, "tryout")
        assert [one.current for one in windows(console)] == ["workers"], "another one than it was left on"

    play(qapp, tmp_path, scene)


def test_keys_that_were_chosen_in_the_window_of_another_connection_hold_here_too(
    qapp: QApplication, tmp_path: Path
) -> None:
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "local", "slots": 1}), encoding="utf-8")

    async def work(console: Console) -> None:
        await until(lambda: len(windows(console)) == 1, "the window")
        other = ConsoleState(tmp_path)
        other.load()
        Shelf(other).put("keys", {"tasks.retry": "X"})
        other.close()
        qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
        await until(lambda: keymap().now("tasks.retry") == "X", "the key that was chosen elsewhere")

    try:
        play(qapp, tmp_path, work)
    finally:
        keymap().follow(ShortMemory())
