"""The text field of a filter, with its glass and the key that brings the cursor there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from views.support.keymap import keymap
from views.support.keys import Shortcut
from views.theme import theme
from views.widgets.buttons import paint_chip, shortcut_text
from views.widgets.fields import ClearAction

_GLASS, _KEY = 20, 20  #: room for the glass, and at least for the key, px
_AROUND_KEY = 16  #: of its chip, px


class SearchField(QLineEdit):
    """The text field with the chip of its key, which brings the cursor here from anywhere in the window.

    Signals:
        emptied_again: Backspace in the empty field.
    """

    emptied_again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        ClearAction(self)
        self._restyle()
        self._make_room()
        self.textChanged.connect(self._make_room)
        theme().changed.connect(self._restyle)
        keymap().changed.connect(self._make_room)
        Shortcut("window.filter", self, self.begin)

    def begin(self) -> None:
        """Put the cursor here; what is typed next takes the place of what stands here."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def _restyle(self) -> None:
        self.setFont(theme().font("label"))

    def _make_room(self) -> None:
        """Keep words clear of the glass, and of the key where it is drawn."""
        key = self._key()
        width = QFontMetrics(theme().font("caption")).horizontalAdvance(key) + _AROUND_KEY
        self.setTextMargins(_GLASS, 0, max(_KEY, width) if key else 0, 0)
        self.update()

    def _key(self) -> str:
        """The key as it is drawn, "" where it is not."""
        return shortcut_text("window.filter") if not self.text() and not self.hasFocus() else ""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The key is not drawn where the cursor is."""
        super().focusInEvent(event)
        self._make_room()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Nor are words drawn below the key."""
        super().focusOutEvent(event)
        self._make_room()

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
        if key := self._key():
            paint_chip(painter, self.width() - 6, self.rect(), key, on_fill=False, enabled=self.isEnabled())
