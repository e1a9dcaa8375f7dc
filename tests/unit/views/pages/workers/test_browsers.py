"""The browsers of workers elsewhere: listed beside their worker, opened, seen and gone on with from here; its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest
from PySide6.QtCore import QBuffer, QPoint
from PySide6.QtGui import QColor, QImage, QTextCursor, QTextFormat
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from services.domain.change import CloseSession
from services.domain.fleet import remote
from services.domain.fleet.remote import LogLine, OrderEnd, Window, WorkerLog
from services.domain.fleet.worker import BrowserState, WorkerInfo
from services.domain.insight import worker as insight
from services.domain.task import classify
from tests.unit.views.pages.fleet_rig import Fleet
from tests.unit.views.pages.opening import WAIT_MS, opening
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.shop_login import OPEN, OVER, ShopWindowDialog
from views.pages.workers.browsers import sentence
from views.pages.workers.page import WorkersPage
from views.pages.workers.verbs import LogDialog

Open = Callable[[], WorkersPage]
SHOP = "pdd:s1"


@pytest.fixture
def open_page(qtbot: QtBot, fleet: Fleet) -> Iterator[Open]:
    def show(page: WorkersPage) -> None:
        page.show()
        page.activate()
        expected = len(fleet.store.workers())
        qtbot.waitUntil(lambda: page.table.records.rowCount() == expected, timeout=WAIT_MS)

    yield from opening(qtbot, lambda: WorkersPage(fleet.context), show)


def desk(fleet: Fleet, *pool: BrowserState, **more: object) -> WorkerInfo:
    """A worker with browsers, on a machine of its own."""
    return fleet.heartbeat("desk", node="desk-01", executors=("browser",), pool=pool, **more)


def need_login(fleet: Fleet, kind: str = classify.LOGIN_EXPIRED) -> None:
    fleet.store.apply([CloseSession(shop=SHOP, kind=kind, by="chen", note="")])


def picture() -> bytes:
    image = QImage(320, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("#336699"))
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "JPEG")
    return bytes(buffer.data().data())


def test_a_shop_that_needs_a_login_is_listed_where_its_profile_lives_and_gone_on_with_from_here(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    info = desk(fleet, BrowserState(shop="pdd:s2", state="busy", since=1))
    fleet.store.put_home(SHOP, "desk-01")
    need_login(fleet)
    page = open_page()
    table = page.browsers.table
    qtbot.waitUntil(lambda: table.records.rowCount() == 2, timeout=WAIT_MS)
    assert page.browsers.hint.text() == "1 shop waits for a login here."
    table.set_current_key("pdd:s2")
    assert not page.browsers.buttons["open"].isEnabled(), "a task works in it"
    table.set_current_key(SHOP)
    assert not page.browsers.buttons["restart"].isEnabled(), "no browser of it runs"

    page.browsers.buttons["open"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ShopWindowDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ShopWindowDialog)
    qtbot.waitUntil(lambda: f"open_window={SHOP}" in fleet.store.heartbeat(info).orders, timeout=WAIT_MS)
    shown = Window(
        shop=SHOP, worker="desk", opened=fleet.store.now_ms(), at=fleet.store.now_ms(), url="https://pdd/login",
        picture=picture(),
    )  # fmt: skip
    fleet.store.put_document(remote.WINDOWS, SHOP, remote.dump(shown).decode())
    qtbot.waitUntil(lambda: dialog.state == OPEN and not dialog.picture.image.isNull(), timeout=WAIT_MS)
    assert dialog.pill.words() == "asks for a login or shows a captcha"
    dialog.done_button.click()
    qtbot.waitUntil(lambda: not fleet.store.sessions(), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: f"close_window={SHOP}" in fleet.store.heartbeat(info).orders, timeout=WAIT_MS)
    acts = [entry.action for entry in fleet.store.audit(9)]
    assert {"worker.open_window", "session.login", "worker.close_window"} <= set(acts)
    assert fleet.toasts[-1].text == "pdd:s1 is logged in; its tasks go on."


def test_of_a_shop_that_waits_for_nothing_it_is_not_said_that_its_tasks_go_on(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    desk(fleet, BrowserState(shop=SHOP, state="free", since=1))
    page = open_page()
    table = page.browsers.table
    qtbot.waitUntil(lambda: table.records.rowCount() == 1, timeout=WAIT_MS)
    table.set_current_key(SHOP)
    page.browsers.buttons["open"].click()
    qtbot.waitUntil(lambda: bool(page.findChildren(ShopWindowDialog)), timeout=WAIT_MS)
    (dialog,) = page.findChildren(ShopWindowDialog)
    now = fleet.store.now_ms()
    seen = Window(shop=SHOP, worker="desk", opened=now, at=now, url="https://pdd/", logged_in=True)
    fleet.store.put_document(remote.WINDOWS, SHOP, remote.dump(seen).decode())
    qtbot.waitUntil(lambda: dialog.state == OPEN, timeout=WAIT_MS)
    dialog.done_button.click()
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == "pdd:s1 is logged in."


@pytest.mark.one_pair
def test_the_port_of_a_browser_is_copied_where_it_has_one(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    desk(
        fleet, BrowserState(shop="pdd:s2", state="idle", since=1, port=9226), BrowserState(shop="pdd:s3", state="idle")
    )
    page = open_page()
    table = page.browsers.table
    qtbot.waitUntil(lambda: table.records.rowCount() == 2, timeout=WAIT_MS)
    found = {}
    for shop in ("pdd:s2", "pdd:s3"):
        menu = QMenu(page)
        table.menu_requested.emit(menu, shop)
        (found[shop],) = (action for action in menu.actions() if action.text() == "Copy port")
    assert [action.isEnabled() for action in found.values()] == [True, False]
    found["pdd:s2"].trigger()
    assert QApplication.clipboard().text() == "9226"


def test_why_a_browser_could_not_be_opened_is_told_in_its_place(qtbot: QtBot, fleet: Fleet) -> None:
    info = desk(fleet)
    dialog = ShopWindowDialog(fleet.context, SHOP, "Shop one", "desk")
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: bool(fleet.store.heartbeat(info).orders), timeout=WAIT_MS)
    why = OrderEnd(order=f"open_window={SHOP}", at=fleet.store.now_ms(), error=f"the window of {SHOP} is open already")
    desk(fleet, answers=(why,))
    qtbot.waitUntil(lambda: dialog.state == OVER, timeout=WAIT_MS)
    assert not dialog.done_button.isEnabled()
    assert "is open already" in dialog.problem.accessibleName()


def test_why_an_order_was_refused_stays_while_the_picture_goes_on(qtbot: QtBot, fleet: Fleet) -> None:
    desk(fleet)
    now = fleet.store.now_ms()
    shown = Window(shop=SHOP, worker="desk", opened=now, at=now, url="https://pdd/", picture=picture())
    fleet.store.put_document(remote.WINDOWS, SHOP, remote.dump(shown).decode())
    dialog = ShopWindowDialog(fleet.context, SHOP, "Shop one", "desk")
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.state == OPEN, timeout=WAIT_MS)
    fleet.store.forget_worker("desk")
    dialog.reload_button.click()
    qtbot.waitUntil(lambda: "desk" in dialog.problem.accessibleName(), timeout=WAIT_MS)
    with qtbot.waitSignal(dialog.looked, timeout=WAIT_MS):
        pass
    assert "desk" in dialog.problem.accessibleName()


def test_a_picture_of_a_worker_that_fell_silent_is_not_told_as_what_the_browser_shows(
    qtbot: QtBot, fleet: Fleet
) -> None:
    desk(fleet)
    now = fleet.store.now_ms()
    for age, told in ((16_000, "no signal"), (0, "asks for nothing")):
        seen = Window(shop=SHOP, worker="desk", opened=now, at=now - age, url="https://pdd/", logged_in=True)
        fleet.store.put_document(remote.WINDOWS, SHOP, remote.dump(seen).decode())
        dialog = ShopWindowDialog(fleet.context, SHOP, "Shop one", "desk")
        qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda dialog=dialog: dialog.state == OPEN, timeout=WAIT_MS)
        assert dialog.pill.words() == told
        assert ("Nothing is heard of desk" in dialog.problem.accessibleName()) is bool(age)
        assert ("closes by itself" in dialog.hint.text()) is not bool(age)
        fleet.store.remove_document(remote.WINDOWS, SHOP)
        qtbot.waitUntil(lambda dialog=dialog: dialog.state == OVER, timeout=WAIT_MS)


@pytest.mark.one_pair
@pytest.mark.parametrize("logged_in", [True, False])
def test_a_browser_that_was_closed_there_leaves_it_to_this_desk_to_go_on_where_it_asked_for_nothing(
    qtbot: QtBot, fleet: Fleet, logged_in: bool
) -> None:
    """Somebody at that machine logs in and closes it, as one does at home: the shop went on waiting for its login."""
    desk(fleet)
    need_login(fleet)
    now = fleet.store.now_ms()
    seen = Window(shop=SHOP, worker="desk", opened=now, at=now, url="https://pdd/", logged_in=logged_in)
    fleet.store.put_document(remote.WINDOWS, SHOP, remote.dump(seen).decode())
    dialog = ShopWindowDialog(fleet.context, SHOP, "Shop one", "desk")
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog.state == OPEN, timeout=WAIT_MS)
    fleet.store.remove_document(remote.WINDOWS, SHOP)
    qtbot.waitUntil(lambda: dialog.state == OVER, timeout=WAIT_MS)
    assert dialog.close_button.text() == "Close", "there is nothing to close there"
    assert dialog.done_button.isEnabled() is logged_in
    assert dialog.pill.words() == ("closed, asks for nothing" if logged_in else "closed")
    if logged_in:
        with qtbot.waitSignal(dialog.logged_in, timeout=WAIT_MS):
            dialog.done_button.click()
        assert not fleet.store.sessions()


def test_a_restart_with_a_task_in_it_asks_first_and_tells_how_it_ended(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    info = desk(fleet, BrowserState(shop=SHOP, state="busy", since=1))
    page = open_page()
    qtbot.waitUntil(lambda: page.browsers.buttons["restart"].isEnabled(), timeout=WAIT_MS)
    page.browsers.buttons["restart"].click()
    (dialog,) = page.findChildren(ConfirmDialog)
    dialog.verb_button.click()
    qtbot.waitUntil(lambda: f"restart_browser={SHOP}" in fleet.store.heartbeat(info).orders, timeout=WAIT_MS)
    desk(fleet, answers=(OrderEnd(order=f"restart_browser={SHOP}", at=fleet.store.now_ms() + 1),))
    qtbot.waitUntil(lambda: bool(fleet.toasts), timeout=WAIT_MS)
    assert fleet.toasts[-1].text == "The browser of s1 is ended; the next task starts a new one."


def test_a_browser_that_is_to_open_for_a_person_is_at_work_until_its_task_has_ended(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    desk(fleet, BrowserState(shop=SHOP, state="busy", since=1), BrowserState(shop=SHOP, state="window", since=2))
    page = open_page()
    table = page.browsers.table
    qtbot.waitUntil(lambda: table.records.rowCount() == 1, timeout=WAIT_MS)
    assert sentence(table.records.record(0)).startswith("s1, at work")
    table.set_current_key(SHOP)
    assert {name: button.isEnabled() for name, button in page.browsers.buttons.items()} == {
        "open": False, "restart": True, "release": False,
    }  # fmt: skip


def test_the_log_of_a_worker_is_asked_for_and_follows(qtbot: QtBot, fleet: Fleet) -> None:
    info = desk(fleet)
    dialog = LogDialog(fleet.context, "desk")
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: any(one.startswith("log=") for one in fleet.store.heartbeat(info).orders), timeout=WAIT_MS)
    lines = (LogLine(1, "info", "began"), LogLine(2, "warning", "the store is slow"))
    for number in (1, 2):
        log = WorkerLog(worker="desk", at=number, lines=lines[:number])
        fleet.store.put_document(remote.LOGS, "desk", remote.dump(log).decode())
        qtbot.waitUntil(lambda number=number: dialog.text.blockCount() == number, timeout=WAIT_MS)
    dialog.find_button.click()
    qtbot.keyClicks(dialog.finder.field, "BEGAN")
    assert dialog.finder.count.text() == "1 of 1"
    dialog.levels.choose("bad")
    assert dialog.finder.count.text() == "not found"
    assert "the store is slow" in dialog.text.toPlainText()
    assert "began" not in dialog.text.toPlainText()
    assert "new ones come" in dialog.hint.text()
    desk(fleet, state="stopped")
    qtbot.waitUntil(lambda: "desk is silent" in dialog.hint.text(), timeout=WAIT_MS)
    assert dialog.text.blockCount() == 1, "what it has shown stays"


def test_lines_that_go_in_front_take_neither_the_hit_nor_the_place_nor_what_is_marked(
    qtbot: QtBot, fleet: Fleet
) -> None:
    desk(fleet)
    dialog = LogDialog(fleet.context, "desk")
    qtbot.addWidget(dialog)
    dialog.open()
    lines = [LogLine(1, "info", f"row {number} {'needle' if number % 7 == 0 else 'hay'}") for number in range(90)]

    def tell(first: int) -> None:
        log = WorkerLog(worker="desk", at=first + 1, lines=tuple(lines[first : first + 60]))
        fleet.store.put_document(remote.LOGS, "desk", remote.dump(log).decode())
        last = lines[first + 59].text
        qtbot.waitUntil(lambda: dialog.text.document().lastBlock().text().endswith(last), timeout=WAIT_MS)

    tell(0)
    dialog.text.verticalScrollBar().setValue(20)
    dialog.find_button.click()
    qtbot.keyClicks(dialog.finder.field, "needle")
    dialog.finder.next.click()
    here = dialog.text.textCursor().block().text()
    marked = QTextCursor(dialog.text.document().findBlockByNumber(40))
    marked.select(QTextCursor.SelectionType.LineUnderCursor)
    dialog.text.setTextCursor(marked)
    top = dialog.text.cursorForPosition(QPoint(0, 0)).block().text()
    said = marked.selectedText()
    tell(5)
    tell(12)
    assert dialog.text.blockCount() == 60
    (hit,) = (one for one in dialog.text.extraSelections() if one.format.hasProperty(QTextFormat.ForegroundBrush))
    assert hit.cursor.block().text() == here
    assert dialog.text.textCursor().selectedText() == said
    assert dialog.text.cursorForPosition(QPoint(0, 0)).block().text() == top
    assert not dialog.text.document().isUndoAvailable(), "lines that are gone are kept nowhere"


def test_a_worker_that_stops_still_shows_its_log(qtbot: QtBot, fleet: Fleet, open_page: Open) -> None:
    desk(fleet, state="stopping")
    page = open_page()
    node = page.board.card("desk")
    assert node is not None
    qtbot.waitUntil(lambda: not node.buttons["stop"].isEnabled(), timeout=WAIT_MS)
    assert node.buttons["log"].isEnabled()
    assert not node.buttons["drain"].isEnabled()


def test_machines_tell_where_their_versions_differ_and_lead_to_their_workers(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    for number in (1, 2, 3):
        python = "3.11.9" if number < 3 else "3.10.4"
        fleet.heartbeat(f"w{number}", node=f"desk-0{number}", versions={"python": python})
    page = open_page()
    records = page.machines.records
    assert records.rowCount() == 3
    differs = [records.record(row).differs for row in range(3)]
    assert [bool(one) for one in differs] == [False, False, True]
    page.machines.open_requested.emit("desk-03")
    assert page.table.isVisible()
    assert page.table.records.rowCount() == 1
    page.finder.setText("nobody is called so")
    assert page.unmatched.isVisible()
    page.unmatched.button.click()
    assert page.table.records.rowCount() == 3


def test_the_browsers_beside_the_workers_are_those_of_the_one_that_is_chosen(
    qtbot: QtBot, fleet: Fleet, open_page: Open
) -> None:
    """Also of one that has none, or is not heard of: its ring beside browsers of another would tell they are its own.
    What is below the card stays where it is.
    """
    desk(fleet, BrowserState(shop="pdd:s2", state="busy", since=1))
    fleet.heartbeat("bare", node="desk-02")
    page = open_page()
    card = page.browsers
    qtbot.waitUntil(lambda: card.table.records.rowCount() == 1, timeout=WAIT_MS)
    page.show_request("bare")
    assert card.table.records.rowCount() == 0
    assert card.isVisible()
    assert card.hint.text() == "No browser is open there."
    now = fleet.store.now_ms()
    late = msgspec.structs.replace(fleet.store.workers()[0], worker="late", node="desk-03", seen_at=now - 90_000)
    page.deactivate()
    page.show_fleet(insight.look([*fleet.store.workers(), late], now, {}), now)
    page.board.select("late")
    page.show_fleet(insight.look([*fleet.store.workers(), late], now, {}), now)
    assert card.table.records.rowCount() == 0
    page.show_request("desk")
    assert card.table.records.rowCount() == 1
