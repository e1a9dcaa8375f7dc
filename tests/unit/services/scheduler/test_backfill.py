"""What became of planned times, and runs that are missing: found by the ledger of works, made up for once."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.schedules import ScheduleCommands
from services.domain.change import Cancel
from services.domain.errors import NotAllowed, UsageError
from services.domain.gates import quiet_hours
from services.domain.plans.schedule import Schedule
from services.domain.promises import promise
from services.domain.task.record import Task
from services.engine.lead.firing import Firing, set_fleet_zone
from services.engine.lead.janitor import Janitor, Retention
from services.messages import english
from services.monitor.schedules import ScheduleQueries
from tests.support.counting import CountingStore
from tests.unit.services.scheduler.conftest import SHOPS, Yard

ZONE = "Asia/Shanghai"
DAY_S, DAY_MS = 86_400, 86_400_000


def desk(yard: Yard, role: str = "operator") -> ScheduleCommands:
    """The commands of a person."""
    room, who = yard.room, Operator(who="ann@desk", role=role)
    firing = Firing(room.store, room.producer, room.registry)
    return ScheduleCommands(room.store, firing, room.registry, Audit(room.store, who.who), who, lambda: ZONE)


def looks(yard: Yard) -> ScheduleQueries:
    """The questions about schedules."""
    return ScheduleQueries(yard.room.store, yard.room.registry)


def at(yard: Yard, hour: int, minute: int = 0) -> None:
    """Turn the clock to the next such time."""
    now = datetime.fromtimestamp(yard.room.clock.now_ms() / 1000, ZoneInfo(ZONE))
    then = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    seconds = (then - now).total_seconds()
    yard.room.clock.advance(seconds if seconds > 0 else seconds + DAY_S)


def nightly(yard: Yard, **fields: Any) -> None:
    """A schedule of every night, made at noon."""
    set_fleet_zone(yard.room.store, ZONE)
    at(yard, 12)
    base = {"name": "nightly", "task_type": "single", "cron": "0 2 * * *", "all_shops": True}
    desk(yard).add(Schedule(**(base | fields)))


def run_night(yard: Yard) -> list[Task]:
    """Let the next night's run begin as it should."""
    at(yard, 2)
    known = {task.task_id for task in yard.tasks()}
    assert yard.scheduler().tick() == 1
    return [task for task in yard.tasks() if task.task_id not in known]


def succeed(yard: Yard, task: Task) -> None:
    """Run a task to its end."""
    yard.room.finish(yard.room.claim(yard.room.task(task.task_id)), "succeeded")


def days_later(yard: Yard, days: int) -> int:
    """Nobody leads for so long; the instant then."""
    yard.room.clock.advance(days * DAY_S + 3600)
    return yard.room.clock.now_ms()


def test_what_is_missing_is_found_by_the_ledger_and_made_once(yard: Yard) -> None:
    nightly(yard, missed="skip")
    since = yard.room.clock.now_ms()
    first = run_night(yard)
    for task in first[:5]:
        succeed(yard, task)
    yard.room.finish(yard.room.claim(first[5]), "dead", error="x", error_kind="x", fingerprint="1")
    now = days_later(yard, 2)  # two nights in which nobody leads
    yard.scheduler().tick()
    plan = looks(yard).missing("nightly", since, now)
    assert [(len(gap.missing), gap.later, gap.done, gap.there) for gap in plan.gaps] == [
        (0, 0, 5, 2),
        (0, SHOPS, 0, 0),
        (SHOPS, 0, 0, 0),
    ]
    assert (plan.tasks, plan.shops, plan.done) == (SHOPS, SHOPS, 5)
    each = looks(yard).missing("nightly", since, now, each=True)
    assert [len(gap.missing) for gap in each.gaps] == [0, SHOPS, SHOPS]

    tally = desk(yard).backfill("nightly", since, now)
    assert (tally.created, tally.failed, tally.by) == (SHOPS, 0, "ann@desk")
    made = yard.tasks()[len(first) :]
    assert {task.created_by for task in made} == {"ann@desk"}
    again = desk(yard).backfill("nightly", since, now, each=True)
    assert again.created == SHOPS, "the night before that is left; what was made is not made twice"
    assert looks(yard).missing("nightly", since, now, each=True).tasks == 0
    entry = next(one for one in yard.room.store.audit(10) if one.action == "schedule.backfill")
    assert (entry.target, entry.outcome) == (("nightly",), "done")


