"""A row of choices of which exactly one is taken: 5 min | 1 h | 24 h."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.i18n import _
from views.support.language import on_language_changed
from views.support.paint import draw_box, draw_focus, outlines, width_of, write
from views.support.spoken import Role, spoken, told
from views.theme import theme
from views.theme.tokens import BUTTON, RADIUS_BUTTON

_PAD = 11
_ICON, _GAP = 13, 6


class Segmented(QWidget):
    """One choice out of a few; Left and Right move it.

    Signals:
        chosen: the key of the choice, when a person made it.
    """

    chosen = Signal(str)

    def __init__(
        self,
        choices: Sequence[tuple[str, str]] | Sequence[tuple[str, str, str, str]],
        name: str = "",
        *,
        stretch: bool = False,
    ) -> None:
        """Take ``(key, source text)`` or ``(key, source text, icon, role of the icon)``."""
        super().__init__()
        self._choices: list[tuple[str, ...]] = [(*choice, "", "")[:4] for choice in choices]
        self._name = name
        self._suffixes: dict[str, str] = {}
        self._at = 0
        self._hover = -1
        self._stepping = False
        self._stretch = stretch
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.ComboBox, self._label)
        self.setMouseTracking(True)
        policy = QSizePolicy.Policy.Expanding if stretch else QSizePolicy.Policy.Fixed
        self.setSizePolicy(policy, QSizePolicy.Policy.Fixed)
        self.retranslate()
        theme().changed.connect(self._restyle)
        on_language_changed(self.retranslate)

    def current(self) -> str:
        """Return the key of the choice; "" where none is made."""
        return self._choices[self._at][0] if self._at >= 0 else ""

    def set_current(self, key: str) -> None:
        """Choose without a signal."""
        for number, choice in enumerate(self._choices):
            if choice[0] == key:
                self._at = number
        self._announce()

    def set_none(self) -> None:
        """Show that none of them holds; each may be chosen then."""
        self._at = -1
        self._announce()

    def choose(self, key: str) -> None:
        """Choose as a person would, with a signal."""
        if key != self.current():
            self.set_current(key)
            self.chosen.emit(self.current())

    @property
    def stepping(self) -> bool:
        """Whether the choice that is told is one on the way of an arrow key: the keyboard is to stay here."""
        return self._stepping

    def set_suffix(self, key: str, text: str) -> None:
        """Show a count after a text: ``Open 143``."""
        if self._suffixes.get(key) != text:
            self._suffixes[key] = text
            self._restyle()

    def retranslate(self) -> None:
        self._announce()
        self._restyle()

    def labels(self) -> list[str]:
        """Return the texts shown."""
        return [f"{_(c[1])} {self._suffixes.get(c[0], '')}".strip() for c in self._choices]

    def _label(self) -> str:
        return self.labels()[self._at] if self._at >= 0 else ""

    def _announce(self) -> None:
        self.setAccessibleName(_(self._name) if self._name else "")
        self.setAccessibleDescription(self._label())
        told(self)
        self.update()

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def _widths(self) -> list[int]:
        needed = [
            width_of(label, "labelstrong") + 2 * _PAD + ((_ICON + _GAP) if choice[2] else 0)
            for label, choice in zip(self.labels(), self._choices, strict=True)
        ]
        if self._stretch and self.width() > sum(needed):
            extra = self.width() - sum(needed)
            share, rest = divmod(extra, len(needed))
            needed = [width + share + (1 if n < rest else 0) for n, width in enumerate(needed)]
        return needed

    def sizeHint(self) -> QSize:
        stretch, self._stretch = self._stretch, False
        width = sum(self._widths())
        self._stretch = stretch
        return QSize(width, BUTTON - 2 if not stretch else BUTTON)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def segment_rect(self, number: int) -> QRect:
        """Return where choice `number` is drawn."""
        return self._rects()[number]

    def _rects(self) -> list[QRect]:
        widths = self._widths()
        return [
            QRect(right - width, 0, width, self.height())
            for right, width in zip(accumulate(widths), widths, strict=True)
        ]

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw edge, choices and dividers."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground, _edge = outlines(self.width(), self.height(), RADIUS_BUTTON, 1)
        painter.fillPath(ground, theme().color("input"))
        painter.setClipPath(ground)
        for number, (label, rect) in enumerate(zip(self.labels(), self._rects(), strict=True)):
            self._paint_segment(painter, number, label, rect)
        painter.setClipping(False)
        draw_box(painter, self.rect(), RADIUS_BUTTON, theme().color("line2"), None)
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_BUTTON)

    def _paint_segment(self, painter: QPainter, number: int, label: str, rect: QRect) -> None:
        chosen = number == self._at
        ink = "dis" if not self.isEnabled() else "text" if chosen else "text2"
        if chosen:
            painter.fillRect(rect, theme().color("line"))
        elif number == self._hover and self.isEnabled():
            painter.fillRect(rect, theme().color("hover"))
        if number:
            painter.fillRect(QRect(rect.left(), 0, 1, rect.height()), theme().color("line2"))
        kind = "labelstrong" if chosen else "label"
        icon, role = self._choices[number][2], self._choices[number][3]
        if not icon:
            write(painter, rect, label, kind, ink, at=0.5)
            return
        width = width_of(label, kind) + _ICON + _GAP
        left = rect.left() + (rect.width() - width) / 2
        painter.drawPixmap(QPointF(left, (rect.height() - _ICON) / 2), theme().pixmap(icon, role or ink, _ICON))
        write(painter, rect.adjusted(int(left - rect.left()) + _ICON + _GAP, 0, 0, 0), label, kind, ink)

    def _at_point(self, point: QPoint) -> int:
        return next((n for n, rect in enumerate(self._rects()) if rect.contains(point)), -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse."""
        at = self._at_point(event.position().toPoint())
        if at != self._hover:
            self._hover = at
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Drop the hover colour."""
        self._hover = -1
        self.update()
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose what was clicked."""
        at = self._at_point(event.position().toPoint())
        if at >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.choose(self._choices[at][0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the choice."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
            return
        at = min(len(self._choices) - 1, max(0, self._at + step))
        self._stepping = True
        try:
            self.choose(self._choices[at][0])
        finally:
            self._stepping = False
