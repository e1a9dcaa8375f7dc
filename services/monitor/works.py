"""Whether a work has run, asked of the work and not of a task: its runs of a day, its last success, its next plan."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as plans
from services.domain.task import ledger
from services.domain.task.ledger import Day, Done, Failure, Ran
from services.domain.task.record import Task
from services.domain.task.search import filter_time, match
from services.domain.task.search.query import Query, Term, each, equals
from services.domain.task.status import ACTIVE, Status
from services.domain.text.said import said
from services.domain.types import task_type
from services.engine import recipe
from services.engine.registry import Registry
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor.schedules import ScheduleQueries, ScheduleRow
from services.monitor.waits.gates import GateLook
from services.ports import Store

PAGE, MOST = 500, 5_000
#: of dead letters the runs that failed; the others never ran
_FAILED = (equals("status", Status.DEAD), Term(field="attempts", op=">", number=0))
_SUCCEEDED = (equals("status", Status.SUCCEEDED),)


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """When it would run next, UTC ms, and by what: a schedule, or a task that is there already."""

    at: int
    schedule: str = ""
    task_id: str = ""


class Uncounted(StrEnum):
    """Why runs may be missing whose records are gone."""

    NO = ""  #: none is missing
    OLD = "old"  #: the day is longer ago than days are counted for
    MANY = "many"  #: they are counted by their parameters, and none were named
    UNREAD = "unread"  #: what is kept of it cannot be read
    NEVER = "never"  #: no two tasks of the type are the same work, so nothing counts them


class WorkStory(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a work; instants are UTC ms."""

    shop: str  #: platform:shop_id
    task_type: str
    begins: int  #: of the day that was asked about
    ends: int
    zone: str
    runs: tuple[Task, ...] = ()  #: tasks of which an attempt began on that day, the oldest first
    ended: Day | None = None  #: what ended on that day, as the ledger has it; None: nothing
    gone: int = 0  #: of those, the ones whose records are gone
    uncounted: Uncounted = Uncounted.NO  #: records may be gone of which no ledger tells
    active: tuple[Task, ...] = ()  #: those that have not ended, the oldest first
    gates: Mapping[str, str] = {}  #: by id, of those that wait: where
    done: Done | None = None  #: the last success that is known
    failed: Failure | None = None  #: the last failure that is known
    letter: Task | None = None  #: its record, while that is there
    planned: Planned | None = None
    complete: bool = True  #: False where it has more tasks than are looked at
    days: tuple[Day, ...] = ()  #: what the ledger has of the last 30 days, the oldest first
    asks_since: int = 0  #: a success since then makes creating it ask for a reason; 0: none does
    repeatable: bool = True  #: the type may do its work twice
    one_work: bool = True  #: False: several works are meant, or the type tells none from another
    apart: bool = False  #: its works differ by their parameters, and none were named

    @property
    def empty(self) -> bool:
        """Whether nothing at all is known of the work."""
        return not (self.runs or self.active or self.days or self.done or self.failed or self.planned)

    @property
    def counted(self) -> bool:
        """Whether a run of that day cannot be missing because its record is gone."""
        return self.uncounted == Uncounted.NO

    @property
    def later(self) -> Done | None:
        """The last success where it came after that day, and says nothing of it."""
        return self.done if self.done is not None and self.done.at >= self.ends else None

    @property
    def known(self) -> bool:
        """Whether what is not told here did not happen on that day."""
        return self.counted and self.complete


class TypeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of all works of one type for one shop."""

    task_type: str
    done: Done | None = None  #: the last success
    failed: Failure | None = None  #: the last failure
    letter: Task | None = None  #: its record, while that is there
    planned: Planned | None = None


class WorkQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(
        self, store: Store, registry: Registry, kept_ms: int = 0, schedules: ScheduleQueries | None = None
    ) -> None:
        """``kept_ms``: how long the record of a success is kept, 0 for ever; ``schedules``: of who asks beside."""
        self._store, self._registry, self._kept_ms = store, registry, kept_ms
        self._schedules = schedules or ScheduleQueries(store, registry)
        self._gates = GateLook(store, registry)

    def day(self, words: str) -> tuple[int, int, str] | None:
        """First instant of a day and the one behind it, and the zone that it is one in; None for what is no day."""
        zone = fleet_zone(self._store) or DEFAULT_ZONE
        span = filter_time.Times(self._store.now_ms(), zone).span(words)
        return None if span is None or span[0] == span[1] else (*span, zone)

    def story(
        self, shop: str, kind: str, day: tuple[int, int, str], payload: Mapping[str, Any] | None = None
    ) -> WorkStory:
        """What is known of a type for a shop; ``payload``: of the work with this one only.

        Raises:
            UsageError: the payload is not JSON, or the type does not ask for one.
        """
        rows = _fitting(self._schedules.rows(1), self._registry.shops().get(shop))
        return self._story(rows, shop, kind, day, payload)

    def stories(self, works: Sequence[tuple[str, str]], day: tuple[int, int, str]) -> tuple[WorkStory, ...]:
        """The same of several works, each a shop and a type; the schedules are read once."""
        rows, shops = self._schedules.rows(1), self._registry.shops()
        fitting = {key: _fitting(rows, shops.get(key)) for key in {shop for shop, _kind in works}}
        return tuple(self._story(fitting[shop], shop, kind, day, None) for shop, kind in works)

    def _story(
        self,
        schedules: Sequence[ScheduleRow],
        shop: str,
        kind: str,
        day: tuple[int, int, str],
        payload: Mapping[str, Any] | None,
    ) -> WorkStory:
        """``schedules``: those of the shop."""
        begins, ends, zone = day
        work = self._work(shop, kind, payload)
        of_it = (equals("shop", shop), equals("type", kind))
        changed = list(self._since(of_it, begins))
        open_ = list(self._each((*of_it, equals("status", *ACTIVE))))
        tasks = [task for task in changed if not work or task.work == work]
        active = [task for task in open_ if not work or task.work == work]
        policy = self._registry.task_type(kind)
        known = self._store.ran([work])[0] if work else None
        unread = bool(work) and ledger.unread(self._store.last_done([work])[0])
        done, failed, letter = self._last(of_it, work, None if unread else known)
        ended = _on(known, begins, ends)
        here = sum(ledger.counts(task) and begins <= task.ended_at < ends for task in tasks)
        return WorkStory(
            shop=shop,
            task_type=kind,
            begins=begins,
            ends=ends,
            zone=zone,
            runs=tuple(sorted((task for task in tasks if _began(task, begins, ends)), key=_first_start)),
            active=tuple(sorted(active, key=lambda task: task.created_at)),
            gates=self._gates.of(active),
            ended=ended,
            gone=max(0, ended.count - here) if ended is not None else 0,
            uncounted=Uncounted.UNREAD if unread else self._uncounted(kind, work, begins, ends),
            done=done,
            failed=failed,
            letter=letter,
            planned=self._planned(schedules, kind, active, payload),
            complete=max(len(changed), len(open_)) < MOST,
            days=known.days if known is not None else (),
            asks_since=self._registry.done_since(kind),
            repeatable=policy.idempotent,
            one_work=bool(work),
            apart=not work and policy.uniqueness == "shop_type_payload",
        )

    def of_shop(self, shop: str) -> tuple[TypeRow, ...]:
        """For each type of which anything is known for this shop, by name.

        One page of the shop's records tells it for most; only where that is not all of them, a type is asked for.
        """
        of_shop = (equals("shop", shop),)
        seen = self._store.query(Query(terms=of_shop, sort="updated", limit=PAGE, want_total=False))
        planned = list(self._each((*of_shop, equals("status", Status.SCHEDULED))))
        schedules = self._schedules.rows(1)
        kinds = {*self._registry.types(), *(row.schedule.task_type for row in schedules)}
        kinds |= {task.task_type for task in (*seen.tasks, *planned)}
        works = {kind: self._work(shop, kind, None) for kind in kinds}
        mine = _fitting(schedules, self._registry.shops().get(shop))
        asked = sorted({work for work in works.values() if work})
        known = dict(zip(asked, self._store.ran(asked), strict=True)) if asked else {}
        lost = [ran.failed.task_id for ran in known.values() if ran is not None and ran.failed is not None]
        letters = {task.task_id: task for task in self._store.get(lost) if task is not None} if lost else {}

        def last(kind: str, terms: tuple[Term, ...]) -> Task | None:
            found = next(filter(match.all_of((equals("type", kind), *terms)), seen.tasks), None)
            if found is not None or seen.next is None:
                return found
            return self._newest((*of_shop, equals("type", kind), *terms), "")

        def row(kind: str) -> TypeRow:
            ran, scheduled = known.get(works[kind]), [task for task in planned if task.task_type == kind]
            if ran is None:
                done, letter = last(kind, _SUCCEEDED), last(kind, _FAILED)
                ran = Ran(ledger.done_by(done) if done else None, ledger.failed_by(letter) if letter else None)
            else:
                letter = letters.get(ran.failed.task_id) if ran.failed is not None else None
            return TypeRow(
                task_type=kind,
                done=ran.done,
                failed=ran.failed,
                letter=letter,
                planned=self._planned(mine, kind, scheduled, None),
            )

        rows = (row(kind) for kind in sorted(works))
        return tuple(row for row in rows if row.done or row.failed or row.planned)

    def _work(self, shop: str, kind: str, payload: Mapping[str, Any] | None) -> str:
        """Its uniqueness key; "" where all works of the type are meant.

        Raises:
            UsageError: the type does not tell its works apart by their parameters.
        """
        policy = self._registry.task_type(kind)
        if payload is not None and policy.uniqueness != "shop_type_payload":
            raise UsageError(said("work.not_apart", type=kind), field="--payload")
        if payload is None and policy.uniqueness != "shop_type":
            return ""
        platform, _, shop_id = shop.partition(":")
        return task_type.uniqueness_key(policy, platform, shop_id, recipe.payload_text(payload or {}))

    def _uncounted(self, kind: str, work: str, begins: int, ends: int) -> Uncounted:
        now = self._store.now_ms()
        if ends > now and not 0 < self._kept_ms < now - begins:  # else what ran this morning may be gone by now
            return Uncounted.NO
        if self._registry.task_type(kind).uniqueness == "none":
            return Uncounted.NEVER
        if begins < now - ledger.KEPT_MS:
            return Uncounted.OLD
        return Uncounted.NO if work else Uncounted.MANY

    def _last(
        self, of_it: tuple[Term, ...], work: str, known: Ran | None
    ) -> tuple[Done | None, Failure | None, Task | None]:
        """Last success, last failure and its record; asked of the records only where no ledger tells it."""
        if known is None:
            done = self._newest((*of_it, *_SUCCEEDED), work)
            letter = self._newest((*of_it, *_FAILED), work)
            return (
                ledger.done_by(done) if done is not None else None,
                ledger.failed_by(letter) if letter is not None else None,
                letter,
            )
        letter = self._store.get([known.failed.task_id])[0] if known.failed is not None else None
        return known.done, known.failed, letter

    def _newest(self, terms: tuple[Term, ...], work: str) -> Task | None:
        if work:
            return next((task for task in self._each(terms) if task.work == work), None)
        return next(self._each(terms, 1), None)

    def _since(self, terms: tuple[Term, ...], instant: int) -> Iterator[Task]:
        for task in self._each(terms):
            if task.updated_at < instant:
                return
            yield task

    def _each(self, terms: tuple[Term, ...], limit: int = PAGE) -> Iterator[Task]:
        return each(self._store.query, Query(terms=terms, sort="updated", limit=limit, want_total=False), MOST)

    def _planned(
        self,
        schedules: Sequence[ScheduleRow],
        kind: str,
        active: Sequence[Task],
        payload: Mapping[str, Any] | None,
    ) -> Planned | None:
        found = [
            Planned(at=row.upcoming[0], schedule=row.schedule.name)
            for row in schedules
            if row.upcoming
            and row.schedule.task_type == kind
            and (payload is None or dict(row.schedule.payload) == dict(payload))
        ]
        found += [Planned(at=task.due_at, task_id=task.task_id) for task in active if task.status == Status.SCHEDULED]
        return min(found, key=lambda one: one.at, default=None)


def _fitting(rows: Sequence[ScheduleRow], shop: Shop | None) -> list[ScheduleRow]:
    """The schedules that run for a shop; asked of the one shop, not of all."""
    return [row for row in rows if shop is not None and plans.fitting(row.schedule, [shop])]


def _on(known: Ran | None, begins: int, ends: int) -> Day | None:
    days = [day for day in known.days if begins <= day.first_at < ends] if known is not None else []
    return functools.reduce(ledger.joined, days) if days else None


def _starts(task: Task) -> list[int]:
    return [*(one.started_at for one in task.attempts), *([task.started_at] if task.started_at else [])]


def _began(task: Task, begins: int, ends: int) -> bool:
    return any(begins <= at < ends for at in _starts(task))


def _first_start(task: Task) -> int:
    return min(_starts(task))
