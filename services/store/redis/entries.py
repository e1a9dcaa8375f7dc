"""Hashes of thousands of entries, of which those are read into values again that are not as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from services.store.unreadable import by_name

T = TypeVar("T")
#: hashes of fewer entries are read whole: nothing is gained there
FEW = 200
#: of more bytes than these nothing is kept, for it would be in memory twice
MOST_BYTES = 16_000_000


class Entries:
    """What was read of each hash, and what was made of it; any thread may ask."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[bytes, bytes], dict[str, Any]]] = {}

    def by_name(self, key: str, read: Callable[[bytes], T], stored: Mapping[bytes, bytes], what: str) -> dict[str, T]:
        """As ``unreadable.by_name``; ``stored`` is all of the hash ``key``. Values may be those of an earlier call."""
        before, made = self._known.get(key, ({}, {}))
        others = stored if before.keys() != stored.keys() else _changed(before, stored)
        found = by_name(read, others, what)
        if len(others) < len(stored):
            # what could not be read then, or cannot now, has another place in the order
            known = found.keys() <= made.keys() and len(found) == len(others)
            found = made | found if known else by_name(read, stored, what)
        if len(stored) < FEW or sum(map(len, stored.values())) > MOST_BYTES:
            self._known.pop(key, None)
        else:
            self._known[key] = stored, found
        return dict(found)


def _changed(before: Mapping[bytes, bytes], stored: Mapping[bytes, bytes]) -> Mapping[bytes, bytes]:
    return {name: value for name, value in stored.items() if before[name] != value}
