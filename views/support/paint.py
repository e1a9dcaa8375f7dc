"""Painting helpers shared by small widgets. Shaping words and stroking a rounded edge take longest in a small picture;
both are the same each time, so words stay laid out, and an edge is filled between two outlines that are kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPainterPath, QStaticText, QTextLayout, QTransform

from services import i18n
from views.theme import theme
from views.theme.fonts import make_font

_KEPT_WORDS, _KEPT_OUTLINES = 2048, 256
_ONE_LINE = 1e6
_FIGURES = str.maketrans("123456789", "000000000")


class _Words(NamedTuple):
    """Words of one step of the type scale, laid out."""

    font: QFont
    drawn: QStaticText
    width: int
    ascent: float  #: of the line, which another font's letters make higher
    middle: float  #: how far below its middle the baseline of a line is


def static_text(text: str, font: QFont) -> QStaticText:
    """Plain text that is laid out once and painted again and again."""
    static = QStaticText(text)
    static.setTextFormat(Qt.TextFormat.PlainText)
    static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    static.prepare(QTransform(), font)
    return static


@lru_cache(maxsize=_KEPT_WORDS)
def _laid_out(text: str, kind: str, tabular: bool | None, chinese: bool, percent: int) -> _Words:
    font = make_font(kind, chinese=chinese, tabular=tabular, percent=percent)
    metrics = QFontMetrics(font)
    layout = QTextLayout(text, font)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(_ONE_LINE)
    ascent = line.ascent()
    layout.endLayout()
    return _Words(
        font,
        static_text(text, font),
        metrics.horizontalAdvance(text),
        ascent,
        (metrics.ascent() - metrics.descent()) / 2,
    )


def _words(text: str, kind: str, tabular: bool | None) -> _Words:
    return _laid_out(text, kind, tabular, i18n.is_chinese(), theme().text_size)


def shape(text: str) -> str:
    """What is the same of words that are as wide in figures of one width: of a count that goes on, most of the time."""
    return text.translate(_FIGURES)


def width_of(text: str, kind: str, *, tabular: bool | None = None) -> int:
    """How wide words are in one step of the type scale."""
    return _words(text, kind, tabular).width if text else 0


@lru_cache(maxsize=_KEPT_WORDS)
def _cut(text: str, kind: str, room: int, chinese: bool, percent: int) -> str:
    metrics = QFontMetrics(make_font(kind, chinese=chinese, percent=percent))
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)


def cut(text: str, kind: str, room: int) -> str:
    """As much of the words as there is room for, with an ellipsis where they end."""
    return text if width_of(text, kind) <= room else _cut(text, kind, room, i18n.is_chinese(), theme().text_size)


def write(
    painter: QPainter,
    room: QRect | QRectF,
    text: str,
    kind: str,
    ink: str | QColor,
    *,
    at: float = 0.0,
    tabular: bool | None = None,
) -> int:
    """Draw one line of text as ``draw_line`` does, in a step of the type scale and the colour of a role; how wide it
    is. ``at``: 0 at the left of the room, 0.5 in its middle, 1 at the right.
    """
    if not text:
        return 0
    words = _words(text, kind, tabular)
    painter.setFont(words.font)
    painter.setPen(theme().color(ink) if isinstance(ink, str) else ink)
    left = room.x() + at * (room.width() - words.width)
    base = round(room.y() + room.height() / 2 + words.middle)
    painter.drawStaticText(QPointF(left, base - words.ascent), words.drawn)
    return words.width


def draw_line(painter: QPainter, room: QRect | QRectF, text: str, *, right: bool = False) -> None:
    """Draw one line of text in the middle of `room`, on the baseline of the painter's own font.

    Centring by the height of the text would put Chinese words a pixel lower than their neighbours,
    since the line grows with the taller font that draws them.
    """
    metrics = painter.fontMetrics()
    x = room.x() + (room.width() - metrics.horizontalAdvance(text) if right else 0)
    y = room.y() + (room.height() + metrics.ascent() - metrics.descent()) / 2
    painter.drawText(QPointF(x, round(y)), text)


@lru_cache(maxsize=_KEPT_OUTLINES)
def outlines(width: float, height: float, radius: float, line: float) -> tuple[QPainterPath, QPainterPath]:
    """What a brush fills, up to the middle of the edge, and the edge; of a box without a place."""
    ground, edge, half = QPainterPath(), QPainterPath(), line / 2
    room = QRectF(0, 0, width, height)
    ground.addRoundedRect(room.adjusted(half, half, -half, -half), radius, radius)
    edge.addRoundedRect(room, radius + half, radius + half)
    edge.addRoundedRect(room.adjusted(line, line, -line, -line), max(0.0, radius - half), max(0.0, radius - half))
    return ground, edge  # filled by turns: what is within the edge is left out


def draw_box(
    painter: QPainter, box: QRect | QRectF, radius: float, edge: QColor | None, fill: QColor | None, line: float = 1.0
) -> None:
    """Draw a rounded box whose edge lies within `box`, as a pen along its middle would with this radius."""
    ground, ring = outlines(box.width(), box.height(), radius, line if edge is not None else 0.0)
    painter.translate(box.x(), box.y())
    if fill is not None:
        painter.fillPath(ground, fill)
    if edge is not None:
        painter.fillPath(ring, edge)
    painter.translate(-box.x(), -box.y())


def draw_focus(painter: QPainter, box: QRect | QRectF, radius: float = 4, *, keys: bool = True) -> None:
    """Show within `box` what the keys are for; not ``keys``: what the mouse is on, by a ring of the same shape."""
    smooth = painter.testRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_box(painter, box, radius, theme().color("focus" if keys else "text"), None, 2)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth)
