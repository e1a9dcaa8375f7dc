"""The handover in the window: what it says, and that each number opens what it counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services import i18n
from services.domain.alerts.incident import ROLE
from services.engine.lead import leader
from tests.gui.desk import Desk
from tests.support.widgets import words
from views.dialogs.handover import HandoverDialog
from views.pages.tasks.page import TasksPage

WAIT_MS = 10_000


def opened(qtbot: QtBot, console: Console) -> HandoverDialog:
    """By its keys."""
    console.window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is console.window, timeout=WAIT_MS)
    QTest.keyClick(console.window, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    (dialog,) = console.window.findChildren(HandoverDialog)
    return dialog


@pytest.fixture
def box(qtbot: QtBot, desk: Desk, console: Console) -> Iterator[HandoverDialog]:
    """The dialog as Ctrl+H opens it, over two dead letters and a task that waits."""
    for role in (leader.ROLE, ROLE):
        desk.session.engine.store.lead(role, "desk-02/11", 60_000)
    for place in (0, 2):
        desk.fail(desk.create(place))
    desk.create(1)
    dialog = opened(qtbot, console)
    qtbot.waitUntil(lambda: "2 dead letters are open" in words(dialog), timeout=WAIT_MS)
    yield dialog
    for left in console.window.findChildren(HandoverDialog):
        left.reject()


def link(dialog: HandoverDialog, about: str) -> None:
    """Click what a line opens."""
    (found,) = [one for one in dialog.parts.links if one.accessibleDescription() == about]
    found.click()


def test_each_number_opens_what_it_counts(qtbot: QtBot, box: HandoverDialog, console: Console) -> None:
    link(box, "2 dead letters are open")
    assert console.window.current == "tasks"
    page = console.window.page("tasks")
    assert isinstance(page, TasksPage)
    assert page.filter.expression() == "status:dead triage:open"
    qtbot.waitUntil(lambda: page.table.records.rowCount() == 2, timeout=WAIT_MS)


def test_it_is_written_again_for_another_time_and_in_another_language(qtbot: QtBot, box: HandoverDialog) -> None:
    with qtbot.waitSignal(box.written, timeout=WAIT_MS):
        box.span.choose("24h")
    with qtbot.waitSignal(box.written, timeout=WAIT_MS):
        i18n.set_language("zh_CN")
    qtbot.waitUntil(lambda: "2 条死信待处理" in words(box), timeout=WAIT_MS)
    i18n.set_language("en")


def test_the_copy_says_what_the_page_says(box: HandoverDialog) -> None:
    box.copy_button.click()
    copied = QApplication.clipboard().text()
    for line in ("What broke", "- 1 task waits", "- 2 dead letters are open", "Who did what"):
        assert line in copied.splitlines()


def test_while_nobody_leads_it_says_so_and_advises_nothing(qtbot: QtBot, desk: Desk, console: Console) -> None:
    dialog = opened(qtbot, console)
    qtbot.waitUntil(lambda: "Nobody leads the fleet" in words(dialog), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: "Nothing is advised" in words(dialog), timeout=WAIT_MS)
    dialog.reject()


def test_in_a_low_window_its_buttons_are_on_the_screen(qtbot: QtBot, desk: Desk, console: Console) -> None:
    """As on 1280x720 at 150 %: *Copy as text* and *Close* were below the edge."""
    console.window.resize(960, 540)
    dialog = opened(qtbot, console)
    qtbot.waitExposed(dialog)
    assert dialog.height() < console.window.height()
    dialog.reject()
