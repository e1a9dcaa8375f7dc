"""How a promise goes on, as far as that can be told, and how it was kept, as far as that is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
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

from services.domain.promises.course import Course, Span
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE
from services.domain.promises.promise import AGE, Promise
from services.domain.promises.standing import HALF_HOUR_MS, MOST_BREAKS, Standing, past_step
from services.i18n import N_, _
from views.charts import ticks
from views.charts.plot import offer_table
from views.charts.pointed import Head, Point, PointedChart
from views.pages.promises import words
from views.support import instant, safe, shown, text
from views.support.keys import beside
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.paint import draw_focus, draw_line, width_of
from views.support.spoken import Role, spoken, told
from views.theme import theme
from views.widgets.card import Card
from views.widgets.layout import put, stacked
from views.widgets.segmented import Segmented

HOUR_MS = 3_600_000
AHEAD, DAY, WEEK, MONTH = "ahead", "day", "week", "month"
SPANS = ((AHEAD, N_("Forecast")), (DAY, N_("24 h")), (WEEK, N_("7 d")), (MONTH, N_("30 d")))
#: length of each, and of one column of it
LENGTHS = {
    DAY: (24 * HOUR_MS, HALF_HOUR_MS),
    WEEK: (7 * 24 * HOUR_MS, 3 * HOUR_MS),
    MONTH: (720 * HOUR_MS, 12 * HOUR_MS),
}
#: nothing is recorded; nothing is recorded but that it was not broken
UNKNOWN, UNBROKEN = "", "unbroken"
_BARS = {
    KEPT: (0.3, "okcell"),
    AT_RISK: (0.6, "retryfill"),
    BROKEN: (1.0, "deadfill"),
    NOT_DUE: (0.06, "line2"),
    UNBROKEN: (0.06, "line2"),
}
HEIGHT, AXIS, LEAST = 54, 20, 0.35


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the time; instants are UTC ms."""

    at: int
    until: int
    state: str  #: kept | at_risk | broken | not_due, ``UNBROKEN`` or ``UNKNOWN``
    shops: int = 0  #: broken at once, at most


def columns(found: Standing, since: int, span: str, now_ms: int) -> tuple[Column, ...]:
    """The time before ``now_ms``, the oldest first. Of a day it is known how each half hour stood, of more only when it
    was broken; nothing is known from before ``since``, when it was promised.
    """
    length, step = LENGTHS[span]
    last = now_ms - now_ms % step
    judged = dict(found.strip)
    if len(found.breaks) >= MOST_BREAKS:  # older ones are gone
        since = max(since, found.breaks[0].at)

    def column(at: int) -> Column:
        until = at + step
        broken = [one for one in found.breaks if one.at < until and (one.until or now_ms) > at]
        if broken:
            return Column(at=at, until=until, state=BROKEN, shops=max(one.shops for one in broken))
        state = judged.get(at, UNKNOWN) if span == DAY else UNKNOWN if until <= since else UNBROKEN
        return Column(at=at, until=until, state=state)

    return tuple(column(at) for at in range(last - length + step, last + step, step))


