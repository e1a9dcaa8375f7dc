"""The window: rail, top bar, pages, status bar. It knows ``Page`` and nothing of jobs or shops.

Which part of the window the keyboard is in, and how it gets to the next one (F6).

Where the window stands: no larger than its screen has room for, with frame and all, wherever it stood before.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QByteArray, QEvent, QMargins, QObject, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QTableView, QWidget
from shiboken6 import isValid

from console.navigation import History, PageSpec
from services.i18n import _
from views.page import FromPast, Page, made_in_parts, past_again
from views.shell.connection import ConnectionBanner, grey
from views.shell.frame import frame
from views.shell.rail import Rail
from views.shell.status_bar import StatusBar
from views.shell.toasts import Toasts
from views.shell.top_bar import TopBar
from views.support import instant, shown
from views.support.instant import ticks
from views.support.keymap import PARTS, WINDOW, keymap
from views.support.keys import Shortcut, refuse, take_beside
from views.support.look import focus_chain
from views.support.offers import offer_what_is_said
from views.support.throttle import turns
from views.tables.table_view import TableView
from views.theme.icons import app_icon
from views.theme.tokens import RAIL_COLLAPSES_BELOW
from views.widgets.toast import ToastSpec

log = logging.getLogger(__name__)

DEFAULT, MINIMUM = QSize(1600, 1000), QSize(960, 540)
#: room for the frame, of which nothing is known before a window is shown (Windows 11 has a title bar of 31 pixels)
FRAME = QMargins(8, 32, 8, 8)
#: a window manager puts its frame around a window some time after it was shown
LOOKS_MS = (0, 250, 1000)


def fitted(wanted: QRect, frame: QMargins, room: QRect) -> QRect:
    """The place nearest to the wanted one (both without the frame) at which window and frame lie within the room."""
    inner = room.marginsRemoved(frame)
    width, height = min(wanted.width(), inner.width()), min(wanted.height(), inner.height())
    left = max(min(wanted.left(), inner.right() - width + 1), inner.left())
    top = max(min(wanted.top(), inner.bottom() - height + 1), inner.top())
    return QRect(left, top, width, height)


def most_of(wanted: QRect, rooms: list[QRect]) -> QRect:
    """The room that shows most of the wanted place; the first where none shows any of it."""
    shown = [room.intersected(wanted).size() for room in rooms]
    areas = [size.width() * size.height() if size.isValid() else 0 for size in shown]
    return rooms[areas.index(max(areas))]


class Placing(QObject):
    """Keeps a window within its screen when it opens, once its frame is known, and when a screen is taken away."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._exact = False
        self._looks: list[int] = []
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._look)
        window.setMinimumSize(MINIMUM)
        window.resize(DEFAULT)
        window.installEventFilter(self)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.screenRemoved.connect(self._look_again)

    def take(self, size: tuple[int, int] | None, *, exact: bool = False) -> None:
        """Fit the window in before it is shown; ``exact``: the size that was asked for, even if no screen has it."""
        self._exact = exact
        if size is not None:
            self._window.resize(*size)
        self._fit()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Look again when the window is shown, or is no longer maximised."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.WindowStateChange):
            self._look_again()
        return False

    @property
    def _left_alone(self) -> bool:
        # what is painted into memory is as large as its picture shall be
        return self._exact or QGuiApplication.platformName() == "offscreen" or not QGuiApplication.screens()

    def _look_again(self) -> None:
        if not self._left_alone:
            self._looks = list(LOOKS_MS)
            self._timer.start(self._looks.pop(0))

    def _look(self) -> None:
        if self._window.isVisible():
            self._fit()
        if self._looks:
            self._timer.start(self._looks.pop(0))

    def _fit(self) -> None:
        window = self._window
        if self._left_alone or window.windowState() & (
            Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen | Qt.WindowState.WindowMinimized
        ):
            return
        wanted, rooms = window.geometry(), [screen.availableGeometry() for screen in QGuiApplication.screens()]
        frame = self._frame()
        if not window.testAttribute(Qt.WidgetAttribute.WA_Moved):
            room = rooms[0]
            wanted = fitted(wanted, frame, room)
            wanted.moveCenter(room.center())
        room = most_of(wanted, rooms)
        place = fitted(wanted, frame, room)
        window.setMinimumSize(MINIMUM.boundedTo(place.size()))
        if place != window.geometry():
            window.setGeometry(place)

    def _frame(self) -> QMargins:
        known = self._window.windowHandle().frameMargins() if self._window.isVisible() else QMargins()
        return known if not known.isNull() else FRAME


