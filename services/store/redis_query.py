"""Filters, order and pages over the indexes of the Redis store."""

from __future__ import annotations

import base64
import binascii
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from services.domain.errors import UsageError
from services.domain.query import SORTS, Page, Query
from services.domain.task import Task
from services.store import keys, redis_plan, redis_terms
from services.store.redis_reads import Reads
from services.store.redis_terms import Condition
from services.store.redis_walk import MOST, Place, Walk, Window

#: candidates that one call reads for a filter that must look at each of them
SCAN = 20_000
#: so few candidates are read and sorted rather than walked in another order, or counted one by one
FEW = 5_000
_FIELD = {"created": "created_at", "updated": "updated_at", "priority": "priority", "due": "due_at"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A query made ready."""

    query: Query
    fits: tuple[Condition, ...]
    scans: bool
    after: Place | None
    sources: tuple[redis_plan.Source, ...]

    def accepts(self, task: Task) -> bool:
        return all(fits(task) for fits in self.fits)

    def place(self, task: Task) -> Place:
        return (getattr(task, _FIELD[self.query.sort]), task.task_id.encode())

    def behind(self, place: Place) -> bool:
        """Whether a place lies behind the cursor."""
        if self.after is None:
            return True
        return place < self.after if self.query.descending else place > self.after


class Queries(Reads):
    """``query``: the most selective index gives candidates, the records themselves decide."""

    def query(self, query: Query) -> Page:
        """One page.

        Raises:
            UsageError: unknown field, operator, sort or cursor.
        """
        job = self._job(query)
        walked = self._walked(job)
        if walked is None:
            rows, place = self._sorted_page(job), None
        else:
            rows, place = self._walked_page(job, walked)
        limit = max(1, query.limit)
        last = job.place(rows[limit - 1]) if len(rows) > limit else place
        total = self._total(job, rows) if query.want_total and not job.scans else None
        return Page(
            tasks=tuple(rows[:limit]), next=None if last is None else _write_cursor(query.sort, last), total=total
        )

    def _job(self, query: Query) -> _Job:
        if query.sort not in SORTS:
            raise UsageError(f"tasks cannot be sorted by {query.sort!r:.40}; use {', '.join(SORTS)}", field="sort")
        fits = tuple(redis_terms.conditions(query.terms))
        after = _read_cursor(query.sort, query.cursor) if query.cursor else None
        scans = any(redis_terms.is_scan(term) for term in query.terms)
        found = tuple(redis_plan.sources(self._link, query.terms))
        return _Job(query=query, fits=fits, scans=scans, after=after, sources=found)

    def _walked(self, job: _Job) -> Walk | None:
        """A walk in the order asked for, None where there is no index in that order or sorting a few is cheaper."""
        best = job.sources[0]
        if job.query.sort == "created":
            return Walk(self._link, best.names, self._window(job, "created"))
        if job.query.sort == "updated" and best.size > FEW:
            return Walk(self._link, (keys.UPDATED,), self._window(job, "updated"))
        return None

    def _window(self, job: _Job, field: str, *, everything: bool = False) -> Window:
        low, low_in, high, high_in = redis_terms.bounds(job.query.terms, field)
        return Window(
            low=f"{'' if low_in else '('}{low}",
            high=f"{'' if high_in else '('}{high}",
            descending=job.query.descending,
            after=None if everything else job.after,
        )

    def _walked_page(self, job: _Job, walk: Walk) -> tuple[list[Task], Place | None]:
        """Up to one row more than asked for; the place where a long scan was cut short."""
        wanted = max(1, job.query.limit) + 1
        rows: list[Task] = []
        seen, size = 0, min(wanted, MOST)
        while places := walk.take(size):
            for start in range(0, len(places), MOST):
                part = places[start : start + MOST]
                rows += [task for task in self._load(part) if job.accepts(task) and job.behind(job.place(task))]
                if len(rows) >= wanted:
                    return rows[:wanted], None
                seen += len(part)
                if job.scans and seen >= SCAN:
                    return rows, part[-1]
            size = min(size * 2, MOST)
        return rows, None

    def _sorted_page(self, job: _Job) -> list[Task]:
        """The first rows of an order without an index: every candidate is read."""
        wanted = max(1, job.query.limit) + 1
        found = (task for task in self._candidates(job) if job.behind(job.place(task)))
        pick = heapq.nlargest if job.query.descending else heapq.nsmallest
        return pick(wanted, found, key=job.place)

    def _candidates(self, job: _Job) -> Iterator[Task]:
        """Every match, in no order."""
        walk = Walk(self._link, job.sources[0].names, self._window(job, "created", everything=True))
        while places := walk.take(MOST):
            for start in range(0, len(places), MOST):
                yield from (task for task in self._load(places[start : start + MOST]) if job.accepts(task))

    def _load(self, places: Sequence[Place]) -> Iterator[Task]:
        found = self.get([task_id.decode() for _, task_id in places])
        return (task for task in found if task is not None)

    def _total(self, job: _Job, rows: Sequence[Task]) -> int | None:
        """How many match in all, where that is known without reading more than a few records."""
        if job.after is None and len(rows) <= max(1, job.query.limit):
            return len(rows)
        best = job.sources[0]
        total = redis_plan.count_by_kind(self._link, job.query.terms)
        if total is None and list(job.query.terms) == [best.term]:
            total = best.size
        if total is None and best.term is not None:
            total = redis_plan.count_pairs(self._link, best, job.query.terms)
        if total is None and best.size <= FEW:
            total = sum(1 for _ in self._candidates(job))
        return total


def _write_cursor(sort: str, place: Place) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode((sort, place[0], place[1].decode()))).decode()


def _read_cursor(sort: str, cursor: str) -> Place:
    try:
        packed = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        kind, score, task_id = msgspec.msgpack.decode(packed, type=tuple[str, int, str])
    except (ValueError, binascii.Error, msgspec.DecodeError) as exc:
        raise UsageError("the place to go on from is damaged; start again at the first page", field="cursor") from exc
    if kind != sort:
        raise UsageError(f"the place to go on from belongs to the order by {kind:.40}", field="cursor")
    return score, task_id.encode()
