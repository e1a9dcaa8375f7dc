"""All queues as rows of one moment, with what each came to over the last hour; follows the live feed between looks."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.fleet import shop_queue
from services.domain.fleet.shop import SCOPE_ALL, Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import paused
from services.domain.insight import queue as insight
from services.domain.insight.depth import skipped
from services.domain.insight.publisher import PublisherNow
from services.domain.insight.queue import Facts, Flow
from services.domain.insight.worker import takes_work
from services.domain.task import envelope, lane, queues
from services.domain.task.event import Event
from services.domain.task.order import QueueDepth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import WAITING, Status, Triage
from services.engine.paged_tasks import tasks_in
from services.monitor.forecast.drain import Drain, DrainQueries
from services.monitor.history import History, Sample
from services.monitor.live import Live, Snapshot
from services.monitor.queues import holders
from services.monitor.queues.holders import HoldersNow
from services.monitor.queues.queries import QueueQueries
from services.ports import Clock

#: so many queues of shops are asked for their oldest task; of others the inspector asks when it shows one
DEEPEST = 20
#: a point of a curve stands for so long; so many are kept of each queue
STEP_MS, KEPT = 10_000, 360
SHOP_STEP_MS, SHOP_KEPT = 30_000, 120
#: how often it is forecast when what waits will have run, and for how little of the time
FORECAST_S, FORECAST_SHARE = 30.0, 20
#: and so often while nobody works and nothing new is heard: then it tells no instants, which time would move
FORECAST_STILL_S = 120.0
#: back-off tasks that are looked at for the oldest of each level
LEVELS = 500
#: tasks of a lane that are looked at for the oldest that waits in no queue of its shop, and how many at a time
LOOKED, PEEKED = 2_000, 200
#: of what waits long in queues that are not asked for their oldest task, so many are looked at for whose they are
LONG = 5_000
LANE, SHOP, DELAY, DEAD_KIND = queues.LANE, queues.SHOP, queues.DELAY, "dead"
PART_S, PARTS = 10, 30
#: ``lane``, ``platform:shop_id`` of what waits there; the same of what was let in and out of back-off and dead letters
Place = tuple[str, str]
BACK_OFF, DEAD = "back_off", "dead"


class Point(msgspec.Struct, frozen=True):
    """One queue at an instant (UTC ms); a second for the rates."""

    at_ms: int
    depth: int
    in_s: float = 0.0
    out_s: float = 0.0


class QueueNow(msgspec.Struct, frozen=True, kw_only=True):
    """One queue; None is what nobody knows, or what such a queue has not."""

    name: str
    kind: str  #: lane | shop | delay | dead
    lane: str = ""
    shop: str = ""  #: ``platform:shop_id``
    title: str = ""  #: name of the shop
    delay_s: int = 0
    ready: int | None = None  #: messages that the broker has and nobody holds; of dead letters those that are open
    parked: int = 0  #: wait at a gate and have no message
    unacked: int | None = None
    consumers: int | None = None
    flow: Flow = msgspec.field(default_factory=Flow)
    oldest_at: int = 0  #: since when the first of it waits, UTC ms; 0 for nobody knows
    state: str = insight.UNKNOWN
    wrong: tuple[str, ...] = ()
    pauses: tuple[Pause, ...] = ()  #: that hold all of it
    tasks: int = 0  #: that wait in the lane or of the shop by the records, wherever their messages are
    apart: bool = False  #: of a lane: some of those may wait in queues of their shops
    leaving: bool = False  #: of a shop that goes back to the lanes
    curve: tuple[int, ...] = ()

    @property
    def depth(self) -> int | None:
        """What waits in it."""
        return None if self.ready is None else self.ready + self.parked

    @property
    def drained_s(self) -> float | None:
        """Seconds until what is ready now has gone; None where nothing goes, or nobody knows."""
        if self.ready is None or not self.drains:
            return None
        return insight.drained_s(self.ready, self.flow)

    @property
    def drains(self) -> bool:
        """False once it is known that nothing goes although something is ready."""
        if self.ready is None:
            return True
        return not (self.ready and self._held) and insight.drains(self.ready, self.flow)

    @property
    def _held(self) -> bool:
        """Whether what went of late tells nothing of what goes now: nobody takes anything out of it."""
        return insight.NO_CONSUMER in self.wrong or insight.PAUSED in self.wrong


class Needing(msgspec.Struct, frozen=True, kw_only=True):
    """How many queues need somebody, and the worst that is the matter with one of them."""

    number: int = 0
    worst: str = ""


class QueuesNow(msgspec.Struct, frozen=True, kw_only=True):
    """Lanes, queues of shops (the deepest first), back-off queues, dead letters."""

    rows: tuple[QueueNow, ...] = ()
    shops: int = 0  #: queues of shops that there are; rows may be fewer
    unlisted: tuple[str, ...] = ()  #: states of those of them that have no row and need somebody
    ready: int = 0  #: of lanes and of all queues of shops
    held: int = 0  #: by workers, likewise
    told: bool = True  #: whether the broker tells what it holds
    skipped: int = 0  #: of what is ready, messages without a task that waits, while nobody takes any
    publisher: PublisherNow = msgspec.field(default_factory=PublisherNow)
    workers: tuple[WorkerInfo, ...] = ()
    at_ms: int = 0

    def needing(self) -> Needing:
        """Queues that do not go on by themselves; what somebody paused is no trouble, dead letters have their page."""
        found = [row.state for row in self.rows if row.state in insight.NEEDS] + list(self.unlisted)
        return Needing(number=len(found), worst=min(found, key=insight.NEEDS.index, default=""))

    def find(self, name: str) -> QueueNow | None:
        """One of the rows."""
        return next((row for row in self.rows if row.name == name), None)


class _Look(msgspec.Struct, frozen=True, kw_only=True):
    """What the rows of one moment are made of."""

    snapshot: Snapshot
    states: Mapping[str, str]  #: of queues of shops, by ``platform:shop_id``
    known: Mapping[str, Shop]
    by_name: Mapping[str, QueueDepth]
    flows: Mapping[str, Flow]
    blocked: bool
    occupied: Mapping[str, bool]  #: by lane, and "" for queues of shops
    long: frozenset[str]  #: of the shops that are not asked for their oldest task, those with one that waits long


class QueueBoard:
    """``now`` and ``story`` block; call them off the GUI thread."""

    def __init__(self, questions: QueueQueries, live: Live, history: History, clock: Clock) -> None:
        self._clock = clock
        self.questions = questions
        self._store, self._registry, self._live, self._history = questions.store, questions.registry, live, history
        self.rates = QueueRates()
        self._drains = DrainQueries(questions.store, questions.registry)
        self._drain, self._drain_due, self._drain_next = Drain(rows=(), instants=(), slots=0), 0.0, 0.0
        self._drain_of: object = None
        self._drain_heard: object = None  #: what was heard of the fleet before it was looked at last
        self._drain_still = 0.0
        self._begun = False
        self._lock = threading.Lock()
        self._kept: dict[str, deque[Point]] = {}
        self._own: frozenset[str] = frozenset()
        live.on_changes(lambda changes: self.rates.note(changes.events))
        live.on_snapshot(self._sample)

    # ---------------------------------------------------------------------------------------------------- the present
    def now(self, most: int = DEEPEST, also: str = "") -> QueuesNow:
        """All of them, of shops the ``most`` deepest, and the one called ``also``."""
        snapshot = self._live.snapshot()
        return self._now(snapshot, self._samples(3600, 60, snapshot.at_ms), most, also)

    def _now(self, snapshot: Snapshot, past: Sequence[Sample] | None, most: int = DEEPEST, also: str = "") -> QueuesNow:
        """``past``: of which there are curves; None: only what may need somebody is looked at."""
        states = self._documents()
        keys = {lane.shop_queue(key.partition(":")[2]): key for key in states}
        by_name = {one.name: one for one in snapshot.depths} if snapshot.told else {}
        depths = {name: self._depth_of(name, key, snapshot, by_name) for name, key in keys.items()}
        deepest = sorted(keys, key=lambda name: (-depths[name], name))
        flows = self.rates.flows(snapshot.at_ms, states)
        unasked = [keys[name] for name in deepest[DEEPEST:] if depths[name]]
        look = _Look(
            snapshot=snapshot, states=states, known=self._registry.shops(), by_name=by_name, flows=flows,
            blocked=snapshot.publisher().blocked, occupied=_occupied(snapshot),
            long=self._long(snapshot, unasked, flows),
        )  # fmt: skip
        retrying = self._retrying(snapshot)
        rows = [self._lane(name, look, past) for name in lane.LANES]
        asked = frozenset(deepest[:DEEPEST])
        listed = deepest[:most] + [name for name in deepest[most:] if name == also]
        rows += [
            replace(
                self._shop(keys[name], look, ask=name in asked), curve=tuple(one.depth for one in self._points(name))
            )
            for name in listed
        ]
        shown = frozenset(listed)
        unlisted = self._needing([(keys[name], depths[name]) for name in deepest if name not in shown], look)
        rows += [
            self._delay(level, by_name.get(queues.delay_queue(level)), retrying, told=snapshot.told)
            for level in self._levels(by_name)
        ]
        if past is not None:
            rows.append(self._dead(snapshot, past, flows))
        work = [one for one in by_name.values() if one.kind == LANE or one.name in keys]
        return QueuesNow(
            rows=tuple(rows), shops=len(keys), unlisted=unlisted, told=snapshot.told,
            publisher=snapshot.publisher(),
            ready=sum(one.ready for one in work), held=sum(one.unacked or 0 for one in work),
            skipped=skipped(snapshot.counts, snapshot.depths) if snapshot.told else 0,
            workers=snapshot.workers, at_ms=snapshot.at_ms,
        )  # fmt: skip

    def needing(self) -> Needing:
        """How many need somebody now; nothing is known while the broker does not tell.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        snapshot = self._live.snapshot()
        # without their curves, and dead letters have their page: both take longer than all else
        return self._now(snapshot, None).needing() if snapshot.at_ms and snapshot.told else Needing()

    def holders(self, name: str) -> HoldersNow:
        """Who holds what of a queue.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        snapshot = self._live.snapshot()
        return holders.look(self.questions, snapshot.depths if snapshot.told else (), name)

    def forecast(self) -> Drain:
        """When what waits will have run, and what it misses: looked at again every half minute, more seldom where
        nobody works and nothing new is heard, at once where another number of slots takes work, or the broker is lost
        or back or takes no messages, and in at most a twentieth of the time.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        begun, snapshot = self._clock.monotonic(), self._live.snapshot()
        reached, blocked = snapshot.broker_serves, snapshot.publisher().blocked
        takers = [info for info in snapshot.workers if takes_work(info, snapshot.at_ms)]
        of = reached, blocked, sorted((info.worker, len(info.slots)) for info in takers)
        still = not self._drain.slots and self._drain_heard is not None and self._drain_heard == snapshot.heard()
        due = self._drain_still if still else self._drain_due
        if begun >= due or (of != self._drain_of and begun >= self._drain_next):
            self._drain_of = None  # where it cannot be told now, what was told before is not told again
            self._drain = self._drains.look(reached=reached, blocked=blocked)
            self._drain_of, self._drain_heard = of, snapshot.heard()
            ended = self._clock.monotonic()
            self._drain_next = ended + FORECAST_SHARE * (ended - begun)
            self._drain_due = max(ended + FORECAST_S, self._drain_next)
            self._drain_still = max(ended + FORECAST_STILL_S, self._drain_next)
        return self._drain

    def _documents(self) -> Mapping[str, str]:
        """State of each queue of a shop, by ``platform:shop_id``."""
        found = {}
        for key, body in self._store.documents(shop_queue.KIND).items():
            try:
                found[key] = shop_queue.parse(body).state
            except UsageError:  # of a newer program: the queue is there all the same
                found[key] = shop_queue.OPEN
        with self._lock:
            self._own = frozenset(found)
        return found

    def _lane(self, name: str, look: _Look, past: Sequence[Sample] | None) -> QueueNow:
        snapshot = look.snapshot
        depth, counts = look.by_name.get(lane.LANE_QUEUE + name), snapshot.counts.lanes.get(name, {})
        parked = counts.get(Status.BLOCKED, 0)
        oldest = self._oldest(lane.LANE_QUEUE + name) if parked or depth is None or depth.ready else 0
        holds = tuple(one for one in snapshot.pauses if one.gate == paused.GATE and one.scope == SCOPE_ALL)
        row = QueueNow(
            name=lane.LANE_QUEUE + name,
            kind=LANE,
            lane=name,
            ready=depth.ready if depth is not None else None,
            parked=parked,
            unacked=depth.unacked if depth is not None else None,
            consumers=depth.consumers if depth is not None else None,
            flow=look.flows.get(name, Flow()),
            oldest_at=oldest,
            pauses=holds,
            tasks=_waiting(counts),
            apart=bool(look.states),
            curve=tuple(getattr(sample, name) for sample in past or ()),
        )
        return _judged(row, look)

    def _shop(self, key: str, look: _Look, *, ask: bool) -> QueueNow:
        name, snapshot = lane.shop_queue(key.partition(":")[2]), look.snapshot
        depth, shop = look.by_name.get(name), look.known.get(key)
        counts = snapshot.counts.shops.get(key, {})
        parked = counts.get(Status.BLOCKED, 0)
        platform = key.partition(":")[0]
        scopes = (SCOPE_ALL, f"platform:{platform}", f"shop:{key}")
        row = QueueNow(
            name=name,
            kind=SHOP,
            shop=key,
            title=shop.name if shop is not None else "",
            ready=depth.ready if depth is not None else None if not snapshot.told else 0,
            parked=parked,
            unacked=depth.unacked if depth is not None else None,
            consumers=depth.consumers if depth is not None else None,
            flow=look.flows.get(key, Flow()),
            oldest_at=self._oldest(name) if ask and (parked or depth is None or depth.ready) else 0,
            pauses=tuple(one for one in snapshot.pauses if one.gate == paused.GATE and one.scope in scopes),
            tasks=_waiting(counts),
            leaving=look.states[key] != shop_queue.OPEN,
        )
        return _judged(row, look)

    def _needing(self, shops: Sequence[tuple[str, int]], look: _Look) -> tuple[str, ...]:
        """What is the matter with those that have no row and need somebody, of shops and how much waits of each."""
        if not look.snapshot.told:
            return ()
        if look.blocked:  # then that is the worst of every one
            return (insight.BLOCKED,) * len(shops)
        states = (self._shop(key, look, ask=False).state for key, depth in shops if depth)
        return tuple(one for one in states if one in insight.NEEDS)

    def _long(self, snapshot: Snapshot, shops: Sequence[str], flows: Mapping[str, Flow]) -> frozenset[str]:
        """Those of which something waits as long as in a queue that is stuck; one question for all of them, and of
        those alone where nothing goes.
        """
        idle = [key for key in shops if insight.still(flows.get(key, Flow()))]
        if not idle or not snapshot.told or snapshot.publisher().blocked:
            return frozenset()
        since = Term(field="created", op="<=", number=float(snapshot.at_ms - insight.STUCK_S * 1000))
        terms = (equals("status", *sorted(WAITING)), equals("shop", *idle), since)
        return frozenset(one.value for one in self._store.grouped(terms, "shop", LONG).groups)

    def _delay(self, level: int, depth: QueueDepth | None, retrying: Sequence[Task], *, told: bool) -> QueueNow:
        mine = [one for one in retrying if envelope.level(one.due_at - one.updated_at, self.questions.delays) == level]
        name = queues.delay_queue(level)
        ready = depth.ready if depth is not None else len(mine) if told else None
        return QueueNow(
            name=name,
            kind=DELAY,
            delay_s=level,
            ready=ready,
            oldest_at=min((one.updated_at for one in mine), default=0),
            state=insight.UNKNOWN if ready is None else insight.WAITS if ready else insight.EMPTY,
            curve=tuple(one.depth for one in self._points(name)),
        )

    def _dead(self, snapshot: Snapshot, past: Sequence[Sample], flows: Mapping[str, Flow]) -> QueueNow:
        number = snapshot.counts.triage.get(Triage.OPEN, 0)
        terms = (equals("status", Status.DEAD), equals("triage", Triage.OPEN))
        first = (
            self._store.query(Query(terms=terms, sort="updated", descending=False, limit=1, want_total=False)).tasks
            if number
            else ()
        )
        return QueueNow(
            name=queues.DEAD_QUEUE,
            kind=DEAD_KIND,
            ready=number,
            flow=flows.get(DEAD, Flow()),
            oldest_at=first[0].updated_at if first else 0,
            state=insight.TRIAGE if number else insight.EMPTY,
            curve=tuple(sample.dead for sample in past),
        )

    def _levels(self, by_name: Mapping[str, QueueDepth]) -> list[int]:
        there = {queues.delay_of(name) for name, one in by_name.items() if one.kind == DELAY and one.ready}
        return sorted({*self.questions.delays, *there} - {0})

    def _retrying(self, snapshot: Snapshot) -> Sequence[Task]:
        if not snapshot.counts.status.get(Status.RETRYING, 0):
            return ()
        query = Query(terms=(equals("status", Status.RETRYING),), sort="due", descending=False, limit=LEVELS)
        return self._store.query(query).tasks

    def _oldest(self, name: str) -> int:
        """0 where nobody knows: those in front may wait in the queues of their shops, and be many."""
        found = next(tasks_in(self._store, self.questions.named(name), PEEKED, LOOKED), None)
        return found.created_at if found is not None else 0

    def _depth_of(self, name: str, key: str, snapshot: Snapshot, by_name: Mapping[str, QueueDepth]) -> int:
        counts = snapshot.counts.shops.get(key, {})
        depth = by_name.get(name)
        if depth is None:
            return _waiting(counts)
        return depth.ready + counts.get(Status.BLOCKED, 0)

    # ------------------------------------------------------------------------------------------------------- the past
    def story(self, row: QueueNow, range_s: int, points: int) -> tuple[Point, ...]:
        """One queue over the last ``range_s`` seconds, the oldest first; of a lane also from before this window was
        open, its rates only as long as they were counted.
        """
        now = self._live.now_ms()
        kept = [one for one in self._points(row.name) if one.at_ms >= now - range_s * 1000]
        if row.kind not in (LANE, DEAD_KIND):
            return _thin(kept, points)
        name = row.lane or "dead"
        first = kept[0].at_ms if kept else now
        before = [
            Point(sample.at_ms, getattr(sample, name), -1.0, -1.0)
            for sample in self._samples(range_s, points, now)
            if sample.at_ms < first
        ]
        return _thin([*before, *kept], points)

    def _samples(self, range_s: int, points: int, now_ms: int) -> Sequence[Sample]:
        return self._history.series(range_s, points, now_ms)

    def _points(self, name: str) -> list[Point]:
        with self._lock:
            return list(self._kept.get(name, ()))

    def _sample(self, snapshot: Snapshot) -> None:
        """Keep a point of each queue now and then; called in the thread of the watcher."""
        if not snapshot.store.connected:
            return
        if not self._begun:
            self._begun = True
            self.rates.begin(snapshot.at_ms)
        with self._lock:
            own = self._own
        last = self._kept.get(queues.DEAD_QUEUE)
        if not snapshot.told or (last and snapshot.at_ms - last[-1].at_ms < STEP_MS):
            return
        flows = self.rates.flows(snapshot.at_ms, own, 60)
        keys = {lane.shop_queue(key.partition(":")[2]): key for key in own}
        fresh = {queues.DEAD_QUEUE: (snapshot.counts.triage.get(Triage.OPEN, 0), flows.get(DEAD, Flow()), False)}
        for one in snapshot.depths:
            if one.kind == LANE:
                name = one.name.removeprefix(lane.LANE_QUEUE)
                parked = snapshot.counts.lanes.get(name, {}).get(Status.BLOCKED, 0)
                fresh[one.name] = one.ready + parked, flows.get(name, Flow()), False
            elif one.kind == SHOP and one.name in keys:
                key = keys[one.name]
                parked = snapshot.counts.shops.get(key, {}).get(Status.BLOCKED, 0)
                fresh[one.name] = one.ready + parked, flows.get(key, Flow()), True
            elif one.kind == DELAY:
                fresh[one.name] = one.ready, Flow(), False
        with self._lock:
            self._keep(snapshot.at_ms, fresh)

    def _keep(self, at_ms: int, fresh: Mapping[str, tuple[int, Flow, bool]]) -> None:
        for name in self._kept.keys() - fresh.keys():
            del self._kept[name]
        for name, (depth, flow, of_shop) in fresh.items():
            kept = self._kept.get(name)
            if kept is None:
                if of_shop and not depth:
                    continue  # thousands of empty ones need no memory
                kept = self._kept[name] = deque(maxlen=SHOP_KEPT if of_shop else KEPT)
            if not kept or at_ms < kept[-1].at_ms or at_ms - kept[-1].at_ms >= (SHOP_STEP_MS if of_shop else STEP_MS):
                kept.append(Point(at_ms, depth, flow.in_s, flow.out_s))


