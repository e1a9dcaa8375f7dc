"""How slots are laid out."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.insight import worker as insight
from views.pages.workers.nodes import NO_NAMES
from views.pages.workers.slot_grid import HEIGHT, TINY, SlotGrid, plan


def test_few_slots_have_words_and_many_are_marks() -> None:
    assert plan(16, 640).height == HEIGHT
    assert plan(65, 640).height == TINY


def test_cells_fill_rows_and_never_overlap() -> None:
    laid = plan(16, 640)
    cells = [laid.cell(number) for number in range(16)]
    assert laid.columns == 8
    assert cells[7].right() <= 640
    assert cells[8].top() > cells[0].bottom()
    assert not any(one.intersects(other) for one in cells for other in cells if one is not other)


def test_a_few_cells_are_wider_where_there_is_room() -> None:
    assert plan(4, 640).width > plan(16, 640).width
    assert plan(4, 640).columns == 4
    assert plan(1, 640).width < 640
    assert plan(0, 640).columns == 1


def test_the_height_follows_the_width(qtbot: QtBot) -> None:
    grid = SlotGrid()
    qtbot.addWidget(grid)
    busy = SlotState(task_id="t1", task_type="sync_order", shop="pdd:1", since=1, progress=40)
    info = WorkerInfo(worker="rpa-01", host="rpa-01", pid=1, seen_at=0, slots=(busy, *(SlotState() for _ in range(15))))
    grid.show()
    grid.show_worker(insight.look((info,), 1_000).workers[0], NO_NAMES, 1_000)
    grid.resize(640, 100)
    assert grid.height() == 2 * HEIGHT + 4
    grid.resize(330, 100)
    assert grid.height() == 4 * HEIGHT + 3 * 4
    assert grid.accessibleName() == "1 of 16 slots busy: sync_order 1"
    assert not grid.grab().isNull()


def test_unconfirmed_tasks_are_told_as_such_and_a_worker_that_is_gone_has_no_slots(qtbot: QtBot) -> None:
    grid = SlotGrid()
    qtbot.addWidget(grid)
    slots = (SlotState(task_id="t1", task_type="sync_order", shop="pdd:1"), SlotState())
    info = WorkerInfo(worker="rpa-01", host="rpa-01", pid=1, seen_at=0, slots=slots)
    grid.show()
    grid.show_worker(insight.look((info,), 15_000).workers[0], NO_NAMES, 15_000)
    assert grid.accessibleName() == "1 task unconfirmed: sync_order 1"
    grid.show_worker(insight.look((info,), 70_000, {"rpa-01": ()}).workers[0], NO_NAMES, 70_000)
    assert (grid.slots(), grid.height()) == ((), 0)
