"""Notes on dead letters, and what the duplicate guard has refused or held back, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import partial

import msgspec

from services.domain.change import Annotate
from services.domain.task.notes import NOTES_KEPT, SUPPRESSED_KEPT, Note, Suppressed
from services.domain.task.record import ENCODER
from services.domain.upkeep.stored import Count
from services.store.sqlite.part import Part, blobs
from services.store.unreadable import all_sound

_NOTE = """INSERT OR IGNORE INTO notes (task_id, note_id, at, who, text) VALUES (?, ?, ?, ?, ?)"""
_OLD_NOTES = """DELETE FROM notes WHERE task_id = ? AND id NOT IN
    (SELECT id FROM notes WHERE task_id = ? ORDER BY id DESC LIMIT ?)"""
_COUNT = """INSERT INTO suppressed_counts (outcome, shop, task_type, n) VALUES (?, ?, ?, 1)
    ON CONFLICT DO UPDATE SET n = n + 1"""
read_suppressed = msgspec.msgpack.Decoder(Suppressed).decode


class Kept:
    """What a write transaction says beside the records."""

    def __init__(self, conn: sqlite3.Connection, now: int) -> None:
        self._conn, self._now = conn, now

    def annotate(self, op: Annotate) -> bool:
        """Keep a note, and of each letter the newest ones; False where it is kept already."""
        if self._conn.execute(_NOTE, (op.task_id, op.note_id, self._now, op.by, op.text)).rowcount <= 0:
            return False
        self._conn.execute(_OLD_NOTES, (op.task_id, op.task_id, NOTES_KEPT))
        return True

    def suppress(self, entry: Suppressed) -> None:
        """Count and list it, once."""
        sql = "INSERT OR IGNORE INTO suppressed (task_id, data) VALUES (?, ?)"
        if self._conn.execute(sql, (entry.task_id, ENCODER.encode(entry))).rowcount <= 0:
            return
        self._conn.execute(_COUNT, (entry.outcome, f"{entry.platform}:{entry.shop_id}", entry.task_type))
        self._conn.execute(
            "DELETE FROM suppressed WHERE id <= (SELECT max(id) FROM suppressed) - ?", (SUPPRESSED_KEPT,)
        )


class Notes(Part):
    """The calls of ``services.ports.Store``."""

    def notes(self, task_id: str) -> list[Note]:
        """The oldest first."""
        with self._read() as conn:
            rows = conn.execute("SELECT note_id, at, who, text FROM notes WHERE task_id = ? ORDER BY id", (task_id,))
            return all_sound(lambda row: msgspec.convert(row, type=Note), rows, "note")

    def suppressed(self, limit: int) -> list[Suppressed]:
        """The newest first."""
        with self._read() as conn:
            rows = conn.execute("SELECT data FROM suppressed ORDER BY id DESC LIMIT ?", (limit,)).fetchall()
        return all_sound(read_suppressed, blobs(rows), "suppressed duplicate")

    def suppressed_counts(self) -> Mapping[tuple[str, str, str], int]:
        """By outcome, shop and type."""
        with self._read() as conn:
            rows = conn.execute("SELECT outcome, shop, task_type, n FROM suppressed_counts").fetchall()
        read = partial(msgspec.convert, type=tuple[str, str, str, Count])
        return {(outcome, shop, kind): n for outcome, shop, kind, n in all_sound(read, rows, "count of duplicates")}
