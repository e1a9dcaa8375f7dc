"""On every page, in every panel and in the dialogs of the window: what has the keyboard has a ring, what can be clicked
can be hit, and a right click finds something.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from console.bootstrap import OpenWindow as Console
from services.cli.window import pages
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.plans.schedule import Schedule
from services.sample.demo import promise_some
from tests.gui.desk import SHOPS, Desk
from tests.gui.test_masking import settle
from tests.support.controls import entries_of, hard_to_hit, without_menu, without_ring, without_table
from views.charts.plot import TableDialog
from views.pages.settings.page import SettingsPage
from views.tables.table_view import TableView
from views.widgets.heat_map.map import HeatMap

pytestmark = [pytest.mark.deep, pytest.mark.one_pair]


def fill(desk: Desk) -> None:
    """Something on every page."""
    desk.fail(desk.create(0), "ElementNotFound: selector '.row' not found", "page")
    desk.claim(desk.create(1))
    desk.hold(desk.create(2, task_type="sync_order"))
    promise_some(desk.session.commands.promises, {"pdd"})
    plan = Schedule(name="nightly-orders", task_type="sync_order", every_s=7200, all_shops=True)
    desk.session.commands.schedules.add(plan)
    slots = (SlotState(),) * 2
    desk.session.engine.store.heartbeat(WorkerInfo(worker="w1", host="desk", pid=1, slots=slots))


def faults(root: QWidget) -> Iterator[str]:
    """Everything that is wrong with what is shown."""
    for look in (hard_to_hit, without_ring, without_menu, without_table):
        yield from look(root)


@pytest.mark.timeout(600)
def test_the_pages_and_their_panels(console: Console, desk: Desk, qtbot: QtBot) -> None:
    fill(desk)
    window = console.window
    window.resize(1600, 1000)
    found: list[str] = []
    for name in pages():
        window.open_page(name)
        page = window.page(name)
        settle(qtbot, page)
        found += [f"{name}: {one}" for one in faults(window if name == "overview" else page)]
        tables = [one for one in page.findChildren(TableView) if one.isVisible() and one.records.rowCount()]
        if tables:
            tables[0].setFocus()
            tables[0].setCurrentIndex(tables[0].records.index(0, 1))
            qtbot.keyClick(tables[0], Qt.Key.Key_Space)
            settle(qtbot, page)
            found += [f"{name} with its panel: {one}" for one in faults(page)]
    assert not found, "\n".join(dict.fromkeys(found))


def test_the_dialogs_of_the_window(console: Console, desk: Desk, qtbot: QtBot) -> None:
    fill(desk)
    keys, window = console.keys, console.window
    page = window.page("settings")
    assert isinstance(page, SettingsPage)
    qtbot.waitUntil(window.top_bar.create_button.isEnabled)
    found: list[str] = []
    for show in (keys.show_help, keys.ask_of_work, keys.hand_over, window.top_bar.create_button.click, page.edit):
        show()
        settle(qtbot, window)
        (dialog,) = [one for one in window.findChildren(QDialog) if one.isVisible()]
        found += [f"{type(dialog).__name__}: {one}" for one in faults(dialog)]
        dialog.done(0)
        settle(qtbot, window)
    assert not found, "\n".join(found)


def test_a_right_click_copies_what_is_said_and_presses_what_is_pressed(console: Console, qtbot: QtBot) -> None:
    window = console.window
    title = next(one for one in window.page("overview").findChildren(QLabel) if one.text() == "Overview")
    entries_of(title)["Copy value"].trigger()
    assert QGuiApplication.clipboard().text() == "Overview"
    tasks = next(one for one in window.rail.findChildren(QAbstractButton) if "Tasks" in one.accessibleName())
    entries = entries_of(tasks)
    assert list(entries)[1:] == ["Copy value"]
    next(iter(entries.values())).trigger()
    assert window.current == "tasks"


def test_a_chart_that_draws_itself_is_read_as_a_table(console: Console, qtbot: QtBot) -> None:
    heat = console.window.page("overview").findChild(HeatMap)
    assert isinstance(heat, HeatMap)
    qtbot.waitUntil(lambda: len(heat.rows.cells) == len(SHOPS))
    entries_of(heat, QPoint(1, 1))["Show as table"].trigger()
    (dialog,) = console.window.findChildren(TableDialog)
    model = dialog.model
    assert [model.headerData(at, Qt.Orientation.Horizontal) for at in range(4)] == [
        "Shop",
        "Platform",
        "State",
        "Tasks",
    ]
    named = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert named == [cell.name for cell in heat.rows.cells]
    dialog.close()
