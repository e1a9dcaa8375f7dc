"""What holds waiting tasks back at this moment, asked of the store: for one task in full, for a page in one look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from services.domain.fleet.shop import Pause, scopes_of
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates import ability, dependency, home, limit, passing, paused
from services.domain.gates.breaker import Breaker
from services.domain.gates.home import Home
from services.domain.gates.limit import LimitNow
from services.domain.gates.passing import Pass
from services.domain.gates.session import ClosedSession
from services.domain.insight import known_issue, wait
from services.domain.insight.forecast import estimate
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.forecast.estimate import Estimate
from services.domain.insight.gates import BREAKER, DEPENDENCY, LANE_ORDER, SHOP_BUSY, TWIN
from services.domain.insight.places import Bench, bench_of
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.wait import Facts, GateView, Need
from services.domain.insight.worker import takes_work
from services.domain.task import own_words
from services.domain.task.lane import LANES
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import UNDER_WAY, Status
from services.domain.text.message import Message
from services.engine.registry import Registry
from services.monitor.numbers.measured import Measured, in_shop
from services.monitor.waits import hung, successors
from services.monitor.waits.gates import GateLook, cut_off, way
from services.ports import Store

#: running tasks of a limit that are looked at, and tasks of a shop
HOLDERS, OF_SHOP = 20, 300
#: and of all shops of a page in one answer
OF_SHOPS = 2_000
#: how long a lane may be for counting in it for each row of a page
LONGEST_LANE = 20_000
_WELL = BrokerHealth(connected=True)
_IN_SHOP = (Status.RUNNING, Status.HELD, Status.PENDING, Status.QUEUED, Status.BLOCKED)


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """Where a task waits, why, and when it starts (None: nobody can tell)."""

    gate: GateView
    starts: Estimate | None = None


class WaitingFacts:
    """Blocking questions."""

    def __init__(self, store: Store, registry: Registry, health: Callable[[], BrokerHealth] | None = None) -> None:
        """``health``: how the broker does for this process, None where nobody asks it."""
        self._store, self._registry, self._health = store, registry, health
        self._measured = Measured(store)
        self.gates = GateLook(store, registry, health)

    def of(self, task: Task) -> Facts:
        """All facts for one task."""
        return self._look().facts(task)

    def _look(self) -> _Look:
        health = self._health() if self._health is not None else _WELL
        return _Look(self._store, self._registry, self._measured, health)

    def usual(self, task_type: str) -> Runs:
        """How long tasks of a type run."""
        return self._measured.usual(task_type, "", self._registry.task_type(task_type).expected_s)

    def long(self, task: Task) -> Message | None:
        """That a running task is past the 95th percentile of its type on its platform, None where it is not."""
        now = self._store.now_ms()
        usual = self._measured.on_platform(task.task_type, task.platform, 0)
        if task.status != Status.RUNNING or not usual.is_long((now - task.started_at) / 1000):
            return None
        slot = SlotState(task_id=task.task_id, task_type=task.task_type, shop=task.shop, since=task.started_at)
        return hung.sentence(slot, usual, now)

    def waits(self, tasks: Sequence[Task]) -> dict[str, Wait]:
        """Where those of a page wait that do, by id."""
        look = self._look()
        gates = self.gates.of(tasks)
        look.prepare([(task, gate) for task in tasks if (gate := gates.get(task.task_id, ""))])
        found = {}
        for task in tasks:
            gate = gates.get(task.task_id, "")
            told = _told(task, look.facts(task, gate), gate) if gate else None
            if told is not None:
                found[task.task_id] = told
        return found


def _told(task: Task, facts: Facts, gate: str) -> Wait | None:
    views = wait.why_waiting(task, facts, gate)
    closed = wait.closed(views)
    return Wait(gate=closed, starts=estimate.starts(task, facts, views)) if closed is not None else None


class _Look:
    """One look at the fleet, from which the facts of many tasks are taken."""

    def __init__(self, store: Store, registry: Registry, measured: Measured, health: BrokerHealth) -> None:
        self._store, self._registry, self._measured = store, registry, measured
        self._health = health
        self._now = store.now_ms()
        self._shops: dict[str, tuple[Sequence[Task], bool]] = {}
        self._lanes: dict[str, int] = {}
        self._runs: dict[tuple[str, str], Runs] = {}
        self._waiting_ahead: dict[str, int] = {}
        self._homes: dict[str, Home] = {}
        self._slots: dict[str, tuple[tuple[SlotState, ...], Bench]] = {}
        self._needed: dict[str, tuple[Need, ...]] = {}
        self._holders: dict[str, tuple[Task, ...]] = {}
        self._counts: dict[tuple[Term, ...], int] = {}

    def prepare(self, rows: Sequence[tuple[Task, str]]) -> None:
        """Ask for all rows of a page at once what each of them would ask for: tasks, each with its gate."""
        tasks = [task for task, _ in rows]
        self._ask_shops(sorted({task.shop for task, gate in rows if self._needs_shop(task, gate)}))
        self._ask_needs([task for task, gate in rows if gate == DEPENDENCY and task.depends_on])
        self._homes = self._store.homes({task.shop for task in tasks if self._is_homed(task)}) if tasks else {}
        self._measured.prime((task.task_type, task.shop) for task in tasks)
        self._measured.prime_arrivals((one.shop, one.priority) for one, gate in rows if self._needs_shop(one, gate))
        queued = [task for task, gate in rows if self._of_lane(task, gate) and not self._is_long(task.lane)]
        ahead = self._store.waiting_ahead(queued) if queued else []
        self._waiting_ahead = dict(zip((task.task_id for task in queued), ahead, strict=True))

    def facts(self, task: Task, gate: str = "") -> Facts:
        """The facts for one task; ``gate``: only those that tell of this gate and when it opens."""
        scopes = {*scopes_of(task.shop, task.task_type)}
        shop = self._registry.shops().get(task.shop)
        kind = self._registry.task_type(task.task_type)
        limits = tuple(one for one in self._limits if one.limit.scope in limit.scopes(task))
        full = next((one for one in limits if one.full), None)
        homed = self._is_homed(task)
        inside = self._inside(task) if not gate or self._needs_shop(task, gate) else _Inside()
        slots, bench = self._slots_of(task.lane)
        of_lane = self._of_lane(task, gate)
        for one in inside.holders:
            self._lasts(one.task_type, one.shop, here=True)
        for name in inside.line:
            self._lasts(name, task.shop, here=True)
        limit_holders = self._running(_term(full)) if full is not None else ()
        for one in limit_holders:
            self._lasts(one.task_type, one.shop, here=False)
        usual = self._lasts(task.task_type, task.shop, here=True, declared_s=task.expected_s)
        of_lane_usual = self._measured.of_lane(task.lane)
        return Facts(
            now_ms=self._now,
            needs=self._needs(task) if task.depends_on and gate in ("", DEPENDENCY) else (),
            pauses=tuple(pause for pause in self._pauses if pause.scope in scopes),
            parked=self._parked,
            passed=passed if (passed := self._passes.get(task.task_id)) and passed.holds_for(task) else None,
            session=self._sessions.get(task.shop),
            breaker=self._breakers.get(task.shop),
            holders=inside.holders,
            shop_ahead=inside.ahead,
            on_the_way=inside.on_the_way,
            under_way=inside.under_way,
            first_on_the_way=inside.first,
            shop_line=inside.line,
            shop_arrivals=self._measured.arrivals(*in_shop(task.shop, task.priority)) if inside.holders else 0.0,
            limits=limits,
            limit_holders=limit_holders,
            limit_ahead=self._ahead(task, _term(full)) if full is not None else 0,
            twin=inside.twin,
            homed=homed,
            home=self._home(task) if homed else None,
            concurrency=shop.concurrency if shop is not None else 1,
            ahead=self._in_lane(task, in_full=not gate) if of_lane else 0,
            urgent=self._urgent(task.lane) if of_lane else 0,
            kept=sum(info.shares.get(task.lane, (0, 0))[0] for info in self._serving(task.lane)),
            lane_arrivals=self._arrivals(task) if of_lane else 0.0,
            supply=ability.supply(kind, task.lane, self._workers, self._now),
            slots=slots,
            bench=bench,
            runs=self._runs,
            usual=usual,
            lane_usual=of_lane_usual if of_lane_usual.known else usual,
            cut_off=cut_off(self._health),
            lost_at=self._health.since_ms if cut_off(self._health) else 0,
            way=self._way,
        )

    def _of_lane(self, task: Task, gate: str) -> bool:
        return task.status in (Status.QUEUED, Status.RETRYING) and gate in ("", LANE_ORDER)

    def _is_homed(self, task: Task) -> bool:
        kind = self._registry.task_type(task.task_type)
        return bool(home.node_of(task.gate)) or ability.works_at_home(kind, self._workers)

    def _needs_shop(self, task: Task, gate: str) -> bool:
        return gate in (SHOP_BUSY, BREAKER, TWIN) or (gate == LANE_ORDER and task.status == Status.BLOCKED)

    # ------------------------------------------------------------ once for a look
    @cached_property
    def _workers(self) -> Sequence[WorkerInfo]:
        return self._store.workers()

    @cached_property
    def _pauses(self) -> Sequence[Pause]:
        return self._store.switches()

    @cached_property
    def _held_types(self) -> frozenset[str]:
        """Types that a pause or quiet hours hold back: who waits for a place is not behind their tasks."""
        heads = (one.scope.partition(":") for one in self._pauses)
        return frozenset(name for head, _, name in heads if head == "type")

    @cached_property
    def _parked(self) -> Mapping[str, int]:
        by_rule = any(one.gate == paused.GATE and own_words.note(one.by) is not None for one in self._pauses)
        return known_issue.parked(self._store.documents(known_issue.STATE)) if by_rule else {}

    @cached_property
    def _passes(self) -> Mapping[str, Pass]:
        return passing.DOCUMENT.readable(self._store.documents(passing.KIND))

    @cached_property
    def _sessions(self) -> Mapping[str, ClosedSession]:
        return {one.shop: one for one in self._store.sessions()}

    @cached_property
    def _breakers(self) -> Mapping[str, Breaker]:
        return {one.shop: one for one in self._store.breakers()}

    @cached_property
    def _way(self) -> PublisherNow:
        return way(self._store, self._health, self._workers, self._now)

    @cached_property
    def _limits(self) -> Sequence[LimitNow]:
        return self._store.limits()

    def _serving(self, lane: str) -> Iterable[WorkerInfo]:
        """Those whose slots count: they take tasks of the lane, and were heard of a moment ago."""
        return (one for one in self._workers if takes_work(one, self._now) and lane in one.open_lanes)

    def _slots_of(self, lane: str) -> tuple[tuple[SlotState, ...], Bench]:
        """The slots of a lane, once as they are told and once as places, the same for all who wait for them."""
        if lane not in self._slots:
            slots = tuple(slot for info in self._serving(lane) for slot in info.slots)
            for slot in slots:
                if slot.task_id:
                    self._lasts(slot.task_type, slot.shop, here=False)
            self._slots[lane] = slots, bench_of(slots, self._now, lambda kind, shop: self._runs[kind, shop])
        return self._slots[lane]

    def _lasts(self, task_type: str, shop: str, *, here: bool, declared_s: float = 0.0) -> Runs:
        """``here``: by what was measured in that shop, if enough was."""
        key = (task_type, shop)
        if here or key not in self._runs:
            says = self._registry.task_type(task_type).expected_s or declared_s
            self._runs[key] = self._measured.usual(task_type, shop if here else "", says)
        return self._runs[key]

    # ------------------------------------------------------------------- the shop
    def _inside(self, task: Task) -> _Inside:
        if task.shop not in self._shops:
            self._ask_shops([task.shop])
        tasks, complete = self._shops[task.shop]
        found = _inside(task, tasks, self._held_types)
        return found if complete else self._counted(task)

    def _ask_shops(self, shops: Sequence[str]) -> None:
        """What lies in these shops; where that is too much for one answer, in the halves of them."""
        if not shops:
            return
        most = OF_SHOP if len(shops) == 1 else OF_SHOPS
        terms = (equals("shop", *shops), equals("status", *_IN_SHOP))
        page = self._store.query(Query(terms=terms, limit=most, want_total=False))
        if page.next is not None and len(shops) > 1:
            self._ask_shops(shops[: len(shops) // 2])
            self._ask_shops(shops[len(shops) // 2 :])
            return
        inside: dict[str, list[Task]] = {shop: [] for shop in shops}
        for one in page.tasks:
            inside.setdefault(one.shop, []).append(one)
        for shop, tasks in inside.items():
            self._shops[shop] = (tasks[:OF_SHOP], page.next is None and len(tasks) <= OF_SHOP)

    def _counted(self, task: Task) -> _Inside:
        """The same of a shop with more tasks than are looked at one by one."""
        here = equals("shop", task.shop)
        parked = task.status == Status.BLOCKED
        way = sorted(UNDER_WAY)
        return _Inside(
            holders=self._running(here),
            ahead=self._ahead(task, here),
            on_the_way=self._ahead(task, here, *way),
            under_way=self._count(here, equals("status", *way)) if parked else 0,
            first=self._first_on_the_way(task) if parked else None,
            twin=self._twin(task),
        )

    def _running(self, what: Term) -> tuple[Task, ...]:
        key = f"{what.field}:{','.join(what.values)}"
        if key not in self._holders:
            terms = (what, equals("status", Status.RUNNING))
            query = Query(terms=terms, sort="created", descending=False, limit=HOLDERS, want_total=False)
            self._holders[key] = tuple(self._store.query(query).tasks)
        return self._holders[key]

    def _first_on_the_way(self, task: Task) -> Task | None:
        """The oldest of its shop that waits for a worker and is at least as urgent."""
        urgent = Term(field="priority", op=">", number=task.priority - 1)
        terms = (equals("shop", task.shop), equals("status", *sorted(UNDER_WAY)), urgent)
        found = self._store.query(Query(terms=terms, sort="created", descending=False, limit=1, want_total=False)).tasks
        return found[0] if found else None

    def _ahead(self, task: Task, where: Term, *statuses: str) -> int:
        """Tasks there that go first: the parked ones but for those of types that are held back, or those in these
        statuses. Where only those of the same priority can be counted that came before and after, all of them.
        """
        there = (where, equals("status", *(statuses or (Status.BLOCKED,))))
        every = self._before(task, *there)
        if statuses or not self._held_types:
            return every
        return max(0, every - self._before(task, *there, equals("type", *sorted(self._held_types))))

    def _before(self, task: Task, *there: Term) -> int:
        same = equals("priority", str(task.priority))
        urgent = self._count(*there, Term(field="priority", op=">", number=task.priority))
        older = Query(terms=(*there, same, Term(field="created", op="<", number=task.created_at)), limit=1)
        total = self._store.query(older).total
        return urgent + (total if total is not None else self._count(*there, same))

    def _count(self, *terms: Term) -> int:
        if terms not in self._counts:
            self._counts[terms] = self._store.query(Query(terms=terms, limit=1)).number.number
        return self._counts[terms]

    def _twin(self, task: Task) -> Task | None:
        """The task with the same work that goes first: what runs or is held, else what was created first."""
        if not task.guard:
            return None
        waits = Term(field="gate", op="=", values=(dependency.GATE,), negated=True)  # for others; it stands back
        same = (equals("shop", task.shop), equals("uniq", task.guard), waits)
        for statuses in ((Status.RUNNING, Status.HELD), _IN_SHOP):
            terms = (*same, equals("status", *statuses))
            found = self._store.query(Query(terms=terms, sort="created", descending=False, limit=1)).tasks
            if found:
                return None if found[0].task_id == task.task_id else found[0]
        return None

    # ------------------------------------------------------------------- the rest
    def _home(self, task: Task) -> home.HomeNow | None:
        found = self._homes.get(task.shop) or self._store.homes([task.shop]).get(task.shop)
        kind = self._registry.task_type(task.task_type)
        return ability.at_home(found.node, kind, task.lane, self._workers, self._now) if found is not None else None

    def _in_lane(self, task: Task, *, in_full: bool) -> int:
        """Queued tasks that go first, -1 where counting them for every row of a page is too much."""
        if not in_full and self._is_long(task.lane):
            return -1
        known = self._waiting_ahead.get(task.task_id)
        return self._store.waiting_ahead([task])[0] if known is None else known

    def _is_long(self, lane: str) -> bool:
        if lane not in self._lanes:
            self._lanes[lane] = self._count(equals("lane", lane), equals("status", Status.QUEUED))
        return self._lanes[lane] > LONGEST_LANE

    def _urgent(self, lane: str) -> int:
        lanes = LANES[: LANES.index(lane)] if lane in LANES else ()
        return self._count(equals("lane", *lanes), equals("status", Status.QUEUED)) if lanes else 0

    def _arrivals(self, task: Task) -> float:
        return self._measured.arrivals(Term(field="priority", op=">", number=task.priority))

    def _needs(self, task: Task) -> tuple[Need, ...]:
        """What it still waits for, each as the task that it was republished as."""
        if task.task_id not in self._needed:
            self._ask_needs([task])
        return self._needed[task.task_id]

    def _ask_needs(self, tasks: Sequence[Task]) -> None:
        if not tasks:
            return
        needs = self._store.needs([task.task_id for task in tasks])
        names = sorted({name for one in needs for name in one})
        records = self._store.get(names) if names else []
        last = successors.latest(self._store, records)
        # where a successor is gone, what is left of it speaks
        found = {name: Need(name, then or now) for name, now, then in zip(names, records, last, strict=True)}
        for task, one in zip(tasks, needs, strict=True):
            self._needed[task.task_id] = tuple(found[name] for name in one)


class _Inside(msgspec.Struct, frozen=True, kw_only=True):
    """What a task finds in its shop; see the fields of ``Facts``."""

    holders: tuple[Task, ...] = ()
    ahead: int = 0
    on_the_way: int = 0
    under_way: int = 0
    first: Task | None = None
    line: Mapping[str, int] = {}
    twin: Task | None = None


def _inside(task: Task, tasks: Sequence[Task], held: Collection[str]) -> _Inside:
    """``held``: types whose tasks are held back."""
    parked = task.status == Status.BLOCKED
    others = [one for one in tasks if one.task_id != task.task_id]
    before = [one for one in others if limit.rank(one) < limit.rank(task)]
    parked_before = (one for one in before if one.status == Status.BLOCKED and one.gate != dependency.GATE)
    ahead = [one for one in parked_before if one.task_type not in held]
    way = [one for one in before if one.status in UNDER_WAY]
    return _Inside(
        holders=tuple(one for one in tasks if one.status == Status.RUNNING),
        ahead=len(ahead),
        on_the_way=len(way),
        under_way=sum(1 for one in others if one.status in UNDER_WAY) if parked else 0,
        first=min(way, key=lambda one: one.created_at, default=None),
        line=Counter(one.task_type for one in (*ahead, *way)),
        twin=_first_twin(task, tasks),
    )


def _first_twin(task: Task, tasks: Sequence[Task]) -> Task | None:
    same = [one for one in tasks if task.guard and one.guard == task.guard and one.gate != dependency.GATE]
    begun = [one for one in same if one.status in (Status.RUNNING, Status.HELD)]
    first = min(begun or same, key=lambda one: (one.created_at, one.task_id), default=None)
    return None if first is None or first.task_id == task.task_id else first


def _term(full: LimitNow) -> Term:
    head, _, name = full.limit.scope.partition(":")
    return equals(head, name)
