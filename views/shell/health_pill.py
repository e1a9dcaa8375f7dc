"""One health pill of the top bar: glyph, name, value; a click tells more."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from services import i18n
from views.support import safe
from views.support.paint import draw_box, draw_focus, shape, width_of, write
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON, status

_PAD, _GAP, _GLYPH = 10, 6, 14
_HEIGHT = 28


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """State of one part; texts are already translated.

    `state`: healthy, warning, dead, unconfirmed, or waiting while nothing is known yet.
    """

    key: str
    name: str
    value: str = ""
    state: str = "healthy"
    tip: str = ""
    glyph: str = ""  #: instead of the glyph of the state


class HealthPill(QAbstractButton):
    """A pill; quiet while healthy, in the colour of the state with an edge when not."""

    def __init__(self, health: Health) -> None:
        super().__init__()
        self._health = health
        self._compact = False
        #: by ``compact`` and the language: it is asked for at each figure of each pill, and measuring words takes long
        self._rooms: dict[tuple[bool, bool], QSize] = {}
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        # painted every second: else all that lies below it would be painted with it
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._on_theme)
        self.show_health(health)

    @property
    def health(self) -> Health:
        """What is shown."""
        return self._health

    def show_health(self, health: Health) -> None:
        """Show another state."""
        if health == self._health and self.accessibleName():
            return  # said several times a second
        before, old, self._health = self.sizeHint(), self._health, health
        if (health.name, shape(health.value)) != (old.name, shape(old.value)):
            self._rooms.clear()
        self.setAccessibleName(f"{health.name} {health.value}".strip())
        tip = safe.masked(health.tip)
        self.setAccessibleDescription(tip)
        self.setToolTip(f"{health.name} {health.value}\n{tip}".strip())
        if self.sizeHint() != before:  # else the whole window would be laid out for each figure
            self.updateGeometry()
        self.update()

    def _on_theme(self) -> None:
        self._rooms.clear()
        self.updateGeometry()

    def set_compact(self, compact: bool) -> None:
        """Show glyph and value only."""
        if compact != self._compact:
            self._compact = compact
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Return the room for glyph, name and value."""
        return self.room(compact=self._compact)

    def room(self, *, compact: bool) -> QSize:
        """Return the room needed; `compact` leaves the name to the tool tip."""
        key = (compact, i18n.is_chinese())
        if key not in self._rooms:
            self._rooms[key] = self._measured(compact=compact)
        return self._rooms[key]

    def _measured(self, *, compact: bool) -> QSize:
        words = "" if compact and self._health.value else self._health.name
        name = width_of(words, "label")
        value = width_of(self._health.value, "labelstrong", tabular=True)
        gap = _GAP - 1 if self._health.value and words else 0
        return QSize(2 * _PAD + _GLYPH + _GAP + name + gap + value + 2, _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))  # of the bar
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        health, token = self._health, status(self._health.state)
        loud = health.state == "warning" and bool(health.glyph)
        edge, fill = token.role if loud else "line", "hover" if self.underMouse() else "surface"
        draw_box(painter, self.rect(), RADIUS_BUTTON, theme().color(edge), theme().color(fill))
        pixmap = theme().pixmap(health.glyph or token.glyph, token.role, _GLYPH)
        painter.drawPixmap(QPointF(_PAD, (_HEIGHT - _GLYPH) / 2), pixmap)
        left = _PAD + _GLYPH + _GAP
        name = "" if self._compact and health.value else health.name
        for text, kind, role in ((name, "label", "text2"), (health.value, "labelstrong", "text")):
            if text:
                room, ink = QRect(left, 0, self.width() - left, _HEIGHT - 1), token.role if loud else role
                left += write(painter, room, text, kind, ink, tabular=kind == "labelstrong") + _GAP - 1
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_BUTTON)
