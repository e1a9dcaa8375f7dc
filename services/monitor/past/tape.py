"""The file of the recorder: 5 s for a day, 1 min for a week, 15 min for 30 days, and every change of a state.

The program that leads writes it, any program of the same machine reads it. Besides the changes all states are written
as a whole now and then, so that what was at a moment is one whole and the changes since.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from services import home_folder
from services.domain.past import frame, turns
from services.domain.past.frame import Change, Frame, Gap, Numbers, Things

DAY_MS = 86_400_000


class Level(msgspec.Struct, frozen=True):
    """How finely, and for how long, both in milliseconds."""

    step: int
    kept: int


LEVELS = (Level(5_000, DAY_MS), Level(60_000, 7 * DAY_MS), Level(900_000, 30 * DAY_MS))
KEPT_MS = LEVELS[-1].kept
#: so long without a row is a gap: three steps of the finest level, and a moment
ABSENT_MS = 3 * LEVELS[0].step + 1_000
#: all states are written so often
WHOLE_MS = 900_000
#: what the file may take on the disk; before that the oldest changes go
MOST_BYTES = 180_000_000
#: a clock that is behind for so long was set right; one that is for a shorter time may be wrong itself
BEHIND_MS = 300_000
#: a look so long after the one before may come of a clock that is wrong: so long after it nothing is too old
LEAP_MS, LEAP_REST_MS = DAY_MS, 3_600_000
#: SQLite says so of a file that is none of its own, or not whole
_SPOILT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
MAX_CHANGES = 50_000
_TABLES = """
CREATE TABLE IF NOT EXISTS numbers (level INTEGER NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (level, at)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS changes_at ON changes (at);
CREATE TABLE IF NOT EXISTS wholes (at INTEGER PRIMARY KEY, body BLOB NOT NULL);
"""
_NUMBERS = msgspec.msgpack.Decoder(Numbers, strict=False)
_THINGS = msgspec.msgpack.Decoder(list[tuple[str, str, str]])


def step_of(age_ms: int) -> int:
    """How fine the record of a time so long ago is, in milliseconds."""
    return next((level.step for level in LEVELS if age_ms < level.kept), LEVELS[-1].step)


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet as it was."""

    asked_ms: int  #: UTC ms
    numbers: Numbers  #: of the row that speaks for it
    things: Things
    step_ms: int  #: how fine the record of that time is
    told: bool = True  #: False: the states of then had to go, only the numbers are known


def set_aside(path: Path, error: Exception) -> bool:
    """Put a file that is none, or not whole, beside its place, so that another one can begin; whether it was that.

    Raises:
        OSError: it cannot be moved.
    """
    if not isinstance(error, sqlite3.DatabaseError) or getattr(error, "sqlite_errorcode", 0) & 0xFF not in _SPOILT:
        return False
    path.replace(path.with_name(f"{path.name}.damaged"))
    for more in ("-wal", "-shm"):
        path.with_name(f"{path.name}{more}").unlink(missing_ok=True)
    return True


class Tape:
    """Thread-safe. Raises ``sqlite3.Error`` and ``OSError`` where the file cannot be read or written."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Make the file where there is none, unless it is only read.

        Raises:
            FileNotFoundError: it is only read and nobody has recorded here.
        """
        self._lock = threading.Lock()
        if read_only and not path.exists():
            raise FileNotFoundError(path)
        if not read_only:
            home_folder.make_private(path.parent)
            home_folder.keep_private(path)
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=5.0)
        try:
            if read_only:
                self._db.execute("PRAGMA query_only=ON")
                if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'wholes'").fetchone() is None:
                    raise FileNotFoundError(path)  # somebody is about to make it
            else:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(_TABLES)
        except (sqlite3.Error, FileNotFoundError):
            self._db.close()
            raise
        self._last: Numbers | None = None
        self._things: Things = {}
        self._whole_at = 0
        self._behind_since: int | None = None
        self._leapt_at = 0
        if not read_only:
            self._file = path.stat()
            try:
                self._go_on()
            except sqlite3.Error:
                self._db.close()
                raise

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -------------------------------------------------------------------------------------------------------- writing
    def is_at(self, path: Path) -> bool:
        """Whether the file is still the one that lies there: somebody may have taken it away."""
        try:
            return os.path.samestat(path.stat(), self._file)
        except OSError:
            return False

    def add(self, look: Frame) -> bool:
        """Keep a look; whether it was kept. Its numbers speak for the time since the last one, if that is near enough;
        else there is a gap, and what changed in it is not told as if it was seen. One that is not later than the last
        is dropped, until that has lasted for ``BEHIND_MS``: then what is stamped later never was.
        """
        with self._lock, self._writing():
            last, now = self._last, look.numbers.at_ms
            if last is not None and now <= last.at_ms:
                if self._behind_since is None or now < self._behind_since:
                    self._behind_since = now
                if now - self._behind_since < BEHIND_MS:
                    return False
                self._forget_after(now)
                last = None
            self._behind_since = None
            if last is not None and now - last.at_ms > LEAP_MS:
                self._leapt_at = now
            near = last is not None and now - last.at_ms <= ABSENT_MS
            since = last.at_ms if near and last is not None else now
            numbers = msgspec.structs.replace(look.numbers, since_ms=since)
            self._put(0, numbers)
            if near:
                found = frame.changed(self._things, look.things, now)
                self._db.executemany("INSERT INTO changes (at, kind, name, before, after) VALUES (?,?,?,?,?)", found)
            if not near or now - self._whole_at >= WHOLE_MS:
                self._put_whole(now, look.things)
            if last is not None:
                self._roll(last.at_ms, now)
            self._last, self._things = numbers, dict(look.things)
        return True

    def _go_on(self) -> None:
        """Go on where another program, or this one, stopped."""
        with self._lock, self._writing():
            row = self._db.execute("SELECT body FROM numbers WHERE level = 0 ORDER BY at DESC LIMIT 1").fetchone()
            self._last = _decoded(row[0]) if row is not None else None
            if self._last is None:
                return
            at = self._last.at_ms
            self._whole_at, self._things = self._things_at(at)
            for place in range(1, len(LEVELS)):  # what was begun and not ended
                self._roll_span(place, at)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a full disk has ended it, and that is what has to be told
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _put(self, level: int, row: Numbers) -> None:
        body = msgspec.msgpack.encode(row)
        self._db.execute("INSERT OR REPLACE INTO numbers VALUES (?,?,?)", (level, row.at_ms, body))

    def _put_whole(self, at: int, things: Things) -> None:
        rows = [(kind, name, state) for (kind, name), state in sorted(things.items())]
        body = zlib.compress(msgspec.msgpack.encode(rows), 6)
        self._db.execute("INSERT OR REPLACE INTO wholes VALUES (?,?)", (at, body))
        self._whole_at = at

    def _roll(self, before: int, now: int) -> None:
        """Write the coarser rows of the spans that ended between two looks, and let go what is too old."""
        for place in range(1, len(LEVELS)):
            if before // LEVELS[place].step != now // LEVELS[place].step:
                self._roll_span(place, before)
        if before // WHOLE_MS != now // WHOLE_MS:
            self._let_go(now)

    def _roll_span(self, place: int, at: int) -> None:
        """The rows of a level for the span of it in which an instant lies, of those of the level below."""
        begin = at - at % LEVELS[place].step
        end = begin + LEVELS[place].step
        bodies = self._db.execute(
            "SELECT body FROM numbers WHERE level = ? AND at >= ? AND at < ? ORDER BY at", (place - 1, begin, end)
        ).fetchall()
        rows = [row for (body,) in bodies if (row := _decoded(body)) is not None]
        self._db.execute("DELETE FROM numbers WHERE level = ? AND at >= ? AND at < ?", (place, begin, end))
        for row in frame.rolled(rows) if rows else ():
            self._put(place, row)

    def _let_go(self, now: int) -> None:
        if not 0 <= now - self._leapt_at < LEAP_REST_MS:
            self._let_go_old(now)
        while self._used() > MOST_BYTES and self._let_go_oldest():
            pass

    def _let_go_old(self, now: int) -> None:
        for place, level in enumerate(LEVELS):
            edge = now - level.kept
            if place + 1 < len(LEVELS):  # whole spans of the next level, so that the two meet and do not overlap
                edge -= edge % LEVELS[place + 1].step
            self._db.execute("DELETE FROM numbers WHERE level = ? AND at < ?", (place, edge))
        self._db.execute("DELETE FROM changes WHERE at < ?", (now - KEPT_MS,))
        self._db.execute("DELETE FROM wholes WHERE at < ?", (now - KEPT_MS - WHOLE_MS,))

    def _used(self) -> int:
        pages, free, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def _let_go_oldest(self) -> bool:
        """A tenth of the states; whether there was any."""
        sql = "SELECT at FROM wholes ORDER BY at LIMIT 1 OFFSET (SELECT max(1, count(*) / 10) FROM wholes)"
        if (row := self._db.execute(sql).fetchone()) is None:
            return False
        self._db.execute("DELETE FROM changes WHERE at < ?", row)
        self._db.execute("DELETE FROM wholes WHERE at < ?", row)
        return True

    def _forget_after(self, edge: int) -> None:
        """The clock was a day and more ahead: what was stamped later than now never was."""
        self._db.execute("DELETE FROM numbers WHERE at > ?", (edge,))
        self._db.execute("DELETE FROM changes WHERE at > ?", (edge,))
        self._db.execute("DELETE FROM wholes WHERE at > ?", (edge,))

    # -------------------------------------------------------------------------------------------------------- reading
    def at(self, instant: int) -> Moment | None:
        """The fleet at an instant; None where nobody recorded."""
        with self._lock:
            for place, level in enumerate(LEVELS):
                row = self._db.execute(
                    "SELECT body FROM numbers WHERE level = ? AND at >= ? ORDER BY at LIMIT 1", (place, instant)
                ).fetchone()
                numbers = _decoded(row[0]) if row is not None else None
                if numbers is not None and numbers.since_ms <= instant:
                    # what the row says was seen at its end; before that it was as the changes tell
                    whole, things = self._things_at(instant)
                    told = whole > 0
                    return Moment(asked_ms=instant, numbers=numbers, things=things, step_ms=level.step, told=told)
        return None

    def series(self, begin: int, end: int, most: int = 2_000) -> list[Numbers]:
        """Rows that speak for the time between two instants, oldest first, as fine as is kept and about ``most``."""
        with self._lock:
            for finest in range(len(LEVELS)):
                rows = self._joined(finest, begin, end)
                if len(rows) <= most:
                    return rows
        step = -(-len(rows) // most)
        return [row for at in range(0, len(rows), step) for row in frame.rolled(rows[at : at + step])]

    def gaps(self, begin: int, end: int) -> list[Gap]:
        """Where between two instants nobody recorded."""
        with self._lock:
            rows = self._joined(0, begin, end)
        return frame.gaps(rows, begin, end)

    def changes(
        self, begin: int, end: int, most: int = MAX_CHANGES, *, kind: str = "", state: str = ""
    ) -> list[Change]:
        """What changed after the first instant and not after the second, oldest first; the first ``most``.

        ``kind``: only of such things; ``state``: from or to one in which this word stands.
        """
        return [change for _id, change in self._changes(begin, end, kind, state, 0, most)]

    def every_change(self, begin: int, end: int, *, kind: str = "", state: str = "") -> Iterator[Change]:
        """As ``changes``, all of them, read a part at a time."""
        last = 0
        while found := self._changes(begin, end, kind, state, last, MAX_CHANGES):
            yield from (change for _id, change in found)
            last = found[-1][0]

    def _changes(
        self, begin: int, end: int, kind: str, state: str, after_id: int, most: int
    ) -> list[tuple[int, Change]]:
        with self._lock:
            rows = self._db.execute(
                "SELECT id, at, kind, name, before, after FROM changes"
                " WHERE at > ? AND at <= ? AND (? = '' OR kind = ?)"
                " AND (? = '' OR instr(before, ?) OR instr(after, ?)) AND id > ? ORDER BY id LIMIT ?",
                (begin, end, kind, kind, state, state, state, after_id, most),
            ).fetchall()
        return [(row[0], Change(*row[1:])) for row in rows]

    def states_since(self) -> int | None:
        """The first instant of which states are kept: the oldest may have gone before the numbers; None for no one."""
        with self._lock:
            at = self._db.execute("SELECT min(at) FROM wholes").fetchone()[0]
        return int(at) if at is not None else None

    def states(self, instant: int) -> Things:
        """All states of an instant."""
        with self._lock:
            return self._things_at(instant)[1]

    def step(self, instant: int, *, later: bool) -> int | None:
        """The nearest instant at which something changed that a person may want to know; None where there is none."""
        where = "at > ? ORDER BY at" if later else "at < ? ORDER BY at DESC"
        quiet = ", ".join(f"'{state}'" for state in sorted(turns.QUIET))
        with self._lock:
            row = self._db.execute(
                f"SELECT at FROM changes WHERE (kind <> 'shop' OR before NOT IN ({quiet}) OR after NOT IN ({quiet}))"
                f" AND {where} LIMIT 1",
                (instant,),
            ).fetchone()
        return int(row[0]) if row is not None else None

    def newest(self) -> Numbers | None:
        """The last row."""
        with self._lock:
            row = self._db.execute("SELECT body FROM numbers WHERE level = 0 ORDER BY at DESC LIMIT 1").fetchone()
        return _decoded(row[0]) if row is not None else None

    def span(self) -> tuple[int, int] | None:
        """First and last instant of which anything is known; None for an empty tape."""
        with self._lock:
            found = [self._oldest(place) for place in range(len(LEVELS))]
            last = self._db.execute("SELECT max(at) FROM numbers").fetchone()[0]
        known = [at for at in found if at is not None]
        return (min(known), last) if known else None

    def _joined(self, finest: int, begin: int, end: int) -> list[Numbers]:
        """Rows of a level, before them of coarser ones where it does not reach so far back, and after them of finer
        ones, for a span that goes on has no row of its own yet.
        """
        found: list[Numbers] = []
        for place in reversed(range(finest, len(LEVELS))):
            rows = self._rows(place, begin, end)
            edge = rows[0].since_ms if rows else end + 1
            found = [row for row in found if row.at_ms <= edge] + rows
        for place in reversed(range(finest)):
            found += self._rows(place, found[-1].at_ms + 1 if found else begin, end)
        return found

    def _rows(self, level: int, begin: int, end: int) -> list[Numbers]:
        """Rows of a level that speak for any of the time between two instants."""
        found = []
        for (body,) in self._db.execute(
            "SELECT body FROM numbers WHERE level = ? AND at >= ? ORDER BY at", (level, begin)
        ):
            row = _decoded(body)
            if row is None:
                continue
            if row.since_ms > end:
                break
            found.append(row)
            if row.at_ms >= end:
                break
        return found

    def _oldest(self, level: int) -> int | None:
        row = self._db.execute("SELECT body FROM numbers WHERE level = ? ORDER BY at LIMIT 1", (level,)).fetchone()
        found = _decoded(row[0]) if row is not None else None
        return found.since_ms if found is not None else None

    def _things_at(self, instant: int) -> tuple[int, dict[tuple[str, str], str]]:
        row = self._db.execute(
            "SELECT at, body FROM wholes WHERE at <= ? ORDER BY at DESC LIMIT 1", (instant,)
        ).fetchone()
        if row is None:
            return 0, {}
        try:
            whole = {(kind, name): state for kind, name, state in _THINGS.decode(zlib.decompress(row[1]))}
        except (msgspec.DecodeError, zlib.error):
            whole = {}
        since = self._db.execute(
            "SELECT at, kind, name, before, after FROM changes WHERE at > ? AND at <= ? ORDER BY id", (row[0], instant)
        )
        return row[0], frame.changes_applied(whole, (Change(*one) for one in since))


def _decoded(body: bytes) -> Numbers | None:
    try:
        return _NUMBERS.decode(body)
    except (msgspec.DecodeError, TypeError):
        return None
