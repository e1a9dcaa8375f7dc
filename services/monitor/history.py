"""What the charts show: numbers over minutes to a day, kept in a small file so that a restart loses none."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import statistics
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from services import home_folder

log = logging.getLogger(__name__)
FINE_S, FINE_KEPT = 1, 3600
COARSE_S, COARSE_KEPT_S = 10, 26 * 3600
#: so many steps without a sample are an absence; a step is what the last ones took, at most ``SLOWEST_S``
ABSENT_STEPS, STEPS, SLOWEST_S = 3, 9, 5
#: what lies further ahead than this was stamped by a clock that was wrong
AHEAD_MS = 2_000
_LANES = ("high", "dedicated", "normal", "low")
_PEAKS = ("unacked", "running", "retrying", "dead", "publish", "deliver", "ack", "oldest_waiting_s", "waiting")


class Sample(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One row of the charts; rates are per second, ages in seconds. It speaks for the time since ``since_ms``: of what
    lies between the row before it and that instant nobody knows anything.
    """

    at_ms: int
    high: int = 0
    dedicated: int = 0
    normal: int = 0
    low: int = 0
    unacked: int = 0
    running: int = 0
    retrying: int = 0
    dead: int = 0
    publish: float = 0.0
    deliver: float = 0.0
    ack: float = 0.0
    succeeded: int = 0  #: total so far
    failed: int = 0  #: total so far
    oldest_waiting_s: float = 0.0
    since_ms: int = 0  #: watched without a break since then, UTC ms; 0: as a program wrote it that did not say
    told: bool = True  #: whether the broker told; where not, lanes and ``unacked`` are not known
    waiting: int = -1  #: by the records, with what is not sent; below 0: a program wrote it that did not say


