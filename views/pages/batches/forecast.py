"""How a batch came to where it is, and where it is likely to end: measured, forecast, deadline and what stays open."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
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
            Point(self._at_of(room, course, at, 0).x(), (shown.clock(round(at * 1000), now), *said))
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

    # painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw axes, what was measured, what is forecast, and the deadline."""
        course = self._course
        if course is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme().font("caption"))
        room = self.room()
        self._paint_axes(painter, room, course)
        self._paint_ahead(painter, room, course)
        self._paint_done(painter, room, course)
        self._paint_marks(painter, room, course)
        self.paint_pointed(painter)

    def _at_of(self, room: QRectF, course: Course, instant: float, number: float) -> QPointF:
        along = (instant - course.begun) / max(1.0, course.end - course.begun)
        return QPointF(room.left() + along * room.width(), room.bottom() - room.height() * number / course.total)

    def _paint_axes(self, painter: QPainter, room: QRectF, course: Course) -> None:
        for value in ticks.values(course.total, LINES):
            y = self._at_of(room, course, course.begun, value).y()
            painter.setPen(QPen(theme().color("line"), 1))
            painter.drawLine(QPointF(room.left(), round(y) + 0.5), QPointF(room.right(), round(y) + 0.5))
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, y - 8, room.left() - 8, 16), text.count(round(value)), right=True)
        for at, said in ticks.times(course.begun, course.end, int(room.width() // TICK_ROOM), shown.zone()):
            x, wide = self._at_of(room, course, at, 0).x(), painter.fontMetrics().horizontalAdvance(said)
            if room.left() <= x - wide / 2 and x + wide / 2 <= self.width():
                draw_line(painter, QRectF(x - wide / 2, room.bottom() + 2, wide, AXIS - 2), said)

    def _paint_ahead(self, painter: QPainter, room: QRectF, course: Course) -> None:
        since = course.told or course.now
        begin = self._at_of(room, course, since, course.done_by(since))
        if not course.middle:
            if course.stays:
                painter.setPen(QPen(theme().color("accent"), 1.5, Qt.PenStyle.DashLine))
                painter.drawLine(begin, QPointF(room.right(), begin.y()))
            return
        early, middle, late = (
            self._at_of(room, course, at, course.likely) for at in (course.early, course.middle, course.late)
        )
        colour = QColor(theme().color("accent"))
        painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(begin, middle)
        if not course.told:
            painter.drawLine(middle, QPointF(room.right(), middle.y()))
        colour.setAlphaF(0.22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.save()
        painter.setClipRect(room)
        painter.drawPolygon(QPolygonF([begin, early, late]))
        painter.restore()

    def _paint_done(self, painter: QPainter, room: QRectF, course: Course) -> None:
        points = [self._at_of(room, course, course.begun, 0)]
        points += [self._at_of(room, course, at, number) for at, number in course.curve]
        points.append(self._at_of(room, course, course.now, course.done))
        colour = QColor(theme().color("succeeded"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.5))
        painter.drawPolyline(QPolygonF(points))
        colour.setAlphaF(0.16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        corners = [QPointF(points[-1].x(), room.bottom()), QPointF(points[0].x(), room.bottom())]
        painter.drawPolygon(QPolygonF([*points, *corners]))

    def _paint_marks(self, painter: QPainter, room: QRectF, course: Course) -> None:
        now = self._at_of(room, course, course.now, course.done)
        painter.setPen(QPen(theme().color("text3"), 1))
        painter.drawLine(QPointF(round(now.x()) + 0.5, room.top()), QPointF(round(now.x()) + 0.5, room.bottom()))
        grid = [self._at_of(room, course, course.begun, value).y() for value in ticks.values(course.total, LINES)]
        labels = _Labels(painter, room, self._lines(room, course), grid)
        if course.deadline:
            self._paint_deadline(painter, labels, course)
        done = ngettext("{n} done", "{n} done", course.done).format(n=text.count(course.done))
        if course.stays and not course.middle:
            done = text.listed((done, words.stay_open(course.stays)))
        painter.setPen(theme().color("text2"))
        labels.say(done, [(now, before, above) for above in (True, False) for before in (True, False)])
        if course.told:
            self._paint_told(painter, labels, course)
        if course.middle and course.stays:
            level = self._at_of(room, course, course.now, course.likely).y()
            ends = [room.right(), self._at_of(room, course, course.deadline or course.middle, 0).x()]
            painter.setPen(theme().color("text2"))
            places = [(QPointF(end, level), True, above) for above in (True, False) for end in ends]
            labels.say(words.stay_open(course.stays), places)

    def _paint_deadline(self, painter: QPainter, labels: _Labels, course: Course) -> None:
        room = labels.room
        x = round(self._at_of(room, course, course.deadline, 0).x()) + 0.5
        last = course.middle if course.middle and not course.told else course.now
        tone = theme().color("retrying" if last > course.deadline else "text3")
        painter.setPen(QPen(tone, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
        when = shown.clock(round(course.deadline * 1000), round(course.now * 1000))
        painter.setPen(tone)
        said, at = _("deadline {time}").format(time=when), QPointF(x, room.top())
        labels.say(said, [(at, True, True), (at, False, True)])

    def _paint_told(self, painter: QPainter, labels: _Labels, course: Course) -> None:
        """Down to the time that it stands for."""
        room = labels.room
        end = self._at_of(room, course, course.middle, course.likely)
        painter.setPen(QPen(theme().color("accent"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(end, QPointF(end.x(), room.bottom()))
        painter.setPen(theme().color("text2"))
        when = shown.clock(round(course.middle * 1000), round(course.now * 1000))
        foot = QPointF(end.x(), room.bottom())
        labels.say(_("foretold {time}").format(time=when), [(foot, True, True), (foot, False, True)])

    def _lines(self, room: QRectF, course: Course) -> list[tuple[QPointF, QPointF]]:
        """What is drawn besides the grid, for words to keep clear of."""
        curve = [self._at_of(room, course, course.begun, 0)]
        curve += [self._at_of(room, course, at, number) for at, number in course.curve]
        now = self._at_of(room, course, course.now, course.done)
        found = list(pairwise([*curve, now]))
        since = course.told or course.now
        begin, level = self._at_of(room, course, since, course.done_by(since)), now
        if course.middle:
            level = self._at_of(room, course, course.middle, course.likely)
            found.append((begin, level))
        if course.middle or course.stays:
            found.append((level, QPointF(room.right(), level.y())))
        upright = [now.x()]
        upright += [
            self._at_of(room, course, at, 0).x() for at in (course.deadline, course.told and course.middle) if at
        ]
        return found + [(QPointF(x, room.top()), QPointF(x, room.bottom())) for x in upright]


class _Labels:
    """Puts words beside what they tell of; on no line and on no other words, if there is such a place."""

    def __init__(
        self, painter: QPainter, room: QRectF, lines: Sequence[tuple[QPointF, QPointF]], grid: Sequence[float]
    ) -> None:
        """``grid``: fainter, from side to side; words lie on it before they lie on anything else."""
        self.room = room
        self._painter, self._lines, self._grid = painter, lines, grid
        self._said: list[QRectF] = []

    def say(self, words_: str, places: Sequence[tuple[QPointF, bool, bool]]) -> None:
        """``places``: points, and whether the words end before it or begin after it, and stand above or below it; the
        best first.
        """
        wide = self._painter.fontMetrics().horizontalAdvance(words_)
        rects = [self._rect(wide, *place) for place in places]
        best = min(rects, key=self._cost)
        self._said.append(best)
        draw_line(self._painter, best, words_)

    def _rect(self, wide: float, at: QPointF, before: bool, above: bool) -> QRectF:
        left = at.x() - wide - BESIDE if before else at.x() + BESIDE
        left = min(max(self.room.left() + 4, left), self.room.right() - wide)
        top = at.y() - LABEL - 2 if above else at.y() + 4
        return QRectF(left, min(max(0.0, top), self.room.bottom() - LABEL), wide, LABEL)

    def _cost(self, rect: QRectF) -> int:
        letters = rect.adjusted(-2, 2, 2, -2)
        faint = sum(letters.top() <= y <= letters.bottom() for y in self._grid)
        covered = sum(letters.intersects(one) for one in self._said)
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
