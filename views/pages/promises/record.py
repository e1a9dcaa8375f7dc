"""How a promise was kept over a day, a week or a month, as far as that is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, NOT_DUE
from services.domain.promises.standing import HALF_HOUR_MS, MOST_BREAKS, Standing
from services.i18n import N_, _
from views.charts import ticks
from views.pages.promises import words
from views.support import instant, safe, shown
from views.support.language import on_language_changed
from views.support.look import Label
from views.theme import theme
from views.widgets.card import Card
from views.widgets.segmented import Segmented

HOUR_MS = 3_600_000
DAY, WEEK, MONTH = "day", "week", "month"
SPANS = ((DAY, N_("24 h")), (WEEK, N_("7 d")), (MONTH, N_("30 d")))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
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
    """A bar for each part of the time: height and colour say how it stood, of a break how many shops it was in."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[Column, ...] = ()
        self.setFixedHeight(HEIGHT + AXIS)
        theme().changed.connect(self.update)

    @property
    def columns(self) -> Sequence[Column]:
        """What is shown."""
        return self._columns

    def show_columns(self, found: Sequence[Column], said: str) -> None:
        """Show these; ``said`` is what they come to, for who does not see them."""
        self.setAccessibleName(said)
        if tuple(found) != self._columns:
            self._columns = tuple(found)
            self.update()

    def said_at(self, x: float) -> str:
        """What a column says, by its place; "" beside them."""
        if not self._columns:
            return ""
        place = int(x * len(self._columns) / max(1, self.width()))
        return _said(self._columns[min(max(0, place), len(self._columns) - 1)])

    def event(self, event: QEvent) -> bool:
        """Say what the column under the pointer is."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), safe.tooltip(self.said_at(event.pos().x())), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw bars and axis; what nobody recorded stays empty."""
        if not self._columns:
            return
        painter = QPainter(self)
        most = max((one.shops for one in self._columns), default=0)
        step = self.width() / len(self._columns)
        for place, one in enumerate(self._columns):
            if one.state not in _BARS:
                continue
            share, role = _BARS[one.state]
            if one.shops:
                share = LEAST + (1 - LEAST) * one.shops / most
            height = max(2, round(share * (HEIGHT - 4)))
            left = round(place * step)
            width = max(1, round((place + 1) * step) - left - 1)
            painter.fillRect(left, HEIGHT - height, width, height, theme().color(role))
        painter.setPen(QPen(theme().color("line"), 1))
        painter.drawLine(0, HEIGHT, self.width(), HEIGHT)
        self._paint_axis(painter)

    def _paint_axis(self, painter: QPainter) -> None:
        begins, ends = self._columns[0].at / 1000, self._columns[-1].until / 1000
        painter.setFont(theme().font("caption"))
        metrics = QFontMetrics(painter.font())
        room = max(1, self.width() // (metrics.horizontalAdvance("00-00") * 2))
        painter.setPen(theme().color("text3"))
        for at, said in ticks.times(begins, ends, room, shown.zone()):
            x = (at - begins) / (ends - begins) * self.width()
            wide = metrics.horizontalAdvance(said)
            if x >= wide / 2 and x + wide / 2 <= self.width():
                painter.drawLine(QPointF(x, HEIGHT), QPointF(x, HEIGHT + 3))
                box = QRect(round(x - wide / 2) - 1, HEIGHT + 3, wide + 2, AXIS - 3)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), said)


class KeptCard(Card):
    """The chart with the choice of its time, and what it comes to."""

    def __init__(self) -> None:
        super().__init__(N_("As it was kept"))
        self._found: tuple[Standing, int] | None = None
        self.span = Segmented(SPANS, N_("Time range"))
        self.chart, self.said = KeptChart(), Label("", "label", "text2", wrap=True)
        self.add_action(self.span)
        self.body.addWidget(self.chart)
        self.body.addWidget(self.said)
        self.span.chosen.connect(lambda _key: self._say())
        on_language_changed(self._say)

    def show_standing(self, found: Standing | None, since: int) -> None:
        """Show how it was kept since then; None where nobody has judged it."""
        self._found = (found, since) if found is not None else None
        self.setVisible(found is not None)
        self._say()

    def _say(self) -> None:
        if self._found is None:
            return
        (found, since), now, span = self._found, instant.now_ms(), self.span.current()
        said = words.kept(found, now - LENGTHS[span][0], now)
        self.said.setText(said)
        self.chart.show_columns(columns(found, since, span, now), said)


def _said(one: Column) -> str:
    now = instant.now_ms()
    when = _("{begin} to {end}").format(begin=words.minute(one.at, now), end=words.minute(min(one.until, now), now))
    if one.shops:
        what = _("broken in {shops}").format(shops=words.shops(one.shops))
    else:
        unsaid = {UNKNOWN: _("nothing is recorded"), UNBROKEN: _("no break is recorded")}
        what = unsaid.get(one.state) or words.state(one.state)
    return _("{name}: {value}").format(name=when, value=what)
