"""What people wrote about a letter, and a line to write more."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from services.domain.task.remarks import NOTE_LIMIT
from services.i18n import N_, _
from services.monitor.tasks import TaskDetail
from views.support import instant, shown, text
from views.support.language import on_language_changed
from views.widgets.buttons import Button
from views.widgets.key_values import KeyValues
from views.widgets.section import Section


class NotesSection(Section):
    """Shows the notes of one letter; what is typed waits for its letter to be shown again.

    Signals:
        note_wanted: id of the letter, and the text that shall be kept.
    """

    note_wanted = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(N_("Notes"), parent=parent)
        self.rows = KeyValues()
        self._barred = self._task_id = ""
        self._drafts: dict[str, str] = {}
        self.line = QLineEdit()
        self.line.setMaxLength(NOTE_LIMIT)
        self.line.returnPressed.connect(self._ask)
        self.line.textChanged.connect(self._allow)
        self.button = Button(N_("Add note"))
        self.button.clicked.connect(self._ask)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        self.body.addWidget(self.rows)
        self.body.addLayout(row)
        on_language_changed(self._name)
        self._name()

    def show_notes(self, detail: TaskDetail) -> None:
        """The notes of this letter, the oldest first; before them what was said when it was put aside."""
        task = detail.task
        if task.task_id != self._task_id:
            self._drafts[self._task_id] = self.line.text()
            self._task_id = task.task_id
            self.line.setText(self._drafts.pop(task.task_id, ""))
        said = [(_("Put aside"), task.triage_note)] if task.triage_note else []
        now = instant.now_ms()
        said += [(f"{shown.clock(note.at, now)} {note.who}", note.text) for note in detail.notes]
        self.rows.set_rows(said)
        self.rows.setVisible(bool(said))
        self.set_note(text.count(len(said)) if said else "")

    def bar(self, reason: str) -> None:
        """Nobody may write, with the reason; an empty one allows it again."""
        self._barred = reason
        self._allow()

    def _ask(self) -> None:
        words = self.line.text().strip()
        if words and not self._barred:
            self.note_wanted.emit(self._task_id, words)

    def kept(self, task_id: str) -> None:
        """The note to this letter is there: its line is free again."""
        self._drafts.pop(task_id, None)
        if task_id == self._task_id:
            self.line.clear()

    def _allow(self) -> None:
        empty = "" if self.line.text().strip() else _("Write something first.")
        self.line.setEnabled(not self._barred)
        self.button.disable(self._barred or empty)

    def _name(self) -> None:
        self.line.setPlaceholderText(_("What whoever looks next should know"))
        self.line.setAccessibleName(_("Note"))
        self._allow()
