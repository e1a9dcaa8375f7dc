"""The picture of all cells at once: one small drawing for each state, copied into place by numpy."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from services.domain.gates import listed
from services.domain.insight.shop import STATES
from views.theme import theme
from views.theme.tokens import RADIUS_CELL
from views.widgets.heat_map.layout import GLYPHS_FROM, SIZES, Block, Kinds, Layout, Rows, kind_of, kinds
from views.widgets.heat_map.shades import BY_KEY, Shade

Pixels = npt.NDArray[np.uint32]
Dim = npt.NDArray[np.bool_]

#: state: fill, glyph, ink of the glyph
LOOKS = {
    "held": ("heldfill", "ph.question-bold", "onheld"),
    "login": ("loginfill", "ph.lock-simple-fill", "onfill"),
    "dead": ("deadfill", "ph.x-bold", "onfill"),
    "stuck": ("stuckfill", "ph.hourglass-medium-fill", "onfill"),
    "breaker": ("breakerfill", "ph.lightning-slash-fill", "onfill"),
    "unknown": ("unknownfill", "ph.eye-slash-fill", "onfill"),
    "retrying": ("retryfill", "ph.arrow-clockwise-bold", "onretry"),
    "running": ("", "ph.play-fill", "running"),
    "waiting": ("surface", "ph.dots-three-bold", "waiting"),
    "paused_type": ("hover", "ph.pause-circle-fill", "text2"),
    "healthy": ("okcell", "", ""),
    "idle": ("surface", "", ""),
    **{gate: ("hover", switch.cell, "text2") for gate, switch in listed.SWITCHES.items()},
}
_EDGED = frozenset({"waiting", "idle", "paused_type", *listed.SWITCHES})
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
    if state in BY_KEY:
        _paint_shade(painter, rect, BY_KEY[state], radius)
        return
    painter.setBrush(fill_of(state))
    if state in _EDGED:
        painter.setPen(QPen(theme().color("line2"), 1))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(rect, radius, radius)
    _glyph, name, ink = LOOKS[state]
    if name and side >= GLYPHS_FROM - 2:
        of_group = side > SIZES[0][1] + 1  # below its glyph stands a number; a pixel more at some scales is no group
        size = 16 if of_group else round(side * (0.62 if side > GLYPHS_FROM else 0.68))
        middle = rect.top() + side * 0.3 if of_group else rect.center().y()
        pixmap = theme().pixmap(name, ink, size, painter.device().devicePixelRatioF())
        painter.drawPixmap(QPointF(rect.center().x() - size / 2, middle - size / 2), pixmap)
    if under:
        dot = max(2.0, side / 7)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill_of(under))
        painter.drawEllipse(QPointF(rect.right() - dot - 1, rect.bottom() - dot - 1), dot, dot)


def _paint_shade(painter: QPainter, rect: QRectF, shade: Shade, radius: float) -> None:
    """A cell that is filled from below: higher is more."""
    whole = rect.adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setPen(QPen(theme().color("line2"), 1))
    painter.setBrush(theme().color("surface"))
    painter.drawRoundedRect(whole, radius, radius)
    if not shade.share:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().color(shade.role))
    height = max(2.0, whole.height() * shade.share)
    painter.drawRoundedRect(QRectF(whole.left(), whole.bottom() - height, whole.width(), height), radius, radius)


class Atlas:
    """A drawing of each kind of cell at one size, plain and dimmed, made when the first such cell is shown."""

    def __init__(self, cell: float, pitch: float, ratio: float) -> None:
        self.key = (cell, pitch, ratio, theme().tokens)
        self.side = round(pitch * ratio)
        self._cell, self._ratio, self._looks = cell, ratio, kinds()
        self.count = len(self._looks)
        self._tiles: Pixels = np.zeros((2 * self.count, self.side, self.side), np.uint32)
        self._missing = np.array([bool(state) for state, _under in self._looks] * 2)

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

    def tiles(self, numbers: Kinds) -> Pixels:
        """The drawings of some cells."""
        wanted = np.bincount(numbers, minlength=2 * self.count) > 0
        for number in np.flatnonzero(wanted & self._missing):
            state, under = self._looks[number % self.count]
            dimmed = _DIM if number >= self.count else 1.0
            self._tiles[number] = self._draw(state, under, self._cell, self._ratio, dimmed)
            self._missing[number] = False
        return self._tiles[numbers]

    def numbers(self, rows: Rows, lit: str, dim: Dim | None = None) -> Kinds:
        """Which drawing each cell gets; all but those in the state ``lit`` are dimmed, "" dims none, and so are those
        that ``dim`` names.
        """
        if not lit and dim is None:
            return rows.kinds
        out: Dim = np.zeros(len(rows.kinds), np.bool_) if dim is None else dim
        if lit:
            last = np.uint8(kind_of(STATES[-1], ""))  # behind it those that lie over others
            out = out | (np.minimum(rows.kinds, last) != kind_of(lit, ""))
        result: Kinds = rows.kinds + out.astype(np.uint8) * np.uint8(self.count)
        return result


class Layer:
    """The picture of all cells; keeps the pixels that its image only borrows, and changes single cells in them."""

    def __init__(self, atlas: Atlas, layout: Layout, width: float, ratio: float) -> None:
        self._atlas, self._side = atlas, atlas.side
        wide, tall = max(1, math.ceil(width * ratio)), max(1, math.ceil(layout.height * ratio))
        # One cell more on either side: the last gap may lie beyond the edge.
        self._canvas: Pixels = np.zeros((tall + self._side, wide + self._side), np.uint32)
        self._grids = [self._grid(block, ratio) for block in layout.blocks if block.rows]
        self._numbers: Kinds = np.zeros(0, np.uint8)
        stride = self._canvas.strides[0]
        self.image = QImage(self._canvas.data, wide, tall, stride, QImage.Format.Format_ARGB32_Premultiplied)
        self.image.setDevicePixelRatio(ratio)

    def _grid(self, block: Block, ratio: float) -> tuple[Block, Pixels]:
        """The pixels of a block as rows x columns of cells, without a copy."""
        side = self._side
        down, across = self._canvas.strides
        corner = self._canvas[round(block.cells_y * ratio) :, round(block.x * ratio) :]
        rows = min(block.rows, corner.shape[0] // side)
        columns = min(block.columns, corner.shape[1] // side)
        grid = as_strided(corner, (rows, columns, side, side), (down * side, across * side, down, across))
        return block, grid

    def show(self, numbers: Kinds) -> None:
        """Draw these cells; only those that changed are touched."""
        old, self._numbers = self._numbers, numbers.copy()
        for block, grid in self._grids:
            part = slice(block.group.first, block.group.first + block.group.count)
            fresh = numbers[part]
            changed = np.arange(len(fresh)) if len(old) != len(numbers) else np.flatnonzero(old[part] != fresh)
            if len(changed):
                down, across = np.divmod(changed, block.columns)
                grid[down, across] = self._atlas.tiles(fresh[changed])
