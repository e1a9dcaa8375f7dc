"""What is known of a work, on SQLite: its last success, as one write transaction sees it, and as it is asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

import msgspec

from services.domain.task.ledger import Done, done_by, is_red
from services.domain.task.record import FORCED, Task
from services.domain.task.status import Status
from services.store.sqlite import write
from services.store.sqlite.part import Part
from services.store.unreadable import all_sound

#: one that was imported may be older than what is known
PUT = """INSERT INTO works (work, task_id, at, who, worker, until) VALUES (?, ?, ?, ?, ?, NULL)
    ON CONFLICT DO UPDATE SET task_id = excluded.task_id, at = excluded.at, who = excluded.who,
    worker = excluded.worker, until = NULL
    WHERE excluded.at >= at OR typeof(at) <> 'integer'"""
_BURY = "UPDATE works SET until = ? WHERE work = ? AND task_id = ?"
_FORGET = "DELETE FROM works WHERE work = ? AND task_id = ?"
_RED = f"""SELECT uniq, task_id FROM tasks INDEXED BY tasks_red
    WHERE uniq {write.IN_LIST} AND uniq <> '' AND (status = 'held' OR triage = 'open')"""
_FIND = f"SELECT work, task_id, at, who, worker FROM works WHERE work {write.IN_LIST} AND (until IS NULL OR until > ?)"


class _Row(msgspec.Struct, frozen=True, array_like=True):
    work: str
    task_id: str
    at: int
    who: str
    worker: str


def _read(row: tuple[object, ...]) -> tuple[str, Done]:
    found = msgspec.convert(row, _Row)
    return found.work, msgspec.convert((found.task_id, found.at, found.who, found.worker), Done)


def find(conn: sqlite3.Connection, works: Iterable[str], now: int) -> dict[str, Done]:
    """The last success of each work that has one."""
    return dict(all_sound(_read, conn.execute(_FIND, (write.text_list(works), now)), "work"))


class Works:
    """Gathers the successes of a transaction, and whom they overtake."""

    def __init__(self, conn: sqlite3.Connection, now: int, settle: Callable[[], None]) -> None:
        """``settle`` brings the changed records into the database."""
        self._conn, self._now, self._settle = conn, now, settle
        self._done: dict[str, Done] = {}
        self._red: dict[str, set[str]] = {}  # by work, of those that were asked for
        self._won: list[Task] = []

    def load(self, works: Iterable[str]) -> None:
        """Read in one go what of these is held or open."""
        wanted = {work for work in works if work and work not in self._red}
        if not wanted:
            return
        self._settle()
        self._red.update({work: set() for work in wanted})
        names = write.text_list([*wanted, *(FORCED + work for work in wanted)])
        for uniq, task_id in self._conn.execute(_RED, (names,)):
            self._red[uniq.removeprefix(FORCED)].add(task_id)

    def follow(self, old: Task | None, task: Task) -> None:
        """A record changes."""
        work = task.work
        if not work:
            return
        if task.status == Status.SUCCEEDED and (old is None or old.status != task.status):
            known = self._done.get(work)
            if known is None or known.at <= task.ended_at:
                self._done[work] = done_by(task)
            self._won.append(task)
        if work in self._red:
            if is_red(task.status, task.triage):
                self._red[work].add(task.task_id)
            else:
                self._red[work].discard(task.task_id)

    def overtaken(self) -> list[tuple[str, Task]]:
        """Ids of what is held or open, each with the task that has done its work since the last question."""
        if not self._won:
            return []
        won, self._won = self._won, []
        self.load(task.work for task in won)
        return [(task_id, task) for task in won for task_id in sorted(self._red[task.work])]

    def done(self, task: Task, since: int) -> Done | None:
        """What another task has done of its work since an instant; 0: nobody asks."""
        if not since or not task.work:
            return None
        found = self._done.get(task.work) or find(self._conn, [task.work], self._now).get(task.work)
        return found if found is not None and found.task_id != task.task_id and found.at >= since else None

    def forget(self, task: Task, until: int) -> None:
        """The record of a task goes; its success is known until then, 0: no longer."""
        if task.status != Status.SUCCEEDED or not task.work:
            return
        self.flush()
        if until > 0:
            self._conn.execute(_BURY, (until, task.work, task.task_id))
        else:
            self._conn.execute(_FORGET, (task.work, task.task_id))

    def flush(self) -> None:
        """Write the successes."""
        if self._done:
            rows = [(work, one.task_id, one.at, one.by, one.worker) for work, one in self._done.items()]
            self._conn.executemany(PUT, rows)
            self._done.clear()


class Ledger(Part):
    """The call of ``services.ports.Records``."""

    def last_done(self, works: Sequence[str]) -> list[Done | None]:
        """At the place of each work its last success."""
        with self._read() as conn:
            found = find(conn, works, self.now_ms())
        return [found.get(work) for work in works]
