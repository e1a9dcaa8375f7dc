"""The tasks of a shop, or those that wait in one queue, page by page: they may change while one looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from services.domain.fleet import shop_queue
from services.domain.task import queues
from services.domain.task.queues import QueueOf
from services.domain.task.record import Task
from services.domain.task.search.query import Query, each, equals
from services.ports import Store

BATCH, PAGE = 200, 500


def tasks_of(store: Store, shop: str, statuses: Sequence[str]) -> Iterator[Task]:
    """All of a shop in some statuses, the oldest first."""
    terms = (equals("shop", shop), equals("status", *statuses))
    return each(store.query, Query(terms=terms, sort="created", descending=False, limit=BATCH, want_total=False))


def queue_of(store: Store, name: str, delays: Iterable[int]) -> QueueOf:
    """The queue of this name; ``delays``: seconds of the back-off queues.

    Raises:
        NotFound: there is no such queue.
        UsageError: its messages are no waiting tasks.
    """
    return queues.queue_of(name, sorted(store.documents(shop_queue.KIND)), delays)


def tasks_in(store: Store, queue: QueueOf, page: int = PAGE, most: int | None = None) -> Iterator[Task]:
    """Those that wait in a queue, the oldest first; of a back-off queue what is due first. ``most``: about so many are
    looked at, for a lane has those that wait in its shops' own queues, too.
    """
    sort = "due" if queue.kind == queues.DELAY else "created"
    query = Query(terms=queue.terms(), sort=sort, descending=False, limit=page, want_total=False)
    return filter(queue.holds, each(store.query, query, most))
