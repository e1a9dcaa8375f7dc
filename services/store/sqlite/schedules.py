"""Schedules of the embedded store: written by compare-and-set, found by the instant of their next run."""

from __future__ import annotations

import sqlite3

import msgspec

from services.domain.upkeep.stored import Instant
from services.ports import ScheduleEntry
from services.store.sqlite.part import Part
from services.store.unreadable import all_sound

_COLUMNS = "SELECT name, body, next_at, version FROM schedules"


class Schedules(Part):
    """The calls are those of ``services.ports.Store``."""

    def put_schedule(self, entry: ScheduleEntry, expect: int) -> int:
        """Write a schedule that nobody else has changed."""
        version = expect + 1 if expect else self.now_ms()  # never one that an older one of this name had
        row = {"name": entry.name, "version": version, "next_at": entry.next_at, "body": entry.body, "expect": expect}
        if expect:
            sql = """UPDATE schedules SET version = :version, next_at = :next_at, body = :body
                WHERE name = :name AND version = :expect"""
        else:
            sql = """INSERT OR IGNORE INTO schedules (name, version, next_at, body)
                VALUES (:name, :version, :next_at, :body)"""
        return version if self._write(lambda conn: conn.execute(sql, row).rowcount > 0) else 0

    def remove_schedule(self, name: str, expect: int) -> bool:
        """Strike a schedule off that nobody else has changed."""
        sql = "DELETE FROM schedules WHERE name = ? AND version = ?"
        return self._write(lambda conn: conn.execute(sql, (name, expect)).rowcount > 0)

    def schedules(self) -> list[ScheduleEntry]:
        """All schedules by name."""
        with self._read() as conn:
            return _entries(conn.execute(f"{_COLUMNS} ORDER BY name"))

    def due_schedules(self, limit: int) -> list[ScheduleEntry]:
        """The due ones, the earliest first."""
        sql = f"{_COLUMNS} WHERE next_at > 0 AND next_at <= ? ORDER BY next_at, name LIMIT ?"
        with self._read() as conn:
            return _entries(conn.execute(sql, (self.wall_ms(), limit)))

    def wall_ms(self) -> int:
        """The instant that schedules go by."""
        return min(self.now_ms(), self._clock.wall_ms())


def _entries(rows: sqlite3.Cursor) -> list[ScheduleEntry]:
    return all_sound(read_schedule, rows, "schedule")


def read_schedule(row: tuple[object, ...]) -> ScheduleEntry:
    """A row: name, document, next run, version.

    Raises:
        ValueError: it is something else.
    """
    name, body, at, version = msgspec.convert(row, type=tuple[str, str, Instant, Instant])
    return ScheduleEntry(name=name, body=body, next_at=at, version=version)
