"""Tasks of the embedded store that wait for a worker that can run them, kept by lane and type."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Mapping, Sequence

from services.domain.gates import home
from services.domain.task.record import Task
from services.ports.upkeep import Parked
from services.store.sqlite.part import Part
from services.store.unreadable import readable

_ANY = "SELECT EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_unserved WHERE gate = 'no_worker')"
#: the counters name the few kinds that can have such tasks, so that their number costs nothing
_KINDS = """SELECT DISTINCT lane, task_type FROM tallies AS kind WHERE status = 'blocked' AND n > 0
    AND EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_unserved
    WHERE gate = 'no_worker' AND tasks.lane = kind.lane AND tasks.task_type = kind.task_type)"""
_COUNT = """SELECT lane, task_type, count(*) FROM tasks INDEXED BY tasks_unserved WHERE gate = 'no_worker'
    GROUP BY lane, task_type"""
_BEST = """SELECT data FROM tasks WHERE rowid IN (SELECT rowid FROM tasks INDEXED BY tasks_unserved
    WHERE gate = 'no_worker' AND lane = ? AND task_type = ? ORDER BY priority DESC, created_at, task_id LIMIT ?)"""


_AT_HOME = "FROM tasks INDEXED BY tasks_homebound WHERE gate > 'home_node:' AND gate < 'home_node;'"
_HOMEBOUND = f"SELECT lane, task_type, gate, count(*) {_AT_HOME} GROUP BY gate, lane, task_type"
_HOME_KINDS = f"SELECT DISTINCT lane, task_type {_AT_HOME} AND gate = ?"
_HOME_BEST = f"""SELECT data FROM tasks WHERE rowid IN (SELECT rowid {_AT_HOME}
    AND gate = ? AND lane = ? AND task_type = ? ORDER BY priority DESC, created_at, task_id LIMIT ?)"""


class Unserved(Part):
    """The calls are those of ``services.ports.Store``."""

    def unserved(self) -> Mapping[tuple[str, str], int]:
        """How many by lane and type."""
        with self._read() as conn:
            return {(lane, kind): n for lane, kind, n in conn.execute(_COUNT)}

    def homebound(self) -> Mapping[tuple[str, str, str], int]:
        """How many wait for the home of their shop, by lane, type and node."""
        with self._read() as conn:
            return {(lane, kind, home.node_of(gate)): n for lane, kind, gate, n in conn.execute(_HOMEBOUND)}

    def unserved_tasks(self, kinds: Sequence[Parked], limit: int) -> list[Task]:
        """The best ones of these kinds."""
        found: list[Task] = []
        with self._read() as conn:
            for kind in kinds:
                rows = (
                    conn.execute(_HOME_BEST, (home.gate_of(kind[2]), *kind[:2], limit))
                    if len(kind) == 3
                    else conn.execute(_BEST, (*kind, limit))
                )
                found += [task for (data,) in rows if (task := readable(data)) is not None]
        return heapq.nsmallest(limit, found, key=lambda task: (-task.priority, task.created_at, task.task_id))


def homebound_kinds(conn: sqlite3.Connection, node: str) -> frozenset[tuple[str, str]]:
    """Lanes and types with tasks that wait for this node."""
    if not node:
        return frozenset()
    return frozenset((lane, kind) for lane, kind in conn.execute(_HOME_KINDS, (home.gate_of(node),)))


def unserved_kinds(conn: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """Lanes and types with such tasks."""
    if not conn.execute(_ANY).fetchone()[0]:
        return frozenset()
    return frozenset((lane, kind) for lane, kind in conn.execute(_KINDS))
