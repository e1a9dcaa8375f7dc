"""The tasks that wait in one queue, by the records, page by page: they may change while one looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from services.domain.fleet import shop_queue
from services.domain.task import queues
from services.domain.task.queues import QueueOf
from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.ports import Store

PAGE = 500


def queue_of(store: Store, name: str, delays: Iterable[int]) -> QueueOf:
    """The queue of this name; ``delays``: seconds of the back-off queues.

    Raises:
        NotFound: there is no such queue.
        UsageError: its messages are no waiting tasks.
    """
    return queues.queue_of(name, sorted(store.documents(shop_queue.KIND)), delays)


def tasks_in(store: Store, queue: QueueOf, page: int = PAGE) -> Iterator[Task]:
    """The oldest first; of a back-off queue what is due first."""
    sort = "due" if queue.kind == queues.DELAY else "created"
    query = Query(terms=queue.terms(), sort=sort, descending=False, limit=page, want_total=False)
    while True:
        found = store.query(query)
        yield from (task for task in found.tasks if queue.holds(task))
        if found.next is None:
            return
        query = replace(query, cursor=found.next)
