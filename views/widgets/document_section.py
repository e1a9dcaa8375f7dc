"""A JSON document in a section of a panel."""

from __future__ import annotations

import json
from functools import partial

from services.domain.text import mask
from services.i18n import _
from views.support import text
from views.support.operation import Operation
from views.widgets.json.editor import JsonEditor
from views.widgets.section import Section

MOST_LINES = 12
#: characters of a document that are masked and put in lines where the window is, of a longer one elsewhere; and how
#: many of them are shown
AT_ONCE, SHOWN = 8_000, 60_000


class DocumentSection(Section):
    """A document that is looked at."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.editor = JsonEditor(title)
        self.editor.setReadOnly(True)
        self.body.addWidget(self.editor)
        self.document = ""  #: all of it as it is shown, also what lies behind the part that is
        self._most = MOST_LINES
        self._reading = Operation(self, latest=True)

    def show_json(self, stored: str) -> None:
        """Show a document in lines, as high as it is up to a dozen, its secrets as dots; what is not JSON stands as it
        is. Of a long one the beginning, in a moment.
        """
        self._reading.drop()
        if len(stored) <= AT_ONCE:
            self._show(in_lines(stored))
        else:
            self._show("")
            self._reading.start(partial(in_lines, stored), self._show)

    def set_most_lines(self, lines: int) -> None:
        """As high as it is, up to so many lines."""
        self._most = lines
        self._fit()

    def _show(self, document: str) -> None:
        self.document = document
        whole = len(document) <= SHOWN
        self.editor.load_part(document if whole else document[:SHOWN] + "…")
        said = _("first {n} of {total} characters")
        self.set_note("" if whole else said.format(n=text.count(SHOWN), total=text.count(len(document))))
        self._fit()

    def _fit(self) -> None:
        lines = min(self._most, self.editor.blockCount())
        self.editor.setFixedHeight(lines * self.editor.fontMetrics().lineSpacing() + 20)


def in_lines(stored: str) -> str:
    """A document with a line for each of its values, masked by the names of its keys; what is no JSON masked as text.
    Takes half a second for the longest.
    """
    try:
        return json.dumps(mask.masked(json.loads(stored)), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return mask.masked_text(stored)
