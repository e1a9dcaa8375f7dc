"""Gathers what ``insight.flow`` judges: from a snapshot, what was measured, and a few questions about gates."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from services.domain.errors import BrokerUnavailable
from services.domain.fleet.shop import SCOPE_ALL, Shop, scopes_of
from services.domain.gates import ability, home, listed, paused
from services.domain.insight import depth
from services.domain.insight.forecast import flow
from services.domain.insight.forecast.flow import Facts, Flow, Line
from services.domain.insight.gates import BREAKER, DEPENDENCY, HOME, NO_WORKER, SESSION, SHOP_BUSY, TWIN
from services.domain.insight.worker import CUT_OFF, DRAINING, FINE, FleetNow, takes_work
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals, excludes
from services.domain.task.status import TERMINAL, WAITING, Status, Triage
from services.engine.registry import Registry
from services.monitor.live import Rates, Snapshot, look
from services.monitor.numbers.measured import Measured
from services.monitor.numbers.meter import Meter
from services.monitor.waits import hung, successors
from services.monitor.waits.gates import GateLook
from services.ports import Broker, Clock, Store

#: parked records that are looked at; with more of them these speak for all of their shop
LOOKED_AT = 1000
#: of those, so many of a gate are asked about what they wait for
ASKED = 100
#: a recorded task that is not sent after so long is told
MOMENT_MS = 5_000
#: at most these shares of the time go into questions about gates, and into judging anew when what waits will have
#: ended: between two judgements the last one stands with the numbers of the moment, where it can hold
SHARE, JUDGED_SHARE = 20, 10
#: the same of gates while nothing else is heard of the fleet: what neither says when it opens nor makes an event
STILL_SHARE, STILL_MOST_S = 200, 30.0
#: what the gate of a parked task is to its flow; where that is more than one word, it is asked for
_OF_GATE = {gate.name: gate.flow for gate in listed.ORDER if gate.flow}
#: so large a share of what waits speaks for all of it
NEARLY_ALL = 0.8


class Gates(msgspec.Struct):
    """Waiting tasks that cannot just start, by reason and shop: for a person, and those that go on by themselves."""

    persons: dict[str, Counter[str]] = msgspec.field(
        default_factory=lambda: defaultdict(Counter)
    )  #: reason -> shop -> tasks
    later: dict[str, Counter[str]] = msgspec.field(
        default_factory=lambda: defaultdict(Counter)
    )  #: the same of what goes on
    paused: Counter[str] = msgspec.field(default_factory=Counter)  #: of those for a person, by the scope of their pause
    closed: Mapping[str, str] = msgspec.field(default_factory=dict)  #: by scope of a pause or by shop: the gate there
    waited: Counter[str] = msgspec.field(default_factory=Counter)  #: of closed shops, what of them is counted here
    unsent: int = 0
    opens_at: int = 0  #: when the first of the shops that fail too often tries again, UTC ms, 0 for none
    switches: dict[str, int] = msgspec.field(default_factory=dict)  #: when the first switch opens by itself, by reason


class FlowQueries:
    """``look`` blocks; one thread at a time. ``fresh`` asks nobody."""

    def __init__(self, store: Store, registry: Registry, meter: Meter, clock: Clock) -> None:
        self._store, self._registry, self._meter, self._clock = store, registry, meter, clock
        self._look, self._measured = GateLook(store, registry), Measured(store)
        self._hung: frozenset[str] = frozenset()
        self._gates = Gates()
        self._judged: Flow | None = None
        self._due = self._still_due = self._judged_due = 0.0
        self._heard: object = None

    def look(self, snapshot: Snapshot) -> Flow:
        """How the fleet stands."""
        if not snapshot.at_ms or not snapshot.store.connected:
            return flow.judge(numbers(snapshot))
        begun = self._clock.monotonic()
        if begun >= self._due and (begun >= self._still_due or self._may_differ(snapshot)):
            self._gates, self._heard = self._ask(snapshot), snapshot.heard()
            took = self._clock.monotonic() - begun
            self._due = begun + SHARE * took
            self._still_due = begun + min(STILL_MOST_S, STILL_SHARE * took)
        begun, facts, judged = self._clock.monotonic(), numbers(snapshot, unsent=self._gates.unsent), self._judged
        if judged is None or begun >= self._judged_due or _differ(judged.facts, facts):
            _count_closed(self._gates, snapshot)
            judged = flow.judge(facts_of(snapshot, self._gates, self._meter, self._registry.shops()))
            self._judged = judged
            self._judged_due = begun + JUDGED_SHARE * (self._clock.monotonic() - begun)
            return judged
        return flow.again(judged, facts)

    def _may_differ(self, snapshot: Snapshot) -> bool:
        """Whether something else is heard of the fleet than when it was asked, or a gate has opened by itself since."""
        opens = filter(None, (self._gates.opens_at, *self._gates.switches.values()))
        return self._heard != snapshot.heard() or any(at <= snapshot.at_ms for at in opens)

    def _ask(self, snapshot: Snapshot) -> Gates:
        found = Gates()
        self._hung = self._hung_shops(snapshot)
        broken = self._store.breakers()
        found.opens_at = min((one.until for one in broken), default=0)
        for one in snapshot.pauses:
            if one.until:
                why = listed.BY_NAME[one.gate].flow
                found.switches[why] = min(one.until, found.switches.get(why, one.until))
        closed = dict.fromkeys(self._hung, SHOP_BUSY) | _closed(snapshot, {one.shop for one in broken})
        found.closed = closed
        _count_closed(found, snapshot)
        if snapshot.counts.status.get(Status.BLOCKED, 0):
            self._of_parked(found, snapshot, closed)
        self._of_lanes(found, snapshot, closed)
        found.unsent = self._unsent(snapshot)
        return found

    def _hung_shops(self, snapshot: Snapshot) -> frozenset[str]:
        """Shops all of whose places are taken by tasks that seem to hang."""
        usual = partial(self._measured.usual, declared_s=0)
        places = Counter(slot.shop for slot in hung.slots(snapshot.fleet(), usual, snapshot.at_ms))
        shops = self._registry.shops()
        return frozenset(
            shop
            for shop, number in places.items()
            if number >= (max(1, shops[shop].concurrency) if shop in shops else 1)
        )

    def _of_parked(self, found: Gates, snapshot: Snapshot, closed: Mapping[str, str]) -> None:
        """Those of open shops by the gate that is closed now, as the list of tasks says it."""
        parked = snapshot.counts.status.get(Status.BLOCKED, 0)
        # those that met a busy shop are usually far more than all others, which must not be missed for them
        parts = ((excludes("gate", SHOP_BUSY),), (equals("gate", SHOP_BUSY),)) if parked <= 5 * LOOKED_AT else ((),)
        for part in parts:
            terms = (equals("status", Status.BLOCKED), *part)
            page = self._store.query(Query(terms=terms, limit=LOOKED_AT, want_total=bool(part)))
            total = page.number.number if part else parked
            stand_for = max(1.0, total / len(page.tasks)) if page.next is not None and page.tasks else 1.0
            self._sort(found, page.tasks, snapshot, closed, stand_for)

    def _of_lanes(self, found: Gates, snapshot: Snapshot, closed: Mapping[str, str]) -> None:
        """What is queued in a lane that no worker serves, where others are served."""
        taken = {lane for info in snapshot.workers if takes_work(info, snapshot.at_ms) for lane in info.open_lanes}
        for lane, counts in snapshot.counts.lanes.items():
            queued = counts.get(Status.QUEUED, 0)
            if not queued or not taken or lane in taken:
                continue
            terms = (equals("status", Status.QUEUED), equals("lane", lane))
            tasks = self._store.query(Query(terms=terms, limit=LOOKED_AT, want_total=False)).tasks
            self._sort(found, tasks, snapshot, closed, max(1.0, queued / max(1, len(tasks))))

    def _sort(
        self, found: Gates, tasks: Sequence[Task], snapshot: Snapshot, closed: Mapping[str, str], stand_for: float
    ) -> None:
        """Count each of these tasks at its own gate, and not at that of its shop where that is another one."""
        reasons = self._reasons(tasks, snapshot)
        sorts = Counter((task.shop, task.task_type, reasons[task.task_id]) for task in tasks)
        for (shop, kind, why), number in sorts.items():
            usual = _of_shop(shop, closed)
            if why == usual:
                continue
            stands = round(number * stand_for)
            _add(found, usual, shop, -stands)
            _add(found, why, shop, stands)
            for sign, reason in ((-1, usual), (1, why)):
                if reason == "paused":
                    found.paused[_pause_of(shop, kind, closed)] += sign * stands

    def _reasons(self, tasks: Sequence[Task], snapshot: Snapshot) -> dict[str, str]:
        """Why each of these tasks does not just start: a reason, or "" where it will."""
        gates = self._look.of(tasks)
        found: dict[str, str] = {}
        hopeless = self._hopeless([task for task in tasks if gates.get(task.task_id) == DEPENDENCY][:ASKED])
        behind_held = self._behind_held([task for task in tasks if gates.get(task.task_id) == TWIN][:ASKED])
        for task in tasks:
            gate = gates.get(task.task_id, "")
            if gate == DEPENDENCY:
                found[task.task_id] = "dependency" if task.task_id in hopeless else "others"
            elif gate == TWIN:
                behind = task.shop in self._hung
                found[task.task_id] = "twin" if task.task_id in behind_held else "hung" if behind else "same"
            elif gate == NO_WORKER:
                kind = self._registry.task_type(task.task_type)
                supply = ability.supply(kind, task.lane, snapshot.workers, snapshot.at_ms)
                # where nobody works at all it is not known that whoever is started cannot: that is told
                found[task.task_id] = "" if supply.able or not supply.seen else "need"
            elif gate == HOME:
                node = home.node_of(task.gate)
                alive = bool(node) and any(
                    info.node == node and takes_work(info, snapshot.at_ms) for info in snapshot.workers
                )
                found[task.task_id] = "" if alive else "home"
            else:
                behind = gate == SHOP_BUSY and task.shop in self._hung
                found[task.task_id] = "hung" if behind else _OF_GATE.get(gate, "")
        return found

    def _hopeless(self, tasks: Sequence[Task]) -> frozenset[str]:
        """Those that depend on something that will not succeed by itself."""
        needs = self._store.needs([task.task_id for task in tasks]) if tasks else []
        names = sorted({name for one in needs for name in one})
        last = dict(zip(names, successors.latest(self._store, self._store.get(names)), strict=True)) if names else {}
        failed = {
            name
            for name, record in last.items()
            if record is None or (record.status in TERMINAL and record.status != Status.SUCCEEDED)
        }
        return frozenset(task.task_id for task, one in zip(tasks, needs, strict=True) if failed.intersection(one))

    def _behind_held(self, tasks: Sequence[Task]) -> frozenset[str]:
        uniqs = sorted({task.guard for task in tasks if task.guard})
        holders = self._store.holders(uniqs) if uniqs else []
        held = {one.guard for one in holders if one is not None and one.status == Status.HELD}
        return frozenset(task.task_id for task in tasks if task.guard in held)

    def _unsent(self, snapshot: Snapshot) -> int:
        """Recorded tasks whose message the broker does not have, once that is no matter of a moment."""
        pending = snapshot.counts.status.get(Status.PENDING, 0)
        if not pending:
            return 0
        terms = (equals("status", Status.PENDING),)
        oldest = self._store.query(Query(terms=terms, descending=False, limit=1, want_total=False)).tasks
        return pending if oldest and snapshot.at_ms - oldest[0].updated_at >= MOMENT_MS else 0


def _count_closed(found: Gates, snapshot: Snapshot) -> None:
    """What waits at shops of which nothing starts, as of this snapshot: what came since the gates were asked is no more
    about to start than the rest. What was found of single tasks stays.
    """
    if not found.closed:
        return
    for shop in {*snapshot.counts.shops, *found.waited}:
        waiting = sum(snapshot.counts.shops.get(shop, {}).get(status, 0) for status in WAITING)
        more = waiting - found.waited[shop]
        if more and (why := _of_shop(shop, found.closed)):
            found.waited[shop] = waiting
            _add(found, why, shop, more)
            if why == "paused":
                found.paused[_pause_of(shop, "", found.closed)] += more


def _differ(then: Facts, now: Facts) -> bool:
    """Whether something is otherwise on which a judgement depends as a whole."""
    return (then.known, then.scopes, then.workers, then.slots) != (now.known, now.scopes, now.workers, now.slots)


def facts_of(snapshot: Snapshot, gates: Gates, meter: Meter, shops: Mapping[str, Shop]) -> Facts:
    """A snapshot with what was measured, shop by shop; asks nobody."""
    bound: Counter[str] = Counter()
    for counted in (*gates.persons.values(), *gates.later.values()):
        bound.update(counted)
    base = numbers(snapshot, unsent=gates.unsent)
    rates = base.rates
    # what comes in other lanes takes none of the slots of a full one
    arrivals = meter.arrivals(snapshot.at_ms, base.lane)
    expected = flow.lasting(rates) / rates.in_s if rates.in_s else 0.0
    rows: dict[str, tuple[int, int]] = {}
    for shop in {*snapshot.counts.shops, *arrivals}:
        counts = snapshot.counts.shops.get(shop, {})
        waiting = max(0, sum(counts.get(status, 0) for status in WAITING) - bound[shop])
        if waiting or arrivals.get(shop):
            rows[shop] = waiting, counts.get(Status.RUNNING, 0)
    took = meter.took_by_shop(rows)
    lines = tuple(
        Line(
            shop=shops[shop].name or shop if shop in shops else shop,
            waiting=waiting,
            running=running,
            concurrency=max(1, shops[shop].concurrency) if shop in shops else 1,
            took=took[shop],
            arrivals_s=arrivals.get(shop, 0.0) * min(1.0, expected),
        )
        for shop, (waiting, running) in rows.items()
    )
    persons = tuple((reason, gates.persons[reason].total()) for reason in flow.REASONS if gates.persons[reason])
    laters = tuple((reason, gates.later[reason].total()) for reason in flow.LATER_REASONS if gates.later[reason])
    base = _told_pauses(base, snapshot, gates)
    opens_s = max(0, gates.opens_at - snapshot.at_ms) / 1000 if gates.opens_at else 0.0
    opens = tuple((why, max(0, at - snapshot.at_ms) / 1000) for why, at in gates.switches.items())
    return replace(_trimmed(base, persons, laters, lines), opens_s=opens_s, opens=opens)


def _told_pauses(base: Facts, snapshot: Snapshot, gates: Gates) -> Facts:
    """With the pauses that hold tasks: the only one, or several, that of the most first."""
    pauses = [one for one in snapshot.pauses if one.gate == paused.GATE]
    holding = [(pause, gates.paused[pause.scope]) for pause in pauses if gates.paused[pause.scope] > 0]
    if not holding or not all(pause.by for pause, _ in holding):
        return base
    holding.sort(key=lambda one: (-one[1], one[0].scope))
    first = holding[0][0]
    paused_s = max(0, snapshot.at_ms - first.at) // 1000 if first.at else 0
    if len(holding) == 1:
        return replace(base, pause=first, paused_s=paused_s)
    return replace(base, pause=None, pauses=tuple(holding), paused_s=paused_s)


def numbers(snapshot: Snapshot, *, unsent: int = 0) -> Facts:
    """What a snapshot alone tells; asks nobody."""
    status = snapshot.counts.status
    fleet, way = snapshot.fleet(), snapshot.publisher()
    pending = status.get(Status.PENDING, 0)
    lane = _full_lane(snapshot, fleet)
    unrecorded = depth.unrecorded(snapshot.counts, snapshot.depths) if snapshot.told else 0
    taking = fleet.taking(lane) if lane else [one for one in fleet.workers if one.takes_work]
    pauses = [one for one in snapshot.pauses if one.gate == paused.GATE]
    pause = pauses[0] if len(pauses) == 1 and pauses[0].by else None
    slots, busy = (sum(len(one.slots) for one in taking), sum(one.busy for one in taking)) if lane else (0, 0)
    return Facts(
        known=snapshot.at_ms > 0 or not snapshot.store.connected,
        store=snapshot.store.connected,
        writes=not snapshot.no_writes,
        broker=snapshot.broker_serves,
        answers=snapshot.told or snapshot.broker.embedded or not snapshot.broker.connected,
        blocked=way.blocked,
        waiting=sum(status.get(one, 0) for one in WAITING) + unrecorded,
        unrecorded=unrecorded,
        unsent=pending if way.blocked or not snapshot.broker_serves else min(unsent, pending),
        running=status.get(Status.RUNNING, 0),
        retrying=status.get(Status.RETRYING, 0),
        held=status.get(Status.HELD, 0),
        dead=snapshot.counts.triage.get(Triage.OPEN, 0),
        pause=pause,
        paused_s=max(0, snapshot.at_ms - pause.at) // 1000 if pause is not None and pause.at else 0,
        scopes=frozenset(pause.scope for pause in pauses),
        workers=fleet.number(FINE),
        cut_off=fleet.number(CUT_OFF),
        drained=fleet.number(DRAINING),
        slots=slots if lane else fleet.slots,
        busy=busy if lane else fleet.busy,
        lane=lane,
        elsewhere=fleet.free if lane else 0,
        alone=taking[0].name if len(taking) == 1 and not taking[0].info.auto else "",
        unconfirmed=min(status.get(Status.RUNNING, 0), sum(len(one.unconfirmed) for one in fleet.workers)),
        rates=snapshot.rates.flow,
    )


def _full_lane(snapshot: Snapshot, fleet: FleetNow) -> str:
    """The lane of nearly all that waits, if no slot that takes it is free while others are; else ""."""
    if not fleet.free:
        return ""
    waiting = {lane: sum(counts.get(status, 0) for status in WAITING) for lane, counts in snapshot.counts.lanes.items()}
    lane = max(waiting, key=lambda name: waiting[name], default="")
    if not lane or waiting[lane] < NEARLY_ALL * sum(waiting.values()):
        return ""
    queued = snapshot.counts.lanes[lane].get(Status.QUEUED, 0)
    return lane if queued and fleet.taking(lane) and not fleet.free_for(lane) else ""


def look_once(store: Store, broker: Broker, registry: Registry, clock: Clock) -> Flow:
    """How the fleet stands, for who asks once and follows no events. Blocking."""
    return taken_once(store, broker, registry, clock)[1]


def taken_once(store: Store, broker: Broker, registry: Registry, clock: Clock) -> tuple[Snapshot, Flow]:
    """The same with the snapshot that it is judged by. Blocking."""
    meter = Meter()
    meter.prime(store)
    try:
        depths, told = tuple(broker.depths()), True
    except BrokerUnavailable:  # its health says it; what the records tell is true all the same
        depths, told = (), False
    seen = look(store, broker.health())
    rates = Rates(flow=meter.rates(seen.at_ms))
    snapshot = dataclasses.replace(seen, taken=clock.monotonic(), depths=depths, depths_fresh=told, rates=rates)
    return snapshot, FlowQueries(store, registry, meter, clock).look(snapshot)


def _closed(snapshot: Snapshot, broken: Iterable[str]) -> dict[str, str]:
    """By scope of a pause or by shop: the gate that is closed there."""
    found = dict.fromkeys(broken, BREAKER)
    found.update(dict.fromkeys((one.shop for one in snapshot.sessions), SESSION))
    # in the order of the gates: the first that is closed for a scope is the one
    found.update({pause.scope: pause.gate for pause in reversed(snapshot.pauses)})
    return found


def _of_shop(shop: str, closed: Mapping[str, str]) -> str:
    """Why nothing of a shop starts: a reason, or "" where it may."""
    platform = shop.partition(":")[0]
    gates = {closed.get(scope, "") for scope in (SCOPE_ALL, f"platform:{platform}", f"shop:{shop}")}
    if at := next((gate for gate in listed.SWITCHES if gate in gates), ""):
        return listed.BY_NAME[at].flow
    return {SESSION: "login", BREAKER: "breaker", SHOP_BUSY: "hung"}.get(closed.get(shop, ""), "")


def _pause_of(shop: str, task_type: str, closed: Mapping[str, str]) -> str:
    """The pause that is told of a task of this shop, the widest there is; ``closed``: what is, by scope."""
    scopes = scopes_of(shop, task_type)
    return next((scope for scope in scopes if closed.get(scope) == paused.GATE), "")


def _add(found: Gates, why: str, shop: str, number: int) -> None:
    if why:
        counted = (found.later if why in flow.LATER_REASONS else found.persons)[why]
        counted[shop] = max(0, counted[shop] + number)


_Numbers = tuple[tuple[str, int], ...]


def _trimmed(base: Facts, persons: _Numbers, laters: _Numbers, lines: tuple[Line, ...]) -> Facts:
    """With the gates that were asked a moment before the numbers: never more than waits now."""
    kept, left = _at_most(persons, base.waiting)
    return replace(base, persons=kept, laters=_at_most(laters, left)[0], lines=lines)


def _at_most(numbers: _Numbers, left: int) -> tuple[_Numbers, int]:
    kept = []
    for reason, number in numbers:
        kept.append((reason, min(left, number)))
        left -= min(left, number)
    return tuple(one for one in kept if one[1]), left
