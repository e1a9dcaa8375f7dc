"""The three charts of the Overview: one time window, drawn one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from services.i18n import N_, _
from services.monitor.overview import OverviewNow
from views.charts.chart_card import ChartCard
from views.charts.depth_chart import DepthChart
from views.charts.named import Marker
from views.charts.rates_chart import RatesChart
from views.charts.series import MAX_POINTS, SampleBuffer
from views.charts.time_window import TimeWindow
from views.charts.unacked_chart import UnackedChart
from views.pages.overview.limits import Limits
from views.pages.overview.tiles import unacked
from views.shell.connection import grey
from views.support import text

DEPTH = N_(
    "Messages in the broker's queues (queue depth: ready) and tasks parked at a gate; what is recorded and not sent is"
    " not among them."
)
RATES = N_(
    "Curves and the numbers beside their names show the last five seconds; In and Out below the page the last minute or"
    " more."
)
HELD = N_("Messages that workers hold and have not settled (broker: unacked), beside the slots of the workers.")


class Charts(QObject):
    """Cards over the samples of a buffer.

    Signals:
        span_chosen: a person marked a span: first and last instant in UTC milliseconds.
    """

    span_chosen = Signal(object, object)

    def __init__(self, buffer: SampleBuffer, parent: QObject) -> None:
        super().__init__(parent)
        self._buffer = buffer
        self.window = TimeWindow(3600, self)
        self.depth = ChartCard(N_("Queued or held up, by lane"), DepthChart(self.window), tip=DEPTH)
        self.rates = ChartCard(N_("Tasks per second, last 5 s"), RatesChart(self.window), tip=RATES)
        self.unacked = ChartCard(N_("With workers"), UnackedChart(self.window), tip=HELD)
        self.cards = (self.depth, self.rates, self.unacked)
        for card in self.cards:
            card.plot.span_chosen.connect(self.span_chosen)
        self.window.moved.connect(self.draw)

    def show_now(self, now: OverviewNow, limits: Limits) -> None:
        """Show the present values in the legends, and the limits."""
        self.depth.show_values({lane.lane: text.count(lane.depth) for lane in now.lanes})
        unsent = now.flow.facts.unsent
        self.depth.show_beside(_("besides {n} recorded, not sent").format(n=text.count(unsent)) if unsent else "")
        lost = now.flow.facts.store and not now.flow.facts.broker
        self.unacked.show_values({"unacked": "–" if lost else text.count(unacked(now))})  # as its tile says it
        self.depth.plot.set_limit(limits.waiting)
        self.unacked.plot.set_limit(now.slots_total or None)

    def show_old(self, old: bool) -> None:
        """Show in greys what the broker tells: it is as it was when that was lost."""
        for card in (self.depth, self.unacked):
            grey(card, old)

    def show_markers(self, marks: tuple[Marker, ...]) -> None:
        """Mark what happened: with words above the first chart, as lines in all."""
        self.depth.plot.set_markers(marks)
        silent = [replace(mark, text="") for mark in marks]
        for card in (self.rates, self.unacked):
            card.plot.set_markers(silent)

    def steps(self) -> list[Callable[[], None]]:
        """The drawing in parts: together they would hold the window for two frames."""
        return [partial(self._draw, card) for card in self.cards]

    def draw(self) -> None:
        """Draw all at once, as after a zoom."""
        for step in self.steps():
            step()

    def _draw(self, card: ChartCard) -> None:
        points = min(MAX_POINTS, max(100, card.plot.width()))
        card.plot.set_frame(self._buffer.frame(*self.window.bounds(), points))
        if isinstance(card.plot, RatesChart):  # In and Out of a minute would contradict a curve of seconds
            card.show_values(card.plot.newest())


PAUSE_MS = 16


class Steps(QObject):
    """Runs calls one after the other; a newer list takes the place of what is left of the last one.

    Lists are of one kind: what was left, the newer list does first. On a machine so busy that each list is overtaken by
    the next, its end would never be reached otherwise, and the charts would stand still below numbers that move.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left: deque[tuple[int, Callable[[], None]]] = deque()
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._next)

    def run(self, calls: Iterable[Callable[[], None]]) -> None:
        """Run the first call now and the others a moment apart."""
        first = self._left[0][0] if self._left else 0
        self._left = deque(enumerate(calls))
        self._left.rotate(-first)
        self._next()

    def finish(self) -> None:
        """Run what is left at once."""
        while self._left:
            self._next()

    def stop(self) -> None:
        """Forget what is left."""
        self._left.clear()
        self._timer.stop()

    def _next(self) -> None:
        if self._left:
            self._left.popleft()[1]()
        if self._left:
            self._timer.start()