class KeptChart(QWidget):
    """A bar for each part of the time: height and colour say how it stood, of a break how many shops it was in. Each
    is a door, by a click, or by Left, Right and Enter.

    Signals:
        opened: what ran in this ``Column`` is wanted.
    """

    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[Column, ...] = ()
        self._current = -1  #: the one that the keys chose; the last one before they did
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        spoken(self, Role.Chart, self.accessibleDescription)
        theme().changed.connect(self.update)

    @property
    def columns(self) -> Sequence[Column]:
        """What is shown."""
        return self._columns

    def show_columns(self, found: Sequence[Column], said: str) -> None:
        """Show these; ``said`` is what they come to, for who does not see them."""
        self.setAccessibleName(said)
        if tuple(found) != self._columns:
            if len(found) != len(self._columns):
                self._current = -1
            self._columns = tuple(found)
            self._announce()
            self.update()

    @property
    def current(self) -> Column | None:
        """The one that Enter opens."""
        return self._columns[self._current] if self._columns else None

    def _announce(self) -> None:
        self.setAccessibleDescription(_said(self.current) if self.current is not None else "")
        told(self)

    def said_at(self, x: float) -> str:
        """What a column says, by its place; "" beside them."""
        one = self._at(x)
        return _said(one) if one is not None else ""

    def _at(self, x: float) -> Column | None:
        if not self._columns:
            return None
        place = int(x * len(self._columns) / max(1, self.width()))
        return self._columns[min(max(0, place), len(self._columns) - 1)]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer all of it as a table."""
        offer_table(self, event, (N_("Time"), N_("State")), [_parts(one) for one in self._columns])

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open what ran in the column that was clicked; with Ctrl in a window of its own."""
        one = self._at(event.position().x())
        if (
            one is not None
            and event.button() == Qt.MouseButton.LeftButton
            and self.rect().contains(event.position().toPoint())
        ):
            with beside(event):
                self.opened.emit(one)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from column to column, and open one."""
        key, last = Qt.Key(event.key()), len(self._columns) - 1
        now = self._current % max(1, len(self._columns))
        goes = {Qt.Key.Key_Left: now - 1, Qt.Key.Key_Right: now + 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        if key in goes and last >= 0:
            self._current = min(max(0, goes[key]), last)
            self._announce()
            self.update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.current is not None:
            self.opened.emit(self.current)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Say what the column under the pointer is."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            said = self.said_at(event.pos().x())
            said = "\n".join([said, _("Open the tasks that changed in it")]) if said else ""
            QToolTip.showText(event.globalPos(), safe.tooltip(said), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw bars and axis; what nobody recorded stays empty."""
        if not self._columns:
            return
        painter = QPainter(self)
        low = self.height() - AXIS
        most = max((one.shops for one in self._columns), default=0)
        step = self.width() / len(self._columns)
        for place, one in enumerate(self._columns):
            if one.state not in _BARS:
                continue
            share, role = _BARS[one.state]
            if one.shops:
                share = LEAST + (1 - LEAST) * one.shops / most
            height = max(2, round(share * (low - 4)))
            left = round(place * step)
            width = max(1, round((place + 1) * step) - left - 1)
            painter.fillRect(left, low - height, width, height, theme().color(role))
        painter.setPen(QPen(theme().color("line"), 1))
        painter.drawLine(0, low, self.width(), low)
        self._paint_axis(painter)
        if self.hasFocus():
            begin = (self._current % len(self._columns)) * step
            edge = QRectF(begin, 1, max(step, 4.0), low).intersected(QRectF(1, 1, self.width() - 2, low))
            draw_focus(painter, edge, 2)

    def _paint_axis(self, painter: QPainter) -> None:
        low = self.height() - AXIS
        begins, ends = self._columns[0].at / 1000, self._columns[-1].until / 1000
        painter.setFont(theme().font("caption"))
        metrics = QFontMetrics(painter.font())
        room = max(1, self.width() // (metrics.horizontalAdvance("00-00") * 2))
        painter.setPen(theme().color("text3"))
        for at, said in ticks.times(begins, ends, room, shown.zone()):
            x = (at - begins) / (ends - begins) * self.width()
            wide = metrics.horizontalAdvance(said)
            if x >= wide / 2 and x + wide / 2 <= self.width():
                painter.drawLine(QPointF(x, low), QPointF(x, low + 3))
                box = QRect(round(x - wide / 2) - 1, low + 3, wide + 2, AXIS - 3)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), said)


#: of the chart of what comes: rows of its legend, lines of its grid, and the room of a time
ROW, LINES, TIME_ROOM = 16, 3, 56
AHEAD_HEIGHT = HEIGHT + AXIS + 2 * ROW + 26
STAYS, HELPED, MEASURED = "retrying", "succeeded", "text2"
#: of what is seen ahead so much is seen of the time before; so many steps without a value are a gap
BEFORE, GAP_STEPS = 0.5, 3


