"""Where the parts of the window stand: rail at the left, a column beside it, a bar below both."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget


def frame(left: QWidget, column: Sequence[QWidget], below: QWidget) -> QWidget:
    """Return the parts put together; the last widget of the column takes the room that is left.

    Tab goes round, and what comes into the column later follows all that is there: so the bar, which follows even that,
    comes first.
    """
    whole = QWidget()
    below.setParent(whole)
    outer, middle, right = QVBoxLayout(), QHBoxLayout(), QVBoxLayout()
    for layout in (outer, middle, right):
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
    for number, widget in enumerate(column):
        right.addWidget(widget, 1 if number == len(column) - 1 else 0)
    middle.addWidget(left)
    middle.addLayout(right, 1)
    outer.addLayout(middle, 1)
    outer.addWidget(below)
    whole.setLayout(outer)
    return whole
