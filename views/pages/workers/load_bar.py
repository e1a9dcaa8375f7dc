"""A load as name, bar and value in one line: CPU 46 %."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from views.theme import theme

_NAME, _HEIGHT, _BAR = 34, 17, 4
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class LoadBar(QWidget):
    """`share` is 0 to 1, or None where nobody knows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._value = "", ""
        self._share: float | None = None
        self._high = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def show_load(self, name: str, value: str, share: float | None, *, high: bool = False, tip: str = "") -> None:
        """Show a load; the texts are already translated."""
        self._name, self._value, self._share, self._high = name, value, share, high
        self.setAccessibleName(f"{name} {value}")
        self.setToolTip(tip)
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room of one line."""
        return QSize(150, _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw name, bar and value."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme().font("caption")
        painter.setFont(font)
        painter.setPen(theme().color("text3"))
        painter.drawText(QRectF(0, 0, _NAME, self.height()), _LEFT, self._name)
        room = max(44, QFontMetrics(font).horizontalAdvance(self._value) + 2)
        painter.setPen(theme().color("retrying" if self._high else "text2"))
        painter.drawText(QRectF(self.width() - room, 0, room, self.height()), _RIGHT, self._value)
        bar = QRectF(_NAME, (self.height() - _BAR) / 2, self.width() - _NAME - room - 6, _BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("line2"))
        painter.drawRoundedRect(bar, 2, 2)
        if self._share:
            painter.setBrush(theme().color("retrying" if self._high else "text3"))
            bar.setWidth(bar.width() * min(1.0, max(0.0, self._share)))
            painter.drawRoundedRect(bar, 2, 2)
