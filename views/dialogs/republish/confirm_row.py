"""Above the limit the number must be typed; how it can be taken back stands beside it."""

from __future__ import annotations

from datetime import timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from services.i18n import _
from views.dialogs.confirm import typed_count
from views.dialogs.republish.runner import HOLD_S
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label


class ConfirmRow(QWidget):
    """Signals:
    changed: another text was typed.
    """

    changed = Signal()

    def __init__(self, environment: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._environment, self._wanted = environment, ""
        self._ask, self._hint = Label("", "body"), Label("", "label", "text3")
        self.field = QLineEdit()
        self.field.setFixedWidth(84)
        self.field.textChanged.connect(self._on_typed)
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 8, 20, 10)
        row.setSpacing(10)
        row.addWidget(self._ask)
        row.addWidget(self.field)
        row.addStretch(1)
        row.addWidget(self._hint)
        on_language_changed(self._say)
        self._say()

    def ask_for(self, number: int, *, always: bool = False) -> None:
        """Ask for this number where it is large, or ``always``: where work is done once more."""
        self._wanted = typed_count(number, self._environment) or (str(number) if always and number else "")
        self._say()

    def problem(self) -> str:
        """What is still to be typed, "" for nothing."""
        if not self._wanted or self.field.text().strip().replace(",", "") == self._wanted:
            return ""
        return _("Type {text} first").format(text=self._wanted)

    def _on_typed(self) -> None:
        self.changed.emit()

    def _say(self) -> None:
        for widget in (self._ask, self.field):
            widget.setVisible(bool(self._wanted))
        ask = _("Type {text} to go on").format(text=self._wanted)
        self._ask.setText(ask)
        self.field.setAccessibleName(ask)
        hint = _("Can be undone for {span}, then each task can be cancelled")
        self._hint.setText(hint.format(span=text.seconds(timedelta(seconds=HOLD_S))))
