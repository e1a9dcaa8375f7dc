"""The ledger compared with the records, on SQLite."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from services.domain.task import ledger as decide
from services.domain.task.ledger import Day, Entry, Proof
from services.domain.task.record import Task
from services.domain.upkeep.miscount import Miscount, some
from services.store.sqlite import ledger
from services.store.sqlite.part import words
from services.store.sqlite.transaction import fleet_zone
from services.store.sqlite.write import IN_LIST, text_list
from services.store.unreadable import readable

Read = Callable[[], AbstractContextManager[sqlite3.Connection]]
Write = Callable[[Callable[[sqlite3.Connection], Any]], Any]
End = decide.Done | decide.Failure
SLICE = 500
_DONE = """SELECT rowid, data FROM tasks WHERE rowid > ? AND status IN ('succeeded', 'dead') AND uniq <> ''
    ORDER BY rowid LIMIT ?"""
_LOST = """{column} <> '' AND {until} IS NULL
    AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.task_id = works.{column} AND status = '{status}')"""
#: ends whose record is gone and that are kept without an end
_LOST_ENDS = tuple(
    (column, until, _LOST.format(column=column, until=until, status=status))
    for column, until, status in (("task_id", "until", "succeeded"), ("failed_id", "failed_until", "dead"))
)


def works(read: Read, write: Write, now_ms: int, *, mend: bool, anew: bool) -> Miscount:
    """Ends that it does not know, those that it names and of which nothing is left, and days that lack some."""
    wrong: list[str] = []
    last = 0
    with read() as conn:
        proof = Proof(fleet_zone(conn), now_ms - decide.KEPT_MS)
    while True:
        with read() as conn:
            rows = conn.execute(_DONE, (last, SLICE)).fetchall()
            missing = _missing(conn, [task for _, data in rows if (task := readable(data)) is not None], now_ms, proof)
        if missing and mend:
            write(functools.partial(_put, found=missing, now=now_ms))
        wrong += [task.task_id for task in missing]
        if not rows:
            break
        last = rows[-1][0]
    lost: list[str] = []
    with read() as conn:
        for column, _, where in _LOST_ENDS:
            found = conn.execute(f"SELECT {column} FROM works WHERE {where} ORDER BY {column}")
            lost += [words(name) for (name,) in found]
    if lost and mend:
        write(functools.partial(_bury, now=now_ms))
    wrong += lost
    for start in range(0, len(proof.works()), SLICE):
        part = proof.works()[start : start + SLICE]
        with read() as conn:
            lacking = _wrong(conn, part, proof, now_ms, anew=anew)
        if lacking and mend:
            write(functools.partial(_set_days, part=list(lacking), proof=proof, now=now_ms, anew=anew))
        wrong += [one for one in lacking.values() if one not in wrong[-SLICE:]]
    return Miscount(kind="ledger", where=some(wrong), count=len(wrong), left=0 if mend else len(wrong))


def _missing(conn: sqlite3.Connection, tasks: Sequence[Task], now: int, proof: Proof) -> list[Task]:
    """Those later than the last end of their kind that is known; others are noted for their days."""
    known = ledger.entries(conn, {task.work for task in tasks}, now)
    best = dict(known)
    for task in tasks:
        proof.note(task)
        if not decide.counts(task):
            continue
        entry = known.get(task.work)
        if entry is None or entry.done is None or entry.done.task_id != task.task_id or not entry.alone:
            proof.add(task.work, decide.of_task(task))
        best[task.work] = decide.with_last(best.get(task.work, Entry()), task)
    found: list[Task] = []
    for task in tasks:
        before = known.get(task.work, Entry())
        after = best.get(task.work, before)
        if _later(task.task_id, before.done, after.done) or _later(task.task_id, before.failed, after.failed):
            found.append(task)
    return found


def _later(task_id: str, before: End | None, after: End | None) -> bool:
    return after is not None and after.task_id == task_id and (before is None or before.at < after.at)


def _put(conn: sqlite3.Connection, found: Sequence[Task], now: int) -> None:
    there = f"SELECT task_id FROM tasks WHERE task_id {IN_LIST} AND status IN ('succeeded', 'dead')"
    left = {words(name) for (name,) in conn.execute(there, (text_list(task.task_id for task in found),))}
    known = ledger.entries(conn, {task.work for task in found}, now)
    changed: dict[str, Entry] = {}
    for task in found:
        if task.task_id in left:
            before = changed.get(task.work) or known.get(task.work, Entry())
            first = before.day is None
            after = decide.with_last(before, task)
            changed[task.work] = decide.with_day(after, decide.of_task(task)) if first else after
    ledger.put(conn, changed.items())


def _bury(conn: sqlite3.Connection, now: int) -> None:
    changed: set[str] = set()
    for column, until, where in _LOST_ENDS:
        changed |= {words(work) for (work,) in conn.execute(f"SELECT work FROM works WHERE {where}")}
        stone = f"(SELECT until FROM tombstones WHERE tombstones.task_id = works.{column})"
        conn.execute(f"UPDATE works SET {until} = coalesce({stone}, 0) WHERE {where}")
    for work in changed:
        ledger.age(conn, work)
    conn.execute(ledger.FORGET, (now,))


def _wrong(conn: sqlite3.Connection, part: Sequence[str], proof: Proof, now: int, *, anew: bool) -> dict[str, str]:
    """Works whose last failure never ran, or whose days are not what records prove; each with its last end."""
    found: dict[str, str] = {}
    for work, (entry, past) in _righted(conn, part, proof, now, anew=anew):
        found[work] = decide.last_of(entry, past) or work
    return found


def _righted(
    conn: sqlite3.Connection, part: Sequence[str], proof: Proof, now: int, *, anew: bool
) -> Iterator[tuple[str, tuple[Entry, tuple[Day, ...]]]]:
    known, of_works = ledger.known(conn, part, now), ledger.entries(conn, part, now)
    for work in part:
        entry = of_works.get(work, Entry())
        days = [day for day in (known[work].days if work in known else ()) if day != entry.day]
        found = proof.righted(work, entry, days, anew=anew)
        if found is not None:
            yield work, found


def _set_days(conn: sqlite3.Connection, part: Sequence[str], proof: Proof, now: int, *, anew: bool) -> None:
    there = ledger.entries(conn, part, now)
    for work, (entry, past) in list(_righted(conn, part, proof, now, anew=anew)):
        if work not in there and proof.proves(work):  # it is gone, or comes just now
            continue
        if work in there:
            ledger.put(conn, [(work, entry)])
        conn.execute("DELETE FROM work_days WHERE work = ?", (work,))
        ledger.add_days(conn, [(work, day) for day in past])
        ledger.age(conn, work)
    conn.execute(ledger.FORGET, (now,))
