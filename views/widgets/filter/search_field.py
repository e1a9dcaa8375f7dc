"""The text field of a filter, with its glass and the key that brings the cursor there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from views.theme import theme
from views.widgets.buttons import paint_chip


class SearchField(QLineEdit):
    """The text field with its ``/`` chip.

    Signals:
        emptied_again: Backspace in the empty field.
    """

    emptied_again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextMargins(20, 0, 0, 0)
        self._restyle()
        theme().changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.setFont(theme().font("label"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear by Esc; tell of Backspace in the empty field."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Backspace and not self.text():
            self.emptied_again.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the field, its glass, and the key that brings the cursor here."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(10, (self.height() - 14) // 2, theme().pixmap("ph.magnifying-glass", "text2", 14))
        if not self.text() and not self.hasFocus():
            paint_chip(painter, self.width() - 6, self.rect(), "/", on_fill=False, enabled=self.isEnabled())
