"""A column that scrolls up and down where the window is too low for it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget


class ScrollPane(QScrollArea):
    """Add content to ``body``; the width follows the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        content = QWidget()
        content.setProperty("scroll", True)
        self.body = QVBoxLayout(content)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        self.setWidget(content)
        content.setAutoFillBackground(False)
        self._room = 0  #: pixels below the content

    def keep_clear(self, covered: int) -> None:
        """Let the last of it be scrolled above what lies on so many pixels of the lower end."""
        room = covered if covered and self.needed() > self.viewport().height() - covered else 0
        if room != self._room:
            margins = self.body.contentsMargins()
            margins.setBottom(margins.bottom() + room - self._room)
            self._room = room
            self.body.setContentsMargins(margins)

    def needed(self) -> int:
        """Return the height of the content in pixels, without what ``keep_clear`` added: one that fits is as
        high as the pane, and its own height tells nothing.
        """
        content = self.widget()
        if content is None:
            return 0
        tall = self.body.totalHeightForWidth(content.width()) if self.body.hasHeightForWidth() else -1
        return (tall if tall >= 0 else self.body.totalMinimumSize().height()) - self._room
