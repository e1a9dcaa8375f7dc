"""An empty place that says why it is empty and offers one way on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from services.i18n import _
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme import theme
from views.widgets.buttons import Button


class EmptyState(QWidget):
    """Glyph, reason, hint and one action.

    Signals:
        action: the button was pressed.
    """

    action = Signal()

    def __init__(
        self, text: str = "", hint: str = "", action: str = "", icon: str = "ph.tray", parent: QWidget | None = None
    ) -> None:
        """Take source texts; they follow the language."""
        super().__init__(parent)
        self._sources, self._action = (text, hint), action
        self._icon = icon
        self._glyph = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self._text = Label("", "strong", "text2", wrap=True)
        self._hint = Label("", "label", "text3", wrap=True)
        self._fact = Label("", "body", "text2", wrap=True)
        self._fact.hide()
        for label in (self._text, self._fact, self._hint):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button = Button(action)
        self.button.clicked.connect(self.action)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(8)
        column.addStretch(1)
        column.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignHCenter)
        # full width: with an alignment, a wrapped label would get its narrowest width and the height of one line
        for label in (self._text, self._fact, self._hint):
            column.addWidget(label)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.button.setVisible(bool(action))
        column.addStretch(1)
        self.retranslate()
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)

    def show_fact(self, words: str) -> None:
        """Say what is known of how it came to be empty, "" for nothing; ``words`` are already translated."""
        self._fact.setText(words)
        self._fact.setVisible(bool(words))

    def set_texts(self, text: str, hint: str = "", action: str = "", icon: str = "") -> None:
        """Give another reason; all are source texts."""
        if (text, hint, action, icon or self._icon) == (*self._sources, self._action, self._icon):
            return  # said with each answer
        self._sources, self._action = (text, hint), action
        self._icon = icon or self._icon
        self.button.set_source(action)
        self.button.setVisible(bool(action))
        self.retranslate()

    def retranslate(self) -> None:
        text, hint = (_(source) if source else "" for source in self._sources)
        self._text.setText(text)
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self.setAccessibleName(f"{text} {hint}".strip())
        self._restyle()

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().pixmap(self._icon, "text3", 32))
