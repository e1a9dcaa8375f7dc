"""What was measured of late, and when a rule would have told somebody: a chart to look back from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QToolTip, QWidget

from services.domain.alerts.dry_run import DryRun
from services.domain.alerts.rule import Rule
from services.domain.past.lanes import Span
from services.i18n import N_, _
from views.charts import ticks
from views.charts.plot import offer_table
from views.pages.alerts import words
from views.support import instant, safe, shown, text
from views.support.keys import beside
from views.support.paint import draw_focus, draw_line
from views.support.spoken import Role, spoken
from views.support.spoken import told as told_to_listeners
from views.theme import theme

CHART_ROW, CHART_AXIS, CURVE = 22, 16, 150


class TriedChart(QWidget):
    """What was measured, the limit over it, and when a rule would have told somebody. Of a measure without a number it
    is only when: as it stands in its fields above, as it is saved, if it is, below. Nobody knows what was in a gap.

    Signals:
        opened: the instant (UTC ms) of one of these is wanted.
    """

    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[DryRun, ...] = ()
        self._limit = 0.0
        self._current = -1
        self.setMouseTracking(True)
        self.hide()
        spoken(self, Role.Chart, self.accessibleDescription)
        theme().changed.connect(self.update)

    @property
    def curve(self) -> Sequence[tuple[int, float]]:
        """What is drawn: instants in UTC ms, and the highest that was measured about each."""
        return self._runs[0].curve if self._runs else ()

    @property
    def limit(self) -> float:
        """Where the line across it is drawn."""
        return self._limit

    def show_runs(self, edited: DryRun | None, saved: DryRun | None) -> None:
        """Show these; of what is not saved yet there is only the first, and nothing where that is not known."""
        known = edited is not None and edited.recorded
        self._runs = tuple(run for run in (edited, saved) if run is not None) if known else ()
        self._go_to(len(self._told()) - 1 if self.hasFocus() else -1)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._told() else Qt.FocusPolicy.NoFocus)
        self.setFixedHeight(CURVE if self.curve else len(self._runs) * CHART_ROW + CHART_AXIS)
        self.setAccessibleName(_("What was measured in the last 7 days"))
        self.setVisible(bool(self._runs))
        self.update()

    def show_limit(self, rule: Rule) -> None:
        """Draw the limit of a rule as it stands now, before that was tried."""
        self._limit = rule.limit(self._runs[0].limit) if self._runs else 0.0
        self.update()

    def _told(self) -> Sequence[Span]:
        return self._runs[0].told if self._runs else ()

    def _x(self, at: int) -> float:
        begin, end, room = self._runs[0].begin, self._runs[0].end, self._room()
        return room.left() + room.width() * (at - begin) / max(1, end - begin)

    def _room(self) -> QRectF:
        """Where time goes from left to right."""
        metrics = QFontMetrics(theme().font("caption"))
        if not self.curve:
            left = max(metrics.horizontalAdvance(name) for name in (_("as here"), _("saved"))) + 10
            return QRectF(left, 0, self.width() - left - 1, len(self._runs) * CHART_ROW)
        left = max(metrics.horizontalAdvance(text.count(round(one))) for one in self._heights()) + 8
        return QRectF(left, CHART_ROW, self.width() - left - 6, self.height() - CHART_ROW - CHART_AXIS)

    def _top(self) -> float:
        return max(1.0, self._limit, *(value for _at, value in self.curve)) * ticks.HEADROOM

    def _heights(self) -> list[float]:
        return ticks.values(self._top(), 3)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what was measured as a table, or else when somebody would have been told."""
        rows = [(shown.clock(at, instant.now_ms()), _measured(value)) for at, value in self.curve]
        if rows:
            offer_table(self, event, (N_("Time"), N_("Value")), rows)
        else:
            offer_table(self, event, (N_("Time"),), [(_told_span(one),) for one in self._told()])

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it over one axis of time."""
        if not self._runs:
            return
        painter = QPainter(self)
        painter.setFont(theme().font("caption"))
        if self.curve:
            self._paint_curve(painter)
        else:
            self._paint_rows(painter)
        room, begin, end = self._room(), self._runs[0].begin / 1000, self._runs[0].end / 1000
        painter.setPen(theme().color("text3"))
        for at, said in ticks.times(begin, end, max(1, int(room.width() // 70)), shown.zone()):
            wide = painter.fontMetrics().horizontalAdvance(said)
            x = self._x(round(at * 1000)) - wide / 2
            if room.left() <= x and x + wide <= self.width():
                draw_line(painter, QRectF(x, room.bottom() + 2, wide + 2, CHART_AXIS - 2), said)

    def _paint_rows(self, painter: QPainter) -> None:
        current = self._focused()
        for row, (name, run) in enumerate(zip((_("as here"), _("saved")), self._runs, strict=False)):
            room, top = self._room(), row * CHART_ROW
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, top, room.left() - 8, CHART_ROW - 4), name)
            line = QRectF(room.left(), top + 2, room.width(), CHART_ROW - 8)
            painter.fillRect(line, theme().color("raised"))
            self._paint_gaps(painter, line, run)
            for one in run.told:
                colour = theme().color("retrying" if row == 0 else "text3")
                spot = QRectF(self._x(one.begin), line.top(), self._wide(one), line.height())
                painter.fillRect(spot, colour)
                if row == 0 and one is current:
                    draw_focus(painter, spot.adjusted(-3, -2, 3, 2))

    def _paint_gaps(self, painter: QPainter, line: QRectF, run: DryRun) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for gap in run.gaps:
            part = QRectF(self._x(gap.begin), line.top(), self._x(gap.end) - self._x(gap.begin), line.height())
            painter.fillRect(part, QBrush(theme().color("line2"), Qt.BrushStyle.BDiagPattern))

    def _wide(self, one: Span) -> float:
        return max(2.0, self._x(one.end) - self._x(one.begin))

    def _paint_curve(self, painter: QPainter) -> None:
        run, room, top = self._runs[0], self._room(), self._top()

        def y_of(value: float) -> float:
            return room.bottom() - room.height() * value / top

        for value in self._heights():
            y = round(y_of(value)) + 0.5
            painter.setPen(QPen(theme().color("line"), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, y - 8, room.left() - 6, 16), text.count(round(value)), right=True)
        self._paint_gaps(painter, room, run)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground, line = QColor(theme().color("accent")), QPen(theme().color("accent"), 1.2)
        ground.setAlphaF(0.14)
        for piece in _pieces(run):
            points = [QPointF(self._x(at), y_of(value)) for at, value in piece]
            below = [QPointF(points[-1].x(), room.bottom()), QPointF(points[0].x(), room.bottom())]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawPolygon(QPolygonF([*points, *below]))
            painter.setPen(line)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(QPolygonF(points))
        self._paint_told(painter, room)
        self._paint_limit(painter, room, y_of(self._limit))
        painter.setPen(theme().color("text3"))
        draw_line(painter, QRectF(0, 0, self.width(), CHART_ROW - 6), words.limit_name(run.limit))

    def _paint_limit(self, painter: QPainter, room: QRectF, at: float) -> None:
        if not self._limit:  # its measure has none, or it is switched off
            return
        y = round(at) + 0.5
        painter.setPen(QPen(theme().color("retrying"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
        said = _("limit {n}").format(n=words.figure(self._limit))
        wide = painter.fontMetrics().horizontalAdvance(said)
        painter.fillRect(QRectF(room.left() + 4, y - 16, wide + 4, 15), theme().color("surface"))
        painter.setPen(theme().color("retrying"))
        draw_line(painter, QRectF(room.left() + 6, y - 16, wide + 2, 15), said)

    def _paint_told(self, painter: QPainter, room: QRectF) -> None:
        colour = QColor(theme().color("retrying"))
        for one in self._told():
            x = self._x(one.begin)
            colour.setAlphaF(0.2)
            painter.fillRect(QRectF(x, room.top(), self._wide(one), room.height()), colour)
            colour.setAlphaF(1.0)
            painter.setPen(QPen(colour, 1))
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(x, room.top()), 4, 4)
            if one is self._focused():
                draw_focus(painter, QRectF(x - 8, room.top() - 8, 16, 16))

    # each of these is a door

    def _focused(self) -> Span | None:
        return self._told()[self._current] if self.hasFocus() and self._current >= 0 else None

    def _go_to(self, place: int) -> None:
        """Be at one of them, which Enter opens; -1 at none."""
        self._current = place
        self.setAccessibleDescription(_told_span(self._told()[place]) if place >= 0 else "")
        told_to_listeners(self)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Be at the last of them."""
        super().focusInEvent(event)
        if self._current < 0:
            self._go_to(len(self._told()) - 1)

    def _at(self, x: float) -> Span | None:
        return next((one for one in self._told() if self._x(one.begin) - 6 <= x <= self._x(one.end) + 6), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show what a click would open."""
        found = self._at(event.position().x()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the moment at which somebody would have been told."""
        found = self._at(event.position().x())
        if found is not None and event.button() == Qt.MouseButton.LeftButton:
            with beside(event):
                self.opened.emit(found.begin)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from one to the next, and open one."""
        key, last = Qt.Key(event.key()), len(self._told()) - 1
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and last >= 0:
            self._go_to(min(max(0, self._current + (1 if key == Qt.Key.Key_Right else -1)), last))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and 0 <= self._current <= last:
            self.opened.emit(self._told()[self._current].begin)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Say what was when."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._runs:
            QToolTip.showText(event.globalPos(), safe.tooltip(self.said_at(event.pos().x())), self)
            return True
        return super().event(event)

    def said_at(self, x: float) -> str:
        """What was measured at a place, and that somebody would have been told."""
        found = self._at(x)
        lines = [_told_span(found), _("Look back at it")] if found is not None else []
        if self.curve:
            at, value = min(self.curve, key=lambda one: abs(self._x(one[0]) - x))
            if abs(self._x(at) - x) < 8:
                lines.insert(0, _("{name}: {value}").format(name=words.clock(at), value=_measured(value)))
        return "\n".join(lines)


def _measured(value: float) -> str:
    return words.figure(round(value, 1))


def _told_span(one: Span) -> str:
    span = text.duration(shown.span(one.end - one.begin))
    return _("{time} for {span}").format(time=words.clock(one.begin), span=span)


def _pieces(run: DryRun) -> Iterator[list[tuple[int, float]]]:
    """What was measured, without a line across what nobody knows."""
    piece: list[tuple[int, float]] = []
    for point in run.curve:
        if piece and any(piece[-1][0] <= gap.begin < point[0] for gap in run.gaps):
            yield piece
            piece = []
        piece.append(point)
    if piece:
        yield piece
