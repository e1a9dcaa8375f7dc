"""Questions about tasks, answered with plain values for tables and panels."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import islice

import msgspec

from services.domain.errors import Unreadable, UsageError
from services.domain.fleet import shop_filter
from services.domain.fleet.shop import Shop
from services.domain.insight import attempts, same_work, verdict, wait
from services.domain.insight.cause import Worth
from services.domain.insight.forecast import estimate
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.forecast.estimate import Estimate
from services.domain.insight.gates import BARRING, GATED
from services.domain.insight.shop import ShopNow
from services.domain.task import ids
from services.domain.task.lane import lane_of
from services.domain.task.ledger import Done
from services.domain.task.notes import Note, Suppressed
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search import filter, match
from services.domain.task.search.query import GROUPED, LOG, Groups, Page, Query, Term, Total
from services.domain.task.status import ACTIVE, Status, Triage
from services.domain.task.tombstone import Tombstone
from services.domain.text.message import Message
from services.domain.text.said import said
from services.domain.types import flow_trace
from services.engine import fates
from services.engine.missing import missing
from services.engine.registry import Registry
from services.monitor.letters.worth import Worthiness
from services.monitor.shops.now import shops_now
from services.monitor.waits.waiting import Wait, WaitingFacts
from services.ports import Letter, LogLine, Store

SLICE, MOST_PICKED = 1000, 100_000
#: of tasks that met the same work the newest are looked through for those that met one task
MET = 200
#: dead tasks of a list that are asked whether they could be republished
REFUSALS = 300
#: tasks that are looked at for groups, and groups of which one is looked at
GROUPED_AMONG, SAMPLED = 60_000, 100
#: tasks that wait for one that are told
LINKED = 20
#: of more values than these none is counted by itself; pages of a filter that looks into each task, for all of them
COUNTED_EACH, LOOKED_PAGES = 60, 2
#: tasks that are looked at for the numbers of all values together where each can be counted by itself: its indexes may
#: know of any number
COUNTED_TOGETHER = 2_000


def _group(key: str, shops: Mapping[str, Shop]) -> str:
    return shops[key].group if key in shops else ""


def _statuses(task: Task, _shops: Mapping[str, Shop]) -> tuple[str, ...]:
    return (task.status, *(name for name, some in filter.STATUS_GROUPS.items() if task.status in some))


#: fields whose values are told by the shop
BY_SHOP: Mapping[str, Callable[[str, Mapping[str, Shop]], str]] = {
    "shop": lambda key, _shops: key,
    "group": _group,
    "platform": lambda key, _shops: key.partition(":")[0],
}
#: what a task has of a field
VALUES: Mapping[str, Callable[[Task, Mapping[str, Shop]], Sequence[str]]] = {
    **{name: lambda task, shops, of=of: (of(task.shop, shops),) for name, of in BY_SHOP.items()},  # type: ignore[misc]
    "status": _statuses,
    "type": lambda task, _shops: (task.task_type,),
    "lane": lambda task, _shops: (task.lane,),
    "worker": lambda task, _shops: (task.worker,),
    "triage": lambda task, _shops: (task.triage,),
    "fp": lambda task, _shops: (task.fingerprint,),
    "batch": lambda task, _shops: (task.batch,),
}


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    """A task that another one waits for, or that waits for it; None where its record was removed."""

    task_id: str
    task: Task | None
    open: bool = True  #: it is still waited for


class TaskDetail(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one task that the panel shows."""

    task: Task
    shop: Shop | None
    gates: tuple[wait.GateView, ...] = ()
    starts: Estimate | None = None  #: when a waiting task starts, as far as one can tell
    letter: Letter | None = None
    notes: tuple[Note, ...] = ()  #: of people on a dead letter, the oldest first
    verdict: verdict.Verdict | None = None  #: would its work be done twice?
    worth: Worth | None = None  #: of a dead letter: would it pass now?
    done: Message | None = None  #: that the same work has succeeded as another task
    refusal: Message | None = None  #: of a dead letter: why it cannot be republished as it is
    flow: flow_trace.Trace | None = None  #: of a task of the browser
    again: str = ""  #: of a cancelled task: the id under which it was created again
    #: of one whose worker is not heard of: that nobody knows whether it still runs, and what becomes of it when
    unheard: tuple[Message, ...] = ()
    long: Message | None = None  #: that it runs past the 95th percentile of its type on its platform
    met: tuple[Suppressed, ...] = ()  #: who asked for the same work meanwhile, and what became of that
    suppressed: Message | None = None  #: how often that was refused, if it was
    unknown: attempts.Unknown | None = None  #: of a held task: who had it, and the last that is known of it
    waits_for: tuple[Linked, ...] = ()  #: what it was told to wait for
    waited_by: tuple[Linked, ...] = ()  #: who waits for it now; more than ``LINKED`` where there are more


