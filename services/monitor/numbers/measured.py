"""How long tasks of a type, a shop and a lane ran of late, and how many came: asked of the store, kept for seconds."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Ran, Runs
from services.domain.insight.forecast.flow import WINDOW_PARTS as PARTS
from services.domain.insight.forecast.flow import steady
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status
from services.ports import Store

#: the last successes that a duration is measured by
SAMPLE = 50
#: for so long an answer is good
KEPT_MS = 10_000
#: the newest tasks that a rate of arrivals is measured by, and within which time they must have come
ARRIVED, ARRIVED_MS = 100, 5 * 60_000
#: the newest successes of many shops that are looked at together, and so many shops are asked for one by one
PRIMED, SINGLY = 1_000, 10
_MOST_KEPT = 2_000

V = TypeVar("V")


def in_shop(shop: str, priority: int) -> tuple[Term, ...]:
    """Of a shop, and more urgent than this."""
    return equals("shop", shop), Term(field="priority", op=">", number=priority)


def _since(now: int) -> Term:
    return Term(field="created", op=">", number=now - ARRIVED_MS)


def _rate(found: Sequence[Task], now: int, span_ms: int) -> float:
    """Tasks a second, of the newest that came within a time."""
    span = now - found[-1].created_at if len(found) == ARRIVED else span_ms
    return len(found) * 1000 / max(1000, span)


def _here(task_type: str, shop: str) -> tuple[str, tuple[Term, ...]]:
    """The name under which the successes of a type in a shop are kept, and what they are asked for by."""
    return "ended", (equals("type", task_type), equals("shop", shop))


class Measured:
    """Blocking questions; thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[int, object]] = {}

    def usual(self, task_type: str, shop: str, declared_s: float) -> Runs:
        """How long tasks of a type run in a shop (``platform:shop_id``; "": in any)."""
        everywhere = self._ended(equals("type", task_type))
        here = self._ended(*_here(task_type, shop)[1]) if shop else durations.NOTHING
        return durations.best(here, everywhere, declared_s)

    def on_platform(self, task_type: str, platform: str, declared_s: float) -> Runs:
        """How long tasks of a type run in the shops of a platform."""
        everywhere = self._ended(equals("type", task_type))
        here = self._ended(equals("type", task_type), equals("platform", platform))
        return durations.best(here, everywhere, declared_s)

    def newest(self, task_type: str, platform: str) -> tuple[Ran, ...]:
        """The last successful runs of a type in the shops of a platform, the newest first."""

        def look() -> tuple[Ran, ...]:
            terms = (equals("type", task_type), equals("platform", platform), equals("status", Status.SUCCEEDED))
            page = self._store.query(Query(terms=terms, sort="updated", limit=durations.LATE, want_total=False))
            return tuple(durations.ran(page.tasks))

        return self._once(("newest", task_type, platform), look)

    def prime(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Ask at once what ``usual`` will be asked of these types, each in a shop: of many by the newest successes in
        all these shops, and only of a few of those that had none among them by questions of their own.
        """
        now = self._store.now_ms()
        with self._lock:
            missing = [pair for pair in dict.fromkeys(pairs) if not self._is_fresh(_here(*pair), now)]
        if len(missing) <= SINGLY:
            return
        kinds, shops = sorted({kind for kind, _ in missing}), sorted({shop for _, shop in missing})
        terms = (equals("type", *kinds), equals("shop", *shops), equals("status", Status.SUCCEEDED))
        page = self._store.query(Query(terms=terms, sort="updated", limit=PRIMED, want_total=False))
        ran: dict[tuple[str, str], list[Task]] = defaultdict(list)
        for task in page.tasks:
            ran[task.task_type, task.shop].append(task)
        few = [pair for pair in missing if page.next is not None and len(ran[pair]) < durations.ENOUGH]
        with self._lock:
            for pair in set(missing) - set(few[:SINGLY]):
                self._kept[_here(*pair)] = (now, durations.of_tasks(ran[pair][:SAMPLE]))

    def of_lane(self, lane: str) -> Runs:
        """How long tasks of a lane run, whatever they do."""
        return self._ended(equals("lane", lane))

    def arrivals(self, *terms: Term) -> float:
        """Tasks a second that came of late and match."""

        def count() -> float:
            now = self._store.now_ms()
            found = self._store.query(Query(terms=(*terms, _since(now)), limit=ARRIVED, want_total=False)).tasks
            return _rate(found, now, ARRIVED_MS)

        return self._once(("arrivals", terms), count)

    def lasting(self, *terms: Term) -> float:
        """Tasks a second that may be expected to go on coming of what matches: a batch that came at once is none."""

        def count() -> float:
            now, width = self._store.now_ms(), ARRIVED_MS // PARTS
            parts = []
            for end in range(now, now - PARTS * width, -width):
                span = (Term(field="created", op=">", number=end - width), Term(field="created", op="<=", number=end))
                parts.append(self._store.query(Query(terms=(*terms, *span), limit=1)).number.number)
            return steady(parts, width / 1000)

        return self._once(("lasting", terms), count)

    def prime_arrivals(self, rows: Iterable[tuple[str, int]]) -> None:
        """Ask at once what ``arrivals`` will be asked of these shops and priorities (see ``in_shop``): of many by the
        newest tasks of all these shops, over as long as these reach back.
        """
        now = self._store.now_ms()
        with self._lock:
            missing = [row for row in dict.fromkeys(rows) if not self._is_fresh(("arrivals", in_shop(*row)), now)]
        if len(missing) <= SINGLY:
            return
        shops = equals("shop", *sorted({shop for shop, _ in missing}))
        page = self._store.query(Query(terms=(shops, _since(now)), limit=PRIMED, want_total=False))
        span = ARRIVED_MS if page.next is None or not page.tasks else now - page.tasks[-1].created_at
        came: dict[str, list[Task]] = defaultdict(list)
        for task in page.tasks:
            came[task.shop].append(task)
        with self._lock:
            for shop, priority in missing:
                found = [task for task in came[shop] if task.priority > priority][:ARRIVED]
                self._kept["arrivals", in_shop(shop, priority)] = (now, _rate(found, now, span))

    def _ended(self, *terms: Term) -> Runs:
        def look() -> Runs:
            wanted = (*terms, equals("status", Status.SUCCEEDED))
            page = self._store.query(Query(terms=wanted, sort="updated", limit=SAMPLE, want_total=False))
            return durations.of_tasks(page.tasks)

        return self._once(("ended", terms), look)

    def _once(self, key: Hashable, ask: Callable[[], V]) -> V:
        now = self._store.now_ms()
        with self._lock:
            if self._is_fresh(key, now):
                return self._kept[key][1]  # type: ignore[return-value]
        found = ask()
        with self._lock:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = (now, found)
        return found

    def _is_fresh(self, key: Hashable, now: int) -> bool:
        kept = self._kept.get(key)
        return kept is not None and 0 <= now - kept[0] < KEPT_MS
