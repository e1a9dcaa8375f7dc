"""A dialog with what a person has typed in it is left by no slip of Esc."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit

from services.i18n import N_, _
from views.dialogs.confirm import ConfirmDialog, Question
from views.dialogs.frame import DialogFrame


class KeepsTyped(DialogFrame):
    """Left without saving, it asks first where that loses what was typed."""

    def is_typed(self) -> bool:
        """Whether a person has written something, wherever it stands; not while it is being saved."""
        lines = [one.text() for one in self.findChildren(QLineEdit) if one.isEnabled() and one.isModified()]
        texts = [one for one in self.findChildren(QPlainTextEdit) if one.isEnabled() and one.document().isModified()]
        return any(lines) or any(one.toPlainText() for one in texts)

    def reject(self) -> None:
        """Leave; what was typed is dropped after a question only."""
        if not self.is_typed():
            super().reject()
            return
        question = Question(
            title=N_("Discard what was typed?"),
            text=_("It was not saved."),
            verb=_("Discard"),
            danger=True,
            leave=N_("Go on editing"),
        )
        dialog = ConfirmDialog(question, self)
        dialog.confirmed.connect(partial(self.done, QDialog.DialogCode.Rejected))
        dialog.open()