def step(parts: Sequence[QWidget], by: int) -> QWidget | None:
    """Give the focus to the part after (or before) the one that has it; parts that take none are passed over. What
    lies around parts, as a page that was just opened, is before the first of them.
    """
    seen = [(part, inner) for part in parts if part.isVisible() and (inner := first_focus(part)) is not None]
    if not seen:
        return None
    now, place = QApplication.focusWidget(), 0
    if now is not None:
        within = (n for n, (part, one) in enumerate(seen) if now is one or (now is not part and part.isAncestorOf(now)))
        around = (n for n, (part, _inner) in enumerate(seen) if now.isAncestorOf(part))  # or is it itself
        if (at := next(within, None)) is not None:
            place = at + by
        elif (at := next(around, None)) is not None or (at := _next_part(now, seen)) is not None:
            place = at if by > 0 else at - 1
    target = seen[place % len(seen)][1]
    reason = Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason
    target.setFocus(reason)
    return target


def _next_part(now: QWidget, parts: Sequence[tuple[QWidget, QWidget]]) -> int | None:
    """The part that Tab comes to first from between parts, as from the head of a page."""
    ahead = (n for one in focus_chain(now) for n, (part, _inner) in enumerate(parts) if part.isAncestorOf(one))
    return next(ahead, None)


def start_of(page: Page) -> QWidget:
    """What has the keyboard once a page is opened: what the page says, else the first table that can be seen in its
    parts, so that arrows and the keys of its verbs work at once.
    """
    if page.focusProxy() is not None:
        return page
    tables = (table for part in page.panes() for table in (part, *part.findChildren(QTableView)))
    return next((one for one in tables if isinstance(one, QTableView) and one.isVisible()), page)


def _focused(window: QWidget) -> QWidget | None:
    """What has the keyboard of a window, whether that is in front or not."""
    return window.focusWidget()


def first_focus(part: QWidget) -> QWidget | None:
    """The first widget inside that takes the focus by Tab, the part itself first, then what it names for that."""
    if _takes_focus(part):
        return part
    if (named := part.focusProxy()) is not None and (inner := first_focus(named)) is not None:
        return inner
    return next((one for one in focus_chain(part) if part.isAncestorOf(one) and _takes_focus(one)), None)


def _takes_focus(widget: QWidget) -> bool:
    by_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return by_tab and widget.isEnabled() and widget.isVisible()


#: pause between pages that are made ahead, and between the parts of one; what is computed without a pause at most, but
#: for a part that cannot be cut
PREPARE_MS, SLICE_MS, SLICE_S = 250, 20, 0.003


class _Stack(QStackedWidget):
    """The pages, one of them seen. It takes the room there is and is never asked how much it needs: Qt's own asks every
    page for that, seen or not, each time that a word changes anywhere in the window.
    """

    def hasHeightForWidth(self) -> bool:
        """No page makes the window higher."""
        return False

    def sizeHint(self) -> QSize:
        """The window has its size from elsewhere."""
        return QSize(0, 0)

    def minimumSizeHint(self) -> QSize:
        """What does not fit is scrolled or cut by the page."""
        return QSize(0, 0)


@contextmanager
def _whole(page: Page) -> Iterator[None]:
    """A page that cannot be put together goes: half of it is none."""
    try:
        yield
    except BaseException:
        page.deleteLater()
        raise


