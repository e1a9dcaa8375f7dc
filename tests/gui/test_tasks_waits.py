"""Rows and panel of tasks that wait: the gate that is closed now, who holds the shop, and what would help."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.record import Task
from services.settings import Settings
from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from tests.support.heartbeats import beat_ago, heard_of
from views.dialogs.confirm import ConfirmDialog
from views.pages.tasks.page import TasksPage
from views.pages.tasks.verbs import CANCEL, RUN_NOW, STOP_HOLDER

pytestmark = pytest.mark.both_pairs


@pytest.fixture(autouse=True)
def ask_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are asked for ten times a second."""
    monkeypatch.setattr("views.pages.tasks.page.ASK_MS", 100)


@pytest.fixture(autouse=True)
def at_work(desk: Desk) -> Iterator[None]:
    """A worker with a free slot is heard of."""
    slots = (SlotState(task_id="another"), SlotState())
    info = WorkerInfo(worker="w1", host="here", pid=1, executors=("rpa", "browser"), slots=slots)
    with heard_of(desk.session.engine.store, info):
        yield


def cells(page: TasksPage) -> dict[str, str]:
    column = page.table.records.column(page.table.records.section_of("progress"))
    return {row.key: column.value(row).text for row in page.table.records.records()}


def tips(page: TasksPage) -> dict[str, str]:
    column = page.table.records.column(page.table.records.section_of("progress"))
    assert column.tooltip is not None
    return {row.key: column.tooltip(row) for row in page.table.records.records()}


def opened(page: TasksPage, qtbot: QtBot, task: Task) -> None:
    page.show_task(task.task_id)
    wait(qtbot, lambda: page.panel.isVisible() and page.panel.task is not None)


