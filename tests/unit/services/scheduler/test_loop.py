"""Firing: each run once for each shop, whatever dies, is slow, is changed or comes late."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Run
from services.domain.task.record import Task
from services.engine.lead import firing
from services.engine.producer import Producer, Submitted, TaskSpec
from services.ports import ScheduleEntry
from services.scheduler.loop import BATCH, Scheduler
from tests.contract.waiting import eventually
from tests.unit.services.scheduler.conftest import SHOPS, Yard


def runs(tasks: list[Task]) -> Counter[str]:
    """Tasks by the run they are of."""
    return Counter(task.batch for task in tasks)


def due(yard: Yard, **fields: Any) -> int:
    """A schedule whose first run is due; returns that instant."""
    instant = yard.plan(**fields)
    yard.room.clock.advance((instant - yard.room.clock.now_ms()) / 1000)
    return instant


# ------------------------------------------------------------------------- firing
def test_a_run_makes_one_task_for_each_shop(yard: Yard) -> None:
    first = yard.plan(payload={"page": 1}, priority="9")
    scheduler = yard.scheduler()
    assert (scheduler.tick(), yard.tasks()) == (0, []), "not due"
    yard.room.clock.advance(60)
    assert scheduler.tick() == 1
    tasks = yard.tasks()
    assert sorted(task.shop for task in tasks) == [f"pdd:s{number}" for number in range(SHOPS)]
    one = tasks[0]
    assert (one.task_type, one.payload, one.lane, one.priority) == ("work", '{"page":1}', "high", 9)
    assert (one.origin, one.created_by, one.status) == ("schedule", "schedule:s", "queued")
    last = yard.planned().last
    assert last is not None
    assert (last.at, last.created, last.active, last.failed, last.by) == (first, SHOPS, 0, 0, "")
    assert {task.batch for task in tasks} == {last.label}
    assert yard.room.ready("rpa_tasks_high") == SHOPS
    assert (scheduler.tick(), yard.entry().next_at) == (0, first + 600_000)
    yard.room.clock.advance(600)
    assert scheduler.tick() == 1
    assert sorted(runs(yard.tasks()).values()) == [SHOPS, SHOPS]


def test_a_run_that_goes_on_after_an_edit_counts_what_it_made_before_as_made(yard: Yard) -> None:
    room, instant = yard.room, due(yard, payload={"n": 1})
    firing_ = firing.Firing(room.store, room.producer, room.registry)
    run, plan = Run(at=instant, base=instant), yard.planned().schedule
    firing_.fire(plan, run, "UTC")
    again = firing_.fire(msgspec.structs.replace(plan, payload={"n": 2}), run, "UTC")
    assert again is not None
    assert (again.created, again.active, len(yard.tasks())) == (SHOPS, 0, SHOPS)


def test_what_a_run_would_make_is_what_it_makes(yard: Yard) -> None:
    room = yard.room
    room.define("single", uniqueness="shop_type", unique_for="12h")
    instant = due(yard, task_type="single")
    for shop_id in ("s0", "s1"):
        task = room.create(task_type="single", shop_id=shop_id, payload={})
        room.finish(room.claim(task), "succeeded")
    for shop_id in ("s1", "s2"):
        room.create(task_type="single", shop_id=shop_id, payload={}, reason="once more")
    firing_ = firing.Firing(room.store, room.producer, room.registry)
    run, plan = Run(at=instant, base=instant), yard.planned().schedule
    seen, made = firing_.foresee(plan, run, "UTC", by=""), firing_.fire(plan, run, "UTC")
    assert (seen.created, seen.active, seen.done, seen.failed) == (SHOPS - 3, 2, 1, 0)
    assert made == seen


def test_shops_are_spread_over_the_window(yard: Yard) -> None:
    instant = due(yard, spread_s=70)
    yard.scheduler().tick()
    starts = sorted(task.due_at for task in yard.tasks())
    assert starts == [0] + [instant + place * 10_000 for place in range(1, SHOPS)]
    assert Counter(task.status for task in yard.tasks()) == {"queued": 1, "scheduled": SHOPS - 1}


def test_a_shop_that_is_not_through_is_left_out(yard: Yard) -> None:
    yard.room.create(shop_id="s3", task_type="single")
    due(yard, task_type="single")
    yard.scheduler().tick()
    last = yard.planned().last
    assert last is not None
    assert (last.created, last.active) == (SHOPS - 1, 1)
    assert "pdd:s3" not in {task.shop for task in yard.tasks(last.label)}


def test_or_queues_behind_it(yard: Yard) -> None:
    yard.room.create(shop_id="s3", task_type="single")
    due(yard, task_type="single", overlap="queue")
    yard.scheduler().tick()
    last = yard.planned().last
    assert last is not None
    assert (last.created, last.active) == (SHOPS, 0)


def test_nobody_to_run_for_and_a_payload_of_yesterday_are_told(yard: Yard) -> None:
    due(yard, name="nobody", all_shops=False, groups=("vip",))
    yard.room.define("work", schema={"required": ["since"]})
    due(yard, name="old")
    yard.scheduler().tick()
    nobody, old = yard.planned("nobody").last, yard.planned("old").last
    assert nobody is not None
    assert (nobody.created, nobody.error) == (0, firing.NO_SHOP)
    assert old is not None
    assert (old.created, old.failed) == (0, SHOPS)
    assert "since" in old.error
    assert yard.entry("old").next_at > yard.room.clock.now_ms(), "and it goes on"


# --------------------------------------------------------------------------- late
@pytest.mark.parametrize(("missed", "made"), [("once", SHOPS), ("skip", 0)])
def test_runs_that_were_missed_are_made_up_for_once_or_not_at_all(yard: Yard, missed: str, made: int) -> None:
    first = yard.plan(missed=missed, spread_s=70)
    yard.room.clock.advance(60 + 3 * 600 + 300)
    assert yard.scheduler().tick() == 1
    assert len(yard.tasks()) == made
    assert yard.entry().next_at == first + 4 * 600_000
    if made:
        label = schedules.label(yard.planned().schedule, Run(at=first + 1_800_000, base=0), "UTC")
        assert set(runs(yard.tasks())) == {label}
        assert max(task.due_at for task in yard.tasks()) == yard.room.clock.now_ms() + 60_000, "spread from now on"
        late = yard.planned().past[-1].late_ms
        assert late == yard.room.clock.now_ms() - (first + 1_800_000), "each run tells it, not the last one alone"


# ------------------------------------------------------------------------- crashes
class Dies(Producer):
    """Its process dies after so many tasks."""

    left = 0

    def submit(self, specs: Any) -> Submitted:
        done = super().submit(specs[: self.left])
        self.left -= len(done.created)
        if self.left <= 0:
            raise KeyboardInterrupt("killed")
        return done


@pytest.mark.parametrize("made", range(SHOPS + 1))
@pytest.mark.parametrize("later", [1, 15, 61, 700])
def test_who_comes_after_a_dead_leader_makes_what_is_missing(yard: Yard, made: int, later: int) -> None:
    first = due(yard, missed="skip")
    room = yard.room
    dying = Dies(room.store, room.steps, room.registry)
    dying.left = made
    dead = Scheduler(room.store, firing.Firing(room.store, dying, room.registry), room.clock, "dead")
    with pytest.raises(KeyboardInterrupt):
        dead.tick()
    assert len(yard.tasks()) == made
    room.clock.advance(later)
    yard.scheduler("b").tick()
    last = yard.planned().last
    assert last is not None
    assert (last.at, last.created, last.active) == (first, SHOPS, 0)
    assert len(yard.tasks(last.label)) == SHOPS
    assert yard.planned().firing is None
    yard.scheduler("b").tick()
    assert sorted(runs(yard.tasks()).values()) == [SHOPS], "no shop twice in a run"


def test_two_that_think_they_lead_make_each_task_once(yard: Yard) -> None:
    """One was asleep between seeing the schedule and acting on it."""
    due(yard)
    one, two = yard.scheduler("a"), yard.scheduler("b")
    (seen,) = yard.room.store.due_schedules(10)
    two.tick()
    one._turn(seen, "UTC")
    assert sorted(runs(yard.tasks()).values()) == [SHOPS]
    last = yard.planned().last
    assert last is not None
    assert last.created == SHOPS


def test_one_that_sleeps_in_the_middle_of_a_run_makes_none_twice(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    due(yard)
    one, two = yard.scheduler("a"), yard.scheduler("b")
    fire = firing.Firing.fire

    def slow(self: firing.Firing, *args: Any, **words: Any) -> Any:
        monkeypatch.setattr(firing.Firing, "fire", fire)
        two.tick()
        return fire(self, *args, **words)

    monkeypatch.setattr(firing.Firing, "fire", slow)
    one.tick()
    assert sorted(runs(yard.tasks()).values()) == [SHOPS]
    assert yard.planned().firing is None


def test_a_silent_store_loses_nothing(yard: Yard) -> None:
    due(yard)
    scheduler = yard.scheduler()
    yard.room.store.forgetful = 1
    with pytest.raises(StoreUnavailable):
        scheduler.tick()
    assert scheduler.tick() == 1
    assert sorted(runs(yard.tasks()).values()) == [SHOPS]


def test_who_loses_the_lead_stops_between_two_handfuls(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firing, "CHUNK", 2)
    due(yard)
    scheduler = yard.scheduler()
    submit = Producer.submit

    def stopping(self: Producer, specs: list[TaskSpec]) -> Submitted:
        scheduler.stop()
        return submit(self, specs)

    monkeypatch.setattr(Producer, "submit", stopping)
    scheduler.tick()
    assert len(yard.tasks()) == 2
    monkeypatch.setattr(Producer, "submit", submit)
    yard.scheduler("b").tick()
    assert sorted(runs(yard.tasks()).values()) == [SHOPS]


def test_it_fires_while_it_is_started_and_again_after_a_pause(yard: Yard) -> None:
    room = yard.room
    scheduler = Scheduler(room.store, firing.Firing(room.store, room.producer, room.registry), SystemClock(), "a")
    for number in (1, 2):
        room.clock.advance(600)
        scheduler.start()
        if number == 1:
            due(yard)
        eventually(lambda n=number: len(yard.tasks()) == n * SHOPS, 30)  # type: ignore[misc]
        scheduler.stop()
    room.clock.advance(600)
    assert len(yard.tasks()) == 2 * SHOPS, "stopped, it fires nothing"


# ------------------------------------------------------------------------- changes
def test_what_somebody_changes_meanwhile_stays_and_the_tally_too(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    due(yard)
    fire = firing.Firing.fire

    def disabled_meanwhile(self: firing.Firing, *args: Any, **words: Any) -> Any:
        entry, planned = yard.entry(), yard.planned()
        changed = Planned(schedule=type(planned.schedule)(**{**_fields(planned.schedule), "enabled": False}))
        assert yard.room.store.put_schedule(ScheduleEntry(name="s", body=schedules.dump(changed)), entry.version)
        return fire(self, *args, **words)

    monkeypatch.setattr(firing.Firing, "fire", disabled_meanwhile)
    yard.scheduler().tick()
    planned = yard.planned()
    assert (planned.schedule.enabled, yard.entry().next_at, planned.firing) == (False, 0, None)
    assert planned.last is not None
    assert planned.last.created == SHOPS


def test_what_somebody_makes_of_a_schedule_while_it_runs_is_left_so(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one under its name hears nothing of this run, who is further on is not put back, a next run that was put
    off comes when it was said.
    """
    fire = firing.Firing.fire

    def ended(name: str, next_at: int, **changes: Any) -> tuple[Planned, int]:
        """What is there after a run during which the schedule was changed so."""
        due(yard, name=name)

        def changed_meanwhile(self: firing.Firing, *args: Any, **words: Any) -> Any:
            made = msgspec.structs.replace(yard.planned(name), **changes)
            entry = ScheduleEntry(name=name, body=schedules.dump(made), next_at=next_at)
            assert yard.room.store.put_schedule(entry, yard.entry(name).version)
            return fire(self, *args, **words)

        monkeypatch.setattr(firing.Firing, "fire", changed_meanwhile)
        yard.scheduler().tick()
        monkeypatch.setattr(firing.Firing, "fire", fire)
        found = yard.planned(name), yard.entry(name).next_at
        yard.room.store.remove_schedule(name, yard.entry(name).version)
        return found

    late = 10**14
    other = schedules.Schedule(name="a", uid="u2", task_type="work", every_s=600, first_at=late, all_shops=True)
    assert ended("a", late, schedule=other, firing=None) == (Planned(schedule=other), late)
    on = Run(at=late, base=7)
    assert ended("b", late, firing=on)[0].firing == on
    planned, next_at = ended("c", late, firing=None)
    assert (planned.last is not None, planned.firing, next_at) == (True, None, late)


