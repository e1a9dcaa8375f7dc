"""What a person does to schedules: signed, audited, refused where it could not run, kept where others change it too."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.schedules import ScheduleCommands
from services.domain.errors import NotAllowed, StoreError, StoreUnavailable, Unreadable, UsageError
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates import quiet_hours
from services.domain.plans import schedule as schedules
from services.domain.plans.load import LEAD
from services.domain.plans.schedule import Planned, Run, Schedule
from services.domain.promises import promise
from services.domain.task.search.query import Query
from services.engine.lead.firing import Firing, fleet_zone, set_fleet_zone
from services.engine.zone import settle_zone
from services.monitor.schedules import ScheduleQueries
from services.ports import ScheduleEntry
from services.scheduler.loop import Scheduler
from tests.unit.services.engine.room import Room


def commands(room: Room, role: str = "admin", zone: str = "Asia/Shanghai") -> ScheduleCommands:
    who = Operator(who="ann@desk", role=role)
    firing = Firing(room.store, room.producer, room.registry)
    return ScheduleCommands(room.store, firing, room.registry, Audit(room.store, who.who), who, lambda: zone)


@pytest.fixture
def desk(room: Room) -> ScheduleCommands:
    """An admin's, in a fleet of three shops and two types."""
    room.store.put_shops(
        [
            Shop(platform="pdd", shop_id="s1", group="vip"),
            Shop(platform="temu", shop_id="s1"),
            Shop(platform="pdd", shop_id="s2"),
        ]
    )
    room.define("work", uniqueness="shop_type")
    room.define("checked", schema={"properties": {"page": {"type": "integer"}}, "required": ["page"]})
    return commands(room)


def plan(**fields: Any) -> Schedule:
    base = {"name": "nightly", "task_type": "work", "cron": "30 2 * * *", "all_shops": True}
    return Schedule(**(base | fields))


def kept(room: Room, name: str = "nightly") -> tuple[Planned, ScheduleEntry]:
    entry = next(entry for entry in room.store.schedules() if entry.name == name)
    return schedules.load(entry.body), entry


def audited(room: Room) -> list[tuple[str, tuple[str, ...], str]]:
    return [(entry.action, entry.target, entry.outcome) for entry in room.store.audit(50)][::-1]


def test_a_schedule_is_signed_planned_and_audited(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan(note="orders of the day", payload={"password": "x"}))
    planned, entry = kept(room)
    now = room.clock.now_ms()
    assert (planned.schedule.created_by, planned.schedule.created_at) == ("ann@desk", now)
    assert planned.schedule.uid
    assert entry.next_at == schedules.planned_at(planned.schedule, "Asia/Shanghai", now) > now
    assert fleet_zone(room.store) == "Asia/Shanghai", "the first schedule settles the zone of the fleet"
    assert audited(room) == [("schedule.add", ("nightly",), "done")]
    detail = json.loads(room.store.audit(1)[0].detail)
    assert (detail["schedule"]["cron"], detail["schedule"]["payload"]["password"]) == ("30 2 * * *", "••••")


@pytest.mark.parametrize(
    ("fields", "field", "remedy"),
    [
        ({"cron": "30 25 * * *"}, "cron", "hour"),
        ({"zone": "Asia/Shangai"}, "zone", "Asia/Shanghai"),
        ({"task_type": "wrok"}, "type", "did you mean work"),
        ({"task_type": "no type"}, "type", "A-Z a-z 0-9"),
        ({"task_type": "checked"}, "page", "required|page"),
        ({"task_type": "checked", "payload": {"page": "1"}}, "page", "integer"),
        ({"all_shops": False, "shops": ("s9",)}, "shop", "import"),
        ({"all_shops": False, "shops": ("pdd:s11",)}, "shop", "did you mean pdd:s1"),
        ({"all_shops": False, "shops": ("s1",)}, "shop", "pdd:s1, temu:s1"),
        ({"all_shops": False, "platforms": ("pddd",)}, "platform", "did you mean pdd"),
        ({"all_shops": False, "groups": ("gold",)}, "group", "shop list"),
        ({"spread_s": 86_400}, "spread", "86400 s"),
        ({"name": "a b"}, "name", "blanks"),
    ],
)
def test_what_could_not_run_is_refused_with_field_and_remedy(
    room: Room, desk: ScheduleCommands, fields: dict[str, Any], field: str, remedy: str
) -> None:
    with pytest.raises(UsageError, match=remedy) as caught:
        desk.add(plan(**fields))
    assert caught.value.field == field
    assert (room.store.schedules(), room.store.audit(5)) == ([], [])


