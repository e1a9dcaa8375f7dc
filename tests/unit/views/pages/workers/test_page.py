"""The Workers page over a real engine: orders from the window, and the workers of this computer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu
from pytestqt.qtbot import QtBot

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import worker as insight
from services.domain.insight.worker import AGAIN, HELD, UNCONFIRMED, Fate
from services.engine import farewells
from tests.unit.views.pages.fleet_rig import Fleet, Local
from tests.unit.views.pages.opening import WAIT_MS, opening
from views.dialogs.confirm import ConfirmDialog
from views.pages.workers import nodes
from views.pages.workers.cards import NodeCard
from views.pages.workers.lanes_dialog import LanesDialog
from views.pages.workers.page import RUNNING, STARTING, STOPPED, WorkersPage
from views.pages.workers.table import COLUMNS
from views.pages.workers.verbs import StopDialog
from views.widgets.buttons import Button
from views.widgets.segmented import Segmented

pytestmark = pytest.mark.both_pairs

Open = Callable[[], WorkersPage]


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    """Opens the page as the window does."""

    def show(page: WorkersPage) -> None:
        page.show()
        page.activate()
        expected = len(fleet.store.workers())
        # what a test shows by itself would else be replaced by the first answer
        qtbot.waitUntil(lambda: page.anything_known and page.table.records.rowCount() == expected, timeout=WAIT_MS)

    yield from opening(qtbot, lambda: WorkersPage(fleet.context), show)


def card(page: WorkersPage, worker: str) -> NodeCard:
    """The card of a worker."""
    found = page.board.card(worker)
    assert found is not None
    return found


def show(page: WorkersPage, fleet: Fleet, *workers: WorkerInfo, **fates: tuple[Fate, ...]) -> None:
    """Show these heartbeats, and what became of the tasks of late ones."""
    now = fleet.store.now_ms()
    known = {name.replace("_", "-"): found for name, found in fates.items()}
    page.show_fleet(insight.look(workers, now, known, leader="rpa-01"), now)


def orders(fleet: Fleet, info: WorkerInfo) -> tuple[str, ...]:
    """What the worker is told at its next heartbeat."""
    told: tuple[str, ...] = fleet.store.heartbeat(info).orders
    return told


def test_without_a_worker_the_page_offers_to_start_one_here(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    assert page.empty.isVisible()
    assert page.header.summary() == "No worker is running"
    page.empty.button.click()
    assert page.local.state == STARTING
    qtbot.waitUntil(lambda: page.local.state == RUNNING, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: page.board.isVisible(), timeout=WAIT_MS)
    assert fleet.context.local.name in page.board.names()
    here = card(page, fleet.context.local.name)
    qtbot.waitUntil(lambda: here.badge.text() == "this computer", timeout=WAIT_MS)


def test_in_a_narrow_window_this_computer_stands_below_the_cards(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01")
    page = open_page()
    page.deactivate()
    show(page, fleet, info)

    def is_below() -> bool:
        shown = card(page, "rpa-01")
        return page.local.mapTo(page, QPoint()).y() > shown.mapTo(page, shown.rect().bottomLeft()).y()

    def is_whole() -> bool:
        buttons = [one for one in card(page, "rpa-01").findChildren(QAbstractButton) if one.isVisible()]
        return all(one.mapTo(page.board, one.rect().topRight()).x() <= page.board.width() for one in buttons)

    for width, below in ((1228, False), (908, True), (1228, False)):
        page.resize(width, 590)
        qtbot.waitUntil(lambda wanted=below: is_below() is wanted and is_whole(), timeout=WAIT_MS)


def test_local_workers_start_with_the_chosen_slots_and_lanes_and_stop(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.local.slots.step(-2)
    page.local.lanes.setCurrentIndex(1)
    page.local.button.click()
    assert not page.local.button.isEnabled(), "one click starts one worker"
    qtbot.waitUntil(lambda: page.local.state == RUNNING, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: len(fleet.store.workers()) == 1)
    (info,) = fleet.store.workers()
    assert (len(info.slots), info.lanes) == (2, ("high",))
    qtbot.waitUntil(lambda: page.local.button.text() == "Stop")
    page.local.button.click()
    qtbot.waitUntil(lambda: page.local.state == STOPPED, timeout=WAIT_MS)
    assert fleet.store.workers() == []
    assert fleet.context.local.name == ""


@pytest.mark.one_pair
def test_the_card_stands_at_the_slots_of_the_settings_until_a_person_chooses(fleet: Fleet, open_page: Open) -> None:
    local = fleet.context.local
    assert isinstance(local, Local)
    local.slots = 70
    page = open_page()
    assert page.local.slots.value() == 70
    local.slots = 6  # changed in this window
    show(page, fleet, fleet.heartbeat("rpa-01"))
    assert page.local.slots.value() == 6
    page.local.slots.step(2)
    show(page, fleet, fleet.heartbeat("rpa-01"), fleet.heartbeat("rpa-02"))
    assert page.local.slots.value() == 8


@pytest.mark.one_pair
def test_a_start_that_fails_says_why_and_can_be_tried_again(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()

    def refuse(*_args: object) -> None:
        raise OSError("no room for another thread")

    with monkeypatch.context() as patch:
        patch.setattr(fleet.context.local, "start", refuse)
        page.local.button.click()
        qtbot.waitUntil(lambda: page.local.error.isVisible())
    assert page.local.state == STOPPED
    assert "no room for another thread" in page.local.error.accessibleName()
    page.local.error.retry_button.click()
    qtbot.waitUntil(lambda: page.local.state == RUNNING, timeout=WAIT_MS)
    assert not page.local.error.isVisible()


def test_another_number_of_slots_is_ordered_once_and_marked_until_it_is_obeyed(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    info = fleet.heartbeat("rpa-01", slots=4)
    page = open_page()
    node = card(page, "rpa-01")
    node.stepper.step(1)
    node.stepper.step(1)
    qtbot.waitUntil(lambda: node.note.text() == "asked for 6 slots")
    assert orders(fleet, info) == ("slots=6",)
    fleet.heartbeat("rpa-01", slots=6)
    qtbot.waitUntil(lambda: node.note.text().startswith("Windows 11"), timeout=WAIT_MS)
    assert node.stepper.value() == 6


def test_drain_and_resume(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    node = card(page, "rpa-01")
    node.buttons["drain"].click()
    qtbot.waitUntil(lambda: node.note.text() == "asked to drain")
    assert orders(fleet, info) == ("drain",)
    info = fleet.heartbeat("rpa-01", busy=2, state="draining")
    qtbot.waitUntil(lambda: node.note.text() == "draining, 2 tasks left", timeout=WAIT_MS)
    assert page.header.summary() == "1 worker on 1 machine, no slot takes work, 1 draining"
    node.buttons["resume"].click()
    qtbot.waitUntil(lambda: node.note.text() == "asked to resume")
    assert orders(fleet, info) == ("resume",)


def test_the_keyboard_does_not_come_to_stop_when_a_worker_drains_or_goes_on(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    node = card(page, "rpa-01")
    qtbot.waitUntil(page.isActiveWindow)
    node.buttons["drain"].setFocus()
    fleet.heartbeat("rpa-01", busy=2, state="draining")
    qtbot.waitUntil(node.buttons["resume"].isVisible, timeout=WAIT_MS)
    assert QApplication.focusWidget() is node.buttons["resume"], "it stands where the other stood"
    fleet.heartbeat("rpa-01", busy=2)
    qtbot.waitUntil(node.buttons["drain"].isVisible, timeout=WAIT_MS)
    assert QApplication.focusWidget() is node.buttons["drain"]


def test_stop_lists_what_it_interrupts_and_offers_to_drain(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    card(page, "rpa-01").buttons["stop"].click()
    dialog = page.findChild(ConfirmDialog)
    assert dialog is not None
    assert len(dialog.question.rows) == 2
    assert dialog.verb_button.text() == "Stop with 2 tasks running"
    assert orders(fleet, info) == ()
    dialog.other_button.click()
    qtbot.waitUntil(lambda: orders(fleet, info) == ("drain",))


@pytest.mark.one_pair
def test_stop_takes_the_seconds_that_running_tasks_get(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    card(page, "rpa-01").buttons["stop"].click()
    (dialog,) = page.findChildren(StopDialog)
    assert dialog.grace.text() == "as the worker has set"
    dialog.grace.setValue(90)
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: orders(fleet, info) == ("stop=90",))
    qtbot.waitUntil(lambda: card(page, "rpa-01").note.text() == "asked to stop")


def test_stop_says_which_tasks_must_not_run_twice(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.heartbeat("rpa-01", busy=4)
    page = open_page()
    qtbot.waitUntil(lambda: bool(page._names.types), timeout=WAIT_MS)
    card(page, "rpa-01").buttons["stop"].click()
    dialog = page.findChild(ConfirmDialog)
    assert dialog is not None
    assert "1 of them must not run twice: interrupted, it is held" in dialog.question.text
    held = [name for name, value in dialog.question.rows if "would be held" in value]
    assert [name.partition("  ")[0] for name in held] == ["batch_reply"]


def test_an_idle_worker_stops_without_a_question(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=0)
    page = open_page()
    card(page, "rpa-01").buttons["stop"].click()
    assert page.findChild(ConfirmDialog) is None
    qtbot.waitUntil(lambda: orders(fleet, info) == ("stop",))


def offers_of(page: WorkersPage, where: str) -> dict[str, Callable[[], object]]:
    """What a menu or the palette offers for the first worker, as it stands open: words -> what choosing it does."""
    if where == "palette":
        page.show_request("rpa-01")
        return {one.words: one.run for one in page.commands()}
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, "rpa-01")
    page.table.menu_ending.emit(menu, "rpa-01")
    return {action.text(): action.trigger for action in menu.actions() if action.text()}


@pytest.mark.one_pair
@pytest.mark.parametrize("where", ["menu", "palette"])
def test_stop_asks_about_the_tasks_that_were_claimed_while_the_offer_stood_open(
    fleet: Fleet, open_page: Open, where: str
) -> None:
    info = fleet.heartbeat("rpa-01", busy=0)
    page = open_page()
    offers = offers_of(page, where)
    show(page, fleet, fleet.heartbeat("rpa-01", busy=3))
    offers["Stop"]()
    (dialog,) = page.findChildren(StopDialog)
    assert dialog.verb_button.text() == "Stop with 3 tasks running"
    assert orders(fleet, info) == ()


@pytest.mark.one_pair
@pytest.mark.parametrize("where", ["menu", "palette"])
def test_an_offer_that_fits_no_more_orders_nothing(
    fleet: Fleet, open_page: Open, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(fleet.context.commands.fleet, "tell_worker", lambda _worker, order: told.append(order))
    fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    offers = offers_of(page, where)
    show(page, fleet, fleet.heartbeat("rpa-01", busy=2, state="stopping"))
    offers["Stop"]()
    show(page, fleet)
    offers["Stop"]()
    assert not page.findChildren(ConfirmDialog)
    assert told == []


@pytest.mark.one_pair
def test_a_slot_opens_its_task(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    grid = card(page, "rpa-01").grid
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=grid.slot_rect(1).center())
    assert heard.args == ["tasks", f"id:{info.slots[1].task_id}"]
    with qtbot.assertNotEmitted(page.navigate):
        qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=grid.slot_rect(3).center())
        qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=QPoint(grid.width() - 2, 2))


@pytest.mark.one_pair
def test_slots_can_be_walked_by_keys(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    grid = card(page, "rpa-01").grid
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    with qtbot.waitSignal(page.navigate) as heard:
        qtbot.keyClick(grid, Qt.Key.Key_Return)
    assert heard.args == ["tasks", f"id:{info.slots[1].task_id}"]


@pytest.mark.one_pair
def test_a_late_worker_is_amber_and_its_tasks_are_unconfirmed(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    here, quiet = fleet.heartbeat("rpa-01"), fleet.heartbeat("rpa-02", busy=2)
    now = fleet.store.now_ms()  # once they are written: that may take seconds
    quiet = msgspec.structs.replace(quiet, seen_at=now - 16_000)
    fate = [Fate(task_id=slot.task_id, what=UNCONFIRMED, until=now + 43_000, then=AGAIN) for slot in quiet.slots[:2]]
    show(page, fleet, here, quiet, rpa_02=tuple(fate))
    node = card(page, "rpa-02")
    assert node.note.text() == "2 tasks unconfirmed"
    assert re.match(r"2 tasks go to others in [34]\d\b", node.facts.lines()[0])
    assert node.grid.accessibleName().startswith("2 tasks unconfirmed")
    assert page.header.summary() == (
        "1 of 2 workers in touch, on 1 machine, 2 of 4 slots busy, 4 more slots take no work, 1 late"
    )
    assert not node.buttons["drain"].isVisible(), "it hears no order"
    assert node.buttons["forget"].isVisible()
    assert not node.buttons["forget"].isEnabled(), "it may be back in a moment"
    page.board.reorder()
    assert page.board.names()[0] == node.now.name, "missing workers move up when a person asks"


@pytest.mark.one_pair
def test_a_worker_that_is_gone_says_what_became_of_its_tasks_and_can_be_forgotten(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()
    quiet = msgspec.structs.replace(fleet.heartbeat("rpa-02", busy=2), seen_at=fleet.store.now_ms() - 74_000)
    ids = [slot.task_id for slot in quiet.slots[:2]]
    fates = (Fate(task_id=ids[0], what=AGAIN, worker="rpa-01"), Fate(task_id=ids[1], what=HELD))
    show(page, fleet, fleet.heartbeat("rpa-01"), quiet, rpa_02=fates)
    node = card(page, "rpa-02")
    held, again, do = node.facts.lines()
    assert (held, again) == ("1 task is held: a person decides", "1 task was started again (on rpa-01)")
    assert do.startswith("Start it again on the machine ")
    assert node.grid.slots() == (), "what it does not have is not shown"
    door = node.facts.door(1)
    assert door is not None
    with qtbot.waitSignal(page.navigate) as heard:
        door.click()
    assert heard.args == ["tasks", f"id:{ids[0]}"]
    asked: list[str] = []
    monkeypatch.setattr(fleet.context.commands.fleet, "forget_worker", asked.append)
    node.buttons["forget"].click()
    qtbot.waitUntil(lambda: asked == ["rpa-02"])
    qtbot.waitUntil(lambda: any("rpa-02 is forgotten" in toast.text for toast in fleet.toasts))


def filled(page: WorkersPage) -> list[str]:
    """The buttons that are filled."""
    return [one.text() for one in page.findChildren(Button) if one.kind == "primary" and one.isVisible()]


@pytest.mark.one_pair
def test_the_worker_that_is_not_heard_of_is_chosen_and_offers_one_in_its_place(
    qtbot: QtBot, fleet: Fleet, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    monkeypatch.setattr(fleet.context.local, "start", lambda slots, _lanes: started.append(slots))
    page = open_page()
    assert filled(page) == ["Start"]
    late = msgspec.structs.replace(fleet.heartbeat("rpa-02", busy=2), seen_at=fleet.store.now_ms() - 20_000)
    gone = msgspec.structs.replace(fleet.heartbeat("rpa-03", busy=0), seen_at=fleet.store.now_ms() - 90_000)
    workers = (fleet.heartbeat("rpa-01"), late, gone)
    show(page, fleet, *workers)
    assert [name for name in ("rpa-01", "rpa-02", "rpa-03") if card(page, name).selected] == ["rpa-02"], "with tasks"
    assert filled(page) == ["Start one here"], "on the card of the one that is missing"
    page.show_request("rpa-03")
    assert [name for name in ("rpa-01", "rpa-02", "rpa-03") if card(page, name).selected] == ["rpa-03"]
    assert card(page, "rpa-03").buttons["start"].kind == "primary"
    card(page, "rpa-03").buttons["start"].click()
    qtbot.waitUntil(lambda: started == [page.local.slots.value()])


@pytest.mark.one_pair
def test_a_worker_that_was_asked_for_before_it_is_known_is_chosen_once_it_is(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.show_request("rpa-04")
    late = msgspec.structs.replace(fleet.heartbeat("rpa-02", busy=2), seen_at=fleet.store.now_ms() - 20_000)
    show(page, fleet, late, fleet.heartbeat("rpa-04"))
    assert card(page, "rpa-04").selected
    assert not card(page, "rpa-02").selected


@pytest.mark.one_pair
def test_cards_keep_their_place_while_nodes_come_and_go(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    first, second, third = (fleet.heartbeat(name) for name in ("rpa-02", "rpa-04", "rpa-03"))
    show(page, fleet, first, second)
    show(page, fleet, first, third, second)
    assert page.board.names() == ["rpa-02", "rpa-03", "rpa-04"]
    show(page, fleet, third)
    assert page.board.names() == ["rpa-03"]


@pytest.mark.one_pair
def test_a_large_fleet_is_a_table(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    show(page, fleet, *(fleet.heartbeat(f"rpa-{number:02}") for number in range(30)))
    assert page.table.isVisible()
    assert page.table.records.rowCount() == 30
    menu = QMenu(page)
    page.table.menu_requested.emit(menu, "rpa-03")
    assert [action.text() for action in menu.actions()] == ["Drain", "Stop", "Slots and lanes", "Log"]
    page.show_request("rpa-03")
    assert page.board.isVisible()


def test_in_a_table_the_silent_come_first_and_who_needs_a_look_can_be_sorted_for(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.deactivate()
    well = [fleet.heartbeat(f"rpa-{number:02}") for number in range(30)]
    silent = msgspec.structs.replace(well[27], seen_at=fleet.store.now_ms() - 65_000)
    full = msgspec.structs.replace(well[20], cpu=97.0)

    def first(many: int) -> list[object]:
        return [page.table.records.key_at(row) for row in range(many)]

    show(page, fleet, *well)
    show(page, fleet, *well[:27], silent, *well[28:])
    assert first(2) == ["rpa-00", "rpa-01"], "nothing moves under the cursor"
    page.refresh()
    assert first(2) == ["rpa-27", "rpa-00"]
    told = [{column.key: column.display(page.table.records.record(row)) for column in COLUMNS} for row in (0, 1)]
    assert [(row["cpu"], row["memory"]) for row in told] == [("", ""), ("46.0\u202f%", "412\u202fMB")], (
        "nobody knows it now"
    )
    show(page, fleet, *well[:20], full, *well[21:27], silent, *well[28:])
    model = page.table.records
    model.request_sort(model.section_of("note"))
    assert first(2) == ["rpa-27", "rpa-20"]


@pytest.mark.one_pair
def test_a_machine_that_is_not_heard_of_stays_in_the_table(fleet: Fleet, open_page: Open) -> None:
    page = open_page()
    page.deactivate()
    late = [
        msgspec.structs.replace(fleet.heartbeat(name), node="office-2", seen_at=fleet.store.now_ms() - ago)
        for name, ago in (("rpa-02", 3_605_000), ("rpa-03", 7_205_000))
    ]
    show(page, fleet, *late)
    page.findChildren(Segmented)[0].choose("machines")
    assert page.machines.isVisible()
    model = page.machines.records
    told = {column.key: column.display(model.record(0)) for column in model.columns}
    assert (model.rowCount(), told["machine"], told["workers"], told["busy"]) == (1, "office-2", "0", "")
    assert told["note"].replace("\u202f", " ").startswith("not heard of for 1 h 0")
    assert model.record(0).heard_at == late[0].seen_at
    show(page, fleet, late[0], msgspec.structs.replace(fleet.heartbeat("rpa-03"), node="office-2"))
    assert (model.rowCount(), model.record(0).heard_at, model.record(0).workers) == (1, 0, ("rpa-03",))


@pytest.mark.one_pair
def test_where_the_table_is_short_of_width_this_computer_stands_below_it(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    page = open_page()
    page.deactivate()
    show(page, fleet, *(fleet.heartbeat(f"rpa-{number:02}") for number in range(30)))

    def is_below() -> bool:
        return page.local.mapTo(page, QPoint()).y() > page.table.mapTo(page, page.table.rect().bottomLeft()).y()

    for width, below in ((1084, True), (1500, False), (908, True)):  # of windows of 1280, 1700 and 960
        page.resize(width, 646)
        qtbot.waitUntil(lambda wanted=below: is_below() is wanted, timeout=WAIT_MS)
        assert page.table.horizontalScrollBar().maximum() == 0, width


def test_an_order_that_cannot_be_given_is_told(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.heartbeat("rpa-01", busy=0)
    page = open_page()
    fleet.store.forget_worker("rpa-01")
    card(page, "rpa-01").buttons["drain"].click()
    qtbot.waitUntil(lambda: bool(fleet.toasts))
    assert fleet.toasts[-1].status == "error"
    assert "rpa-01" in fleet.toasts[-1].detail


@pytest.mark.one_pair
def test_no_order_is_given_while_that_is_not_allowed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01")
    page = open_page()
    page.set_acting("Not while the connection is lost")
    shown = card(page, info.worker)
    said = [shown.buttons[key].accessibleDescription() for key in ("drain", "stop")]
    assert said == ["Not while the connection is lost"] * 2
    assert not shown.buttons["drain"].isEnabled()
    assert not shown.stepper.isEnabled()
    assert shown.buttons["share"].isEnabled(), "who may only look sees how slots are shared, as in the menu"
    page.set_acting("")
    assert shown.buttons["drain"].isEnabled()


@pytest.mark.one_pair
@pytest.mark.parametrize("how", ["mouse", "keyboard"])
def test_a_card_has_the_menu_that_its_row_has(qtbot: QtBot, fleet: Fleet, open_page: Open, how: str) -> None:
    fleet.heartbeat("rpa-01", busy=0)
    info = fleet.heartbeat("rpa-02", busy=0)
    page = open_page()
    shown = card(page, "rpa-02")
    if how == "mouse":
        reason, widget, at = QContextMenuEvent.Reason.Mouse, shown, QPoint(20, 20)
    else:
        reason, widget, at = QContextMenuEvent.Reason.Keyboard, shown.buttons["stop"], QPoint()
    QApplication.sendEvent(widget, QContextMenuEvent(reason, at, widget.mapToGlobal(at)))
    (menu,) = page.findChildren(QMenu)
    assert page.board.selected() == "rpa-02"
    entries = {action.text(): action for action in menu.actions() if action.text()}
    assert set(entries) == set(offers_of(page, "menu")) | {"Copy name"}
    with qtbot.waitSignal(page.navigate) as gone:
        entries["Tasks of this worker"].trigger()
    assert gone.args == ["tasks", "worker:rpa-02"]
    entries["Copy name"].trigger()
    assert QApplication.clipboard().text() == "rpa-02"
    entries["Drain"].trigger()
    qtbot.waitUntil(lambda: orders(fleet, info) == ("drain",))


def test_slots_are_shared_among_the_lanes(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    shares = {"high": (0, 4), "normal": (0, 4), "low": (1, 2)}
    info = fleet.heartbeat("rpa-01", busy=2, shares=shares)
    page = open_page()
    node = card(page, "rpa-01")
    node.buttons["share"].click()
    (dialog,) = page.findChildren(LanesDialog)
    assert dialog.order() == "slots=4,high=0,normal=0,low=1-2", "what is no bound follows the slots"
    assert dialog.save_button.toolTip() == "Nothing was changed yet"
    dialog.lanes["high"][0].setValue(4)
    assert dialog.problem.text() == "5 slots are kept for lanes, and there are 4."
    dialog.lanes["high"][0].setValue(2)
    dialog.lanes["low"][1].setValue(0)
    dialog.save_button.click()
    qtbot.waitUntil(lambda: node.note.text() == "asked for 4 slots")
    assert orders(fleet, info) == ("slots=4,high=2,normal=0,low=1",)
    fleet.heartbeat("rpa-01", busy=2, shares={"high": (2, 4), "normal": (0, 4), "low": (1, 4)})
    qtbot.waitUntil(lambda: node.note.text() != "asked for 4 slots", timeout=WAIT_MS)


def test_slots_are_left_to_the_worker_within_bounds(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=2)
    page = open_page()
    node = card(page, "rpa-01")
    node.buttons["share"].click()
    (dialog,) = page.findChildren(LanesDialog)
    dialog.mode.choose("auto")
    assert (dialog.order(), dialog.lanes["high"][0].isEnabled()) == ("slots=auto:1-4", False)
    dialog.least.setValue(6)
    assert dialog.problem.text() == "At least 6 is more than at most 4."
    dialog.most.setValue(12)
    dialog.save_button.click()
    qtbot.waitUntil(lambda: node.note.text() == "asked to set its slots by itself")
    assert orders(fleet, info) == ("slots=auto:6-12",)
    fleet.heartbeat("rpa-01", busy=2, auto="auto:6-12")
    qtbot.waitUntil(lambda: node.note.text().startswith("slots automatic, 6 to 12"), timeout=WAIT_MS)


def test_a_worker_is_told_to_refuse_types_and_says_so(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    info = fleet.heartbeat("rpa-01", busy=0)
    page = open_page()
    node = card(page, "rpa-01")
    node.buttons["share"].click()
    (dialog,) = page.findChildren(LanesDialog)
    dialog.declines.setText("no such type!")
    assert dialog.problem.text() == "no such type! is no code of a task type."
    dialog.declines.setText("screenshot，get_content")
    written = dialog.orders()
    dialog.declines.setText("screenshot get_content")
    assert dialog.orders() == written
    dialog.save_button.click()
    qtbot.waitUntil(lambda: node.note.text() == "asked to refuse types", timeout=WAIT_MS)
    assert orders(fleet, info) == ("refuse=screenshot,get_content",)
    fleet.heartbeat("rpa-01", busy=0, declines=("screenshot", "get_content"), browsers=2)
    qtbot.waitUntil(lambda: node.note.text() == "refuses 2 types", timeout=WAIT_MS)
    assert "Refuses: screenshot, get_content" in node.toolTip()
    assert "2 browsers run" in node.toolTip()


@pytest.mark.one_pair
def test_slots_that_cannot_be_asked_for_stay_typed(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.heartbeat("rpa-01", busy=0)
    page = open_page()
    card(page, "rpa-01").buttons["share"].click()
    (dialog,) = page.findChildren(LanesDialog)
    dialog.slots.setValue(7)
    dialog.declines.setText("screenshot")
    fleet.may_only_look()
    dialog.save_button.click()
    qtbot.waitUntil(dialog.problem.isVisible, timeout=WAIT_MS)
    assert "viewer" in dialog.problem.text()
    assert (dialog.isVisible(), dialog.slots.value(), dialog.declines.text()) == (True, 7, "screenshot")
    assert not fleet.toasts


@pytest.mark.one_pair
def test_verbs_stand_in_words_where_the_card_is_wide_and_have_names_everywhere(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    fleet.heartbeat("rpa-01", slots=4)
    page = open_page()
    node = card(page, "rpa-01")
    verbs = (node.buttons["share"], node.buttons["log"], node.buttons["drain"], node.buttons["stop"])
    names = ["Slots and lanes", "Look at the last lines of its log", "Drain: take no new tasks", "Stop this worker"]
    node.setFixedWidth(1000)
    qtbot.waitUntil(lambda: [verb.text() for verb in verbs] == ["Lanes", "Log", "Drain", "Stop"])
    assert [verb.accessibleName() for verb in verbs] == [verb.toolTip() for verb in verbs] == names

    def apart() -> list[int]:
        row = (node.stepper, *verbs)
        return [right.geometry().left() - left.geometry().right() for left, right in pairwise(row)]

    qtbot.waitUntil(lambda: node.stepper.width() >= node.stepper.sizeHint().width())
    page.board.show_workers([node.now], nodes.NO_NAMES, "", fleet.store.now_ms())  # at once, as each heartbeat is shown
    assert node.stepper.width() >= node.stepper.sizeHint().width()
    assert max(apart()[1:]) == min(apart()[1:]), "no room is left for a verb that is not there"
    node.setFixedWidth(560)
    qtbot.waitUntil(lambda: not any(verb.text() for verb in verbs))
    assert [verb.accessibleName() for verb in verbs] == [verb.toolTip() for verb in verbs] == names


@pytest.mark.one_pair
def test_a_machine_is_told_from_the_workers_that_run_on_it(fleet: Fleet, open_page: Open) -> None:
    fleet.heartbeat("vm-19655-bb2b", node="vm-7609")
    page = open_page()
    assert page.header.summary().startswith("1 worker on 1 machine")
    assert "Machine vm-7609: 1 worker" in page.header.summary_tip()
    assert "Machine: vm-7609" in card(page, "vm-19655-bb2b").toolTip()


def test_an_empty_page_says_which_worker_was_the_last_and_who_ended_it(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    info = fleet.heartbeat("rpa-01")
    farewells.told(fleet.store, "rpa-01", "ann@desk")
    farewells.leave(fleet.store, info)
    page = open_page()

    def said() -> list[str]:
        return [label.text() for label in page.empty.findChildren(QLabel) if label.isVisible() and label.text()]

    qtbot.waitUntil(lambda: any("was stopped by ann@desk" in words for words in said()), timeout=WAIT_MS)
    assert any(words.startswith("The last one, rpa-01 on machine ") for words in said())


def test_the_palette_offers_the_verbs_of_the_worker_that_is_chosen(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    fleet.heartbeat("rpa-01", slots=2, busy=0)
    page = open_page()
    assert [one.words for one in page.commands()] == ["Start one on this computer"], "none is chosen"
    page.show_request("rpa-01")
    offered = {one.key: one for one in page.commands()}
    assert [one.words for one in offered.values()] == [
        "Drain",
        "Stop",
        "Slots and lanes",
        "Log",
        "Start one on this computer",
    ]
    assert offered["workers.drain"].note == "rpa-01"
    page.set_acting("Not while the connection is lost")
    assert [one.words for one in page.commands() if not one.reason] == ["Slots and lanes", "Log"], "those only show"
    page.set_acting("")
    offered["workers.drain"].run()
    qtbot.waitUntil(lambda: card(page, "rpa-01").note.text() == "asked to drain")


def test_the_ticked_workers_are_drained_together_and_resumed_by_undo(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    infos = [fleet.heartbeat(f"rpa-{n:02d}", busy=0) for n in range(1, 5)]
    draining = fleet.heartbeat("rpa-05", busy=0, state="draining")
    page = open_page()
    page.findChildren(Segmented)[0].choose("table")
    records = page.table.records
    assert not page.bulk.isVisible()
    records.set_ticked(["rpa-01", "rpa-03", "rpa-05"])
    assert page.bulk.isVisible()
    assert page.bulk.buttons["resume"].isEnabled(), "one of them is draining"
    page.bulk.buttons["drain"].click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == "2 workers are asked to drain."
    assert [orders(fleet, info) for info in infos] == [("drain",), (), ("drain",), ()]
    assert orders(fleet, draining) == (), "it drains already"
    qtbot.waitUntil(lambda: card(page, "rpa-03").note.text() == "asked to drain", timeout=WAIT_MS)
    fleet.toasts[-1].actions[0].call()
    qtbot.waitUntil(lambda: fleet.toasts[-1].text == "Taken back.", timeout=WAIT_MS)
    assert [orders(fleet, info) for info in infos] == [("resume",), (), ("resume",), ()]
    records.untick_all()
    assert not page.bulk.isVisible()
    records.set_ticked(["rpa-02"])
    assert page.bulk.buttons["resume"].toolTip() == "Fits none of those that are ticked"
    page.set_acting("Only looking")
    assert {button.toolTip() for button in page.bulk.buttons.values()} == {"Only looking"}
