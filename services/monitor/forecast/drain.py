"""When what waits will have run, by lane and platform, and which deadlines and promises it misses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec

from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import ability, home, listed, quiet_hours
from services.domain.insight import publisher
from services.domain.insight.forecast import drain
from services.domain.insight.forecast.drain import Line, Miss
from services.domain.insight.worker import cut_off, takes_work
from services.domain.plans import schedule as schedules
from services.domain.promises import judge
from services.domain.promises import promise as promises
from services.domain.promises.promise import KIND, Promise
from services.domain.task.lane import LANES, Lane
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals, pages
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.engine.registry import Registry
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor.numbers.measured import Measured
from services.monitor.waits.gates import GateLook
from services.ports import Store

#: waiting tasks that are looked at, the oldest first; of more, the counters say how many there are
MOST, PAGE = 3_000, 500
#: lines that are followed, and instants that are told, the first of each kind
LINES, INSTANTS = 120, 4
MINUTE_MS = 60_000
#: gates of what starts in its turn
_BY_SLOTS = ("", listed.SHOP_BUSY, listed.MESSAGE, listed.BROKER, home.NO_WORKER, listed.LANE_ORDER)
_STATUSES = (Status.PENDING, Status.QUEUED, Status.BLOCKED)


class DrainRow(msgspec.Struct, frozen=True, kw_only=True):
    """A lane or a platform (``lane:normal``): what waits and when it is clear (seconds from now, None for never)."""

    name: str
    waiting: int
    clear_s: float | None
    said: Message


class InstantRow(msgspec.Struct, frozen=True, kw_only=True):
    """An instant that matters. ``kind``: deadline | promise; ``at``: UTC ms."""

    kind: str
    name: str
    at: int
    waiting: int
    miss: Miss
    said: Message
    of: tuple[str, ...] = ()  #: lanes and platforms whose tasks count to it, as rows are called


class Drain(msgspec.Struct, frozen=True, kw_only=True):
    """How what waits goes. ``why``: what waits for something that no slot opens, by its gate, most first; ``unsent``:
    what is recorded only, while the broker takes no messages.
    """

    rows: tuple[DrainRow, ...]
    instants: tuple[InstantRow, ...]
    slots: int
    why: tuple[tuple[str, int], ...] = ()
    unsent: int = 0
    measured: bool = True
    at_ms: int = 0  #: by the store's clock

    @property
    def stuck(self) -> int:
        """How many wait for something that no slot opens."""
        return sum(number for _gate, number in self.why)

    def missed(self, name: str = "") -> InstantRow | None:
        """The first instant that is missed, of those that concern a lane or platform (``lane:normal``)."""
        found = [one for one in self.instants if one.miss.left and (not name or name in one.of)]
        return min(found, key=lambda one: one.at, default=None)


class Raised(msgspec.Struct, frozen=True, kw_only=True):
    """What it would change if all that waits of a batch went through the high lane; spans in seconds from now. ``why``
    says that nobody knows.
    """

    number: int = 0  #: that wait for a slot
    as_is_s: float | None = None  #: until they are through as they are, None for never
    raised_s: float | None = None  #: and through the high lane
    later_s: float = 0.0  #: so much longer each other task waits on average
    others: int = 0  #: those that wait for a slot, too
    why: Message | None = None
    at_ms: int = 0  #: by the store's clock


class DrainQueries:
    """Blocking questions."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry, self._measured = store, registry, Measured(store)
        self._look = GateLook(store, registry)

    def look(self, *, reached: bool = True, blocked: bool = False) -> Drain:
        """How it goes from now on. ``reached``: whether the broker answers who asks; ``blocked``: it takes no messages
        from who asks. That it is so for workers is told by their heartbeats.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        now, zone = self._store.now_ms(), fleet_zone(self._store) or DEFAULT_ZONE
        known = self._store.workers()
        workers = [info for info in known if takes_work(info, now)]
        apart = [info for info in known if cut_off(info, now)]
        lost = not reached or bool(apart and not workers)
        workers += apart if lost else []
        slots = 0 if lost else sum(len(info.slots) for info in workers)
        lanes = {lane for info in workers for lane in info.open_lanes}
        found, scale = self._waiting()
        unsent: list[Task] = []
        if not lost and (blocked or publisher.look(BrokerHealth(connected=True), known, now).blocked):
            unsent = [one for one in found if one.status == Status.PENDING]
            found = [one for one in found if one.status != Status.PENDING]
        able = _Able(self._registry, workers)
        closed = self._look.of(found)
        gates = {one.task_id: _why(one, closed.get(one.task_id, ""), able) for one in found}
        tasks = [one for one in found if not gates[one.task_id]]
        why = _scaled(((gates[one.task_id], one) for one in found if gates[one.task_id]), scale)
        wanted = self._promises(zone, now)
        shops = self._registry.shops()
        chosen = {one.name: {shop.key for shop in schedules.fitting(one, shops.values())} for one, _at in wanted}
        also = {one.task_id: _also(one, wanted, chosen, now) for one in found}
        held = _scaled(
            ((name, one) for one in found if gates[one.task_id] for name in (*_rows_of(one), *also[one.task_id])), scale
        )
        every, measured = self._lines(tasks, scale, also, able)
        lines = drain.few([line for line in every if line.lane in lanes], LINES)
        order = list(LANES)
        course = drain.follow(lines, slots, order)
        waiting = _scaled(((name, one) for one in tasks for name in _rows_of(one)), scale)
        rows = tuple(
            DrainRow(
                name=name,
                waiting=number,
                clear_s=course.seconds.get(name) if measured and not lost else None,
                said=Message("drain.lost")
                if lost
                else drain.clears(
                    course.seconds.get(name),
                    measured=measured,
                    slots=_slots_of(name, slots, lanes),
                    waiting=number,
                    held=held.get(name, 0),
                ),
            )
            for name, number in sorted(waiting.items(), key=lambda item: (not item[0].startswith("lane"), item[0]))
        )
        instants = self._instants(lines, slots, order, tasks, wanted, held, now, zone) if measured and slots else ()
        return Drain(
            rows=rows,
            instants=tuple(instants),
            slots=slots,
            why=tuple(why.items()),
            unsent=sum(_scaled((("", one) for one in unsent), scale).values()),
            measured=measured,
            at_ms=now,
        )

    def raised(self, batch: str) -> Raised:
        """What it would change to raise a batch, against what is likely as it is.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        now = self._store.now_ms()
        workers = [info for info in self._store.workers() if takes_work(info, now)]
        slots, lanes = sum(len(info.slots) for info in workers), {lane for info in workers for lane in info.open_lanes}
        if not slots or Lane.HIGH not in lanes:
            return Raised(why=Message("drain.nobody"), at_ms=now)
        able = _Able(self._registry, workers)
        own, others, each, scale = self._apart(batch, able)
        alike, high = (
            dict.fromkeys(map(str, LANES), each),
            [msgspec.structs.replace(task, lane=Lane.HIGH) for task in own],
        )
        waiting = round(len(own) * each)
        counted = {task.task_id: (f"batch:{batch}",) for task in own}
        rest, known = self._lines(others, scale, {task.task_id: () for task in others}, able)
        courses = []
        for mine in (own, high):
            lines, measured = self._lines(mine, alike, counted, able)
            if not measured or not known:
                return Raised(number=waiting, why=Message("drain.unknown"), at_ms=now)
            there = [line for line in (*lines, *rest) if line.lane in lanes]
            courses.append(drain.follow(drain.few(there, LINES), slots, list(LANES)))
        as_is, raised = courses
        ends = [course.seconds.get(f"batch:{batch}") for course in courses]
        number = round(sum(line.waiting for line in rest))
        return Raised(
            number=waiting,
            as_is_s=ends[0],
            raised_s=ends[1],
            later_s=drain.later(as_is, raised, f"batch:{batch}", max(end or 0.0 for end in ends), number),
            others=number,
            at_ms=now,
        )

    def _apart(self, batch: str, able: _Able) -> tuple[list[Task], list[Task], float, Mapping[str, float]]:
        """What waits for a slot: of the batch, and of all others; with how many each of the first stands for, and each
        of the others, by lane.
        """
        terms = (equals("batch", batch), equals("status", *map(str, _STATUSES)))
        read = list(pages(self._store.query, Query(terms=terms, descending=False, limit=PAGE, want_total=False), MOST))
        own = [task for page in read for task in page.tasks]
        each = 1.0
        if read[-1].next is not None:
            (counts,) = self._store.batch_counts([batch])
            each = max(1.0, sum(counts.get(status, 0) for status in _STATUSES) / len(own))
        found, scale = self._waiting()
        rest = [task for task in found if task.batch != batch]
        seen, mine, left = (Counter(one.lane for one in some) for some in (found, own, rest))
        others = {
            lane: max(1.0, (seen[lane] * scale[lane] - mine[lane] * each) / number) for lane, number in left.items()
        }
        closed = self._look.of([*own, *rest])
        own, rest = ([one for one in some if not _why(one, closed.get(one.task_id, ""), able)] for some in (own, rest))
        return own, rest, each, others

    def _waiting(self) -> tuple[list[Task], Mapping[str, float]]:
        """What waits, the oldest of it, and how many each of these stands for, by lane."""
        terms = (equals("status", *map(str, _STATUSES)),)
        read = list(pages(self._store.query, Query(terms=terms, descending=False, limit=PAGE, want_total=False), MOST))
        found = [task for page in read for task in page.tasks]
        seen = Counter(task.lane for task in found)
        if read[-1].next is None:
            return found, dict.fromkeys(seen, 1.0)
        lanes = self._store.counts().lanes
        total = {lane: sum(lanes.get(lane, {}).get(status, 0) for status in _STATUSES) for lane in seen}
        return found, {lane: max(1.0, total[lane] / number) for lane, number in seen.items()}

    def _promises(self, zone: str, now: int) -> list[tuple[Promise, int]]:
        """Those that are to be done by an instant that is still to come."""
        return judge.ending(promises.readable(self._store.documents(KIND)), zone, now)

    def _lines(
        self,
        tasks: Sequence[Task],
        scale: Mapping[str, float],
        counted: Mapping[str, tuple[str, ...]],
        able: _Able,
    ) -> tuple[list[Line], bool]:
        """``counted``: the instants that a task counts to, by its id."""
        shops = self._registry.shops()
        groups: dict[tuple[str, str, str, tuple[str, ...]], list[Task]] = defaultdict(list)
        for task in tasks:
            groups[task.lane, task.shop, task.task_type, counted[task.task_id]].append(task)
        arrivals = {lane: self._measured.lasting(equals("lane", lane)) for lane in {task.lane for task in tasks}}
        in_lane: dict[str, int] = defaultdict(int)
        for task in tasks:
            in_lane[task.lane] += 1
        lines, measured = [], True
        for (lane, shop, kind, also), some in groups.items():
            platform = some[0].platform
            usual = self._measured.on_platform(kind, platform, self._registry.task_type(kind).expected_s)
            measured = measured and usual.known
            known = shops.get(shop)
            here = able.of(kind, lane)
            lines.append(
                Line(
                    lane=lane,
                    platform=platform,
                    shop=shop,
                    waiting=len(some) * scale[lane],
                    mean_s=max(0.05, usual.mean_s),
                    concurrency=max(1, known.concurrency) if known is not None else 1,
                    # what comes for an instant is there already; the others go on coming as of late
                    arrivals=0.0 if also else arrivals[lane] * len(some) / in_lane[lane],
                    also=also,
                    pool=" ".join(sorted(info.worker for info in here)),
                    barred=able.slots - sum(len(info.slots) for info in here),
                )
            )
        return lines, measured

    def _instants(
        self,
        lines: Sequence[Line],
        slots: int,
        order: Sequence[str],
        tasks: Sequence[Task],
        wanted: Sequence[tuple[Promise, int]],
        held: Mapping[str, int],
        now: int,
        zone: str,
    ) -> Iterable[InstantRow]:
        dues = sorted({_minute(task.deadline) for task in tasks if task.bound and task.deadline > now})[:INSTANTS]
        asked = [("deadline", f"deadline:{at}", "", at) for at in dues]
        asked += [("promise", f"promise:{one.name}", one.name, at) for one, at in wanted[:INSTANTS]]
        for kind, name, called, at in asked:
            waiting = round(sum(line.waiting for line in lines if name in drain.names(line)))
            if waiting:
                miss = drain.by(lines, slots, order, name, (at - now) / 1000)
                clock = quiet_hours.clock_at(at, zone, now)
                own = {one for line in lines if name in line.also for one in drain.names(line)[1:3]}
                yield InstantRow(
                    kind=kind,
                    name=called,
                    at=at,
                    waiting=waiting,
                    miss=miss,
                    said=drain.sentence(miss, clock, held.get(name, 0)),
                    of=tuple(sorted(own)),
                )


