"""One filter condition as a chip: field, glyphs, values, and a cross to take it away."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.i18n import N_, _
from views.support.paint import cut, draw_box, draw_focus, width_of, write
from views.support.spoken import Role, spoken
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON

_PAD, _GAP, _GLYPH, _CROSS = 9, 6, 13, 11
HEIGHT, MAX_VALUE = 26, 220
#: a condition in words
IS_WORDS, NOT_WORDS = N_("{field} is {value}"), N_("{field} is not {value}")


class ChipView(QWidget):
    """A chip; without a value it is an offer to add one and has a dashed edge.

    Signals:
        opened: the values are wanted.
        removed: the condition shall go.
    """

    opened = Signal()
    removed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._value = "", ""
        self._glyphs: tuple[tuple[str, str], ...] = ()
        self._negated = False
        self._measured: dict[int, list[tuple[str, str, str, int]]] = {}  #: by how much is cut of it
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Button)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme().changed.connect(self._on_theme)

    def show_offer(self, title: str) -> None:
        """Offer to filter by a field; `title` is translated."""
        self._title, self._value, self._glyphs, self._negated = title, "", (), False
        self._announce(_("Add filter: {field}").format(field=title))

    def show_value(
        self, title: str, value: str, glyphs: Sequence[tuple[str, str]] = (), *, negated: bool = False
    ) -> None:
        """Show a condition; `glyphs` are pairs of icon and role."""
        self._title, self._value, self._glyphs, self._negated = title, value, tuple(glyphs[:4]), negated
        words = _(NOT_WORDS if negated else IS_WORDS)
        self._announce(words.format(field=title, value=value))

    def _on_theme(self) -> None:
        self._measured.clear()
        self.updateGeometry()

    def _announce(self, words: str) -> None:
        self._measured.clear()
        self.setAccessibleName(words)
        self.setToolTip(words if self._value else "")
        self.updateGeometry()
        self.update()

    @property
    def is_offer(self) -> bool:
        """Whether the chip only offers a field."""
        return not self._value

    def _parts(self, missing: int = 0) -> list[tuple[str, str, str, int]]:
        """Return text, font kind, role and width of each part, the last one shorter by `missing`."""
        found = self._measured.get(missing)
        if found is None:
            found = self._measured[missing] = self._measure(missing)
        return found

    def _measure(self, missing: int) -> list[tuple[str, str, str, int]]:
        if self.is_offer:
            parts = [(self._title, "label", "text2")]
        else:
            minus = [(_("not"), "labelstrong", "text2")] if self._negated else []
            parts = [(self._title, "label", "text3"), *minus, (self._value, "labelstrong", "text")]
        measured = []
        for text, kind, role in parts:
            room = min(MAX_VALUE, width_of(text, kind) + 1)
            if text == parts[-1][0]:
                room = max(12, room - missing)
            shown = cut(text, kind, room)
            measured.append((shown, kind, role, width_of(shown, kind) + 1))
        return measured

    def sizeHint(self) -> QSize:
        width = sum(part[3] for part in self._parts()) + (len(self._parts()) - 1) * _GAP
        width += (_CROSS + _GAP + 1) + len(self._glyphs) * (_GLYPH + 4)
        return QSize(width + 2 * _PAD, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the room with a short value; an offer is not cut."""
        full = self.sizeHint()
        return full if self.is_offer else QSize(full.width() - max(0, self._parts()[-1][3] - 40), HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge, lit = theme().color("line2"), self.underMouse()
        fill = theme().color("hover" if lit else "raised") if lit or not self.is_offer else None
        draw_box(painter, self.rect(), RADIUS_BUTTON, None if self.is_offer else edge, fill)
        if self.is_offer:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(edge, 1, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_BUTTON, RADIUS_BUTTON)
        self._paint_parts(painter)
        if self.hasFocus():
            draw_focus(painter, self.rect(), RADIUS_BUTTON)

    def _paint_parts(self, painter: QPainter) -> None:
        left = _PAD
        if self.is_offer:
            painter.drawPixmap(left, (HEIGHT - 12) // 2, theme().pixmap("ph.plus", "text3", 12))
            left += _CROSS + _GAP
        parts = self._parts(max(0, self.sizeHint().width() - self.width()))
        for number, (text, kind, role, width) in enumerate(parts):
            if number == len(parts) - 1:
                for glyph, glyph_role in self._glyphs:
                    painter.drawPixmap(left, (HEIGHT - _GLYPH) // 2, theme().pixmap(glyph, glyph_role, _GLYPH))
                    left += _GLYPH + 4
            write(painter, QRect(left, 0, width + 2, HEIGHT - 1), text, kind, role)
            left += width + _GAP
        if not self.is_offer:
            painter.drawPixmap(self._cross().topLeft(), theme().pixmap("ph.x", "text3", _CROSS))

    def _cross(self) -> QRect:
        return QRect(QPoint(self.width() - _PAD - _CROSS + 1, (HEIGHT - _CROSS) // 2), QSize(_CROSS, _CROSS))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open the values, or take the chip away by its cross."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        on_cross = not self.is_offer and event.position().x() >= self._cross().left() - 5
        (self.removed if on_cross else self.opened).emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open by Space or Enter, take away by Delete or Backspace."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self.opened.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and not self.is_offer:
            self.removed.emit()
        else:
            super().keyPressEvent(event)
