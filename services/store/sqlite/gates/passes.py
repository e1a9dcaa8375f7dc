"""Tasks that somebody lets through a pause, quiet hours or an open breaker, within a write transaction on SQLite."""

from __future__ import annotations

import sqlite3

import msgspec

from services.domain.gates import passing
from services.domain.gates.passing import Pass
from services.domain.task.record import Task
from services.store.sqlite.part import words

_ALL = "SELECT name, body FROM documents WHERE kind = ?"
_PUT = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?)"
_DROP = "DELETE FROM documents WHERE kind = ? AND name = ?"


class Passes:
    """Read when first needed."""

    def __init__(self, conn: sqlite3.Connection, now: int) -> None:
        self._conn, self._now = conn, now
        self._known: dict[str, Pass] | None = None

    def _load(self) -> dict[str, Pass]:
        if self._known is None:
            rows = self._conn.execute(_ALL, (passing.KIND,))
            found = passing.read({words(name): words(body) for name, body in rows})
            self._known = dict(sorted(found.items(), key=lambda pair: (pair[1].at, pair[0])))
        return self._known

    def of(self, task: Task) -> bool:
        """Whether a task may start behind such a gate."""
        found = self._load().get(task.task_id)
        return found is not None and found.holds_for(task)

    def in_shop(self, shop: str) -> list[str]:
        """The tasks of a shop that were given one, the first to be let through first."""
        return [task_id for task_id, one in self._load().items() if one.shop == shop]

    def give(self, task: Task, by: str, reason: str) -> bool:
        """Whether there was room for one more."""
        known = self._load()
        if len(known) >= passing.MOST and task.task_id not in known:
            return False
        one = Pass(shop=task.shop, attempt=task.attempt, by=by, at=self._now, reason=reason)
        known.pop(task.task_id, None)
        known[task.task_id] = one
        self._conn.execute(_PUT, (passing.KIND, task.task_id, msgspec.json.encode(one).decode()))
        return True

    def forget(self, task_id: str) -> None:
        """No attempt can use it any more."""
        if self._load().pop(task_id, None) is not None:
            self._conn.execute(_DROP, (passing.KIND, task_id))

    def used(self, task_id: str) -> None:
        """An attempt has begun. Where nobody has asked for passes none was needed; what is left over is void."""
        if self._known is not None:
            self.forget(task_id)
