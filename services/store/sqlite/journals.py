"""What the embedded store keeps for reading later: letters, logs, the audit, and marks for workers of other make."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from services.domain.audit import AuditRow, Link
from services.domain.change import Claim, Op
from services.domain.task.record import ENCODER
from services.domain.upkeep.stored import Instant
from services.ports import AuditEntry, Letter, LogLine
from services.store.sqlite.part import Part, blobs, words
from services.store.sqlite.write import IN_LIST, text_list
from services.store.unreadable import all_sound, sound

EXECUTED_MS = 3_600_000
LOG_LINES = 5_000
_LETTER = msgspec.msgpack.Decoder(Letter)
_ENTRY = msgspec.msgpack.Decoder(AuditEntry)
_LINK = msgspec.msgpack.Decoder(Link)


def with_marks(conn: sqlite3.Connection, ops: Sequence[Op], now: int) -> Sequence[Op]:
    """The operations, with claims that know of the executed marks of their tasks."""
    claimed = [op.task_id for op in ops if isinstance(op, Claim)]
    marked = _marked(conn, claimed, now) if claimed else None
    if not marked:
        return ops
    return [replace(op, foreign_done=True) if isinstance(op, Claim) and op.task_id in marked else op for op in ops]


def _marked(conn: sqlite3.Connection, task_ids: Sequence[str], now: int) -> set[str]:
    sql = f"SELECT task_id FROM executed WHERE task_id {IN_LIST} AND until > ?"
    return {task_id for (task_id,) in conn.execute(sql, (text_list(task_ids), now))}


class Journals(Part):
    """Letters, logs, audit, executed marks; the calls are those of ``services.ports.Store``."""

    def put_letter(self, letter: Letter) -> None:
        """Keep a letter."""
        letter = letter if letter.stored_at else replace(letter, stored_at=self.now_ms())
        row = (letter.task_id, ENCODER.encode(letter))
        self._write(lambda conn: conn.execute("INSERT OR REPLACE INTO letters (task_id, data) VALUES (?, ?)", row))

    def get_letter(self, task_id: str) -> Letter | None:
        """The letter of a task."""
        with self._read() as conn:
            row = conn.execute("SELECT data FROM letters WHERE task_id = ?", (task_id,)).fetchone()
            return sound(_LETTER.decode, next(blobs([row])), "letter", task_id) if row else None

    def executed(self, task_ids: Sequence[str]) -> list[bool]:
        """Whether they are marked."""
        with self._read() as conn:
            marked = _marked(conn, task_ids, self.now_ms())
        return [task_id in marked for task_id in task_ids]

    def mark_executed(self, task_ids: Sequence[str]) -> None:
        """Mark them for an hour."""
        if not task_ids:
            return
        now = self.now_ms()
        rows = [(task_id, now + EXECUTED_MS) for task_id in task_ids]

        def mark(conn: sqlite3.Connection) -> None:
            conn.executemany("INSERT OR REPLACE INTO executed (task_id, until) VALUES (?, ?)", rows)
            conn.execute("DELETE FROM executed WHERE until <= ?", (now,))

        self._write(mark)

    def append_log(self, task_id: str, attempt: int, lines: Sequence[LogLine]) -> None:
        """Add lines to the log of an attempt."""
        if not lines:
            return

        def append(conn: sqlite3.Connection) -> None:
            place = _log_end(conn, task_id, attempt)
            rows = [(task_id, attempt, place + n, line.at, line.stream, line.text) for n, line in enumerate(lines)]
            conn.executemany(
                "INSERT INTO logs (task_id, attempt, place, at, stream, line) VALUES (?, ?, ?, ?, ?, ?)", rows
            )
            oldest = place + len(lines) - LOG_LINES
            conn.execute("DELETE FROM logs WHERE task_id = ? AND attempt = ? AND place < ?", (task_id, attempt, oldest))

        self._write(append)

    def read_log(self, task_id: str, attempt: int, start: int = 0) -> tuple[list[LogLine], int]:
        """Lines from a place on."""
        sql = """SELECT place, at, stream, line FROM logs WHERE task_id = ? AND attempt = ? AND place >= ?
            ORDER BY place"""
        with self._read() as conn:
            rows = conn.execute(sql, (task_id, attempt, start)).fetchall()
            after = rows[-1][0] + 1 if rows and type(rows[-1][0]) is int else _log_end(conn, task_id, attempt)
        return all_sound(_line, rows, "log line"), after

    def append_audit(self, entry: AuditEntry) -> None:
        """Add an entry."""
        row = (entry.entry_id, ENCODER.encode(entry), entry.outcome, entry.closed_at)
        sql = "INSERT OR IGNORE INTO audit (entry_id, data, outcome, closed_at) VALUES (?, ?, ?, ?)"

        def append(conn: sqlite3.Connection) -> None:
            if conn.execute(sql, row).rowcount and entry.link is not None:
                _advance(conn, entry.entry_id, entry.link)

        self._write(append)

    def close_audit(self, entry_id: str, outcome: str, at: int, end: Link | None = None) -> None:
        """Close an open entry."""
        sql = "UPDATE audit SET outcome = ?, closed_at = ?, ending = ? WHERE entry_id = ? AND outcome = ''"
        row = (outcome, at, ENCODER.encode(end) if end is not None else None, entry_id)

        def close(conn: sqlite3.Connection) -> None:
            if conn.execute(sql, row).rowcount and end is not None:
                _advance(conn, entry_id, end)

        self._write(close)

    def audit(self, limit: int, before: str = "") -> list[AuditEntry]:
        """Entries, the last one first; what cannot be read is passed over."""
        sql = "SELECT id, entry_id, data, outcome, closed_at, ending FROM audit"
        values: tuple[str | int, ...] = (limit,)
        if before:
            sql += " WHERE id < (SELECT id FROM audit WHERE entry_id = ?)"
            values = (before, limit)
        with self._read() as conn:
            rows = conn.execute(f"{sql} ORDER BY id DESC LIMIT ?", values).fetchall()
        return [found.entry for found in map(_audit_row, rows) if found.entry is not None]

    def audit_heads(self) -> list[str]:
        """The heads."""
        with self._read() as conn:
            return [words(mark) for (mark,) in conn.execute("SELECT mark FROM audit_heads ORDER BY mark")]

    def audit_rows(self, limit: int, before: int = 0) -> list[AuditRow]:
        """Rows, the last one first."""
        sql = "SELECT id, entry_id, data, outcome, closed_at, ending FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?"
        with self._read() as conn:
            return [_audit_row(row) for row in conn.execute(sql, (before or 1 << 62, limit))]

    def audit_strays(self) -> list[str]:
        """None: all of an entry is one row."""
        return []


def _advance(conn: sqlite3.Connection, entry_id: str, link: Link) -> None:
    """A link is a head now, and those are none any more that it names."""
    conn.executemany("DELETE FROM audit_heads WHERE mark = ?", [(mark,) for mark in (*link.seen, *link.unsure)])
    conn.execute("INSERT OR IGNORE INTO audit_heads (mark) VALUES (?)", (f"{entry_id}/{link.number}/{link.digest}",))


def _audit_row(row: tuple[int, object, object, object, object, bytes | None]) -> AuditRow:
    place, key, *_ = row
    return AuditRow(place=place, key=words(key), entry=sound(read_audit, row[2:], "row of the audit", place))


def _log_end(conn: sqlite3.Connection, task_id: str, attempt: int) -> int:
    sql = "SELECT max(place) FROM logs WHERE task_id = ? AND attempt = ?"
    (last,) = conn.execute(sql, (task_id, attempt)).fetchone()
    return int(last) + 1 if type(last) is int else 0


def _line(row: tuple[object, ...]) -> LogLine:
    _, at, stream, text = msgspec.convert(row, type=tuple[int, Instant, str, str])
    return LogLine(at, stream, text)


def read_audit(row: tuple[object, ...]) -> AuditEntry:
    """A row: the entry, how it ended, when, and the seal of that.

    Raises:
        ValueError: it is something else.
    """
    data, outcome, at, ending = row
    known, closed = msgspec.convert((outcome, at), type=tuple[str, Instant])
    end = _LINK.decode(next(blobs([(ending,)]))) if ending is not None else None
    entry = _ENTRY.decode(next(blobs([(data,)])))
    return replace(entry, outcome=entry.outcome or known, closed_at=entry.closed_at or closed, end=end)
