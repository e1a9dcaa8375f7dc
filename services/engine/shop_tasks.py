"""All tasks of a shop in some statuses, page by page: they may change while one looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.ports import Store

BATCH = 200


def tasks_of(store: Store, shop: str, statuses: Sequence[str]) -> Iterator[Task]:
    """The oldest first."""
    terms = (equals("shop", shop), equals("status", *statuses))
    query = Query(terms=terms, sort="created", descending=False, limit=BATCH, want_total=False)
    while True:
        page = store.query(query)
        yield from page.tasks
        if page.next is None:
            return
        query = replace(query, cursor=page.next)
