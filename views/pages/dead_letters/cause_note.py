"""A name and a note for a cause."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from services.domain.insight.cause_rule import MAX_NAME, MAX_NOTE
from services.i18n import N_, _
from views.dialogs.frame import DialogFrame
from views.support.look import Label

WIDTH, NOTE_HEIGHT = 460, 110


class CauseNote(DialogFrame):
    """Signals:
    saved: name and note.
    """

    saved = Signal(str, str)

    def __init__(self, kind: str, name: str, note: str, parent: QWidget | None = None) -> None:
        """`kind` is what the cause is called without a name of its own."""
        super().__init__(N_("Name and note"), icon="ph.note-pencil", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFixedWidth(WIDTH)
        self.name, self.note = QLineEdit(name), QPlainTextEdit(note)
        self.name.setMaxLength(MAX_NAME)
        self.name.setPlaceholderText(kind)
        self.name.setAccessibleName(_("Name"))
        self.note.setFixedHeight(NOTE_HEIGHT)
        self.note.setTabChangesFocus(True)
        self.note.setAccessibleName(_("Note"))
        self.note.setPlaceholderText(_("What was found out, who works on it, what helps"))
        parts: tuple[tuple[str, QWidget], ...] = ((_("Name"), self.name), (_("Note"), self.note))
        for title, field in parts:
            self.body.addWidget(Label(title, "label", "text2"))
            self.body.addWidget(field)
        self.cancel, self.save = self.end_with_save(self._on_save, shortcut="Ctrl+Return")
        self.note.textChanged.connect(self._check)
        self.name.setFocus()

    def _check(self) -> None:
        over = len(self.note.toPlainText()) - MAX_NOTE
        self.save.disable(_("The note is {n} characters too long").format(n=over) if over > 0 else "")

    def _on_save(self) -> None:
        self.accept()
        self.saved.emit(self.name.text(), self.note.toPlainText())
