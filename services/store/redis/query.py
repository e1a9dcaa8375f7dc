"""Filters, order and pages over the indexes of the Redis store."""

from __future__ import annotations

import base64
import binascii
import heapq
import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.task.record import Task, decode
from services.domain.task.search import log_match, match
from services.domain.task.search.match import Condition
from services.domain.task.search.query import GROUPED, SORTS, WAS, Groups, Page, Query, Term, groups_of
from services.domain.task.status import Status
from services.domain.text.said import said
from services.ports import LogLine
from services.store.redis import keys
from services.store.redis import plan as redis_plan
from services.store.redis.glance import Glance, Traced
from services.store.redis.reads import Reads
from services.store.redis.script import PREFIX
from services.store.redis.upkeep.walk import ALL_AT_ONCE, MOST, Place, Window, behind, by_id, walk
from services.store.unreadable import all_sound, name_of

#: candidates that one call reads for a filter that must look into the words of each, and for one that no index answers;
#: beyond, a page is what was met so far, and a place to go on from
SCAN, LOOKED = 20_000, 3_000
#: so few candidates are read and sorted rather than walked in another order, or counted one by one
FEW = 5_000
#: so many of more candidates are looked at for how many match at least
BEGINNING = 2_000
_FIELD = {"created": "created_at", "updated": "updated_at", "priority": "priority", "due": "due_at"}
_LINE = msgspec.msgpack.Decoder(LogLine)
_GLANCE = msgspec.msgpack.Decoder(Glance, strict=False)
_TRACED = msgspec.msgpack.Decoder(Traced, strict=False)
#: a record, and the place where it was met
_Row = tuple[Place, Task]


class _ReadyQuery(msgspec.Struct, kw_only=True):
    """A query made ready."""

    query: Query
    fits: tuple[Condition, ...]
    searched: tuple[str, ...]  #: see ``Page``
    after: Place | None
    plan: redis_plan.QueryPlan
    logs: tuple[Term, ...] = ()  #: what logs must say
    looked: int = 0  #: records that were looked at for it

    @property
    def scans(self) -> bool:
        """Whether records must be looked into."""
        return bool(self.searched)

    @property
    def limit(self) -> int:
        return max(1, self.query.limit)

    def place(self, task: Task | Glance) -> Place:
        return (getattr(task, _FIELD[self.query.sort]), task.task_id.encode())

    def wants(self, task: Glance) -> bool:
        """Whether a record matches; where it stands is what the index told when it was read, it may have moved since"""
        return all(fits(task) for fits in self.fits)

    def places(self, tasks: Iterable[Task]) -> Iterator[_Row]:
        """Records behind the cursor with the places they have themselves."""
        for task in tasks:
            if behind(place := self.place(task), self.after, descending=self.query.descending):
                yield place, task


