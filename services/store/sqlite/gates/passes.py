"""Tasks that somebody lets through a pause, quiet hours or an open breaker, within a write transaction on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from services.domain.gates import passing
from services.domain.gates.passing import Pass
from services.store.sqlite.part import words

_ALL = "SELECT name, body FROM documents WHERE kind = ?"
_PUT = "INSERT OR REPLACE INTO documents (kind, name, body) VALUES (?, ?, ?)"
_DROP = "DELETE FROM documents WHERE kind = ? AND name = ?"


class Passes:
    """Read when first needed."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._known: dict[str, Pass] | None = None

    @property
    def asked(self) -> bool:
        """Whether anybody has looked."""
        return self._known is not None

    def all(self) -> Mapping[str, Pass]:
        """Those that can be read, the first to be let through first."""
        return self._load()

    def _load(self) -> dict[str, Pass]:
        if self._known is None:
            rows = self._conn.execute(_ALL, (passing.KIND,))
            found = passing.DOCUMENT.readable({words(name): words(body) for name, body in rows})
            self._known = dict(sorted(found.items(), key=lambda pair: (pair[1].at, pair[0])))
        return self._known

    def put(self, task_id: str, one: Pass) -> None:
        """Give one."""
        known = self._load()
        known.pop(task_id, None)
        known[task_id] = one
        self._conn.execute(_PUT, (passing.KIND, task_id, passing.DOCUMENT.dump(one)))

    def drop(self, task_id: str) -> None:
        """Take it away."""
        self._load().pop(task_id, None)
        self._conn.execute(_DROP, (passing.KIND, task_id))