class _Able:
    """Which workers can run tasks of a type in a lane."""

    def __init__(self, registry: Registry, workers: Sequence[WorkerInfo]) -> None:
        self._registry, self._workers = registry, workers
        self._known: dict[tuple[str, str], tuple[WorkerInfo, ...]] = {}
        self.slots = sum(len(info.slots) for info in workers)

    def of(self, kind: str, lane: str) -> tuple[WorkerInfo, ...]:
        if (kind, lane) not in self._known:
            known = self._registry.task_type(kind)
            self._known[kind, lane] = tuple(
                info for info in self._workers if lane in info.open_lanes and ability.of(info).executor_for(known)
            )
        return self._known[kind, lane]

    def nowhere(self, task: Task) -> bool:
        """Whether its lane is taken, and none who takes it can run it."""
        return any(task.lane in info.open_lanes for info in self._workers) and not self.of(task.task_type, task.lane)


def _why(task: Task, gate: str, able: _Able) -> str:
    """The gate that no slot opens, "" where one does. ``gate``: that it waits at now; its record names the one at which
    it parked, and that of a task whose message is on its way none.
    """
    if able.nowhere(task):
        return home.NO_WORKER
    # the profile of its shop lives on one machine: who works there takes it in its turn
    if gate == home.name_of(task.gate) == home.GATE:
        node = home.node_of(task.gate)
        return "" if any(info.node == node for info in able.of(task.task_type, task.lane)) else gate
    # one that no worker had room for waits for those that can run it, as any other does
    return "" if gate in _BY_SLOTS else gate


def _also(
    task: Task, wanted: Sequence[tuple[Promise, int]], chosen: Mapping[str, Container[str]], now: int
) -> tuple[str, ...]:
    found = [f"deadline:{_minute(task.deadline)}"] if task.bound and task.deadline > now else []
    found += [
        f"promise:{one.name}"
        for one, _at in wanted
        if one.task_type == task.task_type and task.shop in chosen[one.name]
    ]
    return tuple(found)


def _minute(at: int) -> int:
    return at // MINUTE_MS * MINUTE_MS


def _rows_of(task: Task) -> tuple[str, str]:
    return f"lane:{task.lane}", f"platform:{task.platform}"


def _scaled(named: Iterable[tuple[str, Task]], scale: Mapping[str, float]) -> dict[str, int]:
    """How many there are of each name, most first, where each task stands for as many as its lane has of it."""
    found: dict[str, float] = defaultdict(float)
    for name, task in named:
        found[name] += scale[task.lane]
    return {name: round(number) for name, number in sorted(found.items(), key=lambda one: -one[1])}


def _slots_of(name: str, slots: int, lanes: set[str]) -> int:
    """The slots that take it, 0 where none does."""
    head, _, lane = name.partition(":")
    return 0 if head == "lane" and lane not in lanes else slots
