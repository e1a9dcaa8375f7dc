"""The tiles side by side, in as few equal rows as their least width allows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from views.theme.tokens import CARD_GAP
from views.widgets.kpi_tile import HEIGHT, MIN_WIDTH


def columns_for(count: int, width: int, least: int = MIN_WIDTH, gap: int = CARD_GAP) -> int:
    """Tiles in each row: rows as even as possible, so that no tile stands alone."""
    fit = max(1, min(count, (width + gap) // (least + gap)))
    rows = -(-count // fit)
    return -(-count // rows)


class TileGrid(QWidget):
    """Lays out its tiles by hand: a grid layout would not wrap."""

    def __init__(self, tiles: Sequence[QWidget]) -> None:
        super().__init__()
        self._tiles = list(tiles)
        for tile in self._tiles:
            tile.setParent(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)

    def sizeHint(self) -> QSize:
        """Return the height of the present width."""
        return QSize(7 * MIN_WIDTH, self.height())

    def minimumSizeHint(self) -> QSize:
        """Return a width of two tiles."""
        return QSize(2 * MIN_WIDTH, HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the tiles."""
        super().resizeEvent(event)
        columns = columns_for(len(self._tiles), self.width())
        rows = -(-len(self._tiles) // columns)
        for place, tile in enumerate(self._tiles):
            row, column = divmod(place, columns)
            in_row = columns if row < rows - 1 else len(self._tiles) - columns * (rows - 1)
            left = round(column * (self.width() + CARD_GAP) / in_row)
            right = round((column + 1) * (self.width() + CARD_GAP) / in_row) - CARD_GAP
            tile.setGeometry(QRect(left, row * (HEIGHT + CARD_GAP), right - left, HEIGHT))
        self.setFixedHeight(rows * HEIGHT + (rows - 1) * CARD_GAP)
