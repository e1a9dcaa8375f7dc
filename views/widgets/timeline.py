"""The life of a task line by line: glyph, time, what happened, how long; a line may be a door."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from views.support import safe
from views.support.keys import beside
from views.support.paint import draw_box, draw_focus, draw_line
from views.support.spoken import Role, spoken, told
from views.theme import theme
from views.theme.tokens import status

ROW, DOOR_ROW = 21, 26
_GLYPH, _CHEVRON, _EDGE = 13, 12, 4
_TIME, _GAP = 66, 8
#: an id is longer than a line may be
_WRAP = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
_WRAP.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line; all texts are already translated."""

    time: str
    text: str
    strong: str = ""  #: set in medium weight after `text`
    tail: str = ""  #: in lighter colour after that
    span: str = ""  #: how long, at the right edge
    status: str = ""  #: status name for the glyph; empty is a plain dot
    share: float | None = None  #: a bar of what has passed, in the colour of the status
    future: bool = False  #: dimmed: it has not happened yet
    whole: bool = False  #: `strong`, or without it `text`, goes on in further lines rather than being cut
    door: bool = False  #: it opens what it is about
    closed: str = ""  #: why it does not: that is gone


class Timeline(QWidget):
    """A list of entries, oldest first. Those that are doors open by a click, or by Up, Down and Enter.

    Signals:
        opened: the number of a door.
        reached: the top and the height of the line that the keys came to.
    """

    opened = Signal(int)
    reached = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[TimelineEntry, ...] = ()
        self._current, self._hover, self._pressed = 0, -1, -1  #: lines that the keys and the mouse are on
        self._timed = True
        self._indent = 0  #: of all lines, where one of them has an edge
        self._tops: tuple[int, ...] = (0,)  #: where each entry begins, and where the last one ends
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_entries(self, entries: Sequence[TimelineEntry]) -> None:
        """Show `entries`."""
        if tuple(entries) == self._entries:
            return
        before = self.sizeHint().height()
        kept = self._entries[self._current] if self._current < len(self._entries) else None
        self._entries = tuple(entries)
        self._current = next((n for n, one in enumerate(self._entries) if one == kept), 0)  # it may have moved
        self._hover = -1
        self._lead()
        # a list of checks has no times and needs no room for them
        self._timed = any(entry.time for entry in self._entries)
        self._indent = max(map(_inset, self._entries), default=0)
        sentences = (f"{e.time} {e.text} {e.strong} {e.tail} {e.span}" for e in self._entries)
        self.setAccessibleName("; ".join(safe.masked(" ".join(sentence.split())) for sentence in sentences))
        self._place()
        if self.sizeHint().height() != before:
            self.updateGeometry()
        self.update()

    def _lead(self) -> None:
        """Take the keyboard and the mouse where any line is a door."""
        leads = any(entry.door or entry.closed for entry in self._entries)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if leads else Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(leads)
        if leads:
            spoken(self, Role.List, self.accessibleDescription)
            self._announce()

    def _announce(self) -> None:
        entry = self._entries[self._current]
        self.setAccessibleDescription(safe.masked(_line(entry)))
        told(self)

    @property
    def current(self) -> TimelineEntry | None:
        """The one that Enter opens."""
        return self._entries[self._current] if self._entries else None

    def entries(self) -> tuple[TimelineEntry, ...]:
        """Return what is shown."""
        return self._entries

    def sizeHint(self) -> QSize:
        return QSize(320, max(ROW, self._tops[-1]))

    def minimumSizeHint(self) -> QSize:
        """Return the same height; lines are cut at the right."""
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines that need it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, entry in enumerate(self._entries):
            if self._tops[number] <= event.rect().bottom() and self._tops[number + 1] > event.rect().top():
                self._paint_row(painter, number)
                self._paint_rail(painter, number)
                self._paint_entry(painter, entry, self._tops[number])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give what is shown whole the lines that it needs now."""
        super().resizeEvent(event)
        before = self._tops
        self._place()
        if self._tops != before:
            self.updateGeometry()

    def _place(self) -> None:
        tops = [0]
        for entry in self._entries:
            tops.append(tops[-1] + _row(entry) + self._more_lines(entry))
        self._tops = tuple(tops)

    def _left(self) -> int:
        return _GLYPH + _GAP + self._indent + (self._time_room() if self._timed else 0)

    def _time_room(self) -> int:
        return round(_TIME * theme().growth)

    def _more_lines(self, entry: TimelineEntry) -> int:
        """Pixels below the first line."""
        if not entry.whole:
            return 0
        font, room = theme().font(_whole_font(entry)), max(80, self.width() - self._left() - _behind(entry))
        lines = QTextLayout(safe.one_line(entry.strong or entry.text), font)
        lines.setTextOption(_WRAP)
        lines.beginLayout()
        count = 0
        while (line := lines.createLine()).isValid():
            line.setLineWidth(room)
            count += 1
        lines.endLayout()
        return max(0, count - 1) * QFontMetrics(font).lineSpacing()

    def _paint_row(self, painter: QPainter, number: int) -> None:
        """The ground of a door below the mouse, its chevron, and where the keyboard is."""
        entry, top = self._entries[number], self._tops[number]
        room = QRectF(0, top, self.width(), self._tops[number + 1] - top)
        if entry.door and number == self._hover:
            draw_box(painter, room, 4, None, theme().color("hover"))
        if self.hasFocus() and number == self._current:
            draw_focus(painter, room.adjusted(1, 1, -1, -1))
        if entry.door or entry.closed:
            chevron = theme().pixmap("ph.caret-right", "text2" if entry.door else "dis", _CHEVRON)
            place = QPointF(self.width() - _CHEVRON - 4, top + (_row(entry) - _CHEVRON) / 2)
            painter.drawPixmap(place, chevron)

    def _paint_rail(self, painter: QPainter, number: int) -> None:
        if number + 1 < len(self._entries):
            painter.setPen(theme().color("line2"))
            x, middle = _GLYPH / 2 + self._indent, _row(self._entries[number]) / 2
            after = self._tops[number + 1] + _row(self._entries[number + 1]) / 2
            painter.drawLine(QPointF(x, self._tops[number] + middle + _GLYPH / 2), QPointF(x, after - _GLYPH / 2))

    def _paint_entry(self, painter: QPainter, entry: TimelineEntry, top: int) -> None:
        row, inset = _row(entry), self._indent
        middle = top + row / 2
        if entry.status:
            token = status(entry.status)
            role = "text3" if entry.future else token.role
            painter.drawPixmap(QPointF(inset, middle - _GLYPH / 2), theme().pixmap(token.glyph, role, _GLYPH))
        else:
            painter.setPen(theme().color("text3"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(inset + _GLYPH / 2, middle), 2.5, 2.5)
        muted = "text3" if entry.future else "text2"
        painter.setFont(theme().font("label", tabular=True))
        painter.setPen(theme().color("text3"))
        draw_line(painter, QRect(_GLYPH + _GAP + inset, top, self._time_room(), row), entry.time)
        right = self._paint_span(painter, entry, top) - _behind(entry)
        left = self._left()
        if entry.whole:
            self._paint_whole(painter, entry, QRect(left, top, right - left, row + self._more_lines(entry)))
            return
        self._paint_words(painter, entry, QRect(left, top, right - left, row), muted)

    def _paint_span(self, painter: QPainter, entry: TimelineEntry, top: int) -> int:
        if not entry.span:
            return self.width()
        width = QFontMetrics(theme().font("label", tabular=True)).horizontalAdvance(entry.span) + 2
        left = self.width() - width - _behind(entry)
        draw_line(painter, QRect(left, top, width, _row(entry)), entry.span, right=True)
        return self.width() - width - _GAP

    def _paint_whole(self, painter: QPainter, entry: TimelineEntry, room: QRect) -> None:
        font = theme().font(_whole_font(entry))
        painter.setFont(font)
        painter.setPen(theme().color("text3" if entry.future else "text" if entry.strong else "text2"))
        above = (_row(entry) - QFontMetrics(font).lineSpacing()) // 2
        painter.drawText(QRectF(room.adjusted(0, above, 0, 0)), safe.one_line(entry.strong or entry.text), _WRAP)

    def _paint_words(self, painter: QPainter, entry: TimelineEntry, room: QRect, muted: str) -> None:
        left = room.left()
        for text, kind, role in (
            (entry.text, "label", muted),
            (entry.strong, "labelstrong", "text3" if entry.future else "text"),
            (entry.tail, "label", muted),
        ):
            if not text or left >= room.right():
                continue
            metrics = QFontMetrics(theme().font(kind))
            shown = metrics.elidedText(safe.one_line(text), Qt.TextElideMode.ElideRight, room.right() - left)
            painter.setFont(theme().font(kind))
            painter.setPen(theme().color(role))
            draw_line(painter, QRect(left, room.top(), room.right() - left, room.height()), shown)
            left += metrics.horizontalAdvance(shown) + 5
        if entry.share is not None and left + 40 < room.right():
            self._paint_bar(painter, entry, left + 4, room)

    def _paint_bar(self, painter: QPainter, entry: TimelineEntry, left: int, room: QRect) -> None:
        width = min(70, room.right() - left)
        top = room.top() + room.height() / 2 - 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("line2"))
        painter.drawRoundedRect(QRectF(left, top, width, 4), 2, 2)
        painter.setBrush(theme().color(status(entry.status).role))
        painter.drawRoundedRect(QRectF(left, top, width * min(1.0, max(0.0, entry.share or 0.0)), 4), 2, 2)

    def _at(self, y: float) -> int:
        """The line at a height, -1 below all of them."""
        return next((number for number, end in enumerate(self._tops[1:]) if y < end), -1)

    def _open(self, number: int) -> None:
        if 0 <= number < len(self._entries) and self._entries[number].door:
            self.opened.emit(number)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show which door a click would open."""
        number = self._at(event.position().y())
        door = number >= 0 and self._entries[number].door
        self.setCursor(Qt.CursorShape.PointingHandCursor if door else Qt.CursorShape.ArrowCursor)
        if number != self._hover:
            self._hover = number
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Show none any more."""
        super().leaveEvent(event)
        self._hover = -1
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The keys go on from the line that is pressed."""
        number = self._at(event.position().y())
        self._pressed = number if event.button() == Qt.MouseButton.LeftButton else -1
        if self._pressed >= 0 and self.focusPolicy() != Qt.FocusPolicy.NoFocus:
            self._current = number
            self._announce()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open what was clicked; with Ctrl in a window of its own."""
        pressed, self._pressed = self._pressed, -1
        inside = self.rect().contains(event.position().toPoint())
        if inside and pressed >= 0 and self._at(event.position().y()) == pressed:
            with beside(event):
                self._open(pressed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from line to line, and open one."""
        key, last = Qt.Key(event.key()), len(self._entries) - 1
        goes = {
            Qt.Key.Key_Up: self._current - 1,
            Qt.Key.Key_Down: self._current + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if key in goes and last >= 0:
            self._current = min(max(0, goes[key]), last)
            self._announce()
            self._reach()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self._current)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which line the keys are on; whoever comes with the mouse sees the one that is pressed already."""
        super().focusInEvent(event)
        if event.reason() == Qt.FocusReason.MouseFocusReason:
            self.update()
        else:
            self._reach()

    def _reach(self) -> None:
        if self._current < len(self._entries):
            top = self._tops[self._current]
            self.reached.emit(top, self._tops[self._current + 1] - top)
        self.update()

    def event(self, event: object) -> bool:
        """Show the whole line as a tool tip, and why it opens nothing."""
        if isinstance(event, QHelpEvent):
            number = self._at(event.pos().y())
            if number >= 0:
                QToolTip.showText(event.globalPos(), safe.tooltip(_line(self._entries[number])), self)
                return True
        return super().event(event)  # type: ignore[arg-type]


def _row(entry: TimelineEntry) -> int:
    """A door is high enough to be hit."""
    return DOOR_ROW if entry.door or entry.closed else ROW


def _inset(entry: TimelineEntry) -> int:
    """Room for the edge of a door."""
    return _EDGE if entry.door or entry.closed else 0


def _behind(entry: TimelineEntry) -> int:
    """Room for the chevron."""
    return _CHEVRON + _GAP if entry.door or entry.closed else 0


def _whole_font(entry: TimelineEntry) -> str:
    return "labelstrong" if entry.strong else "label"


def _line(entry: TimelineEntry) -> str:
    """All of it, and below that why it opens nothing."""
    words = " ".join(f"{entry.text} {entry.strong} {entry.tail}".split())
    return f"{words}\n{entry.closed}" if entry.closed else words
