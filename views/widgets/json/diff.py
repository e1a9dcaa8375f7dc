"""Two JSON documents as one text: what went and what came on grounds of their own, with a sign before each line."""

from __future__ import annotations

import difflib

from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from services.i18n import _
from views.support.language import say_in_language
from views.theme import theme
from views.widgets.json.editor import ground

#: lines around a change
AROUND = 3
_ROLES = {"+": "succeeded", "-": "dead"}


class DiffText(QPlainTextEdit):
    """Looked at only; unchanged stretches are folded."""

    def __init__(self, name: str = "") -> None:
        """``name`` is source text."""
        super().__init__()
        self._name = name
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        theme().changed.connect(self._restyle)
        say_in_language(self.retranslate)
        self._restyle()

    def show_texts(self, old: str, new: str) -> None:
        """Show what leads from one text to the other; nothing where they are equal."""
        self.show_lines(lines_between(old, new))

    def show_lines(self, said: str) -> None:
        """Show what ``lines_between`` made, as of long texts where the window does not wait for it."""
        if said != self.toPlainText():
            self.setPlainText(said)
        self._mark()

    def retranslate(self) -> None:
        self.setAccessibleName(_(self._name) if self._name else "")

    def _restyle(self) -> None:
        self.setFont(theme().font("mono"))
        self._mark()

    def _mark(self) -> None:
        marks: list[QTextEdit.ExtraSelection] = []
        for number, line in enumerate(self.toPlainText().split("\n"), 1):
            role = _ROLES.get(line[:1])
            mark = ground(self.document(), number, theme().tint(role, 14)) if role else None
            if mark is not None:
                marks.append(mark)
        self.setExtraSelections(marks)


def lines_between(old: str, new: str) -> str:
    """What leads from one text to the other, each line with its sign; "" where they are equal."""
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=AROUND))[2:]
    said = ["⋯" if line.startswith("@@") else line for line in lines]
    whole = bool(lines) and lines[0].startswith(("@@ -1,", "@@ -1 ", "@@ -0,"))  # nothing is folded above
    return "\n".join(said[1:] if whole else said)
