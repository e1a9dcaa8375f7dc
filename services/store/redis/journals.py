"""Letters, logs and the audit trail on Redis."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from services.domain.audit import AuditRow, Link
from services.domain.upkeep.stored import Instant
from services.ports import AuditEntry, Letter, LogLine
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.redis.script import load
from services.store.unreadable import all_sound, name_of, sound

LOG_LINES = 5000
LOG_MS = 7 * 86_400_000

_APPEND = load("audit")
_CLOSE = load("audit_close")
_READ_LOG = load("read_log", reads=True)
_PACK = msgspec.msgpack.Encoder()
_LETTER = msgspec.msgpack.Decoder(Letter)
_LINE = msgspec.msgpack.Decoder(LogLine)
_ENTRY = msgspec.msgpack.Decoder(AuditEntry)
read_end = msgspec.msgpack.Decoder(tuple[str, Instant]).decode
read_seal = msgspec.msgpack.Decoder(Link).decode


class Journals(Part):
    """What is kept beside the records."""

    def put_letter(self, letter: Letter) -> None:
        """Keep a letter, replacing an older one of the same task; ``stored_at`` 0 is filled."""
        self._link.check_writable()
        if not letter.stored_at:
            letter = msgspec.structs.replace(letter, stored_at=self._ticker.now_ms())
        self._link.call("HSET", keys.LETTERS, letter.task_id, _PACK.encode(letter))

    def get_letter(self, task_id: str) -> Letter | None:
        """The original message of a dead letter."""
        found = self._link.call("HGET", keys.LETTERS, task_id)
        return None if found is None else sound(_LETTER.decode, found, "letter", task_id)

    def append_log(self, task_id: str, attempt: int, lines: Sequence[LogLine]) -> None:
        """Keep the log of an attempt, the last 5,000 lines of it, for a week."""
        self._link.check_writable()
        if not lines:
            return
        name = keys.log(task_id, attempt)
        self._link.many(
            [
                ("RPUSH", name, *map(_PACK.encode, lines)),
                ("LTRIM", name, -LOG_LINES, -1),
                ("INCRBY", f"{name}:n", len(lines)),
                ("PEXPIRE", name, LOG_MS),
                ("PEXPIRE", f"{name}:n", LOG_MS),
            ],
            atomic=True,
        )

    def read_log(self, task_id: str, attempt: int, start: int = 0) -> tuple[list[LogLine], int]:
        """Lines from place ``start`` on and the place after the last one."""
        name = keys.log(task_id, attempt)
        after, lines = self._link.run(_READ_LOG, (name, f"{name}:n"), start)
        return all_sound(_LINE.decode, lines, "log line"), after

    def append_audit(self, entry: AuditEntry) -> None:
        """Add an entry; the same id again changes nothing."""
        self._link.check_writable(repairing=True)
        mark, gone = _heads(entry.entry_id, entry.link)
        names = (keys.AUDIT, keys.AUDIT_ORDER, keys.AUDIT_HEADS)
        self._link.run(_APPEND, names, entry.entry_id, _PACK.encode(entry), mark, *gone)

    def close_audit(self, entry_id: str, outcome: str, at: int, end: Link | None = None) -> None:
        """Write the outcome of an open entry; the first one stays."""
        self._link.check_writable(repairing=True)
        mark, gone = _heads(entry_id, end)
        names = (keys.AUDIT, keys.AUDIT_CLOSED, keys.AUDIT_ENDS, keys.AUDIT_HEADS)
        seal = _PACK.encode(end) if end is not None else b""
        self._link.run(_CLOSE, names, entry_id, _PACK.encode((outcome, at)), seal, mark, *gone)

    def audit(self, limit: int, before: str = "") -> list[AuditEntry]:
        """Entries in reverse order of writing, those written before ``before`` if it is given."""
        first = 0
        if before:
            rank = self._link.call("ZREVRANK", keys.AUDIT_ORDER, before)
            if rank is None:
                return []
            first = rank + 1
        ids = self._link.call("ZREVRANGE", keys.AUDIT_ORDER, first, first + limit - 1)
        return [row.entry for row in self._rows(ids, 0) if row.entry is not None]

    def audit_heads(self) -> list[str]:
        """Marks of the links that no other one names yet."""
        (kind,) = self._link.many([("TYPE", keys.AUDIT_HEADS)])
        if kind in (b"none", "none"):
            return []
        if kind not in (b"set", "set"):
            return [f"{keys.AUDIT_HEADS} is no set"]
        return sorted(name_of(mark) for mark in self._link.call("SMEMBERS", keys.AUDIT_HEADS))

    def audit_rows(self, limit: int, before: int = 0) -> list[AuditRow]:
        """Rows in reverse order of writing; a place is the rank in the order, from 1."""
        last = before - 1 if before else int(self._link.call("ZCARD", keys.AUDIT_ORDER))
        if last < 1:
            return []
        first = max(1, last - limit + 1)
        ids = self._link.call("ZRANGE", keys.AUDIT_ORDER, first - 1, last - 1)
        return self._rows(ids, first)[::-1]

    def audit_strays(self) -> list[str]:
        """Names under which something of an entry is kept that stands at no place of the order."""
        order, *kept = self._link.many(
            [
                ("ZRANGE", keys.AUDIT_ORDER, 0, -1),
                ("HKEYS", keys.AUDIT),
                ("HKEYS", keys.AUDIT_CLOSED),
                ("HKEYS", keys.AUDIT_ENDS),
            ],
            atomic=True,
        )
        strays = {name for names in kept for name in names} - set(order)
        return sorted(name_of(name) for name in strays)

    def _rows(self, ids: Sequence[bytes], first: int) -> list[AuditRow]:
        if not ids:
            return []
        names = (keys.AUDIT, keys.AUDIT_CLOSED, keys.AUDIT_ENDS)
        found = self._link.many([("HMGET", name, *ids) for name in names], atomic=True)
        return [_row(place, *each) for place, each in enumerate(zip(ids, *found, strict=True), first)]


def _heads(entry_id: str, link: Link | None) -> tuple[str, tuple[str, ...]]:
    """The mark that becomes a head, and those that are none any more."""
    if link is None:
        return "", ()
    return f"{entry_id}/{link.number}/{link.digest}", (*link.seen, *link.unsure)


def _row(place: int, name: bytes, packed: bytes | None, closed: bytes | None, sealed: bytes | None) -> AuditRow:
    key = name_of(name)
    if packed is None:
        return AuditRow(place=place, key=key, missing=True)
    return AuditRow(place=place, key=key, entry=sound(_whole, (packed, closed, sealed), "row of the audit", key))


def _whole(stored: tuple[bytes, bytes | None, bytes | None]) -> AuditEntry:
    packed, closed, sealed = stored
    entry = _ENTRY.decode(packed)
    if closed is not None and not entry.outcome:
        outcome, at = read_end(closed)
        entry = msgspec.structs.replace(entry, outcome=outcome, closed_at=entry.closed_at or at)
    return entry if sealed is None else msgspec.structs.replace(entry, end=read_seal(sealed))