def test_a_type_that_only_a_worker_knows_is_known(room: Room, desk: ScheduleCommands) -> None:
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, handlers=("special",)))
    assert desk.checked(plan(task_type="special")).task_type == "special"


def test_a_bare_shop_id_is_taken_where_it_is_clear(desk: ScheduleCommands) -> None:
    assert desk.checked(plan(all_shops=False, shops=("s2", "temu:s1", "pdd:s2"))).shops == ("pdd:s2", "temu:s1")


def test_another_of_the_same_name_needs_to_be_meant(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    first, _ = kept(room)
    with pytest.raises(UsageError, match="--replace"):
        desk.add(plan(cron="0 4 * * *"))
    room.clock.advance(60)
    desk.add(plan(cron="0 4 * * *"), replace=True)
    second, entry = kept(room)
    assert (second.schedule.cron, second.schedule.uid) == ("0 4 * * *", first.schedule.uid)
    assert (second.schedule.created_at, second.schedule.updated_by) == (first.schedule.created_at, "ann@desk")
    assert entry.next_at == schedules.planned_at(second.schedule, "Asia/Shanghai", room.clock.now_ms())
    assert audited(room)[-1][0] == "schedule.change"


def test_an_interval_counts_on_when_something_else_is_changed(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan(cron="", every_s=600))
    first = kept(room)[0].schedule.first_at
    assert first == room.clock.now_ms() + 600_000
    room.clock.advance(700)
    desk.add(plan(cron="", every_s=600, note="new"), replace=True)
    assert (kept(room)[0].schedule.first_at, kept(room)[1].next_at) == (first, first + 600_000)
    desk.add(plan(cron="", every_s=60), replace=True)
    assert kept(room)[1].next_at == room.clock.now_ms() + 60_000


def test_disabled_it_is_never_due_and_enabled_it_looks_ahead(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan(cron="", every_s=600))
    assert desk.switch(["nightly"], enabled=True) == ()
    assert desk.switch(["nightly"], enabled=False) == ("nightly",)
    assert kept(room)[1].next_at == 0
    room.clock.advance(6_100)
    assert desk.switch(["nightly"], enabled=True) == ("nightly",)
    assert kept(room)[1].next_at == kept(room)[0].schedule.first_at + 10 * 600_000, "nothing is made up for"


def test_disabling_ends_a_run_that_a_dead_leader_began(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    planned, entry = kept(room)
    begun = msgspec.structs.replace(planned, firing=Run(at=1, base=1))
    assert room.store.put_schedule(ScheduleEntry(name="nightly", body=schedules.dump(begun), next_at=1), entry.version)
    desk.switch(["nightly"], enabled=False)
    assert kept(room)[0].firing is None


def test_what_is_left_of_a_dead_leaders_run_stays_due(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    planned, entry = kept(room)
    now = room.clock.now_ms()
    body = schedules.dump(msgspec.structs.replace(planned, firing=Run(at=now, base=now)))
    assert room.store.put_schedule(ScheduleEntry(name="nightly", body=body, next_at=now), entry.version)
    with pytest.raises(UsageError, match="just now"):
        desk.skip(["nightly"])
    desk.set_zone("America/New_York")
    assert [due.name for due in room.store.due_schedules(10)] == ["nightly"]
    firing = Firing(room.store, room.producer, room.registry)
    Scheduler(room.store, firing, room.clock, "next").tick()
    assert kept(room)[0].firing is None
    assert kept(room)[1].next_at > now
    assert len(room.store.query(Query(limit=10)).tasks) == 3


def test_the_next_run_is_left_out(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    before = kept(room)[1].next_at
    assert desk.skip(["nightly"]) == ("nightly",)
    assert kept(room)[1].next_at == before + 86_400_000
    desk.switch(["nightly"], enabled=False)
    with pytest.raises(UsageError, match="enable"):
        desk.skip(["nightly"])


def test_a_run_that_is_refused_is_kept_with_its_reason(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    room.define("work", schema={"required": ["since"]})
    assert desk.run("nightly").failed == 3
    last = kept(room)[0].last
    assert last is not None
    assert "since" in last.error


def test_by_hand_it_runs_now_and_its_plan_stays(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan(enabled=False, spread_s=60))
    tally = desk.run("nightly")
    assert (tally.created, tally.active, tally.by) == (3, 0, "ann@desk")
    tasks = room.store.query(Query(limit=10)).tasks
    assert {(task.created_by, task.origin, task.batch) for task in tasks} == {("ann@desk", "schedule", tally.label)}
    assert (kept(room)[0].last, kept(room)[1].next_at) == (tally, 0)
    room.clock.advance(1)
    again = desk.run("nightly")
    assert (again.created, again.active) == (0, 3)
    assert audited(room)[-1][2].startswith("refused: 3")


def test_removed_it_is_gone_and_its_tasks_stay(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    desk.run("nightly")
    assert desk.remove(["nightly"]) == ("nightly",)
    assert room.store.schedules() == []
    assert len(room.store.query(Query(limit=10)).tasks) == 3
    on = partial(desk.switch, enabled=True)
    for act in (desk.remove, desk.skip, on, lambda names: desk.run(names[0])):
        with pytest.raises(UsageError, match="schedule list") as caught:
            act(["nightly"])
        assert caught.value.field == "name"


def test_with_one_wrong_name_nothing_happens(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    for act in (desk.remove, desk.skip, lambda names: desk.switch(names, enabled=False)):
        with pytest.raises(UsageError):
            act(["nightly", "nobody"])
    assert kept(room)[0].schedule.enabled
    assert kept(room)[1].next_at


def test_the_zone_of_the_fleet_moves_those_without_their_own(room: Room, desk: ScheduleCommands) -> None:
    desk.add(plan())
    desk.add(plan(name="own", zone="Europe/Berlin"))
    before = {name: kept(room, name)[1].next_at for name in ("nightly", "own")}
    assert desk.set_zone("America/New_York") == 1
    now = room.clock.now_ms()
    assert kept(room)[1].next_at == schedules.planned_at(plan(), "America/New_York", now) != before["nightly"]
    assert kept(room, "own")[1].next_at == before["own"]
    with pytest.raises(UsageError):
        desk.set_zone("Mars/Base")


def test_a_zone_that_was_set_in_part_is_set_again_and_each_knows_by_which_it_ran(
    room: Room, desk: ScheduleCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        desk.add(plan(name=name))
    before, put = desk.zone(), room.store.put_schedule

    def broken(entry: ScheduleEntry, version: int) -> bool:
        if entry.name == "two":
            raise StoreUnavailable("gone")
        return put(entry, version)

    monkeypatch.setattr(room.store, "put_schedule", broken)
    with pytest.raises(StoreUnavailable):
        desk.set_zone("America/New_York")
    assert desk.zone() == before
    monkeypatch.setattr(room.store, "put_schedule", put)
    assert desk.set_zone("America/New_York") == 2
    assert {bool(kept(room, name)[0].was) for name in ("one", "two")} == {True}


def test_a_change_is_made_on_top_of_what_the_leader_just_wrote(
    room: Room, desk: ScheduleCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.add(plan())
    put, raced = room.store.put_schedule, []

    def race(entry: ScheduleEntry, expect: int) -> int:
        if not raced:
            raced.append(True)
            planned, now = kept(room)
            other = msgspec.structs.replace(planned, firing=Run(at=7, base=7))
            assert put(ScheduleEntry(name=now.name, body=schedules.dump(other), next_at=7), now.version)
        return put(entry, expect)

    monkeypatch.setattr(room.store, "put_schedule", race)
    desk.run("nightly")
    assert kept(room)[0].firing == Run(at=7, base=7)
    assert kept(room)[0].last is not None
    raced.clear()
    with pytest.raises(StoreError, match="try again"):
        desk.add(plan(note="mine"), replace=True)
    assert kept(room)[0].schedule.note == ""


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_a_viewer_only_looks_and_the_zone_is_an_admins(room: Room, desk: ScheduleCommands, role: str) -> None:
    desk.add(plan())
    other = commands(room, role)
    with pytest.raises(NotAllowed):
        other.set_zone("UTC")
    acts: list[Any] = [
        lambda: other.add(plan(name="new")),
        lambda: other.skip(["nightly"]),
        lambda: other.switch(["nightly"], enabled=False),
        lambda: other.run("nightly"),
        lambda: other.remove(["nightly"]),
    ]
    if role == "viewer":
        for act in acts:
            with pytest.raises(NotAllowed):
                act()
        told = [entry.outcome.partition(":")[0] for entry in room.store.audit(50)]
        assert told == ["refused"] * 6 + ["done"], "each attempt is told, and nothing was done"
        return
    for act in acts:
        act()


def test_rows_tell_next_runs_shops_and_trouble(room: Room, desk: ScheduleCommands) -> None:
    ask = ScheduleQueries(room.store, room.registry)
    assert ask.rows() == ()
    desk.add(plan())
    desk.add(plan(name="off", enabled=False, all_shops=False, groups=("vip",)))
    room.store.put_schedule(ScheduleEntry(name="broken", body="{", next_at=1), 0)
    nightly, off = ask.rows(3)
    assert nightly.zone == "Asia/Shanghai"
    assert [later - earlier for earlier, later in pairwise(nightly.upcoming)] == [86_400_000] * 2
    assert (nightly.shops, off.shops, off.upcoming, off.problem) == (3, 1, (), "")
    assert ask.shops(off.schedule) == ["pdd:s1"]
    assert ask.row("nobody") is None
    bad = msgspec.structs.replace(nightly.schedule, name="bad", zone="Old/Zone")
    room.store.put_schedule(ScheduleEntry(name="bad", body=schedules.dump(Planned(schedule=bad)), next_at=5), 0)
    row = ask.row("bad")
    assert row is not None
    assert "Old/Zone" in row.problem
    shown = ask.preview(plan(cron="", every_s=600), "Asia/Shanghai", 2)
    assert shown.upcoming == (room.clock.now_ms() + 600_000, room.clock.now_ms() + 1_200_000)


def test_a_look_tells_what_the_next_run_does_to_the_line(room: Room, desk: ScheduleCommands) -> None:
    room.define("work", uniqueness="shop_type", expected_s=600)
    room.define("goods", expected_s=60)
    ask = ScheduleQueries(room.store, room.registry)

    def codes(**more: Any) -> dict[str, Any]:
        found = ask.load(plan(**more), "Asia/Shanghai")
        return {} if found is None else {one.code: one.params for one in found.said}

    assert list(codes()) == ["load.nobody"]
    assert codes(all_shops=False, shops=("pdd:nobody",)) == {}
    slots = (SlotState(), SlotState())
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=slots, lanes=("normal",)))
    assert list(codes(task_type="checked")) == ["load.unmeasured"]
    told = codes()
    assert (told["load.through"]["tasks"], told["load.through"]["slots"]) == (3, 2)
    assert told["load.through"]["clock"].endswith("02:30")
    assert "02:50" <= told["load.through"]["end"][-5:] <= "02:55", "two at once, then the third"
    desk.add(plan(name="goods", task_type="goods", cron="29 2 * * *", spread_s=0))
    assert codes()["load.beside"] == {"names": "goods"}
    room.store.put_document(
        quiet_hours.KIND,
        "night",
        json.dumps(
            {"name": "night", "scope": "platform:pdd", "weekly": [{"days": [*range(7)], "start": 0, "end": 360}]}
        ),
    )
    held = codes()
    assert held["load.quiet"]["tasks"] == 2
    assert held["load.quiet"]["clock"].endswith("06:00")
    for name, minutes in (("early", 300), ("late", 480)):
        window = {"days": [*range(7)], "start": 60, "end": minutes}
        body = {"name": name, "task_type": "work", "kind": "by", "all_shops": True, "window": window}
        room.store.put_document(promise.KIND, name, json.dumps(body))
    held = codes()
    assert (held["load.breaks"]["name"], held["load.breaks"]["left"]) == ("early", 2)
    assert held["load.keeps"]["name"] == "late"


def test_a_paused_shop_does_not_make_a_run_seem_too_much_for_the_workers(room: Room, desk: ScheduleCommands) -> None:
    room.define("work", expected_s=60)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * 2, lanes=("normal",)))
    window = {"days": [*range(7)], "start": 60, "end": 480}
    body = {"name": "late", "task_type": "work", "kind": "by", "all_shops": True, "window": window}
    room.store.put_document(promise.KIND, "late", json.dumps(body))
    ask = ScheduleQueries(room.store, room.registry)

    def said() -> dict[str, dict[str, object]]:
        found = ask.load(plan(spread_s=0), "Asia/Shanghai")
        assert found is not None
        return {one.code: dict(one.params) for one in found.said}

    assert {*said()} == {"load.through", "load.keeps"}
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    told = said()
    assert told["load.through_rest"]["end"][-5:] == "02:31", "both others at once"  # type: ignore[index]
    assert (told["load.paused"]["tasks"], told["load.breaks"]["left"]) == (1, 1)
    room.store.set_pause(Pause(scope="type:work", by="ann"))
    told = said()
    assert {*told} == {"load.held", "load.breaks"}
    assert told["load.breaks"]["left"] == 3


def test_of_a_type_that_never_ran_no_line_is_drawn(room: Room, desk: ScheduleCommands) -> None:
    """The shop that is paused waits on: alone in the picture it said that one task waits at most."""
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),), lanes=("normal",)))
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    found = ScheduleQueries(room.store, room.registry).load(plan(task_type="checked"), "Asia/Shanghai")
    assert found is not None
    assert ([one.code for one in found.said], found.load.own, found.load.peak[0]) == (["load.unmeasured"], (), 0)


def test_all_runs_of_the_hours_to_come_are_counted_but_the_one_that_was_skipped(
    room: Room, desk: ScheduleCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ScheduleQueries(room.store, room.registry)

    def told() -> dict[str, Any]:
        return {one.code: one.params["tasks"] for one in ask.ahead().said if "tasks" in one.params}

    room.clock.advance(1.0 + 60.0 - room.clock.now_ms() % 60_000 / 1000)  # between two minutes
    desk.add(plan(cron="* * * * *", all_shops=False, shops=("pdd:s1",)))
    assert told() == {"load.ahead_nobody": 1440}
    desk.skip(["nightly"])
    assert told() == {"load.ahead_nobody": 1439}
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),), lanes=("normal",)))
    assert told() == {"load.ahead": 1439}
    desk.add(plan(name="hourly", cron="0 * * * *", all_shops=False, shops=("pdd:s1",)))
    room.define("work", expected_s=1)
    monkeypatch.setattr("services.monitor.schedules.MOST_AHEAD", 700)
    assert told() == {"load.ahead_many": 700}
    found = ask.ahead()
    assert [one.code for one in found.said] == ["load.ahead_many", "load.ahead_cut"]
    assert 680 <= sum(found.load.own) <= 700, "as far as it is followed it is shown"
    assert 640 <= len(found.load.own) <= 700
    assert found.load.begins % (5 * 60_000) == 0
    desk.add(plan(name="all", cron="* * * * *"))
    monkeypatch.setattr("services.monitor.schedules.MOST_AHEAD", 1)
    assert [one.code for one in ask.ahead().said] == ["load.ahead_many"], "of nothing it is not said up to when"