def test_a_success_by_whatever_task_counts(yard: Yard) -> None:
    nightly(yard, missed="skip")
    since = yard.room.clock.now_ms()
    at(yard, 9)
    by_hand = yard.room.create(task_type="single", shop_id="s0", payload={})
    succeed(yard, by_hand)
    now = days_later(yard, 1)
    plan = looks(yard).missing("nightly", since, now, each=True)
    assert [(len(gap.missing), gap.done) for gap in plan.gaps] == [(SHOPS - 1, 1), (SHOPS, 0)]


def test_a_success_before_the_run_of_its_day_is_none_of_it(yard: Yard) -> None:
    nightly(yard, missed="skip")
    since = yard.room.clock.now_ms()
    at(yard, 1)
    succeed(yard, yard.room.create(task_type="single", shop_id="s0", payload={}))
    at(yard, 3)
    (gap,) = looks(yard).missing("nightly", since, yard.room.clock.now_ms()).gaps
    assert (len(gap.missing), gap.done) == (SHOPS, 0)


def test_a_shop_for_which_a_later_run_did_the_work_lacks_no_earlier_one(yard: Yard) -> None:
    nightly(yard, missed="skip")
    since = yard.room.clock.now_ms()
    at(yard, 2)
    at(yard, 9)
    at(yard, 3)
    succeed(yard, yard.room.create(task_type="single", shop_id="s0", payload={}))
    plan = looks(yard).missing("nightly", since, yard.room.clock.now_ms())
    assert [(len(gap.missing), gap.later, gap.done) for gap in plan.gaps] == [(0, SHOPS, 0), (SHOPS - 1, 0, 1)]


def test_where_a_day_has_several_runs_an_early_success_is_none_of_a_later_run(yard: Yard) -> None:
    nightly(yard, cron="0 2,14 * * *", missed="skip")
    since = yard.room.clock.now_ms()
    at(yard, 3)
    succeed(yard, yard.room.create(task_type="single", shop_id="s0", payload={}))
    at(yard, 15)
    plan = looks(yard).missing("nightly", since, yard.room.clock.now_ms(), each=True)
    runs = {datetime.fromtimestamp(gap.at / 1000, ZoneInfo(ZONE)).hour: gap.done for gap in plan.gaps[-2:]}
    assert runs == {2: 1, 14: 0}


@pytest.mark.parametrize("edited", [False, True])
def test_what_ran_is_not_missing_once_its_record_is_removed(yard: Yard, *, edited: bool) -> None:
    """Of a type without uniqueness the ledger keeps nothing, and after an edit it is asked for other work."""
    room = yard.room
    room.define("single", uniqueness="shop_type_payload")
    nightly(yard, missed="skip", task_type="single" if edited else "work", payload={"n": 1})
    since, ran = room.clock.now_ms(), run_night(yard)
    for task in ran[2:]:
        succeed(yard, task)
    room.steps.apply([Cancel(task_id=task.task_id, by="ann") for task in ran[:2]])
    if edited:
        (row,) = looks(yard).rows()
        desk(yard).add(msgspec.structs.replace(row.schedule, payload={"n": 2}), replace=True)
    room.clock.advance(4 * DAY_S)
    janitor = Janitor(room.store, room.steps, room.clock, Retention())
    while janitor.tick():
        pass
    assert not any(room.store.get([task.task_id for task in ran]))
    until = since + DAY_MS
    (gap,) = looks(yard).missing("nightly", since, until).gaps
    assert (gap.missing, gap.done, gap.there) == ((), SHOPS - 2, 2)
    assert desk(yard).backfill("nightly", since, until).created == 0
    assert yard.tasks() == []


