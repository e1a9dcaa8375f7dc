"""How one kind of cell is drawn: a function of painter, room, cell and ink.

Painters get cached fonts, colours and pixmaps; they neither measure twice nor touch the model.
A page adds its own kind (a sparkline, say) with ``register("spark", paint_spark)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPixmap, QStaticText

from views.support import safe
from views.support.elide import shorter
from views.support.paint import draw_box, static_text
from views.tables.column import CENTRE, LEFT, RIGHT, UNASKED, Attempts, Column, Fingerprint, Progress
from views.theme import theme
from views.theme import tokens as design

_HYPHEN = "\u2011"
_KEPT_TEXTS = 20_000
_ELIDE, _MIDDLE = Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle
_NO_PEN = Qt.PenStyle.NoPen
GLYPH = 15
GLYPH_GAP = 6
PIP_WIDTH, PIP_HEIGHT, PIP_GAP = 5, 9, 2
BAR_WIDTH, BAR_HEIGHT = 42, 4


class Cell(msgspec.Struct):
    """What a painter may know of the cell."""

    record: Any
    column: Column[Any]
    dimmed: bool
    ticked: bool
    current: bool = False  #: in the row under the cursor
    said: Fingerprint | None = None  #: where that was worked out for this very picture

    def value(self) -> Any:
        """What it shows."""
        known = self.said is not None and self.said.value is not UNASKED
        return self.said.value if self.said is not None and known else self.column.value(self.record)

    def words(self) -> str:
        """What people read in it."""
        told = self.said if self.column.text is not None else None
        return told.words if told is not None else self.column.display(self.record)


class Ink:
    """Fonts, texts, colours and pixmaps of the theme in use, kept for the next thousand cells."""

    def __init__(self) -> None:
        self._fonts: dict[str, tuple[QFont, QFontMetrics]] = {}
        self._pixmaps: dict[tuple[str, str, int], QPixmap] = {}
        self._texts: dict[tuple[str, int, str, bool], tuple[QStaticText, float, float]] = {}
        self._widths: dict[tuple[str, str], int] = {}

    def forget(self) -> None:
        """Start anew after the theme changed."""
        self._fonts.clear()
        self._pixmaps.clear()
        self._texts.clear()
        self._widths.clear()

    def font(self, kind: str) -> QFont:
        """Return the font `kind`."""
        return self._font(kind)[0]

    def width(self, text: str, kind: str) -> int:
        """Return the width of `text`."""
        found = self._widths.get((text, kind))
        if found is None:
            if len(self._widths) > _KEPT_TEXTS:
                self._widths.clear()
            found = self._widths[text, kind] = self._font(kind)[1].horizontalAdvance(text)
        return found

    def colour(self, role: str, cell: Cell) -> QColor:
        """Return the colour of `role`; a dimmed row speaks in captions only."""
        return theme().color("text3" if cell.dimmed and role != "dis" else role)

    def pixmap(self, name: str, role: str, size: int, cell: Cell) -> QPixmap:
        """Return a glyph in the colour of `role`."""
        key = (name, "text3" if cell.dimmed else role, size)
        found = self._pixmaps.get(key)
        if found is None:
            found = self._pixmaps[key] = theme().pixmap(key[0], key[1], size)
        return found

    def text(
        self, painter: QPainter, room: QRect, text: str, cell: Cell, *, role: str, kind: str, align: str = LEFT
    ) -> None:
        """Draw one line of text, cut with an ellipsis where the room ends, of a name in the middle."""
        room_width = room.width()
        if not text or room_width <= 0:
            return
        static, width, height = self._text(text, room_width, kind, names=cell.column.names)
        x = float(room.x())
        if align != LEFT:
            x += (room_width - width) if align == RIGHT else (room_width - width) / 2
        painter.setFont(self._fonts[kind][0])
        painter.setPen(self.colour(role, cell))
        painter.drawStaticText(QPointF(x, room.y() + (room.height() - height) / 2), static)

    def _text(self, text: str, room: int, kind: str, *, names: bool) -> tuple[QStaticText, float, float]:
        key = (text, room, kind, names)
        found = self._texts.get(key)
        if found is None:
            if len(self._texts) > _KEPT_TEXTS:
                self._texts.clear()
            found = self._texts[key] = self._lay_out(text, room, kind, _MIDDLE if names else _ELIDE)
        return found

    def _lay_out(self, text: str, room: int, kind: str, where: Qt.TextElideMode) -> tuple[QStaticText, float, float]:
        font, metrics = self._font(kind)
        text = safe.one_line(text)
        # Figures of one width widen the plain hyphen; this one looks right, and is painted only.
        shown = text if kind == "mono" else text.replace("-", _HYPHEN)
        static = static_text(metrics.elidedText(shown, where, room), font)
        size = static.size()
        return static, size.width(), size.height()

    def _font(self, kind: str) -> tuple[QFont, QFontMetrics]:
        found = self._fonts.get(kind)
        if found is None:
            font = theme().font(kind)
            found = self._fonts[kind] = (font, QFontMetrics(font))
        return found


Painter = Callable[[QPainter, QRect, Cell, Ink], None]


def text_kind(column: Column[Any]) -> str:
    """Return the step of the type scale a column is set in."""
    if column.mono or column.kind == "mono":
        return "mono"
    return "tablestrong" if column.strong or column.kind == "strong" else "table"


def paint_text(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw text or a number."""
    column = cell.column
    words = cell.words()
    if column.parts:
        words = shorter(words, lambda some: ink.width(some, text_kind(column)) <= room.width())
    ink.text(
        painter,
        room,
        words,
        cell,
        role=column.role_of(cell.record),
        kind=text_kind(column),
        align=RIGHT if column.to_right else column.align or LEFT,
    )


