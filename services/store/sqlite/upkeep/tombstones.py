"""What is left of removed records, as one write transaction sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from services.domain.task import tombstone
from services.domain.task.tombstone import Tombstone
from services.store.sqlite import write
from services.store.sqlite.part import words

_BURY = "INSERT OR REPLACE INTO tombstones (task_id, until, body) VALUES (?, ?, ?)"
_COUNT_FOR_BATCH = """INSERT INTO buried (batch, status, n, until) VALUES (?, ?, 1, ?)
    ON CONFLICT DO UPDATE SET n = n + 1, until = excluded.until"""


def find(conn: sqlite3.Connection, task_ids: Iterable[str], now: int) -> dict[str, Tombstone]:
    """The tombstones that there are of these."""
    sql = f"SELECT task_id, body FROM tombstones WHERE task_id {write.IN_LIST} AND until > ?"
    return {
        name: tombstone.read(name, words(body)) for name, body in conn.execute(sql, (write.text_list(task_ids), now))
    }


class Tombstones:
    """Reads are cached and agree with what was changed in this transaction."""

    def __init__(self, conn: sqlite3.Connection, now: int) -> None:
        self._conn, self._now = conn, now
        self._known: dict[str, Tombstone | None] = {}

    def load(self, task_ids: Iterable[str]) -> None:
        """Read them in one go."""
        wanted = [task_id for task_id in task_ids if task_id not in self._known]
        if wanted:
            self._known.update(dict.fromkeys(wanted))
            self._known.update(find(self._conn, wanted, self._now))

    def get(self, task_id: str) -> Tombstone | None:
        """What is left of a removed record."""
        self.load([task_id])
        return self._known[task_id]

    def put(self, stone: Tombstone, until: int, batch: str) -> None:
        """Leave one, and count it for its batch."""
        self._known[stone.task_id] = stone
        self._conn.execute(_BURY, (stone.task_id, until, tombstone.write(stone)))
        if batch:
            self._conn.execute(_COUNT_FOR_BATCH, (batch, stone.status, until))

    def remove(self, task_id: str) -> None:
        """Take one away."""
        self._known[task_id] = None
        self._conn.execute("DELETE FROM tombstones WHERE task_id = ?", (task_id,))
