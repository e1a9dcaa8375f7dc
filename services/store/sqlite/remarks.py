"""Notes on dead letters, and what the duplicate guard has refused or held back, on SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec

from services.domain.change import Annotate, Answer
from services.domain.task.record import ENCODER, Task
from services.domain.task.remarks import NOTES_KEPT, SUPPRESSED_KEPT, Note, Suppressed
from services.domain.task.status import Status
from services.domain.upkeep.stored import Count
from services.store.sqlite.part import Part, blobs
from services.store.sqlite.session import Session
from services.store.sqlite.upkeep.repair import MISSING
from services.store.unreadable import all_sound

_NOTE = """INSERT OR IGNORE INTO notes (task_id, note_id, at, who, text) VALUES (?, ?, ?, ?, ?)"""
_OLD_NOTES = """DELETE FROM notes WHERE task_id = ? AND id NOT IN
    (SELECT id FROM notes WHERE task_id = ? ORDER BY id DESC LIMIT ?)"""
_COUNT = """INSERT INTO suppressed_counts (outcome, shop, task_type, n) VALUES (?, ?, ?, 1)
    ON CONFLICT DO UPDATE SET n = n + 1"""
read_suppressed = msgspec.msgpack.Decoder(Suppressed).decode


def annotate(session: Session, op: Annotate) -> Answer:
    """Keep a note; no transition."""
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if task.status != Status.DEAD:
        return Answer("refused", task)
    row = (task.task_id, op.note_id, session.now, op.by, op.text)
    if session.conn.execute(_NOTE, row).rowcount > 0:
        session.conn.execute(_OLD_NOTES, (task.task_id, task.task_id, NOTES_KEPT))
        session.tell(task)
    return Answer("ok", task)


def suppress(session: Session, task: Task, outcome: str, holder_id: str | None) -> None:
    """Count and list a task that met another one with the same work; once, however often it is said."""
    holder = session.get(holder_id) if holder_id else None
    if holder is None or holder.task_id == task.task_id:
        return
    entry = Suppressed(
        session.now, task.task_id, task.platform, task.shop_id, task.task_type, task.created_by, task.origin, outcome,
        holder.task_id, holder.status,
    )  # fmt: skip
    sql = "INSERT OR IGNORE INTO suppressed (task_id, data) VALUES (?, ?)"
    if session.conn.execute(sql, (task.task_id, ENCODER.encode(entry))).rowcount > 0:
        session.conn.execute(_COUNT, (outcome, task.shop, task.task_type))
        session.conn.execute(
            "DELETE FROM suppressed WHERE id <= (SELECT max(id) FROM suppressed) - ?", (SUPPRESSED_KEPT,)
        )


class Remarks(Part):
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
