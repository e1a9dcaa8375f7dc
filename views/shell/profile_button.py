"""The profile switcher of the top bar: glyph, name, environment tag, caret."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from services.i18n import _
from views.support import safe
from views.support.paint import draw_line
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON

_PAD, _GAP, _ICON, _CARET = 10, 8, 15, 12
_HEIGHT, _MAX = 28, 200
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


class ProfileButton(QAbstractButton):
    """Shows which fleet one is looking at; PROD is outlined in the colour of dead letters."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unverified = False
        self._tag, self._tone, self._icon = "", "text2", "ph.globe-hemisphere-east"
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.updateGeometry)

    def show_profile(
        self, name: str, tag: str = "", *, local: bool = False, production: bool = False, unverified: bool = False
    ) -> None:
        """Show the profile `name` with the environment `tag`; `unverified`: nobody checks who answers there."""
        self.setText(safe.one_line(name, 60))
        self._unverified = unverified
        parts = [safe.one_line(tag, 12), _("TLS unchecked") if unverified else ""]
        self._tag = " · ".join(part for part in parts if part)
        self._tone = "dead" if production or unverified else "text2"
        self._icon = "ph.laptop" if local else "ph.globe-hemisphere-east"
        self.rename()
        self.updateGeometry()
        self.update()

    def rename(self) -> None:
        """Say the name again."""
        self.setAccessibleName(_("Connection: {name} {tag}").format(name=self.text(), tag=self._tag).strip())
        told = _("Nobody checks the certificate of the server: whoever stands between can read and change everything.")
        self.setToolTip(f"{_('Switch connection')}\n{told}" if self._unverified else _("Switch connection"))

    def _tag_width(self) -> int:
        return QFontMetrics(theme().font("badge")).horizontalAdvance(self._tag) + 11 if self._tag else 0

    def _name(self, room: int = _MAX) -> tuple[str, int]:
        metrics = QFontMetrics(theme().font("strong"))
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        return shown, metrics.horizontalAdvance(shown) + 1

    def sizeHint(self) -> QSize:
        """Return the room for all parts."""
        tag = self._tag_width()
        width = 2 * _PAD + _ICON + _GAP + self._name()[1] + (tag + _GAP if tag else 0) + _GAP + _CARET
        return QSize(width, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the room for a few letters of the name."""
        full = self.sizeHint()
        return QSize(min(full.width(), full.width() - self._name()[1] + 60), _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the button."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("line2"))
        painter.setBrush(theme().color("hover" if self.underMouse() else "surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_BUTTON, RADIUS_BUTTON)
        painter.drawPixmap(QPointF(_PAD, (_HEIGHT - _ICON) / 2), theme().pixmap(self._icon, "text2", _ICON))
        missing = max(0, self.sizeHint().width() - self.width())
        name, width = self._name(self._name()[1] - missing)
        left = _PAD + _ICON + _GAP
        painter.setFont(theme().font("strong"))
        painter.setPen(theme().color("text"))
        draw_line(painter, QRect(left, 0, width + 3, _HEIGHT - 1), name)
        if self._tag:
            self._paint_tag(painter, left + width + _GAP)
        caret = theme().pixmap("ph.caret-down", "text3", _CARET)
        painter.drawPixmap(QPointF(self.width() - _PAD - _CARET, (_HEIGHT - _CARET) / 2), caret)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme().color("focus"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS_BUTTON, RADIUS_BUTTON)

    def _paint_tag(self, painter: QPainter, left: int) -> None:
        box = QRectF(left + 0.5, (_HEIGHT - 16) / 2 + 0.5, self._tag_width() - 1, 15)
        painter.setPen(theme().color(self._tone if self._tone != "text2" else "line2"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3, 3)
        painter.setFont(theme().font("badge"))
        painter.setPen(theme().color(self._tone))
        painter.drawText(box, _CENTRE, self._tag)
