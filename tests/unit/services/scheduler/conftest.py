"""A room with shops and a clock that is turned by hand, and schedulers as several processes have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.engine.lead.firing import Firing
from services.ports import ScheduleEntry
from services.scheduler.loop import Scheduler
from tests.unit.services.engine.room import Room, opened

SHOPS = 7


@dataclass
class Yard:
    """What a scheduler works with."""

    room: Room

    def scheduler(self, name: str = "a") -> Scheduler:
        """One as another process has it."""
        room = self.room
        return Scheduler(room.store, Firing(room.store, room.producer, room.registry), room.clock, name)

    def plan(self, **fields: Any) -> int:
        """A schedule that repeats every 10 minutes and is due for the first time in a minute; returns that instant."""
        now = self.room.clock.now_ms()
        base = {
            "name": "s",
            "uid": "u1",
            "task_type": "work",
            "every_s": 600,
            "first_at": now + 60_000,
            "all_shops": True,
        }
        schedule = Schedule(**(base | fields))
        schedules.check(schedule, "UTC", now)
        next_at = schedules.planned_at(schedule, "UTC", now)
        body = schedules.dump(Planned(schedule=schedule))
        assert self.room.store.put_schedule(ScheduleEntry(name=schedule.name, body=body, next_at=next_at), 0)
        return next_at

    def entry(self, name: str = "s") -> ScheduleEntry:
        """As it is kept."""
        return next(entry for entry in self.room.store.schedules() if entry.name == name)

    def planned(self, name: str = "s") -> Planned:
        """With its progress."""
        return schedules.load(self.entry(name).body)

    def tasks(self, label: str = "") -> list[Task]:
        """All that were made, or those of one run."""
        terms = (equals("batch", label),) if label else ()
        return list(self.room.store.query(Query(terms=terms, limit=1000, descending=False)).tasks)


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    """Seven shops, nothing planned."""
    with opened(tmp_path) as room:
        room.define("work", uniqueness="none")
        room.define("single", uniqueness="shop_type")
        room.store.put_shops([Shop(platform="pdd", shop_id=f"s{number}") for number in range(SHOPS)])
        yield Yard(room)
