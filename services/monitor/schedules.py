"""Schedules as people look at them: with their next runs and what came of the last one."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from heapq import merge
from itertools import takewhile
from operator import or_
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from services.domain.errors import NotFound, UsageError
from services.domain.fleet.shop import SCOPE_ALL, Shop
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import QuietHours
from services.domain.insight import schedule as insight
from services.domain.insight.schedule import ScheduleNow
from services.domain.insight.worker import takes_work
from services.domain.plans import load, recurrence
from services.domain.plans import schedule as schedules
from services.domain.plans.load import Burst, Load
from services.domain.plans.schedule import Past, Planned, Schedule
from services.domain.plans.shop_sets import ShopSets
from services.domain.promises import judge, promise
from services.domain.promises.promise import Promise
from services.domain.task.search.filter import CHINESE, Names
from services.domain.task.search.row_filter import Fields, Same, Test, words
from services.domain.task.status import ACTIVE, Status
from services.domain.text.message import Message, Param
from services.domain.text.said import said, words_of
from services.domain.types import task_type
from services.engine import fates, recipe
from services.engine.lead import leader
from services.engine.lead.backfill import Backfill
from services.engine.lead.backfill import BackfillPlan as BackfillPlan
from services.engine.lead.backfill import Gap as Gap
from services.engine.lead.firing import DEFAULT_ZONE, fleet_zone
from services.engine.quiet import wished
from services.engine.registry import Registry
from services.monitor.numbers.measured import Measured
from services.ports import ScheduleEntry, Store

log = logging.getLogger(__name__)
NEXT_RUNS = 5
#: names that are told
MOST_NAMES = 5
#: runs that are shown of each; runs to come that are looked at for collisions
SHOWN_RUNS, LOOKED_AT = 14, 3
IN_QUIET = "schedule.in_quiet"
#: hours to come whose line is followed, and tasks that are followed one by one
AHEAD_H, MOST_AHEAD = 24, 50_000


#: what a schedule can be, of which several may be true at once
STATES = ("on", "off", "overdue", "paused", "collides", "failed")
#: what they are called where Chinese is read
CHINESE_STATES: Mapping[str, str] = {
    "启用": "on", "已停用": "off", "延误": "overdue", "已暂停": "paused", "冲突": "collides", "失败": "failed",
}  # fmt: skip
#: how the fields of their filter may be written, and the words in them
NAMES = Names({**CHINESE, "名称": "name", "备注": "note", "状态": "state"}, {"state": CHINESE_STATES})


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """One planned time and what became of it.

    ``state``: succeeded | dead | running | missed | skipped | empty | gone (its records are no more).
    """

    past: Past
    state: str
    succeeded: int = 0
    dead: int = 0
    open: int = 0


class ScheduleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule; instants are UTC ms."""

    planned: Planned
    zone: str  #: its own, or the fleet's
    upcoming: tuple[int, ...] = ()  #: the next runs, none while it is disabled
    shops: int = 0  #: how many it would run for now
    problem: str = ""  #: why it cannot run any more
    now: ScheduleNow = msgspec.field(default_factory=ScheduleNow)
    runs: tuple[RunView, ...] = ()  #: the last ones, the oldest first, where they were asked for
    others: tuple[Message, ...] = ()  #: schedules and promises that it collides with, where asked for
    quieted: Mapping[int, Message] = {}  #: of its next runs those that fall into quiet hours, where asked for
    paused: bool = False  #: whether all that it would make waits for a pause to end, where asked for
    halted: int = 0  #: of how many of its shops that is so

    @property
    def schedule(self) -> Schedule:
        """What was asked for."""
        return self.planned.schedule

    @property
    def conflicts(self) -> tuple[Message, ...]:
        """What it collides with: others, and the first quiet hours into which one of its next runs falls."""
        return (*self.others, *[self.quieted[at] for at in self.upcoming[:LOOKED_AT] if at in self.quieted][:1])

    @property
    def states(self) -> tuple[str, ...]:
        """Which of ``STATES`` are true of it."""
        last = self.planned.last
        found = {
            "on": self.schedule.enabled,
            "off": not self.schedule.enabled,
            "overdue": bool(self.now.late_ms),
            "paused": self.paused,
            "collides": bool(self.conflicts),
            "failed": bool(self.problem) or (last is not None and bool(last.failed)),
        }
        return tuple(state for state in STATES if found[state])


