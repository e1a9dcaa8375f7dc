"""Tasks from a file: choose it; what its rows say is looked at in a step of its own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from services.commands.sheet import table
from services.i18n import N_, _
from views.support.language import on_language_changed
from views.widgets.buttons import Button
from views.widgets.elided import Elided


class ShopFile(QWidget):
    """Signals:
    chosen: the path of a file.
    look_wanted: show its rows again.
    """

    chosen = Signal(object)
    look_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._error = "", ""
        self.choose = Button(N_("Choose a file"), icon="ph.file-text", small=True)
        self.look = Button(N_("Look at its rows"), icon="ph.list-bullets", small=True)
        self._state = Elided("", "label", "text3")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.choose)
        row.addWidget(self.look)
        row.addWidget(self._state, 1)
        self.choose.clicked.connect(self.ask)
        self.look.clicked.connect(self.look_wanted)
        on_language_changed(self._say)
        self._say()

    def open(self, path: Path) -> None:
        """Take a file."""
        self.chosen.emit(path)

    def show_file(self, words: str) -> None:
        """Say what was read, "" for nothing."""
        self._words, self._error = words, ""
        self._say()

    def show_error(self, words: str) -> None:
        """Say why the file cannot be read."""
        self._words, self._error = "", words
        self._say()

    def state(self) -> str:
        """What it says."""
        return self._state.text()

    def ask(self) -> None:
        """Let a person choose a file."""
        kinds = " ".join(f"*{ending}" for ending in table.ENDINGS)
        tables = _("Tables")
        name, _kind = QFileDialog.getOpenFileName(self, _("Tasks from a file"), "", f"{tables} ({kinds})")
        if name:
            self.open(Path(name))

    def _say(self) -> None:
        self.look.setVisible(bool(self._words))
        self._state.set_tone("dead" if self._error else "text3")
        hint = _("Excel, CSV or JSON lines: each row becomes the task that it says")
        self._state.show_text(self._error or self._words or hint)