class Queries(Reads):
    """``query``: the most selective index gives candidates, the records themselves decide."""

    def query(self, query: Query) -> Page:
        """One page.

        Raises:
            UsageError: unknown field, operator, sort or cursor.
        """
        job = self._job(query)
        if job.logs:
            rows, cut = self._saying(job)
        elif job.plan.ids is not None or (query.sort != "created" and job.plan.best.size <= FEW):
            rows, cut = self._sorted(job), None
        else:
            rows, cut = self._walked(job)
        last = rows[job.limit - 1][0] if len(rows) > job.limit else cut
        cursor = None if last is None else _write_cursor(query.sort, last)
        among = job.plan.best.size if job.scans else 0
        looked = job.looked if job.logs else 0
        shown = tuple(task for _, task in rows[: job.limit])
        page = Page(tasks=shown, next=cursor, searched=job.searched, among=among, looked=looked)
        if not query.want_total or job.scans:
            return page
        found, whole = self._total(job, rows, cut)
        return replace(page, total=found if whole else None, at_least=max(found, len(page.tasks)))

    def _job(self, query: Query) -> _ReadyQuery:
        if query.sort not in SORTS:
            raise UsageError(said("query.no_sort", sort=f"{query.sort!r:.40}", known=", ".join(SORTS)), field="sort")
        fits = tuple(match.conditions(log_match.others(query.terms)))
        after = _read_cursor(query.sort, query.cursor) if query.cursor else None
        plan = redis_plan.make(self._link, query.terms)
        scans = [term.field for term in query.terms if match.is_scan(term) and term not in plan.known]
        logs = log_match.of_logs(query.terms)
        return _ReadyQuery(
            query=query, fits=fits, searched=tuple(dict.fromkeys(scans)), after=after, plan=plan, logs=logs
        )

    def grouped(self, terms: Sequence[Term], by: str, most: int) -> Groups:
        """How many there are by a value and by status, of the first ``most`` candidates.

        Raises:
            UsageError: the question makes no sense.
        """
        if by not in GROUPED:
            raise UsageError(said("query.no_group", by=f"{by!r:.40}", known=", ".join(GROUPED)), field="by")
        job = self._job(Query(terms=tuple(terms)))
        if job.logs:
            raise UsageError(said("query.logs_grouped"), field="by")
        known = redis_plan.count_by_type(self._link, terms) if by == "type" else None
        if known is not None:
            return groups_of({key: (number, "") for key, number in known.items()}, whole=True)
        found: dict[tuple[str, str], tuple[int, str]] = {}
        seen = 0
        for part in self._parts_of_all(job):
            looked, seen = part[: max(0, most - seen)], seen + len(part)
            for _, task, _stored in self._glances(job, looked):
                key = (str(getattr(task, GROUPED[by])), task.status)
                number, sample = found.get(key, (0, ""))
                found[key] = (number + 1, max(sample, task.task_id))
            if seen > most:
                return groups_of(found, whole=False)
        return groups_of(found, whole=True)

    def _parts_of_all(self, job: _ReadyQuery) -> Iterator[Sequence[Place]]:
        """All candidates, some at a time; those that changed within the time that is asked for where they are fewer."""
        if job.plan.ids is not None:
            yield _by_name(job.plan.ids)
        window = _window(job, "updated")
        changed = self._link.call("ZCOUNT", keys.UPDATED, window.low, window.high)
        few = job.plan.ids is None and changed < job.plan.best.size
        for places in _once(self._by_update(job, MOST)) if few else self._by_created(job, MOST):
            for start in range(0, len(places), MOST):
                yield places[start : start + MOST]

    # ---------------------------------------------------------------------- order
    def _places(self, job: _ReadyQuery) -> Iterator[list[Place]]:
        """Candidates in the order of the query."""
        sort, first = job.query.sort, job.limit + 1
        if sort == "created":
            yield from self._by_created(job, first)
        elif sort == "updated":
            yield from _once(self._by_update(job, first))
        elif sort == "priority":
            yield from _once(self._by_priority(job))
        else:
            yield from _once(self._by_due(job))

    def _by_created(self, job: _ReadyQuery, first: int) -> Iterator[list[Place]]:
        best = job.plan.best
        yield from walk(self._link, best.names, _window(job, "created"), first)

    def _by_update(self, job: _ReadyQuery, first: int) -> Iterator[list[Place]]:
        """The last ones again at the end: who changes meanwhile leaves what is still to be read for what was read."""
        window, newest = _window(job, "updated"), None
        for places in walk(self._link, (keys.UPDATED,), window, first):
            newest = newest or places[0]
            yield places
        if newest is not None and window.descending and window.after is None:
            since = replace(window, low=str(newest[0]))
            yield from walk(self._link, (keys.UPDATED,), since, ALL_AT_ONCE, most=ALL_AT_ONCE)

    def _by_priority(self, job: _ReadyQuery) -> Iterator[list[Place]]:
        """One priority after the other, each in the order of the ids."""
        down = job.query.descending
        known = redis_plan.count_by_priority(self._link, job.query.terms)
        for priority in sorted(known, reverse=down):
            names = [part.name for part in job.plan.parts if part.priority == priority]
            if job.after is None or priority == job.after[0] or (priority < job.after[0]) == down:
                yield from by_id(self._link, names, priority, Window(descending=down, after=job.after))

    def _by_due(self, job: _ReadyQuery) -> Iterator[list[Place]]:
        """Those with a due time by it, all others (due time 0) by their ids."""
        window = Window(descending=job.query.descending, after=job.after)
        timed = {Status.SCHEDULED: keys.PLANNED, Status.RETRYING: keys.RETRIES}
        states = {part.status for part in job.plan.parts}
        names = [name for status, name in timed.items() if status in states]
        others = [part.name for part in job.plan.parts if part.status not in timed]
        if not window.descending and (job.after is None or job.after[0] == 0):
            yield from by_id(self._link, others, 0, window)
        if not window.descending or job.after is None or job.after[0] > 0:
            yield from walk(self._link, names, window, job.limit + 1)
        if window.descending:
            yield from by_id(self._link, others, 0, window)

    def _walked(self, job: _ReadyQuery) -> tuple[list[_Row], Place | None]:
        """Up to one row more than asked for; the place where a long scan was cut short."""
        rows: list[_Row] = []
        seen, end = 0, None
        furthest = min if job.query.descending else max  #: the last ones may be read again at the end
        for places in self._places(job):
            for start in range(0, len(places), MOST):
                part = places[start : start + MOST]
                rows += self._matches(job, part)
                if len(rows) > job.limit:
                    return _in_order(job, rows)[: job.limit + 1], None
                seen += len(part)
                end = part[-1] if end is None else furthest(end, part[-1])
                if seen >= (SCAN if job.scans else LOOKED):
                    return _in_order(job, rows), end
        return _in_order(job, rows), None

    def _saying(self, job: _ReadyQuery) -> tuple[list[_Row], Place | None]:
        """Rows whose logs say so, up to one more than asked for; the place where the look was cut short."""
        rows: list[_Row] = []
        until = time.monotonic() + log_match.LOOK_S
        places: Iterator[Sequence[Place]] = self._places(job)
        if job.plan.ids is not None:
            known = job.places(task for _, task in self._matches(job, _by_name(job.plan.ids)))
            places = iter([sorted((place for place, _ in known), reverse=job.query.descending)])
        for several in places:
            for start in range(0, len(several), log_match.AT_ONCE):
                part = several[start : start + log_match.AT_ONCE]
                rows += self._with_lines(list(self._matches(job, part)), job.logs)
                job.looked += len(part)
                if len(rows) > job.limit:
                    return rows[: job.limit + 1], None
                if job.looked >= log_match.LOOK_MOST or time.monotonic() > until:
                    return rows, part[-1]
        return _in_order(job, rows), None

    def _with_lines(self, rows: Sequence[_Row], terms: Sequence[Term]) -> list[_Row]:
        holds = log_match.finder(terms)
        first = log_match.ATTEMPTS - 1
        asked = [range(max(1, task.attempt - first), task.attempt + 1) for _, task in rows]
        names = [keys.log(task.task_id, n) for (_, task), numbers in zip(rows, asked, strict=True) for n in numbers]
        logs = iter(self._link.many([("LRANGE", name, 0, -1) for name in names]) if names else ())
        found = []
        for row, numbers in zip(rows, asked, strict=True):
            lines = [line for _ in numbers for line in next(logs)]
            if holds(one.text for one in all_sound(_LINE.decode, lines, "log line")):
                found.append(row)
        return found

    def _sorted(self, job: _ReadyQuery) -> list[_Row]:
        """The first rows of few candidates, which are all read."""
        pick = heapq.nlargest if job.query.descending else heapq.nsmallest
        return pick(job.limit + 1, job.places(task for _, task in self._all_matches(job)), key=_first)

    # -------------------------------------------------------------------- records
    def _all_matches(self, job: _ReadyQuery) -> Iterator[_Row]:
        if job.plan.ids is not None:
            yield from self._matches(job, _by_name(job.plan.ids))
        best = job.plan.best
        for places in walk(self._link, best.names, Window(descending=False), MOST):
            for start in range(0, len(places), MOST):
                yield from self._matches(job, places[start : start + MOST])

    def _matches(self, job: _ReadyQuery, places: Sequence[Place]) -> Iterator[_Row]:
        """The records at these places that are wanted; only these are unpacked whole."""
        for place, _, stored in self._glances(job, places):
            try:
                yield place, decode(stored)
            except (msgspec.DecodeError, RecursionError):
                continue  # not a record: the next claim puts it aside

    def _glances(self, job: _ReadyQuery, places: Sequence[Place]) -> Iterator[tuple[Place, Glance, bytes]]:
        """What a filter looks at of the same, and as they are stored."""
        if not places:
            return
        found = self._link.call("MGET", *(keys.TASK.encode() + task_id for _, task_id in places))
        decoder = _TRACED if WAS in job.searched else _GLANCE
        for place, stored in zip(places, found, strict=True):
            if stored is None:
                continue
            try:
                glance = decoder.decode(stored[PREFIX:])
                if job.wants(glance):
                    yield place, glance, stored[PREFIX:]
            except (msgspec.DecodeError, RecursionError):
                continue

    def _total(self, job: _ReadyQuery, rows: Sequence[_Row], cut: Place | None) -> tuple[int, bool]:
        """How many match, and whether these are all of them: where no index knows that, no more than a few records are
        looked at for it.
        """
        if job.after is None and cut is None and len(rows) <= job.limit:
            return len(rows), True
        total = redis_plan.total(self._link, job.plan, job.query.terms)
        if total is not None:
            return total, True
        if job.after is None and cut is not None and job.query.sort == "created":
            return len(rows), False  # the page itself looked at so many
        return self._counted(job)

    def _counted(self, job: _ReadyQuery) -> tuple[int, bool]:
        """Matches among the newest candidates, and whether these were all."""
        every = replace(job, query=Query(terms=job.query.terms), after=None)
        if job.plan.ids is not None:
            return sum(1 for _ in self._glances(every, _by_name(job.plan.ids))), True
        most = FEW if job.plan.best.size <= FEW else BEGINNING
        seen = found = 0
        for places in self._by_created(every, MOST):
            for start in range(0, len(places), MOST):
                part = places[start : start + MOST]
                if seen >= most:
                    return found, False
                found += sum(1 for _ in self._glances(every, part))
                seen += len(part)
        return found, True


