"""The card beside the crosshair: time, how long ago, one line for each series, a total."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON

_PAD, _LINE, _SWATCH, _GAP, _AWAY = 10, 19, 9, 8, 14
#: of a card in a low chart: its text is 12 px
_LEAST_PAD, _LEAST_LINE = 5, 14
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class Reading(msgspec.Struct, frozen=True):
    """One line: what and how much, ``role`` colours the swatch, "" leaves it out."""

    label: str
    value: str
    role: str = ""


class Card(msgspec.Struct, frozen=True):
    """What stands in the card; ``total`` is set apart by a line."""

    title: str
    note: str
    readings: tuple[Reading, ...]
    total: Reading | None = None

    def sentence(self) -> str:
        """The card in one line, for screen readers."""
        parts = [f"{reading.label} {reading.value}" for reading in self.readings]
        if self.total is not None:
            parts.append(f"{self.total.label} {self.total.value}")
        title = f"{self.title} ({self.note})" if self.note else self.title
        return f"{title}: {', '.join(parts)}"


def paint_card(painter: QPainter, card: Card, room: QRectF, x: float) -> QRectF:
    """Draw the card in ``room`` beside ``x``, on the side with more space; return where it is."""
    pad, line = _room(card, room.height())
    width, height = _size(card, pad, line)
    left = x + _AWAY if x - room.left() < room.right() - x else x - _AWAY - width
    # In a narrow plot neither side may be wide enough.
    left = max(room.left() + 2, min(left, room.right() - width - 2))
    box = QRectF(round(left) + 0.5, room.top() + 0.5, width, height)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _shadow(painter, box)
    painter.setPen(theme().color("line2"))
    painter.setBrush(theme().color("raised"))
    painter.drawRoundedRect(box, RADIUS_BUTTON, RADIUS_BUTTON)
    _head(painter, card, box, pad, line)
    top = box.top() + pad + line + 3
    for reading in card.readings:
        _line(painter, reading, QRectF(box.left() + _PAD, top, width - 2 * _PAD, line))
        top += line
    if card.total is not None:
        painter.setPen(theme().color("line2"))
        painter.drawLine(QPointF(box.left() + _PAD, round(top) + 3.5), QPointF(box.right() - _PAD, round(top) + 3.5))
        _line(painter, card.total, QRectF(box.left() + _PAD, top + 7, width - 2 * _PAD, line))
    return box


def _room(card: Card, height: float) -> tuple[int, int]:
    """Its margin above and below, and the height of a line: less of both in a chart that is too low for the card."""
    lines = 1 + len(card.readings) + (card.total is not None)
    rules = 3 + (7 if card.total is not None else 0)
    if 2 * _PAD + rules + lines * _LINE <= height:
        return _PAD, _LINE
    return _LEAST_PAD, max(_LEAST_LINE, min(_LINE, int(height - 1 - 2 * _LEAST_PAD - rules) // lines))


def _size(card: Card, pad: int, line: int) -> tuple[float, float]:
    label, strong = (
        QFontMetrics(theme().font("label", tabular=True)),
        QFontMetrics(theme().font("labelstrong", tabular=True)),
    )
    lines: Sequence[Reading] = (*card.readings, *((card.total,) if card.total is not None else ()))
    widest = max((label.horizontalAdvance(one.label) + strong.horizontalAdvance(one.value) for one in lines), default=0)
    head = strong.horizontalAdvance(card.title) + label.horizontalAdvance(card.note) + 24
    width = max(head, widest + _SWATCH + _GAP + 28, 130) + 2 * _PAD
    height = 2 * pad + line + 3 + line * len(card.readings) + (line + 7 if card.total is not None else 0)
    return float(width), float(height)


def _head(painter: QPainter, card: Card, box: QRectF, pad: int, line: int) -> None:
    row = QRectF(box.left() + _PAD, box.top() + pad - 2, box.width() - 2 * _PAD, line)
    painter.setFont(theme().font("labelstrong", tabular=True))
    painter.setPen(theme().color("text"))
    painter.drawText(row, _LEFT, card.title)
    painter.setFont(theme().font("label", tabular=True))
    painter.setPen(theme().color("text3"))
    painter.drawText(row, _RIGHT, card.note)


def _line(painter: QPainter, reading: Reading, row: QRectF) -> None:
    if reading.role:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(reading.role))
        painter.drawRoundedRect(QRectF(row.left(), row.center().y() - _SWATCH / 2, _SWATCH, _SWATCH), 2, 2)
    painter.setFont(theme().font("label", tabular=True))
    painter.setPen(theme().color("text2"))
    painter.drawText(row.adjusted(_SWATCH + _GAP, 0, 0, 0), _LEFT, reading.label)
    painter.setFont(theme().font("labelstrong", tabular=True))
    painter.setPen(theme().color("text"))
    painter.drawText(row, _RIGHT, reading.value)


def _shadow(painter: QPainter, box: QRectF) -> None:
    colour = theme().color("shadow")
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(Qt.PenStyle.NoPen)
    for grow, alpha in ((5, 14), (3, 22), (1, 34)):
        tone = colour.lighter(100)
        tone.setAlpha(alpha)
        painter.setBrush(tone)
        painter.drawRoundedRect(
            box.adjusted(-grow, -grow + 3, grow, grow + 3), RADIUS_BUTTON + grow, RADIUS_BUTTON + grow
        )
    painter.setBrush(Qt.BrushStyle.NoBrush)
