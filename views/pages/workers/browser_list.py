"""The browsers of a worker as a few quiet lines under its slots."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from views.pages.workers.nodes import BROWSERS_NAMED
from views.widgets.elided import Elided


class BrowserList(QWidget):
    """Takes no room where there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = [Elided("", "label", "text3") for _ in range(BROWSERS_NAMED)]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 5, 0, 0)
        column.setSpacing(2)
        for one in self._lines:
            column.addWidget(one)
        self.show_lines(())

    def show_lines(self, lines: Sequence[str]) -> None:
        """Show these, so many as there is room for."""
        for place, one in enumerate(self._lines):
            one.show_text(lines[place] if place < len(lines) else "")
            one.setVisible(place < len(lines))
        self.setVisible(bool(lines))
