"""Records as both drivers read them: bytes that are none count as missing, and hold up nobody who reads the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec

from services.domain.task import Task, decode

T = TypeVar("T")
log = logging.getLogger(__name__)


def readable(data: bytes) -> Task | None:
    """The record; None, told once, for bytes that are none."""
    try:
        return decode(data)
    except msgspec.DecodeError as exc:
        tell(data, "record", str(exc))
        return None


def first(read: Callable[[int], Sequence[T | None]], limit: int) -> list[T]:
    """The first so many; ``read`` gives that many from the beginning, None for a place with nothing readable."""
    most = limit
    while True:
        found = read(most)
        good = [one for one in found if one is not None]
        if len(found) < most or len(good) >= limit:
            return good[:limit]
        most = limit + 2 * (len(found) - len(good))


@lru_cache(maxsize=100)
def tell(data: bytes, what: str, why: str) -> None:
    """The leader meets it every second: one line is enough."""
    log.error("a %s of %d bytes cannot be read and counts as missing: %s", what, len(data), why)
