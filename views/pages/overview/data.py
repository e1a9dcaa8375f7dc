"""What the page knows: asked off the GUI thread, handed over as values. No Qt."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from services.domain.past.marks import Mark
from services.monitor.overview import OverviewNow, OverviewSource
from views.charts.series import CAPACITY, MAX_POINTS, Frame, SampleBuffer
from views.widgets.heat_map.layout import Rows, prepare

#: Asked again each time, so that a sample written late is not missed.
OVERLAP_S = 5
CURVE_POINTS = 240
#: a longer range is asked for as a whole, so often; what the charts mark so often
LONGEST_FINE_S, LONG_AGAIN_S, MARKS_AGAIN_S = 86_400, 60.0, 30.0


@dataclass(frozen=True, slots=True)
class Look:
    """One answer about now."""

    now: OverviewNow
    rows: Rows
    took_s: float


@dataclass(frozen=True, slots=True)
class History:
    """One answer about the past."""

    range_s: int
    oldest_ms: int
    newest_ms: int
    curves: Frame  #: the whole range, for the tiles
    marks: tuple[Mark, ...] = ()  #: what the charts mark


class OverviewData:
    """Asks the source; ``look`` and ``history`` block and may run in two threads at once."""

    def __init__(self, source: OverviewSource, aggregate_above: int | None) -> None:
        self._source = source
        self._aggregate_above = aggregate_above
        self._range = 0
        self._asked_s = 0.0  #: when the samples were asked for as a whole, monotonic
        self._marks: tuple[int, float, tuple[Mark, ...]] | None = None  #: of which range, and when they were asked
        self.buffer = SampleBuffer()

    def look(self) -> Look:
        """The fleet now."""
        began = time.monotonic()
        # a server may be lost while this is asked: what is known when the answer comes counts
        now = self._source.fresh(self._source.now())
        rows = prepare(now.shops, self._aggregate_above)
        return Look(now, rows, time.monotonic() - began)

    def fresh(self, look: Look) -> Look:
        """The same with what is known of the servers now; asks nobody, but may judge every shop anew. All its numbers
        stay those of its moment.
        """
        now = self._source.fresh(look.now)
        rows = look.rows if now.shops is look.now.shops else prepare(now.shops, self._aggregate_above)
        return replace(look, now=now, rows=rows)

    def history(self, range_s: int) -> History:
        """The samples since the last call, or all of another range."""
        newest = self.buffer.newest_ms()
        if range_s != self._range or not newest or self._due(range_s) or self._ran_ahead(newest):
            self.buffer.replace(self._source.series(range_s, CAPACITY))
            self._range, self._asked_s = range_s, time.monotonic()
        elif range_s <= LONGEST_FINE_S:
            self.buffer.append(self._source.series(self._gap_s(newest), MAX_POINTS))
        oldest, newest = self.buffer.oldest_ms(), self.buffer.newest_ms()
        end = newest / 1000
        start = max(end - range_s, oldest / 1000)
        return History(range_s, oldest, newest, self.buffer.frame(start, end, CURVE_POINTS), self._marked(range_s))

    def _due(self, range_s: int) -> bool:
        """Whether a long range is asked for as a whole again: second by second it would fill the buffer."""
        return range_s > LONGEST_FINE_S and time.monotonic() - self._asked_s >= LONG_AGAIN_S

    def _marked(self, range_s: int) -> tuple[Mark, ...]:
        if self._marks is None or self._marks[0] != range_s or time.monotonic() - self._marks[1] >= MARKS_AGAIN_S:
            self._marks = (range_s, time.monotonic(), tuple(self._source.marks(range_s)))
        return self._marks[2]

    def _ran_ahead(self, newest_ms: int) -> bool:
        """Whether samples are kept of a time that a corrected clock has not reached yet."""
        latest = self._source.series(OVERLAP_S, 1)
        return bool(latest) and latest[-1].at_ms < newest_ms - OVERLAP_S * 1000

    def _gap_s(self, newest_ms: int) -> int:
        """How far back to ask: to the newest sample known, by the source's own clock."""
        latest = self._source.series(OVERLAP_S, 1)
        behind = (latest[-1].at_ms - newest_ms) / 1000 if latest else 0.0
        return min(self._range, int(behind) + OVERLAP_S)