def test_a_look_before_saving_follows_every_run_of_others_or_says_up_to_when(
    room: Room, desk: ScheduleCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.define("work", uniqueness="shop_type", expected_s=36_000)
    room.define("goods", expected_s=30)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * 4, lanes=("normal",)))
    desk.add(plan(name="goods", task_type="goods", cron="* * * * *", all_shops=False, shops=("pdd:s1",)))
    ask = ScheduleQueries(room.store, room.registry)
    found = ask.load(plan(), "Asia/Shanghai")
    assert found is not None
    others = [n for n, number in enumerate(found.load.others) if number]
    assert others[-1] > 9 * 60, "it is followed from three hours before, and 300 runs would be five hours"
    assert "load.cut" not in {one.code for one in found.said}
    monkeypatch.setattr("services.monitor.schedules.MOST_AHEAD", 300)
    cut = ask.load(plan(), "Asia/Shanghai")
    assert cut is not None
    told = {one.code: one.params.get("clock", "") for one in cut.said}
    assert told["load.cut_before"].endswith("23:59"), "150 before"
    assert told["load.cut"].endswith("05:00"), "and 150 from the run on"
    monkeypatch.setattr("services.monitor.schedules.MOST_AHEAD", 40)
    room.define("goods", expected_s=120)
    cut = ask.load(plan(), "Asia/Shanghai")
    assert cut is not None
    assert cut.load.beside == ("goods",)
    assert all(cut.load.others[: LEAD + 15]), "who comes around the run itself stands in the line"
    room.store.set_pause(Pause(scope="type:goods", by="ann"))
    paused = ask.load(plan(), "Asia/Shanghai")
    assert paused is not None
    assert "load.beside" not in {one.code for one in paused.said}, "what is paused does not run beside it"


