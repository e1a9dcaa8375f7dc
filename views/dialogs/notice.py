"""Notes in a dialog: what stands in the way, with verbs that deal with it; and what was just done."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from services.i18n import N_, _
from views.support import safe
from views.support.look import Label
from views.support.throttle import Debounce
from views.theme import theme
from views.theme.tokens import RADIUS_CARD, status
from views.widgets.buttons import Button
from views.widgets.flow_row import FlowRow
from views.widgets.layout import in_column
from views.widgets.strip import Strip

DONE_MS = 10_000


def dropped(number: int, taken: str) -> str:
    """What there is to tell of so many files that were dropped at once, of which one was taken; "" for nothing."""
    if number < 2:
        return ""
    name = safe.one_line(taken, 60)
    return _("Of {n} files only {file} was taken: drop one at a time").format(n=number, file=name)


class Notice(QWidget):
    """A framed note in the tint of a status, hidden while it has nothing to say."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._token = status(name)
        self._lead = Label("", "strong", wrap=True)
        self._text = Label("", "label", "text2", wrap=True)
        self._links = FlowRow(across=14)
        column = in_column(self._lead, self._text, self._links, owner=self, margins=(34, 9, 10, 9), spacing=3)
        self._column = column
        self.hide()
        theme().changed.connect(self.update)

    def set_status(self, name: str) -> None:
        """Change glyph and tint."""
        self._token = status(name)
        self.update()

    def add_links(self, *links: QWidget) -> None:
        """Put verbs below the text."""
        for link in links:
            self._links.addWidget(link)

    def add_field(self, field: QWidget) -> None:
        """Put an input below the verbs."""
        self._column.addWidget(field)

    def show_words(self, lead: str, words: str) -> None:
        """Show already translated texts; an empty lead hides the note."""
        self._lead.setText(safe.visible(lead, keep_newlines=True))
        self._text.setText(words)
        self._text.setVisible(bool(words))
        self.setAccessibleName(f"{lead} {words}".strip())
        self.setVisible(bool(lead))

    def lead(self) -> str:
        """The bold line shown."""
        return self._lead.text()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw ground, edge and glyph."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().tint(self._token.role, 45))
        painter.setBrush(theme().tint(self._token.role, 10))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)
        painter.drawPixmap(11, 10, theme().pixmap(self._token.glyph, self._token.role, 15))


class DoneStrip(Strip):
    """What was done in a dialog, told for a while where it was done: messages of the window lie behind the dialog."""

    def __init__(self) -> None:
        super().__init__("healthy")
        self.undo = Button(N_("Undo"), small=True)
        self.undo.clicked.connect(self._on_undo)
        self.add_action(self.undo)
        self._undo: Callable[[], None] | None = None
        self._over = Debounce(self.hide, DONE_MS, self)
        self.hide()

    def tell(self, words: str, undo: Callable[[], None] | None = None) -> None:
        """Show a sentence, and Undo where something takes that back."""
        self._undo = undo
        self.undo.setVisible(undo is not None)
        self.show_text(words)
        self._over()

    def take_back(self, words: str) -> None:
        """Say this no longer, if it stands still."""
        if words and words == self.accessibleName():
            self.hide()

    def _on_undo(self) -> None:
        undo, self._undo = self._undo, None
        self.hide()
        if undo is not None:
            undo()
