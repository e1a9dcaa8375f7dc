"""A label of one line that ends in an ellipsis where there is no room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from views.support import safe
from views.support.look import Label

FEW = 4


class Elided(Label):
    """Foreign text, made visible; the whole of it is the tool tip. ``middle`` cuts there, for ids."""

    def __init__(self, text: str = "", kind: str = "body", tone: str = "text", *, middle: bool = False) -> None:
        super().__init__("", kind, tone)
        self._where = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        self._short = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.show_text(text)

    def show_text(self, text: str, short: str = "") -> None:
        """Show another text; ``short``: what is said in its place where the whole has no room."""
        self._short = safe.one_line(short)
        shown = safe.one_line(text)
        if shown != self.text():
            self.setText(shown)
            self.setToolTip(safe.tooltip(text))

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw as much as there is room for."""
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(self.foregroundRole()))
        room = self.contentsRect()
        metrics = QFontMetrics(self.font())
        whole = not self._short or metrics.horizontalAdvance(self.text()) <= room.width()
        if not whole and room.width() < metrics.horizontalAdvance(f"{self._short[:FEW]}…"):
            return  # two letters and dots say nothing
        text = metrics.elidedText(self.text() if whole else self._short, self._where, room.width())
        painter.drawText(room, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), text)
