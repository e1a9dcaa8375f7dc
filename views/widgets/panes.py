"""Parts of a page side by side and on top of each other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from views.theme.tokens import DETAIL, DETAIL_MAX, DETAIL_MIN

LIST_WIDTH = 1000


def stacked(*widgets: QWidget) -> QStackedWidget:
    """Widgets of which one is seen."""
    stack = QStackedWidget()
    for widget in widgets:
        stack.addWidget(widget)
    return stack


def side_by_side(parts: Sequence[QWidget], stretched: QWidget, detail: QWidget) -> QSplitter:
    """The parts of the list from top to bottom, and the panel of one of its rows beside them, hidden."""
    left = QWidget()
    column = QVBoxLayout(left)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for part in parts:
        column.addWidget(part, 1 if part is stretched else 0)
    detail.setMinimumWidth(DETAIL_MIN)
    detail.setMaximumWidth(DETAIL_MAX)
    split = QSplitter(Qt.Orientation.Horizontal)
    split.addWidget(left)
    split.addWidget(detail)
    split.setStretchFactor(0, 1)
    split.setCollapsible(0, False)
    split.setSizes([LIST_WIDTH, DETAIL])
    detail.hide()
    return split
