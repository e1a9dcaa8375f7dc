"""The ledger compared with the records, on SQLite."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from services.domain.task.ledger import Done, done_by
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.upkeep.miscount import Miscount, some
from services.store.sqlite import ledger
from services.store.sqlite.part import words
from services.store.sqlite.write import IN_LIST, text_list
from services.store.unreadable import readable

Read = Callable[[], AbstractContextManager[sqlite3.Connection]]
Write = Callable[[Callable[[sqlite3.Connection], Any]], Any]
SLICE = 500
_DONE = """SELECT rowid, data FROM tasks WHERE rowid > ? AND status = 'succeeded' AND uniq <> ''
    ORDER BY rowid LIMIT ?"""
_LOST = "NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.task_id = works.task_id AND status = 'succeeded')"
_UNTIL = "(SELECT until FROM tombstones WHERE tombstones.task_id = works.task_id)"
#: successes whose record is gone and that are kept without an end
_GONE = f"works WHERE until IS NULL AND {_LOST}"


def works(read: Read, write: Write, now_ms: int, *, mend: bool) -> Miscount:
    """Successes that it does not know, and those that it names and of which nothing is left."""
    wrong: list[str] = []
    last = 0
    while True:
        with read() as conn:
            rows = conn.execute(_DONE, (last, SLICE)).fetchall()
            missing = _missing(conn, [task for _, data in rows if (task := readable(data)) is not None], now_ms)
        if missing and mend:
            write(functools.partial(_put, found=missing))
        wrong += [done.task_id for _, done in missing]
        if not rows:
            break
        last = rows[-1][0]
    with read() as conn:
        gone = [words(name) for (name,) in conn.execute(f"SELECT task_id FROM {_GONE} ORDER BY task_id")]
    if gone and mend:
        write(_bury)
    found = [*wrong, *gone]
    return Miscount(kind="ledger", where=some(found), count=len(found), left=0 if mend else len(found))


def _missing(conn: sqlite3.Connection, tasks: Sequence[Task], now: int) -> list[tuple[str, Done]]:
    known = ledger.find(conn, {task.work for task in tasks}, now)
    best: dict[str, Done] = {}
    for task in tasks:
        done = done_by(task)
        before = best.get(task.work) or known.get(task.work)
        if before is None or before.at < done.at:
            best[task.work] = done
    return list(best.items())


def _put(conn: sqlite3.Connection, found: Sequence[tuple[str, Done]]) -> None:
    there = f"SELECT task_id FROM tasks WHERE task_id {IN_LIST} AND status = '{Status.SUCCEEDED}'"
    left = {words(name) for (name,) in conn.execute(there, (text_list(done.task_id for _, done in found),))}
    rows = [(work, one.task_id, one.at, one.by, one.worker) for work, one in found if one.task_id in left]
    conn.executemany(ledger.PUT, rows)


def _bury(conn: sqlite3.Connection) -> None:
    conn.execute(f"UPDATE works SET until = {_UNTIL} WHERE until IS NULL AND {_LOST}")
    conn.execute(f"DELETE FROM {_GONE}")  # no tombstone is left either
