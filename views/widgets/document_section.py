"""A JSON document in a section of a panel."""

from __future__ import annotations

import contextlib
import json

from views.widgets.json.editor import JsonEditor
from views.widgets.section import Section

MOST_LINES = 12


class DocumentSection(Section):
    """A document that is looked at."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.editor = JsonEditor(title)
        self.editor.setReadOnly(True)
        self.body.addWidget(self.editor)
        self._most = MOST_LINES

    def show_text(self, document: str) -> None:
        """Show a document in lines, as high as it is up to a dozen; what is not JSON stands as it is."""
        with contextlib.suppress(ValueError):
            document = json.dumps(json.loads(document), ensure_ascii=False, indent=2)
        self.editor.load_text(document)
        self._fit()

    def set_most_lines(self, lines: int) -> None:
        """As high as it is, up to so many lines."""
        self._most = lines
        self._fit()

    def _fit(self) -> None:
        lines = min(self._most, self.editor.blockCount())
        self.editor.setFixedHeight(lines * self.editor.fontMetrics().lineSpacing() + 20)
