"""The life of a task line by line: glyph, time, what happened, how long."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from views.support import safe
from views.support.paint import draw_line
from views.theme import theme
from views.theme.tokens import status

ROW = 21
_GLYPH = 13
_TIME, _GAP = 66, 8
_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


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
    whole: bool = False  #: `strong` goes on in further lines rather than being cut


class Timeline(QWidget):
    """A list of entries, oldest first."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[TimelineEntry, ...] = ()
        self._timed = True
        self._tops: tuple[int, ...] = (0,)  #: where each entry begins, and where the last one ends
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_entries(self, entries: Sequence[TimelineEntry]) -> None:
        """Show `entries`."""
        if tuple(entries) == self._entries:
            return
        before = self.sizeHint().height()
        self._entries = tuple(entries)
        # a list of checks has no times and needs no room for them
        self._timed = any(entry.time for entry in self._entries)
        sentences = (f"{e.time} {e.text} {e.strong} {e.tail} {e.span}" for e in self._entries)
        self.setAccessibleName("; ".join(safe.masked(" ".join(sentence.split())) for sentence in sentences))
        self._place()
        if self.sizeHint().height() != before:
            self.updateGeometry()
        self.update()

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
            tops.append(tops[-1] + ROW + self._more_lines(entry))
        self._tops = tuple(tops)

    def _left(self) -> int:
        return _GLYPH + _GAP + (self._time_room() if self._timed else 0)

    def _time_room(self) -> int:
        return round(_TIME * theme().growth)

    def _more_lines(self, entry: TimelineEntry) -> int:
        """Pixels below the first line."""
        if not entry.whole:
            return 0
        metrics = QFontMetrics(theme().font("labelstrong"))
        room = QRect(0, 0, max(80, self.width() - self._left()), 1000)
        return max(0, metrics.boundingRect(room, _WRAP, safe.one_line(entry.strong)).height() - metrics.lineSpacing())

    def _paint_rail(self, painter: QPainter, number: int) -> None:
        if number + 1 < len(self._entries):
            painter.setPen(theme().color("line2"))
            x, top = _GLYPH / 2, self._tops[number] + ROW / 2 + _GLYPH / 2
            painter.drawLine(QPointF(x, top), QPointF(x, self._tops[number + 1] + ROW / 2 - _GLYPH / 2))

    def _paint_entry(self, painter: QPainter, entry: TimelineEntry, top: int) -> None:
        middle = top + ROW / 2
        if entry.status:
            token = status(entry.status)
            role = "text3" if entry.future else token.role
            painter.drawPixmap(QPointF(0, middle - _GLYPH / 2), theme().pixmap(token.glyph, role, _GLYPH))
        else:
            painter.setPen(theme().color("text3"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(_GLYPH / 2, middle), 2.5, 2.5)
        muted = "text3" if entry.future else "text2"
        painter.setFont(theme().font("label", tabular=True))
        painter.setPen(theme().color("text3"))
        draw_line(painter, QRect(_GLYPH + _GAP, top, self._time_room(), ROW), entry.time)
        right = self._paint_span(painter, entry, top)
        left = self._left()
        if entry.whole:
            self._paint_whole(painter, entry, QRect(left, top, right - left, ROW + self._more_lines(entry)))
            return
        self._paint_words(painter, entry, QRect(left, top, right - left, ROW), muted)

    def _paint_span(self, painter: QPainter, entry: TimelineEntry, top: int) -> int:
        if not entry.span:
            return self.width()
        width = QFontMetrics(theme().font("label", tabular=True)).horizontalAdvance(entry.span) + 2
        draw_line(painter, QRect(self.width() - width, top, width, ROW), entry.span, right=True)
        return self.width() - width - _GAP

    def _paint_whole(self, painter: QPainter, entry: TimelineEntry, room: QRect) -> None:
        font = theme().font("labelstrong")
        painter.setFont(font)
        painter.setPen(theme().color("text"))
        above = (ROW - QFontMetrics(font).lineSpacing()) // 2
        painter.drawText(room.adjusted(0, above, 0, 0), _WRAP, safe.one_line(entry.strong))

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
            draw_line(painter, QRect(left, room.top(), room.right() - left, ROW), shown)
            left += metrics.horizontalAdvance(shown) + 5
        if entry.share is not None and left + 40 < room.right():
            self._paint_bar(painter, entry, left + 4, room)

    def _paint_bar(self, painter: QPainter, entry: TimelineEntry, left: int, room: QRect) -> None:
        width = min(70, room.right() - left)
        top = room.top() + ROW / 2 - 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("line2"))
        painter.drawRoundedRect(QRectF(left, top, width, 4), 2, 2)
        painter.setBrush(theme().color(status(entry.status).role))
        painter.drawRoundedRect(QRectF(left, top, width * min(1.0, max(0.0, entry.share or 0.0)), 4), 2, 2)

    def event(self, event: object) -> bool:
        """Show the whole line as a tool tip."""
        if isinstance(event, QHelpEvent):
            number = next((n for n, end in enumerate(self._tops[1:]) if event.pos().y() < end), -1)
            if number >= 0:
                entry = self._entries[number]
                words = " ".join(f"{entry.text} {entry.strong} {entry.tail}".split())
                QToolTip.showText(event.globalPos(), safe.tooltip(words), self)
                return True
        return super().event(event)  # type: ignore[arg-type]
