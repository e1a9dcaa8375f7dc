"""Samples in ring buffers of numpy, thinned to what a chart can show before they reach it. No Qt."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from services.monitor.overview import LANES, Sample

Numbers = npt.NDArray[np.float64]
TIME = "at_ms"
RATES = ("publish", "deliver", "ack")
FIELDS = (*LANES, "unacked", "running", "retrying", "dead", *RATES, "succeeded", "failed", "oldest_waiting_s")
CAPACITY = 16_384
MAX_POINTS = 1_000
#: A hole this long, and this many times the usual distance, is a time nobody measured.
GAP_S, GAP_TIMES = 20.0, 2.5
_ROW = attrgetter(TIME, *FIELDS)
_MEANS = [1 + FIELDS.index(name) for name in RATES]
_PEAKS = [1 + FIELDS.index(name) for name in ("unacked", "running", "retrying", "dead", "oldest_waiting_s")]
_LANES = [1 + FIELDS.index(name) for name in LANES]


class Ring:
    """The newest rows of equal width; old ones make room. Rows lie in one piece, so a slice needs no copy."""

    def __init__(self, width: int, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._rows: Numbers = np.zeros((2 * capacity, width))
        self._from = self._to = 0

    def __len__(self) -> int:
        return self._to - self._from

    def clear(self) -> None:
        """Forget all rows."""
        self._from = self._to = 0

    def extend(self, rows: Numbers) -> None:
        """Add rows at the end."""
        rows = rows[-self._capacity :]
        if self._to + len(rows) > len(self._rows):
            keep = min(len(self), self._capacity - len(rows))
            self._rows[:keep] = self._rows[self._to - keep : self._to].copy()
            self._from, self._to = 0, keep
        self._rows[self._to : self._to + len(rows)] = rows
        self._to += len(rows)
        self._from = max(self._from, self._to - self._capacity)

    def rows(self) -> Numbers:
        """All rows, oldest first; valid until the next ``extend``."""
        return self._rows[self._from : self._to]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Columns of a span of time, ready to draw; never changed after it was made."""

    at: Numbers  #: UTC seconds
    columns: Mapping[str, Numbers]
    gaps: tuple[tuple[float, float], ...] = ()  #: spans without samples

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, name: str) -> Numbers:
        return self.columns[name]

    def total(self, names: Sequence[str] = LANES) -> Numbers:
        """The sum of some columns."""
        return np.sum([self.columns[name] for name in names], axis=0) if names else np.zeros(len(self))

    def index_at(self, instant: float) -> int:
        """The point nearest to an instant, -1 when there is none."""
        if not len(self.at):
            return -1
        right = int(np.searchsorted(self.at, instant))
        if right == 0:
            return 0
        if right == len(self.at):
            return right - 1
        return right if self.at[right] - instant < instant - self.at[right - 1] else right - 1


@dataclass(slots=True)
class SampleBuffer:
    """Samples as they come, in any thread; frames out of them, in any thread."""

    capacity: int = CAPACITY
    _ring: Ring = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._ring = Ring(1 + len(FIELDS), self.capacity)

    def replace(self, samples: Sequence[Sample]) -> None:
        """Keep these and no others."""
        with self._lock:
            self._ring.clear()
        self.append(samples)

    def append(self, samples: Sequence[Sample]) -> None:
        """Add those that are newer than the newest."""
        newest = self.newest_ms()
        fresh = [_ROW(sample) for sample in samples if sample.at_ms > newest]
        if fresh:
            rows = np.array(fresh, dtype=np.float64)
            rows[:, 0] /= 1000.0
            with self._lock:
                self._ring.extend(rows)

    def newest_ms(self) -> int:
        """Instant of the newest sample, 0 when there is none."""
        with self._lock:
            return round(float(self._ring.rows()[-1, 0]) * 1000) if len(self._ring) else 0

    def oldest_ms(self) -> int:
        """Instant of the oldest sample, 0 when there is none."""
        with self._lock:
            return round(float(self._ring.rows()[0, 0]) * 1000) if len(self._ring) else 0

    def frame(self, start: float, end: float, points: int = MAX_POINTS) -> Frame:
        """At most about ``points`` points between two instants in UTC seconds."""
        with self._lock:
            rows = self._ring.rows()
            low, high = np.searchsorted(rows[:, 0], [start, end], side="left")
            # one more on either side, so that a line reaches the edge
            part = rows[max(0, int(low) - 1) : int(high) + 1].copy()
        gaps = find_gaps(part[:, 0])
        thinned = thin(part, (end - start) / max(1, points))
        columns = {name: np.ascontiguousarray(thinned[:, at]) for at, name in enumerate(FIELDS, start=1)}
        return Frame(np.ascontiguousarray(thinned[:, 0]), columns, gaps)


EMPTY = Frame(np.zeros(0), {name: np.zeros(0) for name in FIELDS})


def thin(rows: Numbers, width: float) -> Numbers:
    """One row for each ``width`` seconds: the lanes of when they were deepest together, rates as the mean of all, of
    other numbers the highest.

    The bounds are multiples of ``width`` since the epoch, so that a moving window shows the same points again
    instead of shimmering. The newest row always stays.
    """
    if len(rows) < 3 or width <= 0 or (rows[-1, 0] - rows[0, 0]) / len(rows) >= width:
        return rows
    bucket = np.floor(rows[:, 0] / width)
    first = np.flatnonzero(np.diff(bucket, prepend=bucket[0] - 1))
    ends = np.append(first[1:], len(rows))
    order = np.lexsort((rows[:, _LANES].sum(axis=1), bucket))
    chosen = rows[order[ends - 1]]
    chosen[:, _MEANS] = np.add.reduceat(rows[:, _MEANS], first, axis=0) / (ends - first)[:, None]
    chosen[:, _PEAKS] = np.maximum.reduceat(rows[:, _PEAKS], first, axis=0)
    return chosen if chosen[-1, 0] == rows[-1, 0] else np.vstack((chosen, rows[-1:]))


def find_gaps(at: Numbers) -> tuple[tuple[float, float], ...]:
    """Spans between neighbours much farther apart than usual."""
    if len(at) < 3:
        return ()
    steps = np.diff(at)
    # History is coarse and its end is fine: the usual distance is that of the coarse part.
    usual = float(np.quantile(steps, 0.9, method="lower"))
    wide = np.flatnonzero(steps > max(GAP_S, usual * GAP_TIMES))
    return tuple((float(at[n]), float(at[n + 1])) for n in wide)


def success(frame: Frame, window_s: float) -> Numbers:
    """Share of good ends in the ``window_s`` before each point; NaN where nothing ended. Counters may start anew."""
    if not len(frame):
        return np.zeros(0)
    good, bad = _grown(frame["succeeded"]), _grown(frame["failed"])
    before = np.searchsorted(frame.at, frame.at - window_s)
    won, lost = good - good[before], bad - bad[before]
    ended = won + lost
    share = np.full(len(frame), np.nan)
    np.divide(won, ended, out=share, where=ended > 0)
    return share


def _grown(counter: Numbers) -> Numbers:
    """How far a counter came since the first point; a fall means that it began again at 0."""
    steps = np.diff(counter, prepend=counter[:1])
    return np.cumsum(np.where(steps < 0, counter, steps))


def filled(values: Numbers) -> Numbers:
    """NaN replaced by the value before, at the beginning by the first one."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(0)
    places = np.where(known, np.arange(len(values)), -1)
    places = np.maximum.accumulate(places)
    places[places < 0] = int(np.flatnonzero(known)[0])
    result: Numbers = values[places]
    return result
