"""The Queues page over a real engine: the tree, one queue below it, and every act as its audited command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from services.commands.tasks import TaskSpec  # type: ignore[attr-defined]
from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.insight.forecast import drain
from services.domain.insight.forecast.drain import Miss
from services.domain.insight.queue import Flow
from services.monitor.forecast.drain import Drain, DrainRow, InstantRow
from services.monitor.queues.board import Needing, QueueNow, QueuesNow
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import SMALL, opening
from views.dialogs.confirm import ConfirmDialog
from views.kit.list_source import ListSource
from views.pages.queues import table
from views.pages.queues import words as queue_words
from views.pages.queues.forecast import missed, of_lane
from views.pages.queues.page import QueuesPage
from views.pages.queues.panel import HOLDERS
from views.pages.queues.table import MORE, Line
from views.pages.queues.verbs import DedicateDialog, PeekDialog, PurgeDialog
from views.theme import theme

pytestmark = pytest.mark.one_pair

Open = Callable[[], QueuesPage]
WAIT_MS = 30_000
AHEAD = {"rpa_tasks_normal": 3}


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""
    yield from opening(qtbot, lambda: QueuesPage(fleet.context), size=(1400, 800))


def create(fleet: Fleet, number: int = 3, task_type: str = "sync_order", **fields: object) -> list[str]:
    """Tasks that wait, of shops that are known."""
    known = sorted(fleet.context.shops().items())
    shops = [key.partition(":") for key, shop in known if not shop.dedicated][:number]
    specs = [TaskSpec(platform=one[0], shop_id=one[2], task_type=task_type, **fields) for one in shops]  # type: ignore[arg-type]
    return [task.task_id for task in fleet.context.commands.tasks.create(specs, origin="console").created]


def order(page: QueuesPage) -> list[str]:
    """Keys of the rows from top to bottom."""
    return [str(page.table.records.key_at(at)) for at in range(page.table.records.rowCount())]


def cells(page: QueuesPage, name: str) -> dict[str, str]:
    """What a row says."""
    row = page.table.records.find(name)
    assert row is not None
    return {column.key: column.display(row) for column in page.table.records.columns}


def until(qtbot: QtBot, page: QueuesPage, true: Callable[[], bool]) -> None:
    """Ask until it is so; numbers of the broker come with the next snapshot."""

    def asked() -> bool:
        if not page.findChild(ListSource).busy:
            page.refresh()
        return true()

    qtbot.waitUntil(asked, timeout=WAIT_MS)


def choose(page: QueuesPage, name: str) -> None:
    """Put the cursor on a queue."""
    assert page.table.set_current_key(name)
    assert page.panel.shown is not None
    assert page.panel.shown.name == name


def test_the_tree_has_lanes_back_off_and_dead_letters_and_tells_what_waits(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    create(fleet)
    create(fleet, 1, "refresh_goods", priority="low")
    page = open_page()
    until(qtbot, page, lambda: [cells(page, f"rpa_tasks_{lane}")["ready"] for lane in ("normal", "low")] == ["3", "1"])
    keys = order(page)
    assert keys[:4] == ["lanes", "rpa_tasks_high", "rpa_tasks_normal", "rpa_tasks_low"]
    assert keys[4] == "rest"
    assert keys[-1] == "rpa_dead_queue"
    assert all(key.startswith("rpa_delay_") for key in keys[5:-1])
    assert cells(page, "rpa_tasks_normal")["state"] == "no consumer"
    assert cells(page, "rpa_tasks_high")["state"] == "empty"
    assert cells(page, "lanes")["queue"] == "Lanes (3)"
    assert page.header.summary().startswith("4 ready, 0 in back-off, 0 with workers")
    choose(page, "rpa_tasks_low")
    assert "lane low" in page.panel.facts.text()
    assert page.panel.buttons["tasks"].text() == "Open 1 task"
    assert page.panel.buttons["pause"].toolTip().startswith("A lane has no pause of its own")


def test_messages_that_a_purge_leaves_behind_are_told_apart(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet)
    create(fleet, 1, "refresh_goods", priority="low")
    commands = fleet.context.commands.queues
    commands.purge(commands.plan_purge("rpa_tasks_low"), typed="rpa_tasks_low")
    page = open_page()
    until(qtbot, page, lambda: page.header.summary().startswith("4 ready, 1 of them without a task that waits, "))


def test_on_a_group_the_panel_goes_on_telling_of_the_queue_before(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, 2)
    page = open_page()
    until(qtbot, page, lambda: cells(page, "rpa_tasks_normal")["ready"] == "2")
    choose(page, "rpa_tasks_normal")
    assert page.table.set_current_key("lanes")
    create(fleet, 1, "refresh_goods", priority="normal")
    until(qtbot, page, lambda: cells(page, "rpa_tasks_normal")["ready"] == "3")
    assert page.panel.isVisible()
    assert page.panel.buttons["tasks"].text() == "Open 3 tasks"


def test_a_worker_that_is_silent_takes_from_no_queue(open_page: Open) -> None:
    page, at = open_page(), 1_795_000_000_000
    row = QueueNow(name="rpa_tasks_normal", kind="lane", lane="normal")
    workers = tuple(
        WorkerInfo(worker=name, host="desk", pid=1, seen_at=at - silence_ms)
        for name, silence_ms in (("rpa-01", 1_000), ("rpa-02", 60_000))
    )
    page.panel.show_row(row, QueuesNow(at_ms=at, rows=(row,), workers=workers))
    assert list(page.panel.workers.values()) == ["rpa-01"]


def test_groups_fold_by_keys_and_by_a_click(qtbot: QtBot, open_page: Open) -> None:
    page = open_page()
    page.table.set_current_key("lanes")
    qtbot.keyClick(page.table, Qt.Key.Key_Left)
    assert order(page)[:2] == ["lanes", "rest"]
    assert page.current() is None
    qtbot.keyClick(page.table, Qt.Key.Key_Right)
    assert order(page)[1] == "rpa_tasks_high"
    page.table.open_requested.emit("rest")
    assert order(page)[-1] == "rest"


def test_a_column_puts_the_rows_of_each_group_in_order(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, 2, priority="low")
    page = open_page()
    until(qtbot, page, lambda: cells(page, "rpa_tasks_low")["ready"] == "2")
    page.table.records.request_sort(page.table.records.section_of("ready"))
    assert order(page)[:2] == ["lanes", "rpa_tasks_low"]


def test_a_look_into_a_queue_lists_its_tasks_and_opens_one(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    ids = create(fleet)
    page = open_page()
    choose(page, "rpa_tasks_normal")
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_V)
    (dialog,) = page.findChildren(PeekDialog)
    qtbot.waitUntil(lambda: dialog.table.records.rowCount() == 3, timeout=WAIT_MS)
    assert [dialog.table.records.key_at(at) for at in range(3)] == ids
    assert "No message is taken off the queue" in dialog.told.text()
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as asked:
        dialog.table.open_requested.emit(ids[0])
    assert asked.args == ["tasks", f"id:{ids[0]}"]


def test_a_queue_is_emptied_by_its_typed_name_after_a_file_was_written(
    qtbot: QtBot, fleet: Fleet, open_page: Open, tmp_path: Path
) -> None:
    ids = create(fleet, 2, priority="low")
    other = create(fleet, 1, "refresh_goods", priority="normal")
    page = open_page()
    until(qtbot, page, lambda: cells(page, "rpa_tasks_low")["ready"] == "2")
    choose(page, "rpa_tasks_low")
    page.panel.buttons["purge"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(PurgeDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(PurgeDialog)
    assert dialog.exports
    dialog.typed_field.setText("low")
    assert not dialog.verb_button.isEnabled()
    dialog.typed_field.setText("rpa_tasks_low")
    assert dialog.verb_button.isEnabled()
    dialog.verb_button.click()
    (asking,) = page.findChildren(QFileDialog)
    asking.reject()
    assert fleet.toasts[-1].text == "No file was chosen; nothing was cancelled."
    assert {task.status for task in fleet.store.get(ids)} == {"queued"}
    file = tmp_path / "low.csv"
    plan = fleet.context.commands.queues.plan_purge("low")
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        page.actions_of_page.purge_after_export(plan, "wrong prices", file)
    assert len(file.read_text(encoding="utf-8-sig").splitlines()) == 3
    assert {(task.status, task.reason) for task in fleet.store.get(ids)} == {("cancelled", "wrong prices")}
    assert fleet.store.get(other)[0].status == "queued"
    qtbot.waitUntil(lambda: "2 tasks of rpa_tasks_low are cancelled" in fleet.toasts[-1].text, timeout=WAIT_MS)
    before = fleet.store.counts().total
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: fleet.store.counts().total == before + 2, timeout=WAIT_MS)


def test_a_shop_gets_a_queue_is_paused_and_goes_back(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.new_button.click()
    (dialog,) = page.findChildren(DedicateDialog)
    key = next(key for key, shop in sorted(fleet.context.shops().items()) if not shop.dedicated)
    qtbot.waitUntil(lambda: dialog.field.completer() is not None, timeout=WAIT_MS)
    assert not dialog.done_button.isEnabled()
    dialog.field.insert(key)
    dialog.reject()
    (asked,) = dialog.findChildren(ConfirmDialog)
    asked.reject()
    assert dialog.isVisible(), "a slip of Esc drops no name"
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        dialog.done_button.click()
    name = f"single_shop_{key.partition(':')[2]}"
    until(qtbot, page, lambda: name in order(page))
    choose(page, name)
    assert fleet.store.audit(1)[0].action == "shop.dedicate"
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        page.panel.buttons["pause"].click()
    assert [one.scope for one in fleet.store.pauses()] == [f"shop:{key}"]
    assert [one.text for one in fleet.toasts[-1].actions] == ["Undo", "Write why"]
    until(qtbot, page, lambda: bool((page.current() or QueueNow(name="", kind="")).pauses))
    assert page.panel.buttons["pause"].text() == "Resume"
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        page.panel.buttons["pause"].click()
    assert fleet.store.pauses() == []
    with qtbot.waitSignal(page.actions_of_page.changed, timeout=WAIT_MS):
        page.panel.buttons["lanes"].click()
    assert fleet.store.audit(1)[0].action == "shop.undedicate"


def test_of_a_lane_as_many_tasks_are_opened_as_the_button_says(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    shop = Shop(platform="many", shop_id="own", dedicated=True)
    fleet.context.commands.fleet.import_shops([shop])
    own = TaskSpec(platform="many", shop_id="own", task_type="sync_order")
    made = fleet.context.commands.tasks.create([own], origin="console").created
    ids = [*create(fleet, 2), *(task.task_id for task in made)]
    page = open_page()
    until(qtbot, page, lambda: cells(page, "rpa_tasks_normal")["ready"] == "2" and "single_shop_own" in order(page))
    for name, number in (("rpa_tasks_normal", "3 tasks"), ("single_shop_own", "1 task")):
        choose(page, name)
        assert page.panel.buttons["tasks"].text() == f"Open {number}"
        with qtbot.waitSignal(page.navigate) as opened:
            page.panel.buttons["tasks"].click()
        found = fleet.context.tasks.ids(opened.args[1])
        assert sorted(found) == sorted(ids if name == "rpa_tasks_normal" else ids[2:])
    lane = page.table.records.find("rpa_tasks_normal")
    column = next(one for one in page.table.records.columns if one.key == "queue")
    assert "a queue of their own" in column.tooltip(lane)
    choose(page, "rpa_delay_30s")
    assert page.panel.buttons["tasks"].text() == "Open all in back-off"


def test_a_small_window_has_room_for_the_name_of_a_shop_and_the_forecast(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.resize(*SMALL)
    table, header = page.table, [column.key for column in page.table.records.columns]
    assert not any(table.isColumnHidden(header.index(key)) for key in ("ready", "drained", "forecast", "state"))
    metrics = QFontMetrics(theme().font("tablestrong"))
    room = table.columnWidth(header.index("queue")) - 44 - metrics.horizontalAdvance("single_shop_temu-20117")
    assert room > QFontMetrics(theme().font("label")).horizontalAdvance("Tansy & Thread")
    assert table.horizontalScrollBar().maximum() == 0


def test_of_many_queues_of_shops_the_deepest_are_shown_first(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    shops = [Shop(platform="many", shop_id=f"m{n:03}", dedicated=True) for n in range(30)]
    fleet.context.commands.fleet.import_shops(shops)
    deep = TaskSpec(platform="many", shop_id="m029", task_type="sync_order", payload={"n": 1})
    fleet.context.commands.tasks.create([deep], origin="console")
    page = open_page()
    until(qtbot, page, lambda: cells(page, "single_shop_m029")["ready"] == "1" if MORE in order(page) else False)
    keys = order(page)
    assert keys.index("single_shop_m029") == keys.index("shops") + 1
    assert (len([key for key in keys if key.startswith("single_")]), cells(page, MORE)["queue"]) == (20, "Show 10 more")
    assert table.title(Line(MORE, number=10, needing=2)) == "Show 10 more, 2 of them need somebody"
    more = page.table.records.index(keys.index(MORE), 0)
    page.table.scrollTo(more)
    spot = page.table.visualRect(more).center()
    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.waitUntil(lambda: len([key for key in order(page) if key.startswith("single_")]) == 30, timeout=WAIT_MS)


def test_who_holds_a_message_is_listed_and_its_task_opens(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    (task_id,) = create(fleet, 1)
    shop = fleet.store.get([task_id])[0].shop  # type: ignore[union-attr]
    slot = SlotState(
        task_id=task_id, task_type="sync_order", shop=shop, lane="normal", queue="rpa_tasks_normal", since=1
    )
    fleet.store.heartbeat(WorkerInfo(worker="desk-7", host="desk", pid=1, slots=(SlotState(), slot), ahead=AHEAD))
    page = open_page()
    until(qtbot, page, lambda: cells(page, "rpa_tasks_normal")["ready"] == "1")
    choose(page, "rpa_tasks_normal")
    page.panel.views.choose(HOLDERS)
    held = page.panel.holders.table.records
    qtbot.waitUntil(lambda: held.rowCount() == 1, timeout=WAIT_MS)
    row = held.find(held.key_at(0))
    said = {column.key: column.display(row) for column in held.columns}
    assert (said["worker"], said["state"]) == ("desk-7, slot 2", "not given to this worker any more")
    assert page.panel.holders.facts.text().startswith("desk-7 has fetched 3 ahead and not begun them; heard ")
    with qtbot.waitSignal(page.navigate, timeout=WAIT_MS) as asked:
        page.panel.holders.table.open_requested.emit(held.key_at(0))
    assert asked.args == ["tasks", f"id:{task_id}"]


def test_a_forecast_stands_at_its_lane_and_what_is_missed_above_all(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    create(fleet)
    page = open_page()
    until(qtbot, page, lambda: bool(cells(page, "rpa_tasks_normal")["forecast"]))
    assert cells(page, "rpa_tasks_normal")["forecast"] == "no worker takes them"
    assert cells(page, "rpa_tasks_high")["forecast"] == ""
    table = page.panel.forecast.table.records
    said = [[column.display(table.find(table.key_at(at))) for column in table.columns] for at in range(2)]
    assert said[0] == ["Lane Normal", "3", "no worker takes them"]
    assert said[1][1:] == ["3", "no worker takes them"]
    row = InstantRow(
        kind="promise", name="goods", at=9, waiting=50, miss=Miss(left=37, more=3), of=("lane:normal",),
        said=drain.sentence(Miss(left=37, more=3), "14:00"),
    )  # fmt: skip
    now = Drain(rows=(DrainRow(name="lane:normal", waiting=50, clear_s=9.0, said=row.said),), instants=(row,), slots=2)
    found = of_lane(now, "normal")
    assert found is not None
    assert (found.bad, missed(now)) == (True, "Promise goods: misses 14:00 by 37 tasks; 3 more slots would do")
    assert of_lane(now, "low") is None


def test_the_limit_of_the_alert_rule_is_drawn_at_a_lane_alone(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet)
    page = open_page()
    until(qtbot, page, lambda: cells(page, "rpa_tasks_normal")["ready"] == "3")
    assert fleet.context.alerts.limit("lane_depth", "tasks") == 5000
    choose(page, "rpa_tasks_normal")
    assert page.panel.depth_card.plot.limit == 5000
    assert not page.panel.whole_button.isVisible()
    page.panel.window_of_time.zoom(0.5, page.panel.window_of_time.now)
    assert page.panel.whole_button.isVisible()
    page.panel.whole_button.click()
    assert page.panel.window_of_time.whole
    assert not page.panel.whole_button.isVisible()
    choose(page, "rpa_dead_queue")
    assert page.panel.depth_card.plot.limit is None


def test_queues_that_need_somebody_are_counted_the_worst_named(fleet: Fleet) -> None:
    rows = [QueueNow(name=state, kind="lane", state=state) for state in ("running", "paused", "filling", "stuck")]
    needing = QueuesNow(rows=tuple(rows)).needing()
    assert (needing.number, needing.worst) == (2, "stuck")
    assert QueuesNow().needing() == Needing()


def test_who_only_looks_sees_why_nothing_can_be_done(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    create(fleet, 1)
    page = open_page()
    until(qtbot, page, lambda: cells(page, "rpa_tasks_normal")["ready"] == "1")
    page.set_acting("The connection is read-only")
    choose(page, "rpa_tasks_normal")
    assert not page.new_button.isEnabled()

    def offered() -> dict[str, bool]:
        menu = QMenu(page)
        page.table.menu_requested.emit(menu, "rpa_tasks_normal")
        return {action.text(): action.isEnabled() for action in menu.actions() if action.text()}

    until(qtbot, page, lambda: "Open 1 task" in offered())  # records are counted apart from messages
    assert offered() == {"Peek": True, "Open 1 task": True, "Pause": False, "Purge": False}
    reasons = {one.key: one.reason for one in page.commands()}
    assert reasons["queues.purge"] == "The connection is read-only"
    assert reasons["queues.peek"] == ""


def test_a_broker_that_does_not_answer_leaves_numbers_unknown(open_page: Open) -> None:
    page = open_page()
    assert QueuesNow().find("x") is None
    row = QueueNow(name="rpa_tasks_high", kind="lane", lane="high")
    assert (row.depth, row.drained_s, row.drains) == (None, None, True)
    assert page.header.summary()


@pytest.mark.parametrize("wrong", ["no_consumer", "paused"])
def test_a_queue_that_nobody_takes_from_does_not_drain_at_the_pace_of_late(wrong: str) -> None:
    flow = Flow(in_s=0.1, out_s=0.05, known_s=300.0)
    row = QueueNow(name="rpa_tasks_low", kind="lane", lane="low", ready=4, flow=flow)
    assert (row.drained_s, row.drains) == (80.0, True)
    held = msgspec.structs.replace(row, wrong=(wrong,))
    assert (held.drained_s, held.drains) == (None, False)
    assert queue_words.drained(held) == "not draining"
    assert queue_words.drained(msgspec.structs.replace(held, ready=0)) == ""
