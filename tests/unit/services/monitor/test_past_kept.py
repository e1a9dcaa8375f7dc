"""What changed that records tell: causes that were new, and runs that were not made, or not in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import MISSED_RUN, SKIPPED, Past, Planned, Schedule, Tally
from services.messages import english
from services.monitor.alerts import wording
from services.monitor.past.kept import of_records
from services.ports import ScheduleEntry
from tests.unit.services.engine.room import Room

OLD, NEW = "00000000000000aa", "00000000000000bb"
MINUTE = 60_000


def die(room: Room, shop: str, cause: str) -> None:
    task = room.running(f"w#{shop}{cause}", shop_id=shop)
    room.finish(task, "dead", error="selector '.row' not found", error_kind="page", fingerprint=cause)


def tally(at: int, base: int) -> Tally:
    return Tally(at=at, base=base)


def told(room: Room, begin: int, end: int) -> list[tuple[str, tuple[str, ...]]]:
    turns, whole = of_records(room.store, begin, end)
    assert whole
    return [(english(wording.of_turn(turn, "UTC")), turn.names) for turn in sorted(turns, key=lambda one: one.at_ms)]


def test_a_cause_is_new_where_its_first_letter_died(room: Room) -> None:
    die(room, "s1", OLD)
    room.clock.advance(600)
    begin = room.store.now_ms()
    room.clock.advance(1)
    die(room, "s2", OLD)
    die(room, "s2", NEW)
    room.clock.advance(5)
    die(room, "s3", NEW)
    end = room.store.now_ms()
    ((said, names),) = told(room, begin, end)
    assert (said.startswith("New cause in 2 shops: "), names) == (True, (NEW,))
    room.clock.advance(60)
    assert told(room, end, room.store.now_ms()) == []


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        (lambda now: {"past": (Past(at=now - MINUTE, kind=MISSED_RUN),)}, "Schedule nightly: nobody made its run"),
        (lambda now: {"past": (Past(at=now - MINUTE, kind=SKIPPED),)}, "Schedule nightly: its run was left out"),
        (lambda now: {"last": tally(now - 10 * MINUTE, now - MINUTE)}, "Schedule nightly: its run began 9 min late"),
        (lambda now: {"last": tally(now - MINUTE, now - MINUTE), "past": (Past(at=now - MINUTE),)}, ""),
        (
            lambda now: {
                "last": tally(now, now),
                "past": (Past(at=now - 9 * MINUTE, began=now - 2 * MINUTE), Past(at=now, began=now)),
            },
            "Schedule nightly: its run began 7 min late",
        ),
        (lambda now: {"past": (Past(at=now - 20 * MINUTE, kind=MISSED_RUN),)}, ""),
    ],
)
def test_runs_that_nobody_made_or_that_were_late_are_told(
    room: Room, planned: Callable[[int], dict[str, Any]], said: str
) -> None:
    now = room.store.wall_ms()
    plan = Planned(schedule=Schedule(name="nightly", task_type="work", every_s=60, all_shops=True), **planned(now))
    assert room.store.put_schedule(ScheduleEntry(name="nightly", body=schedules.dump(plan), next_at=now + MINUTE), 0)
    found = told(room, now - 10 * MINUTE + 1, now)
    assert found == ([(said, ("nightly",))] if said else [])
