"""The right column of the New task dialog: its width, its ground, and how it counts tasks."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from services.i18n import ngettext
from views.support import text
from views.theme import theme
from views.widgets.scroll_pane import ScrollPane

WIDTH, NARROW = 286, 250


class SideColumn(ScrollPane):
    """A raised column beside the content: what it says is scrolled, not squeezed, where the window is low."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedWidth(WIDTH)
        self.body.setContentsMargins(18, 16, 18, 16)
        self.body.setSpacing(4)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(self.rect(), theme().color("raised"))
        painter.fillRect(0, 0, 1, self.height(), theme().color("line"))


def tasks(number: int) -> str:
    """A number of tasks in words."""
    return ngettext("{n} task", "{n} tasks", number).format(n=text.count(number))
