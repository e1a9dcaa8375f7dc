"""The line of the workers to come, minute by minute: bars with their hours, and what is told of them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from services.domain.plans.load import DAY_STEP, MINUTE_MS, Load
from services.i18n import N_, _, ngettext
from services.messages import render
from services.monitor.schedules import RunLoad
from views.charts import ticks
from views.charts.plot import offer_table
from views.support import instant, shown, text
from views.support.language import on_language_changed, say_in_language
from views.support.look import Label
from views.support.paint import draw_focus, draw_line
from views.support.spoken import Role, spoken
from views.support.spoken import told as tell
from views.theme import theme
from views.widgets.badge import Swatch
from views.widgets.card import Card
from views.widgets.elided import Elided
from views.widgets.layout import STRETCH, in_column, in_row

BARS_HEIGHT, MOST_BARS = 44, 120
#: beyond the end of the run it goes on for so many minutes at least
LEAST_MINUTES = 30
AXIS, TICK_ROOM = 16, 90
ROLES = (("accent", N_("this run")), ("text3", N_("other schedules")))


class LoadBars(QWidget):
    """Tasks that wait or run: those of others in grey, those of the run above them, and how many slots there are. A
    click points at a bar, as do Left, Right, Home and End; Esc points at none. ``step``: minutes of a bar, 0 for as few
    as there is room for.

    Signals:
        pointed: another bar is pointed at, or what it holds is another number.
    """

    pointed = Signal()

    def __init__(self, step: int = 0) -> None:
        super().__init__()
        self._load, self._slots, self._least = Load(begins=0), 0, step
        self._bars: list[tuple[int, int]] = []
        self._step, self._ends = MINUTE_MS, 0  #: ms of a bar, and when what is known ends
        self._at = 0  #: an instant of the bar that is pointed at; 0: of none
        self.setFixedHeight(BARS_HEIGHT + AXIS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        spoken(self, Role.Chart, self.pointed_words)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, BARS_HEIGHT + AXIS)

    def show_load(self, load: Load, slots: int = 0) -> None:
        """Draw another one; what is pointed at stays at its time while that is to come."""
        before = self.pointed_words()
        self._load, self._slots = load, slots
        self._lay_out()
        if self._place() is None:
            self._at = 0
        self._say(before)

    def bars(self) -> list[tuple[int, int]]:
        """Of each bar the tasks of the run and those of others: the most of the minutes that it stands for."""
        return self._bars

    def _lay_out(self) -> None:
        """Put the minutes into bars; where nothing is followed there is none."""
        short = max(0, LEAST_MINUTES - len(self._load.own)) if self._load.own else 0
        minutes = [*zip(self._load.own, self._load.others, strict=True), *[(0, 0)] * short]
        step = self._least or -(-max(LEAST_MINUTES, len(self._load.own)) // MOST_BARS)
        self._bars = [max(minutes[at : at + step], key=sum) for at in range(0, len(minutes), step)]
        self._step, self._ends = step * MINUTE_MS, self._load.begins + len(minutes) * MINUTE_MS

    def words_at(self, x: float) -> str:
        """What the bar at a place stands for, in words; "" where there is none."""
        return "\n".join(self._words(self._bar_at(x))) if self._bars else ""

    def pointed_words(self) -> str:
        """What the bar that is pointed at stands for; "" for none."""
        place = self._place()
        return text.listed(self._words(place)) if place is not None else ""

    def _words(self, place: int) -> tuple[str, str]:
        """When a bar begins and ends, and what is there then."""
        number, now = sum(self._bars[place]), instant.now_ms()
        begin, end = self._begin(place), min(self._begin(place + 1), self._ends)
        said = ngettext("{n} task waits or runs", "{n} tasks wait or run", number).format(n=text.count(number))
        times = _("{begin} to {end}").format(begin=shown.clock(begin, now), end=shown.clock(end, now))
        return times, said

    def _bar_at(self, x: float) -> int:
        count = len(self._bars)
        return min(count - 1, max(0, int(x * count / max(1, self.width()))))

    def _begin(self, place: int) -> int:
        return self._load.begins + place * self._step

    def _place(self) -> int | None:
        """Which bar is pointed at."""
        place = (self._at - self._load.begins) // self._step
        return place if self._at and 0 <= place < len(self._bars) else None

    def _point(self, place: int | None) -> None:
        before = self.pointed_words()
        self._at = 0 if place is None else self._begin(place)
        self._say(before)

    def _say(self, before: str) -> None:
        self.update()
        if self.pointed_words() != before:
            tell(self)
            self.pointed.emit()

    # hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Point at a bar."""
        if event.button() == Qt.MouseButton.LeftButton and self._bars:
            self._point(self._bar_at(event.position().x()))
        else:
            super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer all bars as a table."""
        offer_table(self, event, (N_("Time"), N_("Tasks")), [self._words(place) for place in range(len(self._bars))])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Point at the next one, the first, the last or none."""
        place, last = self._place(), len(self._bars) - 1
        moved = {
            Qt.Key.Key_Left: last if place is None else max(0, place - 1),
            Qt.Key.Key_Right: 0 if place is None else min(last, place + 1),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        key = Qt.Key(event.key())
        if key in moved and self._bars:
            self._point(moved[key])
        elif key == Qt.Key.Key_Escape and place is not None:
            self._point(None)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Say what a bar stands for; Esc is for what is pointed at before it is for the page."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self._place() is not None:
            event.accept()  # as a key, not as a shortcut
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._bars:
            QToolTip.showText(event.globalPos(), self.words_at(event.pos().x()), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars, the slots and the hours."""
        painter = QPainter(self)
        bars = self._bars
        most = max(map(sum, bars), default=0)
        wide, tall = self.width() / max(1, len(bars)), float(BARS_HEIGHT - 1)
        painter.fillRect(QRectF(0, tall, self.width(), 1), theme().color("line"))
        pointed = self._place()
        if pointed is not None:
            painter.fillRect(QRectF(pointed * wide - 1, 0, max(3.0, wide + 1), tall), theme().color("selline"))
        for place, (own, others) in enumerate(bars):
            low, high = tall * others / max(1, most), tall * (own + others) / max(1, most)
            left, width = place * wide, max(1.0, wide - 1)
            painter.fillRect(QRectF(left, tall - low, width, low), theme().color("text3"))
            painter.fillRect(QRectF(left, tall - high, width, high - low), theme().color("accent"))
        if 0 < self._slots < most:
            painter.setPen(QPen(theme().color("retrying"), 1, Qt.PenStyle.DashLine))
            y = round(tall - tall * self._slots / most) + 0.5
            painter.drawLine(QPointF(0, y), QPointF(self.width(), y))
        if bars:
            self._paint_times(painter)
        if self.hasFocus():
            draw_focus(painter, self.rect())

    def _paint_times(self, painter: QPainter) -> None:
        begin, span = self._load.begins / 1000, len(self._bars) * self._step / 1000
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("text3"))
        for moment, words in ticks.times(begin, begin + span, max(2, self.width() // TICK_ROOM), shown.zone()):
            wide = painter.fontMetrics().horizontalAdvance(words)
            place = QRectF((moment - begin) * self.width() / span - wide / 2, BARS_HEIGHT + 2, wide, AXIS - 2)
            if place.left() >= 0 and place.right() <= self.width():
                draw_line(painter, place, words)


class LoadStrip(QWidget):
    """Bars with their hours, and what is told; hidden while there is nothing to tell."""

    def __init__(self) -> None:
        super().__init__()
        self.bars = LoadBars()
        self.scale = Label("", "label", "text3")
        self.words = Label("", "label", "text2", wrap=True)
        self._legend, self._names = QWidget(), [Label("", "label", "text2") for _role, _word in ROLES]
        row = in_row(self.scale, STRETCH, owner=self._legend, spacing=6)
        for (role, _word), name in zip(ROLES, self._names, strict=True):
            row.addWidget(Swatch(role))
            row.addWidget(name)
            row.addSpacing(6)
        in_column(self.bars, self._legend, self.words, owner=self, spacing=4)
        self.bars.pointed.connect(self._scale)
        self._most = ""  #: what the scale says while no bar is pointed at
        say_in_language(self._name)
        self.show_load(None)

    def show_load(self, found: RunLoad | None) -> None:
        """Tell of another run."""
        said = told(found)
        drawn = draw(self.bars, found)
        self._legend.setVisible(drawn)
        if drawn and found is not None:
            now, (number, when) = instant.now_ms(), found.load.peak
            most = _("at most {n} at once, at {at}")
            self._most = most.format(n=text.count(number), at=shown.clock(when, now))
            self._scale()
        self.words.setText(said)
        self.bars.setAccessibleName(said)
        self.setVisible(bool(said))

    def _scale(self) -> None:
        self.scale.setText(self.bars.pointed_words() or self._most)

    def _name(self) -> None:
        for (_role, word), name in zip(ROLES, self._names, strict=True):
            name.setText(_(word))


class PlannedLoad(Card):
    """The line of the day to come as all schedules make it, in bars of five minutes."""

    def __init__(self) -> None:
        super().__init__(N_("Planned load"))
        self.found: RunLoad | None = None
        self._stale = False  #: it could not be asked for anew
        self.bars = LoadBars(DAY_STEP)
        self.bars.pointed.connect(self._note)
        self.words = Elided("", "label", "text2")
        for part in (self.bars, self.words):
            self.body.addWidget(part)
        self.body.setSpacing(2)
        on_language_changed(self._say)
        self.hide()

    def show_load(self, found: RunLoad) -> None:
        """Show what comes now."""
        self.found, self._stale = found, False
        self._say()

    def show_age(self) -> None:
        """Say of when it is: there is no newer answer."""
        self._stale = True
        self._say()

    def _say(self) -> None:
        if self.found is None:
            return
        draw(self.bars, self.found)
        self._note()
        said = told(self.found)
        self.words.show_text(said)
        self.bars.setAccessibleName(text.sentences([_("Planned load"), said]))

    def _note(self) -> None:
        """Say what is pointed at, else when it is of or when the line is longest."""
        if self.found is None:
            return
        now, (number, when) = instant.now_ms(), self.found.load.peak
        peak = _("at most {n} in a minute, at {at}").format(n=text.count(number), at=shown.clock(when, now))
        age = _("as of {time}").format(time=shown.clock(self.found.at, now))
        pointed = self.bars.pointed_words()
        self.set_note(text.listed([*filter(None, (age if self._stale else "", pointed))]) or (peak if number else ""))


def draw(bars: LoadBars, found: RunLoad | None) -> bool:
    """Show the bars of a line; where nothing is in it they go, and nothing of them is pointed at any more."""
    load = found.load if found is not None and any(found.load.own) else Load(begins=0)
    bars.setVisible(bool(load.own))
    bars.show_load(load, found.slots if found is not None else 0)
    return bool(load.own)


def told(found: RunLoad | None) -> str:
    """What is told of a line."""
    return "" if found is None else text.sentences(render(one) for one in found.said)
