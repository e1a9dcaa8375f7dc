"""What is kept beside the records: letters, logs, the audit trail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from services.domain.audit import AuditEntry, AuditRow, Link
from services.domain.task.notes import Note, Suppressed
from services.domain.upkeep.stored import Instant


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """The original message of a dead letter, whole."""

    task_id: str
    body: bytes
    headers: str = "{}"  #: JSON
    routing_key: str = ""
    queue: str = ""
    content_type: str = ""
    stored_at: Instant = 0
    error_kind: str = ""
    error: str = ""


class LogLine(msgspec.Struct, frozen=True, array_like=True):
    """One line that a running task printed, or that its worker wrote between them."""

    at: Instant
    stream: str  #: out | err; of the worker itself own | own_err
    text: str


class Journals(Protocol):
    """Letters, logs and the audit trail."""

    def put_letter(self, letter: Letter) -> None:
        """Keep a letter, replacing an older one of the same task; ``stored_at`` 0 is filled."""

    def get_letter(self, task_id: str) -> Letter | None: ...

    def append_log(self, task_id: str, attempt: int, lines: Sequence[LogLine]) -> None:
        """Keep the log of an attempt, the last 5,000 lines of it."""

    def read_log(self, task_id: str, attempt: int, start: int = 0) -> tuple[list[LogLine], int]:
        """Lines from place ``start`` on and the place after the last one."""

    def notes(self, task_id: str) -> list[Note]:
        """What people wrote about a dead letter (``Annotate``), the oldest first; the last 50."""

    def suppressed(self, limit: int) -> list[Suppressed]:
        """Tasks that were refused, held back or forced because another one was doing their work, the newest first; the
        last 1,000 are known.
        """

    def suppressed_counts(self) -> Mapping[tuple[str, str, str], int]:
        """How many there were in all, by (outcome, ``platform:shop_id``, type)."""

    def append_audit(self, entry: AuditEntry) -> None:
        """Add an entry; the same id again changes nothing. Its link becomes a head in the same step, in place of those
        that it names.
        """

    def close_audit(self, entry_id: str, outcome: str, at: int, end: Link | None = None) -> None:
        """Write the outcome of an open entry; the first one stays. ``end`` becomes a head as above."""

    def audit_heads(self) -> list[str]:
        """Marks of the links that no other one names yet; also what stands there and is none."""

    def audit_rows(self, limit: int, before: int = 0) -> list[AuditRow]:
        """Rows as they lie there, those that cannot be read too, in reverse order of writing, those at a place lower
        than ``before`` if it is given.
        """

    def audit_strays(self) -> list[str]:
        """Names under which something of an entry is kept that stands at no place of the order."""

    def audit(self, limit: int, before: str = "") -> list[AuditEntry]:
        """Entries in reverse order of writing, those written before the entry ``before`` if it is given."""