def test_all_rows_of_a_logged_out_shop_need_a_login(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    holder = desk.claim(desk.create(0, payload={"n": 0}))
    rest = [desk.create(0, payload={"n": n}) for n in (1, 2, 3)]
    page.refresh()
    wait(qtbot, lambda: {one.task_id: cells(page).get(one.task_id, "")[:9] for one in rest}
         == {one.task_id: "shop busy" for one in rest})  # fmt: skip
    desk.session.commands.sessions.close(holder.shop, note="the phone is away")
    page.refresh()
    wait(qtbot, lambda: {cells(page)[one.task_id] for one in rest} == {"needs login"})
    wait(qtbot, lambda: all("the phone is away" in tips(page)[one.task_id] for one in rest))
    page.show_request("gate:session")
    wait(qtbot, lambda: set(cells(page)) == {one.task_id for one in rest})


def test_the_panel_says_who_holds_the_shop_and_stops_it_after_asking(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    holder = desk.claim(desk.create(0, payload={"n": 0}))
    high = desk.create(0, payload={"n": 1}, priority="high")
    page.refresh()
    opened(page, qtbot, high)
    panel = page.panel
    wait(qtbot, lambda: "The shop is busy" in panel.sentence.text())
    assert holder.task_id in panel.sentence.text()
    assert panel.sentence.wordWrap(), "it is read whole"
    buttons = panel.buttons
    assert buttons[RUN_NOW.key].isHidden(), "it cannot help"
    assert buttons[STOP_HOLDER.key].isVisible()
    assert holder.task_id in buttons[STOP_HOLDER.key].toolTip()
    buttons[STOP_HOLDER.key].click()
    dialogs: list[ConfirmDialog] = []
    wait(qtbot, lambda: bool(dialogs.extend(page.window().findChildren(ConfirmDialog)) or dialogs))
    assert desk.get(holder.task_id).cancel == "", "nobody has said yes"
    dialogs[0].confirmed.emit()
    wait(qtbot, lambda: desk.get(holder.task_id).cancel == "requested")
    assert desk.get(high.task_id).cancel == ""


@pytest.mark.one_pair
def test_a_verb_that_cannot_help_says_why(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    opened(page, qtbot, task)
    run_now = page.panel.buttons[RUN_NOW.key]
    wait(qtbot, run_now.isEnabled)
    assert page.panel.buttons[STOP_HOLDER.key].isHidden()
    desk.session.commands.fleet.pause("platform:pdd", reason="sale")
    page.panel.refresh()
    wait(qtbot, lambda: not run_now.isEnabled())
    assert run_now.isVisible()
    assert run_now.toolTip() == "It is paused: resume first"
    assert page.panel.buttons[CANCEL.key].isEnabled()
    desk.session.commands.fleet.resume("platform:pdd")
    page.panel.refresh()
    wait(qtbot, run_now.isEnabled)


@pytest.mark.one_pair
def test_the_bar_offers_no_verb_that_cannot_help_the_task_under_the_cursor(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    task = desk.create(0)
    desk.session.commands.fleet.pause("platform:pdd", reason="sale")
    page.refresh()
    wait(qtbot, lambda: task.task_id in cells(page))
    page.table.setCurrentIndex(page.table.records.index(0, 1))
    run_now = page.bar.buttons[RUN_NOW.key]
    wait(qtbot, lambda: not run_now.isEnabled())
    assert run_now.toolTip() == "It is paused: resume first"
    desk.session.commands.fleet.resume("platform:pdd")
    page.refresh()
    wait(qtbot, run_now.isEnabled)


def test_a_row_starts_now_only_where_nothing_is_before_it(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    first = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: cells(page) == {first.task_id: "starts now"})
    second = desk.create(1)
    wait(qtbot, lambda: cells(page).get(second.task_id) == "#2 in lane")


@pytest.mark.one_pair
def test_what_opens_the_gate_stands_right_under_the_reason(desk: Desk, page: TasksPage, qtbot: QtBot) -> None:
    task = desk.create(0)
    opened(page, qtbot, task)
    ways = page.panel.ways
    assert ways.isHidden(), "nothing but its turn is waited for"
    desk.session.commands.fleet.pause("platform:pdd", reason="sale")
    page.panel.refresh()
    wait(qtbot, lambda: [button.text() for button in ways.buttons] == ["Resume Pinduoduo", "Try this one anyway"])
    assert ways.buttons[0].kind == "primary", "nothing goes on before somebody does it"
    ways.buttons[0].click()
    assert desk.ways == [("resume", "platform:pdd")]
    desk.session.commands.fleet.resume("platform:pdd")
    page.panel.refresh()
    wait(qtbot, ways.isHidden)


def test_a_running_task_whose_worker_is_silent_says_so_and_follows_no_log(
    desk: Desk, page: TasksPage, qtbot: QtBot, place: Settings
) -> None:
    beat_ago(place, WorkerInfo(worker="w2", host="there", pid=2, executors=("rpa",)), 20_000)
    task = desk.claim(desk.create(0), worker="w2")
    opened(page, qtbot, task)
    strip = page.panel.verdict
    wait(qtbot, strip.isVisible)
    assert "nobody knows whether the task still runs there" in strip.accessibleName()


def test_behind_the_same_work_nobody_is_asked_to_stop_it_and_a_refused_order_is_told(
    desk: Desk, page: TasksPage, qtbot: QtBot
) -> None:
    first = desk.claim(desk.create(0))
    spec = TaskSpec(platform=first.platform, shop_id=first.shop_id, task_type=first.task_type)
    behind = desk.session.commands.tasks.create([replace(spec, if_duplicate="queue")], origin="console").created[0]
    assert desk.session.commands.tasks.create([spec], origin="console").duplicates
    page.refresh()
    opened(page, qtbot, behind)
    panel = page.panel
    wait(qtbot, lambda: panel.again.text().startswith("The same work was asked for again and refused (1 in all)"))
    assert "The same work runs already" in panel.sentence.text()
    assert panel.buttons[STOP_HOLDER.key].isHidden(), "it does what this one is for"
    assert panel.buttons[CANCEL.key].isEnabled()
    assert [button.text() for button in panel.ways.buttons] == ["Show that task"]
    opened(page, qtbot, first)
    wait(qtbot, lambda: panel.task is not None and panel.task.task_id == first.task_id)
    assert any("asked for again, and refused" in line.text for line in panel.timeline.entries())