def _judged(row: QueueNow, look: _Look) -> QueueNow:
    at_ms = look.snapshot.at_ms
    known_s = max(0, at_ms - row.oldest_at) / 1000 if row.oldest_at else 0.0
    facts = Facts(
        waiting=row.depth,
        ready=row.ready or 0,
        consumers=row.consumers,
        occupied=look.occupied[row.lane],
        flow=row.flow,
        oldest_s=insight.STUCK_S if row.shop in look.long else known_s,
        blocked=look.blocked,
        paused=bool(row.pauses),
    )
    return replace(row, state=insight.state(facts), wrong=insight.wrong(facts))


def _occupied(snapshot: Snapshot) -> dict[str, bool]:
    """By lane, and "" for all queues of shops: whether workers serve it of which none has a slot for it."""
    takers = [one for one in snapshot.fleet().workers if one.takes_work]
    serving = {name: [one for one in takers if name in one.info.open_lanes] for name in map(str, lane.LANES)}
    serving[""] = [one for one in takers if set(lane.LANES) <= set(one.info.lanes)]
    return {name: bool(some) and not any(one.has_room(name) for one in some) for name, some in serving.items()}


def _waiting(counts: Mapping[str, int]) -> int:
    return sum(counts.get(one, 0) for one in WAITING)


