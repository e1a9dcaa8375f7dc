"""Schedules as people look at them: with their next runs and what came of the last one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from services.domain.errors import UsageError
from services.domain.insight import schedule as insight
from services.domain.insight.schedule import ScheduleNow
from services.domain.plans import recurrence
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.domain.text.said import words_of
from services.engine import fates
from services.engine.lead import leader
from services.engine.lead.firing import DEFAULT_ZONE, fleet_zone
from services.engine.registry import Registry
from services.ports import ScheduleEntry, Store

log = logging.getLogger(__name__)
NEXT_RUNS = 5


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


class ScheduleQueries:
    """Questions about schedules."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

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


def _is_late(entry: ScheduleEntry, moment: int) -> bool:
    return bool(insight.overdue(entry.next_at, moment))


def _upcoming(schedule: Schedule, zone: str, next_at: int, count: int) -> tuple[tuple[int, ...], str]:
    if not next_at:
        return (), ""
    try:
        return tuple(recurrence.upcoming(schedules.rule(schedule, zone), next_at - 1, count)), ""
    except UsageError as exc:
        return (), words_of(exc)
