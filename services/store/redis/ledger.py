"""What is known of a work, on Redis: see ``scripts/ledger.lua``."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import msgspec

from services.domain.task import ledger
from services.domain.task.ledger import Day, Done, Failure, Ran
from services.domain.task.record import ENCODER
from services.domain.upkeep.stored import Count, Instant
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.unreadable import sound

SLICE = 500
#: of a day that is over: first instant, milliseconds from there to the last one, successes, failures, length of the
#: first id, how much of that the last id begins with; then the first id, length and text of the rest of the last one
_DAY = struct.Struct(">6sI3s3sBB")
_MOST = 2**24 - 1


class _Head(msgspec.Struct, frozen=True, array_like=True):
    """What steps read of an entry to know whether its work was done: what stands behind it may be anything."""

    task_id: str  #: of the last success, "" for none
    at: Instant
    by: str
    worker: str
    red: tuple[str, ...] = ()  #: held, or dead and open

    @property
    def done(self) -> Done | None:
        """Its last success."""
        return Done(self.task_id, self.at, self.by, self.worker) if self.task_id else None


class Stored(_Head, frozen=True, array_like=True):
    """One stored entry; who has only succeeded, and only once, is kept without what stands behind ``red``."""

    succeeded: Count = -1  #: on the day of the last end; -1: only the success above
    failures: Count = 0
    first_at: Instant = 0
    first_id: str = ""  #: "" where it is the last one too
    failed_id: str = ""
    failed_at: Instant = 0
    kind: str = ""
    failed_by: str = ""
    failed_worker: str = ""

    @property
    def alone(self) -> bool:
        """Whether it knows of one success and nothing else."""
        return self.succeeded < 0 and bool(self.task_id)

    @property
    def failed(self) -> Failure | None:
        """Its last failure."""
        if not self.failed_id:
            return None
        return Failure(self.failed_id, self.failed_at, self.kind, self.failed_by, self.failed_worker)

    @property
    def entry(self) -> ledger.Entry:
        """As a decision reads it."""
        known = self.succeeded if self.succeeded >= 0 else int(bool(self.task_id))
        return ledger.Entry(self.done, self.failed, known, self.failures, self.first_at, self.first_id)


_decode = msgspec.msgpack.Decoder(Stored, strict=False).decode
_decode_head = msgspec.msgpack.Decoder(_Head, strict=False).decode


def read_entry(data: bytes) -> Stored:
    """One entry.

    Raises:
        ValueError: it is none.
    """
    return _decode(data)


def packed_entry(entry: ledger.Entry, red: Sequence[str]) -> bytes:
    """As scripts write it."""
    done, failed = entry.done or Done("", 0), entry.failed
    fields: list[object] = [done.task_id, done.at, done.by, done.worker, list(red)]
    day = entry.day
    known = (day.succeeded, day.failed) if day is not None else (0, 0)
    if failed is not None or known != (int(entry.done is not None), 0):
        first = (day.first_at, day.first_id) if day is not None and day.count > 1 else (0, "")
        fields += [*known, *first]
    if failed is not None:
        fields += [failed.task_id, failed.at, failed.kind, failed.by, failed.worker]
    return ENCODER.encode(fields)


def pack_days(days: Iterable[Day]) -> bytes:
    """As scripts write them."""
    parts: list[bytes] = []
    for day in days:
        first, last = day.first_id.encode()[:255], day.last_id.encode()[:255]
        same = next((n for n, one in enumerate(first) if last[n : n + 1] != bytes([one])), len(first))
        numbers = (min(day.succeeded, _MOST).to_bytes(3, "big"), min(day.failed, _MOST).to_bytes(3, "big"))
        span = min(day.last_at - day.first_at, 2**32 - 1)
        parts += [_DAY.pack(day.first_at.to_bytes(6, "big"), span, *numbers, len(first), same), first]
        parts += [bytes([len(last) - same]), last[same:]]
    return b"".join(parts)


def read_days(data: bytes) -> tuple[Day, ...]:
    """Days that are over, the oldest first.

    Raises:
        ValueError, struct.error, IndexError: they are none.
    """
    days: list[Day] = []
    at = 0
    while at < len(data):
        begun, span, *numbers, length, same = _DAY.unpack_from(data, at)
        at += _DAY.size
        first, rest = data[at : at + length], data[at + length]
        at += length + 1
        last = first[:same] + data[at : at + rest]
        at += rest
        if at > len(data):
            raise ValueError("a day is cut short")
        first_at = int.from_bytes(begun, "big")
        won, lost = (int.from_bytes(number, "big") for number in numbers)
        days.append(Day(first_at, first_at + span, won, lost, first.decode(), last.decode()))
    return tuple(days)


class Ledger(Part):
    """The calls of ``services.ports.Records``."""

    def last_done(self, works: Sequence[str]) -> list[Done | None]:
        """At the place of each work its last success, ``ledger.UNREADABLE`` where nobody can tell."""
        found: list[Done | None] = []
        for start in range(0, len(works), SLICE):
            names = [keys.WORK + work for work in works[start : start + SLICE]]
            stored, there = self._link.many([("MGET", *names), ("EXISTS", *names)])
            odd = self._of_other_kinds(names) if there != sum(data is not None for data in stored) else frozenset()
            for name, data in zip(names, stored, strict=True):
                head = sound(_decode_head, data, ledger.WHAT, name.encode()) if data else None
                lost = head is None and bool(data or name in odd)
                found.append(ledger.UNREADABLE if lost else head.done if head is not None else None)
        return found

    def _of_other_kinds(self, names: Sequence[str]) -> frozenset[str]:
        """Those of these keys that hold something else than an entry."""
        kinds = self._link.many([("TYPE", name) for name in names])
        return frozenset(name for name, kind in zip(names, kinds, strict=True) if kind not in (b"none", b"string"))

    def ran(self, works: Sequence[str]) -> list[Ran | None]:
        """At the place of each work all that is known of it."""
        return [known[1] for known in self._known_works(works)]

    def _known_works(self, works: Sequence[str]) -> list[tuple[Stored | None, Ran | None]]:
        since = self._ticker.now_ms() - ledger.KEPT_MS
        found: list[tuple[Stored | None, Ran | None]] = []
        for start in range(0, len(works), SLICE):
            part = works[start : start + SLICE]
            names = [keys.PAST + work for work in part]
            past = self._link.call("MGET", *names)
            for stored, name, data in zip(self._work_entries(part), names, past, strict=True):
                days = (sound(read_days, data, "days", name.encode()) if data else None) or ()
                found.append((stored, _known(stored, days, since)))
        return found

    def _work_entries(self, works: Sequence[str]) -> list[Stored | None]:
        found: list[Stored | None] = []
        for start in range(0, len(works), SLICE):
            names = [keys.WORK + work for work in works[start : start + SLICE]]
            stored = self._link.call("MGET", *names)
            for name, data in zip(names, stored, strict=True):
                found.append(sound(read_entry, data, ledger.WHAT, name.encode()) if data else None)
        return found


def _known(stored: Stored | None, past: tuple[Day, ...], since: int) -> Ran | None:
    entry = stored.entry if stored is not None else ledger.Entry()
    days = (*past, entry.day) if entry.day is not None else past
    days = tuple(sorted((day for day in days if day.last_at >= since), key=lambda day: day.first_at))
    return Ran(entry.done, entry.failed, days) if days or entry.done or entry.failed else None
