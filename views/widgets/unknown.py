"""What stands in an empty place: grey rows while it is loaded, and that nobody knows what belongs there where it was
not loaded before the connection was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from services.i18n import N_, _
from views.support.look import paint_ground
from views.theme import theme
from views.theme.tokens import PAGE_MARGIN
from views.widgets.empty_state import EmptyState
from views.widgets.layout import in_column

_NOTHING = object()
#: what is there sooner is not announced
SOON_MS = 150
ROW, BAR, RADIUS = 40, 12, 4
#: shares of the width that the bars of one row after the other take
WIDTHS = (0.72, 0.54, 0.86, 0.63, 0.78, 0.47)


class Bones(QWidget):
    """Grey rows over the ``area`` of ``page`` while what belongs there is on its way for the first time; whatever the
    mouse does there goes through them.

    Signals:
        came: it did not come soon: they stand there now.
    """

    came = Signal()

    def __init__(
        self, page: QWidget, area: QWidget, *, ground: str = "bg", leave: Callable[[], object] | None = None
    ) -> None:
        """``ground``: role of the colour below. ``leave`` brings the keyboard out of the area, which is a stack then,
        for what stands in it is of something else: once they stand there it is hidden from everybody, until it is told
        of what was asked for.
        """
        super().__init__(page)
        self._leave = leave
        if leave is not None:
            assert isinstance(area, QStackedWidget)
            content = area.widget(0)
            assert content is not None
            self._stack, self._content, self._nothing = area, content, QWidget()
            area.addWidget(self._nothing)
        self._page, self._area, self._ground = page, area, ground
        self._due = False
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._cover)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        for watched in (page, area):
            watched.installEventFilter(self)

    @property
    def due(self) -> bool:
        """Whether it is waited for."""
        return self._due

    def begin(self) -> None:
        """It is asked for; they stand there unless it comes soon."""
        if not self._due or (self.isHidden() and not self._soon.isActive()):
            self._due = True
            self._soon.start()

    def end(self, *, known: bool = True) -> None:
        """It is there, or nobody waits for it; what is not ``known`` leaves an empty place."""
        self._due = False
        self._soon.stop()
        self.hide()
        self._show_content(known)

    def empty(self) -> None:
        """What stands in the area is told of as something else from now on: hide it, until ``end``."""
        self._show_content(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay over the place; who opens the page waits anew."""
        if self._due and event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self.hide()
            self._soon.start()
        elif self.isVisible() and event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._cover()
        return False

    def _cover(self) -> None:
        if self._page.isVisible() and self._area.isVisibleTo(self._page):
            self.setAccessibleName(_("Loading…"))
            self.setGeometry(QRect(self._area.mapTo(self._page, QPoint(0, 0)), self._area.size()))
            self.raise_()
            if self.isHidden():
                self._show_content(False)
                self.show()
                self.came.emit()

    def _show_content(self, shown: bool) -> None:
        if self._leave is None:
            return
        focused = QApplication.focusWidget()
        if not shown and focused is not None and self._content.isAncestorOf(focused):
            self._leave()  # else it would go to the start of the page
        self._stack.setCurrentWidget(self._content if shown else self._nothing)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a bar for each row that there is room for."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme().color(self._ground))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("hover"))
        room = self.width() - 2 * PAGE_MARGIN
        for row in range(self.height() // ROW):
            top = row * ROW + (ROW - BAR) / 2
            bar = QRectF(PAGE_MARGIN, top, max(0.0, room * WIDTHS[row % len(WIDTHS)]), BAR)
            painter.drawRoundedRect(bar, RADIUS, RADIUS)


class Unknown(QWidget):
    """Covers `area` of `page` while the page stands still and what it asked for last was never answered.

    Signals:
        again: the person wants the connection tried again.
        changed: whether it covers, or what is known of its place.
    """

    again = Signal()
    changed = Signal()

    def __init__(self, page: QWidget, area: QWidget, outer: Unknown | None = None) -> None:
        """``outer`` covers a larger area, in which this one lies: both at once would lie over each other. What has none
        is asked for by whoever opens the page, so it waits from the beginning; an inner one waits once it is asked for.
        """
        super().__init__(page)
        self._page, self._area, self._outer = page, area, outer
        self._asked: Hashable = None
        self._known: Hashable = _NOTHING
        self._still = False
        self._bones = Bones(page, area)
        paint_ground(self, "page")
        self.words = EmptyState(
            N_("Not loaded before the connection was lost"),
            N_("What there is, is not known now. It is loaded by itself once the connection is back."),
            N_("Try again"),
            "ph.wifi-slash",
        )
        self.words.action.connect(self.again)
        in_column(self.words, owner=self)
        self.hide()
        for watched in (page, area):
            watched.installEventFilter(self)
        if outer is not None:
            outer.changed.connect(self._show)
        else:
            self._bones.begin()

    @property
    def known(self) -> bool:
        """Whether what stands there answers what was asked last."""
        return self._known == self._asked

    @property
    def answered(self) -> bool:
        """Whether anything stands there, of whatever was asked."""
        return self._known is not _NOTHING

    @property
    def waits(self) -> bool:
        """Whether its first answer is on its way."""
        return self._bones.due

    def ask(self, what: Hashable = None) -> None:
        """Something is asked for: a filter, a state."""
        self._asked = what
        self._await()
        self._show()

    def answer(self, what: Hashable = None) -> None:
        """What stands there answers this."""
        first, self._known = not self.answered, what
        self._await()
        self._show()
        if first:  # also where it was given up before
            self.changed.emit()

    def forget(self) -> None:
        """What stood there was taken away: until the next answer nothing is known."""
        self._known = _NOTHING
        self._await()
        self._show()

    def failed(self) -> None:
        """It cannot be loaded, which the page says: nothing is on its way."""
        self._bones.end()
        self.changed.emit()

    def set_still(self, still: bool) -> None:
        """The page stands still, for nothing newer is known; or goes on."""
        self._still = still
        self._await()
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay over the place."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show) and self.isVisible():
            self._cover()
        return False

    def _await(self) -> None:
        """What stood there before stays until what is asked for now is there."""
        waited = self.waits
        if self.answered or self._still:
            self._bones.end()
        else:
            self._bones.begin()
        if self.waits != waited:
            self.changed.emit()

    def _show(self) -> None:
        within = self._outer is not None and not self._outer.isHidden()
        covers = self._still and not self.known and self._area.isVisibleTo(self._page) and not within
        if covers:
            self._cover()
            self.raise_()
        if covers == self.isHidden():
            self.setVisible(covers)
            self.changed.emit()

    def _cover(self) -> None:
        self.setGeometry(QRect(self._area.mapTo(self._page, QPoint(0, 0)), self._area.size()))
