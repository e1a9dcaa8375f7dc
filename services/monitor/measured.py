"""How long tasks of a type, a shop and a lane ran of late, and how many came: asked of the store, kept for seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

from services.domain.insight import runs
from services.domain.insight.runs import Runs
from services.domain.query import Query, Term, equals
from services.domain.status import Status
from services.ports import Store

#: the last successes that a duration is measured by
SAMPLE = 50
#: for so long an answer is good
KEPT_MS = 10_000
#: the newest tasks that a rate of arrivals is measured by, and within which time they must have come
ARRIVED, ARRIVED_MS = 100, 5 * 60_000
_MOST_KEPT = 2_000

V = TypeVar("V")


class Measured:
    """Blocking questions; thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[int, object]] = {}

    def usual(self, task_type: str, shop: str, declared_s: float) -> Runs:
        """How long tasks of a type run in a shop (``platform:shop_id``; "": in any)."""
        kind = equals("type", task_type)
        everywhere = self._ended(kind)
        here = self._ended(kind, equals("shop", shop)) if shop else runs.NOTHING
        return runs.best(here, everywhere, declared_s)

    def of_lane(self, lane: str) -> Runs:
        """How long tasks of a lane run, whatever they do."""
        return self._ended(equals("lane", lane))

    def arrivals(self, *terms: Term) -> float:
        """Tasks a second that came of late and match."""

        def count() -> float:
            now = self._store.now_ms()
            recent = Term(field="created", op=">", number=now - ARRIVED_MS)
            found = self._store.query(Query(terms=(*terms, recent), limit=ARRIVED, want_total=False)).tasks
            span = now - found[-1].created_at if len(found) == ARRIVED else ARRIVED_MS
            return len(found) * 1000 / max(1000, span)

        return self._once(("arrivals", terms), count)

    def _ended(self, *terms: Term) -> Runs:
        def look() -> Runs:
            wanted = (*terms, equals("status", Status.SUCCEEDED))
            page = self._store.query(Query(terms=wanted, sort="updated", limit=SAMPLE, want_total=False))
            return runs.of_tasks(page.tasks)

        return self._once(("ended", terms), look)

    def _once(self, key: Hashable, ask: Callable[[], V]) -> V:
        now = self._store.now_ms()
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and 0 <= now - kept[0] < KEPT_MS:
            return kept[1]  # type: ignore[return-value]
        found = ask()
        with self._lock:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = (now, found)
        return found
