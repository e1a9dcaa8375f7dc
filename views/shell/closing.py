"""What a window says from the moment it is to go until what was asked for in it is done."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from services.i18n import _
from views.dialogs.frame import Scrim
from views.theme import theme
from views.theme.tokens import RADIUS_CARD

_PAD, _GAP = 24, 6
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


class Closing(Scrim):
    """Over the whole window, which takes no clicks and keys any more."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._lines = (("panel", "text", _("Closing…")), ("body", "text2", _("What was asked for is done first.")))
        self.setAccessibleName(" ".join(words for _kind, _role, words in self._lines))
        window.setEnabled(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the words in the middle."""
        super().paintEvent(event)
        sizes = [QFontMetrics(theme().font(kind)).size(0, words) for kind, _role, words in self._lines]
        width = max(size.width() for size in sizes) + 2 * _PAD
        height = sum(size.height() for size in sizes) + _GAP + 2 * _PAD
        box = QRect(0, 0, width, height)
        box.moveCenter(self.rect().center())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("line2"))
        painter.setBrush(theme().color("surface"))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        top = box.top() + _PAD
        for (kind, role, words), size in zip(self._lines, sizes, strict=True):
            painter.setFont(theme().font(kind))
            painter.setPen(theme().color(role))
            painter.drawText(QRect(box.left(), top, width, size.height()), _CENTRE, words)
            top += size.height() + _GAP
