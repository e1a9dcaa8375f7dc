"""The picture of all cells at once: one small drawing for each state, copied into place by numpy."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from views.theme import theme
from views.theme.tokens import RADIUS_CELL
from views.widgets.heat_layout import GLYPHS_FROM, Kinds, Layout, Rows, kinds

Pixels = npt.NDArray[np.uint32]

#: state: fill, glyph, ink of the glyph
LOOKS = {
    "dead": ("deadfill", "ph.x-bold", "onfill"),
    "stuck": ("stuckfill", "ph.hourglass-medium-fill", "onfill"),
    "retrying": ("retryfill", "ph.arrow-clockwise-bold", "onretry"),
    "running": ("", "ph.play-fill", "running"),
    "healthy": ("okcell", "", ""),
    "idle": ("surface", "", ""),
    "paused": ("hover", "ph.pause-fill", "text2"),
}
_EDGED = frozenset({"idle", "paused"})
_DIM = 0.22


def fill_of(state: str) -> QColor:
    """The ground of a cell."""
    if state == "running":
        return theme().tint("running", 32 if theme().is_dark else 24)
    return theme().color(LOOKS[state][0])


def paint_cell(painter: QPainter, rect: QRectF, state: str, under: str = "") -> None:
    """Draw one cell, as in the map and in its legend."""
    side = rect.width()
    radius = min(RADIUS_CELL, side / 5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(fill_of(state))
    if state in _EDGED:
        painter.setPen(QPen(theme().color("line2"), 1))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(rect, radius, radius)
    _glyph, name, ink = LOOKS[state]
    if name and side >= GLYPHS_FROM - 2:
        size = round(side * (0.62 if side > GLYPHS_FROM else 0.68))
        pixmap = theme().pixmap(name, ink, size, painter.device().devicePixelRatioF())
        painter.drawPixmap(QPointF(rect.center().x() - size / 2, rect.center().y() - size / 2), pixmap)
    if under:
        dot = max(2.0, side / 7)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill_of(under))
        painter.drawEllipse(QPointF(rect.right() - dot - 1, rect.bottom() - dot - 1), dot, dot)


class Atlas:
    """A drawing of each kind of cell at one size, plain and dimmed."""

    def __init__(self, cell: float, pitch: float, ratio: float) -> None:
        self.key = (cell, pitch, ratio, theme().tokens)
        self.side = round(pitch * ratio)
        looks = kinds()
        self.count = len(looks)
        self._tiles: Pixels = np.zeros((2 * len(looks), self.side, self.side), np.uint32)
        for number, (state, under) in enumerate(looks):
            if state:
                self._tiles[number] = self._draw(state, under, cell, ratio, 1.0)
                self._tiles[number + self.count] = self._draw(state, under, cell, ratio, _DIM)

    def _draw(self, state: str, under: str, cell: float, ratio: float, opacity: float) -> Pixels:
        image = QImage(QSize(self.side, self.side), QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setOpacity(opacity)
        paint_cell(painter, QRectF(0, 0, cell, cell), state, under)
        painter.end()
        flat = np.frombuffer(image.constBits(), np.uint32)
        return flat.reshape(self.side, image.bytesPerLine() // 4)[:, : self.side].copy()

    def picture(
        self, rows: Rows, layout: Layout, width: float, dimmed: npt.NDArray[np.bool_] | None, ratio: float
    ) -> Layer:
        """All cells of a layout."""
        wide, tall = max(1, math.ceil(width * ratio)), max(1, math.ceil(layout.height * ratio))
        canvas: Pixels = np.zeros((tall, wide), np.uint32)
        numbers = rows.kinds if dimmed is None else rows.kinds + dimmed.astype(np.uint8) * np.uint8(self.count)
        for block in layout.blocks:
            if not block.rows:
                continue
            part = numbers[block.group.first : block.group.first + block.group.count]
            left, top = round(block.x * ratio), round(block.cells_y * ratio)
            self._copy(canvas[top:, left:], part, block.columns, block.rows)
        return Layer(canvas, ratio)

    def _copy(self, canvas: Pixels, numbers: Kinds, columns: int, rows: int) -> None:
        side = self.side
        grid = np.zeros(columns * rows, np.uint8)
        grid[: len(numbers)] = numbers
        tiles = self._tiles[grid].reshape(rows, columns, side, side).swapaxes(1, 2)
        block = tiles.reshape(rows * side, columns * side)
        tall, wide = min(len(canvas), len(block)), min(canvas.shape[1], block.shape[1])
        canvas[:tall, :wide] = block[:tall, :wide]


class Layer:
    """The finished picture; keeps the pixels that the image only borrows."""

    def __init__(self, canvas: Pixels, ratio: float) -> None:
        self._canvas = canvas
        tall, wide = canvas.shape
        self.image = QImage(canvas.data, wide, tall, wide * 4, QImage.Format.Format_ARGB32_Premultiplied)
        self.image.setDevicePixelRatio(ratio)
