"""Letters, logs and the audit trail on Redis."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from services.ports import AuditEntry, Letter, LogLine
from services.store import keys
from services.store.redis_part import Part
from services.store.redis_script import load

LOG_LINES = 5000
LOG_MS = 7 * 86_400_000

_APPEND = load("audit")
_CLOSE = load("audit_close")
_READ_LOG = load("read_log")
_PACK = msgspec.msgpack.Encoder()
_LETTER = msgspec.msgpack.Decoder(Letter)
_LINE = msgspec.msgpack.Decoder(LogLine)
_ENTRY = msgspec.msgpack.Decoder(AuditEntry)
_END = msgspec.msgpack.Decoder(tuple[str, int])


class Papers(Part):
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
        return None if found is None else _LETTER.decode(found)

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
        return [_LINE.decode(line) for line in lines], after

    def append_audit(self, entry: AuditEntry) -> None:
        """Add an entry; the same id again changes nothing."""
        self._link.check_writable()
        self._link.run(_APPEND, (keys.AUDIT, keys.AUDIT_ORDER), entry.entry_id, _PACK.encode(entry))

    def close_audit(self, entry_id: str, outcome: str, at: int) -> None:
        """Write the outcome of an open entry; the first one stays."""
        self._link.check_writable()
        self._link.run(_CLOSE, (keys.AUDIT, keys.AUDIT_CLOSED), entry_id, _PACK.encode((outcome, at)))

    def audit(self, limit: int, before: str = "") -> list[AuditEntry]:
        """Entries in reverse order of writing, those written before ``before`` if it is given."""
        first = 0
        if before:
            rank = self._link.call("ZREVRANK", keys.AUDIT_ORDER, before)
            if rank is None:
                return []
            first = rank + 1
        ids = self._link.call("ZREVRANGE", keys.AUDIT_ORDER, first, first + limit - 1)
        if not ids:
            return []
        entries, ends = self._link.many([("HMGET", keys.AUDIT, *ids), ("HMGET", keys.AUDIT_CLOSED, *ids)], atomic=True)
        return [_closed(entry, end) for entry, end in zip(entries, ends, strict=True) if entry is not None]


def _closed(packed: bytes, end: bytes | None) -> AuditEntry:
    entry = _ENTRY.decode(packed)
    if end is None or entry.outcome:
        return entry
    outcome, at = _END.decode(end)
    return msgspec.structs.replace(entry, outcome=outcome, closed_at=at)
