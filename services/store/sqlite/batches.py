"""Batches on SQLite: which there are, and how each stands."""

from __future__ import annotations

from functools import partial

import msgspec

from services.domain.upkeep.stored import Count, calendar
from services.store.sqlite.part import Part, store_errors, words
from services.store.unreadable import all_sound

#: one step of the index for each batch, however many tasks it has
_NAMES = """WITH RECURSIVE names (batch) AS (
        SELECT min(batch) FROM tasks INDEXED BY tasks_batch WHERE batch <> ''
        UNION ALL
        SELECT (SELECT min(batch) FROM tasks INDEXED BY tasks_batch WHERE batch > names.batch AND batch <> '')
        FROM names WHERE names.batch IS NOT NULL
    ), begun (batch, at) AS (
        SELECT batch, (SELECT min(created_at) FROM tasks INDEXED BY tasks_batch WHERE tasks.batch = names.batch
            AND tasks.batch <> '') FROM names WHERE batch IS NOT NULL
    )
    SELECT batch, at FROM begun WHERE :at < 0 OR (at, batch) < (:at, :name) ORDER BY at DESC, batch DESC LIMIT :limit"""


_counted = partial(msgspec.convert, type=tuple[str, Count])


class Batches(Part):
    """The calls of ``services.ports.Store``."""

    def batches(self, limit: int, cursor: str = "") -> tuple[list[tuple[str, int]], str]:
        """By the index of batches."""
        at, _, name = cursor.partition("/")
        values = {"at": int(at) if at else -1, "name": name, "limit": limit + 1}
        with self._read() as conn:
            rows = conn.execute(_NAMES, values)
            found = [(words(batch), begun if type(begun) is int else 0) for batch, begun in rows]
        shown = [(name, calendar(begun)) for name, begun in found[:limit]]
        return shown, f"{found[limit - 1][1]}/{found[limit - 1][0]}" if len(found) > limit else ""

    def batch_counts(self, batch: str) -> dict[str, int]:
        """How a batch stands."""
        sql = (
            "SELECT status, count(*) FROM tasks INDEXED BY tasks_batch WHERE batch = ? AND batch <> '' GROUP BY status"
        )
        found: dict[str, int] = {}
        with store_errors(), self._file.snapshot() as conn:
            rows = all_sound(_counted, conn.execute(sql, (batch,)), "status of tasks")
            gone = conn.execute("SELECT status, n FROM buried WHERE batch = ?", (batch,))
            rows += all_sound(_counted, gone, "count of removed tasks")
        for status, number in rows:
            found[status] = found.get(status, 0) + number
        return found