def _thin(points: Iterable[Point], most: int) -> tuple[Point, ...]:
    found = list(points)
    step = -(-len(found) // max(1, most))
    return tuple(found[-1 - at] for at in range(0, len(found), step or 1))[::-1]


class QueueRates:
    """Counts by lane and shop, so that a shop may get a queue of its own meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since = 0
        self._parts: deque[tuple[int, Counter[Place], Counter[Place]]] = deque()

    def begin(self, now_ms: int) -> None:
        """Nothing is known of the time before this instant."""
        with self._lock:
            self._since = now_ms
            self._parts.clear()

    def note(self, events: Sequence[Event]) -> None:
        """Take in events in their order."""
        with self._lock:
            for event in events:
                if event.from_ != event.to:
                    self._note(event)

    def _note(self, event: Event) -> None:
        shop = f"{event.platform}:{event.shop_id}"
        was, is_ = event.from_ in WAITING, event.to in WAITING
        if was != is_:
            self._count(event.at, (event.lane, shop), came=is_)
        if Status.RETRYING in (event.from_, event.to):
            self._count(event.at, (BACK_OFF, shop), came=event.to == Status.RETRYING)
        if event.to == Status.DEAD:
            self._count(event.at, (DEAD, shop), came=True)

    def _count(self, at_ms: int, place: Place, *, came: bool) -> None:
        part = at_ms // (PART_S * 1000)
        if not self._parts or part > self._parts[-1][0]:
            self._parts.append((part, Counter(), Counter()))
            while self._parts[0][0] <= part - PARTS:
                self._parts.popleft()
        _part, into, out = self._parts[-1]
        (into if came else out)[place] += 1

    def flows(self, now_ms: int, dedicated: Collection[str], seconds: int = PART_S * PARTS) -> dict[str, Flow]:
        """By lane of what has no queue of its own, and by ``platform:shop_id`` of the ``dedicated`` ones; over at most
        the last ``seconds``.
        """
        own = frozenset(dedicated)
        with self._lock:
            if not self._since:
                return {}
            known = min(float(seconds), max(0.001, (now_ms - self._since) / 1000))
            edge = now_ms // (PART_S * 1000) - seconds // PART_S
            came, went = Counter[str](), Counter[str]()
            last: dict[str, int] = {}  #: part in which something went
            for part, into, out in self._parts:
                if part > edge:
                    for total, counted in ((came, into), (went, out)):
                        for (lane, shop), number in counted.items():
                            name = shop if shop in own and lane not in (BACK_OFF, DEAD) else lane
                            total[name] += number
                            if total is went:
                                last[name] = part
        names = {*came, *went, "high", "normal", "low", BACK_OFF, DEAD, *own}
        idle = {name: max(0.0, now_ms / 1000 - (part + 1) * PART_S) for name, part in last.items()}
        return {name: Flow(came[name] / known, went[name] / known, known, idle.get(name, 0.0)) for name in names}
