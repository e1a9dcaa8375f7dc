"""A JSON document in a section of a panel."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtGui import QGuiApplication

from services.domain.text import mask
from services.i18n import _
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.widgets.buttons import Button
from views.widgets.json.editor import JsonEditor
from views.widgets.section import Section

MOST_LINES = 12
#: characters of a document that are masked and put in lines where the window is, of a longer one elsewhere; and how
#: many of them are shown
AT_ONCE, SHOWN = 8_000, 60_000
#: and of one line so many: it is laid out as a whole, which of all that is shown would take several turns of the window
LONGEST = 4_000


class DocumentSection(Section):
    """A document that is looked at."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.editor = JsonEditor(title)
        self.editor.setReadOnly(True)
        self.part = Label("", "label", "text3", wrap=True)  #: how much of it is shown; the note is of who shows it
        self.part.hide()
        self.body.addWidget(self.part)
        self.body.addWidget(self.editor)
        self.document = ""  #: all of it as it is shown, also what lies behind the part that is
        self._seen = ("", 0)  #: that part, and how many characters of the document it has
        self._most = MOST_LINES
        self._copies: list[Button] = []
        self._reading = Operation(self, latest=True)
        on_language_changed(self._say)

    def show_json(self, stored: str) -> None:
        """Show a document in lines, as high as it is up to a dozen, its secrets as dots; what is not JSON stands as it
        is. Of a long one the beginning, in a moment.
        """
        self._reading.drop()
        if len(stored) <= AT_ONCE:
            self._show(in_lines(stored))
        else:
            self._reading.start(partial(in_lines, stored), self._show)
            self._show("")

    def set_most_lines(self, lines: int) -> None:
        """As high as it is, up to so many lines."""
        self._most = lines
        self._fit()

    def copied_by(self, button: Button) -> None:
        """Let a button copy all of it; it waits until that is read."""
        self._copies.append(button)
        button.clicked.connect(self._copy)
        self._say()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.document)

    def _show(self, document: str) -> None:
        self.document = document
        self._seen = part_of(document)
        self.editor.load_part(self._seen[0])
        self._say()
        self._fit()

    def _say(self) -> None:
        (part, seen), total = self._seen, len(self.document)
        first = self.document.startswith(part[:seen])
        said = (
            _("first {n} of {total} characters") if first else _("{n} of {total} characters, of a line {most} at most")
        )
        self.part.setVisible(seen < total)
        said = said.format(n=text.count(seen), total=text.count(total), most=text.count(LONGEST))
        self.part.setText(said if seen < total else "")
        for button in self._copies:
            button.wait(_("It is still being read") if self._reading.awaited else "")

    def _fit(self) -> None:
        lines = min(self._most, self.editor.blockCount())
        self.editor.setFixedHeight(lines * self.editor.fontMetrics().lineSpacing() + 20)


def part_of(document: str) -> tuple[str, int]:
    """What of a document is shown, and how many of its characters that are."""
    lines = document[:SHOWN].split("\n")
    kept = [line[:LONGEST] for line in lines]
    seen = sum(map(len, kept)) + len(kept) - 1
    part = "\n".join(short if short == line else short + "…" for short, line in zip(kept, lines, strict=True))
    return part + "…" if len(document) > SHOWN and kept[-1] == lines[-1] else part, seen


def in_lines(stored: str) -> str:
    """A document with a line for each of its values, masked by the names of its keys; what is no JSON masked as text.
    Takes half a second for the longest.
    """
    try:
        return json.dumps(mask.masked(json.loads(stored)), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return mask.masked_text(stored)
