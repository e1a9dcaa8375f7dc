"""Parts of a page side by side and on top of each other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from itertools import pairwise
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLayout,
    QScrollArea,
    QScrollBar,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from views.theme import theme
from views.theme.tokens import DETAIL, DETAIL_MAX, DETAIL_MIN

LIST_WIDTH = 1000
_NEVER = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
#: in a row or a column: room that grows, where nothing stands
STRETCH: Literal["stretch"] = "stretch"
#: what stands in a row or a column, how much it grows, and where it stands in its room
Part = QWidget | QLayout | Literal["stretch"] | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
Margins = tuple[int, int, int, int]


def in_row(
    *parts: Part, owner: QWidget | None = None, margins: Margins = (0, 0, 0, 0), spacing: int = -1
) -> QHBoxLayout:
    """Parts from left to right, for ``owner`` or for another layout; as far apart as the style says, or ``spacing``."""
    box = QHBoxLayout() if owner is None else QHBoxLayout(owner)
    box.setContentsMargins(*margins)
    box.setSpacing(spacing)
    put(box, *parts)
    return box


def in_column(
    *parts: Part, owner: QWidget | None = None, margins: Margins = (0, 0, 0, 0), spacing: int = -1
) -> QVBoxLayout:
    """The same from top to bottom."""
    box = QVBoxLayout() if owner is None else QVBoxLayout(owner)
    box.setContentsMargins(*margins)
    box.setSpacing(spacing)
    put(box, *parts)
    return box


def put(box: QBoxLayout, *parts: Part) -> None:
    """Put parts at the end of a row or a column."""
    for part in parts:
        if isinstance(part, QWidget):
            box.addWidget(part)
        elif isinstance(part, QLayout):
            box.addLayout(part)
        elif isinstance(part, str):
            box.addStretch(1)
        elif isinstance(part[0], QLayout):
            box.addLayout(part[0], part[1])
        else:
            box.addWidget(part[0], *part[1:])


def stacked(*widgets: QWidget) -> QStackedWidget:
    """Widgets of which one is seen."""
    stack = QStackedWidget()
    for widget in widgets:
        stack.addWidget(widget)
    return stack


def clear(layout: QLayout) -> None:
    """Take all widgets out of it, at once for whoever looks: what goes for good does so later."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def tab_through(parent: QWidget, widgets: Iterable[QWidget]) -> None:
    """Give the tab key what was made later in the order in which it is read, and in the place of its parent: what is
    made last would come after all else of the window.
    """
    policy = parent.focusPolicy()
    parent.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # Qt puts nothing behind what takes none
    for before, widget in pairwise((parent, *widgets)):
        QWidget.setTabOrder(before, widget)
    parent.setFocusPolicy(policy)


class OneAboveOther(QSplitter):
    """A list, and below it what is known of one of its rows: until a person moves the line between them, the list has
    what its rows need, up to a share, and the rest is for the one.
    """

    def __init__(self, parent: QWidget, list_: QWidget, one: QWidget, *, most: float = 0.55) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
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


class Bounded(QObject):
    """Holds a panel between two widths, the least larger for larger letters: never narrower than the widest word of
    what it scrolls, for nobody can scroll sideways to its end.
    """

    def __init__(self, panel: QWidget) -> None:
        super().__init__(panel)
        self._panel, self._widest = panel, 0
        panel.setMaximumWidth(DETAIL_MAX)  # which the panel may change itself
        self._bars: dict[QWidget, QScrollBar] = {}
        theme().changed.connect(self._begin)
        self._begin()
        for pane in panel.findChildren(QScrollArea):
            inner = pane.widget()
            if inner is not None and pane.horizontalScrollBarPolicy() == _NEVER:
                inner.installEventFilter(self)
                self._bars[inner] = pane.verticalScrollBar()

    def _begin(self) -> None:
        self._widest = 0
        self._bound()

    def _bound(self) -> None:
        self._panel.setMinimumWidth(min(DETAIL_MAX, max(round(DETAIL_MIN * theme().growth), self._widest)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what it holds; what it once needed it keeps, so that it does not move with each row."""
        if event.type() == QEvent.Type.LayoutRequest and isinstance(watched, QWidget):
            needed = watched.minimumSizeHint().width() + self._bars[watched].sizeHint().width()
            if needed > self._widest and self._panel.isVisible():
                self._widest = needed
                self._bound()
        return super().eventFilter(watched, event)


def side_by_side(
    into: QBoxLayout,
    parts: Sequence[QWidget],
    stretched: QWidget,
    detail: QWidget,
    building: Iterable[None] = (),
) -> Generator[None, None, QSplitter]:
    """The parts of the list from top to bottom, and the panel of one of its rows beside them, hidden; ``building`` puts
    that together. A little at a time, and from the outside in: Qt looks through all of a widget whenever it gets
    another parent.
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
    split.addWidget(detail)
    detail.hide()
    yield from building
    Bounded(detail)
    split.setStretchFactor(0, 1)
    split.setCollapsible(0, False)
    split.setSizes([LIST_WIDTH, DETAIL])
    return split
