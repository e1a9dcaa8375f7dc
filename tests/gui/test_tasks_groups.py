"""The list of tasks in groups."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from views.pages.tasks.page import TasksPage

pytestmark = pytest.mark.both_pairs


def told(page: TasksPage) -> dict[str, tuple[int, int]]:
    """Tasks in all and dead ones, by the group's name."""
    return {row.name: (row.group.total, row.number("dead")) for row in page.groups.rows()}


def test_groups_count_what_the_filter_shows_and_a_click_narrows_it(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    for n in range(3):
        desk.create(0, task_type="single_product", payload={"goods_id": f"G{n}"}, batch="B1")
    desk.create(1)
    desk.fail(desk.create(2))
    page.groups.group_by("type")
    wait(qtbot, lambda: told(page) == {"single_product": (3, 0), "refresh_goods": (2, 1)})
    page.show_request("status:flight")
    wait(qtbot, lambda: told(page) == {"single_product": (3, 0), "refresh_goods": (1, 0)})
    row = page.groups.table.visualRect(page.groups.table.records.index(0, 1))
    qtbot.mouseClick(page.groups.table.viewport(), Qt.MouseButton.LeftButton, pos=row.center())
    wait(qtbot, lambda: page.table.records.rowCount() == 3)
    assert page.filter.expression() == "status:flight type:single_product"
    page.groups.group_by("batch")
    wait(qtbot, lambda: told(page) == {"B1": (3, 0)})
    page.show_request("")
    wait(qtbot, lambda: told(page) == {"B1": (3, 0), "no batch": (2, 1)})
    page.groups.group_by("fp")
    cause = "Seller login expired: LoginExpired: redirected to /login"
    wait(qtbot, lambda: told(page) == {"no error": (4, 0), cause: (1, 1)})
    page.groups.group_by("")
    assert not page.groups.isVisible()


@pytest.mark.one_pair
def test_no_group_moves_under_the_cursor(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    for n in range(2):
        desk.create(0, task_type="single_product", payload={"goods_id": f"G{n}"})
    desk.create(1)
    page.groups.group_by("type")
    wait(qtbot, lambda: list(told(page)) == ["single_product", "refresh_goods"])
    desk.create(0)
    desk.create(2)
    page.groups.retranslate()  # asks again as the clock does
    wait(qtbot, lambda: told(page)["refresh_goods"] == (3, 0))
    assert list(told(page)) == ["single_product", "refresh_goods"]
    page.refresh()
    wait(qtbot, lambda: list(told(page)) == ["refresh_goods", "single_product"])
