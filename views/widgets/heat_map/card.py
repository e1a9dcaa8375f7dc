"""The card beside a cell of the heat map: who it is, what is wrong, how much waits."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from services.domain.insight import shop as insight
from services.domain.insight.shop import ShopNow
from services.i18n import ngettext
from views.support import instant, safe
from views.support.instant import ticks
from views.support.words import shop
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON, status

_PAD, _LINE, _GAP, _MOST = 10, 20, 16, 420
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap)
_ELIDE = Qt.TextElideMode.ElideRight


def count_words(cell: ShopNow) -> str:
    """What waits, runs and died."""
    parts = (
        ngettext("{n} waiting", "{n} waiting", cell.waiting).format(n=f"{cell.waiting:,}"),
        ngettext("{n} running", "{n} running", cell.running).format(n=f"{cell.running:,}"),
        ngettext("{n} dead", "{n} dead", cell.dead).format(n=f"{cell.dead:,}"),
    )
    return " · ".join(parts)


def sentence(cell: ShopNow, platform: str) -> str:
    """The card in one sentence, for screen readers."""
    who = f"{safe.one_line(cell.name)}, {platform} {safe.one_line(cell.shop_id)}"
    told = shop.why(cell, instant.now_ms())
    return f"{who}: {shop.state(cell)}; {told}; {count_words(cell)}"


class HeatCard(QWidget):
    """Floats in the window, takes no mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._cell: ShopNow | None = None
        self._why: tuple[str, ...] = ()
        self._tall: list[int] = []  #: heights of the lines below the state
        self.hide()
        ticks().ticked.connect(self._on_tick)

    @property
    def cell(self) -> ShopNow | None:
        """The shop shown."""
        return self._cell

    def show_cell(self, cell: ShopNow, corner: QPoint, side: int) -> None:
        """Show a shop beside its cell, whose corner is given in the window."""
        self._tell(cell)
        self.move(self._place(corner, side))
        self.show()
        self.raise_()

    def _on_tick(self) -> None:
        """Say again how far away everything is of which it tells."""
        if self.isVisible() and self._cell is not None:
            self._tell(self._cell)

    def _tell(self, cell: ShopNow) -> None:
        why = tuple(shop.said(one) for one in insight.reasons(cell, instant.now_ms()))
        if (cell, why) != (self._cell, self._why):
            self._cell, self._why = cell, why
            self.resize(self._size(cell))
            self.update()

    def _size(self, cell: ShopNow) -> QSize:
        strong, label = QFontMetrics(theme().font("strong")), QFontMetrics(theme().font("label"))
        head = (
            strong.horizontalAdvance(safe.one_line(cell.name, 60)) + _GAP + label.horizontalAdvance(cell.shop_id[:40])
        )
        state = label.horizontalAdvance(shop.state(cell)) + 20
        lines = (*self._why, count_words(cell))
        width = max(head, state, *(label.horizontalAdvance(words) for words in lines), 180)
        width = min(_MOST - 2 * _PAD, width)
        self._tall = [
            max(_LINE, label.boundingRect(QRect(0, 0, width, 200), _WRAP, words).height() + 4) for words in lines
        ]
        return QSize(width + 2 * _PAD, 2 * _PAD + 2 * _LINE + sum(self._tall) - 4)

    def _place(self, corner: QPoint, side: int) -> QPoint:
        """Below and to the right, or on the side with room."""
        window = self.parentWidget()
        room = QRect(QPoint(4, 4), (window.size() if window is not None else self.size()) - QSize(8, 8))
        x, y = corner.x() + side + 6, corner.y() - 8
        if x + self.width() > room.right():
            x = corner.x() - self.width() - 6
        return QPoint(max(room.left(), x), max(room.top(), min(y, room.bottom() - self.height())))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the card."""
        cell = self._cell
        if cell is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("line2"))
        painter.setBrush(theme().color("raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_BUTTON, RADIUS_BUTTON)
        row = QRectF(_PAD, _PAD - 2, self.width() - 2 * _PAD, _LINE)
        self._words(painter, row, cell.shop_id[:40], "label", "text3", flags=_RIGHT)
        taken = QFontMetrics(theme().font("label")).horizontalAdvance(cell.shop_id[:40]) + 8
        self._words(painter, row.adjusted(0, 0, -taken, 0), safe.one_line(cell.name, 60), "strong", "text")
        token = status(cell.state)
        row.translate(0, _LINE)
        painter.drawPixmap(QPointF(row.left(), row.center().y() - 6), theme().pixmap(token.glyph, token.role, 12))
        self._words(painter, row.adjusted(18, 0, 0, 0), shop.state(cell), "label", token.role)
        painter.setFont(theme().font("label"))
        top = row.bottom()
        for words, tall in zip((*self._why, count_words(cell)), self._tall, strict=True):
            painter.setPen(theme().color("text2" if words in self._why else "text3"))
            painter.drawText(QRectF(row.left(), top, row.width(), tall), _WRAP, words)
            top += tall

    def _words(self, painter: QPainter, room: QRectF, words: str, kind: str, ink: str, *, flags: int = _LEFT) -> None:
        font = theme().font(kind)
        painter.setFont(font)
        painter.setPen(theme().color(ink))
        painter.drawText(room, flags, QFontMetrics(font).elidedText(words, _ELIDE, int(room.width())))
