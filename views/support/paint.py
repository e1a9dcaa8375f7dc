"""Painting helpers shared by small widgets."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainter


def draw_line(painter: QPainter, room: QRect | QRectF, text: str, *, right: bool = False) -> None:
    """Draw one line of text in the middle of `room`, on the baseline of the painter's own font.

    Centring by the height of the text would put Chinese words a pixel lower than their neighbours,
    since the line grows with the taller font that draws them.
    """
    metrics = painter.fontMetrics()
    x = room.x() + (room.width() - metrics.horizontalAdvance(text) if right else 0)
    y = room.y() + (room.height() + metrics.ascent() - metrics.descent()) / 2
    painter.drawText(QPointF(x, round(y)), text)