def test_who_is_paused_or_has_quiet_hours_waits_in_the_line_to_come_too(room: Room, desk: ScheduleCommands) -> None:
    room.define("work", expected_s=60)
    ask = ScheduleQueries(room.store, room.registry)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * 4, lanes=("normal",)))
    now = room.clock.now_ms()
    desk.add(plan(cron="", every_s=20 * 3600, first_at=now + 6 * 3_600_000 + 5_000))
    assert not any(ask.ahead().load.own[6 * 60 + 8 :])
    once = {"start": now, "end": now + 8 * 3_600_000}
    body = json.dumps({"name": "sale", "scope": "shop:pdd:s2", "once": [once]})
    room.store.put_document(quiet_hours.KIND, "sale", body)
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    found = ask.ahead()
    assert [one.params["tasks"] for one in found.said] == [3, 1]
    assert [found.load.left(now + hours * 3_600_000) for hours in (7, 9, 23)] == [2, 1, 1]
    load = ask.load(plan(name="new", cron="", every_s=3600), "UTC")
    assert load is not None
    held = {one.code: one.params["tasks"] for one in load.said if one.code in ("load.paused", "load.quiet")}
    assert held == {"load.paused": 1, "load.quiet": 1}
    room.store.set_pause(Pause(scope="type:work", by="ann"))
    assert ask.ahead().said[1].params == {"tasks": 3}


