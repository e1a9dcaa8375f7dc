"""How a batch came to where it is, and where it is likely to end: measured, forecast, deadline and what stays open."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from services.i18n import N_, _, ngettext
from views.charts import ticks
from views.charts.pointed import Head, Point, PointedChart
from views.pages.batches import words
from views.pages.batches.words import BatchNow
from views.support import shown, text
from views.support.paint import draw_line, width_of
from views.theme import theme

HEIGHT, HEAD, AXIS, SIDE, TICK_ROOM, LINES = 168, 20, 18, 34, 72, 3
#: how high words are, and how far from the line that they stand beside
LABEL, BESIDE = 16, 6
#: seconds that an axis is wide at least, and the part of it that is left free at its end
LEAST_S, FREE = 60.0, 0.06
#: of a curve at most; a card is not wider
POINTS = 400
#: from where to where, never to the left
_Line = tuple[QPointF, QPointF]


class Course(msgspec.Struct, frozen=True):
    """What is drawn; instants in UTC seconds. ``curve``: when how many had succeeded."""

    begun: float
    now: float
    curve: tuple[tuple[float, int], ...]
    done: int
    total: int
    likely: int  #: so many end without a person
    stays: int = 0  #: so many do not, while anything is open and it can be told
    early: float = 0.0  #: the forecast end and what it may be off by; 0 for none
    middle: float = 0.0
    late: float = 0.0
    deadline: float = 0.0  #: 0 for none
    told: float = 0.0  #: when the end was forecast of what has ended now, 0: it is forecast now

    def done_by(self, instant: float) -> int:
        """How many had succeeded by then."""
        return (
            max((number for at, number in self.curve if at <= instant), default=0) if instant < self.now else self.done
        )

    @property
    def end(self) -> float:
        """Where the axis ends."""
        ahead = self.middle if self.told else self.late  # what it might have been off by matters no more
        last = max(self.now, ahead, self.deadline, self.begun + LEAST_S)
        return last + (last - self.begun) * FREE


def course_of(one: BatchNow) -> Course | None:
    """What there is to draw of a batch, None for nothing; its first tasks alone are not drawn as if they were all."""
    if one.story is None or not one.complete or not one.view.begun_at or not one.story.total:
        return None
    now, left = one.at_ms / 1000, one.view.left
    open_ = words.is_open(one.view)
    stuck = words.stuck(one)
    before = one.foretold if not open_ else None
    ahead = before.left if before is not None else left if open_ and not stuck else None
    since = before.at_ms / 1000 if before is not None else now
    return Course(
        begun=one.view.begun_at / 1000,
        now=now if open_ or not one.ends else one.ends[-1] / 1000,
        curve=tuple(
            (one.ends[place] / 1000, place + 1) for place in range(0, len(one.ends), 1 + len(one.ends) // POINTS)
        ),
        done=len(one.ends),
        total=one.story.total,
        likely=one.story.by_itself if open_ else len(one.ends),
        stays=one.story.stays if open_ and (stuck or ahead is not None) else 0,
        early=since + ahead.low_s if ahead is not None else 0.0,
        middle=since + ahead.mid_s if ahead is not None else 0.0,
        late=since + ahead.high_s if ahead is not None else 0.0,
        deadline=(one.story.deadline if open_ else one.story.due) / 1000,
        told=since if before is not None else 0.0,
    )


def note(one: BatchNow) -> str:
    """The forecast in words, for the head of its card."""
    left = one.view.left
    if not one.complete:
        return words.looked_at()
    if not words.is_open(one.view):
        return _("ended {time}").format(time=shown.clock(one.ends[-1], one.at_ms)) if one.ends else ""
    if one.story is not None and words.stuck(one):
        return words.stay_open(one.story.stays)
    if left is None:
        return _("too early to say")
    first, last = (shown.clock(round(one.at_ms + span * 1000), one.at_ms) for span in (left.low_s, left.high_s))
    return _("{begin} to {end}").format(begin=first, end=last)


class BatchForecast(PointedChart):
    """The chart of one batch."""

    def __init__(self) -> None:
        super().__init__()
        self._batch: BatchNow | None = None
        self._course: Course | None = None
        #: made when it or its size changes: there are hundreds, and the mouse paints anew with each move
        self._drawn: tuple[_Lines, _Labels] | None = None
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_batch(self, one: BatchNow) -> None:
        """Show this one; of one whose story is not known yet nothing."""
        self._batch, self._course = one, course_of(one)
        self.retell()

    def heads(self) -> tuple[Head, ...]:
        """What was measured and what is forecast."""
        return Head(N_("Time")), Head(N_("Succeeded"), "succeeded"), Head(N_("Forecast"), "accent")

    def points(self) -> list[Point]:
        """One where a task succeeded, and where all may have."""
        course = self._course
        if course is None:
            return []
        now, room = round(course.now * 1000), self.room()
        done = [(at, text.count(number), "") for at, number in course.curve]
        ends = [(at, "", text.count(course.likely)) for at in (course.early, course.middle, course.late) if at]
        return [
            Point(_at(room, course, at, 0).x(), (shown.clock(round(at * 1000), now), *said))
            for at, *said in sorted((*done, *ends), key=lambda one: one[0])
        ]

    def room(self) -> QRectF:
        """Right of the numbers, above the times."""
        wide = width_of(text.count(self._course.total), "caption") if self._course is not None else 0
        room = QRectF(max(SIDE, wide + 10), HEAD, 0, HEIGHT - HEAD - AXIS)
        room.setRight(self.width() - 4)
        return room

    def summary(self) -> str:
        """How far it is, and when it is likely to be done."""
        course, one = self._course, self._batch
        done = _("{n} of {all} done").format(n=text.count(course.done), all=text.count(course.total)) if course else ""
        said = (done, note(one), words.off_by(one)) if one is not None else ()
        return text.listed(part for part in said if part)

    def sizeHint(self) -> QSize:
        """Return the room that it wants."""
        return QSize(320, HEIGHT)

    def retell(self) -> None:
        """Other lines stand there, too, or words of another width."""
        self._drawn = None
        super().retell()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Its lines are elsewhere."""
        super().resizeEvent(event)
        self._drawn = None

    # painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw axes, what was measured, what is forecast, and the deadline."""
        course = self._course
        if course is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme().font("caption"))
        if self._drawn is None:
            lines = _lines(self.room(), course)
            self._drawn = lines, _Labels(lines)
        lines, labels = self._drawn
        self._paint_axes(painter, lines, course)
        self._paint_ahead(painter, lines)
        self._paint_done(painter, lines)
        self._paint_marks(painter, lines, labels, course)
        self.paint_pointed(painter)

    def _paint_axes(self, painter: QPainter, lines: _Lines, course: Course) -> None:
        room = lines.room
        for value, y in lines.grid:
            painter.setPen(QPen(theme().color("line"), 1))
            painter.drawLine(QPointF(room.left(), round(y) + 0.5), QPointF(room.right(), round(y) + 0.5))
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, y - 8, room.left() - 8, 16), text.count(round(value)), right=True)
        for at, said in ticks.times(course.begun, course.end, int(room.width() // TICK_ROOM), shown.zone()):
            x, wide = _at(room, course, at, 0).x(), painter.fontMetrics().horizontalAdvance(said)
            if room.left() <= x - wide / 2 and x + wide / 2 <= self.width():
                draw_line(painter, QRectF(x - wide / 2, room.bottom() + 2, wide, AXIS - 2), said)

    def _paint_ahead(self, painter: QPainter, lines: _Lines) -> None:
        colour = QColor(theme().color("accent"))
        painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
        for line in lines.ahead:
            painter.drawLine(*line)
        colour.setAlphaF(0.22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.save()
        painter.setClipRect(lines.room)
        painter.drawPolygon(QPolygonF(lines.spread))
        painter.restore()

    def _paint_done(self, painter: QPainter, lines: _Lines) -> None:
        points = lines.done
        colour = QColor(theme().color("succeeded"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.5))
        painter.drawPolyline(QPolygonF(points))
        colour.setAlphaF(0.16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        bottom = lines.room.bottom()
        corners = [QPointF(points[-1].x(), bottom), QPointF(points[0].x(), bottom)]
        painter.drawPolygon(QPolygonF([*points, *corners]))

    def _paint_marks(self, painter: QPainter, lines: _Lines, labels: _Labels, course: Course) -> None:
        room, now = lines.room, lines.done[-1]
        painter.setPen(QPen(theme().color("text3"), 1))
        painter.drawLine(*lines.now)
        if lines.deadline is not None:
            self._paint_deadline(painter, lines.deadline, labels, course)
        done = ngettext("{n} done", "{n} done", course.done).format(n=text.count(course.done))
        if course.stays and not course.middle:
            done = text.listed((done, words.stay_open(course.stays)))
        painter.setPen(theme().color("text2"))
        labels.say(painter, done, [(now, before, above) for above in (True, False) for before in (True, False)])
        if lines.told is not None:
            self._paint_told(painter, lines.told, labels, course)
        if course.middle and course.stays:
            level = _at(room, course, course.now, course.likely).y()
            ends = [room.right(), _at(room, course, course.deadline or course.middle, 0).x()]
            painter.setPen(theme().color("text2"))
            places = [(QPointF(end, level), True, above) for above in (True, False) for end in ends]
            labels.say(painter, words.stay_open(course.stays), places)

    def _paint_deadline(self, painter: QPainter, line: _Line, labels: _Labels, course: Course) -> None:
        last = course.middle if course.middle and not course.told else course.now
        tone = theme().color("retrying" if last > course.deadline else "text3")
        painter.setPen(QPen(tone, 1, Qt.PenStyle.DashLine))
        painter.drawLine(*line)
        when = shown.clock(round(course.deadline * 1000), round(course.now * 1000))
        painter.setPen(tone)
        said, at = _("deadline {time}").format(time=when), line[0]
        labels.say(painter, said, [(at, True, True), (at, False, True)])

    def _paint_told(self, painter: QPainter, line: _Line, labels: _Labels, course: Course) -> None:
        """Down to the time that it stands for."""
        painter.setPen(QPen(theme().color("accent"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(*line)
        painter.setPen(theme().color("text2"))
        when = shown.clock(round(course.middle * 1000), round(course.now * 1000))
        foot = line[1]
        labels.say(painter, _("foretold {time}").format(time=when), [(foot, True, True), (foot, False, True)])


class _Lines(NamedTuple):
    """Where the lines of a course stand: they are drawn so, and words keep clear of them."""

    room: QRectF
    grid: Sequence[tuple[float, float]]  #: numbers and their heights; faint, from side to side
    done: Sequence[QPointF]  #: from the beginning to now
    ahead: Sequence[_Line]  #: what is forecast, or was
    spread: Sequence[QPointF]  #: the corners of what that may be off by
    now: _Line
    deadline: _Line | None
    told: _Line | None  #: from the end that was forecast of what has ended now, down

    def all(self) -> list[_Line]:
        """Each but the grid."""
        upright = [line for line in (self.now, self.deadline, self.told) if line is not None]
        return [*pairwise(self.done), *self.ahead, *upright]


def _at(room: QRectF, course: Course, instant: float, number: float) -> QPointF:
    along = (instant - course.begun) / max(1.0, course.end - course.begun)
    return QPointF(room.left() + along * room.width(), room.bottom() - room.height() * number / course.total)


def _lines(room: QRectF, course: Course) -> _Lines:
    done = [_at(room, course, course.begun, 0)]
    done += [_at(room, course, at, number) for at, number in course.curve]
    done.append(_at(room, course, course.now, course.done))
    ahead, spread = _ahead(room, course)
    end = _at(room, course, course.middle, course.likely)
    return _Lines(
        room=room,
        grid=[(value, _at(room, course, course.begun, value).y()) for value in ticks.values(course.total, LINES)],
        done=done,
        ahead=ahead,
        spread=spread,
        now=_upright(room, course, course.now),
        deadline=_upright(room, course, course.deadline) if course.deadline else None,
        told=(end, QPointF(end.x(), room.bottom())) if course.told else None,
    )


def _ahead(room: QRectF, course: Course) -> tuple[Sequence[_Line], Sequence[QPointF]]:
    """What is forecast and what it may be off by; of what has ended now, nothing goes on behind its end."""
    since = course.told or course.now
    begin = _at(room, course, since, course.done_by(since))
    if not course.middle:
        return ([(begin, QPointF(room.right(), begin.y()))] if course.stays else []), ()
    early, middle, late = (_at(room, course, at, course.likely) for at in (course.early, course.middle, course.late))
    level = [] if course.told else [(middle, QPointF(room.right(), middle.y()))]
    return [(begin, middle), *level], (begin, early, late)


def _upright(room: QRectF, course: Course, instant: float) -> _Line:
    x = round(_at(room, course, instant, 0).x()) + 0.5
    return QPointF(x, room.top()), QPointF(x, room.bottom())


class _Labels:
    """Puts words beside what they tell of; on no line and on no other words, if there is such a place."""

    def __init__(self, lines: _Lines) -> None:
        """Of the grid they keep clear last of all."""
        self._room, self._lines, self._grid = lines.room, lines.all(), [y for _value, y in lines.grid]
        self._said: dict[str, QRectF] = {}  #: by words: to look for a place takes long, and the mouse paints anew

    def say(self, painter: QPainter, words_: str, places: Sequence[tuple[QPointF, bool, bool]]) -> None:
        """``places``: points, and whether the words end before it or begin after it, and stand above or below it; the
        best first.
        """
        if words_ not in self._said:
            wide = painter.fontMetrics().horizontalAdvance(words_)
            self._said[words_] = min((self._rect(wide, *place) for place in places), key=self._cost)
        draw_line(painter, self._said[words_], words_)

    def _rect(self, wide: float, at: QPointF, before: bool, above: bool) -> QRectF:
        left = at.x() - wide - BESIDE if before else at.x() + BESIDE
        left = min(max(self._room.left() + 4, left), self._room.right() - wide)
        top = at.y() - LABEL - 2 if above else at.y() + 4
        return QRectF(left, min(max(0.0, top), self._room.bottom() - LABEL), wide, LABEL)

    def _cost(self, rect: QRectF) -> int:
        letters = rect.adjusted(-2, 2, 2, -2)
        faint = sum(letters.top() <= y <= letters.bottom() for y in self._grid)
        covered = sum(letters.intersects(one) for one in self._said.values())
        return faint + 2 * sum(_crosses(letters, *one) for one in self._lines) + 6 * covered


def _crosses(rect: QRectF, begin: QPointF, end: QPointF) -> bool:
    """Whether a line goes through; from left to right, or straight down."""
    left, right = max(rect.left(), begin.x()), min(rect.right(), end.x())
    if left > right:
        return False
    wide = end.x() - begin.x()
    slope = (end.y() - begin.y()) / wide if wide else 0.0
    ys = [begin.y() + slope * (x - begin.x()) for x in (left, right)] if wide else [begin.y(), end.y()]
    return min(ys) <= rect.bottom() and max(ys) >= rect.top()
