"""Widgets in a row that goes on in the next line where the width ends."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

#: px that a row takes at least for its widest widget
LEAST = 200


def in_lines(widths: Sequence[int], room: int, across: int) -> list[list[int]]:
    """Places of widgets in as many lines as they need, in their order; one that is wider than the room has its own."""
    lines: list[list[int]] = []
    left = 0
    for place, width in enumerate(widths):
        if not lines or left + width > room:
            lines.append([])
            left = 0
        lines[-1].append(place)
        left += width + across
    return lines


class FlowRow(QLayout):
    """Keeps the order and the size hints of its widgets; its height follows its width."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        across: int = 12,
        down: int = 2,
        last_right: bool = False,
        shrinks: bool = False,
    ) -> None:
        """``across`` and ``down``: pixels between widgets and between lines; ``last_right``: in one line with others
        the last widget stands at its right end; ``shrinks``: they are less wide than they want to be before another
        line begins.
        """
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._across, self._down, self._last_right, self._shrinks = across, down, last_right, shrinks
        self._heights: dict[int, int] = {}  #: by width; each layout around it asks for them anew
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Add one at the end."""
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        """How many there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """One of them, None beyond the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take one away."""
        self.invalidate()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """None."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """It has."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all lines at this width."""
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def invalidate(self) -> None:
        """One of the widgets may want another size."""
        self._heights.clear()
        super().invalidate()

    def setGeometry(self, rect: QRect) -> None:
        """Put the widgets into their lines."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """As small as possible: it takes the width that there is."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Room for the widest of them, up to ``LEAST``: long words are cut where the whole place is narrow."""
        least = QSize()
        for item in self._items:
            least = least.expandedTo(item.minimumSize())
        return QSize(min(least.width(), LEAST), least.height())

    def _place(self, rect: QRect, *, move: bool) -> int:
        items = [item for item in self._items if not item.isEmpty()]  # a hidden one takes no room
        sizes = [item.sizeHint() for item in items]
        if rect.width() > 0:
            sizes = [QSize(min(size.width(), rect.width()), size.height()) for size in sizes]
        top = rect.top()
        widths = [size.width() for size in sizes]
        if self._shrinks:
            widths = [min(item.minimumSize().width(), wide) for item, wide in zip(items, widths, strict=True)]
        for line in in_lines(widths, rect.width(), self._across):
            spare = rect.width() - sum(widths[place] for place in line) - self._across * (len(line) - 1)
            for place in line:  # the first has it before those behind
                more = max(0, min(spare, sizes[place].width() - widths[place]))
                sizes[place].setWidth(widths[place] + more)
                spare -= more
            left, height = rect.left(), max(sizes[place].height() for place in line)
            if move:
                for place in line:  # a button and a link beside it have their words at one height
                    last = items[place] is self._items[-1] and len(line) == len(items) > 1
                    if self._last_right and last:
                        left = rect.right() + 1 - sizes[place].width()
                    middle = top + (height - sizes[place].height()) // 2
                    items[place].setGeometry(QRect(QPoint(left, middle), sizes[place]))
                    left += sizes[place].width() + self._across
            top += height + self._down
        return max(0, top - self._down - rect.top())
