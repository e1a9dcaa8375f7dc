"""A bar that shows how many go and how many are skipped for which reason."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from views.theme import theme

HEIGHT, GAP = 8, 2


class SharesBar(QWidget):
    """Pieces as ``(number, colour role)``; the words stand beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: tuple[tuple[int, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(120, HEIGHT)

    def show_pieces(self, pieces: Sequence[tuple[int, str]]) -> None:
        """Draw other pieces."""
        self._pieces = tuple(pieces)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the pieces side by side."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QPainterPath()
        ground.addRoundedRect(QRectF(self.rect()), HEIGHT / 2, HEIGHT / 2)
        painter.setClipPath(ground)
        painter.fillRect(self.rect(), theme().color("line2"))
        total, left = sum(number for number, _role in self._pieces), 0.0
        painter.setPen(Qt.PenStyle.NoPen)
        for number, role in self._pieces:
            if number:
                width = self.width() * number / total
                painter.fillRect(QRectF(left, 0, max(2.0, width - GAP), self.height()), theme().color(role))
                left += width
