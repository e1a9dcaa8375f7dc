"""Grey bars in the place of rows that are still on their way; shown only after 150 ms."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from services.i18n import _
from views.theme import theme

DELAY_MS = 150
_SHARES = (0.55, 0.8, 0.4, 0.7, 0.5)


class Skeleton(QWidget):
    """Rows of bars; ``begin`` shows them after a moment, ``end`` hides them at once."""

    def __init__(self, widths: tuple[int, ...] = (24, 120, 160, 60, 90, 90), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widths = widths
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self.show)
        self.setAccessibleName(_("Loading"))
        theme().changed.connect(self.update)
        self.hide()

    def begin(self) -> None:
        """Show the bars unless the answer comes within 150 ms."""
        if not self.isVisible():
            self._timer.start()

    def end(self) -> None:
        """Hide the bars."""
        self._timer.stop()
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars; nothing moves."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme().color("table"))
        height = theme().row_height
        for row in range(self.height() // height + 1):
            left, top = 12.0, row * height
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color("raised"))
            for number, width in enumerate(self._widths):
                share = _SHARES[(row + number) % len(_SHARES)] if number else 0.6
                painter.drawRoundedRect(QRectF(left, top + height / 2 - 4, width * share, 8), 4, 4)
                left += width + 12
            painter.fillRect(QRectF(0, top + height - 1, self.width(), 1), theme().color("line"))
