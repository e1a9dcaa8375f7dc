"""The stack of toasts at the bottom, at the right unless buttons stand there: at most three, the newest lowest, or
rightmost where they stand beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QLabel, QPlainTextEdit, QTextEdit, QWidget
from shiboken6 import isValid

from views.support.keys import Shortcut, speak
from views.support.throttle import Debounce
from views.tables.table_view import TableView
from views.theme import theme
from views.theme.tokens import STATUS_BAR
from views.widgets.empty_state import EmptyState
from views.widgets.scroll_pane import ScrollPane
from views.widgets.toast import Toast, ToastSpec

MAX_TOASTS = 3
_MARGIN, _GAP = 16, 10
#: the verbs of a page stand in its foot at the right; a message must not lie on what one presses next
_FOOT = 50
#: places to try, as shares of the free width, and pixels above the status bar; the usual one first. In each they stand
#: one above the other or, where those would lie on something, beside each other
_PLACES = tuple(
    (share, above, beside)
    for above_of in ((_FOOT, 0), (2 * _FOOT, 3 * _FOOT, 5 * _FOOT))
    for beside in (False, True)
    for share in (1.0, 0.8, 0.6, 0.4, 0.25, 0.0)
    for above in above_of
)
#: what a page shows comes a moment after it, and its buttons with that
_COMES_MS = 1_200
#: so high is what is pressed
_CONTROL = 48
#: a panel that a person opens has its buttons then
_OPENED_MS = 250
#: a window whose edge is dragged has another size with each move of the mouse
_RESIZED_MS = 100


#: what scrolls, and can scroll on past its end
_CLEARABLE = (ScrollPane, TableView)


class Toasts(QObject):
    """Shows toasts over `host`, above its status bar.

    Signals:
        shown: a toast came up; the words are announced and kept in the audit by whoever listens.
    """

    shown = Signal(object)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self._host = host
        self._stack: list[Toast] = []
        self._place = _PLACES[0]
        self._resized = Debounce(self.arrange, _RESIZED_MS, self)
        self._later = Debounce(self._avoid, _COMES_MS, self)
        self._opened = Debounce(self._make_way, _OPENED_MS, self)
        #: whether something came below an *Undo*, for which the others make way once that is gone
        self._waits = False
        self._soon = Debounce(self._avoid, _OPENED_MS, self)
        #: what scrolls below them is followed while one stands: it may be shown, or get its size, after they came
        self._follows = False
        self._laid = Debounce(self._lay, 0, self)
        host.installEventFilter(self)
        Shortcut("window.message", host, self.close_newest)
        #: what had the keyboard before it went to a message: it has it again once that is over
        self._before: QWidget | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)
        # once the texts themselves have their new size
        theme().changed.connect(self._lay, Qt.ConnectionType.QueuedConnection)

    def say(self, spec: ToastSpec) -> None:
        """Show a message, or change the words of one that still stands."""
        if not spec.update:
            self.show(spec)
            return
        same = self._same(spec)
        if same is not None:
            same.change_words(spec)
            self._lay()

    def show(self, spec: ToastSpec) -> Toast:
        """Show a message; the oldest that may leave makes room."""
        placed, lasting = bool(self._stack), any(map(_lasts, self._stack))
        same = self._same(spec)
        if same is not None:
            self._drop(same)
        while len(self._stack) >= MAX_TOASTS:
            self._drop(next((toast for toast in self._stack if not toast.spec.stays), self._stack[0]))
        if not self._stack and not placed:
            self._place = _PLACES[0]
        below, at_one = self._buttons(), self._at_one()
        before = _covered(below, self._rects(self._place))
        toast = Toast(spec, self._host)
        toast.closed.connect(self._on_closed)
        toast.said.connect(self._lay)
        self._stack.append(toast)
        self._fit()
        toast.move(self._rects(self._place)[-1].topLeft())  # in the corner above it would come under a mouse there
        toast.show()
        self._fit()  # as high as its words, before it is asked what it lies on
        first = _lasts(toast) and not lasting
        worse = _covered(below, self._rects(self._place)) > before
        if not placed or (not at_one and (first or worse)):
            self._seek(below)
        else:
            self._lay()
        if first:
            self._look_again()
        # A screen reader hears results of own actions, not every live change.
        speak(toast.accessibleName(), toast)
        self.shown.emit(spec)
        return toast

    def _same(self, spec: ToastSpec) -> Toast | None:
        return next((toast for toast in self._stack if spec.key and toast.spec.key == spec.key), None)

    def close(self, key: str) -> None:
        """Take away the message with this key; nothing where none stands."""
        for toast in [one for one in self._stack if one.spec.key == key]:
            self._drop(toast)

    def close_newest(self) -> None:
        """Close the message that came last, by the keyboard."""
        if self._stack:
            self._stack[-1].close_now()

    def offered(self) -> int:
        """Number of the act made last of those that a message offers to take back; 0: none does."""
        return max(map(Toast.offered, self._stack), default=0)

    def take_back(self) -> bool:
        """Take that act back, whichever message came last; False where none offers to."""
        return any(toast.take_back() for toast in sorted(self._stack, key=Toast.offered, reverse=True))

    def toasts(self) -> tuple[Toast, ...]:
        """Return what is shown, oldest first."""
        return tuple(self._stack)

    def clear(self) -> None:
        """Close all."""
        for toast in list(self._stack):
            self._drop(toast)

    def _follow(self, old: QWidget | None, now: QWidget | None) -> None:
        if not isValid(self._host):
            return  # its window goes: what had the keyboard in there loses it last
        ours = self._host.window()  # the program may have others
        if old is not None and old.window() is ours and not any(toast.isAncestorOf(old) for toast in self._stack):
            self._before = old
        for toast in self._stack:
            toast.focus_moved()

    def _on_closed(self) -> None:
        toast = self.sender()
        if isinstance(toast, Toast):
            self._drop(toast)

    def _drop(self, toast: Toast) -> None:
        if toast in self._stack:
            # of this window, though a dialog that it opened is in front
            at_it: QWidget | None = self._host.window().focusWidget()
            if at_it is not None and toast.isAncestorOf(at_it) and self._before is not None and isValid(self._before):
                self._before.setFocus()
            self._stack.remove(toast)
            toast.hide()
            toast.deleteLater()
            self._lay()
            if self._waits:
                self._opened()

    @Slot()
    def arrange(self) -> None:
        """Look where they stand on the fewest buttons, now that others are there and once more when all of those came:
        such as stay, and where they are if that is as good. None is carried off while somebody points at it; what
        leaves by itself is looked for a place as it comes, and then its *Undo* is where somebody has seen it.
        """
        self._avoid()
        self._look_again()

    def _look_again(self) -> None:
        """Once what is seen has come, in its two steps; that it comes is no panel that a person opens."""
        self._opened.cancel()
        self._soon()
        self._later()

    def _at_one(self) -> bool:
        """Whether somebody points at one of them or has the keyboard there; asked before another comes, which may come
        under a mouse that points at none.
        """
        return any(toast.underMouse() or toast.has_keyboard() for toast in self._stack)

    @Slot()
    def _make_way(self) -> None:
        """Something came beside what is seen: a person who opened it wants its buttons. It may have come by itself, and
        an *Undo* stays where somebody has seen it: the usual place leaves the verbs in a foot free.
        """
        self._waits = self.offered() > 0
        if self._waits:
            return
        if self._stack and not self._at_one():
            self._seek()
        self._later()

    @Slot()
    def _avoid(self) -> None:
        if not self._at_one() and any(map(_lasts, self._stack)):
            self._seek()
        else:
            self._lay()

    def _seek(self, below: list[QRect] | None = None) -> None:
        """``below``: the buttons, where somebody has just looked."""
        self._fit()
        below = self._buttons() if below is None else below
        best, least = self._place, -1
        for place in (self._place, *_PLACES):
            rects = self._rects(place)
            if any(rect.top() < 0 or rect.left() < 0 for rect in rects):
                continue
            covered = _covered(below, rects)
            if least < 0 or covered < least:
                best, least = place, covered
            if not covered:
                break
        self._place = best
        self._lay()  # once: it goes through all that scrolls, on every page

    def _fit(self) -> None:
        for toast in self._stack:
            height = toast.heightForWidth(toast.width()) if toast.hasHeightForWidth() else toast.sizeHint().height()
            toast.resize(toast.width(), height)

    @Slot()
    def _lay(self) -> None:
        """Above or beside each other, in the place they have: a verb that somebody aims at stays under the mouse."""
        self._fit()
        rects = self._rects(self._place)
        for toast, rect in zip(self._stack, rects, strict=True):
            toast.move(rect.topLeft())
            toast.raise_()
        self._keep_clear(rects)

    def _keep_clear(self, rects: list[QRect]) -> None:
        """What scrolls below them can be scrolled out from under them, to its last row; dialogs lie above them."""
        if not rects and not self._follows:
            return
        self._follows = bool(rects)
        for area in self._host.findChildren(QAbstractScrollArea):
            if not isinstance(area, _CLEARABLE) or area.window() is not self._host.window():
                continue
            if rects:
                area.installEventFilter(self)
            else:
                area.removeEventFilter(self)
            if not area.isVisible():  # it is looked at once it is shown
                area.keep_clear(0)
                continue
            seen = area.viewport()
            place = QRect(seen.mapTo(self._host, QPoint(0, 0)), seen.size())
            over = [rect for rect in rects if rect.intersects(place)]
            area.keep_clear(place.bottom() + 1 - min(rect.top() for rect in over) if over else 0)

    def _rects(self, place: tuple[float, int, bool]) -> list[QRect]:
        """Where each would stand, oldest first."""
        found: list[QRect] = []
        share, above, beside = place
        bottom = self._host.height() - STATUS_BAR - above - _GAP
        wide = sum(toast.width() + _GAP for toast in self._stack) - _GAP if beside else 0
        right = _MARGIN + wide + round((self._host.width() - wide - 2 * _MARGIN) * share)
        for toast in reversed(self._stack):
            left = _MARGIN + round((self._host.width() - toast.width() - 2 * _MARGIN) * share)
            left = right - toast.width() if beside else left
            found.append(QRect(QPoint(left, bottom - toast.height()), toast.size()))
            right -= toast.width() + _GAP
            bottom -= 0 if beside else toast.height() + _GAP
        return found[::-1]

    def _buttons(self) -> list[QRect]:
        """What can be pressed in the window, besides the messages themselves, and the words of a page that has nothing
        else to show; a part that is cut off does not count.
        """
        found = []
        for one in self._seen(self._host):
            told = one if isinstance(one, QLabel) and isinstance(one.parentWidget(), EmptyState) else None
            if told is None and not _wanted(one):
                continue
            seen = one.visibleRegion().boundingRect()
            if told is not None:  # as wide as the page, with its words in the middle
                aside = max(0, one.width() - told.fontMetrics().horizontalAdvance(told.text())) // 2
                seen = seen.intersected(one.rect().adjusted(aside, 0, -aside, 0))
            found.append(QRect(one.mapTo(self._host, seen.topLeft()), seen.size()))
        return found

    def _seen(self, inside: QWidget) -> Iterator[QWidget]:
        """What is seen in the window: nothing of the other pages, nor of dialogs, which lie above all messages."""
        for one in inside.children():
            if isinstance(one, QWidget) and one.isVisible() and not one.isWindow() and one not in self._stack:
                yield one
                yield from self._seen(one)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the window, and what scrolls below a message."""
        if watched is not self._host:
            if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
                self._laid()
            if event.type() == QEvent.Type.Show:
                self._opened()
        elif event.type() == QEvent.Type.Resize:
            self._lay()
            self._resized()
        return False


def _lasts(toast: Toast) -> bool:
    """Whether it stands so long that it may not stand on a button."""
    return toast.spec.stays or toast.spec.leaves


def _wanted(one: QWidget) -> bool:
    """Whether it is pressed or written in; what is higher is read and scrolled."""
    if isinstance(one, QPlainTextEdit | QTextEdit):
        return not one.isReadOnly()
    return one.focusPolicy() != Qt.FocusPolicy.NoFocus and one.height() <= _CONTROL


def _covered(buttons: list[QRect], rects: list[QRect]) -> int:
    """How many of them messages in these places would lie on."""
    return sum(any(rect.intersects(one) for rect in rects) for one in buttons)