@pytest.mark.parametrize(("overlap", "waits"), [("skip", 2), ("queue", 6)])
def test_runs_that_are_left_out_because_quiet_hours_still_hold_the_one_before_are_not_in_the_line(
    room: Room, desk: ScheduleCommands, overlap: str, waits: int
) -> None:
    """Fifteen shops that were quiet for three hours stood in the line three times, at an hour of ninety tasks."""
    room.define("work", expected_s=60)
    ask = ScheduleQueries(room.store, room.registry)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * 4, lanes=("normal",)))
    now = room.clock.now_ms()
    desk.add(plan(cron="", every_s=3600, first_at=now + 600_000, overlap=overlap))
    once = {"start": now, "end": now + 3 * 3_600_000 - 60_000}
    body = json.dumps({"name": "sale", "scope": "platform:pdd", "once": [once]})
    room.store.put_document(quiet_hours.KIND, "sale", body)
    assert ask.ahead().load.left(now + 3 * 3_600_000 - 120_000) == waits


@pytest.mark.parametrize(("overlap", "tasks"), [("skip", (24 + 2, 2, 46)), ("queue", (24 + 48, 48))])
def test_what_is_planned_under_a_pause_is_what_is_drawn_and_what_the_pause_holds(
    room: Room, desk: ScheduleCommands, overlap: str, tasks: tuple[int, int]
) -> None:
    """360 tasks were planned, of which a pause of all of them held 15 back."""
    room.define("work", uniqueness="shop_type", expected_s=60)
    ask = ScheduleQueries(room.store, room.registry)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * 4, lanes=("normal",)))
    now = room.clock.now_ms()
    desk.add(plan(cron="", every_s=3600, first_at=now + 600_000, overlap=overlap))
    room.store.set_pause(Pause(scope="platform:pdd", by="ann", at=now))
    found = ask.ahead()
    assert tuple(one.params.get("tasks", one.params.get("n")) for one in found.said) == tasks
    assert found.load.left(now + 24 * 3_600_000 - 120_000) == tasks[1]
    assert found.said[-1].code == ("load.left_out" if overlap == "skip" else "load.paused")


