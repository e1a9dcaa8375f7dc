"""What is known of a work, on SQLite: its ends, as one write transaction sees them, and as they are asked for."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterable, Sequence

import msgspec

from services.domain.task import ledger
from services.domain.task.ledger import Day, Done, Entry, Failure, Ran, done_by, is_red
from services.domain.task.record import FORCED, Task
from services.domain.task.status import DEAD, SUCCEEDED
from services.domain.upkeep.stored import Count, Instant
from services.store.sqlite import write
from services.store.sqlite.part import Part
from services.store.unreadable import all_sound, sound

#: with these a run may end that the ledger tells of
_ENDS = frozenset({SUCCEEDED, DEAD})

_COLUMNS = (
    "work", "task_id", "at", "who", "worker", "succeeded", "failures", "first_at", "first_id", "failed_id", "failed_at",
    "kind", "failed_by", "failed_worker",
)  # fmt: skip
_NAMES = ", ".join(_COLUMNS)
#: an end that is new, or that was seen again: its record is there, so nothing says until when it is kept
_PUT = f"""INSERT INTO works ({_NAMES}) VALUES ({", ".join("?" * len(_COLUMNS))})
    ON CONFLICT DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])},
    until = CASE WHEN excluded.task_id = task_id THEN until END,
    failed_until = CASE WHEN excluded.failed_id = failed_id THEN failed_until END, gone_at = NULL"""
_BURY = "UPDATE works SET until = ? WHERE work = ? AND task_id = ?"
_BURY_FAILURE = "UPDATE works SET failed_until = ? WHERE work = ? AND failed_id = ?"
#: when nothing of it is kept any more; NULL while a record is there
_AGE = """UPDATE works SET gone_at = CASE WHEN task_id <> '' AND until IS NULL
    OR failed_id <> '' AND failed_until IS NULL THEN NULL
    ELSE max(coalesce(until, 0), coalesce(failed_until, 0)) END WHERE work = ?"""
FORGET = "DELETE FROM works WHERE gone_at <= ?"
_RED = f"""SELECT uniq, task_id FROM tasks INDEXED BY tasks_red
    WHERE uniq {write.IN_LIST} AND uniq <> '' AND (status = 'held' OR triage = 'open')"""
_SOME_RED = """SELECT EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_red
    WHERE uniq <> '' AND (status = 'held' OR triage = 'open'))"""
_FIND = f"""SELECT work, task_id, at, who, worker FROM works
    WHERE work {write.IN_LIST} AND task_id <> '' AND (until IS NULL OR until > ?)"""
_ALL = f"SELECT {_NAMES} FROM works WHERE work {write.IN_LIST} AND (gone_at IS NULL OR gone_at > ?)"
_THERE = "SELECT 1 FROM works WHERE work = ? AND (gone_at IS NULL OR gone_at > ?)"
_DAY_NAMES = "work, first_at, last_at, succeeded, failed, first_id, last_id"
_DAYS = f"""SELECT {_DAY_NAMES} FROM work_days
    WHERE work {write.IN_LIST} AND last_at >= ? ORDER BY work, first_at"""
_ADD_DAY = f"INSERT OR REPLACE INTO work_days ({_DAY_NAMES}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_THAT_DAY = "FROM work_days WHERE work = ? AND first_at >= ? AND first_at < ?"


class _Row(msgspec.Struct, frozen=True, array_like=True):
    work: str
    task_id: str
    at: Instant
    who: str
    worker: str


class _Known(_Row, frozen=True, array_like=True):
    succeeded: Count
    failures: Count
    first_at: Instant
    first_id: str
    failed_id: str
    failed_at: Instant
    kind: str
    failed_by: str
    failed_worker: str


class _Day(msgspec.Struct, frozen=True, array_like=True):
    work: str
    first_at: Instant
    last_at: Instant
    succeeded: Count
    failed: Count
    first_id: str
    last_id: str


def _read(row: tuple[object, ...]) -> Done:
    found = msgspec.convert(row, _Row)
    return Done(found.task_id, found.at, found.who, found.worker)


def _read_all(row: tuple[object, ...]) -> tuple[str, Entry]:
    one = msgspec.convert(row, _Known)
    done = Done(one.task_id, one.at, one.who, one.worker) if one.task_id else None
    failed = None
    if one.failed_id:
        failed = Failure(one.failed_id, one.failed_at, one.kind, one.failed_by, one.failed_worker)
    return one.work, Entry(done, failed, one.succeeded, one.failures, one.first_at, one.first_id)


def _read_day(row: tuple[object, ...]) -> tuple[str, Day]:
    one = msgspec.convert(row, _Day)
    return one.work, Day(one.first_at, one.last_at, one.succeeded, one.failed, one.first_id, one.last_id)


def find(conn: sqlite3.Connection, works: Iterable[str], now: int) -> dict[str, Done]:
    """The last success of each work that has one, ``ledger.UNREADABLE`` where nobody can tell."""
    rows = conn.execute(_FIND, (write.text_list(works), now))
    return {row[0]: sound(_read, row, ledger.WHAT) or ledger.UNREADABLE for row in rows}


def entries(conn: sqlite3.Connection, works: Iterable[str], now: int) -> dict[str, Entry]:
    """The ends of each work of which any are known."""
    return dict(all_sound(_read_all, conn.execute(_ALL, (write.text_list(works), now)), ledger.WHAT))


def known(conn: sqlite3.Connection, works: Sequence[str], now: int) -> dict[str, Ran]:
    """All that is known of each work of which anything is."""
    since = now - ledger.KEPT_MS
    days: dict[str, list[Day]] = {}
    for work, day in all_sound(_read_day, conn.execute(_DAYS, (write.text_list(works), since)), "days"):
        days.setdefault(work, []).append(day)
    found: dict[str, Ran] = {}
    of_works = entries(conn, works, now)
    for work in dict.fromkeys(works):
        entry = of_works.get(work, Entry())
        of_it = days.get(work, [])
        if (last := entry.day) is not None and last.last_at >= since:
            of_it.append(last)
        if of_it or entry != Entry():
            found[work] = Ran(entry.done, entry.failed, tuple(sorted(of_it, key=lambda day: day.first_at)))
    return found


def put(conn: sqlite3.Connection, found: Iterable[tuple[str, Entry]]) -> None:
    """Write entries."""
    conn.executemany(_PUT, [_row(work, entry) for work, entry in found])


_NO_DONE, _NO_FAILURE = Done("", 0), Failure("", 0)


def _row(work: str, entry: Entry) -> tuple[object, ...]:
    done, failed = entry.done or _NO_DONE, entry.failed or _NO_FAILURE
    first = (entry.first_at, entry.first_id) if entry.succeeded + entry.failures > 1 else (0, "")
    ends = (done.task_id, done.at, done.by, done.worker, entry.succeeded, entry.failures, *first)
    return (work, *ends, failed.task_id, failed.at, failed.kind, failed.by, failed.worker)


def add_days(conn: sqlite3.Connection, days: Iterable[tuple[str, Day]]) -> None:
    """Write days that are over."""
    conn.executemany(_ADD_DAY, [(work, *msgspec.structs.astuple(day)) for work, day in days])


def age(conn: sqlite3.Connection, work: str) -> None:
    """Note until when an entry is kept, after something of it was buried."""
    conn.execute(_AGE, (work,))


class Works:
    """Gathers the ends of a transaction, and whom the successes among them overtake."""

    def __init__(
        self, conn: sqlite3.Connection, now: int, settle: Callable[[], None], begins: Callable[[], int]
    ) -> None:
        """``settle`` brings the changed records into the database; ``begins``: first instant of the fleet's day."""
        self._conn, self._now, self._settle, self._begins = conn, now, settle, begins
        self._done: dict[str, Done] = {}
        self._ended: list[tuple[str, Task]] = []  # by work, as below
        self._red: dict[str, set[str]] = {}  # by work, of those that were asked for
        self._none_red = False  # nothing at all is, as nearly always
        self.won: list[tuple[str, Task]] = []  # since the last question, of works of which something may be red

    def load(self, works: Iterable[str]) -> None:
        """Read in one go what of these is held or open."""
        wanted = {work for work in works if work and work not in self._red}
        if not wanted:
            return
        self._red.update({work: set() for work in wanted})
        if self._none_red:
            return
        self._settle()
        self._none_red = not self._conn.execute(_SOME_RED).fetchone()[0]
        if self._none_red:
            return
        names = write.text_list([*wanted, *(FORCED + work for work in wanted)])
        for uniq, task_id in self._conn.execute(_RED, (names,)):
            self._red[uniq.removeprefix(FORCED)].add(task_id)

    def follow(self, old: Task | None, task: Task) -> None:
        """A record changes."""
        status = task.status
        ended = status in _ENDS and (old is None or old.status != status)
        if not (ended or self._red or self._none_red):
            return  # as nearly always: this is done for every step of every task
        work = task.work
        if not work:
            return
        if ended:
            self._note_end(work, task)
        red = is_red(status, task.triage)
        self._none_red = self._none_red and not red
        if not self._none_red and work in self._red:
            (self._red[work].add if red else self._red[work].discard)(task.task_id)

    def _note_end(self, work: str, task: Task) -> None:
        if ledger.counts(task):
            self._ended.append((work, task))
        if task.status != SUCCEEDED:
            return
        known = self._done.get(work)
        if known is None or known.at <= task.ended_at:
            self._done[work] = done_by(task)
        if not self._none_red:
            self.won.append((work, task))

    def overtaken(self) -> list[tuple[str, Task]]:
        """Ids of what is held or open, each with the task that has done its work since the last question."""
        won, self.won = self.won, []
        self.load(work for work, _ in won)
        return [(task_id, task) for work, task in won for task_id in sorted(self._red[work])]

    def done(self, task: Task, since: int) -> Done | None:
        """What another task has done of its work since an instant; 0: nobody asks."""
        if not since or not task.work:
            return None
        found = self._done.get(task.work) or self._last(task.work)
        if found is None or found is ledger.UNREADABLE:
            return found
        return found if found.task_id != task.task_id and found.at >= since else None

    def _last(self, work: str) -> Done | None:
        return find(self._conn, [work], self._now).get(work)

    def forget(self, task: Task, until: int) -> None:
        """The record of a task goes; its end is known until then, 0: no longer."""
        if not ledger.counts(task):
            return
        self.flush()
        bury = _BURY if task.status == SUCCEEDED else _BURY_FAILURE
        if self._conn.execute(bury, (until, task.work, task.task_id)).rowcount:
            age(self._conn, task.work)
            self._conn.execute(f"{FORGET} AND work = ?", (self._now, task.work))

    def flush(self) -> None:
        """Write the ends."""
        if not self._ended:
            return
        ended, self._ended = self._ended, []
        self._done.clear()
        known = entries(self._conn, {work for work, _ in ended}, self._now)
        begins = self._begins()
        for work, task in ended:
            if (entry := known.get(work)) is None:
                if task.status == SUCCEEDED or not self._unreadable(work):
                    known[work] = ledger.of_first(task)
                continue
            known[work], past = ledger.with_end(entry, task, begins)
            if past is None or past.last_at < self._now - ledger.KEPT_MS:
                continue
            if past.last_id == task.task_id:
                past = self._beside(work, past, begins)
            add_days(self._conn, [(work, past)])
        put(self._conn, known.items())

    def _unreadable(self, work: str) -> bool:
        """Of one whose entry was not read: whether there is something all the same."""
        return self._conn.execute(_THERE, (work, self._now)).fetchone() is not None

    def _beside(self, work: str, day: Day, begins: int) -> Day:
        """An end that was imported, with what is known of its day."""
        first = day.first_at - (day.first_at - begins) % ledger.DAY_MS
        span = (work, first, first + ledger.DAY_MS)
        rows = self._conn.execute(f"SELECT {_DAY_NAMES} {_THAT_DAY}", span).fetchall()
        self._conn.execute(f"DELETE {_THAT_DAY}", span)
        return functools.reduce(ledger.joined, [one for _, one in all_sound(_read_day, rows, "days")], day)


class Ledger(Part):
    """The calls of ``services.ports.Records``."""

    def last_done(self, works: Sequence[str]) -> list[Done | None]:
        """At the place of each work its last success, ``ledger.UNREADABLE`` where nobody can tell."""
        with self._read() as conn:
            found = find(conn, works, self.now_ms())
        return [found.get(work) for work in works]

    def ran(self, works: Sequence[str]) -> list[Ran | None]:
        """At the place of each work all that is known of it."""
        with self._read() as conn:
            found = known(conn, works, self.now_ms())
        return [found.get(work) for work in works]
