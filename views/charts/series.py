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
FIELDS = (
    *LANES,
    "unacked",
    "running",
    "retrying",
    "dead",
    *RATES,
    "succeeded",
    "failed",
    "oldest_waiting_s",
    "waiting",
)
#: what the broker tells: not known where it did not
OF_BROKER = (*LANES, "unacked")
CAPACITY = 16_384
MAX_POINTS = 1_000
#: places that a curve without instants has at most for what is missing in it
MOST_HOLES = 240
_ROW = attrgetter(TIME, *FIELDS, "since_ms")
Spans = tuple[tuple[float, float], ...]
_MEANS = [1 + FIELDS.index(name) for name in RATES]
_PEAKS = [1 + FIELDS.index(name) for name in ("unacked", "running", "retrying", "dead", "oldest_waiting_s", "waiting")]
_LANES = [1 + FIELDS.index(name) for name in LANES]
_OF_BROKER = [1 + FIELDS.index(name) for name in OF_BROKER]
_WAITING = 1 + FIELDS.index("waiting")
_SINCE = 1 + len(FIELDS)


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
    """Columns of a span of time, ready to draw; NaN is not known. Never changed after it was made."""

    at: Numbers  #: UTC seconds
    columns: Mapping[str, Numbers]
    gaps: Spans = ()  #: spans without samples
    untold: Spans = ()  #: spans in which the broker told nothing

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
        self._ring = Ring(_SINCE + 1, self.capacity)

    def replace(self, samples: Sequence[Sample]) -> None:
        """Keep these and no others."""
        with self._lock:
            self._ring.clear()
        self.append(samples)

    def append(self, samples: Sequence[Sample]) -> None:
        """Add those that are newer than the newest."""
        newest = self.newest_ms()
        fresh = [sample for sample in samples if sample.at_ms > newest]
        if fresh:
            rows = np.array([_ROW(sample) for sample in fresh], dtype=np.float64)
            rows[:, [0, _SINCE]] /= 1000.0
            rows[np.ix_([not sample.told for sample in fresh], _OF_BROKER)] = np.nan
            # who did not say counted the lanes alone
            unsaid = rows[:, _WAITING] < 0
            rows[unsaid, _WAITING] = rows[unsaid][:, _LANES].sum(axis=1)
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
        part = _from_their_start(part)
        gaps, breaks = find_gaps(part[:, 0], part[:, _SINCE])
        untold = np.isnan(part[:, _OF_BROKER[0]])
        edges = _either(breaks, 1 + np.flatnonzero(np.diff(untold)), len(part))
        thinned = thin(part, (end - start) / max(1, points), edges)
        columns = {name: np.ascontiguousarray(thinned[:, at]) for at, name in enumerate(FIELDS, start=1)}
        return Frame(np.ascontiguousarray(thinned[:, 0]), columns, gaps, spans(part[:, 0], untold))


EMPTY = Frame(np.zeros(0), {name: np.zeros(0) for name in FIELDS})


def thin(rows: Numbers, width: float, edges: Sequence[int] | npt.NDArray[np.intp] = ()) -> Numbers:
    """One row for each ``width`` seconds: the lanes of when they were deepest together, rates as the mean of all, of
    other numbers the highest.

    The bounds are multiples of ``width`` since the epoch, so that a moving window shows the same points again
    instead of shimmering. The newest row always stays. No row speaks for both sides of an edge (places in ``rows``),
    and the rows next to it stay, so that nothing is drawn towards what lies behind it.
    """
    if len(rows) < 3 or width <= 0 or (rows[-1, 0] - rows[0, 0]) / len(rows) >= width:
        return rows
    bucket = np.floor(rows[:, 0] / width)
    first = np.flatnonzero(np.diff(bucket, prepend=bucket[0] - 1))
    at_edges = np.asarray(edges, dtype=np.intp)
    if len(at_edges):
        first = _either(first, at_edges, len(rows))
    ends = np.append(first[1:], len(rows))
    part = np.repeat(np.arange(len(first)), ends - first)
    order = np.lexsort((rows[:, _LANES].sum(axis=1), part))
    chosen = rows[order[ends - 1]]
    chosen[:, _MEANS] = np.add.reduceat(rows[:, _MEANS], first, axis=0) / (ends - first)[:, None]
    chosen[:, _PEAKS] = np.maximum.reduceat(rows[:, _PEAKS], first, axis=0)
    kept = np.vstack((chosen, rows[at_edges - 1], rows[at_edges], rows[-1:]))
    return kept[np.unique(kept[:, 0], return_index=True)[1]]


