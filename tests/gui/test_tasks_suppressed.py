"""What the guard against doing the same work twice has met, as a list."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from tests.gui.desk import SHOPS, Desk
from tests.gui.tasks_rig import shown, wait
from views.pages.tasks.page import TasksPage
from views.pages.tasks.panel.suppressed import SuppressedDialog

pytestmark = pytest.mark.both_pairs


def twice(desk: Desk) -> str:
    """Ask for the same task three times: one is refused, one waits behind the first."""
    first = desk.create(0)
    for fate in ("reject", "queue"):
        spec = TaskSpec(
            platform=SHOPS[0].platform, shop_id=SHOPS[0].shop_id, task_type="refresh_goods", if_duplicate=fate
        )
        desk.session.commands.tasks.create([spec], origin="console")
    return first.task_id


def test_they_are_listed_with_what_became_of_them_and_lead_to_the_first(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    first = twice(desk)
    page.buttons.suppressed.click()
    (dialog,) = page.findChildren(SuppressedDialog)
    wait(qtbot, lambda: dialog.table.records.rowCount() == 2)
    said = {column.key: column.display(dialog.table.records.records()[-1]) for column in dialog.table.records.columns}
    assert (said["outcome"], said["holder"]) == ("not created", f"{first} (waiting)")
    assert said["shop"] == SHOPS[0].name, "as everywhere else"
    assert dialog.counts.text().startswith("2 tasks met the same work")
    dialog.table.open_requested.emit(dialog.table.records.key_at(0))
    wait(qtbot, lambda: page.panel.isVisible() and page.panel.task_id == first)


def test_a_row_offers_those_of_its_type(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first = twice(desk)
    other = desk.create(1, task_type="get_content", payload={"url": "/orders"})
    shown(page, qtbot, 3)
    menu = QMenu(page)
    page.table.menu_ending.emit(menu, other.task_id)
    next(one for one in menu.actions() if one.text() == "Suppressed duplicates of this type").trigger()
    (dialog,) = page.findChildren(SuppressedDialog)
    wait(qtbot, lambda: not dialog.empty.isHidden())
    assert dialog.table.records.rowCount() == 0
    dialog.reject()
    page.show_suppressed("refresh_goods")
    newest = page.findChildren(SuppressedDialog)[-1]
    wait(qtbot, lambda: newest.table.records.rowCount() == 2)
    assert first in {one.holder for one in newest.table.records.records()}
