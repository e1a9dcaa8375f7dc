"""How long the task has waited that has waited longest."""

from __future__ import annotations

from services.domain.task.search.query import Query, Term
from services.ports import Store

#: the oldest records that are looked at: one that was planned long ahead is older than it waits
ASKED = 20


def waited_ms(store: Store, *terms: Term) -> int:
    """Of those that match, without a break; 0 where none waits. Blocking."""
    tasks = store.query(Query(terms=terms, descending=False, limit=ASKED, want_total=False)).tasks
    now = store.now_ms()
    return max((max(0, now - task.waits_since) for task in tasks), default=0)
