"""An on/off switch that takes effect at once."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from services.i18n import _
from views.support.language import on_language_changed
from views.support.paint import draw_focus
from views.theme import theme
from views.theme.tokens import BUTTON

_WIDTH, _HEIGHT = 28, 16


class Toggle(QAbstractButton):
    """A switch; `name` is source text for screen readers.

    Signals:
        toggled: as in Qt.
    """

    def __init__(self, name: str, *, on: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setCheckable(True)
        self.setChecked(on)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.retranslate()
        theme().changed.connect(self.update)
        on_language_changed(self.retranslate)

    def retranslate(self) -> None:
        self.setAccessibleName(_(self._name))

    def sizeHint(self) -> QSize:
        """Return a hit area larger than the switch."""
        return QSize(_WIDTH + 6, BUTTON)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw track and knob; the knob's place says it without colour."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = (self.height() - _HEIGHT) / 2
        track = QRectF((self.width() - _WIDTH) / 2 + 0.5, top + 0.5, _WIDTH - 1, _HEIGHT - 1)
        on, enabled = self.isChecked(), self.isEnabled()
        edge = ("accentbg" if on else "ctl") if enabled else "line2"
        painter.setPen(theme().color(edge))
        painter.setBrush(theme().color(edge if on else "input"))
        painter.drawRoundedRect(track, _HEIGHT / 2, _HEIGHT / 2)
        side = _HEIGHT - 6
        left = track.right() - side - 3 if on else track.left() + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("white" if on else edge))
        painter.drawEllipse(QRectF(left, top + 3, side, side))
        if self.hasFocus():
            draw_focus(painter, track.adjusted(-3.5, -3.5, 3.5, 3.5), _HEIGHT / 2 + 2)
