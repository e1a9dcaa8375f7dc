"""The limits of platforms and types within one write transaction: read when first needed, followed from then on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from services.domain.gates import limit
from services.domain.gates.limit import Room
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.upkeep.stored import Count
from services.store.sqlite.part import words
from services.store.unreadable import all_sound, sound

_RUNNING = {
    limit.PLATFORM: "SELECT coalesce(sum(n), 0) FROM tallies WHERE status = 'running' AND platform = ?",
    limit.TYPE: "SELECT coalesce(sum(n), 0) FROM tallies WHERE status = 'running' AND task_type = ?",
}
_STARTS = "SELECT second, n FROM limit_starts WHERE scope = ? AND second > ? AND second <= ?"


class Limits:
    """``before_reading`` writes down what the transaction has changed so far."""

    def __init__(self, conn: sqlite3.Connection, now: int, before_reading: Callable[[], None]) -> None:
        self._conn, self._now, self._before_reading = conn, now, before_reading
        self._set: dict[str, tuple[int, int] | None] | None = None
        self._rooms: dict[str, Room] = {}

    @property
    def some(self) -> bool:
        """Whether anybody has set a limit."""
        return bool(self._all() if self._set is None else self._set)

    def _all(self) -> Mapping[str, tuple[int, int] | None]:
        if self._set is None:
            rows = self._conn.execute("SELECT scope, concurrency, per_minute FROM limits")
            self._set = {scope: self._limit((scope, *numbers)) for scope, *numbers in rows}
        return self._set

    def _limit(self, row: tuple[object, ...]) -> tuple[int, int] | None:
        found = sound(read_limit, row, "limit", row[0])
        return found and found[1:]

    def of(self, task: Task) -> Sequence[Room]:
        """The limits that a task counts for."""
        known = self._all() if self._set is None else self._set
        return [self.room(scope) for scope in limit.scopes(task) if scope in known] if known else ()

    def room(self, scope: str) -> Room:
        """One limit; where there is none, one that lets everything pass."""
        known = self._all()
        if scope not in known:
            return Room(scope)
        if scope not in self._rooms:
            numbers = known[scope]
            # nobody knows how many may run: nobody starts
            self._rooms[scope] = Room(scope, shut=True) if numbers is None else self._read(scope, *numbers)
        return self._rooms[scope]

    def _read(self, scope: str, slots: int, starts: int) -> Room:
        self._before_reading()
        self._conn.execute("DELETE FROM limit_reservations WHERE until <= ?", (self._now,))
        reserved = self._conn.execute("SELECT task_id FROM limit_reservations WHERE scope = ?", (scope,))
        room = Room(scope, slots, starts, self.running_of(scope), {words(task_id) for (task_id,) in reserved})
        if starts:
            room.seconds = self.starts_of(scope)
        return room

    def running_of(self, scope: str) -> int:
        """Running tasks of a scope, as they are written."""
        kind, _, name = scope.partition(":")
        return round(self._conn.execute(_RUNNING[kind], (name,)).fetchone()[0]) if kind in _RUNNING else 0

    def starts_of(self, scope: str) -> dict[int, int]:
        """The starts that still count, by second; those of a clock that was ahead do not."""
        this = self._now // 1000
        rows = self._conn.execute(_STARTS, (scope, this - limit.SECONDS, this + 1)).fetchall()
        return dict(all_sound(partial(msgspec.convert, type=tuple[Count, Count]), rows, "number of starts"))

    def follow(self, old: Task | None, task: Task) -> None:
        """Count a task that begins or ends to run, where somebody has counted before."""
        if not self._rooms:
            return
        change = (task.status == Status.RUNNING) - (old is not None and old.status == Status.RUNNING)
        if change:
            for scope in limit.scopes(task):
                if scope in self._rooms:
                    self._rooms[scope].running += change

    def started(self, task: Task) -> None:
        """Count a start."""
        second = self._now // 1000
        for room in self.of(task):
            if room.starts:
                room.seconds[second] = room.seconds.get(second, 0) + 1
                gone = "DELETE FROM limit_starts WHERE scope = ? AND second <= ?"
                self._conn.execute(gone, (room.scope, second - limit.SECONDS))
                row = (room.scope, second, room.seconds[second])
                self._conn.execute("INSERT OR REPLACE INTO limit_starts (scope, second, n) VALUES (?, ?, ?)", row)

    def promise(self, task: Task, until: int) -> None:
        """Keep a place of each limit for one task."""
        for room in self.of(task):
            room.promised.add(task.task_id)
            row = (room.scope, task.task_id, until)
            sql = "INSERT OR REPLACE INTO limit_reservations (scope, task_id, until) VALUES (?, ?, ?)"
            self._conn.execute(sql, row)

    def take_back(self, task: Task) -> None:
        """Give such places up."""
        if not self.some:
            return
        found = [room for room in self.of(task) if task.task_id in room.promised]
        for room in found:
            room.promised.discard(task.task_id)
        if found:
            self._conn.execute("DELETE FROM limit_reservations WHERE task_id = ?", (task.task_id,))

    # ---------------------------------------------------------------------- who waits
    def wait(self, scope: str, lot: str, rank: int) -> None:
        """Let a lot wait; it keeps its place if that is the better one."""
        sql = """INSERT INTO limit_waits (scope, lot, rank) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET rank = min(rank, excluded.rank)"""
        self._conn.execute(sql, (scope, lot, rank))

    def move(self, scope: str, lot: str, rank: int | None) -> None:
        """Give a waiting lot another place, or none."""
        if rank is None:
            self._conn.execute("DELETE FROM limit_waits WHERE scope = ? AND lot = ?", (scope, lot))
        else:
            row = (rank, scope, lot)
            self._conn.execute("UPDATE limit_waits SET rank = ? WHERE scope = ? AND lot = ?", row)

    def best(self, scope: str) -> tuple[str, int] | None:
        """The lot that goes next, and the rank it waits with."""
        sql = "SELECT lot, rank FROM limit_waits WHERE scope = ? ORDER BY rank, lot LIMIT 1"
        row = self._conn.execute(sql, (scope,)).fetchone()
        return (row[0], row[1] if type(row[1]) is int else 0) if row else None


def read_limit(row: tuple[object, ...]) -> tuple[str, int, int]:
    """A row: scope, how many may run at once, and start in a minute.

    Raises:
        ValueError: it is something else.
    """
    scope, slots, starts = msgspec.convert(row, type=tuple[str, Count, Count])
    if slots > limit.MAX_CONCURRENCY or starts > limit.MAX_PER_MINUTE:
        raise ValueError("out of range")
    return scope, slots, starts