@pytest.mark.parametrize("gone", [False, True], ids=["switched off", "removed"])
def test_what_somebody_switches_off_before_its_run_has_begun_does_not_run(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    """The run is written down first, in the version that was looked at: who was faster is obeyed."""
    due(yard)
    put, store = yard.room.store.put_schedule, yard.room.store

    def faster(entry: ScheduleEntry, version: int) -> int:
        monkeypatch.setattr(store, "put_schedule", put)
        if gone:
            assert store.remove_schedule("s", version)
        else:
            off = Planned(schedule=type(before)(**{**_fields(before), "enabled": False}))
            assert put(ScheduleEntry(name="s", body=schedules.dump(off)), version)
        return put(entry, version)

    before = yard.planned().schedule
    monkeypatch.setattr(store, "put_schedule", faster)
    scheduler = yard.scheduler()
    for _ in range(2):
        scheduler.tick()
        yard.room.clock.advance(600)
    assert yard.tasks() == []
    assert [entry.next_at for entry in store.schedules()] == ([] if gone else [0])


def test_one_that_is_removed_meanwhile_stays_removed(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    due(yard)
    fire = firing.Firing.fire

    def removed_meanwhile(self: firing.Firing, *args: Any, **words: Any) -> Any:
        assert yard.room.store.remove_schedule("s", yard.entry().version)
        return fire(self, *args, **words)

    monkeypatch.setattr(firing.Firing, "fire", removed_meanwhile)
    yard.scheduler().tick()
    assert yard.room.store.schedules() == []


def test_one_that_cannot_be_read_holds_up_nobody_and_is_told_once(yard: Yard, caplog: pytest.LogCaptureFixture) -> None:
    now = yard.room.clock.now_ms()
    yard.room.store.put_schedule(ScheduleEntry(name="broken", body="{", next_at=now), 0)
    due(yard)
    scheduler = yard.scheduler()
    scheduler.tick()
    scheduler.tick()
    assert len(yard.tasks()) == SHOPS
    assert caplog.text.count("schedule broken cannot be fired") == 1


def test_a_whole_batch_of_such_holds_up_nobody(yard: Yard) -> None:
    due(yard)
    for number in range(BATCH):
        yard.room.store.put_schedule(ScheduleEntry(name=f"broken {number}", body="{", next_at=1), 0)
    scheduler = yard.scheduler()
    scheduler.tick()
    assert yard.tasks() == []
    scheduler.tick()
    assert len(yard.tasks()) == SHOPS


def test_a_shop_that_is_new_or_disabled_counts_from_the_next_run_on(yard: Yard) -> None:
    due(yard)
    scheduler = yard.scheduler()
    scheduler.tick()
    yard.room.store.put_shops([Shop(platform="pdd", shop_id="s0", enabled=False), Shop(platform="pdd", shop_id="new")])
    yard.room.clock.advance(600)
    scheduler.tick()
    last = yard.planned().last
    assert last is not None
    assert {task.shop_id for task in yard.tasks(last.label)} == {"new", *(f"s{number}" for number in range(1, SHOPS))}


def _fields(schedule: schedules.Schedule) -> dict[str, Any]:
    return {name: getattr(schedule, name) for name in schedule.__struct_fields__}


def test_a_clock_that_was_set_back_fires_nothing_early(yard: Yard) -> None:
    """The store's own time runs on meanwhile, ahead of the wall, and planned are hours of the wall."""
    instant, clock = due(yard, missed="skip"), yard.room.clock
    clock.behind_ms = 7_200_000
    assert yard.scheduler().tick() == 0
    clock.advance(7_200)
    assert yard.scheduler().tick() == 1
    last = yard.planned().last
    assert last is not None
    assert (last.at, last.created, yard.entry().next_at) == (instant, SHOPS, instant + 600_000)


def test_what_a_clock_that_was_ahead_has_put_off_goes_on_once_it_is_set_right(yard: Yard) -> None:
    """By a year, as where a battery is empty: the instants that ran then do not run again, the others do."""
    clock, wrong = yard.room.clock, 365 * 86_400
    first = yard.plan()
    clock.advance(wrong)
    assert yard.scheduler().tick() == 1
    assert len(yard.tasks()) == SHOPS
    assert yard.entry().next_at > first + wrong * 1000 - 600_000
    clock.behind_ms = wrong * 1000
    scheduler = yard.scheduler()
    scheduler.tick()
    assert yard.entry().next_at == first
    clock.advance(60)
    assert scheduler.tick() == 1
    assert (len(yard.tasks()), yard.entry().next_at) == (2 * SHOPS, first + 600_000)


def test_a_clock_that_was_a_little_ahead_runs_nothing_again(yard: Yard) -> None:
    first, clock = yard.plan(), yard.room.clock
    clock.advance(120)
    assert yard.scheduler().tick() == 1
    clock.behind_ms = 120_000
    yard.scheduler().tick()
    assert yard.entry().next_at == first + 600_000


def test_runs_that_somebody_skips_stay_skipped(yard: Yard) -> None:
    first = yard.plan()
    entry, planned = yard.entry(), yard.planned()
    skipped = [schedules.Past(at=first + n * 600_000, kind=schedules.SKIPPED, by="ann") for n in range(3)]
    body = schedules.dump(schedules.with_past(planned, *skipped))
    assert yard.room.store.put_schedule(
        ScheduleEntry(name=entry.name, body=body, next_at=first + 1_800_000), entry.version
    )
    yard.scheduler().tick()
    assert yard.entry().next_at == first + 1_800_000
