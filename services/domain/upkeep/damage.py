"""Something in the store that cannot be read: where it lies, what is wrong with it, and its bytes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

#: of documents and schedules: kind, name, body; raises ValueError or UsageError where the body is none
Check = Callable[[str, str, str], object]
SCHEDULE = "schedule"
WHY_LIMIT, ENTRY_LIMIT = 200, 120


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """One entry, or a whole key or table row. Only the driver that found it knows how to take it out."""

    place: str  #: key of Redis, table of SQLite
    entry: str  #: field, member, row; "" for the whole key
    why: str
    shape: str  #: how it lies there: whole | hash | zset | set | list | string | row
    document: tuple[str, str] = ("", "")  #: kind and name, where it is one
    ref: tuple[bytes, ...] = ()  #: for the driver
    data: bytes = b""  #: what stands there


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken out of the way because nobody could read it."""

    place: str  #: key of Redis, table of SQLite
    entry: str  #: field, member, row; "" for the whole key
    at: int = 0  #: UTC ms, 0 where nobody noted it
    why: str = ""
    parts: tuple[tuple[str, bytes], ...] = ()  #: name and bytes: columns of a row, or the value alone under ""


def shown(name: object) -> str:
    """A name that may be anything, short and free of what is no text."""
    text = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)
    plain = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return plain if len(plain) <= ENTRY_LIMIT else f"{plain[:ENTRY_LIMIT]}…"
