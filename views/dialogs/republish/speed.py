"""The right half: how fast, when it would be over, and what it does to the others."""

from __future__ import annotations

import math
from datetime import timedelta

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QSlider, QWidget

from services.commands.bulk.options import MAX_RATE
from services.domain.insight.forecast.outlook import Outlook
from services.i18n import N_, _, ngettext
from services.spans import between
from views.charts import ticks
from views.charts.pointed import Head, Point, PointedChart
from views.support import instant, shown, text
from views.support.language import on_language_changed
from views.support.look import Label, paint_ground
from views.theme import theme
from views.widgets.badge import Swatch
from views.widgets.fields import NumberField
from views.widgets.layout import STRETCH, in_column, in_row, put

LEFT, BOTTOM, TOP = 44, 18, 6
TIMES = 4
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
SLOWEST, FASTEST = 6, 600
STEPS = 100  #: the last step is all at once, the one before it the fastest pace
MARKS = (6, 30, 60, 120, 600, 0)
ALL = 0


class WaitingPlot(PointedChart):
    """Two areas over one axis."""

    def __init__(self) -> None:
        super().__init__(N_("Waiting tasks, forecast"))
        self._outlook: Outlook | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(120)
        self.retell()

    def sizeHint(self) -> QSize:
        return QSize(300, 150)

    def show_outlook(self, outlook: Outlook) -> None:
        """Draw another forecast."""
        self._outlook = outlook
        self.retell()

    def heads(self) -> tuple[Head, ...]:
        """What waits with these tasks, and without them."""
        return (
            Head(N_("Time")), Head(N_("with these tasks"), "deadfill"), Head(N_("without these tasks"), "lane.normal"),
        )  # fmt: skip

    def points(self) -> list[Point]:
        """The steps of the forecast."""
        outlook, room = self._outlook, self.room()
        if outlook is None:
            return []
        last, both = max(1, len(outlook.with_them) - 1), zip(outlook.with_them, outlook.without, strict=True)
        return [
            Point(
                room.left() + room.width() * place / last,
                (_ahead(outlook.horizon_s * place / last), text.count(round(more)), text.count(round(less))),
            )
            for place, (more, less) in enumerate(both)
        ]

    def room(self) -> QRectF:
        """Right of the numbers, above the times."""
        return QRectF(LEFT, TOP, self.width() - LEFT - 2, self.height() - TOP - BOTTOM)

    def summary(self) -> str:
        """The most that waits."""
        if self._outlook is None:
            return ""
        most, less = max(self._outlook.with_them), max(self._outlook.without)
        words = _("At most {n} waiting, {less} without these tasks")
        return words.format(n=text.count(round(most)), less=text.count(round(less)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw grid, areas and axes."""
        outlook = self._outlook
        if outlook is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = self.room()
        top = ticks.top_of(max(*outlook.with_them, *outlook.without), None, 1.0)
        self._paint_grid(painter, room, top)
        self._paint_area(painter, room, outlook.with_them, top, "deadfill", 45)
        self._paint_area(painter, room, outlook.without, top, "lane.normal", 60)
        self._paint_times(painter, room, outlook.horizon_s)
        self.paint_pointed(painter)

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
        for number, words in enumerate(moments(horizon_s)):
            width = metrics.horizontalAdvance(words) + 4
            x = room.left() + room.width() * number / TIMES
            left = min(max(x - width / 2, room.left() - 4), room.right() - width)  # the zero stands before it
            painter.drawText(QRectF(left, room.bottom() + 2, width, BOTTOM - 2), _CENTRE, words)


def _ahead(seconds: float) -> str:
    return f"+{text.coarse(timedelta(seconds=round(seconds)))}" if seconds else _("now")


def moments(horizon_s: float) -> list[str]:
    """What stands below the times that share the axis; a quarter of five minutes is no whole number of minutes."""
    step = round(horizon_s / TIMES)
    say = text.coarse if step % 15 else text.exact
    return [_("now"), *(f"+{say(timedelta(seconds=step * number))}" for number in range(1, TIMES + 1))]


_CENTRE = int(Qt.AlignmentFlag.AlignCenter)
_HANDLE, MARK = 12, 18  #: px


class SpeedPane(QWidget):
    """Signals:
    rate_changed: tasks a minute, ``pace.ALL`` for all at once.
    """

    rate_changed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rate = 30
        self._title = Label("", "card")
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(10)
        self.field = NumberField(self._rate, 0, MAX_RATE)
        self.field.setMinimumWidth(118)
        self.published, self.done, self.delay = _Tile(), _Tile(), _Tile()
        self._plot_title, self._legend = Label("", "card"), _Legend()
        self.plot = WaitingPlot()
        self._put_together()
        self.slider.valueChanged.connect(self._on_slider)
        self.field.valueChanged.connect(self._on_field)
        on_language_changed(self._say)
        self.set_rate(self._rate)

    def _put_together(self) -> None:
        head, tiles, below = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        put(head, self._title, STRETCH, self.field)
        tiles.setSpacing(10)
        for tile in (self.published, self.done, self.delay):
            tiles.addWidget(tile, 1)
        put(below, self._plot_title, STRETCH, self._legend)
        in_column(head, self.slider, _Marks(), tiles, below, (self.plot, 1), owner=self, spacing=10)

    def rate(self) -> int:
        """Tasks a minute, ``pace.ALL`` for all at once."""
        return self._rate

    def set_rate(self, rate: int) -> None:
        """Show a pace without a signal."""
        self._rate = rate
        for widget, value in ((self.slider, step_of(rate)), (self.field, rate)):
            widget.blockSignals(True)
            widget.setValue(value)
            widget.blockSignals(False)
        self._say()

    def show_outlook(self, outlook: Outlook, number: int) -> None:
        """Show what would happen at this pace."""
        now = instant.now_ms()
        self._legend.show_number(number)
        self.plot.show_outlook(outlook)
        if not number:
            for tile, name in self._names():
                tile.show_value(name, "–", _("nothing to send"))
            return
        self.published.show_value(
            _("All published"), _minute(now, outlook.published_s), text.until(shown.span(outlook.published_s * 1000))
        )
        if outlook.done_s is None or outlook.delay_s is None:
            self.done.show_value(_("Likely all done"), "–", _("no worker runs"))
            self.delay.show_value(_("Delay for others"), "–", _("no worker runs"))
        else:
            low, high = outlook.done_low_s, outlook.done_high_s
            spread = between(outlook.done_s if low is None else low, outlook.done_s if high is None else high)
            about = _("about {span}").format(span=spread)
            self.done.show_value(_("Likely all done"), _minute(now, outlook.done_s), about)
            delay = f"+{text.seconds(shown.span(outlook.delay_s * 1000))}" if outlook.delay_s >= 1 else _("none")
            self.delay.show_value(_("Delay for others"), delay, _("in shared lanes"))

    def _names(self) -> tuple[tuple[_Tile, str], ...]:
        return (
            (self.published, _("All published")),
            (self.done, _("Likely all done")),
            (self.delay, _("Delay for others")),
        )

    def _on_slider(self, step: int) -> None:
        self._choose(rate_at(step))

    def _on_field(self, rate: int) -> None:
        self._choose(rate)

    def _choose(self, rate: int) -> None:
        if rate != self._rate:
            self.set_rate(rate)
            self.rate_changed.emit(rate)

    def _say(self) -> None:
        self._title.setText(_("Publishing speed"))
        self._plot_title.setText(_("Waiting tasks, forecast"))
        self.slider.setAccessibleName(_("Publishing speed"))
        self.slider.setAccessibleDescription(words(self._rate))
        self.slider.setToolTip(words(self._rate))
        self.field.setAccessibleName(_("Tasks a minute"))
        self.field.setSuffix(" " + _("a minute"))
        self.field.setSpecialValueText(_("all at once"))


class _Slider(QSlider):
    """Leaves the wheel to the page."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _Marks(QWidget):
    """The names of some steps below the slider."""

    def __init__(self) -> None:
        super().__init__()
        theme().changed.connect(self._restyle)
        on_language_changed(self.update)
        self._restyle()

    def _restyle(self) -> None:
        self.setFixedHeight(round(MARK * theme().growth))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw each name below its step."""
        painter = QPainter(self)
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("text3"))
        metrics = QFontMetrics(theme().font("caption"))
        for rate in MARKS:
            words = str(rate) if rate else _("all at once")
            width = metrics.horizontalAdvance(words) + 2
            x = _HANDLE / 2 + (self.width() - _HANDLE) * step_of(rate) / STEPS
            if rate == FASTEST:
                x -= metrics.horizontalAdvance(_("all at once")) + 12
            left = min(max(round(x - width / 2), 0), self.width() - width)
            painter.drawText(QRect(left, 0, width, self.height()), _CENTRE, words)


class _Tile(QFrame):
    """A name, a value, a few words."""

    def __init__(self) -> None:
        super().__init__()
        paint_ground(self, "card")
        self.name, self.value, self.note = Label("", "label", "text2"), Label("", "panel"), Label("", "label", "text3")
        in_column(self.name, self.value, self.note, owner=self, margins=(12, 8, 8, 8), spacing=2)

    def show_value(self, name: str, value: str, note: str) -> None:
        """Show already translated texts."""
        for label, words in ((self.name, name), (self.value, value), (self.note, note)):
            label.setText(words)
        self.setAccessibleName(f"{name}: {value}, {note}")


class _Legend(QWidget):
    """Which colour is which curve."""

    def __init__(self) -> None:
        super().__init__()
        self._without, self._with = Label("", "label", "text2"), Label("", "label", "text2")
        row = in_row(owner=self, spacing=6)
        for role, label in (("lane.normal", self._without), ("deadfill", self._with)):
            row.addWidget(Swatch(role))
            row.addWidget(label)
            row.addSpacing(8)

    def show_number(self, number: int) -> None:
        """Say how many are added."""
        self._without.setText(_("without"))
        self._with.setText(_("with these {n}").format(n=text.count(number)))


def _minute(now_ms: int, seconds: float) -> str:
    then = shown.moment(now_ms + round(seconds * 1000))
    now = shown.moment(now_ms)
    return text.clock(then, now, shown.zone()) if seconds < 600 else text.minute(then, now, shown.zone())


def rate_at(step: int) -> int:
    """Tasks a minute at a step of the slider, ``ALL`` for all at once."""
    if step >= STEPS:
        return ALL
    rate = SLOWEST * math.pow(FASTEST / SLOWEST, step / (STEPS - 1))
    return max(SLOWEST, round(rate))


def step_of(rate: int) -> int:
    """The step nearest to a rate."""
    if rate <= ALL:
        return STEPS
    share = math.log(min(max(rate, SLOWEST), FASTEST) / SLOWEST) / math.log(FASTEST / SLOWEST)
    return round(share * (STEPS - 1))


def words(rate: int) -> str:
    """``30 a minute``, ``all at once``."""
    if rate <= ALL:
        return _("all at once")
    return ngettext("{n} a minute", "{n} a minute", rate).format(n=text.count(rate))
