"""Which queues a worker takes from besides its lanes, and which kinds of parked tasks it fetches."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from services.domain.lane import LANES
from services.engine.registry import Registry
from services.ports import Consumer
from services.workers.skills import Skills
from services.workers.slots import SlotPool


class Served:
    """Follows the queues of single shops as they come and go. Used by one thread at a time."""

    def __init__(
        self,
        consumer: Consumer,
        registry: Registry,
        skills: Skills,
        pool: SlotPool,
        *,
        lanes: Iterable[str],
        name: str,
    ) -> None:
        """``name`` is the worker's."""
        self._consumer, self._registry, self._skills, self._pool = consumer, registry, skills, pool
        self._lanes = frozenset(map(str, lanes))
        self._turn = zlib.crc32(name.encode())
        self._wanted: tuple[tuple[str, ...], int] = ((), 0)

    def follow(self) -> None:
        """Take from the queues that single shops have now; only who takes all lanes, for their messages are of all."""
        known = self._registry.served_shops() if self._lanes.issuperset(LANES) else ()
        cut = self._turn % len(known) if known else 0
        wanted = ((*known[cut:], *known[:cut]), self._pool.slots)  # workers begin at different ends
        if wanted != self._wanted:
            self._wanted = wanted
            self._consumer.serve(*wanted)

    def fetches(self, lane: str, task_type: str) -> bool:
        """Whether this worker fetches parked tasks of this kind."""
        return lane in self._lanes and self._skills.fetches(task_type)
