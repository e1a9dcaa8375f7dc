"""Removing what has ended: the record, what belongs to it, and what is left of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from services.domain.change import Answer, Forget
from services.domain.task import tombstone
from services.domain.task.query import Page
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.domain.task.tombstone import Tombstone
from services.store.sqlite.part import Part
from services.store.sqlite.session import Session
from services.store.sqlite.upkeep import tombstones as embedded_tombstones
from services.store.sqlite.upkeep.repair import MISSING
from services.store.unreadable import readable

_WAITED_FOR = """SELECT EXISTS (SELECT 1 FROM dependencies WHERE needs = :id)
    OR EXISTS (SELECT 1 FROM untold WHERE task_id = :id)"""
_PAPERS = tuple(f"DELETE FROM {table} WHERE task_id = ?" for table in ("letters", "logs", "notes"))
_BEFORE = """updated_at <= :before AND (updated_at, task_id) > (:at, :id)
    ORDER BY updated_at, task_id LIMIT :limit"""
_ENDED = f"SELECT data, updated_at, task_id FROM tasks INDEXED BY tasks_updated WHERE status = :status AND {_BEFORE}"
_TRIAGED = f"""SELECT data, updated_at, task_id FROM tasks INDEXED BY tasks_triaged
    WHERE triage = :triage AND triage NOT IN ('', 'open') AND {_BEFORE}"""
#: rows of one statement that gives room back
TIDY_ROWS = 500
#: free pages that stay in the file for what comes next, and how many are given back at a time
KEPT_PAGES, TIDY_PAGES = 2_000, 500


def forget(session: Session, op: Forget) -> Answer:
    """Remove one record."""
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if not task.ended or task.updated_at != op.updated_at:
        return Answer("stale", task)
    if _still_needed(session, task):
        return Answer("needed", task)
    session.works.forget(task, session.now + op.tomb_ms if op.tomb_ms > 0 else 0)
    session.remove(task)
    for sql in _PAPERS:
        session.conn.execute(sql, (task.task_id,))
    if op.tomb_ms > 0:
        _bury(session, task, session.now + op.tomb_ms)
    return Answer("ok", task)


def _still_needed(session: Session, task: Task) -> bool:
    if session.is_marked(task.task_id):
        return True
    if session.conn.execute(_WAITED_FOR, {"id": task.task_id}).fetchone()[0]:
        return True
    later = session.get(task.successor) if task.triage == Triage.REPUBLISHED else None
    return later is not None and later.status not in (Status.SUCCEEDED, Status.CANCELLED)


def _bury(session: Session, task: Task, until: int) -> None:
    stone = Tombstone(
        task_id=task.task_id,
        status=task.status,
        ended_at=task.ended_at,
        successor=task.successor,
        digest=tombstone.digest(task),
    )
    session.stones.put(stone, until, task.batch)


class Forgetting(Part):
    """The calls of ``services.ports.Store`` about what has ended long ago."""

    def ended(self, status: str, triage: str, before: int, limit: int, cursor: str = "") -> Page:
        """See ``services.ports.Store``."""
        at, _, last = cursor.partition("/")
        values = {"status": status, "triage": triage, "before": before, "limit": limit}
        values |= {"at": int(at or 0), "id": last}
        sql = _ENDED if triage in ("", Triage.OPEN) else _TRIAGED
        with self._read() as conn:
            rows = conn.execute(sql, values).fetchall()
        after = f"{rows[-1][1]}/{rows[-1][2]}" if len(rows) == limit else None
        tasks = tuple(task for task in (readable(row[0]) for row in rows) if task and task.triage == triage)
        return Page(tasks=tasks, next=after)

    def tombstones(self, task_ids: Iterable[str]) -> list[Tombstone | None]:
        """See ``services.ports.Store``."""
        wanted = list(task_ids)
        with self._read() as conn:
            found = embedded_tombstones.find(conn, wanted, self.now_ms())
        return [found.get(task_id) for task_id in wanted]

    def tidy(self) -> bool:
        """See ``services.ports.Store``."""
        now = self.now_ms()
        with self._read() as conn:
            (old,) = conn.execute(
                """SELECT EXISTS (SELECT 1 FROM tombstones WHERE until <= :now)
                OR EXISTS (SELECT 1 FROM buried WHERE until <= :now)
                OR EXISTS (SELECT 1 FROM works WHERE until <= :now)""",
                {"now": now},
            ).fetchone()
            (free,) = conn.execute("PRAGMA freelist_count").fetchone()
            (mode,) = conn.execute("PRAGMA auto_vacuum").fetchone()
        pages = min(TIDY_PAGES, free - KEPT_PAGES) if mode == 2 else 0
        if not old and pages <= 0:
            return False

        def work(conn: sqlite3.Connection) -> bool:
            gone = 0
            for table, key in (("tombstones", "task_id"), ("buried", "batch"), ("works", "work")):
                some = f"SELECT {key} FROM {table} WHERE until <= ? LIMIT {TIDY_ROWS}"
                sql = f"DELETE FROM {table} WHERE {key} IN ({some}) AND until <= ?"
                gone += conn.execute(sql, (now, now)).rowcount
            if pages > 0:
                conn.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
            return bool(gone) or pages > 0

        return self._write(work)
