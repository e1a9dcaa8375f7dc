"""The claimed tasks of a worker whose outcome is not recorded yet."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from services.workers.slots import Held


class Claimed:
    """By lease owner. May be used by any thread."""

    def __init__(self) -> None:
        self._all: dict[str, Held] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._all)

    def add(self, held: Held) -> None:
        """It has been claimed."""
        with self._lock:
            self._all[held.owner] = held

    def drop(self, owners: Iterable[str]) -> None:
        """Their outcomes are recorded; until then their leases are renewed, whatever recording waits for."""
        with self._lock:
            for owner in owners:
                self._all.pop(owner, None)

    def all(self) -> list[Held]:
        """Those of now."""
        with self._lock:
            return list(self._all.values())

    def delivered(self) -> int:
        """How many came by a message that is not settled."""
        return sum(held.delivery is not None for held in self.all())
