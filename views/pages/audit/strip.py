"""A day of acts as bars: when people and programs did something, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from services.i18n import N_, _, ngettext
from services.monitor.audit import BAR_MS, Day
from views.charts import ticks
from views.charts.plot import offer_table
from views.support import safe, shown, text
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label
from views.support.paint import draw_focus, draw_line
from views.support.spoken import Role, spoken, told
from views.theme import theme
from views.widgets.badge import Swatch
from views.widgets.card import Card
from views.widgets.layout import in_row

BARS, AXIS, TICK_ROOM, CAP, GAP = 34, 18, 96, 2.0, 1.0
#: above the bars: bells of alerts, those that are closer than this are one
BELLS, BELL, NEAR = 18, 14, 16
#: alerts that the tip of a bell tells
MOST_TOLD = 8
NOTHING = Day(begin=0, people=(), programs=(), refused=(), names=0)
_AWAY = (Qt.Key.Key_Escape, Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
#: bars that are shown at least: an hour; what a wheel tells of a notch; keys, and how much less each shows
LEAST, NOTCH = 6, 120
_ZOOMS = {"+": 1, "=": 1, "-": -1, "0": -8}
ROLES = (
    ("people", "accent", N_("People")),
    ("programs", "ctl", N_("Rules and programs")),
    ("refused", "dead", N_("Refused")),
)


class Ring(msgspec.Struct, frozen=True):
    """One alert of the day, UTC ms; ``firing``: it is not over."""

    at: int
    incident: str
    title: str
    firing: bool = False


class Bell(msgspec.Struct, frozen=True):
    """Alerts that stand at one place of the strip."""

    x: float
    rings: tuple[Ring, ...]

    @property
    def firing(self) -> bool:
        """Whether one of them is not over."""
        return any(ring.firing for ring in self.rings)

    @property
    def first(self) -> Ring:
        """The one to look at: the newest that still fires, else the newest."""
        return max(self.rings, key=lambda ring: (ring.firing, ring.at))


class DayBars(QWidget):
    """A click or a drag chooses a stretch; Left and Right move it by one bar, Esc and Delete take it away. A click on a
    bell opens its incident. The wheel, + and − show a part of the day wider; a double click and 0 show all of it again.

    Signals:
        zoomed: another part of the day is shown.
        chosen: begin and end of the stretch, UTC ms.
        dropped: a person takes the stretch away.
        rung: the incident of a bell.
    """

    chosen = Signal(object, object)
    dropped = Signal()
    rung = Signal(str)
    zoomed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._day = NOTHING
        self._rings: tuple[Ring, ...] = ()
        self._ringing = False  #: the button went down on a bell
        self._from = self._to = -1
        self._before = (-1, -1)  #: what was chosen before the button went down
        self._first, self._wide, self._turned = 0, 0, 0  #: the first bar shown, how many are, 0 for all; of the wheel
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(BELLS + BARS + AXIS)
        spoken(self, Role.Chart, self.accessibleDescription)
        theme().changed.connect(self.update)
        say_in_language(self._announce)

    @property
    def stretch(self) -> tuple[int, int] | None:
        """What is chosen, UTC ms; None for nothing."""
        if self._from < 0:
            return None
        first, last = sorted((self._from, self._to))
        return self._day.begin + first * BAR_MS, self._day.begin + (last + 1) * BAR_MS

    def show_day(self, day: Day) -> None:
        """Show these bars, ``NOTHING`` while nobody knows them; what is chosen stays at its time, and what is shown
        wider, unless it reaches to now.
        """
        moved = (day.begin - self._day.begin) // BAR_MS
        if self._wide and self._first + self._wide < self._count():
            self._first -= moved
        if self._from >= 0:
            self._from, self._to = self._from - moved, self._to - moved
            if min(self._from, self._to) < 0:
                self.clear()
        if day != self._day:
            self._day = day
            if self._wide:
                self._show_part(self._first, self._wide)
            self._announce()
            self.update()

    def show_rings(self, rings: Sequence[Ring]) -> None:
        """Show these alerts."""
        if tuple(rings) != self._rings:
            self._rings = tuple(rings)
            self._announce()
            self.update()

    def bells(self) -> list[Bell]:
        """The alerts of the day where they stand, from left to right; near ones are one."""
        begin, span = self._day.begin + self._first * BAR_MS, self._shown() * BAR_MS
        found: list[Bell] = []
        for ring in sorted(self._rings, key=lambda ring: ring.at):
            if not self._day.begin or not begin <= ring.at < begin + span:
                continue
            x = min(max(BELL / 2, (ring.at - begin) * self.width() / span), self.width() - BELL / 2)
            if found and x - found[-1].x < NEAR:
                found[-1] = Bell(found[-1].x, (*found[-1].rings, ring))
            else:
                found.append(Bell(x, (ring,)))
        return found

    def clear(self) -> None:
        """Choose nothing."""
        self._from = self._to = -1
        self._announce()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(480, BELLS + BARS + AXIS)

    def _announce(self) -> None:
        self.setAccessibleName(_("Acts of the last 24 h"))
        if not self._day.begin:
            self.setAccessibleDescription("")
        elif self._from < 0:
            alerts = sum(len(bell.rings) for bell in self.bells())
            rung = [" ".join([_("Alerts"), text.count(alerts)])] if alerts else []
            first, last = self._first, self._first + self._shown() - 1
            part = [self._times(first, last)] if self._wide else []
            self.setAccessibleDescription(", ".join([*part, *self._told(first, last), *rung]))
        else:
            first, last = sorted((self._from, self._to))
            self.setAccessibleDescription(", ".join([self._times(first, last), *self._told(first, last)]))
        told(self)

    # where things are

    def _count(self) -> int:
        return max(1, len(self._day.people))

    def _shown(self) -> int:
        return self._wide or self._count()

    @property
    def part(self) -> str:
        """Which part of the day is shown, in words; "" for all of it."""
        return self._times(self._first, self._first + self._wide - 1) if self._wide else ""

    def x_of(self, place: int) -> float:
        """The left edge of a bar."""
        return (place - self._first) * self.width() / self._shown()

    def at_x(self, x: float) -> int:
        """The bar at a place, of those that are shown."""
        return self._first + min(self._shown() - 1, max(0, int(x * self._shown() / max(1, self.width()))))

    def show_all(self) -> None:
        """Show the whole day."""
        self._show_part(0, 0)

    def _zoom(self, steps: int, at: float) -> None:
        """Show so much less of the day, or more; what stands at this share of the width stays there."""
        count, shown = self._count(), self._shown()
        wide = min(count, max(LEAST, round(shown / 2**steps)))
        if self._day.begin and wide != shown:
            self._show_part(round(self._first + at * (shown - wide)), wide)

    def _show_part(self, first: int, wide: int) -> None:
        count = self._count()
        self._wide = wide if wide < count else 0
        self._first = min(max(0, first), count - wide) if self._wide else 0
        self._announce()
        self.update()
        self.zoomed.emit()

    # painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the chosen stretch, bars and times."""
        painter = QPainter(self)
        day, wide = self._day, self.width() / self._shown()
        painter.setPen(Qt.PenStyle.NoPen)
        if self._from >= 0:
            first, last = sorted((self._from, self._to))
            painter.setBrush(theme().color("sel"))
            painter.drawRect(QRectF(self.x_of(first), BELLS, (last - first + 1) * wide, BARS))
        highest = max((a + b for a, b in zip(day.people, day.programs, strict=True)), default=0)
        for place, (people, programs, refused) in enumerate(zip(day.people, day.programs, day.refused, strict=True)):
            bottom = float(BELLS + BARS)
            for number, role in ((programs, "ctl"), (people, "accent")):
                if number:
                    tall = max(2.0, (BARS - 4) * number / highest)
                    painter.setBrush(theme().color(role))
                    painter.drawRect(QRectF(self.x_of(place), bottom - tall, max(1.0, wide - GAP), tall))
                    bottom -= tall
            if refused:
                painter.setBrush(theme().color("dead"))
                painter.drawRect(QRectF(self.x_of(place), bottom - CAP - 1, max(1.0, wide - GAP), CAP))
        painter.setPen(QPen(theme().color("line"), 1))
        painter.drawLine(QPointF(0, BELLS + BARS + 0.5), QPointF(self.width(), BELLS + BARS + 0.5))
        self._paint_times(painter)
        self._paint_bells(painter)
        if self.hasFocus():
            draw_focus(painter, self.rect())

    def _paint_times(self, painter: QPainter) -> None:
        if not self._day.begin:
            return
        begin, span = self._day.begin / 1000 + self._first * BAR_MS / 1000, self._shown() * BAR_MS / 1000
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("text3"))
        for instant, words in ticks.times(begin, begin + span, self.width() // TICK_ROOM, shown.zone()):
            x = (instant - begin) * self.width() / span
            wide = painter.fontMetrics().horizontalAdvance(words)
            place = QRectF(x - wide / 2, BELLS + BARS + 2, wide, AXIS - 2)
            if place.left() >= 0 and place.right() <= self.width():
                draw_line(painter, place, words)

    def _paint_bells(self, painter: QPainter) -> None:
        painter.setFont(theme().font("caption"))
        bells = self.bells()
        for place, bell in enumerate(bells):
            icon, role = ("ph.bell-fill", "dead") if bell.firing else ("ph.bell", "text2")
            painter.drawPixmap(QPointF(bell.x - BELL / 2, 1), theme().pixmap(icon, role, BELL))
            if len(bell.rings) < 2:
                continue
            said = text.count(len(bell.rings))
            wide = painter.fontMetrics().horizontalAdvance(said)
            after = bells[place + 1].x - BELL / 2 if place + 1 < len(bells) else self.width()
            left = bell.x + BELL / 2 + 2
            if left + wide > after:  # then before it, where that is free
                left = bell.x - BELL / 2 - 2 - wide
            painter.setPen(theme().color(role))
            draw_line(painter, QRectF(left, 0, wide, BELL + 2), said)

    def bell_at(self, place: QPoint) -> Bell | None:
        """The bell there."""
        if place.y() > BELLS:
            return None
        return next((bell for bell in self.bells() if abs(bell.x - place.x()) <= NEAR / 2), None)

    # hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a stretch, or open what a bell tells of."""
        bell = self.bell_at(event.position().toPoint())
        if bell is not None and event.button() == Qt.MouseButton.LeftButton:
            self._ringing = True
            self.rung.emit(bell.first.incident)
        elif event.button() == Qt.MouseButton.LeftButton and self._day.begin:
            self._before = self._from, self._to
            self._from = self._to = self.at_x(event.position().x())
            self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole day again; the click that it began with chooses nothing."""
        if not self._wide or event.button() != Qt.MouseButton.LeftButton or self.bell_at(event.position().toPoint()):
            super().mouseDoubleClickEvent(event)
            return
        self._ringing = True
        self._from, self._to = self._before
        self.show_all()
        if self._from < 0:
            self.dropped.emit()
        else:
            self._tell()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer all bars as a table."""
        numbers = [getattr(self._day, name) for name, _role, _word in ROLES]
        rows = [
            (self._times(place, place), *(text.count(one[place]) for one in numbers))
            for place in range(len(self._day.people))
        ]
        offer_table(self, event, (N_("Time"), *(word for _name, _role, word in ROLES)), rows)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Show less of the day, or more, around the pointer."""
        self._turned += event.angleDelta().y()
        steps = int(self._turned / NOTCH)  # a touchpad tells a notch in many parts
        self._turned -= steps * NOTCH
        if steps:
            self._zoom(steps, min(1.0, max(0.0, event.position().x() / max(1, self.width()))))
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Make it longer."""
        bell = self.bell_at(event.position().toPoint()) if not event.buttons() else None
        self.setCursor(Qt.CursorShape.PointingHandCursor if bell is not None else Qt.CursorShape.ArrowCursor)
        if self._from >= 0 and event.buttons() & Qt.MouseButton.LeftButton:
            self._to = self.at_x(event.position().x())
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ask for it."""
        ringing, self._ringing = self._ringing, False
        if event.button() == Qt.MouseButton.LeftButton and not ringing:
            self._tell()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the stretch by one bar, or take it away; show a part of the day, or all of it."""
        if _is_plain(event) and event.text() in _ZOOMS:
            self._zoom(_ZOOMS[event.text()], self._middle())
            return
        if event.key() in _AWAY and self._from >= 0:
            self.clear()
            self.dropped.emit()
            return
        way = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if way is None or not self._day.begin:
            super().keyPressEvent(event)
            return
        last = self._first + self._shown() - 1
        first, to = (self._from + way, self._to + way) if self._from >= 0 else (last, last)
        if min(first, to) >= 0 and max(first, to) < self._count():
            self._from, self._to = first, to
            if self._wide:  # what is chosen stays in sight
                self._show_part(min(max(self._first, max(first, to) - self._wide + 1), min(first, to)), self._wide)
            self.update()
            self._tell()

    def _middle(self) -> float:
        """Where the stretch stands as a share of the width; the right edge, which is now, where nothing is chosen."""
        if self._from < 0:
            return 1.0
        middle = (self._from + self._to + 1) / 2
        return min(1.0, max(0.0, (middle - self._first) / self._shown()))

    def event(self, event: QEvent) -> bool:
        """Say what a bar holds; Esc is for what is chosen here before it is for the page, and so are + and −."""
        if isinstance(event, QKeyEvent) and (
            (event.key() in _AWAY and self._from >= 0) or (_is_plain(event) and event.text() in _ZOOMS)
        ):
            event.accept()  # as a key, not as a shortcut
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._day.begin:
            bell = self.bell_at(event.pos())
            words = _rung(bell) if bell is not None else self.words_of(self.at_x(event.pos().x()))
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def words_of(self, place: int) -> str:
        """What one bar holds, in words."""
        return "\n".join([self._times(place, place), *self._told(place, place)])

    def _times(self, first: int, last: int) -> str:
        ends = (self._day.begin + place * BAR_MS for place in (first, last + 1))
        begin, end = (f"{shown.moment(at).astimezone(shown.zone()):%H:%M}" for at in ends)
        return _("{begin} to {end}").format(begin=begin, end=end)

    def _told(self, first: int, last: int) -> list[str]:
        """How many there are of each kind from one bar to another."""
        sums = ((word, sum(getattr(self._day, name)[first : last + 1])) for name, _role, word in ROLES)
        return [f"{_(word)} {text.count(number)}" for word, number in sums]

    def _tell(self) -> None:
        stretch = self.stretch
        if stretch is not None and self._day.begin:
            self._announce()
            self.chosen.emit(*stretch)


def _is_plain(event: QKeyEvent) -> bool:
    """Whether it is a letter of its own: with Ctrl it is a key of the window."""
    keys = Qt.KeyboardModifier
    return not event.modifiers() & (keys.ControlModifier | keys.AltModifier | keys.MetaModifier)


def _rung(bell: Bell) -> str:
    """What a bell tells of, the newest first."""
    lines = []
    for ring in sorted(bell.rings, key=lambda ring: -ring.at)[:MOST_TOLD]:
        when = f"{shown.moment(ring.at).astimezone(shown.zone()):%H:%M}"
        lines.append(_("{name}: {value}").format(name=when, value=safe.one_line(ring.title, 90)))
    if len(bell.rings) > MOST_TOLD:
        more = len(bell.rings) - MOST_TOLD
        lines.append(_("and {n} more").format(n=text.count(more)))
    return "\n".join(lines)


class DayStrip(Card):
    """The bars with what they count, above the list."""

    def __init__(self) -> None:
        super().__init__(N_("Last 24 h"))
        self.bars = DayBars()
        self.body.addWidget(self.bars)
        self.body.setContentsMargins(12, 0, 12, 6)
        legend = QWidget()
        row = in_row(owner=legend, spacing=6)
        self._words, self._numbers = dict[str, Label](), dict[str, Label]()
        for name, role, _word in ROLES:
            mark = Swatch(role)
            self._words[name], self._numbers[name] = Label("", "label", "text2"), Label("", "labelstrong", tabular=True)
            for part in (mark, self._words[name], self._numbers[name]):
                row.addWidget(part)
            row.addSpacing(8)
        self.add_action(legend)
        on_language_changed(self._say)
        self._day = NOTHING
        self.bars.zoomed.connect(self._say)
        self._say()

    def counts(self) -> dict[str, int]:
        """What the legend says, by the field of a day."""
        return {name: sum(getattr(self._day, name)) for name, _role, _word in ROLES}

    def show_day(self, day: Day) -> None:
        """Show a day."""
        self._day = day
        self.bars.show_day(day)
        self._say()

    def _say(self) -> None:
        day, counts = self._day, self.counts()
        for name, _role, word in ROLES:
            self._words[name].setText(_(word))
            self._numbers[name].setText(text.count(counts[name]) if day.begin else "–")
        note = _("acts in 10 min")
        if day.names:
            who = ngettext("by {n} person", "by {n} people", day.names).format(n=text.count(day.names))
            note = text.listed([note, who])
        if day.from_ms:
            since = f"{shown.moment(day.from_ms).astimezone(shown.zone()):%H:%M}"
            note = text.listed([note, _("counted from {time} on, there are too many before").format(time=since)])
        if part := self.bars.part:
            note = text.listed([note, _("shown: {span}").format(span=part)])
        self.set_note(note)
