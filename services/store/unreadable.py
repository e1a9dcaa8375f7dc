"""Records as both drivers read them: bytes that are none count as missing, and hold up nobody who reads the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from services.domain.task import Task, decode

log = logging.getLogger(__name__)


def readable(data: bytes) -> Task | None:
    """The record; None, told once, for bytes that are none."""
    try:
        return decode(data)
    except msgspec.DecodeError as exc:
        _tell(data, str(exc))
        return None


def first(read: Callable[[int], Sequence[bytes | None]], limit: int) -> list[Task]:
    """The first so many records; ``read`` gives that many from the beginning, None for a place without a record."""
    most = limit
    while True:
        found = read(most)
        tasks = [task for data in found if data is not None and (task := readable(data)) is not None]
        missing = len(found) - len(tasks)
        if len(found) < most or len(tasks) >= limit:
            return tasks[:limit]
        most = limit + 2 * missing


@lru_cache(maxsize=100)
def _tell(data: bytes, why: str) -> None:
    """The reconciler meets it every few seconds: one line is enough."""
    log.error("a record of %d bytes cannot be read and counts as missing: %s", len(data), why)
