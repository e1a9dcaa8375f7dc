"""Waiting tasks over the next minutes, with and without what is about to be sent."""

from __future__ import annotations

from datetime import timedelta

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from services.domain.insight.outlook import Outlook
from services.i18n import _
from views.charts import ticks
from views.support import text
from views.support.language import on_language_changed
from views.theme import theme

LEFT, BOTTOM, TOP = 44, 18, 6
TIMES = 4
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


class WaitingPlot(QWidget):
    """Two areas over one axis; says the same in words to a screen reader."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._outlook: Outlook | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(120)
        theme().changed.connect(self.update)
        on_language_changed(self._say)
        self._say()

    def sizeHint(self) -> QSize:
        """Return a modest height."""
        return QSize(300, 150)

    def show_outlook(self, outlook: Outlook) -> None:
        """Draw another forecast."""
        self._outlook = outlook
        self._say()
        self.update()

    def _say(self) -> None:
        self.setAccessibleName(_("Waiting tasks, forecast"))
        if self._outlook is not None:
            most, less = max(self._outlook.with_them), max(self._outlook.without)
            words = _("At most {n} waiting, {less} without these tasks")
            self.setAccessibleDescription(words.format(n=text.count(round(most)), less=text.count(round(less))))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw grid, areas and axes."""
        outlook = self._outlook
        if outlook is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(LEFT, TOP, self.width() - LEFT - 2, self.height() - TOP - BOTTOM)
        top = ticks.top_of(max(*outlook.with_them, *outlook.without), None, 1.0)
        self._paint_grid(painter, room, top)
        self._paint_area(painter, room, outlook.with_them, top, "deadfill", 45)
        self._paint_area(painter, room, outlook.without, top, "lane.normal", 60)
        self._paint_times(painter, room, outlook.horizon_s)

    def _paint_grid(self, painter: QPainter, room: QRectF, top: float) -> None:
        painter.setFont(theme().font("caption"))
        for value in ticks.values(top, 3):
            y = room.bottom() - room.height() * value / top
            painter.setPen(theme().color("line"))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(theme().color("text3"))
            painter.drawText(QRectF(0, y - 8, LEFT - 8, 16), _RIGHT, text.compact(round(value)))

    @staticmethod
    def _paint_area(
        painter: QPainter, room: QRectF, values: tuple[float, ...], top: float, role: str, percent: int
    ) -> None:
        step = room.width() / max(1, len(values) - 1)
        points = [
            QPointF(room.left() + n * step, room.bottom() - room.height() * value / top)
            for n, value in enumerate(values)
        ]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().tint(role, percent))
        painter.drawPolygon(QPolygonF([QPointF(room.left(), room.bottom()), *points, room.bottomRight()]))
        painter.setPen(QPen(theme().color(role), 1.2))
        painter.drawPolyline(QPolygonF(points))

    @staticmethod
    def _paint_times(painter: QPainter, room: QRectF, horizon_s: float) -> None:
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("text3"))
        metrics = QFontMetrics(theme().font("caption"))
        for number in range(TIMES + 1):
            span = timedelta(seconds=horizon_s * number / TIMES)
            words = _("now") if not number else f"+{text.coarse(span)}"
            width = metrics.horizontalAdvance(words) + 4
            x = room.left() + room.width() * number / TIMES
            left = min(max(x - width / 2, 0), room.right() - width)
            painter.drawText(QRectF(left, room.bottom() + 2, width, BOTTOM - 2), _CENTRE, words)