def test_what_the_last_run_made_and_a_pause_still_holds_is_not_made_again(room: Room, desk: ScheduleCommands) -> None:
    room.define("work", uniqueness="shop_type", expected_s=60)
    ask = ScheduleQueries(room.store, room.registry)
    now = room.clock.now_ms()

    def told() -> dict[str, Any]:
        return {one.code: one.params.get("tasks", one.params.get("n")) for one in ask.ahead().said}

    def before_saving(**changes: Any) -> list[str]:
        found = ask.load(plan(**({"cron": "", "every_s": 3600, "first_at": now + 600_000} | changes)), "UTC")
        assert found is not None
        return [one.code for one in found.said]

    desk.add(plan(cron="", every_s=3600, first_at=now + 600_000))
    desk.run("nightly")
    room.clock.advance(60)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * 4, lanes=("normal",)))
    since = room.clock.now_ms()
    room.store.set_pause(Pause(scope="platform:pdd", by="ann", at=since))
    assert told() == {"load.ahead": 24 + 2, "load.paused": 2, "load.left_out": 46}, "what ran before may be through"
    assert "load.own_held" not in before_saving()
    room.store.set_pause(Pause(scope="platform:pdd", by="ann", at=now))
    assert told() == {"load.ahead": 24, "load.left_out": 48}
    room.store.set_pause(Pause(scope="type:work", by="ann", at=now))
    assert told() == {"load.ahead_held": 0}, "runs are planned, and none makes a task"
    assert before_saving() == ["load.own_held"], "and neither does the next one of this"
    assert "load.own_held" not in before_saving(name="another")
    assert "load.own_held" not in before_saving(overlap="queue")


