"""Widgets in a row that goes on in the next line where the width ends."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

#: px that a row takes at least for its widest widget
LEAST = 200


class FlowRow(QLayout):
    """Keeps the order and the size hints of its widgets; its height follows its width."""

    def __init__(self, parent: QWidget | None = None, *, across: int = 12, down: int = 2) -> None:
        """``across`` and ``down``: pixels between widgets and between lines."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._across, self._down = across, down
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
        left, top, height = rect.left(), rect.top(), 0
        for item in self._items:
            if item.isEmpty():
                continue  # a hidden one takes no room
            size = item.sizeHint()
            if size.width() > rect.width() > 0:
                size.setWidth(rect.width())
            if height and left + size.width() > rect.left() + rect.width():
                left, top, height = rect.left(), top + height + self._down, 0
            if move:
                item.setGeometry(QRect(left, top, size.width(), size.height()))
            left, height = left + size.width() + self._across, max(height, size.height())
        return top + height - rect.top()
