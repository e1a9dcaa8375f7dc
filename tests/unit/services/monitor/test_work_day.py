"""The day of one work as a strip: who asked for each run, what was overtaken, what waits, and what did not come."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.change import Create
from services.domain.fleet.shop import Shop
from services.domain.gates.quiet_hours import Once, QuietHours
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Past, Planned, Run, Schedule
from services.domain.task.record import Attempt, Task
from services.domain.types import task_type
from services.engine import quiet
from services.monitor.shops.day import LATE_DAY, DayAttempt, ShopDay, ShopDays
from services.monitor.works import WorkQueries
from services.ports import ScheduleEntry
from tests.unit.services.engine.room import Room

SHOP = "pdd:s1"
HOUR = 3_600_000


@pytest.fixture
def begins(room: Room) -> int:
    """The first instant of a day that is eight hours old."""
    room.define("single", uniqueness="shop_type")
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    room.registry.forget()
    return room.store.now_ms() - 8 * HOUR


def strip(room: Room, begins: int) -> ShopDay:
    """The strip of that day."""
    story = WorkQueries(room.store, room.registry).story(SHOP, "single", (begins, begins + 24 * HOUR, "UTC"))
    return ShopDays(room.store, room.registry).of(story)


def look(room: Room, begins: int) -> list[DayAttempt]:
    """What it shows."""
    return list(strip(room, begins).runs)


def put(room: Room, name: str, at: int, outcome: str, **more: Any) -> None:
    """A task that began at an instant and ended a minute later; without an outcome it has not begun."""
    tried = Attempt(number=1, worker="w1", started_at=at, ended_at=at + 60_000, outcome=outcome)
    ran: dict[str, Any] = {"attempts": (tried,), "attempt": 1, "started_at": at, "ended_at": at + 60_000}
    uniq = task_type.uniqueness_key(room.registry.task_type("single"), "pdd", "s1", "{}")
    record = {"platform": "pdd", "shop_id": "s1", "task_type": "single", "uniq": uniq, "created_at": at}
    room.store.apply([Create(task=Task(task_id=name, **record, **(ran if outcome else {}), **more))])  # type: ignore[arg-type]


def plan(room: Room, *past: Past, next_at: int, every_s: int = 3600, firing: Run | None = None) -> Schedule:
    """A schedule of the work, every hour, with what became of its last times."""
    every = Schedule(name="hourly", task_type="single", every_s=every_s, first_at=next_at - 48 * HOUR, shops=(SHOP,))
    body = schedules.dump(Planned(schedule=every, past=past, firing=firing))
    room.store.put_schedule(ScheduleEntry(name="hourly", body=body, next_at=next_at), 0)
    return every


def test_runs_say_who_asked_and_what_did_the_work_of_a_letter(room: Room, begins: int) -> None:
    put(room, "dead", begins + HOUR, "failed", status="dead", triage="overtaken", successor="by", origin="schedule")
    put(room, "by", begins + 2 * HOUR, "succeeded", status="succeeded", origin="console")
    put(room, "waits", begins + 3 * HOUR, "", status="queued", origin="foreign")
    found = [(run.task_id, run.state, run.asked, run.instead) for run in look(room, begins)]
    assert found == [
        ("dead", "overtaken", "schedule", "by"),
        ("by", "succeeded", "person", ""),
        ("waits", "waits", "program", ""),
    ]


def test_what_a_schedule_did_not_bring_is_told_and_what_it_will_bring_up_to_midnight(room: Room, begins: int) -> None:
    times = {kind: begins + (place + 1) * HOUR for place, kind in enumerate(("missed", "skipped", "ran"))}
    out = Past(at=begins + 4 * HOUR, left_out=1)
    plan(
        room,
        Past(at=times["missed"], kind="missed"),
        Past(at=times["skipped"], kind="skipped"),
        Past(at=times["ran"], created=1),
        out,
        next_at=begins + 9 * HOUR,
    )
    found = [(run.begins, run.state) for run in look(room, begins)]
    assert found[:3] == [(times["missed"], "missed"), (times["skipped"], "skipped"), (out.at, "skipped")]
    assert found[3:] == [(begins + hour * HOUR, "planned") for hour in range(9, 24)]


def test_a_time_that_nobody_came_to_is_missing(room: Room, begins: int) -> None:
    plan(room, next_at=begins + 7 * HOUR)
    found = [(run.begins, run.state) for run in look(room, begins)]
    assert (begins + 7 * HOUR, "missed") in found
    assert (begins + 9 * HOUR, "planned") in found


def test_every_time_that_nobody_came_to_is_missing(room: Room, begins: int) -> None:
    plan(room, next_at=begins + 5 * HOUR)
    found = [run.begins for run in look(room, begins) if run.state == "missed"]
    assert found == [begins + hour * HOUR for hour in (5, 6, 7)]
    assert not [run for run in look(room, begins - 24 * HOUR) if run.state == "missed"]


def test_of_very_many_that_nobody_came_to_none_is_left_out_of_the_number(room: Room, begins: int) -> None:
    plan(room, next_at=begins + 5 * HOUR, every_s=10)
    late = [run for run in look(room, begins) if run.state == "missed"]
    assert len(late) == LATE_DAY
    assert sum(run.count for run in late) == (3 * HOUR - schedules.GRACE_MS) // 10_000


@pytest.mark.parametrize(
    "numbers", [{"created": 9, "left_out": 1}, {"created": 9, "failed": 1}, {"left_out": 1, "failed": 1}]
)
def test_what_a_run_did_for_some_shops_is_not_said_of_this_one(
    room: Room, begins: int, numbers: dict[str, Any]
) -> None:
    at = begins + HOUR
    every = plan(room, Past(at=at, **numbers), next_at=begins + 9 * HOUR)
    day = strip(room, begins)
    assert [(run.begins, run.state) for run in day.runs if run.state != "planned"] == [(at, "unknown")]
    assert not day.complete
    shop = room.registry.shops()[SHOP]
    put(room, schedules.task_id(every, Run(at=at, base=at), shop), at, "succeeded", status="succeeded")
    day = strip(room, begins)
    assert [run.state for run in day.runs if run.state != "planned"] == ["succeeded"]
    assert day.complete


def test_a_run_that_makes_its_tasks_still_is_not_missing(room: Room, begins: int) -> None:
    at = begins + 7 * HOUR
    plan(room, next_at=at, firing=Run(at=at, base=at))
    assert [(run.begins, run.state) for run in look(room, begins) if run.state != "planned"] == [(at, "unknown")]


def test_what_began_today_is_no_run_of_yesterday(room: Room, begins: int) -> None:
    put(room, "now", begins + HOUR, "", status="running", started_at=begins + HOUR, attempt=1)
    assert [(run.task_id, run.state) for run in look(room, begins)] == [("now", "running")]
    assert look(room, begins - 24 * HOUR) == []


@pytest.mark.parametrize(
    ("origin", "asked"),
    [
        ("console", "person"),
        ("again", "person"),
        ("republish", "person"),
        ("schedule", "schedule"),
        ("rest", "program"),
        ("recovered", "program"),
        ("demo", "program"),
        ("", "program"),
    ],
)
def test_only_what_a_person_asked_for_stands_in_the_row_of_people(
    room: Room, begins: int, origin: str, asked: str
) -> None:
    put(room, "ran", begins + HOUR, "succeeded", status="succeeded", origin=origin)
    put(room, "waits", begins + 2 * HOUR, "", status="queued", origin=origin)
    assert [run.asked for run in look(room, begins)] == [asked, asked]


def test_quiet_hours_of_the_type_hold_its_work_back_too_and_those_that_overlap_are_one(room: Room, begins: int) -> None:
    for name, scope, first, last in (
        ("type", "type:single", 10, 12), ("shop", f"shop:{SHOP}", 11, 13), ("later", "platform:pdd", 15, 16),
        ("other", "type:other", 18, 20),
    ):  # fmt: skip
        window = Once(start=begins + first * HOUR, end=begins + last * HOUR)
        quiet.put(room.store, QuietHours(name=name, scope=scope, once=(window,), reason="sale"), "UTC")
    spans = [((one - begins) // HOUR, (end - begins) // HOUR) for one, end in strip(room, begins).quiet]
    assert spans == [(10, 13), (15, 16)]
    spans = [
        ((one - begins) // HOUR, (end - begins) // HOUR)
        for one, end in ShopDays(room.store, room.registry).look(SHOP, 120 * HOUR).quiet
    ]
    assert spans == [(11, 13), (15, 16)], "what holds back one type does not hold back the shop"


def test_the_last_hours_of_a_shop_show_what_ran_in_them_and_nothing_older(room: Room, begins: int) -> None:
    put(room, "now", room.store.now_ms() - HOUR, "succeeded", status="succeeded")
    day = ShopDays(room.store, room.registry)
    assert [run.task_id for run in day.look(SHOP, 2 * HOUR).runs] == ["now"]
    room.clock.advance(3 * 3600)
    assert day.look(SHOP, 2 * HOUR).runs == ()