@pytest.mark.parametrize(
    ("since", "until", "cron", "field"),
    [(0, 0, "0 2 * * *", "until"), (-40 * DAY_MS, 0, "0 2 * * *", "since"), (-3 * DAY_MS, 0, "*/5 * * * *", "since")],
)
def test_a_span_that_is_none_is_refused(yard: Yard, since: int, until: int, cron: str, field: str) -> None:
    nightly(yard, cron=cron)
    now = days_later(yard, 5)
    with pytest.raises(UsageError) as refused:
        looks(yard).missing("nightly", now + since, now + until)
    assert refused.value.field == field


@pytest.mark.parametrize("how", ["hour", "zone", "fleet zone"])
def test_what_ran_by_earlier_times_is_not_made_again_by_the_new_ones(yard: Yard, how: str) -> None:
    """Of a type without uniqueness only the planned time tells which run a task was of."""
    nightly(yard, missed="skip", task_type="work")
    since = yard.room.clock.now_ms()
    run_night(yard)
    days_later(yard, 1)  # a night in which nobody leads
    yard.scheduler().tick()
    commands = desk(yard)
    if how == "fleet zone":
        desk(yard, "admin").set_zone("Europe/Berlin")
    else:
        new = {"cron": "30 3 * * *"} if how == "hour" else {"cron": "0 2 * * *", "zone": "Europe/Berlin"}
        plan = {"name": "nightly", "task_type": "work", "all_shops": True, "missed": "skip", **new}
        commands.add(Schedule(**plan), replace=True)
    edited = yard.room.clock.now_ms()
    now = days_later(yard, 1)
    found = looks(yard).missing("nightly", since, now, each=True)
    before, after = ([gap for gap in found.gaps if (gap.at < edited) is was] for was in (True, False))
    assert [(len(gap.missing), gap.there) for gap in before] == [(0, SHOPS), (SHOPS, 0)]
    assert before[1].at - before[0].at == DAY_MS
    assert {(len(gap.missing), gap.there) for gap in after} == {(SHOPS, 0)}
    assert commands.backfill("nightly", since, now, each=True).created == (1 + len(after)) * SHOPS
    assert looks(yard).missing("nightly", since, now, each=True).tasks == 0


def test_of_another_type_nothing_is_made_up_for(yard: Yard) -> None:
    nightly(yard, missed="skip", task_type="work")
    since = yard.room.clock.now_ms()
    run_night(yard)
    plan = {"name": "nightly", "cron": "0 2 * * *", "all_shops": True, "missed": "skip"}
    desk(yard).add(Schedule(task_type="single", **plan), replace=True)
    now = days_later(yard, 1)
    found = looks(yard).missing("nightly", since, now)
    assert [len(gap.missing) for gap in found.gaps] == [SHOPS], "only the night since it is of this type"
    desk(yard).add(Schedule(task_type="work", **plan), replace=True)
    found = looks(yard).missing("nightly", since, now)
    assert [(len(gap.missing), gap.there) for gap in found.gaps] == [(0, SHOPS)]


def test_a_viewer_makes_up_for_nothing(yard: Yard) -> None:
    nightly(yard)
    with pytest.raises(NotAllowed):
        desk(yard, "viewer").backfill("nightly", 0, 1)
    assert yard.tasks() == []


def test_the_past_tells_what_became_of_each_planned_time(yard: Yard) -> None:
    nightly(yard, missed="skip")
    first = run_night(yard)
    for task in first:
        succeed(yard, task)
    desk(yard).skip(["nightly"])
    days_later(yard, 3)
    yard.scheduler().tick()  # two nights are over, and left out
    desk(yard).run("nightly")
    row = looks(yard).board()[0]
    assert [run.state for run in row.runs] == ["succeeded", "skipped", "missed", "missed", "running"]
    assert (row.runs[0].succeeded, row.runs[1].past.by, row.runs[-1].past.kind) == (SHOPS, "ann@desk", "hand")
    late = run_night(yard)
    assert late == [], "the tasks of the run by hand are not through"
    assert looks(yard).board()[0].runs[-1].state == "empty"


