"""Schedules as people look at them: with their next runs and what came of the last one."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import SCOPE_ALL
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import QuietHours
from services.domain.insight import schedule as insight
from services.domain.insight.schedule import ScheduleNow
from services.domain.insight.worker import takes_work
from services.domain.plans import load, recurrence
from services.domain.plans import schedule as schedules
from services.domain.plans.load import Burst, Load
from services.domain.plans.schedule import Planned, Schedule
from services.domain.promises import judge, promise
from services.domain.text.message import Message, Param
from services.domain.text.said import words_of
from services.engine import fates
from services.engine.lead import leader
from services.engine.lead.firing import DEFAULT_ZONE, fleet_zone
from services.engine.quiet import wished
from services.engine.registry import Registry
from services.monitor.numbers.measured import Measured
from services.ports import ScheduleEntry, Store

log = logging.getLogger(__name__)
NEXT_RUNS = 5
#: runs of another schedule that are looked at, and names that are told
MOST_RUNS, MOST_NAMES = 300, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """One schedule; instants are UTC ms."""

    planned: Planned
    zone: str  #: its own, or the fleet's
    upcoming: tuple[int, ...] = ()  #: the next runs, none while it is disabled
    shops: int = 0  #: how many it would run for now
    problem: str = ""  #: why it cannot run any more
    now: ScheduleNow = field(default_factory=ScheduleNow)

    @property
    def schedule(self) -> Schedule:
        """What was asked for."""
        return self.planned.schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLoad:
    """A run that is still to come, and what people are told of it; ``at``: UTC ms."""

    at: int
    slots: int
    load: Load
    said: tuple[Message, ...]


class ScheduleQueries:
    """Questions about schedules."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry, self._measured = store, registry, Measured(store)

    def rows(self, count: int = NEXT_RUNS) -> tuple[ScheduleRow, ...]:
        """All of them by name, each with up to ``count`` next runs; what cannot be read is left out and logged."""
        return tuple(self._rows(self._store.schedules(), count))

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
        now = self._store.now_ms()
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
        at, now = row.upcoming[0], self._store.now_ms()
        ends = at + load.LONGEST * load.MINUTE_MS
        slots = sum(len(info.slots) for info in self._store.workers() if takes_work(info, now))
        begins, quiet = at - load.LONGEST * load.MINUTE_MS // 8, wished(self._store)
        mine = [replace(one, own=True) for one in self._bursts(wanted, [at], quiet, zone, ends)]
        others = [
            burst
            for other in self.rows()
            if other.schedule.name != wanted.name and other.schedule.enabled and not other.problem
            for burst in self._bursts(other.schedule, list(_within(other, begins, ends)), quiet, zone, ends)
        ]
        found = load.follow([*mine, *others], slots)
        said = [*_through(found, mine, at, slots, zone, now), *self._promised(wanted, found, at, ends, zone, now)]
        return RunLoad(at=at, slots=slots, load=found, said=tuple(said))

    def _bursts(
        self, wanted: Schedule, runs: Sequence[int], quiet: Sequence[QuietHours], zone: str, ends: int
    ) -> list[Burst]:
        """Its runs, platform by platform, for quiet hours may be of one."""
        shops = schedules.fitting(wanted, self._registry.shops().values()) if runs else []
        declared = self._registry.task_type(wanted.task_type).expected_s
        found: list[Burst] = []
        for platform, number in sorted(Counter(shop.platform for shop in shops).items()):
            scopes = (SCOPE_ALL, f"platform:{platform}", f"type:{wanted.task_type}")
            held = [hours for hours in quiet if hours.scope in scopes]
            burst = Burst(
                name=wanted.name,
                at=runs[0],
                tasks=number,
                mean_s=self._measured.on_platform(wanted.task_type, platform, declared).mean_s,
                spread_s=wanted.spread_s,
                quiet=tuple(sorted(span for one in held for span in quiet_hours.spans(one, zone, runs[0], ends))),
            )
            found += [replace(burst, at=at) for at in runs]
        return found

    def _promised(self, wanted: Schedule, found: Load, at: int, ends: int, zone: str, now: int) -> Iterator[Message]:
        """Promises of the same work that are for an instant after the run."""
        shops = self._registry.shops().values()
        mine = {shop.key for shop in schedules.fitting(wanted, shops)}
        for body in self._store.documents(promise.KIND).values():
            try:
                one = promise.load(body)
            except (ValueError, RecursionError):  # the doctor tells it
                continue
            if not one.enabled or one.kind != promise.BY or one.task_type != wanted.task_type or not found.own:
                continue
            window = judge.due(one, zone, at)
            if (
                not window.holds
                or not at < window.ends < ends
                or not mine & {s.key for s in schedules.fitting(one, shops)}
            ):
                continue
            clock, left = quiet_hours.clock_at(window.ends, zone, now), found.left(window.ends)
            if left and not (found.end and found.end <= window.ends):
                yield Message("load.breaks", {"name": one.name, "clock": clock, "left": left})
            else:
                yield Message("load.keeps", {"name": one.name, "clock": clock})

    def _rows(self, entries: Sequence[ScheduleEntry], count: int) -> list[ScheduleRow]:
        zone = (fleet_zone(self._store) or DEFAULT_ZONE) if entries else ""
        moment = self._store.now_ms()
        leads = self._store.leader(leader.ROLE)
        way = fates.way(self._store, moment, leads) if any(_is_late(one, moment) for one in entries) else None
        shops = self._registry.shops().values()
        found = []
        for entry in entries:
            try:
                planned = schedules.load(entry.body)
            except UsageError as exc:
                log.warning("schedule %s is left out: %s", entry.name, exc)
                continue
            upcoming, problem = _upcoming(planned.schedule, zone, entry.next_at, count)
            chosen = len(schedules.fitting(planned.schedule, shops))
            found.append(
                ScheduleRow(
                    planned=planned,
                    zone=planned.schedule.zone or zone,
                    upcoming=upcoming,
                    shops=chosen,
                    problem=problem,
                    now=insight.look(planned, 0 if problem else entry.next_at, moment, leader=leads, way=way),
                )
            )
        return found


def _within(row: ScheduleRow, since: int, until: int) -> Iterator[int]:
    """When a schedule runs between two instants, a few hundred times at most."""
    for at in islice(schedules.rule(row.schedule, row.zone).after(since - 1), MOST_RUNS):
        if at >= until:
            return
        yield at


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
    yield Message("load.through" if found.end else "load.never", {**about, "end": clock(found.end)})
    held = [(burst.tasks, end) for burst in mine for start, end in burst.quiet if start <= burst.at < end]
    if held:
        until = max(end for _, end in held)
        yield Message("load.quiet", {"tasks": sum(number for number, _ in held), "clock": clock(until)})
    most, when = found.peak
    if found.beside:
        yield Message("load.beside", {"names": ", ".join(found.beside[:MOST_NAMES])})
        yield Message("load.peak", {"clock": clock(when), "tasks": most})
    if (seconds := load.spread(found, mine, slots)) and not held:
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
