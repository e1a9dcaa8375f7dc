"""Asks for a name: of a new view, or a new name for an old one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services.i18n import _
from views.dialogs.typed import KeepsTyped
from views.support.language import say_in_language
from views.support.look import Label

WIDTH, LONGEST = 420, 60


class NameDialog(KeepsTyped):
    """Signals:
    named: the name, trimmed and never empty.
    """

    named = Signal(str)

    def __init__(
        self,
        title: str,
        name: str = "",
        note: str = "",
        parent: QWidget | None = None,
        *,
        why_not: Callable[[str], str] = lambda _name: "",
    ) -> None:
        """`title` is source text, `note` is shown below as it is; ``why_not``: why a name cannot be taken, translated,
        "" where it can.
        """
        super().__init__(title, icon="ph.bookmark-simple", parent=parent)
        self._why_not = why_not
        self.set_width(WIDTH)
        self.field = QLineEdit(name)
        self.field.setMaxLength(LONGEST)
        self.field.textChanged.connect(self._on_typed)
        self.field.returnPressed.connect(self._on_done)
        self.body.addWidget(self.field)
        if note:
            self.body.addWidget(Label(note, "label", "text3", wrap=True))
        self.cancel_button, self.done_button = self.end_with_save(self._on_done)
        say_in_language(self._say)
        self.field.setFocus()
        self.field.selectAll()

    def _say(self) -> None:
        self.field.setAccessibleName(_("Name"))
        self.field.setPlaceholderText(_("Name"))
        self._on_typed()

    def _on_typed(self) -> None:
        self.done_button.disable(self._wrong())

    def _wrong(self) -> str:
        name = self.field.text().strip()
        return self._why_not(name) if name else _("Type a name first")

    def _on_done(self) -> None:
        if not self._wrong():
            self.accept()
            self.named.emit(self.field.text().strip())
