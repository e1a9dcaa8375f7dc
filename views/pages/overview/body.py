"""How the charts and the list share the room: side by side when wide, one below the other when narrow."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from views.theme.tokens import CARD_GAP

WIDE, MIDDLE = 980, 620
#: least heights: with them the whole page of a small fleet fits 1366 x 768
DEPTH, SMALL, LIST = 160, 164, 320
SMALL_MOST = 208
#: how the charts share more height than that
DEPTH_SHARE, SMALL_SHARE = 17, 10
LIST_WIDTH = (300, 411)


def form_for(width: int) -> str:
    """``wide``: list beside charts. ``middle``: list below. ``narrow``: everything below each other."""
    return "wide" if width >= WIDE else "middle" if width >= MIDDLE else "narrow"


class Middle(QWidget):
    """Depth above rates and unacked, and the list."""

    def __init__(self, depth: QWidget, rates: QWidget, unacked: QWidget, attention: QWidget) -> None:
        super().__init__()
        self._parts = (depth, rates, unacked, attention)
        self._form = ""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(CARD_GAP)
        for part in self._parts:
            part.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self._arrange("wide")

    @property
    def form(self) -> str:
        """The present arrangement."""
        return self._form

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the arrangement for the width."""
        super().resizeEvent(event)
        self._arrange(form_for(self.width()))
        if self._form == "wide":
            least, most = LIST_WIDTH
            self._grid.setColumnMinimumWidth(2, min(most, max(least, round(self.width() * 0.3))))

    def _arrange(self, form: str) -> None:
        if form == self._form:
            return
        self._form = form
        depth, rates, unacked, attention = self._parts
        for part in self._parts:
            self._grid.removeWidget(part)
        places = {
            "wide": ((0, 0, 1, 2), (1, 0, 1, 1), (1, 1, 1, 1), (0, 2, 2, 1)),
            "middle": ((0, 0, 1, 2), (1, 0, 1, 1), (1, 1, 1, 1), (2, 0, 1, 2)),
            "narrow": ((0, 0, 1, 2), (1, 0, 1, 2), (2, 0, 1, 2), (3, 0, 1, 2)),
        }[form]
        for part, place in zip(self._parts, places, strict=True):
            self._grid.addWidget(part, *place)
        for column, stretch in enumerate((1, 1, 0)):
            self._grid.setColumnStretch(column, stretch)
            self._grid.setColumnMinimumWidth(column, 0)
        heights = {
            "wide": (DEPTH, SMALL, 0, 0),
            "middle": (DEPTH, SMALL, LIST, 0),
            "narrow": (DEPTH, SMALL, SMALL, LIST),
        }
        for row, height in enumerate(heights[form]):
            self._grid.setRowMinimumHeight(row, height)
            self._grid.setRowStretch(row, (DEPTH_SHARE, SMALL_SHARE, 0, 0)[row])
        for part, height in ((depth, DEPTH), (rates, SMALL), (unacked, SMALL), (attention, LIST)):
            part.setMinimumHeight(height)
        for part in (rates, unacked):
            part.setMaximumHeight(SMALL_MOST)
