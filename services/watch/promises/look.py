"""What is true of the work of a type in many shops at one moment: asked of the store in questions whose number does not
grow with the shops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from services.domain.fleet.shop import Pause, Shop, scopes_of
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates import ability, breaker, home, listed, quiet_hours
from services.domain.gates.ability import NOBODY, Supply
from services.domain.gates.breaker import Breaker, Rule
from services.domain.gates.session import ClosedSession
from services.domain.insight import gates
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Ran, Runs
from services.domain.insight.forecast.outlook import Load
from services.domain.insight.worker import takes_work
from services.domain.plans import schedule as schedules
from services.domain.plans.shop_sets import ShopSets
from services.domain.promises import forecast as forecasts
from services.domain.promises import holds, judge
from services.domain.promises import line as lines
from services.domain.promises.judge import Due, Facts, Forecast, Hold
from services.domain.promises.line import Ends
from services.domain.promises.promise import AGE, Promise
from services.domain.task.lane import LANES
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search.query import Counts, Query, Term, each, equals
from services.domain.task.status import ACTIVE, Status
from services.domain.types.task_type import TaskType
from services.engine.registry import Registry
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor.numbers.measured import Measured
from services.monitor.schedules import ScheduleQueries, ScheduleRow
from services.monitor.waits.gates import GateLook
from services.monitor.waits.waiting import Wait, WaitingFacts
from services.ports import Store
from services.watch.promises import lineup
from services.watch.promises.lineup import Fleet, Spans

#: active tasks of a type that are looked at, the oldest first, and its newest dead letters
PAGE, MOST_TASKS, MOST_LETTERS = 500, 3_000, 500
#: so many waiting tasks, those of the shops that break first, are forecast by all that goes before each of them; the
#: others by the length of their lane
DETAILED = 60
#: which of the tasks of a shop comes first: what runs, what waits, what is planned, what a person decides
_RANK: dict[str, int] = {Status.RUNNING: 0, Status.SCHEDULED: 2, Status.HELD: 3}
#: the shops of a planned run are forecast in so many groups, by when their turn comes
PLACES = 20
_QUEUED = (Status.PENDING, Status.QUEUED, Status.BLOCKED)
#: so far ahead quiet hours are followed
_FAR_MS = round(lines.FAR_S * 1000)
#: a worker is heard of every few seconds; what its lease outlived so long nobody runs
_LEASE_MS = 15_000


class Planned(msgspec.Struct, frozen=True):
    """The next run of a schedule for a shop."""

    at: int
    schedule: str
    spread_s: int
    shops: int  #: of that run
    missing: bool  #: its time has passed and nothing was made
    place: int = 0  #: of the shop among them, in ``PLACES`` of the run


class Failures(msgspec.Struct, frozen=True):
    """Dead letters of a shop since its last success."""

    times: int
    kind: str
    mark: str


class OfType(msgspec.Struct):
    """What is known of one type."""

    kind: TaskType
    done: Mapping[str, int]
    tasks: dict[str, Task] = msgspec.field(default_factory=dict)  #: by shop, the one that is through first
    places: dict[str, float] = msgspec.field(default_factory=dict)  #: of those that wait: share of the line before them
    gates: Mapping[str, str] = msgspec.field(default_factory=dict)  #: by task
    letters: dict[str, list[Task]] = msgspec.field(default_factory=dict)
    planned: dict[str, Planned] = msgspec.field(default_factory=dict)
    supply: Supply = NOBODY  #: workers that can run it in its lane
    waits: dict[str, Wait] = msgspec.field(default_factory=dict)


class Stopped(Exception):
    """Whoever asked was told to end."""


class Look:
    """One look at the fleet; blocking. Thrown away after the round."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        measured: Measured,
        waiting: WaitingFacts,
        health: Callable[[], BrokerHealth] | None = None,
        regular: Mapping[str, float] | None = None,
        promised: Iterable[str] = (),
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """``measured`` and ``waiting`` remember for some seconds what they were asked. ``regular``: seconds from one
        success of a type to the next, of those that are promised. ``promised``: the types of all promises. ``stopped``:
        whether nobody wants the answer any more.
        """
        self._store, self._registry, self._measured, self._waiting = store, registry, measured, waiting
        self._gates, self._regular = GateLook(store, registry, health), regular or {}
        self._promised, self._stopped = sorted(set(promised)), stopped
        self.now = store.now_ms()
        self.zone = fleet_zone(store) or DEFAULT_ZONE
        self._types: dict[str, OfType] = {}
        self._absent: dict[tuple[str, str], bool] = {}
        self._loads: dict[tuple[str, int], Load] = {}
        self._runs: dict[tuple[str, str], Runs] = {}
        self._plans: dict[tuple[Planned, str], Forecast | None] = {}
        self._soon: dict[tuple[str, str, str, int], Forecast | None] = {}

    # ------------------------------------------------------------ once for a look
    @cached_property
    def shops(self) -> Mapping[str, Shop]:
        """All that are known."""
        return self._registry.shops()

    @cached_property
    def _sets(self) -> ShopSets:
        return ShopSets(self.shops)

    @cached_property
    def _workers(self) -> Sequence[WorkerInfo]:
        return self._store.workers()

    @cached_property
    def _slots(self) -> Sequence[SlotState]:
        """Those that run something."""
        return [slot for info in self._workers if takes_work(info, self.now) for slot in info.slots if slot.task_id]

    @cached_property
    def _switches(self) -> Mapping[str, list[Pause]]:
        found: dict[str, list[Pause]] = {}
        for one in self._store.switches():
            found.setdefault(one.scope, []).append(one)
        return found

    @cached_property
    def _sessions(self) -> Mapping[str, ClosedSession]:
        return {one.shop: one for one in self._store.sessions()}

    @cached_property
    def _breakers(self) -> Mapping[str, Breaker]:
        return {one.shop: one for one in self._store.breakers() if one.is_open}

    @cached_property
    def _chance(self) -> float:
        """The share of attempts that fail by chance now, wherever types of promises work."""
        platforms = {shop.platform for shop in self.shops.values()}
        runs = (one for name in self._promised for where in platforms for one in self._measured.newest(name, where))
        return forecasts.by_chance(one for one in runs if one.since > self.now - forecasts.LATE_MS)

    def _stays_open(self, shop: str) -> bool:
        found = self._breakers.get(shop)
        return found is not None and forecasts.stays_open(found, self._rule, self._chance)

    @cached_property
    def _rule(self) -> Rule:
        return breaker.read(self._store.documents(breaker.DOCUMENT))

    @cached_property
    def _quiet(self) -> Mapping[str, Spans]:
        """Quiet hours that are and those that come, by scope."""
        found: dict[str, Spans] = {}
        # where one cannot be read everything is closed, and nobody knows until when
        for one in quiet_hours.WRITTEN_OUT.readable(self._store.documents(quiet_hours.WINDOWS)).values():
            coming = tuple(span for span in one.windows if self.now < span[1] and span[0] < self.now + _FAR_MS)
            found[one.scope] = found.get(one.scope, ()) + coming
        return found

    @cached_property
    def _homes(self) -> Mapping[str, str]:
        return {shop: one.node for shop, one in self._store.homes().items()}

    @cached_property
    def _counts(self) -> Counts:
        return self._store.counts()

    @cached_property
    def _schedules(self) -> Sequence[ScheduleRow]:
        return ScheduleQueries(self._store, self._registry).rows(lineup.RUNS)

    # ---------------------------------------------------------------- of one type
    def of_type(self, name: str) -> OfType:
        """What is known of a type in all shops.

        Raises:
            Stopped: nobody wants it any more.
        """
        if name not in self._types:
            self._go_on()
            kind = self._registry.task_type(name)
            found = OfType(kind=kind, done=self._store.successes_of(name))
            found.supply = ability.supply(kind, kind.lane, self._workers, self.now)
            self._find_tasks(found)
            self._find_letters(found)
            self._find_planned(found)
            self._types[name] = found
        return self._types[name]

    def _find_tasks(self, found: OfType) -> None:
        tasks = self._all((equals("type", found.kind.name), equals("status", *sorted(ACTIVE))))
        for task in sorted(tasks, key=lambda one: (_RANK.get(one.status, 1), one.due_at, one.created_at)):
            found.tasks.setdefault(task.shop, task)
        chosen = list(found.tasks.values())
        found.gates = self._gates.of(chosen)
        line = sorted((one for one in chosen if one.status in _QUEUED), key=lambda one: (-one.priority, one.created_at))
        found.places = {task.task_id: (place + 1) / len(line) for place, task in enumerate(line)}

    def _all(self, terms: tuple[Term, ...]) -> list[Task]:
        """The oldest of those that match, as many as are looked at."""
        query = Query(terms=terms, descending=False, limit=PAGE, want_total=False)
        return list(each(self._store.query, query, MOST_TASKS))

    def _find_letters(self, found: OfType) -> None:
        terms = (equals("type", found.kind.name), equals("status", Status.DEAD), equals("triage", "open"))
        query = Query(terms=terms, sort="updated", limit=MOST_LETTERS, want_total=False)
        for task in self._store.query(query).tasks:
            if task.ended_at > found.done.get(task.shop, 0):
                found.letters.setdefault(task.shop, []).append(task)

    def _find_planned(self, found: OfType) -> None:
        """The run that is due first counts; of those that come later only shops are looked at that are in none yet."""
        mine = (row for row in self._schedules if row.schedule.task_type == found.kind.name)
        due = [row for row in mine if row.now.due_ms and row.schedule.enabled]
        taken = 0
        for row in sorted(due, key=lambda one: one.now.due_ms):
            self._go_on()
            bits = self._sets.of(row.schedule)
            if not bits & ~taken:
                continue
            taken |= bits
            missing = self.now > row.now.due_ms + forecasts.MISSING_MS
            chosen = schedules.choose(row.schedule, self._sets.shops(bits))
            for number, shop in enumerate(chosen, 1):
                if shop.key not in found.planned:
                    place = math.ceil(number * PLACES / len(chosen))
                    found.planned[shop.key] = Planned(
                        row.now.due_ms, row.schedule.name, row.schedule.spread_s, len(chosen), missing, place
                    )

    def _go_on(self) -> None:
        if self._stopped():
            raise Stopped

    def _usual(self, known: OfType, shop: str) -> Runs:
        return self._lasts_in(known.kind.name, shop)

    def _lasts_in(self, task_type: str, shop: str) -> Runs:
        return self._lasts(task_type, shop.partition(":")[0])

    def _lasts(self, task_type: str, platform: str) -> Runs:
        """How long a type runs there of late."""
        key = (task_type, platform)
        if key not in self._runs:
            newest = self._measured.newest(*key)
            running = [
                Ran(slot.since, max(0, self.now - slot.since) / 1000, ended=False)
                for slot in self._slots
                if slot.task_type == task_type and slot.shop.partition(":")[0] == platform
            ]
            says_s = self._registry.task_type(task_type).expected_s
            if not says_s and len(newest) < durations.ENOUGH:
                self._runs[key] = self._measured.on_platform(*key, 0.0)
            else:
                self._runs[key] = durations.of_late([*durations.filled(newest, says_s), *running])
        return self._runs[key]

    # ----------------------------------------------------------------- of a promise
    def facts(self, promise: Promise, window: Due, gaps: Sequence[int]) -> list[Facts]:
        """The facts of each of its shops; ``gaps``: seconds from one success to the next, as they came so far.

        Raises:
            Stopped: nobody wants them any more.
        """
        known = self.of_type(promise.task_type)
        chosen = schedules.fitting(promise, self.shops.values())
        breaks = {}
        for shop in chosen:
            bare = Facts(shop=shop.key, done_at=known.done.get(shop.key, 0))
            breaks[shop.key] = judge.judge(promise, window, bare, self.now).break_at
        self._detail(known, breaks)
        came = forecasts.regular(gaps)
        return [self._of_shop(promise, window, known, shop, breaks[shop.key], came) for shop in chosen]

    def _detail(self, known: OfType, breaks: Mapping[str, int]) -> None:
        """Ask in full for those that break first, of what waits for more than the line."""
        waiting = [one for shop, one in known.tasks.items() if one.task_id in known.gates and breaks.get(shop)]
        waiting = [one for one in waiting if one.task_id not in self._line]
        waiting.sort(key=lambda one: breaks[one.shop])
        missing = [one for one in waiting[:DETAILED] if one.task_id not in known.waits]
        if missing:
            known.waits.update(self._waiting.waits(missing))

    def _of_shop(self, promise: Promise, window: Due, known: OfType, shop: Shop, break_at: int, came: Runs) -> Facts:
        done_at, task = known.done.get(shop.key, 0), known.tasks.get(shop.key)
        begins = max(self._begins(known, shop.key), task.due_at if task is not None else 0)
        if task is not None:
            forecast, found = self._of_task(known, task)
            helped = self._helped(known, shop.key, forecast, found)
            return Facts(
                shop=shop.key, done_at=done_at, forecast=forecast, helped=helped, begins=begins, holds=found,
                task_id=task.task_id, created=True,
            )  # fmt: skip
        since = max(done_at if promise.kind == AGE else 0, window.begins, promise.since)
        forecast, found, created = self._without(known, shop, since, break_at, came)
        helped = self._helped(known, shop.key, forecast, found)
        return Facts(
            shop=shop.key, done_at=done_at, forecast=forecast, helped=helped, begins=begins, holds=found,
            created=created,
        )  # fmt: skip

    def _helped(self, known: OfType, shop: str, forecast: Forecast | None, found: Sequence[Hold]) -> Forecast | None:
        """The next success where what holds it is done away with now: then it stands in line as any other, and quiet
        hours go on. Where nothing helps, or nobody knows what a worker would do, what comes anyway.
        """
        if holds.lasts(found) or holds.needs_worker(found):
            return forecast
        quiet = [one.until for one in self._closed(shop, known.kind.name) if one.gate == quiet_hours.GATE]
        if 0 in quiet:
            return forecast  # nobody can tell when they end
        task = known.tasks.get(shop)
        lane = str(task.lane if task is not None else known.kind.lane)
        share = known.places.get(task.task_id, 1.0) if task is not None else 1.0
        key = (known.kind.name, shop.partition(":")[0], lane, round(share * 20))  # the same for many shops
        if key not in self._soon:
            lasts = self._usual(known, shop)
            self._soon[key] = forecasts.in_line(self.now, self._load(lane, lasts, share), lasts)
        soon = self._soon[key]
        if soon is not None and quiet:
            soon = forecasts.not_before(soon, max(quiet), self._usual(known, shop))
        return forecasts.first([soon, forecast])

    def _begins(self, known: OfType, shop: str) -> int:
        """The instant before which nothing of the type begins there, as far as it is certain."""
        plan = known.planned.get(shop)
        until = self._obstacles(known, shop)[1] or 0
        return max(until, plan.at if plan is not None and shop not in known.tasks else 0)

    # -------------------------------------------------------------- with a task
    def _of_task(self, known: OfType, task: Task) -> tuple[Forecast | None, tuple[Hold, ...]]:
        failed = self._failures(known, task.shop)
        found = [holds.failing(failed.kind, failed.times, failed.mark)] if failed is not None else []
        if task.status == Status.HELD:
            return None, (*found, holds.held(task))
        if task.status == Status.RUNNING:
            forecast, more = self._running(known, task)
        else:
            forecast, more = self._waits(known, task)
        if failed is not None and failed.times > 1:
            forecast = None  # nothing says that the next one would go better
        return forecast, (*found, *(one for one in more if not found or one.code not in holds.SOFT))

    def _running(self, known: OfType, task: Task) -> tuple[Forecast | None, tuple[Hold, ...]]:
        ran_s, lasts = max(0, self.now - task.started_at) / 1000, self._usual(known, task.shop)
        if 0 < task.lease_until < self.now - _LEASE_MS:
            return forecasts.unknown(self.now, lasts), (holds.away(task.worker),)
        if lasts.hangs(ran_s, task.progress):
            ended = task.started_at + round(known.kind.timeout_s * 1000) if known.kind.timeout_s else 0
            return forecasts.hanging(self.now, ended, lasts), (holds.hangs(task, lasts, ran_s),)
        if (found := self._breakers.get(task.shop)) is not None:  # it only tries whether the shop is well again
            return forecasts.tried(self.now, found, self._rule, lasts, self._chance), (holds.breaking(found),)
        ends = self._line.get(task.task_id)
        forecast = (
            forecasts.running(self.now, ran_s, task.progress, lasts)
            if ends is None
            else forecasts.ending(self.now, ends)
        )
        return forecast, (holds.runs(task, ran_s),)

    def _waits(self, known: OfType, task: Task) -> tuple[Forecast | None, tuple[Hold, ...]]:
        gate = known.gates.get(task.task_id, "")
        hold, opens = self._gate(known, task, gate)
        if not opens:
            return None, (hold,)
        # what it meets once its own gate opens: a planned one, or one whose message nobody has taken yet
        more, until = self._obstacles(known, task.shop)
        if until is None:
            return None, tuple(more)
        lasts = self._usual(known, task.shop)
        forecast = self._starts(known, task, gate, lasts) or forecasts.unknown(self.now, lasts)
        forecast = forecasts.latest(forecast, self._tried(task.shop, lasts))
        if task.retries:  # it may fail once more, and wait for that as long
            again = max(0, task.due_at - self.now) + round(lasts.span_s[1] * 1000)
            forecast = Forecast(low=forecast.low, mid=forecast.mid, high=forecast.high + again * task.retries)
        return forecasts.not_before(forecast, until, lasts), tuple(more) or (hold,)

    def _starts(self, known: OfType, task: Task, gate: str, lasts: Runs) -> Forecast | None:
        """Its end, from the line that was played through; else by its gates; else by the length of its lane."""
        ends, detail = self._line.get(task.task_id), known.waits.get(task.task_id)
        if ends is not None:
            return forecasts.played(self.now, ends)
        if detail is None:
            return self._in_line(known, task)
        if detail.starts is None:
            return None
        found = forecasts.waiting(self.now, detail.starts, lasts)
        if gate in ("", gates.LANE_ORDER):
            return found
        return forecasts.latest(found, self._in_line(known, task))  # then it still has to get a slot

    def _gate(self, known: OfType, task: Task, gate: str) -> tuple[Hold, bool]:
        """What a waiting task waits at, and whether that opens by itself."""
        closed = self._shut(known, task, gate)
        if closed is not None:
            return closed
        if task.status == Status.RETRYING and task.error_kind:
            return holds.failing(task.error_kind, max(1, task.retries), task.fingerprint), True
        if gate in ("", gates.LANE_ORDER):
            return holds.in_line(task), True
        return holds.gate(task, gate), True

    def _shut(self, known: OfType, task: Task, gate: str) -> tuple[Hold, bool] | None:
        """The same of the gates that have words of their own."""
        if gate in listed.SWITCHES and (switch := self._switch(task.shop, task.task_type)) is not None:
            return holds.switched(switch), switch.until > 0
        if gate == gates.SESSION and task.shop in self._sessions:
            return holds.login(self._sessions[task.shop]), False
        if gate == gates.BREAKER and task.shop in self._breakers:
            return holds.breaking(self._breakers[task.shop]), not self._stays_open(task.shop)
        if gate == gates.NO_WORKER:
            return holds.worker(task.task_type, ability.supply(known.kind, task.lane, self._workers, self.now)), False
        if gate == gates.HOME:
            node = home.node_of(task.gate) or self._homes.get(task.shop, "")
            return holds.away(node), not self._is_absent(node, known.kind)
        return None

    def _in_line(self, known: OfType, task: Task) -> Forecast | None:
        share = known.places.get(task.task_id, 1.0)
        lasts = self._usual(known, task.shop)
        return forecasts.in_line(self.now, self._load(str(task.lane), lasts, share), lasts)

    # ----------------------------------------------------------- without a task
    # ----------------------------------------------------------- the line
    @cached_property
    def _line(self) -> Mapping[Hashable, Ends]:
        """When what waits, and what is going to be created, has run; empty where no worker takes anything."""
        self._go_on()
        fleet = Fleet(
            now=self.now,
            workers=[info for info in self._workers if takes_work(info, self.now)],
            shops=self.shops,
            lasts=self._lasts_in,
            lane_of=lambda kind: str(self._registry.task_type(kind).lane),
            shut=self._is_shut,
            closes=self._closes,
        )
        waiting = fleet.waiting(self._all((equals("status", *lineup.WAITING),)))
        coming = fleet.planned(self._schedules)
        for kind, gap_s in self._regular.items():
            coming += fleet.asked(kind, gap_s, self._last_asked(kind))
        coming.sort(key=lambda one: one.enters_s)
        rooms = {key: shop.concurrency for key, shop in self.shops.items()}
        line = [*waiting, *coming[: max(0, MOST_TASKS - len(waiting))]]
        return lines.play(fleet.places(), line, rooms, fleet.caps(self._store.limits()))

    def _last_asked(self, name: str) -> dict[str, int]:
        """When the last task of a type was created in each shop in which nobody plans it, as far as one can tell."""
        known = self.of_type(name)
        return {
            shop: known.tasks[shop].created_at
            if shop in known.tasks
            else done - round(1000 * self._usual(known, shop).usual_s)
            for shop, done in known.done.items()
            if shop in self.shops and shop not in known.planned
        }

    def _is_shut(self, shop: str, kind: str) -> bool:
        switch = self._switch(shop, kind)
        if self._stays_open(shop):
            return True
        return shop in self._sessions or (switch is not None and not switch.until)

    def _closes(self, shop: str, kind: str) -> Spans:
        spans = [span for scope in scopes_of(shop, kind) for span in self._quiet.get(scope, ())]
        if shop in self._breakers:
            spans.append((self.now, self._breakers[shop].until))
        return tuple(sorted(spans))

    def _without(
        self, known: OfType, shop: Shop, since: int, break_at: int, came: Runs
    ) -> tuple[Forecast | None, tuple[Hold, ...], bool]:
        found, until = self._obstacles(known, shop.key)
        plan = known.planned.get(shop.key)
        failed = self._failures(known, shop.key)
        if failed is not None:
            found.append(holds.failing(failed.kind, failed.times, failed.mark))
            until = None if failed.times > 1 else until
        if plan is not None and plan.missing:
            clock = quiet_hours.clock_at(plan.at, self.zone, self.now)
            return None, (holds.unfired(plan.schedule, clock, self.now - plan.at), *found), False
        lasts, due = self._usual(known, shop.key), 0
        forecast: Forecast | None
        if plan is not None:
            forecast = self._planned(known, plan, shop.key)
            lacks = plan.at + round(lasts.usual_s * 1000) >= break_at > 0
        else:
            forecast = forecasts.usual(self.now, since, came, lasts)
            # one that was created since and has died is none that was not created
            asked = max((one.created_at for one in known.letters.get(shop.key, ())), default=0)
            due = forecasts.missing(self.now, max(since, asked), came)
            lacks = due > 0 or (forecast.high > break_at > 0 and asked <= since)
            forecast = self._asked(known, shop.key, forecast)
        created = plan is not None or not lacks
        if lacks:
            found.insert(0, self._missing(plan, due, came))
        if until is None or due:
            return None, tuple(found), created
        if forecast is None:
            forecast = forecasts.unknown(self.now, lasts)
        elif not found and forecast.high > break_at > 0:
            found.append(holds.behind(str(known.kind.lane)))
        forecast = forecasts.latest(forecast, self._tried(shop.key, lasts))
        return forecasts.not_before(forecast, until, lasts), tuple(found), created

    def _tried(self, shop: str, lasts: Runs) -> Forecast | None:
        """When a shop whose breaker is open is well again, as often as it tries."""
        found = self._breakers.get(shop)
        return forecasts.tried(self.now, found, self._rule, lasts, self._chance) if found is not None else None

    def _asked(self, known: OfType, shop: str, usual: Forecast) -> Forecast:
        """As regularly as it came so far, and no earlier than the line lets it through."""
        ends = self._line.get((known.kind.name, shop))
        return usual if ends is None else forecasts.latest(usual, forecasts.played(self.now, ends))

    def _missing(self, plan: Planned | None, due: int, came: Runs) -> Hold:
        if plan is not None:
            return holds.planned(plan.schedule, quiet_hours.clock_at(plan.at, self.zone, self.now))
        if due:
            return holds.silent(quiet_hours.clock_at(due, self.zone, self.now), came.usual_s)
        return holds.unplanned()

    def _obstacles(self, known: OfType, shop: str) -> tuple[list[Hold], int | None]:
        """What would hold a run back that was created now, and until when; None: until somebody does something."""
        found: list[Hold] = []
        until: int | None = 0
        closed = self._switch(shop, known.kind.name)
        if closed is not None:
            found.append(holds.switched(closed))
            until = closed.until or None
        elif shop in self._breakers:
            found.append(holds.breaking(self._breakers[shop]))
            until = None if self._stays_open(shop) else self._breakers[shop].until
        if shop in self._sessions:
            found.append(holds.login(self._sessions[shop]))
            until = None
        if not known.supply.able:
            found.append(holds.worker(known.kind.name, known.supply))
            until = None
        elif (node := self._homes.get(shop, "")) and self._is_absent(node, known.kind):
            found.append(holds.away(node))
            until = None
        return found, until

    def _planned(self, known: OfType, plan: Planned, shop: str) -> Forecast | None:
        ends = self._line.get((plan.schedule, shop))
        if ends is not None:
            return forecasts.not_before(forecasts.played(self.now, ends), plan.at, self._usual(known, shop))
        key = (plan, shop.partition(":")[0])  # the same for all of its shops there whose turn it is
        if key not in self._plans:
            lasts = self._usual(known, shop)
            load = self._load(str(known.kind.lane), lasts, 1.0 if plan.at <= self.now + 60_000 else 0.0)
            share = plan.place / PLACES
            self._plans[key] = forecasts.planned(self.now, plan.at, plan.spread_s, load, plan.shops, lasts, share)
        return self._plans[key]

    # -------------------------------------------------------------------- shared
    def _failures(self, known: OfType, shop: str) -> Failures | None:
        letters = known.letters.get(shop)
        if not letters:
            return None
        return Failures(len(letters), letters[0].error_kind, letters[0].fingerprint)

    def _closed(self, shop: str, kind: str) -> list[Pause]:
        return [one for scope in scopes_of(shop, kind) for one in self._switches.get(scope, ())]

    def _switch(self, shop: str, kind: str) -> Pause | None:
        """What is closed for it; one that only a person opens before one that opens by itself."""
        closed = self._closed(shop, kind)
        return min(closed, key=lambda one: (one.until > 0, -one.until), default=None)

    def _is_absent(self, node: str, kind: TaskType) -> bool:
        """Whether the type runs only on the node of its shop, and nobody there can run it."""
        key = (node, kind.name)
        if key not in self._absent:
            bound = ability.works_at_home(kind, self._workers)
            there = ability.at_home(node, kind, kind.lane, self._workers, self.now) if bound else None
            self._absent[key] = there is not None and not there.able
        return self._absent[key]

    def _load(self, lane: str, lasts: Runs, share: float) -> Load:
        """The slots of a lane, and this share of what waits there."""
        key = (lane, round(share * 20))
        if key not in self._loads:
            slots = [
                slot
                for info in self._workers
                if takes_work(info, self.now) and lane in info.open_lanes
                for slot in info.slots
            ]
            usual = self._measured.of_lane(lane)
            usual = usual if usual.known else lasts
            urgent = LANES[: LANES.index(lane)] if lane in LANES else ()
            own = round(self._waiting_in((lane,)) * key[1] / 20)
            self._loads[key] = Load(
                slots=len(slots),
                busy=sum(1 for slot in slots if slot.task_id),
                waiting=own + self._waiting_in(urgent),
                mean_s=usual.mean_s or 10.0,
                deviation_s=usual.spread_s,
                measured=len(usual.seconds),
            )
        return self._loads[key]

    def _waiting_in(self, lanes: Iterable[str]) -> int:
        return sum(self._counts.lanes.get(lane, {}).get(status, 0) for lane in lanes for status in _QUEUED)
