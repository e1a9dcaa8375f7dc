"""What was looked at before a start: one line each, with the remedy where something is missing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.i18n import _
from views.support import safe
from views.support.language import on_language_changed
from views.support.paint import cut, write
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON, status

OK, WARNING, ERROR = "ok", "warning", "error"
ROW, PAD, GLYPH = 30, 12, 14
_STATUS = {OK: "healthy", WARNING: "warning", ERROR: "dead"}


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at. ``name`` is source text, the others already translated. Errors block, warnings do not.

    ``remedy``: of an error, a sentence with what is wrong and how to put it right.
    """

    name: str
    text: str
    state: str = OK
    remedy: str = ""


class CheckList(QWidget):
    """Lines with glyph, name and finding."""

    def __init__(self) -> None:
        super().__init__()
        self._checks: tuple[Check, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)
        on_language_changed(self._announce)

    def show_checks(self, checks: Sequence[Check]) -> None:
        """Show what was found."""
        if self._checks == tuple(checks):
            return
        self._checks = tuple(checks)
        self._announce()
        self.updateGeometry()

    def blocked(self) -> str:
        """The first error, "" for none."""
        wrong = next((check for check in self._checks if check.state == ERROR), None)
        return f"{_(wrong.name)}: {wrong.remedy or wrong.text}" if wrong is not None else ""

    def _announce(self) -> None:
        words = "; ".join(f"{_(status(_STATUS[c.state]).word)}, {_(c.name)}: {c.text}" for c in self._checks)
        self.setAccessibleName(words or _("Looking"))
        self.setToolTip(safe.tooltip("\n".join(f"{_(c.name)}: {c.text}" for c in self._checks)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, max(1, len(self._checks)) * ROW + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("line"))
        painter.setBrush(theme().color("bg"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_BUTTON, RADIUS_BUTTON)
        if not self._checks:
            write(painter, self.rect().adjusted(PAD, 0, 0, 0), _("Looking at this computer"), "label", "text3")
        for number, check in enumerate(self._checks):
            self._paint_line(painter, number, check)

    def _paint_line(self, painter: QPainter, number: int, check: Check) -> None:
        room = QRect(PAD, 1 + number * ROW, self.width() - 2 * PAD, ROW)
        token = status(_STATUS[check.state])
        place = QPointF(room.left(), room.top() + (ROW - GLYPH) / 2)
        painter.drawPixmap(place, theme().pixmap(token.glyph, token.role, GLYPH))
        left = room.left() + GLYPH + 8
        left += write(painter, QRect(left, room.top(), room.right() - left, ROW), _(check.name), "body", "text") + 14
        role, beside = "text3" if check.state == OK else token.role, QRect(left, room.top(), room.right() - left, ROW)
        write(painter, beside, cut(safe.one_line(check.text), "label", beside.width()), "label", role, at=1.0)
        if number:
            painter.fillRect(QRect(room.left(), room.top(), room.width(), 1), theme().color("line"))
