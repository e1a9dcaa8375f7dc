"""Small text in a box: platform, environment, count, tag; and the square that tells which colour is meant."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from views.support.paint import draw_box, width_of, write
from views.theme import theme
from views.theme.tokens import platform_badge


class Badge(QWidget):
    """Text in a box. `tone` colours text and edge; `pill` rounds it, as counts in the rail are."""

    def __init__(self, text: str = "", tone: str = "text2", *, pill: bool = False, kind: str = "badge") -> None:
        super().__init__()
        self._text, self._tone, self._pill, self._kind = text, tone, pill, kind
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)
        theme().changed.connect(self.updateGeometry)

    @classmethod
    def platform(cls, platform: str) -> Badge:
        """Return the badge of a platform."""
        return cls(platform_badge(platform))

    @classmethod
    def count(cls, text: str = "", tone: str = "text2") -> Badge:
        """Return a count in a pill."""
        return cls(text, tone, pill=True, kind="caption")

    def text(self) -> str:
        return self._text

    def tone(self) -> str:
        """Return the colour role."""
        return self._tone

    def show_text(self, text: str, tone: str = "") -> None:
        """Change the text, and the tone if one is given; an empty text hides the badge."""
        self._text, self._tone = text, tone or self._tone
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = width_of(self._text, self._kind) + (15 if self._pill else 11)
        height = 18 if self._pill else 17
        return QSize(max(width, height if self._pill else 0), height)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        neutral = self._tone in ("text", "text2", "text3") or self._pill
        fill = theme().color("raised") if neutral else theme().tint(self._tone, 8)
        radius = self.height() / 2 - 0.5 if self._pill else 3
        draw_box(painter, self.rect(), radius, theme().color("line2" if neutral else self._tone), fill)
        write(painter, self.rect(), self._text, self._kind, self._tone, at=0.5)


class Swatch(QWidget):
    """A small square in the colour of what a word beside it names, as `role` has it."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role
        self.setFixedSize(10, 10)
        theme().changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(self._role))
        painter.drawRoundedRect(QRectF(self.rect()), 2, 2)
