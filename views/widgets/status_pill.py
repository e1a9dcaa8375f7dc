"""Status in one line: glyph, colour and word, with or without an edge around it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.i18n import _
from views.support.language import on_language_changed
from views.support.paint import draw_box, width_of, write
from views.theme import theme
from views.theme.tokens import StatusToken, status

_GLYPH, _GAP, _PAD = 15, 6, 8


class StatusPill(QWidget):
    """A status as glyph and word; `framed` puts it in a pill, `text` replaces the word."""

    def __init__(self, name: str = "waiting", text: str = "", *, framed: bool = False) -> None:
        super().__init__()
        self._token: StatusToken = status(name)
        self._text = text
        self._framed = framed
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._rename()
        theme().changed.connect(self.update)
        on_language_changed(self._rename)

    def set_status(self, name: str, text: str = "") -> None:
        """Show another status."""
        self._token, self._text = status(name), text
        self._rename()

    def words(self) -> str:
        return self._text or _(self._token.word)

    def _rename(self) -> None:
        self.setAccessibleName(self.words())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = width_of(self.words(), "label") + 2
        pad = 2 * _PAD if self._framed else 0
        return QSize(width + pad + _GLYPH + _GAP, 22 if self._framed else 18)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw pill, glyph and words."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.rect()
        left = 0
        if self._framed:
            draw_box(painter, rect, 4, theme().tint(self._token.role, 40), theme().tint(self._token.role, 10))
            left = _PAD
        pixmap = theme().status_pixmap(self._token, _GLYPH)
        painter.drawPixmap(QPointF(left, (rect.height() - _GLYPH) / 2), pixmap)
        write(painter, rect.adjusted(left + _GLYPH + _GAP, 0, 0, 0), self.words(), "label", self._token.role)
