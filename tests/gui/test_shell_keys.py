"""The keyboard of the window: pages, panes, freezing, all keys, the palette."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolTip
from pytestqt.qtbot import QtBot

import views
from console import main_window
from console.bootstrap import OpenWindow as Window
from console.palette import LOOKS, OTHER_WORDS, WINDOW_COMMANDS, PaletteFinder
from services import i18n
from services.cli.window import pages
from services.commands.outcome import Outcome
from services.domain.errors import BrokerUnavailable, StoreUnavailable
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.limit import Limit
from services.domain.promises import promise, standing
from services.domain.promises.judge import BROKEN
from services.domain.promises.promise import Promise
from services.domain.task.queues import DEAD_QUEUE
from services.domain.task.status import Status, Triage
from services.monitor.shops.states import ShopStates
from services.monitor.tasks import TaskQueries
from tests.gui.desk import Desk
from tests.gui.tasks_rig import wait
from tests.support.console_window import window_over
from tests.support.held import held, settled
from tests.support.widgets import words
from views.dialogs.work.dialog import WorkDialog
from views.pages.dead_letters.page import DeadLettersPage
from views.pages.overview.page import OverviewPage
from views.pages.promises.page import PromisesPage
from views.pages.shops.page import ShopsPage
from views.pages.tasks.page import TasksPage
from views.shell.key_help import KeyHelp
from views.shell.palette_rows import Entry
from views.support import instant, safe, shown
from views.support.acting import Acting, Reverse
from views.support.words import shop
from views.tables.table_view import TableView
from views.theme.tokens import status
from views.widgets.buttons import Button
from views.widgets.filter.search_field import SearchField
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip
from views.widgets.toast import ToastSpec, undo_action

WAIT_MS = 8000
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(desk: Desk, qtbot: QtBot) -> Iterator[Window]:
    """The window over the desk's session, on the Tasks page."""
    made = window_over(desk.session)
    qtbot.addWidget(made.window)
    made.window.resize(1280, 800)
    made.window.open_page("tasks")
    made.window.show()
    made.window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is made.window, timeout=WAIT_MS)
    yield made
    made.keys.palette.hide()
    made.window.close()
    made.feed.deleteLater()


def tasks(window: Window) -> TasksPage:
    """The Tasks page."""
    page = window.window.page("tasks")
    assert isinstance(page, TasksPage)
    return page


def entries(window: Window) -> list[Entry]:
    """What the palette offers, heads apart."""
    return [row for row in window.keys.palette.rows.rows() if isinstance(row, Entry)]


def shops_known(window: Window) -> int:
    """How many shops the palette can find."""
    finder = window.window.findChild(PaletteFinder)
    assert finder is not None
    return sum(len(found) for _title, found in finder.find("", "shops"))