class LogTail(msgspec.Struct, frozen=True, kw_only=True):
    """Log lines of one attempt and where to go on reading."""

    lines: tuple[LogLine, ...] = ()
    place: int = 0


class Pick(msgspec.Struct, frozen=True, gc=False):
    """What a bulk action must know of a task; small, because a selection may have a hundred thousand of them."""

    task_id: str
    status: str
    triage: str
    priority: int
    lane: str = ""  #: "" for that of its priority


def pick(task: Task) -> Pick:
    """The task as part of a selection."""
    return Pick(task.task_id, task.status, task.triage, task.priority, sys.intern(task.lane))


class Weighed(msgspec.Struct, frozen=True, gc=False):
    """A task whose outcome nobody knows, and whether it may run again."""

    task_id: str
    task_type: str
    shop: str  #: its name, else ``platform:shop_id``
    verdict: verdict.Verdict
    asks: bool = False  #: whether it is given up only with a reason


def _mark(text: str, *, descending: bool) -> str:
    """What a place in a list belongs to: a filter as it was written, for its times mean others by the next page."""
    return hashlib.sha256(f"{descending:d} {' '.join(text.split())}".encode()).hexdigest()[:8]


def _place(cursor: str, mark: str) -> str:
    """The place that the store knows.

    Raises:
        UsageError: it is none, or of another list: what lies between its two places would be passed over.
    """
    if not cursor:
        return ""
    of, dot, place = cursor.partition(".")
    if not dot:
        raise UsageError(said("query.cursor"), field="cursor")
    if of != mark:
        raise UsageError(said("query.cursor_filter"), field="cursor")
    return place


def refuse_unread(store: Store, task_id: str) -> None:
    """Say of what is no record whether it was one.

    Raises:
        Unreadable: nobody can read it, or it was set aside for that; the sentence says what to do.
    """
    why = missing(store, task_id)
    if why.code != "task.unknown":
        raise Unreadable(said(why.code, **why.params))


class TaskQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(
        self, store: Store, registry: Registry, time_zone: str = "", health: Callable[[], BrokerHealth] | None = None
    ) -> None:
        """``health``: how the broker does for this process."""
        self._store, self._registry, self._zone = store, registry, time_zone
        self._waiting = WaitingFacts(store, registry, health)

    def page(
        self,
        text: str,
        *,
        sort: str = "created",
        descending: bool = True,
        limit: int = 200,
        cursor: str = "",
        want_total: bool = True,
    ) -> Page:
        """Tasks that match the filter text.

        Raises:
            FilterError: the text is not a filter; its position and a remedy are in the error.
            UsageError: the cursor is none, or of another filter, order or direction.
        """
        mark = _mark(text, descending=descending)
        page = self._store.query(
            Query(
                terms=self._terms(text),
                sort=sort,
                descending=descending,
                limit=limit,
                cursor=_place(cursor, mark),
                want_total=want_total,
            )
        )
        return page if page.next is None else msgspec.structs.replace(page, next=f"{mark}.{page.next}")

    def _terms(self, text: str) -> tuple[Term, ...]:
        terms = filter.parse(text, now_ms=self._store.now_ms(), time_zone=self._zone)
        known = shop_filter.of_groups(terms, self._registry.shops)
        return match.narrowed(self._waiting.gates.terms(known))

    def groups(self, text: str, by: str) -> tuple[Groups, dict[str, Task]]:
        """The tasks that match, by one of ``GROUPED``; and by id a task of each of the largest.

        Raises:
            FilterError: the text is not a filter.
        """
        terms = self._terms(text)
        found = self._store.grouped(terms, by, GROUPED_AMONG)
        samples = [one.sample for one in found.groups[:SAMPLED]] if by == "fp" else []
        return found, {task.task_id: task for task in self.get(samples)}

    def within(self, text: str, field: str, values: Sequence[str]) -> dict[str, Total]:
        """How many of the tasks that match have each of these values of a field; those of which none has it are left
        out. Bounded: of many tasks some may be told as at least so many, or not at all.

        Raises:
            FilterError: the text is not a filter.
        """
        terms = self._terms(text)
        if any(term.field == LOG for term in terms):
            return {}
        if any(map(match.is_scan, terms)):
            return self._within_looked(text, field)
        each = len(values) <= COUNTED_EACH
        if field in BY_SHOP or field in GROUPED:
            found = self._store.grouped(
                terms, "shop" if field in BY_SHOP else field, COUNTED_TOGETHER if each else GROUPED_AMONG
            )
            if found.whole or not each:
                return self._of_groups(found, BY_SHOP.get(field))
        if not each:
            return {}
        asked = (f"{text} {field}:{filter.written(value)}" for value in values)
        totals = (self.page(one, limit=1).number for one in asked)
        return {value: total for value, total in zip(values, totals, strict=True) if total.number}

    def _of_groups(self, found: Groups, of: Callable[[str, Mapping[str, Shop]], str] | None) -> dict[str, Total]:
        """By the values that they were grouped by; ``of``: by what shops have."""
        known, numbers = self.shops() if of is not None else {}, Counter[str]()
        for one in found.groups:
            numbers[of(one.value, known) if of is not None else one.value] += one.total
        return {value: Total(number, exact=found.whole) for value, number in numbers.items()}

    def _within_looked(self, text: str, field: str) -> dict[str, Total]:
        """A question for each value would look into the same tasks again and again."""
        known, numbers, cursor = self.shops(), Counter[str](), ""
        for _page in range(LOOKED_PAGES if field in VALUES else 0):
            page = self.page(text, limit=SLICE, cursor=cursor, want_total=False)
            numbers.update(value for task in page.tasks for value in VALUES[field](task, known))
            if page.next is None:
                return {value: Total(number) for value, number in numbers.items()}
            cursor = page.next
        return {value: Total(number, exact=False) for value, number in numbers.items()}

    def ids(self, text: str, limit: int = MOST_PICKED) -> tuple[str, ...]:
        """All ids that match, a frozen set for a bulk action."""
        return tuple(one.task_id for one in self.picks(text, limit))

    def picks(self, text: str, limit: int = MOST_PICKED) -> tuple[Pick, ...]:
        """All tasks that match now, a frozen set for a bulk action.

        Raises:
            FilterError: the text is not a filter.
        """
        return tuple(pick(task) for task in islice(self.each(text), limit))

    def picks_of(self, task_ids: Sequence[str]) -> tuple[Pick, ...]:
        """Those of ``task_ids`` that exist, as they stand now."""
        return tuple(pick(task) for task in self.each_of(task_ids))

    def weigh(self, task_ids: Sequence[str]) -> tuple[Weighed, ...]:
        """Those of ``task_ids`` that are held now, each with its verdict."""
        shops = self._registry.shops()

        def name(task: Task) -> str:
            shop = shops.get(task.shop)
            return shop.name if shop is not None and shop.name else task.shop

        held = [task for task in self.each_of(task_ids) if task.status == Status.HELD]
        done, now = Worthiness(self._store).done(held), self._store.now_ms()
        return tuple(
            Weighed(
                task.task_id,
                task.task_type,
                name(task),
                verdict.safe_to_run_again(task, None, done.get(task.task_id), now),
                verdict.asks_why_given_up(task),
            )
            for task in held
        )

    def each(self, text: str, *, sort: str = "created", descending: bool = True) -> Iterator[Task]:
        """Every task that matches, asked for in slices."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.page(text, sort=sort, descending=descending, limit=SLICE, cursor=cursor, want_total=False)
            yield from page.tasks
            cursor = page.next

    def each_of(self, task_ids: Sequence[str]) -> Iterator[Task]:
        """Those of ``task_ids`` that exist, in the order asked, asked for in slices."""
        for start in range(0, len(task_ids), SLICE):
            yield from self.get(task_ids[start : start + SLICE])

    def get(self, task_ids: Sequence[str]) -> list[Task]:
        """The records that exist, in the order asked."""
        return [task for task in self._store.get(task_ids) if task is not None]

    def waits(self, tasks: Sequence[Task]) -> dict[str, Wait]:
        """Where those of a page wait that do, why, and when they start, by id."""
        return self._waiting.waits(tasks)

    def gates(self, tasks: Sequence[Task]) -> dict[str, str]:
        """The gates at which those wait that do, by id; cheap for a whole list."""
        return self._waiting.gates.of(tasks)

    def barred(self, task_type: str, shops: Sequence[str], priority: int) -> dict[str, str]:
        """The gate that would keep a new task of this type from starting now, by shop; one that only waits for its turn
        is left out. What it would do twice is asked by ``last_done``.
        """
        lane = lane_of(priority)
        new = [
            Task(
                task_id=shop,
                platform=shop.partition(":")[0],
                shop_id=shop.partition(":")[2],
                task_type=task_type,
                status=Status.QUEUED,
                lane=lane,
                priority=priority,
            )
            for shop in shops
        ]
        return {shop: gate for shop, gate in self.gates(new).items() if gate in BARRING}

    def refusals(self, tasks: Sequence[Task]) -> dict[str, Message]:
        """By id, for the dead among the first of these that cannot be republished as they are: why."""
        dead = [task for task in tasks[:REFUSALS] if task.status == Status.DEAD]
        return Worthiness(self._store, self._registry).refusals(dead) if dead else {}

    def last_done(self, works: Sequence[str]) -> dict[str, Done]:
        """By uniqueness key, for those of which it is known: the last success of that work; ``ledger.UNREADABLE`` where
        nobody can read whether there is one.
        """
        found = zip(works, self._store.last_done(works), strict=True)
        return {work: done for work, done in found if done is not None}

    def done_since(self, task_type: str) -> int:
        """Since when (UTC ms) a success of this type asks for a reason to do it again, 0 where none ever does."""
        return self._registry.done_since(task_type)

    def done_before(self, tasks: Sequence[Task]) -> dict[str, Message]:
        """By id, for those of these whose work has succeeded as another task: when, as which, and by whom."""
        now = self._store.now_ms()
        found = Worthiness(self._store).done(tasks)
        return {task_id: same_work.succeeded(done, now) for task_id, done in found.items()}

    def gate_counts(self) -> dict[str, Total]:
        """How many tasks wait at each gate where anybody does, as far as they were counted."""
        return self._waiting.gates.counts()

    def usual(self, task_type: str) -> Runs:
        """How long tasks of a type usually run."""
        return self._waiting.usual(task_type)

    def shops(self) -> dict[str, Shop]:
        """Shops by ``platform:shop_id``."""
        return self._registry.shops()

    def shops_now(self, shops: Sequence[str]) -> dict[str, ShopNow]:
        """How shops stand now, as far as their tasks tell."""
        return shops_now(self._store, shops, self._registry.shops())

    def detail(self, task_id: str) -> TaskDetail | None:
        """One task with its gates and its verdict, None when there is no such task.

        Raises:
            Unreadable: its record cannot be read; the sentence says what to do.
        """
        task = self._store.get([task_id])[0]
        if task is None:
            refuse_unread(self._store, task_id)
            return None
        facts = self._waiting.of(task) if task.status in GATED else None
        gates = wait.why_waiting(task, facts) if facts is not None else ()
        asks, dead = task.status in (Status.DEAD, Status.HELD), task.status == Status.DEAD
        judge = Worthiness(self._store, self._registry)
        twin = judge.twin(task) if dead else None
        refused = judge.refusals([task]) if dead else {}
        done, at_ms = judge.done([task]).get(task_id), self._store.now_ms()
        met = self._met(task, facts.twin if facts is not None else None)
        return TaskDetail(
            task=task,
            shop=self._registry.shops().get(task.shop),
            gates=gates,
            starts=estimate.starts(task, facts, gates) if facts is not None else None,
            letter=self._store.get_letter(task_id) if task.status == Status.DEAD else None,
            notes=tuple(self._store.notes(task_id)) if task.status == Status.DEAD else (),
            verdict=verdict.safe_to_run_again(task, twin, done, at_ms) if asks else None,
            done=same_work.succeeded(done, at_ms) if done is not None else None,
            worth=judge.of_letter(task) if dead and task.triage != Triage.REPUBLISHED else None,
            refusal=refused.get(task_id),
            flow=flow_trace.trace(task, self._registry.task_type(task.task_type).executor),
            again=self._again(task) if task.status == Status.CANCELLED else "",
            unheard=fates.unheard(self._store, task),
            long=self._waiting.long(task),
            met=met,
            suppressed=same_work.refused(met, self._store.now_ms()) if met else None,
            unknown=attempts.unknown_end(task, self._store.workers() if task.status == Status.HELD else ()),
            waits_for=self._waits_for(task),
            waited_by=self._linked(self._store.dependants(task_id, LINKED + 1)),
        )

    def _waits_for(self, task: Task) -> tuple[Linked, ...]:
        if not task.depends_on:
            return ()
        left = set(self._store.needs([task.task_id])[0]) if task.status in ACTIVE else set()
        return self._linked(task.depends_on, left)

    def _linked(self, ids: Sequence[str], left: Set[str] | None = None) -> tuple[Linked, ...]:
        """``left``: those that are still waited for, None for all."""
        found = zip(ids, self._store.get(ids), strict=True) if ids else ()
        return tuple(Linked(task_id=one, task=task, open=left is None or one in left) for one, task in found)

    def _met(self, task: Task, twin: Task | None) -> tuple[Suppressed, ...]:
        if not task.uniq or task.status not in ACTIVE:
            return ()
        return same_work.met(task, twin, self._store.suppressed(MET))

    def _again(self, task: Task) -> str:
        made = ids.again_id(task.platform, task.task_type, task.shop_id, task.task_id)
        return made if self._store.get([made])[0] is not None else ""

    def suppressed(self, limit: int) -> tuple[list[Suppressed], Mapping[tuple[str, str, str], int]]:
        """The newest tasks that met another one with the same work, and how many in all by (outcome, shop, type)."""
        return self._store.suppressed(limit), self._store.suppressed_counts()

    def removed(self, task_id: str) -> Tombstone | None:
        """What is known of a task whose record was removed, None where nothing is."""
        return self._store.tombstones([task_id])[0]

    def log(self, task_id: str, attempt: int, place: int = 0) -> LogTail:
        """Log lines of an attempt from ``place`` on."""
        lines, after = self._store.read_log(task_id, attempt, place)
        return LogTail(lines=tuple(lines), place=after)