class MainWindow(QMainWindow):
    """Shows one page at a time; a page is made when it is first opened.

    Signals:
        page_changed: the id of the page shown.
        page_made: the id of a page that is whole now, and the page; it was not seen yet.
        closing: the window was closed by the person.
        past_changed: the page shown tells of a moment of the past now, or no more.
        acting_told: why nothing may be changed now, "" when it may; told again where who acts here may do otherwise.
        link_wanted: a link to what is seen is wanted in the clipboard.
    """

    page_changed = Signal(str)
    page_made = Signal(str, object)
    closing = Signal()
    past_changed = Signal()
    acting_told = Signal(str)
    link_wanted = Signal()

    def __init__(self, pages: Sequence[PageSpec]) -> None:
        super().__init__()
        self.setWindowTitle("Fleetdeck")
        self.setWindowIcon(app_icon())
        self.placing = Placing(self)
        ticks().serve(self)
        self.may_close: Callable[[], bool] = lambda: True  #: asked first; False keeps the window open
        self.open_beside: Callable[[str, object], None] | None = None  #: shows a page in a window of its own
        self._specs = {spec.id: spec for spec in pages}
        self._pages: dict[str, Page] = {}
        self._begun: dict[str, Page] = {}  #: the page that is made ahead, while it is
        self._ahead = QTimer(self, interval=PREPARE_MS)
        self._ahead.timeout.connect(self._prepare_next)
        self._failed: set[str] = set()  #: those that could not be made ahead: who opens them is told why
        self._current = ""
        self._acting = ""
        self._untold: dict[str, None] = {}  #: pages that have not heard of it yet
        self._telling = QTimer(self, interval=0)
        self._telling.timeout.connect(self._tell_next)
        self._wanted_collapsed = False
        self._history = History()
        self._frozen, self._still = "", ""
        self._left: dict[str, str] = {}  #: when the connection stood, the pages that were left, and at what time
        self.rail, self.top_bar, self.status_bar = Rail(), TopBar(), StatusBar()
        self.banner, self.stack = ConnectionBanner(), _Stack()
        self._paints = False
        self.setCentralWidget(frame(self.rail, (self.top_bar, self.banner, self.stack), self.status_bar))
        self.toasts = Toasts(self)
        self.rail.set_entries([spec.entry() for spec in pages if not spec.under])
        self._connect()

    def _connect(self) -> None:
        self.rail.chosen.connect(self.open_page)
        self.rail.collapsed_changed.connect(self._on_collapsed)
        for name, slot in (
            ("window.refresh", self.refresh),
            ("window.back", self.back),
            ("window.forward", self.forward),
            ("window.next_part", self.next_pane),
            ("window.previous_part", self.previous_pane),
            ("window.freeze", self.toggle_freeze),
            ("window.undo", self.undo),
        ):
            Shortcut(name, self, slot)

    # pages

    @property
    def specs(self) -> tuple[PageSpec, ...]:
        """The pages in the order of the rail."""
        return tuple(self._specs.values())

    @property
    def current(self) -> str:
        """The id of the page shown, empty before the first."""
        return self._current

    def page(self, page_id: str) -> Page:
        """Return a page, made now if it was not opened before."""
        if page_id not in self._pages:
            self._finish(page_id, self._begun_of(page_id) or self._begin(page_id))
        self._tell(page_id)
        return self._pages[page_id]

    def _begun_of(self, page_id: str) -> Page | None:
        """What is begun of a page. What failed meanwhile, for a change of the language makes it whole, is begun anew:
        who opens it is told why it fails, or sees it.
        """
        page = self._begun.pop(page_id, None)
        if page is None or not page.half_made:
            return page
        page.deleteLater()
        return None

    def _finish(self, page_id: str, page: Page) -> None:
        with _whole(page):
            page.make_all()
        self._take(page_id, page)

    def _begin(self, page_id: str) -> Page:
        """A page with nothing in it yet."""
        with made_in_parts():
            page = self._specs[page_id].factory()
        # from the start: Qt looks through all of a widget, and styles it anew, whenever it gets another parent
        page.setParent(self.stack)
        page.hide()
        # a picture of the window would tell half a page its size
        page.setAttribute(Qt.WidgetAttribute.WA_PendingResizeEvent, False)
        return page

    def _take(self, page_id: str, page: Page) -> None:
        page.navigate.connect(self.open_page)
        page.freeze_wanted.connect(self.toggle_freeze)
        page.reconnect_wanted.connect(self.refresh)
        page.return_wanted.connect(self._return)
        page.link_wanted.connect(self.link_wanted)
        page.past_changed.connect(self.past_changed)
        self._pages[page_id] = page
        # not before it is whole: the stack lays out all that is in it, seen or not
        self.stack.addWidget(page)
        for table in (table for part in page.panes() for table in (part, *part.findChildren(TableView))):
            if isinstance(table, TableView):
                table.appeared.connect(self._on_table)
        page.set_acting(self._acting)
        self.page_made.emit(page_id, page)

    @property
    def past_ms(self) -> int:
        """The moment that somebody looks at in place of now, UTC ms; 0: now."""
        return self._pages[self._current].past_ms if self._current else 0

    @property
    def recorded(self) -> bool:
        """Whether all that is seen is of that moment."""
        return bool(self._current) and self._pages[self._current].recorded

    def prepare_pages(self) -> None:
        """Make the pages nobody opened yet, one at a time and a little of it between events, so that the first look at
        each does not wait for it, and nothing else does.
        """
        self._ahead.start()

    def stop_preparing(self) -> None:
        """Begin no more pages: this window is about to go."""
        self._ahead.stop()

    def _prepare_next(self) -> None:
        busy = QApplication.mouseButtons() != Qt.MouseButton.NoButton or QApplication.activePopupWidget() is not None
        missing = [page_id for page_id in self._specs if page_id not in self._pages and page_id not in self._failed]
        if missing and not busy:
            self._ahead.setInterval(PREPARE_MS if self._prepare(missing[0]) else SLICE_MS)
        elif not missing:
            self._ahead.stop()

    def _prepare(self, page_id: str) -> bool:
        """Make a little of a page; whether it is done."""
        self._failed.add(page_id)  # unless all goes well
        end, page = time.thread_time() + SLICE_S, self._begun_of(page_id)
        if page is None:
            page, more = self._begin(page_id), True
        else:
            with _whole(page):
                more = page.make_on()
                while more and time.thread_time() < end:
                    more = page.make_on()
        self._failed.remove(page_id)
        if more:
            self._begun[page_id] = page
        else:
            self._take(page_id, page)
        return not more

    def _end_making(self) -> None:
        """Let what is begun go with the window: parts that lie in no page yet would be left."""
        for page_id in tuple(self._begun):
            try:
                if (page := self._begun_of(page_id)) is not None:
                    self._finish(page_id, page)
            except Exception:
                log.exception("page %s", page_id)

    def open_page(self, page_id: str, request: object = None) -> None:
        """Show a page, and there what `request` asks for; unknown pages are ignored. After a click with Ctrl it is
        shown in a window of its own.
        """
        if page_id not in self._specs:
            return
        if take_beside() and self.open_beside is not None:
            self.open_beside(page_id, request)
            return
        if page_id != self._current:
            self._history.leave(self._current)
            self._show(page_id)
        page = self.page(page_id)
        if not page.isAncestorOf(_focused(self) or page):  # of the page that is open already: back from rail or bars
            start_of(page).setFocus()
        if isinstance(request, FromPast):
            page.show_past(request)
            return
        if request is not None or page.filter_shown() is None:
            page.leave_past()
        if request is not None:
            page.show_request(request)

    def _show(self, page_id: str) -> None:
        page = self.page(page_id)
        self.thaw()
        still = self._still
        self.stand_still("")
        if self._current:
            self._pages[self._current].deactivate()
            if not still:
                self._left[self._current] = _time_of_day()
        if not still:
            self._left.pop(page_id, None)
        self._current = page_id
        self.stack.setCurrentWidget(page)
        self.rail.set_active(self._specs[page_id].under or page_id)
        start_of(page).setFocus()
        page.activate()
        self.stand_still(still)
        self.page_changed.emit(page_id)
        turns().soon(self._make_way)

    def _on_table(self) -> None:
        """A page that was opened while it had nothing to list gives the keyboard to its list once that is there."""
        page = self._pages.get(self._current)
        if page is not None and _focused(self) is page:
            start_of(page).setFocus()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """What is gone, or can be pressed no more, leaves the keyboard on its page: by itself Qt hands it on to the
        rail, where the next key would leave the page.
        """
        left, page = _focused(self), self._pages.get(self._current)
        done = super().focusNextPrevChild(forward)
        if left is None or page is None or not page.isAncestorOf(left) or not page.isVisible():
            return done
        now = _focused(self)
        if not (left.isVisible() and left.isEnabled()) and (now is None or not page.isAncestorOf(now)):
            start_of(page).setFocus()
            return True
        return done

    def back(self) -> None:
        """Return to the page before (Alt+Left)."""
        if page_id := self._history.back(self._current):
            self._show(page_id)
        else:
            refuse(_("There is no page to go back to"), _focused(self) or self)

    def _return(self) -> None:
        """Return to where one came from, also where a page was the first that was opened."""
        self._show(self._history.back(self._current) or "overview")

    def forward(self) -> None:
        """Undo a return (Alt+Right)."""
        if page_id := self._history.forward(self._current):
            self._show(page_id)
        else:
            refuse(_("There is no page to go forward to"), _focused(self) or self)

    def come_forward(self) -> None:
        """Stand in front of all windows, also where it was minimised."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def refresh(self) -> None:
        """Ask the page to ask again (F5); while disconnected, the banner tries to connect."""
        if self.banner.isVisible():
            self.banner.try_now.emit()
        elif self._current:
            self.thaw()
            self._pages[self._current].refresh()

    def catch_up(self) -> None:
        """Let the page ask again what it missed while the connection was lost."""
        if self._current:
            self.thaw()
            self._pages[self._current].catch_up()

    def undo(self) -> None:
        """Take back the act made last that a message or the page offers to (Ctrl+Z): one that took long is told after
        a newer one, and a message that was closed leaves what it told of held.
        """
        offered = self.toasts.offered()
        if (self._current and self._pages[self._current].undo(offered)) or self.toasts.take_back():
            return
        words, detail = _("Nothing to take back just now."), _("Older acts are taken back on the Audit page.")
        self.toasts.say(ToastSpec(text=words, detail=detail, status="cancelled", key="nothing-back"))

    # standing still

    @property
    def frozen(self) -> bool:
        """Whether the page stands still."""
        return bool(self._frozen)

    def toggle_freeze(self) -> None:
        """Let the page stand still, or catch up (Ctrl+.)."""
        if self._frozen:
            self.thaw()
        elif self._current and not self._still:
            page = self._pages[self._current]
            self._frozen = self._current
            page.set_frozen(True)
            self._hold()
            page.header.show_frozen(_time_of_day())

    def stand_still(self, since: str) -> None:
        """Let the page stand as it was at a time of day, countdowns and ages included, since nothing newer is known; ""
        lets it go on.
        """
        if since == self._still or not self._current:
            return
        self.thaw()
        was, self._still = self._still, since
        page = self._pages[self._current]
        # what was left before is as it was then
        page.stand_still(self._left.get(self._current, since) if since else "")
        self._hold()
        if bool(was) != bool(since):
            page.set_frozen(bool(since))

    def thaw(self) -> None:
        """Let a page that stands still catch up."""
        frozen, self._frozen = self._frozen, ""
        if frozen:
            self._hold()
            self._pages[frozen].header.show_frozen("")
            self._pages[frozen].set_frozen(False)

    def _hold(self) -> None:
        """Count-downs and ages stand still with the page, whatever is painted or asked for anew meanwhile."""
        ticks().hold(self, on=bool(self._frozen or self._still))

    # panes

    def next_pane(self) -> None:
        """Give the focus to the next part of the window (F6)."""
        step(self.panes(), 1)

    def previous_pane(self) -> None:
        """Give the focus to the part before (Shift+F6)."""
        step(self.panes(), -1)

    def panes(self) -> list[QWidget]:
        """The parts that F6 goes through, in their order; a page of which none takes the focus, as where all is empty,
        is one: what can be done stands in its head.
        """
        page = self._pages.get(self._current)
        inner = (*page.past_panes(), *page.panes()) if page is not None else ()
        if page is not None and not any(part.isVisible() and first_focus(part) is not None for part in inner):
            inner = (page,)
        return [self.rail, self.top_bar, *inner, self.status_bar, *reversed(self.toasts.toasts())]

    def set_stale(self, stale: bool) -> None:
        """Show the pages in grey while their data is old."""
        grey(self.stack, stale)

    def set_acting(self, reason: str) -> None:
        """Tell all pages why nothing may be changed now, "" when it may."""
        if reason != self._acting:
            self._acting = reason
            self.tell_acting()

    @property
    def acting(self) -> str:
        """Why nothing may be changed now, "" when it may."""
        return self._acting

    def tell_acting(self) -> None:
        """Tell all pages again, where who acts here may do more or less than before: the one that is seen now, each
        other as soon as somebody asks for it, or a moment later.
        """
        self._untold = dict.fromkeys(self._pages)
        self.acting_told.emit(self._acting)
        self._tell(self._current)
        self._telling.start()

    def _tell(self, page_id: str) -> None:
        if page_id in self._untold:
            del self._untold[page_id]
            self._pages[page_id].set_acting(self._acting)

    def _tell_next(self) -> None:
        if self._untold:
            self._tell(next(iter(self._untold)))
        else:
            self._telling.stop()

    # window

    def _on_collapsed(self, collapsed: bool) -> None:
        self._wanted_collapsed = collapsed

    def _fold(self) -> None:
        self.rail.set_collapsed(self._wanted_collapsed or self.width() < RAIL_COLLAPSES_BELOW)

    def event(self, event: QEvent) -> bool:
        """Paint in a turn of its own: that takes as long as all that led to it."""
        if event.type() == QEvent.Type.UpdateRequest and not self._paints:
            turns().paint(self.paint_now)
            return True
        return super().event(event)

    def _make_way(self) -> None:
        """Other buttons stand below the messages now."""
        if isValid(self):
            self.toasts.arrange()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A key that means something elsewhere, and that nobody took here, is not passed over in silence."""
        super().keyPressEvent(event)
        if event.isAutoRepeat():  # said once while it is held
            return
        pressed, here = QKeySequence(event.keyCombination()), (WINDOW, PARTS, self._current)
        known = (one for one in keymap().commands() if one.place in here and pressed in keymap().sequences(one.name))
        if (command := next(known, None)) is not None:
            refuse(_("Not here now: {command}").format(command=command.said()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with what nobody else has a menu for."""
        offer_what_is_said(self, event)

    def paint_now(self) -> None:
        """Paint what is due at once, if the window is there yet: what follows may take the thread for a while."""
        if not isValid(self):
            return
        self._paints = True
        try:
            QApplication.sendEvent(self, QEvent(QEvent.Type.UpdateRequest))
        finally:
            self._paints = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold the rail while the window is narrow."""
        super().resizeEvent(event)
        self._fold()

    def save_state(self) -> dict[str, object]:
        """Return place, size and page as plain data."""
        geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        page = self._pages[self._current] if self._current else None
        shown, then = (page.shown_request(), page.then) if page is not None else ("", None)
        past = {"at": then.at_ms, "now": then.now} if then is not None else None
        kept = {"geometry": geometry, "page": self._current, "show": shown, "past": past}
        return {**kept, "rail_collapsed": self._wanted_collapsed}

    def restore_state(self, state: dict[str, object]) -> None:
        """Take what ``save_state`` returned; where it names no page of this version, Overview is shown."""
        self.restoreGeometry(QByteArray.fromBase64(str(state.get("geometry", "")).encode()))
        self._wanted_collapsed = bool(state.get("rail_collapsed", False))
        self._fold()
        show, past = state.get("show"), state.get("past")
        if isinstance(past, dict) and isinstance(past.get("at"), int) and not isinstance(show, FromPast):
            now = past.get("now")
            show = past_again(past["at"], str(show or ""), now if isinstance(now, str) else None)
        self.open_page(str(state.get("page", "")), show if isinstance(show, FromPast) else str(show or "") or None)
        if not self._current:
            self.open_page("overview")

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop the page and tell; whoever listens decides what else must end."""
        if not self.may_close():
            event.ignore()
            return
        self.hide()  # first: what ends here may take a while, and nobody shall look at a window that stands still
        self.stop_preparing()
        if self._current:
            self._pages[self._current].deactivate()
        self._end_making()
        ticks().hold(self, on=False)
        self._telling.stop()
        self.closing.emit()
        super().closeEvent(event)


def _time_of_day() -> str:
    """Now, by the clock of the status bar."""
    now = instant.now_ms()
    return shown.clock(now, now)


def in_front() -> MainWindow | None:
    """The window of this program that a person works in, also while one of its dialogs is open."""
    front: QWidget | None = QApplication.activeWindow()
    while front is not None and not isinstance(front, MainWindow):
        front = front.parentWidget()
    return front