def paint_link(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw text in the accent colour."""
    ink.text(painter, room, cell.column.display(cell.record), cell, role="accent", kind="table")


def paint_door(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw text that stands out where the person is."""
    role = "accent" if cell.current or cell.ticked else cell.column.role_of(cell.record)
    ink.text(painter, room, cell.column.display(cell.record), cell, role=role, kind="table")


def _glyph(painter: QPainter, room: QRect, pixmap: QPixmap, size: int = GLYPH) -> None:
    painter.drawPixmap(QPointF(room.x(), room.y() + (room.height() - size) / 2), pixmap)


def paint_glyph(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw the glyph of a status alone, in the middle, nothing for None; its word is the tool tip."""
    value = cell.column.value(cell.record)
    if value is None:
        return
    token = design.status(str(value))
    pixmap = ink.pixmap(token.glyph, token.role, GLYPH, cell)
    _glyph(painter, room.adjusted((room.width() - GLYPH) // 2, 0, 0, 0), pixmap)


def paint_status(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw glyph and word of a status."""
    token = design.status(str(cell.column.value(cell.record)))
    _glyph(painter, room, ink.pixmap(token.glyph, token.role, GLYPH, cell))
    rest = room.adjusted(GLYPH + GLYPH_GAP, 0, 0, 0)
    ink.text(painter, rest, cell.words(), cell, role=token.role, kind="table")


def paint_lane(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw glyph and word of a lane; its colour is for the glyph only."""
    token = design.LANES.get(str(cell.column.value(cell.record)))
    rest = room
    if token is not None:
        _glyph(painter, room, ink.pixmap(token.glyph, token.role, 13, cell), 13)
        rest = room.adjusted(13 + GLYPH_GAP - 2, 0, 0, 0)
    ink.text(painter, rest, cell.words(), cell, role="text2", kind="table")


def paint_badge(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw the text badge of a platform."""
    text = cell.words()
    if not text:
        return
    width = min(room.width(), ink.width(text, "badge") + 11)
    box = QRectF(room.x(), room.y() + (room.height() - 17) / 2, width + 1, 17)
    draw_box(painter, box, 3, theme().color("line2"), theme().color("raised"))
    ink.text(painter, box.adjusted(0.5, 0.5, -0.5, -0.5).toRect(), text, cell, role="text2", kind="badge", align=CENTRE)


def paint_attempts(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw a pip for each allowed attempt, the used ones filled, and the fraction in words."""
    value = cell.column.value(cell.record)
    if not isinstance(value, Attempts):
        return
    pips = min(max(value.limit, 1), 5)
    used = min(pips, value.used if value.limit <= pips else round(value.used * pips / value.limit))
    top = room.y() + (room.height() - PIP_HEIGHT) // 2
    for number in range(pips):
        role = value.role if number < used else "line2"
        left = room.x() + number * (PIP_WIDTH + PIP_GAP)
        fill = theme().color("text3" if cell.dimmed and number < used else role)
        draw_box(painter, QRect(left, top, PIP_WIDTH, PIP_HEIGHT), 1, None, fill)
    rest = room.adjusted(pips * (PIP_WIDTH + PIP_GAP) + 4, 0, 0, 0)
    ink.text(painter, rest, str(value), cell, role="text2", kind="table")


def paint_progress(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw a bar and its share while something runs, else the reason in words."""
    value = cell.column.value(cell.record)
    if not isinstance(value, Progress):
        return
    if value.share is None:
        # the reason stays whole as long as it fits: when it starts stands in the tool tip and in the panel, too
        words = shorter(value.text, lambda some: ink.width(some, "table") <= room.width())
        ink.text(painter, room, words, cell, role=value.role, kind="table")
        return
    width = min(BAR_WIDTH, room.width())
    share = min(1.0, max(0.0, value.share))
    bar = QRectF(room.x(), room.y() + (room.height() - BAR_HEIGHT) / 2, width, BAR_HEIGHT)
    painter.setPen(_NO_PEN)
    painter.setBrush(theme().color("line2"))
    painter.drawRoundedRect(bar, 2, 2)
    painter.setBrush(ink.colour("running", cell))
    painter.drawRoundedRect(QRectF(bar.x(), bar.y(), width * share, BAR_HEIGHT), 2, 2)
    rest = room.adjusted(BAR_WIDTH + 7, 0, 0, 0)
    ink.text(painter, rest, value.text, cell, role="text2", kind="table")


def paint_tick(painter: QPainter, room: QRect, cell: Cell, ink: Ink) -> None:
    """Draw a check box."""
    paint_box(painter, room, Qt.CheckState.Checked if cell.ticked else Qt.CheckState.Unchecked)


def paint_box(painter: QPainter, room: QRect, state: Qt.CheckState) -> None:
    """Draw a check box of 14 px in the middle of `room`."""
    side = 14
    box = QRect(room.x() + (room.width() - side) // 2, room.y() + (room.height() - side) // 2, side, side)
    on = state != Qt.CheckState.Unchecked
    edge, fill = theme().color("accentbg" if on else "ctl"), theme().color("accentbg" if on else "input")
    draw_box(painter, box, design.RADIUS_CHECK, edge, fill)
    if on:
        name = "ph.check-bold" if state == Qt.CheckState.Checked else "ph.minus-bold"
        pixmap = theme().pixmap(name, "white", 10)
        painter.drawPixmap(QPointF(box.x() + 2, box.y() + 2), pixmap)


#: kinds without words
PICTURES: set[str] = set()
_PAINTERS: dict[str, Painter] = {
    "text": paint_text,
    "strong": paint_text,
    "number": paint_text,
    "mono": paint_text,
    "link": paint_link,
    "door": paint_door,
    "glyph": paint_glyph,
    "status": paint_status,
    "lane": paint_lane,
    "badge": paint_badge,
    "attempts": paint_attempts,
    "progress": paint_progress,
    "tick": paint_tick,
}


def register(kind: str, painter: Painter, *, picture: bool = False) -> None:
    """Add a kind of cell; a ``picture`` has no words that a narrow column would cut."""
    _PAINTERS[kind] = painter
    if picture:
        PICTURES.add(kind)


def painter_of(kind: str) -> Painter:
    """Return the function for `kind`; an unknown one is drawn as text."""
    return _PAINTERS.get(kind, paint_text)


def is_own(kind: str) -> bool:
    """Tell whether `kind` is drawn by this module, which leaves the painter as it found it."""
    return kind in _OWN


_OWN = frozenset(_PAINTERS)
