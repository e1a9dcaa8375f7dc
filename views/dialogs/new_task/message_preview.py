"""The messages of a bulk, one at a time: as they will read, with arrows to the next."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from services.i18n import N_, _
from views.support import text
from views.support.look import Label
from views.theme import theme
from views.widgets.buttons import IconButton
from views.widgets.json.highlighter import JsonHighlighter

PREVIEW_LINES = 14


class MessagePreview(QWidget):
    """Signals:
    step_wanted: the message before (-1) or after (+1).
    """

    step_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._place = Label("", "label", "text2"), Label("", "label", "text3")
        self.before = IconButton("ph.caret-left", N_("Message before"))
        self.after = IconButton("ph.caret-right", N_("Message after"))
        self.before.clicked.connect(self._on_before)
        self.after.clicked.connect(self._on_after)
        self.code = _Code()
        head = QHBoxLayout()
        head.setSpacing(2)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._place)
        head.addSpacing(4)
        head.addWidget(self.before)
        head.addWidget(self.after)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.code)

    def show_message(self, words: str, at: int, number: int, *, dim: bool) -> None:
        """Show the text of message ``at`` (from 0) of ``number``."""
        self._title.setText(_("First message") if not at else _("Message"))
        self.code.setAccessibleName(_("First message") if not at else _("Message"))
        place = _("{at} of {n}").format(at=text.count(at + 1), n=text.count(number))
        self._place.setText(place if number else "")
        self.before.setEnabled(at > 0)
        self.after.setEnabled(at + 1 < number)
        self.code.setEnabled(not dim)
        if words != self.code.toPlainText():
            self.code.show_text(words)

    def _on_before(self) -> None:
        self.step_wanted.emit(-1)

    def _on_after(self) -> None:
        self.step_wanted.emit(1)


class _Code(QPlainTextEdit):
    """A small JSON text to be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("panel", "code")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(8)
        self._highlighter = JsonHighlighter(self.document())
        theme().changed.connect(self._restyle)
        self._restyle()

    def show_text(self, words: str) -> None:
        """Show a text in as much room as it needs."""
        self.setPlainText(words)
        lines = min(PREVIEW_LINES, self.blockCount())
        whole = lines == self.blockCount()
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if whole else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(policy)
        self.setFixedHeight(lines * (self.fontMetrics().lineSpacing() + 1) + 20)

    def _restyle(self) -> None:
        self.setFont(theme().font("monosmall"))
        self.document().setDefaultFont(theme().font("monosmall"))