class History:
    """One sample a second for an hour in memory, one in ten for a day on disk. Thread-safe."""

    def __init__(self, path: Path | None, before: Path | None = None) -> None:
        """``before``: where a program of before kept the same; it is taken over where there is nothing yet."""
        self._fine: deque[Sample] = deque(maxlen=FINE_KEPT)
        self._coarse: deque[Sample] = deque(maxlen=COARSE_KEPT_S // COARSE_S)
        self._part: list[Sample] = []  #: of the ten seconds that are going on
        self._steps: deque[int] = deque(maxlen=STEPS)
        self._lock = threading.Lock()
        if path is not None and before is not None:
            _take_over(before, path)
        self._db = _open(path) if path is not None else None
        self._load()

    def add(self, sample: Sample) -> None:
        """Keep a sample; samples closer than a second to the last one are dropped."""
        with self._lock:
            self._forget_after(sample.at_ms + AHEAD_MS)
            if self._fine and sample.at_ms - self._fine[-1].at_ms < FINE_S * 1000 * 0.8:
                return
            sample = self._joined(sample)
            self._fine.append(sample)
            if self._part and (_apart(self._part[-1], sample) or sample.at_ms - self._part[0].at_ms >= COARSE_S * 1000):
                self._end_part()
            self._part.append(sample)
            if len(self._part) == 1:  # a program that is killed leaves the ten seconds' first one
                self._save(sample.at_ms, sample)

    def _joined(self, sample: Sample) -> Sample:
        """The sample with the instant since which nothing was missed."""
        before = self._fine[-1] if self._fine else self._coarse[-1] if self._coarse else None
        if before is None or sample.at_ms < before.at_ms:
            return replace(sample, since_ms=sample.at_ms)
        step = sample.at_ms - before.at_ms
        # what was usual before: an absence soon after the start must not make itself the usual
        usual = statistics.median_low(self._steps) if self._steps else 0
        if self._fine:
            self._steps.append(step)
        longest = ABSENT_STEPS * min(SLOWEST_S * 1000, max(FINE_S * 1000, usual))
        return replace(sample, since_ms=before.at_ms if step <= longest else sample.at_ms)

    def _end_part(self) -> None:
        """Ten seconds are over, or there is a break: what is kept of them has their peaks."""
        if self._part:
            peak = peak_of(self._part)
            self._coarse.append(peak)
            self._save(self._part[0].at_ms, peak)
            self._part = []

    def _forget_after(self, edge_ms: int) -> None:
        """The clock was corrected: what was stamped later than now never was."""
        if not any(rows and rows[-1].at_ms > edge_ms for rows in (self._fine, self._coarse, self._part)):
            return
        for rows in (self._fine, self._coarse):
            while rows and rows[-1].at_ms > edge_ms:
                rows.pop()
        self._part = []
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("DELETE FROM samples WHERE at > ?", (edge_ms,))

    def series(self, range_s: int, max_points: int, now_ms: int) -> list[Sample]:
        """Samples of the last ``range_s`` seconds, oldest first, thinned to ``max_points``; none of the future."""
        with self._lock:
            fine = list(self._fine)
            coarse = list(self._coarse)
        start = now_ms - range_s * 1000
        edge = fine[0].at_ms if fine else now_ms
        end = now_ms + AHEAD_MS
        if len(fine) == FINE_KEPT:
            # the oldest of these were forgotten; where their ten seconds end the fine ones go on without a break
            edge = next((row.at_ms + 1 for row in coarse if row.at_ms >= edge), edge)
        rows = [row for row in coarse if start <= row.at_ms < min(edge, end)]
        rows += [row for row in fine if max(start, edge) <= row.at_ms <= end]
        return thin(rows, max_points)

    def close(self) -> None:
        with self._lock:
            self._end_part()
            if self._db is not None:
                self._db.close()
                self._db = None

    def _load(self) -> None:
        if self._db is None:
            return
        rows = self._db.execute("SELECT body FROM samples ORDER BY at").fetchall()
        for (body,) in rows:
            try:
                row = msgspec.msgpack.decode(body, type=Sample, strict=False)
            except msgspec.DecodeError:
                continue
            if not row.since_ms:
                before = self._coarse[-1].at_ms if self._coarse else row.at_ms
                near = row.at_ms - before <= (COARSE_S + ABSENT_STEPS * FINE_S) * 1000
                row = replace(row, since_ms=before if near else row.at_ms)
            self._coarse.append(row)

    def _save(self, at_ms: int, sample: Sample) -> None:
        if self._db is None:
            return
        try:
            self._db.execute("INSERT OR REPLACE INTO samples VALUES (?, ?)", (at_ms, msgspec.msgpack.encode(sample)))
            self._db.execute("DELETE FROM samples WHERE at < ?", (sample.at_ms - COARSE_KEPT_S * 1000,))
        except sqlite3.Error as exc:
            log.warning("charts are not kept over a restart: %s", exc)
            self._db.close()
            self._db = None


def thin(rows: Sequence[Sample], max_points: int) -> list[Sample]:
    """One row for every k so that about ``max_points`` are left, with the peaks of all k; the newest always stays. None
    stands for both sides of a break, so each break may add one.
    """
    if len(rows) <= max_points or max_points < 1:
        return list(rows)
    step = -(-len(rows) // max_points)
    parts: list[list[Sample]] = []
    for at, row in enumerate(rows):
        if parts and (len(rows) - at) % step and not _apart(rows[at - 1], row):
            parts[-1].append(row)
        else:
            parts.append([row])
    return [peak_of(part) for part in parts]


def _apart(before: Sample, row: Sample) -> bool:
    """Whether one row cannot speak for both: nobody watched in between, or of one of them less is known."""
    return row.since_ms > before.at_ms or row.told != before.told


def peak_of(rows: Sequence[Sample]) -> Sample:
    """The newest row with the peaks of all: lanes of when they were deepest together, of other numbers the highest; it
    speaks for the time of all.
    """
    deepest = max(rows, key=lambda row: sum(getattr(row, lane) for lane in _LANES))
    lanes = {lane: getattr(deepest, lane) for lane in _LANES}
    peaks = {name: max(getattr(row, name) for row in rows) for name in _PEAKS}
    return replace(rows[-1], **lanes, **peaks, since_ms=rows[0].since_ms)


def _take_over(before: Path, path: Path) -> None:
    """Give the file of before its present name, with the log that SQLite keeps beside it."""
    if path.exists() or not before.exists():
        return
    try:
        for ending in ("-wal", "-shm", ""):
            if Path(f"{before}{ending}").exists():
                Path(f"{before}{ending}").replace(f"{path}{ending}")
    except OSError as exc:  # somebody has it open, on Windows
        log.warning("charts of before are not taken over: %s", exc)


def _open(path: Path) -> sqlite3.Connection | None:
    try:
        home_folder.check_there(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        home_folder.keep_private(path)
        db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=2.0)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("CREATE TABLE IF NOT EXISTS samples (at INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        except sqlite3.Error:
            db.close()
            raise
    except (sqlite3.Error, OSError) as exc:
        log.warning("charts are not kept over a restart: %s", exc)
        return None
    return db
