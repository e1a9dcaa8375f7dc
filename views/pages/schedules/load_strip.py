"""The line of the workers to come, minute by minute: bars with their hours, and what is told of them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from services.domain.plans.load import MINUTE_MS, Load
from services.i18n import N_, _, ngettext
from services.messages import render
from services.monitor.schedules import RunLoad
from views.charts import ticks
from views.support import instant, shown, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.paint import draw_line
from views.theme import theme
from views.widgets.badge import Swatch
from views.widgets.card import Card
from views.widgets.elided import Elided

BARS_HEIGHT, MOST_BARS = 44, 120
#: beyond the end of the run it goes on for so many minutes at least
LEAST_MINUTES = 30
AXIS, TICK_ROOM = 16, 90
ROLES = (("accent", N_("this run")), ("text3", N_("other schedules")))


class LoadBars(QWidget):
    """Tasks that wait or run: those of others in grey, those of the run above them, and how many slots there are."""

    def __init__(self) -> None:
        super().__init__()
        self._load, self._slots = Load(begins=0), 0
        self.setFixedHeight(BARS_HEIGHT + AXIS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, BARS_HEIGHT + AXIS)

    def show_load(self, load: Load, slots: int = 0) -> None:
        """Draw another one."""
        self._load, self._slots = load, slots
        self.update()

    def bars(self) -> list[tuple[int, int]]:
        """Of each bar the tasks of the run and those of others: the most of the minutes that it stands for."""
        own, others = list(self._load.own), list(self._load.others)
        short = max(0, LEAST_MINUTES - len(own))
        own, others = own + [0] * short, others + [0] * short
        step = self._step()
        return [
            max(zip(own[at : at + step], others[at : at + step], strict=True), key=sum)
            for at in range(0, len(own), step)
        ]

    def words_at(self, x: float) -> str:
        """What the bar at a place stands for, in words."""
        bars = self.bars()
        place = min(len(bars) - 1, max(0, int(x * len(bars) / max(1, self.width()))))
        number, step = sum(bars[place]), self._step()
        begin = self._load.begins + place * step * MINUTE_MS
        now = instant.now_ms()
        said = ngettext("{n} task waits or runs", "{n} tasks wait or run", number).format(n=text.count(number))
        times = _("{begin} to {end}").format(
            begin=shown.clock(begin, now), end=shown.clock(begin + step * MINUTE_MS, now)
        )
        return f"{times}\n{said}"

    def event(self, event: QEvent) -> bool:
        """Say what a bar stands for."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._load.own:
            QToolTip.showText(event.globalPos(), self.words_at(event.pos().x()), self)
            return True
        return super().event(event)

    def _step(self) -> int:
        """Minutes of a bar."""
        return -(-max(LEAST_MINUTES, len(self._load.own)) // MOST_BARS)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars, the slots and the hours."""
        painter = QPainter(self)
        bars = self.bars()
        most = max((sum(bar) for bar in bars), default=0)
        wide, tall = self.width() / max(1, len(bars)), float(BARS_HEIGHT - 1)
        painter.fillRect(QRectF(0, tall, self.width(), 1), theme().color("line"))
        for place, (own, others) in enumerate(bars):
            low, high = tall * others / max(1, most), tall * (own + others) / max(1, most)
            left, width = place * wide, max(1.0, wide - 1)
            painter.fillRect(QRectF(left, tall - low, width, low), theme().color("text3"))
            painter.fillRect(QRectF(left, tall - high, width, high - low), theme().color("accent"))
        if 0 < self._slots < most:
            painter.setPen(QPen(theme().color("retrying"), 1, Qt.PenStyle.DashLine))
            y = round(tall - tall * self._slots / most) + 0.5
            painter.drawLine(QPointF(0, y), QPointF(self.width(), y))
        self._paint_times(painter, len(bars))

    def _paint_times(self, painter: QPainter, count: int) -> None:
        if not self._load.begins:
            return
        begin, span = self._load.begins / 1000, count * self._step() * MINUTE_MS / 1000
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
        row = QHBoxLayout(self._legend)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.scale)
        row.addStretch(1)
        for (role, _word), name in zip(ROLES, self._names, strict=True):
            row.addWidget(Swatch(role))
            row.addWidget(name)
            row.addSpacing(6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.bars, self._legend, self.words):
            column.addWidget(part)
        on_language_changed(self._name)
        self._name()
        self.show_load(None)

    def show_load(self, found: RunLoad | None) -> None:
        """Tell of another run."""
        said = told(found)
        load = found.load if found is not None else Load(begins=0)
        drawn = any(load.own)
        self.bars.setVisible(drawn)
        self._legend.setVisible(drawn)
        if drawn and found is not None:
            self.bars.show_load(load, found.slots)
            now, (number, when) = instant.now_ms(), load.peak
            most = _("at most {n} at once, at {at}")
            self.scale.setText(most.format(n=text.count(number), at=shown.clock(when, now)))
        self.words.setText(said)
        self.bars.setAccessibleName(said)
        self.setVisible(bool(said))

    def _name(self) -> None:
        for (_role, word), name in zip(ROLES, self._names, strict=True):
            name.setText(_(word))


class PlannedLoad(Card):
    """The line of the hours to come as all schedules make it."""

    def __init__(self) -> None:
        super().__init__(N_("Planned load"))
        self.found: RunLoad | None = None
        self._stale = False  #: it could not be asked for anew
        self.bars = LoadBars()
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
        drawn = any(self.found.load.own)
        self.bars.setVisible(drawn)
        if drawn:
            self.bars.show_load(self.found.load, self.found.slots)
        now, (number, when) = instant.now_ms(), self.found.load.peak
        peak = _("at most {n} in a minute, at {at}").format(n=text.count(number), at=shown.clock(when, now))
        age = _("as of {time}").format(time=shown.clock(self.found.at, now))
        self.set_note(age if self._stale else peak if drawn else "")
        said = told(self.found)
        self.words.show_text(said)
        self.bars.setAccessibleName(text.sentences([_("Planned load"), said]))


def told(found: RunLoad | None) -> str:
    """What is told of a line."""
    return "" if found is None else text.sentences(render(one) for one in found.said)
