"""What was set aside on Redis: keys of their own, and a note of when and why beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from services.domain.upkeep.damage import Aside, shown
from services.domain.upkeep.stored import Instant
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.unreadable import sound

#: of a whole key: it was set aside at that instant
_STAMPED = re.compile(rb"(.+):(\d{13})(?::whole)?\Z", re.DOTALL)
#: elements of a whole key that are told
MOST = 1000
_AT_ONCE = 500
_NOTE = msgspec.msgpack.Decoder(tuple[Instant, str])


def note(at: int, why: str) -> bytes:
    """What is kept beside an entry that is set aside."""
    return msgspec.msgpack.encode((at, why))


def note_name(aside: bytes, member: bytes) -> bytes:
    """Under which name."""
    return aside + b"\n" + member


class SetAside(Part):
    """The call of ``services.ports.upkeep``."""

    def aside(self, limit: int) -> list[Aside]:
        """Key by key."""
        found = [one for prefix in (keys.ASIDE, keys.BROKEN) for name in self._keys(prefix) for one in self._of(name)]
        found.sort(key=lambda one: (-one.at, one.place, one.entry))
        return found[:limit]

    def _keys(self, prefix: str) -> Iterator[bytes]:
        cursor = 0
        while True:
            cursor, names = self._link.call("SCAN", cursor, "MATCH", f"{prefix}*", "COUNT", _AT_ONCE)
            yield from sorted(set(names))
            if not cursor:
                return

    def _of(self, name: bytes) -> Iterator[Aside]:
        place, at = _place(name)
        parts = self._parts(name)
        members = [field.encode("utf-8", "surrogateescape") for field, _ in parts]
        notes = self._link.call("HMGET", keys.ASIDE_NOTES, *(note_name(name, one) for one in (b"", *members)))
        told = [sound(_NOTE.decode, one, "note") if one is not None else None for one in notes]
        if name.startswith(keys.BROKEN.encode()) or at or not parts or parts[0][0] == "":
            when, why = told[0] or (at, "")
            yield Aside(place=place, entry="", at=when, why=why, parts=tuple((shown(n), data) for n, data in parts))
            return
        for (field, data), own in zip(parts, told[1:], strict=True):
            when, why = own or (0, "")
            entry = shown(field.encode("utf-8", "surrogateescape"))
            yield Aside(place=place, entry=entry, at=when, why=why, parts=(("", data),))

    def _parts(self, name: bytes) -> list[tuple[str, bytes]]:
        kind = self._link.call("TYPE", name)
        if kind == b"string":
            return [("", self._link.call("GET", name) or b"")]
        if kind == b"list":
            return [("", value) for value in self._link.call("LRANGE", name, 0, MOST - 1)]
        if kind == b"zset":
            rows = self._link.call("ZRANGE", name, 0, MOST - 1, "WITHSCORES")
            return [(_text(member), str(score).encode()) for member, score in _pairs(rows)]
        if kind == b"set":
            return [("", value) for value in sorted(self._link.call("SMEMBERS", name))[:MOST]]
        if kind == b"hash":
            return [(_text(field), value) for field, value in sorted(self._link.call("HGETALL", name).items())[:MOST]]
        return []


def _pairs(rows: list[object]) -> Iterator[tuple[bytes, object]]:
    for row in zip(rows[::2], rows[1::2], strict=True):
        member, score = row
        yield member if isinstance(member, bytes) else str(member).encode(), score


def _text(field: bytes) -> str:
    return field.decode("utf-8", "surrogateescape")


def _place(name: bytes) -> tuple[str, int]:
    """What it was called, and when it was set aside if its name says so."""
    if name.startswith(keys.BROKEN.encode()):
        return shown(keys.TASK.encode() + name.removeprefix(keys.BROKEN.encode())), 0
    rest = name.removeprefix(keys.ASIDE.encode())
    stamped = _STAMPED.match(rest)
    return (shown(stamped[1]), int(stamped[2])) if stamped else (shown(rest), 0)