def test_runs_before_and_after_one_that_is_looked_at_are_left_out_of_the_same_quiet_hours_once(
    room: Room, desk: ScheduleCommands
) -> None:
    room.define("work", uniqueness="shop_type", expected_s=60)
    room.define("goods", expected_s=60)
    ask = ScheduleQueries(room.store, room.registry)
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * 4, lanes=("normal",)))
    now, hour = room.clock.now_ms(), 3_600_000
    desk.add(plan(name="goods", task_type="goods", cron="", every_s=3600, first_at=now + 600_000))
    once = {"start": now, "end": now + 6 * hour}
    room.store.put_document(quiet_hours.KIND, "sale", json.dumps({"name": "sale", "scope": "all", "once": [once]}))
    found = ask.load(plan(cron="", every_s=3600, first_at=now + 3 * hour), "UTC")
    assert found is not None
    assert max(found.load.others) == 3, "three shops, though three runs come before this one and three behind it"


@pytest.mark.parametrize("none", [None, '""'])
def test_a_zone_that_is_set_just_then_stays(
    room: Room, desk: ScheduleCommands, monkeypatch: pytest.MonkeyPatch, none: str | None
) -> None:
    """Between the look that finds none and what is written."""
    look = room.store.document

    def late(kind: str, name: str) -> str | None:
        found = look(kind, name)
        if name == "time_zone":
            monkeypatch.setattr(room.store, "document", look)
            set_fleet_zone(room.store, "Europe/Berlin")
        return found

    if none is not None:
        room.store.put_document("fleet", "time_zone", none)
    monkeypatch.setattr(room.store, "document", late)
    settle_zone(room.store, "Asia/Shanghai")
    assert fleet_zone(room.store) == "Europe/Berlin"
    set_fleet_zone(room.store, "")
    settle_zone(room.store, "Asia/Shanghai")
    assert fleet_zone(room.store) == "Asia/Shanghai", "none is none"


def test_a_zone_that_cannot_be_read_is_none_and_stays_until_somebody_sets_it(
    room: Room, desk: ScheduleCommands
) -> None:
    room.store.put_document("fleet", "time_zone", "{")
    assert fleet_zone(room.store) == ""
    with pytest.raises(Unreadable, match="time zone of the fleet"):
        desk.add(plan())
    assert (room.store.document("fleet", "time_zone"), room.store.schedules()) == ("{", [])
    desk.set_zone("UTC")
    assert fleet_zone(room.store) == "UTC"
    desk.add(plan())
