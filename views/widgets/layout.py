"""Parts of a page side by side and on top of each other."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from views.theme.tokens import DETAIL, DETAIL_MAX, DETAIL_MIN

LIST_WIDTH = 1000


def stacked(*widgets: QWidget) -> QStackedWidget:
    """Widgets of which one is seen."""
    stack = QStackedWidget()
    for widget in widgets:
        stack.addWidget(widget)
    return stack


class OneAboveOther(QSplitter):
    """A list, and below it what is known of one of its rows: until a person moves the line between them, the list has
    what its rows need, up to a share, and the rest is for the one.
    """

    def __init__(self, list_: QWidget, one: QWidget, *, most: float = 0.55) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._needed, self._most, self._moved = 0, most, False
        self.addWidget(list_)
        self.addWidget(one)
        self.setStretchFactor(0, 1)
        self.setCollapsible(0, False)
        self.setCollapsible(1, False)
        self.splitterMoved.connect(self._on_moved)

    def give(self, needed: int) -> None:
        """The list needs so many pixels."""
        if needed != self._needed:
            self._needed = needed
            self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the new height."""
        super().resizeEvent(event)
        self._share()

    def _on_moved(self) -> None:
        self._moved = True

    def _share(self) -> None:
        if not self._moved and self._needed and self.height() > 1:
            above = min(self._needed, round(self.height() * self._most))
            self.setSizes([above, self.height() - above])


def side_by_side(
    into: QBoxLayout, parts: Sequence[QWidget], stretched: QWidget, detail: QWidget
) -> Generator[None, None, QSplitter]:
    """The parts of the list from top to bottom, and the panel of one of its rows beside them, hidden. A little at a
    time, and from the outside in: Qt looks through all of a widget whenever it gets another parent.
    """
    split, left = QSplitter(Qt.Orientation.Horizontal), QWidget()
    into.addWidget(split, 1)
    split.addWidget(left)
    column = QVBoxLayout(left)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for part in parts:
        yield
        column.addWidget(part, 1 if part is stretched else 0)
    yield
    detail.setMinimumWidth(DETAIL_MIN)
    detail.setMaximumWidth(DETAIL_MAX)
    split.addWidget(detail)
    split.setStretchFactor(0, 1)
    split.setCollapsible(0, False)
    split.setSizes([LIST_WIDTH, DETAIL])
    detail.hide()
    return split