def test_what_is_made_up_for_is_no_longer_missed(yard: Yard) -> None:
    nightly(yard, missed="once")
    run_night(yard)
    days_later(yard, 3)
    yard.scheduler().tick()
    states = [run.past.kind for run in looks(yard).board()[0].runs]
    assert states == ["ran", "missed", "missed", "ran"], "late ones run once"
    for task in yard.tasks():
        if task.status == "queued":
            succeed(yard, task)
    now = yard.room.clock.now_ms()
    desk(yard).backfill("nightly", now - 4 * DAY_MS, now, each=True)
    states = [run.past.kind for run in looks(yard).board()[0].runs]
    assert states == ["ran", "backfill", "backfill", "ran"]


def test_collisions_are_named_before_and_after_it_is_kept(yard: Yard) -> None:
    nightly(yard, name="all", cron="0 2 * * *")
    room = yard.room
    window = quiet_hours.weekly("daily 00:00-01:30")
    body = promise.Promise(name="early", task_type="single", kind=promise.BY, window=window, all_shops=True)
    room.store.put_document(promise.KIND, "early", promise.DOCUMENT.dump(body))
    hours = quiet_hours.QuietHours(
        name="night", scope="platform:pdd", weekly=(quiet_hours.weekly("daily 01:00-06:00"),)
    )
    room.store.put_document(quiet_hours.KIND, "night", msgspec.json.encode(hours).decode())
    wanted = Schedule(name="some", task_type="single", cron="0 2 * * *", shops=("pdd:s0", "pdd:s1"))
    told = [english(one) for one in looks(yard).collided(wanted, ZONE).conflicts]
    assert told[0] == "all: the same work, created twice for 2 shops"
    assert "The promise early is due at" in told[1]
    assert told[2].startswith("Quiet hours night: the run at ")
    desk(yard).add(wanted)
    found = {row.schedule.name: [english(one) for one in row.conflicts] for row in looks(yard).board()}
    assert found["some"] == told
    assert found["all"][0] == "some: the same work, created twice for 2 shops"
    other = Schedule(name="other", task_type="work", cron="0 12 * * *", all_shops=True)
    assert looks(yard).collided(other, ZONE).conflicts == ()
    desk(yard).add(Schedule(name="often", task_type="often", cron="0 0/3 * * *", all_shops=True))
    (often,) = (row for row in looks(yard).board() if row.schedule.name == "often")
    hours_of = {at: datetime.fromtimestamp(at / 1000, ZoneInfo(ZONE)).hour for at in often.upcoming}
    assert {hours_of[at] for at in often.quieted} == {3}, "each run by itself"
    assert len(often.quieted) < len(often.upcoming)


def spent(yard: Yard, count: int) -> tuple[Counter[str], int]:
    """What is asked of the store for the board of so many schedules beside a promise, and how many of
    them collide with others.
    """
    yard.room.store.put_document(
        promise.KIND, "early", '{"name": "early", "task_type": "single", "kind": "by", "all_shops": true}'
    )
    set_fleet_zone(yard.room.store, ZONE)
    at(yard, 12)
    for number in range(len(looks(yard).rows()), count):
        plan = Schedule(name=f"nightly-{number}", task_type="single", cron="0 2 * * *", all_shops=True)
        desk(yard).add(plan)
    at(yard, 2)
    while yard.scheduler().tick():
        pass
    counting = CountingStore(yard.room.store)
    found = ScheduleQueries(counting.port, yard.room.registry).board()
    assert len(found) == count
    assert any(run.past.label for row in found for run in row.runs)
    return counting.spent(), sum(1 for row in found if row.conflicts)


def test_the_board_of_many_schedules_asks_no_more_than_that_of_few(yard: Yard) -> None:
    few, colliding = spent(yard, 4)
    assert colliding == 4
    many, colliding = spent(yard, 30)
    assert colliding == 30
    assert many == few
    assert many["batch_counts"] == 1


def test_a_schedule_that_was_changed_is_read_anew_and_others_are_not(yard: Yard) -> None:
    nightly(yard)
    ask = looks(yard)
    (before,) = ask.rows()
    (again,) = ask.rows()
    assert again.planned is before.planned
    desk(yard).add(msgspec.structs.replace(before.schedule, cron="0 5 * * *"), replace=True)
    (after,) = ask.rows()
    assert after.schedule.cron == "0 5 * * *"
    assert after.upcoming[0] - before.upcoming[0] == 3 * 3_600_000