class RunLoad(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is still to come, and what people are told of it; ``at``: UTC ms."""

    at: int
    slots: int
    load: Load
    said: tuple[Message, ...]


class NextRun(NamedTuple):
    """What a shop runs next by a plan."""

    at: int  #: UTC ms
    task_type: str
    schedule: str = ""  #: "" for a task that is there already
    later: bool = False  #: not before that: more are planned than were looked at


class ScheduleQueries:
    """Questions about schedules."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry, self._measured = store, registry, Measured(store)
        self._backfill = Backfill(store, registry)
        self._ended: dict[str, RunView] = {}  #: runs all of whose tasks have ended, by batch
        self._read: dict[str, _Read] = {}  #: all schedules as they were read last, by name
        self._shops: tuple[Mapping[str, Shop], ShopSets] = {}, ShopSets({})
        self._next: tuple[object, Mapping[str, NextRun]] = None, {}  #: of which runs to come, and what they are by shop

    def rows(self, count: int = NEXT_RUNS) -> tuple[ScheduleRow, ...]:
        """All of them by name, each with up to ``count`` next runs; what cannot be read is left out and logged."""
        return tuple(self._rows(self._store.schedules(), count, every=True))

    def next_by_shop(self) -> Mapping[str, NextRun]:
        """The first run to come of each shop that a schedule takes, by ``platform:shop_id``."""
        rows = sorted((row for row in self.rows(1) if row.upcoming), key=lambda row: row.upcoming[0])
        sets = self._sets()
        runs = tuple((NextRun(row.upcoming[0], row.schedule.task_type, row.schedule.name), row) for row in rows)
        of = sets, tuple((run, sets.of(row.schedule)) for run, row in runs)
        before, next_runs = self._next  # once: another thread may put its own there
        if before != of:
            taken, found = 0, dict[str, NextRun]()
            for run, shops in of[1]:
                found |= {shop.key: run for shop in sets.shops(shops & ~taken)}
                taken |= shops
            self._next = of, found
            return found
        return next_runs

    def soon(self, within_ms: int = load.MINUTE_MS) -> int | None:
        """How many have their next run within so long; None where there is no schedule."""
        found, now = self._store.schedules(), self._store.wall_ms()
        return sum(0 <= one.next_at - now < within_ms for one in found) if found else None

    def board(self) -> tuple[ScheduleRow, ...]:
        """All of them with their last runs and what they collide with."""
        rows = self.rows()
        beside = self._beside(rows)
        past = self._histories([row.planned.past[-SHOWN_RUNS:] for row in rows])
        paused, sets = frozenset(pause.scope for pause in self._store.pauses()), self._sets()
        still = reduce(or_, map(sets.scope, paused), 0)

        def halted(row: ScheduleRow) -> int:
            """How many of its shops a pause holds, -1 for its type everywhere."""
            return -1 if f"type:{row.schedule.task_type}" in paused else (sets.of(row.schedule) & still).bit_count()

        return tuple(
            replace(
                beside.collided(row), runs=found, paused=n < 0 or 0 < row.shops <= n, halted=row.shops if n < 0 else n
            )
            for row, found, n in zip(rows, past, map(halted, rows), strict=True)
        )

    def fitting(self, rows: Sequence[ScheduleRow], text: str) -> tuple[ScheduleRow, ...]:
        """Those of the board that a filter means: by name, type, note, state, and whom they run for.

        Raises:
            UsageError: it is no such filter, and what there is instead.
        """
        return tuple(filter(self._fields().parse(text), rows)) if text.strip() else tuple(rows)

    def _fields(self) -> Fields:
        sets, types = self._sets(), self._registry

        def run_for(
            named: Callable[[Schedule], Iterable[str]], of: Callable[[Shop], Iterable[str]]
        ) -> Callable[[Same], Test]:
            def make(same: Same) -> Test:
                shops = sets.having(lambda shop: any(map(same, of(shop))))
                return lambda row: bool(sets.of(row.schedule) & shops) or any(map(same, named(row.schedule)))

            return make

        return Fields(
            words={
                "name": words(lambda row: (row.schedule.name,)),
                "type": words(
                    lambda row: (row.schedule.task_type, *types.task_type(row.schedule.task_type).title.values())
                ),
                "shop": run_for(lambda one: one.shops, lambda shop: (shop.key, shop.shop_id, shop.name)),
                "platform": run_for(lambda one: one.platforms, lambda shop: (shop.platform,)),
                "group": run_for(lambda one: one.groups, lambda shop: (shop.group,)),
                "state": words(lambda row: row.states),
                "note": words(lambda row: (row.schedule.note,)),
            },
            bare=("name", "type", "note"),
            names=NAMES,
            known={"state": STATES},
        )

    def collided(self, schedule: Schedule, zone: str) -> ScheduleRow:
        """The preview, with what it would collide with: others of the same work, quiet hours, promises.

        Raises:
            UsageError: its cron expression, zone or interval is not acceptable.
        """
        row = self.preview(schedule, zone)
        others = [other for other in self.rows(1) if other.schedule.name != schedule.name]
        return self._beside([row, *others], zone).collided(row)

    def missing(self, name: str, since: int, until: int, *, each: bool = False) -> BackfillPlan:
        """What a backfill of a span (UTC ms) would make.

        Raises:
            UsageError: there is no such schedule, or the span is not acceptable.
        """
        row = self.row(name, 1)
        if row is None:
            raise NotFound(said("schedule.unknown", name=f"{name!r:.80}"), field="name")
        return self._backfill.look(row.planned, fleet_zone(self._store) or DEFAULT_ZONE, since, until, each=each)

    def _histories(self, pasts: Sequence[Sequence[Past]]) -> list[tuple[RunView, ...]]:
        """The runs of all schedules; those that have not ended are counted together."""
        known = self._ended
        fresh = {past.label: past for runs in pasts for past in runs if _counted(past) and not _knows(known, past)}
        found = dict(known)
        for label, counts in zip(fresh, self._store.batch_counts(list(fresh)), strict=True):
            found[label] = _run(fresh[label], counts)
        views = [tuple(found[past.label] if _counted(past) else _uncounted(past) for past in runs) for runs in pasts]
        self._ended = {run.past.label: run for runs in views for run in runs if run.past.label and not run.open}
        return views

    def _beside(self, rows: Sequence[ScheduleRow], zone: str = "") -> _Beside:
        """What schedules may collide with, asked for once for all of them."""
        promised = [one for one in promise.readable(self._store.documents(promise.KIND)) if _by_an_hour(one)]
        return _Beside(
            works=_Works(rows, self._registry, self._sets()),
            quiet=wished(self._store),
            promised=promised,
            zone=zone or fleet_zone(self._store) or DEFAULT_ZONE,
            now=self._store.wall_ms(),
        )

    def _sets(self) -> ShopSets:
        shops, (before, sets) = self._registry.shops(), self._shops
        if shops != before:  # hardly ever, and there may be ten thousand
            sets = ShopSets(shops)
            self._shops = shops, sets
        return sets

    def _promises(self, wanted: Schedule) -> Iterator[Promise]:
        """Those of the same type that hold by an hour."""
        for one in promise.readable(self._store.documents(promise.KIND)):
            if _by_an_hour(one) and one.task_type == wanted.task_type:
                yield one

    def row(self, name: str, count: int = NEXT_RUNS) -> ScheduleRow | None:
        """One of them."""
        return next(iter(self._rows([one for one in self._store.schedules() if one.name == name], count)), None)

    def shops(self, schedule: Schedule) -> list[str]:
        """Whom a run would be for now, by name."""
        return sorted(shop.key for shop in schedules.fitting(schedule, self._registry.shops().values()))

    def preview(self, schedule: Schedule, zone: str, count: int = NEXT_RUNS) -> ScheduleRow:
        """What a schedule would look like if it were kept now.

        Raises:
            UsageError: its cron expression, zone or interval is not acceptable.
        """
        now = self._store.wall_ms()
        if schedule.every_s and not schedule.first_at:
            schedule = msgspec.structs.replace(schedule, first_at=now + schedule.every_s * 1000)
        upcoming = tuple(recurrence.upcoming(schedules.rule(schedule, zone), now, count))
        return ScheduleRow(
            planned=Planned(schedule=schedule),
            zone=schedule.zone or zone,
            upcoming=upcoming,
            shops=len(self.shops(schedule)),
        )

    def load(self, wanted: Schedule, zone: str) -> RunLoad | None:
        """What its next run does to the line of the workers, if it were kept as it is; None where there is none.

        Raises:
            UsageError: its cron expression, zone or interval is not acceptable.
        """
        row = self.preview(wanted, zone, 1)
        if not row.upcoming or not row.shops:
            return None
        at, now = row.upcoming[0], self._store.wall_ms()
        ends = at + load.LONGEST * load.MINUTE_MS
        slots = self._slots(now)
        begins, over = at - load.LONGEST * load.MINUTE_MS // 8, self._held_back(zone, ends)
        sets = self._sets()
        rows = self.rows(1)
        fired = next((_fired(other) for other in rows if other.schedule.name == wanted.name), 0)
        mine = [replace(one, own=True) for one in self._bursts(wanted, [at], over, sets, fired)]
        if not mine:
            said = (Message("load.own_held", {"clock": quiet_hours.clock_at(at, zone, now)}),)
            return RunLoad(at=at, slots=slots, load=Load(begins=at), said=said)
        beside = [other for other in rows if other.schedule.name != wanted.name]
        before, spent, missed = _planned_before(beside, begins, at, now)
        planned, cut = _planned(beside, at, ends, now, spent)
        others = [
            burst
            for (row, earlier), (_row, later) in zip(before, planned, strict=True)
            for burst in self._bursts(row.schedule, [*earlier, *later], over, sets)
        ]
        # what a pause holds is in nobody's way, and waits for a person, not for slots
        line = [one for one in (*mine, *others) if not one.paused]
        # how long its tasks take is not known: what could be drawn were the shops alone that wait for a pause
        found = load.follow(line, slots) if all(one.mean_s for one in mine) else Load(begins=at)
        held = sum(one.tasks for one in mine if one.paused)
        told = [*_through(found, mine, at, slots, zone, now), *self._promised(wanted, found, held, at, ends, zone, now)]
        if missed and found.own:
            told.append(Message("load.cut_before", {"clock": quiet_hours.clock_at(missed, zone, now)}))
        if cut and found.own and not 0 < found.end <= cut:
            told.append(Message("load.cut", {"clock": quiet_hours.clock_at(cut, zone, now)}))
        return RunLoad(at=at, slots=slots, load=found, said=tuple(told))

    def ahead(self, hours: int = AHEAD_H) -> RunLoad:
        """The line of the workers for some hours to come, as far as schedules make it; what waits now is not in it."""
        now = self._store.wall_ms()
        ends, slots = now + hours * 60 * load.MINUTE_MS, self._slots(now)
        planned, cut = _planned(self.rows(1), now, ends, now)
        zone = fleet_zone(self._store) or DEFAULT_ZONE
        over, sets = self._held_back(zone, ends), self._sets()
        bursts = [burst for row, runs in planned for burst in self._bursts(row.schedule, runs, over, sets, _fired(row))]
        many = "_many" if cut else ""
        tasks = MOST_AHEAD if cut else sum(burst.tasks for burst in bursts)
        about: dict[str, Param] = {"tasks": tasks, "hours": hours, "slots": slots}
        if not tasks or not slots:
            none = "load.ahead_held" if any(runs for _row, runs in planned) else "load.ahead_nothing"
            code = "load.ahead_nobody" + many if tasks else none
            return RunLoad(at=now, slots=slots, load=Load(begins=now), said=(Message(code, about),))
        known = [burst for burst in bursts if burst.mean_s]
        begins = now - now % (load.DAY_STEP * load.MINUTE_MS)
        line = load.ahead(known, slots, begins, ((cut or ends) - begins) // load.MINUTE_MS)
        said = [Message("load.ahead" + many, about), *_paused(bursts)]
        left = sum(len(runs) * sets.of(row.schedule).bit_count() for row, runs in planned)
        left -= sum(burst.tasks for burst in bursts)
        if left:
            said.append(Message("load.left_out", {"n": left}))
        if cut and any(line.own):
            said.append(Message("load.ahead_cut", {"clock": quiet_hours.clock_at(cut, zone, now)}))
        if names := sorted({burst.name for burst in bursts if not burst.mean_s}):
            said.append(Message("load.ahead_unknown", {"names": ", ".join(names[:MOST_NAMES])}))
        return RunLoad(at=now, slots=slots, load=line, said=tuple(said))

    def _slots(self, now: int) -> int:
        return sum(len(info.slots) for info in self._store.workers() if takes_work(info, now))

    def _held_back(self, zone: str, ends: int) -> _HeldBack:
        paused = {pause.scope: pause.at for pause in self._store.pauses()}
        return _HeldBack(quiet=wished(self._store), paused=paused, zone=zone, ends=ends)

    def _bursts(
        self, wanted: Schedule, runs: Sequence[int], over: _HeldBack, sets: ShopSets, fired: int = 0
    ) -> list[Burst]:
        """Its runs, platform by platform, for quiet hours and pauses may be of one; and shop by shop where they are.
        ``fired``: when the one before them was, 0 where that is not to be looked at.
        """
        if not runs:
            return []
        mine = sets.of(wanted)
        apart = mine & over.apart(sets)
        parts = {(name, ""): number for name, number in sets.counts(mine & ~apart).items()}
        parts |= {(shop.platform, shop.key): 1 for shop in sets.shops(apart)}
        declared = self._registry.task_type(wanted.task_type).expected_s
        found: list[Burst] = []
        for (platform, shop), number in sorted(parts.items()):
            scopes = (SCOPE_ALL, f"platform:{platform}", f"shop:{shop}", f"type:{wanted.task_type}")
            burst = Burst(
                name=wanted.name,
                at=runs[0],
                tasks=number,
                mean_s=self._measured.on_platform(wanted.task_type, platform, declared).mean_s,
                spread_s=wanted.spread_s,
                quiet=over.spans(scopes, runs[0]),
            )
            made = runs if wanted.overlap != "skip" else _not_skipped(runs, burst, fired)
            found += [replace(burst, at=at) for at in made]
        return found

    def _promised(
        self, wanted: Schedule, found: Load, held: int, at: int, ends: int, zone: str, now: int
    ) -> Iterator[Message]:
        """Promises of the same work that are for an instant after the run. ``held``: so many of it are paused."""
        sets = self._sets()
        for one, until in judge.ending(self._promises(wanted), zone, at) if found.own or held else ():
            if until >= ends or not sets.of(wanted) & sets.of(one):
                continue
            through = bool(found.end) and found.end <= until
            clock, left = quiet_hours.clock_at(until, zone, now), held + (0 if through else found.left(until))
            if left:
                yield Message("load.breaks", {"name": one.name, "clock": clock, "left": left})
            else:
                yield Message("load.keeps", {"name": one.name, "clock": clock})

    def _rows(self, entries: Sequence[ScheduleEntry], count: int, *, every: bool = False) -> list[ScheduleRow]:
        """``every``: these are all there are, so what else was read before is forgotten."""
        zone = (fleet_zone(self._store) or DEFAULT_ZONE) if entries else ""
        moment = self._store.wall_ms()
        leads = self._store.leader(leader.ROLE)
        way = (
            fates.way(self._store, self._store.now_ms(), leads)
            if any(_is_late(one, moment) for one in entries)
            else None
        )
        sets, known, found = self._sets(), self._read, []
        read: dict[str, _Read] = {}
        for entry in entries:
            one = known.get(entry.name)
            if one is None or not one.serves(entry, zone, count):
                try:
                    planned = schedules.load(entry.body)
                except UsageError as exc:
                    log.warning("schedule %s is left out: %s", entry.name, exc)
                    continue
                one = _Read(
                    entry.version, zone, count, planned, *_upcoming(planned.schedule, zone, entry.next_at, count)
                )
            read[entry.name] = one
            planned, problem = one.planned, one.problem
            found.append(
                ScheduleRow(
                    planned=planned,
                    zone=planned.schedule.zone or zone,
                    upcoming=one.upcoming[:count],
                    shops=sets.of(planned.schedule).bit_count(),
                    problem=problem,
                    now=insight.look(planned, 0 if problem else entry.next_at, moment, leader=leads, way=way),
                )
            )
        if every:
            self._read = read
        return found


class _Read(msgspec.Struct, frozen=True):
    """A schedule as it was read, and when it comes: the same until somebody writes it anew, which a run does too."""

    version: int
    zone: str
    count: int
    planned: Planned
    upcoming: tuple[int, ...]
    problem: str

    def serves(self, entry: ScheduleEntry, zone: str, count: int) -> bool:
        """Whether nothing that it was made of has changed, and it tells as many runs as are wanted."""
        return (self.version, self.zone) == (entry.version, zone) and self.count >= count


class _Beside(msgspec.Struct, frozen=True, kw_only=True):
    """What schedules may collide with at one moment, UTC ms."""

    works: _Works
    quiet: Sequence[QuietHours]
    promised: Sequence[Promise]  #: those that hold by an hour
    zone: str
    now: int

    def collided(self, row: ScheduleRow) -> ScheduleRow:
        """The row, with what it collides with."""
        quieted = {at: said for at in row.upcoming if (said := _held(row, at, self)) is not None}
        return replace(row, others=tuple(_others(row, self)), quieted=quieted)


def _others(row: ScheduleRow, beside: _Beside) -> Iterator[Message]:
    if not row.schedule.enabled or row.problem:
        return
    if (same := beside.works.beside(row)) is not None:
        yield same
    if row.upcoming:
        yield from _promised_before(row, row.upcoming[0], beside)


def _held(row: ScheduleRow, at: int, beside: _Beside) -> Message | None:
    """The quiet hours into which a run falls."""
    mine, of_type = beside.works.sets.of(row.schedule), f"type:{row.schedule.task_type}"
    for hours in beside.quiet:
        if not mine or not (hours.scope == of_type or mine & beside.works.sets.scope(hours.scope)):
            continue
        spans = quiet_hours.spans(hours, beside.zone, at, at + 1)
        span = next((one for one in spans if one[0] <= at < one[1]), None)
        if span is not None:
            clock, end = (quiet_hours.clock_at(instant, beside.zone, beside.now) for instant in (at, span[1]))
            return Message(IN_QUIET, {"name": hours.name, "clock": clock, "end": end})
    return None


def _promised_before(row: ScheduleRow, at: int, beside: _Beside) -> Iterator[Message]:
    """Promises of the same work whose hours, the present ones or the next, end without a run in them."""
    sets, zone, now = beside.works.sets, beside.zone, beside.now
    for one in beside.promised:
        if one.task_type != row.schedule.task_type or not sets.of(row.schedule) & sets.of(one):
            continue
        window = judge.due(one, zone, at)
        if not window.holds or not now < window.ends <= at:
            continue
        if next(schedules.rule(row.schedule, zone).after(window.begins - 1), at) < window.ends:
            continue
        clock, then = (quiet_hours.clock_at(instant, zone, now) for instant in (window.ends, at))
        yield Message("schedule.after_promise", {"name": one.name, "clock": clock, "at": then})


def _by_an_hour(one: Promise) -> bool:
    return one.enabled and one.kind == promise.BY


def _counted(past: Past) -> bool:
    """Whether a planned time has tasks, whose states tell what became of it."""
    return bool(past.label) and past.kind not in (schedules.MISSED_RUN, schedules.SKIPPED)


def _knows(ended: Mapping[str, RunView], past: Past) -> bool:
    return past.label in ended and ended[past.label].past == past


def _uncounted(past: Past) -> RunView:
    if past.kind in (schedules.MISSED_RUN, schedules.SKIPPED):
        return RunView(past=past, state=past.kind)
    return RunView(past=past, state="dead" if past.failed else "empty")


def _run(past: Past, counts: Mapping[str, int]) -> RunView:
    done, dead = counts.get(Status.SUCCEEDED, 0), counts.get(Status.DEAD, 0)
    left = sum(number for status, number in counts.items() if status in ACTIVE)
    state = "running" if left else "dead" if dead or past.failed else "succeeded" if done else "gone"
    return RunView(past=past, state=state, succeeded=done, dead=dead, open=left)


class _HeldBack:
    """What lets tasks wait up to an instant, by scope: quiet hours, and pauses, of which nobody knows the end."""

    def __init__(self, quiet: Sequence[QuietHours], paused: Mapping[str, int], zone: str, ends: int) -> None:
        """``paused``: since when, by scope."""
        self._quiet, self._paused, self._zone, self._ends = quiet, paused, zone, ends
        self.scopes = {*paused, *(hours.scope for hours in quiet)}

    def apart(self, sets: ShopSets) -> int:
        """The shops that one of these scopes is about alone."""
        found = 0
        for scope in self.scopes:
            if scope.startswith("shop:"):
                found |= sets.scope(scope)
        return found

    def spans(self, scopes: Sequence[str], since: int) -> tuple[tuple[int, int], ...]:
        """When nothing of these scopes starts, in order; UTC ms."""
        since_when = [self._paused[scope] for scope in scopes if scope in self._paused]
        paused = [(min(since_when), load.NEVER)] if since_when else []
        quieted = (hours for hours in self._quiet if hours.scope in scopes)
        found = (span for one in quieted for span in quiet_hours.spans(one, self._zone, since, self._ends))
        return tuple(sorted([*paused, *found]))


class _Work:
    """Whom the schedules of one work are for."""

    def __init__(self) -> None:
        self._of: dict[str, int] = {}
        self._once = self._twice = 0

    def add(self, name: str, shops: int) -> None:
        """One of them; shops are bits."""
        self._of[name] = shops
        self._twice |= self._once & shops
        self._once |= shops

    def beside(self, name: str, shops: int) -> tuple[list[str], int]:
        """The others that are for some of these shops, and which of these that are."""
        mine = shops if name not in self._of else shops & self._twice
        if not mine:
            return [], 0
        both = {other: those & mine for other, those in self._of.items() if other != name and those & mine}
        return list(both), reduce(or_, both.values(), 0)


class _Works:
    """Which schedules create the same work: of one type, with parameters that the type does not tell apart."""

    def __init__(self, rows: Sequence[ScheduleRow], registry: Registry, sets: ShopSets) -> None:
        self.sets = sets
        self._registry = registry
        self._of: dict[str, _Work] = defaultdict(_Work)
        for row in rows:
            if row.schedule.enabled and (key := self._key(row.schedule)):
                self._of[key].add(row.schedule.name, sets.of(row.schedule))

    def beside(self, row: ScheduleRow) -> Message | None:
        """The others that make the same work for the same shops."""
        work = self._of.get(self._key(row.schedule))
        names, shops = work.beside(row.schedule.name, self.sets.of(row.schedule)) if work is not None else ([], 0)
        return (
            Message("schedule.same_work", {"names": ", ".join(names[:MOST_NAMES]), "n": shops.bit_count()})
            if names
            else None
        )

    def _key(self, schedule: Schedule) -> str:
        kind = self._registry.task_type(schedule.task_type)
        return task_type.uniqueness_key(kind, "", "", recipe.payload_text(schedule.payload))


def _planned(
    rows: Iterable[ScheduleRow], since: int, until: int, now: int, tasks: int = 0
) -> tuple[list[tuple[ScheduleRow, list[int]]], int]:
    """The runs between two instants of each of them that runs at all, as many in the order of their times as can be
    followed beside so many other tasks; and when the first begins that is left out, 0 for none.
    """
    working = _working(rows)
    found = [(row, list[int]()) for row in working]
    for at, place in merge(*(_within(row, n, since, until, now) for n, row in enumerate(working))):
        row, runs = found[place]
        tasks += row.shops
        if tasks > MOST_AHEAD:
            return found, at
        runs.append(at)
    return found, 0


def _planned_before(
    rows: Iterable[ScheduleRow], since: int, until: int, now: int
) -> tuple[list[tuple[ScheduleRow, list[int]]], int, int]:
    """The same of what is over when the second instant comes, the last ones first and at most half of what can be
    followed; how many tasks they are; and when the last begins that is left out, 0 for none.
    """
    working = _working(rows)
    found = [(row, list[int]()) for row in working]
    tasks = 0
    comes = sorted(one for n, row in enumerate(working) for one in _within(row, n, since, until, now))
    for at, place in reversed(comes):
        row, runs = found[place]
        if tasks + row.shops > MOST_AHEAD // 2:
            return found, tasks, at
        tasks += row.shops
        runs.insert(0, at)
    return found, tasks, 0


def _working(rows: Iterable[ScheduleRow]) -> list[ScheduleRow]:
    return [row for row in rows if row.shops and row.schedule.enabled and not row.problem]


def _within(row: ScheduleRow, place: int, since: int, until: int, now: int) -> Iterator[tuple[int, int]]:
    """When a schedule runs between two instants, with its place; what is to come without what was skipped."""
    following = row.upcoming[0] if row.upcoming else now
    found = takewhile(lambda at: at < until, schedules.rule(row.schedule, row.zone).after(since - 1))
    return ((at, place) for at in found if at < now or at >= following)


def _fired(row: ScheduleRow) -> int:
    """When its last run was of which tasks may still wait, 0 where there is none."""
    last = row.planned.last
    return last.base if last is not None and (last.created or last.active) else 0


def _not_skipped(runs: Sequence[int], burst: Burst, fired: int) -> list[int]:
    """Without those that begin while the one before is held by the same pause or quiet hours: its shops are left out
    then.
    """
    found, held = [], {span for span in burst.quiet if fired and span[0] <= fired < span[1]}
    for at in runs:
        spans = {span for span in burst.quiet if span[0] <= at < span[1]}
        if not spans & held:
            found.append(at)
        held |= spans
    return found


def _paused(bursts: Iterable[Burst]) -> Iterator[Message]:
    """How many of the tasks no instant is known for."""
    if tasks := sum(burst.tasks for burst in bursts if burst.paused):
        yield Message("load.paused", {"tasks": tasks})


def _through(found: Load, mine: Sequence[Burst], at: int, slots: int, zone: str, now: int) -> Iterator[Message]:
    """When the run is through, and what is in its way."""

    def clock(instant: int) -> str:
        return quiet_hours.clock_at(instant, zone, now)

    tasks = sum(burst.tasks for burst in mine)
    about: dict[str, Param] = {"clock": clock(at), "tasks": tasks, "slots": slots}
    if not slots:
        yield Message("load.nobody", about)
        return
    if not all(burst.mean_s for burst in mine):
        yield Message("load.unmeasured", about)
        return
    held = sum(burst.tasks for burst in mine if burst.paused)
    if held == tasks:
        yield Message("load.held", about)
        return
    code = "load.never" if not found.end else "load.through_rest" if held else "load.through"
    yield Message(code, {**about, "end": clock(found.end)})
    yield from _paused(mine)
    quieted = [
        (burst.tasks, end)
        for burst in mine
        for start, end in burst.quiet
        if start <= burst.at < end and not burst.paused
    ]
    if quieted:
        until = max(end for _, end in quieted)
        yield Message("load.quiet", {"tasks": sum(number for number, _ in quieted), "clock": clock(until)})
    most, when = found.peak
    if found.beside:
        yield Message("load.beside", {"names": ", ".join(found.beside[:MOST_NAMES])})
        yield Message("load.peak", {"clock": clock(when), "tasks": most})
    if (seconds := load.spread(found, mine, slots)) and not quieted:
        yield Message("load.spread", {"seconds": seconds})


def _is_late(entry: ScheduleEntry, moment: int) -> bool:
    return bool(insight.overdue(entry.next_at, moment))


def _upcoming(schedule: Schedule, zone: str, next_at: int, count: int) -> tuple[tuple[int, ...], str]:
    if not next_at:
        return (), ""
    try:
        return tuple(recurrence.upcoming(schedules.rule(schedule, zone), next_at - 1, count)), ""
    except UsageError as exc:
        return (), words_of(exc)
