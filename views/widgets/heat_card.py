"""The card beside a cell of the heat map: who it is, what is wrong, how much waits."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from services.clock import SystemClock
from services.i18n import _, ngettext
from services.monitor.overview import ShopCell
from views.support import safe, session_words, shown, text
from views.theme import theme
from views.theme.tokens import RADIUS_BUTTON, status

_PAD, _LINE, _GAP, _MOST = 10, 20, 16, 420
_CLOCK = SystemClock()
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_ELIDE = Qt.TextElideMode.ElideRight


def state_words(cell: ShopCell) -> str:
    """The state in words, with what is known of it."""
    word = _(status(cell.state).word)
    if cell.under:
        under = _(status(cell.under).word)
        word = _("{state}, beneath: {under}").format(state=word, under=under)
    asks = session_words.asks_for(cell.session, cell.session_ms, _CLOCK.now_ms()) if cell.session else ""
    detail = cell.detail or asks or (breaker_words(cell) if cell.of else "")
    return _("{name}: {value}").format(name=word, value=safe.one_line(detail, 120)) if detail else word


def breaker_words(cell: ShopCell) -> str:
    """Why a shop waits that fails too often, and when one of its tasks tries again."""
    left = cell.next_try_ms - _CLOCK.now_ms()
    when = text.until(shown.span(left)) if left > 0 else _("now")
    return _("{failed} of the last {of} attempts failed; next try {when}").format(
        failed=cell.failed, of=cell.of, when=when
    )


def count_words(cell: ShopCell) -> str:
    """What waits, runs and died."""
    parts = (
        ngettext("{n} waiting", "{n} waiting", cell.waiting).format(n=f"{cell.waiting:,}"),
        ngettext("{n} running", "{n} running", cell.running).format(n=f"{cell.running:,}"),
        ngettext("{n} dead", "{n} dead", cell.dead).format(n=f"{cell.dead:,}"),
    )
    return " · ".join(parts)


def sentence(cell: ShopCell, platform: str) -> str:
    """The card in one sentence, for screen readers."""
    who = f"{safe.one_line(cell.name)}, {platform} {safe.one_line(cell.shop_id)}"
    return f"{who}: {state_words(cell)}; {count_words(cell)}"


class HeatCard(QWidget):
    """Floats in the window, takes no mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._cell: ShopCell | None = None
        self.hide()

    @property
    def cell(self) -> ShopCell | None:
        """The shop shown."""
        return self._cell

    def show_cell(self, cell: ShopCell, corner: QPoint, side: int) -> None:
        """Show a shop beside its cell, whose corner is given in the window."""
        if cell != self._cell:
            self._cell = cell
            self.resize(self._size(cell))
            self.update()
        self.move(self._place(corner, side))
        self.show()
        self.raise_()

    def _size(self, cell: ShopCell) -> QSize:
        strong, label = QFontMetrics(theme().font("strong")), QFontMetrics(theme().font("label"))
        head = (
            strong.horizontalAdvance(safe.one_line(cell.name, 60)) + _GAP + label.horizontalAdvance(cell.shop_id[:40])
        )
        state = label.horizontalAdvance(state_words(cell)) + 20
        width = min(_MOST, max(head, state, label.horizontalAdvance(count_words(cell)), 180) + 2 * _PAD)
        return QSize(width, 2 * _PAD + 3 * _LINE - 4)

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
        self._words(painter, row.adjusted(18, 0, 0, 0), state_words(cell), "label", token.role)
        row.translate(0, _LINE)
        self._words(painter, row, count_words(cell), "label", "text2")

    def _words(self, painter: QPainter, room: QRectF, words: str, kind: str, ink: str, *, flags: int = _LEFT) -> None:
        font = theme().font(kind)
        painter.setFont(font)
        painter.setPen(theme().color(ink))
        painter.drawText(room, flags, QFontMetrics(font).elidedText(words, _ELIDE, int(room.width())))
