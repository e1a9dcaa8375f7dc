"""Questions about what waits in a queue, answered by the records: no message is taken off it to be looked at."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import msgspec

from services.domain.task.queues import QueueOf
from services.domain.task.record import Task
from services.engine.paged_tasks import queue_of, tasks_in
from services.engine.registry import Registry
from services.ports import Store

PEEK = 10


class Peeked(msgspec.Struct, frozen=True, kw_only=True):
    """The first that wait in a queue; ``more``: there are others behind them."""

    queue: QueueOf
    tasks: tuple[Task, ...]
    more: bool = False


class QueueQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store, registry: Registry, delays: Iterable[int]) -> None:
        """``delays``: seconds of the back-off queues."""
        self.store, self.registry, self.delays = store, registry, tuple(sorted(delays))

    def named(self, name: str) -> QueueOf:
        """The queue of this name.

        Raises:
            NotFound: there is no such queue.
            UsageError: its messages are no waiting tasks.
        """
        return queue_of(self.store, name, self.delays)

    def peek(self, name: str, limit: int = PEEK) -> Peeked:
        """The tasks that wait in it, the oldest first; of a back-off queue what is due first.

        Raises:
            NotFound: there is no such queue.
            UsageError: its messages are no waiting tasks.
        """
        queue = self.named(name)
        found = tuple(islice(tasks_in(self.store, queue, min(500, max(50, limit + 1))), limit + 1))
        return Peeked(queue=queue, tasks=found[:limit], more=len(found) > limit)
