"""A dialog with what a person has typed or chosen in it is left by no slip of Esc."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)

from services.i18n import N_, _
from views.dialogs.confirm import Question, confirm
from views.dialogs.frame import DialogFrame
from views.widgets.segmented import Segmented
from views.widgets.toggle import Toggle

_HAS_LINE = (QComboBox, QAbstractSpinBox)


class KeepsTyped(DialogFrame):
    """Left without saving, it asks first where that loses what was typed or chosen."""

    _as_seen: Mapping[QWidget, object] | None = None  #: what was chosen in it when a person saw it

    def is_typed(self) -> bool:
        """Whether a person has written or chosen something, wherever it stands; not while it is being saved."""
        lines = [one for one in self.findChildren(QLineEdit) if not isinstance(one.parentWidget(), _HAS_LINE)]
        texts = [one for one in self.findChildren(QPlainTextEdit) if one.isEnabled() and one.document().isModified()]
        typed = any(one.text() for one in lines if one.isEnabled() and one.isModified())
        return typed or any(one.toPlainText() for one in texts) or self._is_chosen()

    def begin_here(self) -> None:
        """What is chosen now was chosen by nobody."""
        self._as_seen = _choices(self)

    def showEvent(self, event: QShowEvent) -> None:
        """From now on it is a person who chooses."""
        super().showEvent(event)
        if self._as_seen is None:
            self.begin_here()

    def _is_chosen(self) -> bool:
        first = self._as_seen or {}
        return any(one.isEnabled() and value != first.get(one, value) for one, value in _choices(self).items())

    def reject(self) -> None:
        """Leave; what was typed is dropped after a question only."""
        if not self.is_typed():
            super().reject()
            return

        def question() -> Question:
            return Question(
                title=N_("Discard the changes?"),
                text=_("They were not saved."),
                verb=_("Discard"),
                danger=True,
                leave=N_("Go on editing"),
            )

        confirm(question, self, partial(self.done, QDialog.DialogCode.Rejected))


def _choices(form: QWidget) -> dict[QWidget, object]:
    return {one: value for one in form.findChildren(QWidget) if (value := _choice(one)) is not None}


def _choice(widget: QWidget) -> object:
    """What is chosen in it, None where nothing can be."""
    if isinstance(widget, QAbstractSpinBox):
        return widget.text()
    if isinstance(widget, QComboBox):
        return widget.currentText() if widget.isEditable() else widget.currentIndex()
    if isinstance(widget, Segmented):
        return widget.current()
    return widget.isChecked() if isinstance(widget, QCheckBox | QRadioButton | Toggle) else None
