"""What the page knows: asked off the GUI thread, handed over as values. No Qt."""

from __future__ import annotations

import time
from dataclasses import dataclass

from services.monitor.overview import OverviewNow, OverviewSource
from views.charts.series import CAPACITY, MAX_POINTS, Frame, SampleBuffer
from views.widgets.heat_layout import Rows, prepare

#: The heat map and the list of shops change once a second, whatever the pace of the numbers.
ROWS_EVERY_S = 1.0
#: Asked again each time, so that a sample written late is not missed.
OVERLAP_S = 5
CURVE_POINTS = 240


@dataclass(frozen=True, slots=True)
class Look:
    """One answer about now."""

    now: OverviewNow
    rows: Rows | None  #: None when it is not their turn
    took_s: float


@dataclass(frozen=True, slots=True)
class History:
    """One answer about the past."""

    range_s: int
    newest_ms: int
    curves: Frame  #: the whole range, for the tiles


class OverviewData:
    """Asks the source; ``look`` and ``history`` block and may run in two threads at once."""

    def __init__(self, source: OverviewSource, aggregate_above: int | None) -> None:
        self._source = source
        self._aggregate_above = aggregate_above
        self._rows_at = -ROWS_EVERY_S
        self._range = 0
        self.buffer = SampleBuffer()

    def look(self) -> Look:
        """The fleet now."""
        began = time.monotonic()
        now = self._source.now()
        rows = None
        if began - self._rows_at >= ROWS_EVERY_S * 0.9:
            self._rows_at = began
            rows = prepare(now.shops, self._aggregate_above)
        return Look(now, rows, time.monotonic() - began)

    def history(self, range_s: int) -> History:
        """The samples since the last call, or all of another range."""
        newest = self.buffer.newest_ms()
        if range_s != self._range or not newest:
            self.buffer.replace(self._source.series(range_s, CAPACITY))
            self._range = range_s
        else:
            self.buffer.append(self._source.series(self._gap_s(newest), MAX_POINTS))
        end = self.buffer.newest_ms() / 1000
        return History(range_s, self.buffer.newest_ms(), self.buffer.frame(end - range_s, end, CURVE_POINTS))

    def _gap_s(self, newest_ms: int) -> int:
        """How far back to ask: to the newest sample known, by the source's own clock."""
        latest = self._source.series(OVERLAP_S, 1)
        behind = (latest[-1].at_ms - newest_ms) / 1000 if latest else 0.0
        return min(self._range, int(behind) + OVERLAP_S)
