"""Hours or days of the fleet as lanes, with the moment that is looked at: the slider of looking back, and its play."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from services.domain.past.frame import UNTOLD
from services.domain.past.lanes import Lanes, Span
from services.i18n import N_, _
from services.monitor.past.queries import PastNow
from services.monitor.past.tape import step_of
from views.charts import ticks
from views.support import instant, shown, text
from views.support.language import say_in_language
from views.support.paint import draw_focus, draw_line
from views.support.spoken import Role, spoken
from views.theme import theme

#: what plays goes on by a minute each second
STEP_MS, EVERY_MS = 60_000, 1000
MINUTE_MS = 60_000

BARS, ROW, AXIS, PAD = 34, 16, 22, 8
CHIP_PAD = 6
TICK_ROOM = 90
DEATHS, ALERTED, SILENT, ACTED, DEPLOYED = range(5)  #: the lanes
LANES = (N_("Failures"), N_("Alerts"), N_("Silent workers"), N_("Acts"), N_("New versions"))
#: what the count of each lane opens
DOORS = (
    N_("Open the tasks that died in this time"),
    N_("Open the alert of this moment, or the nearest one"),
    N_("Open the worker that was silent at this moment, or the nearest one"),
    N_("Open the acts of this time in Audit"),
    N_("Open the workers, as they are now"),
)


class PastStrip(QWidget):
    """A click, a drag and the arrow keys choose a moment; the wheel shows more of the past, or less. The count of a
    lane is a door, by a click, or by Up, Down and Enter.

    Signals:
        moved: the moment that a person chose, UTC ms.
        opened: the place of a lane in ``LANES``: what it counts is wanted.
        zoomed: 1 for more of the past, -1 for less.
        play_wanted: Space was pressed.
    """

    moved = Signal(object)
    opened = Signal(int)
    zoomed = Signal(int)
    play_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lanes = Lanes(begin=0, end=1, step_ms=1)
        self._at = 0
        self._left = 0
        self._door = -1  #: the lane under the pointer, or chosen by the keyboard
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Slider, self.accessibleDescription)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._restyle)
        say_in_language(self._restyle)

    # what is shown

    def set_lanes(self, lanes: Lanes) -> None:
        """Show this stretch of the past."""
        self._lanes = lanes
        self._restyle()

    @property
    def lanes(self) -> Lanes:
        """What is shown."""
        return self._lanes

    def set_moment(self, at_ms: int) -> None:
        """Mark this moment, UTC ms."""
        self._at = at_ms
        self._announce()
        self.update()

    def shows(self, at_ms: int) -> bool:
        """Whether a moment is within what is shown."""
        return self._lanes.begin <= at_ms <= self._lanes.end

    @property
    def counts(self) -> tuple[int, ...]:
        """What stands beside the names of the lanes."""
        lanes = self._lanes
        failed = sum(number for number in lanes.failed if number != UNTOLD)
        return failed, len(lanes.alerts), len(lanes.silent), len(lanes.acts), len(lanes.deploys)

    def _counted(self) -> list[str]:
        """The counts as they are written: of more acts than are read it is said that there are more."""
        written = [text.count(number) for number in self.counts]
        if self._lanes.more_acts:
            written[ACTED] += "+"
        return written

    def sizeHint(self) -> QSize:
        return QSize(480, BARS + _row() * (len(LANES) - 1) + _axis())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _restyle(self) -> None:
        metrics = QFontMetrics(theme().font("caption"))
        names = max(metrics.horizontalAdvance(_(name)) for name in LANES)
        counts = max(map(metrics.horizontalAdvance, self._counted()))
        self._left = names + counts + 3 * PAD
        self._announce()
        self.updateGeometry()
        self.update()

    def _announce(self) -> None:
        told = ", ".join(f"{_(name)} {number}" for name, number in zip(LANES, self._counted(), strict=True))
        self.setAccessibleName(_("Look back in time"))
        said = f"{shown.clock(self._at, self._lanes.end)}; {told}"
        self.setAccessibleDescription(f"{_(DOORS[self._door])}; {said}" if self._door >= 0 else said)

    # where things are

    def _room(self) -> QRectF:
        return QRectF(self._left, 0, max(1, self.width() - self._left - PAD), self.height() - _axis())

    def x_of(self, at_ms: int) -> float:
        """Where a moment stands, in pixels from the left edge."""
        lanes, room = self._lanes, self._room()
        return room.left() + room.width() * (at_ms - lanes.begin) / max(1, lanes.end - lanes.begin)

    def at_x(self, x: float) -> int:
        """The moment at a place, UTC ms, within what is shown."""
        lanes, room = self._lanes, self._room()
        share = min(1.0, max(0.0, (x - room.left()) / room.width()))
        return round(lanes.begin + share * (lanes.end - lanes.begin))

    # painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw names, lanes, times and the moment."""
        painter = QPainter(self)
        room = self._room()
        self._paint_names(painter)
        self._paint_gaps(painter, room)
        self._paint_times(painter, room)
        self._paint_bars(painter, room)
        lanes = self._lanes
        self._paint_spans(painter, 1, lanes.alerts)
        self._paint_spans(painter, 2, lanes.silent)
        self._paint_acts(painter, room)
        self._paint_deploys(painter)
        painter.setPen(QPen(theme().color("line"), 1))
        painter.drawLine(QPointF(room.left(), room.bottom()), QPointF(room.right(), room.bottom()))
        self._paint_moment(painter, room)

    def _paint_names(self, painter: QPainter) -> None:
        painter.setFont(theme().font("caption"))
        for place, (name, number) in enumerate(zip(LANES, self._counted(), strict=True)):
            row = self._row(place)
            row.setLeft(0)
            row.setRight(self._left - PAD)
            painter.setPen(theme().color("text2"))
            draw_line(painter, row, _(name))
            ink = "accent" if place == self._door else "text" if self.counts[place] else "text3"
            painter.setPen(theme().color(ink))
            draw_line(painter, row, number, right=True)

    def _row(self, place: int) -> QRectF:
        room = self._room()
        top = 0 if place == 0 else BARS + (place - 1) * _row()
        return QRectF(room.left(), top, room.width(), BARS if place == 0 else _row())

    def _paint_gaps(self, painter: QPainter, room: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        brush = theme().color("line2")
        for gap in self._lanes.gaps:
            left, right = self.x_of(gap.begin), self.x_of(gap.end)
            painter.setBrush(brush)
            hatched = painter.brush()
            hatched.setStyle(Qt.BrushStyle.BDiagPattern)
            painter.setBrush(hatched)
            painter.drawRect(QRectF(left, 0, max(1.0, right - left), room.height()))

    def _paint_times(self, painter: QPainter, room: QRectF) -> None:
        begin, end = self._lanes.begin / 1000, self._lanes.end / 1000
        painter.setFont(theme().font("caption"))
        for at_s, words in ticks.times(begin, end, int(room.width() / TICK_ROOM), shown.zone()):
            x = round(self.x_of(round(at_s * 1000))) + 0.5
            painter.setPen(QPen(theme().color("line"), 1))
            painter.drawLine(QPointF(x, 0), QPointF(x, room.bottom()))
            wide = painter.fontMetrics().horizontalAdvance(words)
            place = QRectF(x - wide / 2, room.bottom(), wide, _axis())
            covered = self.shows(self._at) and place.intersects(self._chip(room))
            if place.left() >= room.left() and place.right() <= room.right() and not covered:
                painter.setPen(theme().color("text3"))
                draw_line(painter, place, words)

    @property
    def told(self) -> str:
        """The moment as it is written below it: no finer than the record of its time, and with the day if not today."""
        now, step = instant.now_ms(), step_of(instant.now_ms() - self._at)
        zone = shown.zone()
        at, today = (shown.moment(one).astimezone(zone) for one in (self._at, now))
        day = "" if at.date() == today.date() else f"{at:%m-%d} "
        if step < MINUTE_MS:
            return f"{day}{at:%H:%M:%S}"
        return f"{day}{at:%H:%M} · {text.exact(shown.span(step))}"

    def _chip(self, room: QRectF) -> QRectF:
        """Where the moment is written: below it, and within the strip."""
        wide = QFontMetricsF(theme().font("labelstrong")).horizontalAdvance(self.told) + 2 * CHIP_PAD
        left = min(max(self.x_of(self._at) - wide / 2, room.left()), room.right() - wide)
        return QRectF(left, room.bottom() + 2, wide, _axis() - 4)

    def _paint_bars(self, painter: QPainter, room: QRectF) -> None:
        failed = self._lanes.failed
        highest = max(failed, default=0)
        if highest <= 0:
            return
        wide = room.width() * self._lanes.step_ms / max(1, self._lanes.end - self._lanes.begin)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("dead"))
        for place, number in enumerate(failed):
            if number > 0:
                tall = max(2.0, (BARS - 4) * number / highest)
                left = self.x_of(self._lanes.begin + place * self._lanes.step_ms)
                painter.drawRect(QRectF(left, BARS - tall, max(1.0, min(wide - 1, room.right() - left)), tall))

    def _paint_spans(self, painter: QPainter, place: int, spans: Iterable[Span]) -> None:
        row = self._row(place)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("warning"))
        for span in spans:
            left, right = self.x_of(span.begin), self.x_of(span.end)
            painter.drawRoundedRect(QRectF(left, row.center().y() - 2, max(4.0, right - left), 4), 2, 2)

    def _paint_acts(self, painter: QPainter, room: QRectF) -> None:
        row = self._row(ACTED)
        painter.setPen(QPen(theme().color("text2"), 1))
        seen = {round(self.x_of(at)) for at in self._lanes.acts}
        for x in seen:
            if room.left() <= x <= room.right():
                painter.drawLine(QPointF(x + 0.5, row.top() + 3), QPointF(x + 0.5, row.bottom() - 3))

    def _paint_deploys(self, painter: QPainter) -> None:
        row = self._row(4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("text2"))
        for span in self._lanes.deploys:
            x, y = self.x_of(span.begin), row.center().y()
            points = [QPointF(x, y - 4), QPointF(x + 4, y), QPointF(x, y + 4), QPointF(x - 4, y)]
            painter.drawPolygon(QPolygonF(points))

    def _paint_moment(self, painter: QPainter, room: QRectF) -> None:
        if not self.shows(self._at):
            return
        x = self.x_of(self._at)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme().color("scheduled"), 2))
        painter.drawLine(QPointF(x, 0), QPointF(x, room.bottom()))
        painter.setFont(theme().font("labelstrong"))
        chip = self._chip(room)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("scheduled"))
        painter.drawRoundedRect(chip, 4, 4)
        painter.setPen(theme().color("surface"))
        draw_line(painter, chip.adjusted(CHIP_PAD, 0, -CHIP_PAD, 0), self.told)
        if self.hasFocus():
            draw_focus(painter, chip.adjusted(-1, -1, 1, 1))

    # hands

    def door_at(self, place: QPointF) -> int:
        """The lane whose name and count stand there, -1 where there is none, or nothing in it."""
        if place.x() >= self._left - PAD:
            return -1
        counts = self.counts
        return next((n for n in range(len(LANES)) if counts[n] and self._row(n).contains(self._left, place.y())), -1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the moment under the pointer, or open what a lane counts."""
        door = self.door_at(event.position())
        if door >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.opened.emit(door)
            return
        self._choose(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the moment."""
        if not event.buttons():
            self._point(self.door_at(event.position()))
        self._choose(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Point at no lane."""
        self._point(-1)
        super().leaveEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Point at no lane."""
        self._point(-1)
        super().focusOutEvent(event)

    def _point(self, door: int) -> None:
        if door != self._door:
            self._door = door
            self.setCursor(Qt.CursorShape.PointingHandCursor if door >= 0 else Qt.CursorShape.ArrowCursor)
            self._announce()
            self.update()

    def _choose(self, event: QMouseEvent) -> None:
        inside = event.position().x() >= self._left - PAD
        if event.buttons() & Qt.MouseButton.LeftButton and inside:
            at, now = self.at_x(event.position().x()), instant.now_ms()
            step = step_of(now - at)
            # of a time that is kept by minutes nobody can choose a second
            self._move(at if step < MINUTE_MS else round(at / step) * step)

    def _move(self, at_ms: int) -> None:
        lanes = self._lanes
        self.set_moment(min(max(at_ms, lanes.begin), lanes.end))
        self.moved.emit(self._at)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Show more of the past, or less."""
        turned = event.angleDelta().y()
        if turned:
            self.zoomed.emit(-1 if turned > 0 else 1)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move by one part of what is shown; go from count to count, and open one."""
        if self._key_of_doors(event):
            return
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step and not event.modifiers():
            self._move(self._at + step * self._lanes.step_ms)
            return
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            if not event.isAutoRepeat():
                self.play_wanted.emit()
            return
        super().keyPressEvent(event)

    def _key_of_doors(self, event: QKeyEvent) -> bool:
        way = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        doors = [place for place, number in enumerate(self.counts) if number]
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or not doors:
            return False
        if way:
            at = doors.index(self._door) + way if self._door in doors else 0 if way > 0 else -1
            self._point(doors[at % len(doors)])
            return True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._door in doors:
            self.opened.emit(self._door)
            return True
        return False

    def event(self, event: QEvent) -> bool:
        """Say in a tool tip what is under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            if (door := self.door_at(QPointF(event.pos()))) >= 0:
                QToolTip.showText(event.globalPos(), _(DOORS[door]), self)
                return True
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos().x()), self)
            return True
        return super().event(event)

    def tip_at(self, x: float) -> str:
        """What is known of the part under a place."""
        lanes = self._lanes
        at = self.at_x(x)
        for gap in lanes.gaps:
            if gap.begin <= at <= gap.end:
                first, last = (shown.clock(one, lanes.end) for one in gap)
                return _("No record from {begin} to {end}").format(begin=first, end=last)
        place = (at - lanes.begin) // lanes.step_ms
        begin = lanes.begin + place * lanes.step_ms
        when = _("{begin} to {end}").format(
            begin=shown.clock(begin, lanes.end), end=shown.clock(min(begin + lanes.step_ms, lanes.end), lanes.end)
        )
        if place >= len(lanes.failed) or lanes.failed[place] == UNTOLD:
            return "\n".join([when, _("No record")])
        facts = [
            _("Became dead letters: {n}").format(n=text.count(lanes.failed[place])),
            _("Waited at most: {n}").format(n=text.count(lanes.waiting[place])),
        ]
        facts += [
            _("New version {version}").format(version=one.name)
            for one in lanes.deploys
            if begin <= one.begin < begin + lanes.step_ms
        ]
        if any(gap.begin < begin + lanes.step_ms and gap.end > begin for gap in lanes.gaps):
            facts.append(_("Not all of it was recorded"))
        return "\n".join([when, *facts])


class Player(QObject):
    """Says which moment comes next; one that is not answered yet is waited for, so that no change is passed over.

    Signals:
        moved: the moment to show next, UTC ms.
        turned: it began or ended.
    """

    moved = Signal(object)
    turned = Signal()

    def __init__(self, shown: Callable[[], PastNow | None], now_ms: Callable[[], int], parent: QObject) -> None:
        """``shown``: what is known of the moment that is seen, None before it is answered."""
        super().__init__(parent)
        self._shown, self._now_ms = shown, now_ms
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self._step)

    @property
    def plays(self) -> bool:
        """Whether it goes on."""
        return self._timer.isActive()

    def toggle(self) -> None:
        """Begin or end."""
        if self.plays:
            self.stop()
            return
        self._timer.start()
        self.turned.emit()
        self._step()

    def stop(self) -> None:
        """Stay at this moment."""
        if self.plays:
            self._timer.stop()
            self.turned.emit()

    def _step(self) -> None:
        found = self._shown()
        if found is None:
            return
        wanted, end = found.asked_ms + STEP_MS, self._now_ms()
        if 0 < found.after_ms <= wanted:
            wanted = end = found.after_ms
        self.moved.emit(min(wanted, end))
        if wanted >= end:
            self.stop()


def _row() -> int:
    """How tall a lane of one line is at the size of the text of the moment."""
    return round(ROW * theme().growth)


def _axis() -> int:
    return round(AXIS * theme().growth)
