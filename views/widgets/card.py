"""A card: a panel with a title, a note beside it, room for actions, and a body."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from services.i18n import _
from views.support import elide, safe
from views.support.language import on_language_changed
from views.support.look import Label, line
from views.theme.tokens import CARD_PADDING
from views.widgets.elided import Elided

#: so wide may a name be in a title, beside what else the head has
NAME_COLUMNS = 32


class Card(QFrame):
    """A card; add content to ``body``, actions with ``add_action``."""

    def __init__(
        self, title: str = "", *, divided: bool = False, padding: int = CARD_PADDING, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._source, self._tip = title, ""
        self.setProperty("panel", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self._head = QWidget()
        self._head.setFixedHeight(36)
        self._row = QHBoxLayout(self._head)
        self._row.setContentsMargins(CARD_PADDING, 0, CARD_PADDING, 0)
        self._row.setSpacing(8)
        self._title, self._head_note = Label("", "card"), Elided("", "label", "text3")
        self._row.addWidget(self._title)
        self._row.addWidget(self._head_note)
        self._row.addStretch(1)
        column.addWidget(self._head)
        if divided:
            column.addWidget(line())
        self.body = QVBoxLayout()
        top = padding if divided or not title else 0
        self.body.setContentsMargins(padding, top, padding, padding)
        self.body.setSpacing(8)
        column.addLayout(self.body, 1)
        self._head.setVisible(bool(title))
        self.retranslate()
        on_language_changed(self.retranslate)

    def set_title(self, title: str) -> None:
        """Change the title; `title` is source text."""
        self._source = title
        self._head.setVisible(bool(title))
        self.retranslate()

    def show_name(self, name: str) -> None:
        """Show the name of what the card is about, which is the same in every language."""
        self._source = ""
        self._head.show()
        shown = safe.one_line(name, 80)
        self._title.setText(elide.middle(shown, NAME_COLUMNS))
        self._title.setToolTip(safe.tooltip(name) if self._title.text() != shown else "")

    def set_tip(self, tip: str) -> None:
        """Say more about the title in its tooltip; source text."""
        self._tip = tip
        self.retranslate()

    def set_note(self, note: str) -> None:
        """Show a short note beside the title, already translated."""
        self._head_note.show_text(note)

    def add_beside_title(self, widget: QWidget) -> None:
        """Put a glyph or count right after the title."""
        self._row.insertWidget(1, widget)

    def add_before_title(self, widget: QWidget) -> None:
        """Put a glyph before the title."""
        self._row.insertWidget(0, widget)

    def add_action(self, widget: QWidget) -> None:
        """Put a button or legend at the right end of the head."""
        self._row.addWidget(widget)

    def retranslate(self) -> None:
        """Say the title again."""
        self._title.setText(_(self._source) if self._source else "")
        self._title.setToolTip(_(self._tip) if self._tip else "")
        self.setAccessibleName(self._title.text())
