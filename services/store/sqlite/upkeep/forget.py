"""What has ended long ago: what may be removed, what is left of it, and room given back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from services.domain.task import ledger
from services.domain.task.search.query import Page
from services.domain.task.status import Triage
from services.domain.task.tombstone import Tombstone
from services.store.sqlite.part import Part
from services.store.sqlite.upkeep import tombstones as embedded_tombstones
from services.store.unreadable import readable

_BEFORE = """updated_at <= :before AND (updated_at, task_id) > (:at, :id)
    ORDER BY updated_at, task_id LIMIT :limit"""
_ENDED = f"SELECT data, updated_at, task_id FROM tasks INDEXED BY tasks_updated WHERE status = :status AND {_BEFORE}"
_TRIAGED = f"""SELECT data, updated_at, task_id FROM tasks INDEXED BY tasks_triaged
    WHERE triage = :triage AND triage NOT IN ('', 'open') AND {_BEFORE}"""
#: rows of one statement that gives room back
TIDY_ROWS = 500
#: free pages that stay in the file for what comes next, and how many are given back at a time
KEPT_PAGES, TIDY_PAGES = 2_000, 500

#: table, its key, the instant after which a row is of no use, and by how much
_OLD = (
    ("tombstones", "task_id", "until", 0),
    ("buried", "batch", "until", 0),
    ("works", "work", "gone_at", 0),
    ("work_days", "work", "last_at", ledger.KEPT_MS),
)


class Forgetting(Part):
    """The calls of ``services.ports.Store`` about what has ended long ago."""

    def ended(self, status: str, triage: str, before: int, limit: int, cursor: str = "") -> Page:
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
        wanted = list(task_ids)
        with self._read() as conn:
            found = embedded_tombstones.find(conn, wanted, self.now_ms())
        return [found.get(task_id) for task_id in wanted]

    def tidy(self) -> bool:
        now = self.now_ms()
        with self._read() as conn:
            (old,) = conn.execute(
                """SELECT EXISTS (SELECT 1 FROM tombstones WHERE until <= :now)
                OR EXISTS (SELECT 1 FROM buried WHERE until <= :now)
                OR EXISTS (SELECT 1 FROM works WHERE gone_at <= :now)
                OR EXISTS (SELECT 1 FROM work_days WHERE last_at <= :past)""",
                {"now": now, "past": now - ledger.KEPT_MS},
            ).fetchone()
            (free,) = conn.execute("PRAGMA freelist_count").fetchone()
            (mode,) = conn.execute("PRAGMA auto_vacuum").fetchone()
        pages = min(TIDY_PAGES, free - KEPT_PAGES) if mode == 2 else 0
        if not old and pages <= 0:
            return False

        def work(conn: sqlite3.Connection) -> bool:
            gone = 0
            for table, key, until, past in _OLD:
                some = f"SELECT {key} FROM {table} WHERE {until} <= ? LIMIT {TIDY_ROWS}"
                sql = f"DELETE FROM {table} WHERE {key} IN ({some}) AND {until} <= ?"
                gone += conn.execute(sql, (now - past, now - past)).rowcount
            if pages > 0:
                conn.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
            return bool(gone) or pages > 0

        return self._write(work)
