"""A strip across a page: an error with its cause and Retry, a warning, an explanation. Never modal."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from services.i18n import N_
from views.support import safe
from views.support.look import Label
from views.theme import theme
from views.theme.tokens import RADIUS_CARD, status
from views.widgets.buttons import Button
from views.widgets.layout import STRETCH, in_column, in_row, put

#: pixels above the first line and below the last one, within the margins of the row
_AIR = 6


class Strip(QWidget):
    """Glyph, bold lead, sentence and buttons in the tint of a status; the glyph stands at the first line."""

    def __init__(
        self,
        name: str = "warning",
        *,
        glyph: str = "",
        stacked: bool = False,
        lines: int = 1,
        parent: QWidget | None = None,
    ) -> None:
        """``stacked``: the sentence stands below its lead, not beside it. ``lines``: room that is kept, so that what
        stands below does not move while a sentence becomes longer and shorter.
        """
        super().__init__(parent)
        token = status(name)
        self._role, self._glyph_name = token.role, glyph or token.glyph
        self._lines = lines
        self._glyph = QLabel()
        self._lead = Label("", "strong", wrap=stacked)
        self._text = Label("", "body", wrap=True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)  # at the line of its lead
        outer = QVBoxLayout(self)  # in the middle of the room that is kept, or given
        outer.setContentsMargins(14, 5, 10, 5)
        outer.setSpacing(0)
        self._row = in_row((self._glyph, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        self._stacked = stacked
        self._words = in_column(margins=(0, _AIR, 0, _AIR), spacing=2)
        if stacked:
            self._words.addWidget(self._lead)
            self._words.addWidget(self._text)
        else:
            self._words.addLayout(in_row((self._lead, 0, Qt.AlignmentFlag.AlignTop), (self._text, 1), spacing=8))
        self._row.addLayout(self._words, 1)
        put(outer, STRETCH, self._row, STRETCH)
        theme().changed.connect(self._restyle)
        self._restyle()

    def set_status(self, name: str, glyph: str = "") -> None:
        """Change glyph and tint."""
        token = status(name)
        self._role, self._glyph_name = token.role, glyph or token.glyph
        self._restyle()

    def show_text(self, text: str, lead: str = "") -> None:
        """Show a sentence, already translated, with an optional bold lead; none hides the strip."""
        self._lead.setText(lead)
        self._lead.setVisible(bool(lead))
        self._text.setText(text)
        self._text.setVisible(bool(text) or not self._stacked)
        self.setAccessibleName(f"{lead} {text}".strip())
        self.setVisible(bool(text or lead))

    def add_action(self, widget: QWidget) -> None:
        """Put a button at the right end."""
        self._row.addWidget(widget)

    def add_below(self, widget: QWidget) -> None:
        """Put more about it below the sentence."""
        self._words.addWidget(widget)

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().pixmap(self._glyph_name, self._role, 16))
        tall = self._text.fontMetrics().height()
        self._glyph.setFixedHeight(tall + 2 * _AIR)
        self.setMinimumHeight(max(40, self._lines * tall + 2 * _AIR + 10))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().tint(self._role, 45))
        painter.setBrush(theme().tint(self._role, 10))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)


class ErrorStrip(Strip):
    """An error in its place: cause, Retry, Copy details.

    Signals:
        retry: the person wants another try.
    """

    retry = Signal()

    def __init__(self) -> None:
        super().__init__("dead")
        self._details = ""
        self.retry_button = Button(N_("Retry"), icon="ph.arrow-clockwise", small=True)
        self.copy_button = Button(N_("Copy details"), kind="ghost", icon="ph.copy", small=True)
        self.retry_button.clicked.connect(self.retry)
        self.copy_button.clicked.connect(self._on_copy)
        self.add_action(self.copy_button)
        self.add_action(self.retry_button)
        self.hide()

    def show_error(self, cause: str, details: str = "", lead: str = "") -> None:
        """Show what went wrong in one sentence; `details` go to the clipboard on request."""
        self._details = details or cause
        self.show_text(safe.one_line(cause), lead)

    def clear(self) -> None:
        """Hide after a success."""
        self.hide()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details)
