"""The flight recorder: numbers over minutes to a day, kept in a small file so that a restart loses none."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import msgspec

from services import home_folder

log = logging.getLogger(__name__)
FINE_S, FINE_KEPT = 1, 3600
COARSE_S, COARSE_KEPT_S = 10, 26 * 3600


class Sample(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One row of the charts; rates are per second, ages in seconds."""

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


class History:
    """One sample a second for an hour in memory, one in ten for a day on disk. Thread-safe."""

    def __init__(self, path: Path | None) -> None:
        self._fine: deque[Sample] = deque(maxlen=FINE_KEPT)
        self._coarse: deque[Sample] = deque(maxlen=COARSE_KEPT_S // COARSE_S)
        self._lock = threading.Lock()
        self._db = _open(path) if path is not None else None
        self._load()

    def add(self, sample: Sample) -> None:
        """Keep a sample; samples closer than a second to the last one are dropped."""
        with self._lock:
            if self._fine and sample.at_ms - self._fine[-1].at_ms < FINE_S * 1000 * 0.8:
                return
            self._fine.append(sample)
            if self._coarse and sample.at_ms - self._coarse[-1].at_ms < COARSE_S * 1000:
                return
            self._coarse.append(sample)
            self._save(sample)

    def series(self, range_s: int, max_points: int, now_ms: int) -> list[Sample]:
        """Samples of the last ``range_s`` seconds, oldest first, thinned to ``max_points``."""
        with self._lock:
            fine = list(self._fine)
            coarse = list(self._coarse)
        start = now_ms - range_s * 1000
        edge = fine[0].at_ms if fine else now_ms
        rows = [row for row in coarse if start <= row.at_ms < edge] + [row for row in fine if row.at_ms >= start]
        return thin(rows, max_points)

    def at(self, instant_ms: int) -> Sample | None:
        """The last sample not after this instant."""
        with self._lock:
            for rows in (self._fine, self._coarse):
                for row in reversed(rows):
                    if row.at_ms <= instant_ms:
                        return row
        return None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _load(self) -> None:
        if self._db is None:
            return
        rows = self._db.execute("SELECT body FROM samples ORDER BY at").fetchall()
        for (body,) in rows:
            try:
                self._coarse.append(msgspec.msgpack.decode(body, type=Sample, strict=False))
            except msgspec.DecodeError:
                continue

    def _save(self, sample: Sample) -> None:
        if self._db is None:
            return
        try:
            self._db.execute(
                "INSERT OR REPLACE INTO samples VALUES (?, ?)", (sample.at_ms, msgspec.msgpack.encode(sample))
            )
            self._db.execute("DELETE FROM samples WHERE at < ?", (sample.at_ms - COARSE_KEPT_S * 1000,))
        except sqlite3.Error as exc:
            log.warning("charts are not kept over a restart: %s", exc)
            self._db = None


def thin(rows: Sequence[Sample], max_points: int) -> list[Sample]:
    """Every k-th row so that at most ``max_points`` are left; the newest always stays."""
    if len(rows) <= max_points or max_points < 1:
        return list(rows)
    step = -(-len(rows) // max_points)
    return list(reversed(list(reversed(rows))[::step]))


def _open(path: Path) -> sqlite3.Connection | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        home_folder.keep_private(path)
        db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=2.0)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("CREATE TABLE IF NOT EXISTS samples (at INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    except (sqlite3.Error, OSError) as exc:
        log.warning("charts are not kept over a restart: %s", exc)
        return None
    return db
