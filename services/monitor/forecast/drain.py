"""When what waits will have run, by lane and platform, and which deadlines and promises it misses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from services.domain.gates import listed, quiet_hours
from services.domain.insight.forecast import drain
from services.domain.insight.forecast.drain import Line, Miss
from services.domain.insight.worker import takes_work
from services.domain.plans import schedule as schedules
from services.domain.promises import judge
from services.domain.promises import promise as promises
from services.domain.promises.promise import BY, KIND, Promise
from services.domain.task.lane import LANES
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.engine.registry import Registry
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor.numbers.measured import Measured
from services.ports import Store

#: waiting tasks that are looked at, the oldest first; of more, the counters say how many there are
MOST, PAGE = 3_000, 500
#: lines that are followed, and instants that are told, the first of each kind
LINES, INSTANTS = 120, 4
MINUTE_MS = 60_000
_STATUSES = (Status.PENDING, Status.QUEUED, Status.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainRow:
    """A lane or a platform (``lane:normal``): what waits and when it is clear (seconds from now, None for never)."""

    name: str
    waiting: int
    clear_s: float | None
    said: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantRow:
    """An instant that matters. ``kind``: deadline | promise; ``at``: UTC ms."""

    kind: str
    name: str
    at: int
    waiting: int
    miss: Miss
    said: Message
    of: tuple[str, ...] = ()  #: lanes and platforms whose tasks count to it, as rows are called


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """How what waits goes. ``held``: waits for something that no slot opens (a pause, a login, a person)."""

    rows: tuple[DrainRow, ...]
    instants: tuple[InstantRow, ...]
    slots: int
    held: int = 0
    measured: bool = True
    at_ms: int = 0  #: by the store's clock

    def missed(self, name: str = "") -> InstantRow | None:
        """The first instant that is missed, of those that concern a lane or platform (``lane:normal``)."""
        found = [one for one in self.instants if one.miss.left and (not name or name in one.of)]
        return min(found, key=lambda one: one.at, default=None)


class DrainQueries:
    """Blocking questions."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry, self._measured = store, registry, Measured(store)

    def look(self) -> Drain:
        """How it goes from now on.

        Raises:
            StoreUnavailable: nothing can be read now.
        """
        now, zone = self._store.now_ms(), fleet_zone(self._store) or DEFAULT_ZONE
        workers = [info for info in self._store.workers() if takes_work(info, now)]
        slots = sum(len(info.slots) for info in workers)
        lanes = {lane for info in workers for lane in info.lanes}
        tasks, held = self._waiting()
        wanted = self._promises(zone, now)
        every, measured = self._lines(tasks, wanted, now)
        lines = drain.few([line for line in every if line.lane in lanes], LINES)
        order = list(LANES)
        course = drain.follow(lines, slots, order)
        waiting = _count(tasks)
        rows = tuple(
            DrainRow(
                name=name,
                waiting=number,
                clear_s=course.seconds.get(name) if measured else None,
                said=drain.clears(course.seconds.get(name), measured=measured, slots=_served(name, slots, lanes)),
            )
            for name, number in sorted(waiting.items(), key=lambda item: (not item[0].startswith("lane"), item[0]))
        )
        instants = self._instants(lines, slots, order, tasks, wanted, now, zone) if measured and slots else ()
        return Drain(rows=rows, instants=tuple(instants), slots=slots, held=held, measured=measured, at_ms=now)

    def _waiting(self) -> tuple[list[Task], int]:
        """What waits for a slot, and how many wait for something else."""
        terms = (equals("status", *map(str, _STATUSES)),)
        found: list[Task] = []
        cursor: str | None = ""
        while cursor is not None and len(found) < MOST:
            page = self._store.query(Query(terms=terms, descending=False, limit=PAGE, cursor=cursor, want_total=False))
            found += page.tasks
            cursor = page.next
        free = [one for one in found if one.status != Status.BLOCKED or one.gate in ("", listed.SHOP_BUSY)]
        return free, len(found) - len(free)

    def _promises(self, zone: str, now: int) -> list[tuple[Promise, int]]:
        """Those that are to be done by an instant that is still to come."""
        found = []
        for body in self._store.documents(KIND).values():
            try:
                one = promises.load(body)
            except (ValueError, RecursionError):  # the doctor tells it
                continue
            if one.enabled and one.kind == BY:
                window = judge.due(one, zone, now)
                if window.holds and window.begins <= now < window.ends:
                    found.append((one, window.ends))
        return found

    def _lines(self, tasks: Sequence[Task], wanted: Sequence[tuple[Promise, int]], now: int) -> tuple[list[Line], bool]:
        shops = self._registry.shops()
        chosen = {one.name: {shop.key for shop in schedules.fitting(one, shops.values())} for one, _at in wanted}
        groups: dict[tuple[str, str, str, tuple[str, ...]], list[Task]] = defaultdict(list)
        for task in tasks:
            groups[task.lane, task.shop, task.task_type, _also(task, wanted, chosen, now)].append(task)
        scale = self._scale(tasks)
        arrivals = {lane: self._measured.arrivals(equals("lane", lane)) for lane in {task.lane for task in tasks}}
        in_lane: dict[str, int] = defaultdict(int)
        for task in tasks:
            in_lane[task.lane] += 1
        lines, measured = [], True
        for (lane, shop, kind, also), some in groups.items():
            platform = some[0].platform
            usual = self._measured.on_platform(kind, platform, self._registry.task_type(kind).expected_s)
            measured = measured and usual.known
            known = shops.get(shop)
            lines.append(
                Line(
                    lane=lane,
                    platform=platform,
                    shop=shop,
                    waiting=len(some) * scale.get(lane, 1.0),
                    mean_s=max(0.05, usual.mean_s),
                    concurrency=max(1, known.concurrency) if known is not None else 1,
                    # what comes for an instant is there already; the others go on coming as of late
                    arrivals=0.0 if also else arrivals[lane] * len(some) / in_lane[lane],
                    also=also,
                )
            )
        return lines, measured

    def _scale(self, tasks: Sequence[Task]) -> Mapping[str, float]:
        """How many times more wait in a lane than were looked at."""
        if len(tasks) < MOST // 2:
            return {}
        counts = self._store.counts().lanes
        seen: dict[str, int] = defaultdict(int)
        for task in tasks:
            seen[task.lane] += 1
        queued = {lane: row.get(Status.PENDING, 0) + row.get(Status.QUEUED, 0) for lane, row in counts.items()}
        return {lane: max(1.0, queued.get(lane, 0) / number) for lane, number in seen.items()}

    def _instants(
        self,
        lines: Sequence[Line],
        slots: int,
        order: Sequence[str],
        tasks: Sequence[Task],
        wanted: Sequence[tuple[Promise, int]],
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
                    said=drain.sentence(miss, clock),
                    of=tuple(sorted(own)),
                )


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


def _count(tasks: Sequence[Task]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for task in tasks:
        for name in (f"lane:{task.lane}", f"platform:{task.platform}"):
            found[name] += 1
    return found


def _served(name: str, slots: int, lanes: set[str]) -> int:
    """The slots that take it, 0 where none does."""
    head, _, lane = name.partition(":")
    return 0 if head == "lane" and lane not in lanes else slots