def press(widget: object, *keys: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press keys one after the other."""
    for key in keys:
        QTest.keyClick(widget, key, modifier)  # type: ignore[call-overload]


def test_a_look_up_that_nobody_waits_for_tells_no_error(window: Window, qtbot: QtBot) -> None:
    palette, finder = window.keys.palette, window.window.findChild(PaletteFinder)
    assert finder is not None
    palette.ask()
    told = len(window.window.toasts.toasts())
    with held(TaskQueries, "get") as call:
        palette.field.setText("pdd_sync_order")
        call.wait(qtbot)
        palette.field.clear()
        call.let_go(StoreUnavailable("gone"))
        settled(qtbot, finder)
    palette.hide()
    assert len(window.window.toasts.toasts()) == told


def test_g_and_a_letter_go_to_pages_but_not_from_a_text_field(window: Window, qtbot: QtBot) -> None:
    page = tasks(window)
    page.table.setFocus()
    press(page.table, Qt.Key.Key_G, Qt.Key.Key_W)
    assert window.window.current == "workers"
    window.window.open_page("tasks")
    page.filter.focus_field()
    press(page.filter.field, Qt.Key.Key_G, Qt.Key.Key_W, Qt.Key.Key_R, Qt.Key.Key_Question)
    assert window.window.current == "tasks"
    assert page.filter.field.text() == "gwr?"
    assert window.window.findChild(KeyHelp) is None


def test_the_page_in_the_eleventh_place_has_the_key_beside_the_zero(window: Window, qtbot: QtBot) -> None:
    for key, page_id in ((Qt.Key.Key_0, "alerts"), (Qt.Key.Key_Minus, "audit"), (Qt.Key.Key_1, "overview")):
        qtbot.keyClick(window.window, key, Qt.KeyboardModifier.AltModifier)
        assert window.window.current == page_id
    page = tasks(window)
    page.table.setFocus()
    press(page.table, Qt.Key.Key_G, Qt.Key.Key_U)
    assert window.window.current == "audit"


def test_a_page_that_is_opened_gives_its_table_the_keyboard(window: Window) -> None:
    left = []
    for page_id in ("shops", "dead_letters", "queues", "schedules", "types", "alerts", "audit", "logs"):
        window.window.open_page(page_id)
        focus = window.window.focusWidget()
        if not (isinstance(focus, TableView) and window.window.page(page_id).isAncestorOf(focus)):
            left.append((page_id, focus))
    assert left == []
    window.window.open_page("overview")
    assert window.window.focusWidget() is window.window.page("overview"), "where there is none, nothing is chosen"


def test_a_page_that_had_nothing_to_list_gives_the_keyboard_to_its_list_once_that_is_there(
    window: Window, desk: Desk, qtbot: QtBot
) -> None:
    page = window.window.page("dead_letters")
    assert isinstance(page, DeadLettersPage)
    window.window.open_page("dead_letters")
    wait(qtbot, lambda: not page.table.isVisible())
    window.window.open_page("overview")
    window.window.open_page("dead_letters")
    assert window.window.focusWidget() is page, "there is nothing yet"
    desk.fail(desk.create())
    page.refresh()
    wait(qtbot, page.table.isVisible)
    assert window.window.focusWidget() is page.table


def test_f6_goes_from_the_head_of_a_page_into_the_page(window: Window) -> None:
    page = tasks(window)
    page.header.findChildren(Button)[0].setFocus()
    press(page.header.findChildren(Button)[0], Qt.Key.Key_F6)
    focus = window.window.focusWidget()
    assert focus is not None
    assert any(part is focus or part.isAncestorOf(focus) for part in page.panes())


@pytest.mark.parametrize("page_id", ["tasks", "shops", "audit"])
def test_the_key_of_the_page_that_is_open_brings_the_keyboard_back_to_it(window: Window, page_id: str) -> None:
    window.window.open_page(page_id)
    page, start = window.window.page(page_id), window.window.focusWidget()
    window.window.status_bar.part("in").setFocus()
    window.window.open_page(page_id)
    assert window.window.focusWidget() is start
    inside = page.header.findChildren(Button)[0]
    inside.setFocus()
    window.window.open_page(page_id)
    assert window.window.focusWidget() is inside, "who is there already stays where he is"


def test_promises_give_the_keyboard_to_their_list_also_while_a_panel_with_shops_is_open(
    window: Window, desk: Desk, qtbot: QtBot
) -> None:
    desk.session.commands.promises.set(Promise(name="orders", task_type="sync_order", limit_s=60, all_shops=True))
    store = desk.session.engine.store
    late = standing.Row(shop="pdd:pdd-10021", state=BROKEN, break_at=store.now_ms() - 1000)
    found = standing.Standing(name="orders", version=1, judged_at=store.now_ms(), total=1, broken=1, rows=(late,))
    store.put_document(promise.STATE, "orders", standing.DOCUMENT.dump(found))
    page = window.window.page("promises")
    assert isinstance(page, PromisesPage)
    window.window.open_page("promises")
    wait(qtbot, lambda: page.table.model().rowCount() == 1)
    press(page.table, Qt.Key.Key_Return)
    # what stands there before it is told of this promise is hidden again
    wait(qtbot, lambda: page.panel.shown is not None and page.panel.matrix.isVisible())
    window.window.open_page("tasks")
    window.window.open_page("promises")
    assert page.panel.matrix.isVisible()
    assert page.table.hasFocus(), "its keys edit and remove a promise"


@pytest.mark.parametrize("page_id", ["shops", "types", "alerts", "batches", "tasks", "audit", "logs"])
def test_the_key_of_the_filter_brings_the_cursor_into_the_field_that_shows_it(window: Window, page_id: str) -> None:
    window.window.open_page(page_id)
    press(window.window.focusWidget(), Qt.Key.Key_Slash)
    field = QApplication.focusWidget()
    assert isinstance(field, SearchField)
    assert window.window.page(page_id).isAncestorOf(field)
    press(field, Qt.Key.Key_Slash)
    assert field.text() == "/", "there it is a letter"


@pytest.mark.parametrize("page_id", pages())
def test_f6_goes_into_a_page_that_was_just_opened_before_it_leaves_it(
    window: Window, qtbot: QtBot, page_id: str
) -> None:
    """Also where there is nothing to list yet, and before an answer has come."""
    window.window.open_page(page_id)
    page, above = window.window.page(page_id), window.window.top_bar
    for answered in (False, True):
        if answered:
            qtbot.waitUntil(lambda: page.anything_known, timeout=WAIT_MS)
        # what a page gives the keyboard to is a part of it already
        for start in (above.profile, *((page,) if page.focusProxy() is None else ())):
            start.setFocus()
            press(start, Qt.Key.Key_F6)
            focus = QApplication.focusWidget()
            assert focus is not None
            assert focus is not page
            assert page.isAncestorOf(focus), focus
            press(focus, Qt.Key.Key_F6, modifier=SHIFT)
            assert above.isAncestorOf(QApplication.focusWidget() or page)


@pytest.mark.parametrize(
    ("page_id", "key", "words"),
    [
        ("queues", Qt.Key.Key_Slash, "filter field of the page"),
        ("promises", Qt.Key.Key_E, "edit the promise"),
        ("tasks", Qt.Key.Key_R, "retry"),
    ],
)
def test_a_key_that_finds_nothing_here_says_so(window: Window, page_id: str, key: Qt.Key, words: str) -> None:
    window.window.open_page(page_id)
    page = window.window.page(page_id)
    page.setFocus()
    press(page, key)
    assert QToolTip.text() == safe.tooltip(f"Not here now: {words}")
    press(page, Qt.Key.Key_F12)
    assert words in QToolTip.text(), "a key that nobody has says nothing"
    QToolTip.hideText()


def test_a_key_that_is_held_says_once_that_it_finds_nothing(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(main_window, "refuse", said.append)
    for again in (False, True, True):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_R, Qt.KeyboardModifier.NoModifier, "r", again)
        window.window.keyPressEvent(event)
    assert said == ["Not here now: retry"]


def test_shift_f10_opens_the_menu_of_the_row(window: Window, desk: Desk, qtbot: QtBot) -> None:
    desk.create()
    table = tasks(window).table
    window.window.page("tasks").refresh()
    qtbot.waitUntil(lambda: table.records.rowCount() == 1, timeout=WAIT_MS)
    table.setFocus()
    table.setCurrentIndex(table.records.index(0, 2))
    press(table, Qt.Key.Key_F10, modifier=Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert "Copy cell" in [action.text() for action in menu.actions()]
    menu.close()


def test_f6_goes_round_the_parts_of_the_window(window: Window, desk: Desk, qtbot: QtBot) -> None:
    desk.create(0)
    page = tasks(window)
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    page.table.setFocus()
    seen = []
    for _n in range(8):
        focus = QApplication.focusWidget()
        parts = window.window.panes()
        seen.append(next(n for n, part in enumerate(parts) if part is focus or part.isAncestorOf(focus or part)))
        press(focus, Qt.Key.Key_F6)
    assert set(seen) >= {0, 1, 2, 3, 4, 7}
    before = QApplication.focusWidget()
    press(before, Qt.Key.Key_F6)
    press(QApplication.focusWidget(), Qt.Key.Key_F6, modifier=Qt.KeyboardModifier.ShiftModifier)
    part = next(part for part in window.window.panes() if part is before or part.isAncestorOf(before or part))
    focus = QApplication.focusWidget()
    assert part is focus or part.isAncestorOf(focus or part)


def overview_with_something_to_do(window: Window, desk: Desk, qtbot: QtBot) -> OverviewPage:
    """It is seen."""
    desk.session.commands.sessions.close("pdd:pdd-10021")
    window.window.open_page("overview")
    page = window.window.page("overview")
    assert isinstance(page, OverviewPage)
    wait(qtbot, lambda: bool(page.attention.list.items()))
    return page


def go_on_from_the_head(window: Window) -> None:
    """Press F6 there."""
    head = main_window.first_focus(window.window.top_bar)
    assert head is not None
    head.setFocus()
    press(head, Qt.Key.Key_F6)


def test_f6_comes_from_the_head_of_the_window_to_what_is_to_do(window: Window, desk: Desk, qtbot: QtBot) -> None:
    """It came there after the tiles and each chart, and then to *Mute*."""
    page = overview_with_something_to_do(window, desk, qtbot)
    go_on_from_the_head(window)
    assert QApplication.focusWidget() is page.attention.list.items()[0].links()[0]
    before = QApplication.focusWidget()
    press(before, Qt.Key.Key_F6)
    beyond = QApplication.focusWidget()
    assert beyond is not None
    assert not page.attention.isAncestorOf(beyond)
    page.attention.mute_button.setFocus()
    press(page.attention.mute_button, Qt.Key.Key_F6)
    assert QApplication.focusWidget() is beyond, "from its head on, too, not to the first part of the window"


def test_f6_comes_to_what_is_muted_where_nothing_else_is_to_do(window: Window, desk: Desk, qtbot: QtBot) -> None:
    page = overview_with_something_to_do(window, desk, qtbot)
    for item in page.attention.list.items():
        page.attention.mute(item.row, "today")
    go_on_from_the_head(window)
    assert QApplication.focusWidget() is page.attention.foot.show_again


def test_f6_reaches_what_a_message_offers(window: Window, qtbot: QtBot) -> None:
    tasks(window)
    window.window.toasts.show(ToastSpec(text="held", actions=(undo_action(lambda: None),), sticky=True))
    (toast,) = window.window.toasts.toasts()
    assert window.window.panes()[-1] is toast
    window.window.rail.setFocus()
    for _n in range(len(window.window.panes())):
        press(QApplication.focusWidget() or window.window, Qt.Key.Key_F6)
        if toast.has_keyboard():
            break
    focus = QApplication.focusWidget()
    assert isinstance(focus, Button)
    assert focus.text() == "Undo"
    toast.close_now()
    assert not toast.has_keyboard()


def test_a_frozen_view_stands_still_and_catches_up(window: Window, desk: Desk, qtbot: QtBot) -> None:
    page = tasks(window)
    task = desk.create(0)
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    shown.set_zone("Pacific/Kiritimati")  # the fleet's, and not that of this machine
    press(page, Qt.Key.Key_Period, modifier=CTRL)
    now = instant.now_ms()
    assert page.header.still().startswith(f"frozen {shown.clock(now, now)[:2]}:")
    shown.set_zone("")
    desk.claim(task)
    seen = window.feed.latest.taken
    wait(qtbot, lambda: window.feed.latest.taken > seen + 0.5)
    assert page.table.records.records()[0].task.status == Status.QUEUED
    assert page.tabs.text_of("running") == "Running  0"
    press(page, Qt.Key.Key_Period, modifier=CTRL)
    wait(qtbot, lambda: page.table.records.records()[0].task.status == Status.RUNNING)
    assert not page.header.still()
    press(page, Qt.Key.Key_Period, modifier=CTRL)
    window.window.open_page("workers")
    assert not window.window.frozen


def test_the_key_takes_back_what_a_message_of_any_page_offers_to_once(window: Window) -> None:
    taken: list[str] = []
    for name in ("older", "newer"):
        undo = undo_action(partial(taken.append, name))
        window.window.toasts.say(ToastSpec(text=name, actions=(undo,)))
    window.window.toasts.say(ToastSpec(text="somebody else did that"))
    window.window.open_page("workers")
    for _time in range(3):
        press(window.window, Qt.Key.Key_Z, modifier=CTRL)
    assert taken == ["newer", "older"]
    left = [toast.spec.text for toast in window.window.toasts.toasts()]
    assert left == ["somebody else did that", "Nothing to take back just now."]


def test_a_newer_message_is_taken_back_before_an_older_act_of_the_page(window: Window) -> None:
    taken: list[str] = []
    window.window.open_page("batches")
    acting = window.window.page("batches").actions_of_page.acting
    acting.delayed(lambda: "older", lambda: Outcome(), lambda _outcome: "")
    window.window.toasts.say(ToastSpec(text="newer", actions=(undo_action(partial(taken.append, "newer")),)))
    press(window.window, Qt.Key.Key_Z, modifier=CTRL)
    assert (taken, [toast.spec.text for toast in window.window.toasts.toasts()]) == (["newer"], ["older"])
    press(window.window, Qt.Key.Key_Z, modifier=CTRL)
    told = [toast.spec.text for toast in window.window.toasts.toasts()]
    assert (taken, told) == (["newer"], ["Taken back; nothing was changed."])


@pytest.mark.parametrize("closed", [False, True])
def test_the_act_made_last_is_taken_back_first_whichever_page_tells_of_its_own_last(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    monkeypatch.setattr("views.support.acting.UNDO_S", 600)
    taken, gate = list[str](), threading.Event()

    def acting(page_id: str) -> Acting:
        window.window.open_page(page_id)
        found = window.window.page(page_id).actions_of_page.acting
        assert isinstance(found, Acting)
        return found

    def slow() -> Outcome:
        gate.wait(60)
        return Outcome(done=("older",))

    def back(outcome: Outcome) -> Outcome:
        taken.extend(outcome.done)
        return outcome

    def told() -> list[str]:
        return [toast.spec.text for toast in window.window.toasts.toasts()]

    acting("batches").at_once(slow, lambda _outcome: "older", Reverse(call=back))
    acting("queues").delayed(lambda: "newer", Outcome, lambda _outcome: "", 600)
    gate.set()
    wait(qtbot, lambda: told() == ["newer", "older"])
    if closed:
        window.window.toasts.toasts()[0].close_now()
    press(window.window, Qt.Key.Key_Z, modifier=CTRL)
    assert told()[-2:] == ["older", "Taken back; nothing was changed."]
    press(window.window, Qt.Key.Key_Z, modifier=CTRL)
    wait(qtbot, lambda: taken == ["older"])


@pytest.mark.parametrize("end", ["hide", "disable"])
def test_what_is_pressed_and_gone_leaves_the_keyboard_on_its_page(window: Window, end: str) -> None:
    page = tasks(window)
    strip = Strip("running", parent=page)
    stop = Button("Stop")
    strip.add_action(stop)
    page.layout().addWidget(strip)
    strip.show()
    window.window.rail.setFocus()
    stop.clicked.connect(strip.hide if end == "hide" else partial(stop.disable, "It is over"))
    stop.setFocus()
    assert stop.hasFocus()
    press(stop, Qt.Key.Key_Space)
    assert page.isAncestorOf(QApplication.focusWidget())
    page.table.setFocus()
    press(page.table, Qt.Key.Key_Tab)
    assert not page.table.hasFocus(), "Tab goes on as ever"


def test_question_mark_shows_all_keys(window: Window, qtbot: QtBot) -> None:
    press(tasks(window).table, Qt.Key.Key_Question)
    shown = window.window.findChild(KeyHelp)
    assert shown is not None
    assert shown.isVisible()
    pane = shown.findChild(ScrollPane)
    assert pane is not None
    press(shown.focusWidget(), Qt.Key.Key_PageDown)
    assert pane.verticalScrollBar().value() > 0, "whoever has no mouse reads all of them, too"
    shown.reject()


def test_the_palette_finds_where_a_platform_is_paused(window: Window, desk: Desk, qtbot: QtBot) -> None:
    palette = window.keys.palette
    palette.ask()
    qtbot.waitUntil(lambda: shops_known(window) > 0, timeout=WAIT_MS)
    assert not [entry for entry in entries(window) if entry.key.startswith("limits.")], "only where it is asked for"
    QTest.keyClicks(palette.field, "pause pdd")
    chosen = next(entry for entry in entries(window) if entry.key == "limits.pdd")
    assert "Pinduoduo" in chosen.words
    while palette.current() != chosen:
        press(palette.field, Qt.Key.Key_Down)
    press(palette.field, Qt.Key.Key_Return)
    page = window.window.page("shops")
    assert window.window.current == "shops"
    qtbot.waitUntil(lambda: page.limits.isVisible() and page.limits.current_key() == "platform:pdd", timeout=WAIT_MS)
    qtbot.waitUntil(lambda: page.scope.isVisible(), timeout=WAIT_MS)
    page.limits.set_current_key("platform:temu")
    desk.session.engine.store.put_limit(Limit(scope="platform:temu", concurrency=7))
    page.refresh()
    qtbot.waitUntil(lambda: "7" in words(page.scope), timeout=WAIT_MS)
    assert page.limits.current_key() == "platform:temu", "who went on stays there"
    window.window.open_page("shops", "pdd:s1")
    qtbot.waitUntil(lambda: page.table.isVisible(), timeout=WAIT_MS)
    assert not page.limits.isVisible()
    palette.ask()
    assert entries(window)[0].key == "limits.pdd", "what was chosen lately"


def test_the_palette_finds_queues(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: any(one.kind == "lane" for one in window.feed.latest.depths), timeout=WAIT_MS)
    palette = window.keys.palette
    palette.ask()
    depth = next(one for one in window.feed.latest.depths if one.kind == "lane")
    QTest.keyClicks(palette.field, depth.name)
    chosen = next(entry for entry in entries(window) if entry.key == f"queue.{depth.name}")
    assert chosen.right == f"{depth.ready} ready"
    while palette.current() != chosen:
        press(palette.field, Qt.Key.Key_Down)
    press(palette.field, Qt.Key.Key_Return)
    assert window.window.current == "queues"
    page = window.window.page("queues")
    qtbot.waitUntil(lambda: page.table.current_key() == depth.name, timeout=WAIT_MS)
    palette.ask()
    assert entries(window)[0].key == chosen.key, "what was chosen lately"


def test_the_palette_says_of_a_queue_no_number_that_the_broker_does_not_tell(
    window: Window, desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ready(name: str) -> str:
        palette.field.setText(name)
        return next(entry.right for entry in entries(window) if entry.key == f"queue.{name}")

    def silent() -> object:
        raise BrokerUnavailable("amqp.example.com:5671 timed out")

    palette = window.keys.palette
    qtbot.waitUntil(lambda: bool(window.feed.latest.depths), timeout=WAIT_MS)
    palette.ask()
    lane = next(one.name for one in window.feed.latest.depths if one.kind == "lane")
    assert ready(lane).endswith(" ready")
    assert ready(DEAD_QUEUE) == "", "it counts messages of letters that were handled, too"
    monkeypatch.setattr(desk.session.engine.broker, "depths", silent)
    qtbot.waitUntil(lambda: not window.feed.latest.told, timeout=WAIT_MS)
    palette.field.clear()
    assert ready(lane) == ""


def test_the_palette_goes_to_pages_and_remembers(window: Window, qtbot: QtBot) -> None:
    palette = window.keys.palette
    press(tasks(window).table, Qt.Key.Key_K, modifier=CTRL)
    assert palette.isVisible()
    refused = [bool(entry.reason) for entry in entries(window) if entry.kind == "command"]
    assert (len(refused), any(refused)) == (5, False), "no task is chosen: what can be done comes first"
    QTest.keyClicks(palette.field, "workers")
    assert palette.current() is not None
    chosen = next(entry for entry in entries(window) if entry.key == "page.workers")
    while palette.current() != chosen:
        press(palette.field, Qt.Key.Key_Down)
    press(palette.field, Qt.Key.Key_Return)
    assert window.window.current == "workers"
    assert not palette.isVisible()
    palette.ask()
    assert entries(window)[0].key == "page.workers"


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (">did it", "window.work"),
        (">xjrw", "window.new"),
        ("shops", "page.shops"),
        ("交班", "window.handover"),
        (">cs", "tasks.retry"),
        ("czjl", "page.audit"),
    ],
)
def test_in_chinese_commands_are_found_by_english_words_first_letters_and_fewer_characters(
    window: Window, query: str, key: str
) -> None:
    i18n.set_language("zh_CN")
    palette = window.keys.palette
    palette.ask()
    palette.field.setText(query)
    found = {entry.key: entry.words for entry in entries(window)}
    assert key in found
    assert not found[key].isascii(), "said in Chinese all the same"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("报警", "page.alerts"),
        ("start a worker", "page.workers"),
        ("启动执行节点", "page.workers"),
        ("mute", "page.alerts"),
        ("alarm", "page.alerts"),
        ("全选", "tasks.all"),
        ("dark mode", "theme.dark"),
        ("夜间", "theme.dark"),
        ("high contrast", "contrast.high"),
        ("字号", "text.120"),
        ("log out", "window.quit"),
        ("rerun", "tasks.retry"),
        ("重跑", "tasks.retry"),
        ("快捷键", "window.keys"),
        ("首页", "page.overview"),
        ("cron", "page.schedules"),
        ("》重跑", "tasks.retry"),
        # what can be done on another page is found where it is done
        ("quiet hours", "page.shops"),
        ("静默时段", "page.shops"),
        ("known issue", "page.dead_letters"),
        ("合并", "page.dead_letters"),
        ("backfill", "page.schedules"),
        ("补做", "page.schedules"),
        ("修复", "page.doctor"),
        ("排空", "page.workers"),
    ],
)
def test_what_other_programs_call_so_is_found(window: Window, query: str, key: str, language: str) -> None:
    i18n.set_language(language)
    palette = window.keys.palette
    palette.ask()
    palette.field.setText(query)
    assert key in [entry.key for entry in entries(window)]


def test_other_words_are_those_of_entries_that_there_are(window: Window, desk: Desk, qtbot: QtBot) -> None:
    finder = window.window.findChild(PaletteFinder)
    assert finder is not None
    # with connections to choose from; below what is shown; a value stands behind
    known = {"window.connection", "shop.failed", "rows", "text", *Triage}
    verbs = Path(views.__file__).parent.rglob("verbs.py")
    known |= {word for file in verbs for word in re.findall(r'"(\w+)"', file.read_text(encoding="utf-8"))}
    for scope in ("all", "commands"):
        known |= {entry.key for _title, found in finder.find(" ", scope) for entry in found}
    known |= {f"page.{name}" for name in pages()} | {key for key, _words, _icon in WINDOW_COMMANDS}
    known |= {f"{name}.{value}" for name, _title, values in LOOKS for value, _word in values}
    known |= {key.rpartition(".")[2] for key in known}
    assert OTHER_WORDS.keys() - known == set()


def test_shops_are_found_by_what_is_true_of_them(window: Window, desk: Desk, qtbot: QtBot) -> None:
    desk.session.commands.fleet.pause("shop:pdd:pdd-10021", reason="sale")
    palette = window.keys.palette

    def found() -> list[str]:
        palette.ask()
        palette.field.setText("pause pdd")
        return [entry.key for entry in entries(window) if entry.kind == "shop"]

    wait(qtbot, lambda: found() == ["shop.pdd:pdd-10021"])


def test_shops_that_are_known_after_somebody_has_typed_are_found(window: Window, desk: Desk, qtbot: QtBot) -> None:
    palette = window.keys.palette
    with held(ShopStates, "look", all_of_them=True) as call:
        palette.ask()
        call.wait(qtbot)
        palette.field.setText("lumo")
        assert entries(window) == []
    wait(qtbot, lambda: [entry.key for entry in entries(window)] == ["shop.temu:temu-20117"])


def test_a_table_whose_rows_can_be_ticked_is_ticked_from_the_palette(window: Window, desk: Desk, qtbot: QtBot) -> None:
    window.window.open_page("shops")
    page = window.window.page("shops")
    assert isinstance(page, ShopsPage)
    wait(qtbot, lambda: page.table.records.rowCount() > 1)
    palette = window.keys.palette
    palette.ask()
    palette.field.setText("select all")
    while (entry := palette.current()) is not None and entry.key != "rows.all":
        press(palette.field, Qt.Key.Key_Down)
    press(palette.field, Qt.Key.Key_Return)
    assert len(page.table.records.ticked()) == page.table.records.rowCount()


def test_a_page_of_the_name_comes_before_commands_that_only_are_about_something_like_it(
    window: Window, desk: Desk, qtbot: QtBot
) -> None:
    """*batch* and Enter took the cause of batch_products that was chosen, where somebody wanted to see the batches."""
    shop_ = replace(desk.session.engine.store.shops()[0], name="Batch & Sons")
    desk.session.commands.fleet.import_shops([shop_])
    window.window.open_page("shops")
    page = window.window.page("shops")
    assert isinstance(page, ShopsPage)
    wait(qtbot, lambda: page.table.records.find(shop_.key) is not None)
    page.table.set_current_key(shop_.key)
    palette = window.keys.palette
    palette.ask()
    palette.field.setText("batch")
    found = entries(window)
    assert [entry for entry in found if entry.kind == "command" and "Batch" in entry.note], "they are about it"
    assert found[0].key == "page.batches"
    palette.field.setText("pause")
    assert entries(window)[0].kind == "command"


def test_a_worker_of_the_name_comes_before_a_page_of_the_first_letters(
    window: Window, desk: Desk, qtbot: QtBot
) -> None:
    """*dl* and Enter opened the dead letters, where a worker is called DL-01."""
    desk.session.engine.store.heartbeat(WorkerInfo(worker="DL-01", host="desk", pid=1, slots=(SlotState(),)))
    palette = window.keys.palette

    def found() -> list[str]:
        palette.ask()
        palette.field.setText("dl")
        return [entry.key for entry in entries(window)]

    wait(qtbot, lambda: "worker.DL-01" in found())
    keys = found()
    assert "page.dead_letters" in keys
    assert keys.index("worker.DL-01") < keys.index("page.dead_letters")


def test_commands_show_their_state_and_cannot_run_with_a_reason(window: Window, desk: Desk, qtbot: QtBot) -> None:
    task = desk.create(0)
    page = tasks(window)
    page.refresh()
    wait(qtbot, lambda: page.table.records.rowCount() == 1)
    page.table.set_current_key(task.task_id)
    palette = window.keys.palette
    palette.ask()
    QTest.keyClicks(palette.field, ">retry")
    retry = next(entry for entry in entries(window) if entry.key == "tasks.retry")
    assert retry.reason == "This task has not failed"
    palette.list.setCurrentIndex(palette.rows.index(palette.rows.row_of("tasks.retry")))
    press(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    palette.field.setText(">raise")
    press(palette.field, Qt.Key.Key_Return)
    wait(qtbot, lambda: desk.get(task.task_id).priority > task.priority)


def test_shops_are_found_by_name_id_and_first_letters(window: Window, desk: Desk, qtbot: QtBot) -> None:
    desk.fail(desk.create(0))
    palette = window.keys.palette
    palette.ask()
    wait(qtbot, lambda: shops_known(window) == 3)
    wait(qtbot, lambda: window.feed.latest.counts.triage.get("open") == 1)
    for query in ("@微光", "@10021", "@wgsm", "微光"):
        palette.field.setText(query)
        assert [entry.key for entry in entries(window)][:1] == ["shop.pdd:pdd-10021"]
    assert (entries(window)[0].right, entries(window)[0].icon) == ("Dead letters, PDD", status("dead").glyph)
    assert entries(window)[0].note == "pdd-10021, 1 dead, not looked at yet"
    press(palette.field, Qt.Key.Key_C, modifier=CTRL)
    assert QGuiApplication.clipboard().text() == "pdd:pdd-10021"
    press(palette.field, Qt.Key.Key_Return)
    assert window.window.current == "shops"
    page = window.window.page("shops")
    assert isinstance(page, ShopsPage)
    wait(qtbot, lambda: page.shop.shown is not None and page.shop.shown.key == "pdd:pdd-10021")


def test_the_palette_asks_whether_something_ran_in_a_shop(window: Window, qtbot: QtBot) -> None:
    palette = window.keys.palette
    palette.ask()
    wait(qtbot, lambda: shops_known(window) == 3)
    for query in ("pdd-10021 sync_ord", "微光昨天同步了吗", "has 10021 sync_ord run?", "did 10021 sync_ord today?"):
        palette.field.setText(query)
        assert [entry.key for entry in entries(window)][:1] == ["work.pdd:pdd-10021"], query
    for query in ("微光", "dead sync_ord", "PDD sync_ord"):
        palette.field.setText(query)
        assert not [entry.key for entry in entries(window) if entry.key.startswith("work.")], query
    palette.field.setText("did 10021 sync_ord today?")
    press(palette.field, Qt.Key.Key_Return)
    (box,) = window.window.findChildren(WorkDialog)
    wait(qtbot, lambda: box.works.current() == ("pdd:pdd-10021", "sync_order"))
    box.reject()


def test_text_fields_speak_the_language_of_the_window(window: Window, qtbot: QtBot) -> None:
    field = QLineEdit("x")
    qtbot.addWidget(field)

    def said() -> str:
        return " ".join(one.text() for one in field.createStandardContextMenu().actions())

    assert "Paste" in said()
    i18n.set_language("zh_CN")
    assert "粘贴" in said()
    assert "Paste" not in said()
    i18n.set_language("en")
    assert "Paste" in said()


def test_the_palette_says_of_a_shop_what_the_heat_map_says(window: Window, desk: Desk, qtbot: QtBot) -> None:
    desk.session.commands.fleet.pause("platform:pdd", reason="new page")
    desk.session.commands.sessions.close("pdd:pdd-10021", kind="captcha")
    (seen,) = [one for one in desk.context.limits.states.look() if one.key == "pdd:pdd-10021"]
    palette = window.keys.palette
    palette.ask()
    wait(qtbot, lambda: shops_known(window) == 3)
    palette.field.setText("@10021")
    (entry,) = entries(window)
    assert entry.right == f"{shop.state(seen)}, PDD" == "Needs login, PDD"
    assert "A captcha waits for a person" in entry.note
    assert "new page" in entry.note


def test_a_cell_of_the_heat_map_opens_its_shop(window: Window, qtbot: QtBot) -> None:
    window.window.open_page("overview")
    page = window.window.page("overview")
    assert isinstance(page, OverviewPage)
    heat = page.fleet.map
    wait(qtbot, lambda: len(heat.rows.cells) == 3)
    heat.setFocus()
    press(heat, Qt.Key.Key_End, Qt.Key.Key_Return)
    assert window.window.current == "shops"
    last = heat.rows.cells[-1].key
    wait(qtbot, lambda: window.window.page("shops").pointed()[0] == last)


def test_a_command_asks_for_its_shop(window: Window, desk: Desk, qtbot: QtBot) -> None:
    desk.create(1)
    dead = desk.fail(desk.create(0))
    palette = window.keys.palette
    palette.ask()
    wait(qtbot, lambda: shops_known(window) == 3)
    palette.field.setText(">failed tasks of")
    press(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClicks(palette.field, "10021")
    press(palette.field, Qt.Key.Key_Return)
    page = tasks(window)
    wait(qtbot, lambda: [row.key for row in page.table.records.records()] == [dead.task_id])


def test_tasks_of_the_server_follow_below_without_moving_the_cursor(window: Window, desk: Desk, qtbot: QtBot) -> None:
    task = desk.create(0)
    palette = window.keys.palette
    palette.ask()
    wait(qtbot, lambda: shops_known(window) == 3)
    palette.field.setText("10021")
    before = palette.current()
    assert before is not None
    assert before.kind == "shop"
    wait(qtbot, lambda: any(entry.kind == "task" for entry in entries(window)))
    assert palette.current() is not None
    assert palette.current().key == before.key  # type: ignore[union-attr]
    palette.field.setText(f"#{task.task_id[-6:]}")
    wait(qtbot, lambda: [entry.copy for entry in entries(window)] == [task.task_id])
    press(palette.field, Qt.Key.Key_Down, Qt.Key.Key_Return)
    wait(qtbot, lambda: tasks(window).panel.task_id == task.task_id)
    assert tasks(window).panel.isVisible()


def test_saved_views_are_places(window: Window, qtbot: QtBot) -> None:
    palette = window.keys.palette
    palette.ask()
    palette.field.setText("view retrying")
    press(palette.field, Qt.Key.Key_Return)
    assert tasks(window).tabs.current() == "retrying"
    assert tasks(window).filter.expression() == "status:retrying"


def test_a_link_to_what_is_seen_opens_it_again(window: Window, qtbot: QtBot) -> None:
    shown = 'status:dead shop:"pdd:s 1" payload.order_id:8841'
    window.window.open_page("tasks", shown)
    press(window.window, Qt.Key.Key_L, modifier=CTRL | Qt.KeyboardModifier.ShiftModifier)
    link = QGuiApplication.clipboard().text()
    assert link.startswith("fleetdeck://")
    window.window.open_page("tasks", "")
    window.window.open_page("overview")
    palette = window.keys.palette
    palette.ask()
    palette.field.setText(link)
    (entry,) = entries(window)
    assert "8841" in entry.note
    press(palette.field, Qt.Key.Key_Return)
    assert window.window.current == "tasks"
    assert tasks(window).filter.expression() == shown


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("fleetdeck://elsewhere/tasks", "elsewhere"),
        ("fleetdeck:///nowhere", "does not have"),
        ("fleetdeck:", "is no link"),
    ],
)
def test_a_link_that_cannot_be_opened_says_why(window: Window, link: str, reason: str) -> None:
    window.keys.palette.ask()
    window.keys.palette.field.setText(link)
    (entry,) = entries(window)
    assert reason in entry.reason


def test_a_number_of_the_overview_opens_all_that_it_counts_whatever_was_filtered_before(
    console: Window, desk: Desk, qtbot: QtBot
) -> None:
    desk.fail(desk.create(0), "LoginExpired: redirected to /login")
    desk.fail(desk.create(1), "HttpError: 429")
    window = console.window
    window.open_page("dead_letters", "error~429")
    page = window.page("dead_letters")

    def listed() -> int:
        causes = page.causes.causes
        return sum(causes.record(row).count for row in range(causes.rowCount()))

    qtbot.waitUntil(lambda: listed() == 1)
    window.open_page("overview")
    qtbot.mouseClick(window.page("overview").tiles["dead"], Qt.MouseButton.LeftButton)
    assert (window.current, page.filter.expression()) == ("dead_letters", "")
    qtbot.waitUntil(lambda: listed() == 2)
    qtbot.keyClick(window, Qt.Key.Key_Slash)
    assert page.filter.field.hasFocus()
