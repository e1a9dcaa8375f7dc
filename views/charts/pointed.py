"""A chart that draws itself and is read point by point: by the mouse, by keys, by a screen reader, and as a table.

    class WaitingPlot(PointedChart):
        def heads(self): ...         # what a point says, the time first
        def points(self): ...        # where its points are, and what they say
        def summary(self): ...       # all of it in a sentence

It ends its painting with ``paint_pointed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.charts.plot import offer_table
from views.charts.tooltip import Card, Reading, paint_card
from views.support.language import on_language_changed
from views.support.paint import draw_focus
from views.support.spoken import Role, spoken, told
from views.theme import theme

#: so near the mouse points at a point
NEAR = 24


class Head(NamedTuple):
    """What one part of a point says."""

    words: str  #: source text
    role: str = ""  #: colour of its line in the chart


class Point(NamedTuple):
    """Where a point is, and what its parts say: the time first, "" where nothing is known."""

    x: float
    said: tuple[str, ...]


class PointedChart(QWidget):
    """Left and Right go from point to point, Home and End to the first and the last, Esc leaves them."""

    def __init__(self, name: str = N_("Forecast")) -> None:
        """``name``: what it is called, source text."""
        super().__init__()
        self._name = name
        self._at = -1  #: the point that is read, -1 for none
        self._known: Sequence[Point] | None = None  #: to say them all takes long, and the mouse asks at each move
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        spoken(self, Role.Chart, self.accessibleDescription)
        theme().changed.connect(self.retell)
        on_language_changed(self.retell)

    def heads(self) -> Sequence[Head]:
        """What each point says, the time first."""
        raise NotImplementedError

    def points(self) -> Sequence[Point]:
        """All there are, from left to right."""
        raise NotImplementedError

    def summary(self) -> str:
        """All of it in a sentence."""
        raise NotImplementedError

    def room(self) -> QRectF:
        """Where the points are."""
        raise NotImplementedError

    def retell(self) -> None:
        """Other points stand there, or the same in other words."""
        self._known = None
        if self._at >= 0:
            self._at = min(self._at, len(self._points()) - 1)
        self.setAccessibleName(_(self._name))
        self._tell()

    def _tell(self) -> None:
        card = self._card()
        self.setAccessibleDescription(card.sentence() if card is not None else self.summary())
        told(self)
        self.update()

    def _points(self) -> Sequence[Point]:
        if self._known is None:
            self._known = self.points()
        return self._known

    def _card(self) -> Card | None:
        if self._at < 0 or self._at >= len(self._points()):
            return None
        time, *values = self._points()[self._at].said
        heads = self.heads()[1:]
        read = [Reading(_(head.words), said, head.role) for head, said in zip(heads, values, strict=True) if said]
        return Card(time, "", tuple(read))

    def _go_to(self, place: int) -> None:
        if place != self._at:
            self._at = place
            self._tell()

    # mouse, keys and menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from point to point."""
        key, last = Qt.Key(event.key()), len(self._points()) - 1
        here = last + 1 if self._at < 0 else self._at
        goes = {Qt.Key.Key_Left: here - 1, Qt.Key.Key_Right: here + 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        if key in goes and last >= 0:
            self._go_to(min(max(0, goes[key]), last))
        elif key == Qt.Key.Key_Escape and self._at >= 0:
            self._go_to(-1)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Esc is for the point that is read before it is for the page."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._at >= 0:
            event.setAccepted(event.key() == Qt.Key.Key_Escape)
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Read the nearest point."""
        x = event.position().x()
        near = [(abs(one.x - x), place) for place, one in enumerate(self._points())]
        away, place = min(near, default=(NEAR, -1))
        self._go_to(place if away < NEAR else -1)
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Read none, unless the keys do."""
        if not self.hasFocus():
            self._go_to(-1)
        super().leaveEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Its points are elsewhere."""
        super().resizeEvent(event)
        self._known = None

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Read none any more, but while the table or the menu is open, from which one comes back."""
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self._go_to(-1)
        super().focusOutEvent(event)
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer all of it as a table."""
        offer_table(self, event, [one.words for one in self.heads()], [one.said for one in self._points()])

    # painting

    def paint_pointed(self, painter: QPainter) -> None:
        """Draw what is read, and the ring of the keyboard."""
        card = self._card()
        if card is not None:
            room, x = self.room(), self._points()[self._at].x
            painter.setPen(theme().color("text3"))
            painter.drawLine(round(x), round(room.top()), round(x), round(room.bottom()))
            paint_card(painter, card, QRectF(self.rect()).adjusted(0, 2, 0, 0), x)
        if self.hasFocus():
            draw_focus(painter, self.rect(), 5)
