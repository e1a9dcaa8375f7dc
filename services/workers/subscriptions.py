"""Which queues a worker takes from besides its lanes, and which kinds of parked tasks it fetches."""

from __future__ import annotations

import zlib

from services.domain.fleet.worker import Heard
from services.domain.task.lane import LANES
from services.engine.registry import Registry
from services.ports import Consumer
from services.ports.upkeep import Parked
from services.workers.abilities import Abilities
from services.workers.parts import WorkerOptions
from services.workers.slots import SlotPool


class Subscriptions:
    """Follows the queues of single shops as they come and go. Used by one thread at a time."""

    def __init__(
        self,
        consumer: Consumer,
        registry: Registry,
        abilities: Abilities,
        pool: SlotPool,
        options: WorkerOptions,
        *,
        name: str,
    ) -> None:
        """``name`` is the worker's."""
        self._consumer, self._registry, self._abilities, self._pool = consumer, registry, abilities, pool
        self._lanes, self._node = frozenset(map(str, options.lanes)), options.node
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

    def fetches(self, lane: str, task_type: str, node: str = "") -> bool:
        """Whether this worker fetches parked tasks of this kind; ``node``: that they wait for."""
        return node in ("", self._node) and lane in self._lanes and self._abilities.fetches(task_type)

    def wanted(self, heard: Heard) -> tuple[Parked, ...]:
        """What to fetch of that which waits for a capable worker, and for this node."""
        any_ = [kind for kind in sorted(heard.unserved) if self.fetches(*kind)]
        return (*any_, *((*kind, self._node) for kind in sorted(heard.homebound) if self.fetches(*kind)))