def _first(row: _Row) -> Place:
    return row[0]


def _in_order(job: _ReadyQuery, rows: list[_Row]) -> list[_Row]:
    """All of them, of which the last ones may have been met again."""
    return sorted(rows, key=_first, reverse=job.query.descending)


def _once(several: Iterator[list[Place]]) -> Iterator[list[Place]]:
    """The same without who is met again, at another place of an order in which tasks move."""
    met: set[bytes] = set()
    for places in several:
        fresh = [place for place in places if place[1] not in met]
        met.update(task_id for _, task_id in fresh)
        yield fresh


def _by_name(ids: Sequence[str]) -> list[Place]:
    return [(0, task_id.encode()) for task_id in ids]


def _window(job: _ReadyQuery, field: str) -> Window:
    low, low_in, high, high_in = match.bounds(job.query.terms, field)
    return Window(
        low=f"{'' if low_in else '('}{low}",
        high=f"{'' if high_in else '('}{high}",
        descending=job.query.descending,
        after=job.after,
    )


def _write_cursor(sort: str, place: Place) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode((sort, place[0], name_of(place[1])))).decode()


def _read_cursor(sort: str, cursor: str) -> Place:
    try:
        packed = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        kind, score, task_id = msgspec.msgpack.decode(packed, type=tuple[str, int, str])
    except (ValueError, binascii.Error, msgspec.DecodeError) as exc:
        raise UsageError(said("query.cursor"), field="cursor") from exc
    if kind != sort:
        raise UsageError(said("query.cursor_order", sort=f"{kind:.40}"), field="cursor")
    return score, task_id.encode()