class CourseChart(PointedChart):
    """The worst of a promise as it was measured, and from now on: if nothing changes, and with what helps done, each
    with what it may be off by, and the limit that it must not pass.
    """

    def __init__(self) -> None:
        super().__init__()
        self._course: Course | None = None
        self._promise = Promise(name="", task_type="")
        self._breaks = 0
        self._past: tuple[tuple[int, int], ...] = ()
        self._said = ""

    @property
    def course(self) -> Course | None:
        """What is shown."""
        return self._course

    @property
    def past(self) -> Sequence[tuple[int, int]]:
        """What is shown of the time before: instants in UTC ms, and the worst at each."""
        return self._past

    def show_course(self, found: Standing | None, promise: Promise, said: str) -> None:
        """Show how this one goes on; ``said``: what it comes to."""
        course = found.course if found is not None else None
        self._course, self._promise, self._said = course, promise, said
        self._breaks, self._past = 0, ()
        if found is not None and course is not None:
            self._breaks = found.first_break  # if nothing changes, 0 for none that has not
            before = course.begins - round((course.ends - course.begins) * BEFORE)
            seen = tuple(one for one in found.past if before <= one[0] < course.begins)
            self._past = (*seen, (course.begins, course.stays[0][1])) if seen else ()
        self.retell()

    def heads(self) -> tuple[Head, ...]:
        """What was measured, and how it goes on."""
        _unit, measured = words.measure(self._promise)
        stays, helped = Head(N_("if nothing changes"), STAYS), Head(N_("with these done"), HELPED)
        return Head(N_("Time")), Head(measured, MEASURED), stays, helped

    def points(self) -> list[Point]:
        """Those of the time before, and the steps of what is forecast."""
        found, now, room = self._course, instant.now_ms(), self.room()
        if found is None:
            return []
        unit, _words = words.measure(self._promise)
        past = [(at, text.count(round(worst / unit)), "", "") for at, worst in self._past]
        step = (found.ends - found.begins) / max(1, len(found.stays) - 1)
        ahead = [
            (round(found.begins + place * step), "", _spread(found.stays, place, unit),
             _spread(found.helped, place, unit))
            for place in range(len(found.stays))
        ]  # fmt: skip
        rows = [(self._x(room, at), shown.clock(at, now), said) for at, *said in (*past, *ahead)]
        return [Point(x, (time, *said)) for x, time, said in rows if x is not None]

    def summary(self) -> str:
        """What it comes to."""
        return self._said

    def room(self) -> QRectF:
        """Right of the numbers, above the times."""
        wide = max((width_of(text.count(round(one)), "caption") for one in ticks.values(self._top(), LINES)), default=0)
        return QRectF(wide + 8, 2 * ROW + 4, self.width() - wide - 10, self.height() - 2 * ROW - 4 - AXIS)

    def _top(self) -> float:
        found = self._course
        if found is None:
            return 1.0
        unit, _words = words.measure(self._promise)
        ahead = (high / unit for _low, _mid, high in (*found.stays, *found.helped))
        most = max([*ahead, *(one / unit for _at, one in self._past)])
        return max(most, self._promise.limit_s / unit, 1.0) * ticks.HEADROOM

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw what is forecast over its limit."""
        found = self._course
        if found is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme().font("caption"))
        unit, measured = words.measure(self._promise)
        top, room = self._top(), self.room()
        self._paint_head(painter, measured)
        for one in ticks.values(top, LINES):
            y = round(room.bottom() - one / top * room.height()) + 0.5
            painter.setPen(QPen(theme().color("line"), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, y - 8, room.left() - 8, 16), text.count(round(one)), right=True)
        begins, ends = self._begins / 1000, found.ends / 1000
        for at, said in ticks.times(begins, ends, int(room.width() // TIME_ROOM), shown.zone()):
            x = room.left() + (at - begins) / (ends - begins) * room.width()
            half = painter.fontMetrics().horizontalAdvance(said) / 2
            if x + half <= self.width():
                draw_line(painter, QRectF(max(0.0, x - half), room.bottom() + 3, 2 * half, AXIS - 3), said)
        self._paint_limit(painter, room, top, unit)
        self._paint_past(painter, room, top * unit)
        self._paint_spans(painter, room, found.stays, top * unit, STAYS)
        self._paint_spans(painter, room, found.helped, top * unit, HELPED)
        self._paint_break(painter, room, top, unit)
        self.paint_pointed(painter)

    def _paint_head(self, painter: QPainter, measured: str) -> None:
        painter.setPen(theme().color("text3"))
        draw_line(painter, QRectF(0, 0, self.width(), ROW), measured)
        left, metrics, parts = 0.0, painter.fontMetrics(), self._legend()
        if self._past and sum(metrics.horizontalAdvance(said) + 27 for said, _role in parts) - 14 > self.width():
            parts = parts[1:]  # that what stands before now was measured goes without saying
        for said, role in parts:
            painter.fillRect(QRectF(left, ROW + 4, 8, 8), theme().color(role))
            painter.setPen(theme().color("text2"))
            wide = metrics.horizontalAdvance(said)
            draw_line(painter, QRectF(left + 13, ROW, wide, ROW), said)
            left += wide + 27

    def _legend(self) -> list[tuple[str, str]]:
        both = [(_("measured"), MEASURED)] if self._past else []
        both.append((_("if nothing changes"), STAYS))
        if self._course is not None and self._course.helped:
            both.append((_("with these done"), HELPED))
        return both

    @property
    def _begins(self) -> int:
        assert self._course is not None
        return self._past[0][0] if self._past else self._course.begins

    def _paint_past(self, painter: QPainter, room: QRectF, top: float) -> None:
        """What was measured; what nobody recorded stays empty."""
        painter.setPen(QPen(theme().color(MEASURED), 1.5))
        for (at, one), (then, other) in pairwise(self._past):
            if then - at <= GAP_STEPS * past_step(self._promise):
                first, last = self._x(room, at), self._x(room, then)
                if first is not None and last is not None:
                    heights = (room.bottom() - value / top * room.height() for value in (one, other))
                    painter.drawLine(QPointF(first, next(heights)), QPointF(last, next(heights)))
        now = self._x(room, self._past[-1][0]) if self._past else None
        if now is not None:
            painter.setPen(QPen(theme().color("line2"), 1))
            painter.drawLine(QPointF(now, room.top()), QPointF(now, room.bottom()))

    def _paint_spans(self, painter: QPainter, room: QRectF, spans: Sequence[Span], top: float, role: str) -> None:
        now = self._x(room, self._course.begins) if self._course is not None else None
        if not spans or now is None:
            return
        low, mid, high = (
            [
                QPointF(
                    now + place / (len(spans) - 1) * (room.right() - now), room.bottom() - one / top * room.height()
                )
                for place, one in enumerate(edge)
            ]
            for edge in zip(*spans, strict=True)
        )
        colour = QColor(theme().color(role))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
        painter.drawPolyline(QPolygonF(mid))
        colour.setAlphaF(0.18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([*low, *reversed(high)]))

    def _paint_limit(self, painter: QPainter, room: QRectF, top: float, unit: int) -> None:
        """What must not be passed: an age, or an hour."""
        painter.setPen(QPen(theme().color("dead"), 1, Qt.PenStyle.DashLine))
        if self._promise.kind == AGE:
            y = round(room.bottom() - self._promise.limit_s / unit / top * room.height()) + 0.5
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
        elif (x := self._x(room, self._breaks)) is not None:
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))

    def _paint_break(self, painter: QPainter, room: QRectF, top: float, unit: int) -> None:
        """When the first shop breaks if nothing changes."""
        found, x = self._course, self._x(room, self._breaks)
        if found is None or x is None:
            return
        y = room.top() + 8
        if self._promise.kind == AGE:
            if found.stays[0][1] >= self._promise.limit_s:
                return  # the oldest has passed it already
            y = room.bottom() - self._promise.limit_s / unit / top * room.height()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color(STAYS))
            painter.drawEllipse(QPointF(x, y), 4, 4)
        said = f"{shown.moment(self._breaks).astimezone(shown.zone()):%H:%M}"
        wide = painter.fontMetrics().horizontalAdvance(said)
        painter.setPen(theme().color(STAYS))
        left = x - wide - 6 if x - wide - 6 > room.left() else x + 6
        draw_line(painter, QRectF(left, max(room.top(), y - 18), wide, ROW), said)

    def _x(self, room: QRectF, at: int) -> float | None:
        found = self._course
        if found is None or not self._begins <= at <= found.ends:
            return None
        return room.left() + (at - self._begins) / (found.ends - self._begins) * room.width()


class KeptCard(Card):
    """What comes of a promise, or how it was kept over a time that is chosen, and what that comes to.

    Signals:
        opened: what ran in a ``Column`` of it is wanted, and whether that is long ago.
    """

    opened = Signal(object, bool)

    def __init__(self) -> None:
        super().__init__()
        self._found: tuple[Standing, Promise] | None = None
        self.span = Segmented(SPANS, N_("Time range"))
        self.chart, self.ahead, self.said = KeptChart(), CourseChart(), Label("", "label", "text2", wrap=True)
        self._chosen = self._stale = False
        self._charts = stacked(self.ahead, self.chart)
        self._charts.setMinimumHeight(AHEAD_HEIGHT)
        self._charts.setMaximumHeight(2 * AHEAD_HEIGHT)
        put(self.body, self.span, self._charts, self.said)
        self.span.chosen.connect(lambda _key: self._choose())
        self.chart.opened.connect(lambda one: self.opened.emit(one, self.span.current() != DAY))
        on_language_changed(self._say)

    def show_standing(self, found: Standing | None, promise: Promise, *, stale: bool = False) -> None:
        """Show what comes of it, where that can be told, else how it was kept; None where nobody has judged it.
        ``stale``: nobody judges it any more, so nobody can tell what comes.
        """
        if self._found is None or self._found[1].name != promise.name:
            self._chosen = False
        self._found, self._stale = (found, promise) if found is not None else None, stale
        if found is not None and not self._chosen:
            self.span.set_current(AHEAD if found.course is not None and not stale else DAY)
        self._say()

    def _choose(self) -> None:
        self._chosen = True
        self._say()

    def _say(self) -> None:
        if self._found is None:
            return
        (found, promise), now, span = self._found, instant.now_ms(), self.span.current()
        if span == AHEAD:
            said = words.unjudged(found, now) if self._stale else words.ahead(found, now)
            self.ahead.show_course(None if self._stale else found, promise, said)
        else:
            length, step = LENGTHS[span]
            bar = _("a bar is {span}").format(span=text.exact(shown.span(step)))
            said = text.listed([words.kept(found, now - length, now), bar], ";")
            self.chart.show_columns(columns(found, promise.since, span, now), said)
        self._charts.setCurrentWidget(self.ahead if span == AHEAD else self.chart)
        self.said.setText(said)


def _spread(spans: Sequence[Span], place: int, unit: int) -> str:
    """The middle, and what it may be off by."""
    if place >= len(spans):
        return ""
    low, mid, high = (text.count(round(one / unit)) for one in spans[place])
    return mid if low == high else f"{mid} ({low}–{high})"


def _said(one: Column) -> str:
    when, what = _parts(one)
    return _("{name}: {value}").format(name=when, value=what)


def _parts(one: Column) -> tuple[str, str]:
    """When it was, and how it stood then."""
    now = instant.now_ms()
    when = _("{begin} to {end}").format(begin=words.minute(one.at, now), end=words.minute(min(one.until, now), now))
    if one.shops:
        what = _("broken in {shops}").format(shops=words.shops(one.shops))
    else:
        unsaid = {UNKNOWN: _("nothing is recorded"), UNBROKEN: _("no break is recorded")}
        what = unsaid.get(one.state) or words.state(one.state)
    return when, what
