"""What both drivers read: an entry that is none of ours counts as missing, is told once, and holds up no other. Of what
was done it is not missing but unknown (``ledger.UNREADABLE``).
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeVar

import msgspec

from services.domain.task import ledger
from services.domain.task.record import Task, decode
from services.domain.upkeep.stored import LARGEST, LATEST_MS

T = TypeVar("T")
R = TypeVar("R")
log = logging.getLogger(__name__)
#: what reading something else than ours ends in; msgspec's errors are ValueErrors
WRONG = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError, struct.error)


def readable(data: bytes) -> Task | None:
    """The record; None, told once, for bytes that are none."""
    try:  # as ``sound`` does, without its call for each of many records
        return decode(data)
    except WRONG as exc:
        tell(_size(data), "record", "", str(exc)[:200])
        return None


def sound(read: Callable[[R], T], stored: R, what: str, name: object = "") -> T | None:
    """What ``read`` makes of something stored; None, told once, where it cannot."""
    try:
        return read(stored)
    except WRONG as exc:
        tell(_size(stored), what, _shown(name), str(exc)[:200])
        return None


def all_sound(read: Callable[[R], T], stored: Iterable[R], what: str) -> list[T]:
    """Of many entries those that can be read."""
    return [found for one in stored if (found := sound(read, one, what)) is not None]


def all_of(kind: type[T], stored: Sequence[object], what: str) -> list[T]:
    """Of many rows of plain values those that are of a kind, all in one step where nothing is wrong with any."""
    try:
        return msgspec.convert(stored, type=list[kind])  # type: ignore[valid-type]
    except WRONG:
        return all_sound(partial(msgspec.convert, type=kind), stored, what)


def by_name(read: Callable[[R], T], stored: Mapping[bytes, R], what: str) -> dict[str, T]:
    """The entries of a hash by their names, in that order, without what cannot be read."""
    found: dict[str, T] = {}
    for name in sorted(stored):
        key = text(name, what)
        value = sound(read, stored[name], what, name) if key is not None else None
        if key is not None and value is not None:
            found[key] = value
    return found


def text(data: bytes, what: str = "name") -> str | None:
    """A name; None, told once, for bytes that are no text."""
    return sound(bytes.decode, data, what, data)


def instant(stored: bytes | str) -> int:
    """An instant that was kept in digits.

    Raises:
        ValueError: it is none.
    """
    found = int(stored)
    if not 0 <= found <= LATEST_MS:
        raise ValueError("no instant")
    return found


def number(stored: bytes | str) -> int:
    """A number that was kept in digits.

    Raises:
        ValueError: it is none, or none that all programs would read as the same one.
    """
    found = int(stored)
    if abs(found) > LARGEST:
        raise ValueError("too large a number")
    return found


def name_of(data: bytes) -> str:
    """A name to ask for; of bytes that are no text one that nothing has."""
    return data.decode("utf-8", "replace")


def texts(found: Iterable[bytes], what: str = "name") -> list[str]:
    """Of many names those that are text."""
    return [name for one in found if (name := text(one, what)) is not None]


def first(read: Callable[[int], Sequence[T | None]], limit: int) -> list[T]:
    """The first so many; ``read`` gives that many from the beginning, None for a place with nothing readable."""
    most = limit
    while True:
        found = read(most)
        good = [one for one in found if one is not None]
        if len(found) < most or len(good) >= limit:
            return good[:limit]
        most = limit + 2 * (len(found) - len(good))


@lru_cache(maxsize=1000)
def tell(size: str, what: str, name: str, why: str) -> None:
    """Who asks every second need not be told every second: one line is enough."""
    of = f" of {name}" if name else ""
    means = "nobody knows whether that work was done" if what == ledger.WHAT else "counts as missing"
    log.error("a %s%s (%s) cannot be read and %s: %s", what, of, size, means, why)


def _size(stored: object) -> str:
    return f"{len(stored)} bytes" if isinstance(stored, bytes) else type(stored).__name__


def _shown(name: object) -> str:
    return ascii(name)[:100] if name else ""
