"""Who waits for whom, as one write transaction on SQLite sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from services.store.sqlite.part import words

_NOTE = "INSERT OR IGNORE INTO dependencies (needs, cancels, task_id) VALUES (?, ?, ?)"
_NOTED = "SELECT needs, cancels FROM dependencies WHERE task_id = ?"
_FORGET = "DELETE FROM dependencies WHERE task_id = ?"
_STRIKE = "DELETE FROM dependencies WHERE needs = ? AND task_id = ?"
_WAITS = "SELECT EXISTS (SELECT 1 FROM dependencies WHERE task_id = ?)"
_DEPENDANTS = "SELECT task_id FROM dependencies WHERE needs = ? AND cancels >= ? ORDER BY cancels, task_id LIMIT ?"
_NEEDED = """SELECT EXISTS (SELECT 1 FROM dependencies WHERE needs = :id)
    OR EXISTS (SELECT 1 FROM untold WHERE task_id = :id)"""


class Needs:
    """Nothing is kept in memory but whether anybody waits at all."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._some: bool | None = None

    @property
    def some(self) -> bool:
        """Whether any task waits for another one."""
        if self._some is None:
            self._some = bool(self._conn.execute("SELECT EXISTS (SELECT 1 FROM dependencies)").fetchone()[0])
        return self._some

    def noted(self, task_id: str) -> set[tuple[str, bool]]:
        """What a task waits for, each with whether a failure ends it."""
        return {(words(name), bool(cancels)) for name, cancels in self._conn.execute(_NOTED, (task_id,))}

    def note(self, task_id: str, names: Iterable[str], *, cancels: bool) -> None:
        """Remember what it waits for."""
        self._conn.executemany(_NOTE, [(name, cancels, task_id) for name in names])
        self._some = True

    def waits(self, task_id: str) -> bool:
        """Whether it waits for anything."""
        return bool(self._conn.execute(_WAITS, (task_id,)).fetchone()[0])

    def forget(self, task_id: str) -> None:
        """It waits for nothing more."""
        self._conn.execute(_FORGET, (task_id,))

    def strike(self, task_id: str, name: str) -> None:
        """It waits for this one no more."""
        self._conn.execute(_STRIKE, (name, task_id))

    def dependants(self, name: str, most: int, *, cancelling: bool) -> list[str]:
        """Tasks that wait for a name."""
        return [words(task_id) for (task_id,) in self._conn.execute(_DEPENDANTS, (name, int(cancelling), most))]

    def is_needed(self, task_id: str) -> bool:
        """Whether somebody waits for it, or is yet to be told."""
        return bool(self._conn.execute(_NEEDED, {"id": task_id}).fetchone()[0])

    def postpone(self, task_id: str) -> None:
        """Its dependants are to be told later."""
        self._conn.execute("INSERT OR IGNORE INTO untold (task_id) VALUES (?)", (task_id,))

    def told(self, task_id: str) -> None:
        """They have been told."""
        self._conn.execute("DELETE FROM untold WHERE task_id = ?", (task_id,))