def _either(some: npt.NDArray[np.intp], others: npt.NDArray[np.intp], count: int) -> npt.NDArray[np.intp]:
    """The places among ``count`` that stand in one or the other, in order."""
    # NumPy's own union loads its masked arrays, which nobody here has: a twentieth of a second of the first picture
    named = np.zeros(count, np.bool_)
    named[some] = named[others] = True
    return np.flatnonzero(named)


def level(frame: Frame, names: Sequence[str]) -> bool:
    """Whether each of these curves is known throughout, and one value from end to end."""
    if len(frame) < 2 or frame.gaps or frame.untold:
        return False
    return all(len(frame[name]) > 1 and bool((frame[name] == frame[name][0]).all()) for name in names)


def looks_same(one: Frame, other: Frame, names: Sequence[str], step_s: float) -> bool:
    """Whether the later frame shows the same curves, where a step is a pixel: it ends less than that after the other
    one, what both hold is the same, and since then nothing has changed.
    """
    if min(len(one), len(other)) < 2 or (one.gaps, one.untold) != (other.gaps, other.untold):
        return False
    # rows next to either edge are thinned otherwise, as the edge comes nearer
    if abs(other.at[-1] - one.at[-1]) >= step_s or abs(other.at[0] - one.at[0]) >= 2 * step_s:
        return False
    first, last = other.at[0] + 2 * step_s, one.at[-1] - 2 * step_s
    inner, after = ([(frame.at >= first) & (frame.at < last), frame.at >= last] for frame in (one, other))
    if not np.array_equal(one.at[inner[0]], other.at[after[0]]):
        return False
    for name in names:
        before, now = one[name], other[name]
        if not np.array_equal(before[inner[0]], now[after[0]], equal_nan=True):
            return False
        newest = np.concatenate((before[inner[1]], now[after[1]]))
        if not (newest == newest[0]).all() and not np.isnan(newest).all():
            return False
    return True


def _from_their_start(rows: Numbers) -> Numbers:
    """With each row behind a gap also where it begins to speak: one that was rolled up stands at its end."""
    behind = 1 + np.flatnonzero((rows[1:, _SINCE] > rows[:-1, 0]) & (rows[1:, _SINCE] < rows[1:, 0]))
    starts = rows[behind]
    starts[:, 0] = starts[:, _SINCE]
    return np.insert(rows, behind, starts, axis=0) if len(behind) else rows


def find_gaps(at: Numbers, since: Numbers) -> tuple[Spans, npt.NDArray[np.intp]]:
    """Spans in which nobody watched, and the places of the rows behind them; ``since``: what each row speaks for."""
    breaks = 1 + np.flatnonzero(since[1:] > at[:-1])
    return tuple((float(at[n - 1]), float(at[n])) for n in breaks), breaks


def spans(at: Numbers, where: npt.NDArray[np.bool_]) -> Spans:
    """From the last row before to the first row behind each stretch of rows for which something holds."""
    turns = np.diff(where.astype(np.int8), prepend=0, append=0)
    starts, ends = np.flatnonzero(turns > 0), np.flatnonzero(turns < 0)
    firsts = np.maximum(starts - 1, 0).tolist()
    lasts = np.minimum(ends, len(at) - 1).tolist()
    return tuple((float(at[first]), float(at[last])) for first, last in zip(firsts, lasts, strict=True))


def holed(frame: Frame, values: Numbers) -> Numbers:
    """A column with NaN for each step that is missing in it, for a curve that knows no instants."""
    if len(frame) < 2 or not frame.gaps or len(values) != len(frame):
        return values
    span = float(frame.at[-1] - frame.at[0])
    # not the median of the library, which loads its arrays with masks for that: the first picture would wait for it
    steps = np.sort(np.diff(frame.at))
    step = max(float(steps[len(steps) // 2]), span / MOST_HOLES)
    places = np.searchsorted(frame.at, [last for _, last in frame.gaps])
    missing = [max(1, round((last - first) / step) - 1) for first, last in frame.gaps]
    return np.insert(values, np.repeat(places, missing), np.nan)


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


def highest(values: Numbers) -> float:
    """The highest of what is known, at least 0."""
    return float(np.nan_to_num(values).max(initial=0))
