"""The scheduler: fires what is due. A run is written down before its first task and after its last one, so that whoever
leads next goes on where a dead leader stopped; the ids of the tasks see to it that none is made twice.
"""

from __future__ import annotations

import logging

import msgspec

from services.domain.errors import StoreUnavailable, UsageError
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Tally
from services.engine.lead.duty import OnDuty, Rounds, Seldom
from services.engine.lead.firing import DEFAULT_ZONE, Firing, fleet_zone
from services.ports import Clock, ScheduleEntry, Store

log = logging.getLogger(__name__)
TICK_S = 1.0
BATCH = 100
#: between two looks whether what is planned lies where only a wrong clock can have put it
LOOK_S = 60.0
_TRIES = 5


class Scheduler(OnDuty):
    """Started and stopped with the leadership."""

    def __init__(self, store: Store, firing: Firing, clock: Clock, name: str) -> None:
        self._store, self._firing = store, firing
        self._duty = Rounds(self.tick, TICK_S, clock, f"{name}-scheduler", log=log, waits="schedules wait")
        self._seldom = Seldom(clock, LOOK_S)
        self._told: set[tuple[str, int]] = set()  #: name and version of schedules whose trouble was logged

    def tick(self) -> int:
        """Fire what is due now; returns how many schedules were. One that cannot be fired does not hold up the others.

        Raises:
            StoreUnavailable: nothing can be recorded now.
        """
        if self._seldom.due():
            self._put_right()
        due = self._store.due_schedules(BATCH + len(self._told))  # those stay due until somebody mends them
        zone = (fleet_zone(self._store) or DEFAULT_ZONE) if due else ""
        for entry in due:
            if self._duty.stopped:
                break
            try:
                self._turn(entry, zone)
            except StoreUnavailable:
                raise
            except Exception:  # whatever is wrong with one, the others must run
                if self._is_news(entry):
                    log.exception("schedule %s cannot be fired", entry.name)
        return len(due)

    def _put_right(self) -> None:
        """After a clock that was ahead is set right: what it has put off until then runs from now on. The instants that
        have run have their tasks, under ids that are made once.
        """
        zone, now = fleet_zone(self._store) or DEFAULT_ZONE, self._store.wall_ms()
        for entry in self._store.schedules():
            if entry.next_at <= now:
                continue
            try:
                planned = schedules.load(entry.body)
                next_at = schedules.put_right(planned, zone, entry.next_at, now)
            except UsageError:  # nobody can read it: told when it is due
                continue
            if next_at != entry.next_at and self._put(entry, planned, next_at):
                log.warning("schedule %s was put off by a clock that was ahead; it goes on", entry.name)

    def _turn(self, entry: ScheduleEntry, zone: str) -> None:
        planned = schedules.load(entry.body)
        if planned.firing is None:
            now = self._store.wall_ms()
            decision = schedules.decide(planned.schedule, zone, entry.next_at, now)
            lost = schedules.missed(planned.schedule, zone, entry.next_at, decision, now)
            planned = schedules.with_past(planned, *lost)
            if decision.run is None:
                self._put(entry, planned, decision.next_at)
                return
            planned = msgspec.structs.replace(planned, firing=decision.run)
            version = self._put(entry, planned, entry.next_at)
            if not version:
                return  # somebody else has it, or it has just been changed: look again
            entry = msgspec.structs.replace(entry, version=version)
        run = planned.firing
        if run is None:
            return
        tally = self._firing.fire(planned.schedule, run, zone, stopped=lambda: self._duty.stopped)
        if tally is not None:
            self._end(entry, planned, tally, zone)

    def _end(self, entry: ScheduleEntry, planned: Planned, tally: Tally, zone: str) -> None:
        """Write down what came of the run, also where a person changed the schedule meanwhile."""
        ended = _with_run(planned, tally)
        if self._put(entry, ended, schedules.planned_at(planned.schedule, zone, tally.at)):
            return
        for _ in range(_TRIES):
            found = next((one for one in self._store.schedules() if one.name == entry.name), None)
            now = schedules.load(found.body) if found is not None else None
            if found is None or now is None or now.schedule.uid != planned.schedule.uid or now.last == tally:
                return
            if now.firing is not None and now.firing != planned.firing:
                return  # somebody is further on
            merged = _with_run(now, tally)
            if self._put(found, merged, _following(found, now, tally, zone)):
                return

    def _put(self, entry: ScheduleEntry, planned: Planned, next_at: int) -> int:
        made = ScheduleEntry(name=entry.name, body=schedules.dump(planned), next_at=next_at)
        return self._store.put_schedule(made, entry.version)

    def _is_news(self, entry: ScheduleEntry) -> bool:
        """It comes up every second until somebody mends it: once is enough."""
        key = (entry.name, entry.version)
        known = key in self._told
        self._told.add(key)
        return not known


def _with_run(planned: Planned, tally: Tally) -> Planned:
    ended = msgspec.structs.replace(planned, firing=None, last=tally)
    return schedules.with_past(ended, schedules.past_of(tally))


def _following(entry: ScheduleEntry, planned: Planned, tally: Tally, zone: str) -> int:
    """The next run of a schedule that was changed while it ran: what the person planned, unless that is this run."""
    if not entry.next_at or entry.next_at > tally.at:
        return entry.next_at
    return schedules.planned_at(planned.schedule, zone, tally.at)
