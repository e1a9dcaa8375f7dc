"""The life of a task line by line: glyph, time, what happened, how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from views.support import safe
from views.support.paint import draw_line
from views.theme import theme
from views.theme.tokens import status

ROW = 21
_GLYPH = 13
_TIME, _GAP = 66, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """One line; all texts are already translated."""

    time: str
    text: str
    strong: str = ""  #: set in medium weight after `text`
    tail: str = ""  #: in lighter colour after that
    span: str = ""  #: how long, at the right edge
    status: str = ""  #: status name for the glyph; empty is a plain dot
    share: float | None = None  #: a bar of what has passed, in the colour of the status
    future: bool = False  #: dimmed: it has not happened yet


class Timeline(QWidget):
    """A list of entries, oldest first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[TimelineEntry, ...] = ()
        self._timed = True
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_entries(self, entries: Sequence[TimelineEntry]) -> None:
        """Show `entries`."""
        if tuple(entries) == self._entries:
            return
        grown = len(entries) != len(self._entries)
        self._entries = tuple(entries)
        # a list of checks has no times and needs no room for them
        self._timed = any(entry.time for entry in self._entries)
        sentences = (f"{e.time} {e.text} {e.strong} {e.tail} {e.span}" for e in self._entries)
        self.setAccessibleName("; ".join(" ".join(sentence.split()) for sentence in sentences))
        if grown:
            self.updateGeometry()
        self.update()

    def entries(self) -> tuple[TimelineEntry, ...]:
        """Return what is shown."""
        return self._entries

    def sizeHint(self) -> QSize:
        """Return the room for all lines."""
        return QSize(320, max(1, len(self._entries)) * ROW)

    def minimumSizeHint(self) -> QSize:
        """Return the same height; lines are cut at the right."""
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines that need it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first, last = event.rect().top() // ROW, event.rect().bottom() // ROW
        for number in range(max(0, first), min(len(self._entries), last + 1)):
            self._paint_rail(painter, number)
            self._paint_entry(painter, self._entries[number], number * ROW)

    def _paint_rail(self, painter: QPainter, number: int) -> None:
        if number + 1 < len(self._entries):
            painter.setPen(theme().color("line2"))
            x, top = _GLYPH / 2, number * ROW + ROW / 2 + _GLYPH / 2
            painter.drawLine(QPointF(x, top), QPointF(x, top + ROW - _GLYPH))

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
        draw_line(painter, QRect(_GLYPH + _GAP, top, _TIME, ROW), entry.time)
        right = self._paint_span(painter, entry, top)
        left = _GLYPH + _GAP + (_TIME if self._timed else 0)
        self._paint_words(painter, entry, QRect(left, top, right - left, ROW), muted)

    def _paint_span(self, painter: QPainter, entry: TimelineEntry, top: int) -> int:
        if not entry.span:
            return self.width()
        width = QFontMetrics(theme().font("label", tabular=True)).horizontalAdvance(entry.span) + 2
        draw_line(painter, QRect(self.width() - width, top, width, ROW), entry.span, right=True)
        return self.width() - width - _GAP

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
            number = event.pos().y() // ROW
            if 0 <= number < len(self._entries):
                entry = self._entries[number]
                words = " ".join(f"{entry.text} {entry.strong} {entry.tail}".split())
                QToolTip.showText(event.globalPos(), safe.tooltip(words), self)
                return True
        return super().event(event)  # type: ignore[arg-type]
