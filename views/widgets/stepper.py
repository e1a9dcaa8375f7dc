"""A small number with minus and plus: slots of a node, tasks at once."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.i18n import _
from views.support.language import on_language_changed
from views.support.paint import draw_focus
from views.support.spoken import Role, spoken, told
from views.theme import theme
from views.theme.tokens import BUTTON, RADIUS_BUTTON

_SIDE, _MIDDLE = 24, 34
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


class Stepper(QWidget):
    """A whole number between two bounds.

    Signals:
        value_changed: the number, when a person changed it.
    """

    value_changed = Signal(int)

    def __init__(self, name: str, value: int = 1, minimum: int = 0, maximum: int = 99) -> None:
        super().__init__()
        self._name = name
        self._value, self._minimum, self._maximum = value, minimum, maximum
        self._hover = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.SpinBox, lambda: str(self._value))
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.retranslate()
        theme().changed.connect(self.update)
        on_language_changed(self.retranslate)

    def value(self) -> int:
        """Return the number."""
        return self._value

    def set_value(self, value: int) -> None:
        """Show a number without a signal."""
        self._value = min(self._maximum, max(self._minimum, value))
        self.retranslate()
        self.update()

    def step(self, by: int) -> None:
        """Change the number as a person would."""
        before = self._value
        self.set_value(self._value + by)
        if self._value != before:
            self.value_changed.emit(self._value)

    def retranslate(self) -> None:
        self.setAccessibleName(_("{name}: {value}").format(name=_(self._name), value=self._value))
        told(self)

    def sizeHint(self) -> QSize:
        return QSize(2 * _SIDE + _MIDDLE, BUTTON)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(theme().color("line2"))
        painter.setBrush(theme().color("input"))
        painter.drawRoundedRect(frame, RADIUS_BUTTON, RADIUS_BUTTON)
        for side, icon, possible in self._sides():
            if self._hover and side == self._hover and possible:
                painter.fillRect(self._side_rect(side).adjusted(1, 1, -1, -1), theme().color("hover"))
            rect = self._side_rect(side)
            pixmap = theme().pixmap(icon, "text2" if possible else "dis", 11)
            painter.drawPixmap(rect.center().x() - 5, rect.center().y() - 5, pixmap)
        painter.setFont(theme().font("strong"))
        painter.setPen(theme().color("text" if self.isEnabled() else "dis"))
        painter.drawText(self.rect(), _CENTRE, str(self._value))
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_BUTTON)

    def _sides(self) -> tuple[tuple[int, str, bool], ...]:
        enabled = self.isEnabled()
        return (
            (-1, "ph.minus", enabled and self._value > self._minimum),
            (1, "ph.plus", enabled and self._value < self._maximum),
        )

    def _side_rect(self, side: int) -> QRect:
        left = 0 if side < 0 else self.width() - _SIDE
        return QRect(left, 0, _SIDE, self.height())

    def _side_at(self, event: QMouseEvent) -> int:
        point = event.position().toPoint()
        return next((side for side in (-1, 1) if self._side_rect(side).contains(point)), 0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the mouse."""
        self._hover = self._side_at(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Drop the hover colour."""
        self._hover = 0
        self.update()
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Step by the side that was clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.step(self._side_at(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step by arrows, minus and plus."""
        steps = {
            Qt.Key.Key_Up: 1,
            Qt.Key.Key_Plus: 1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Down: -1,
            Qt.Key.Key_Minus: -1,
            Qt.Key.Key_Left: -1,
        }
        by = steps.get(Qt.Key(event.key()), 0)
        if by:
            self.step(by)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ignore the wheel: it belongs to the page and must not change slots by accident."""
        event.ignore()
