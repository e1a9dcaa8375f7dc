"""What a person does about quiet hours, and the leader who writes their windows out: signed, audited, released."""

from __future__ import annotations

import json

import msgspec
import pytest

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.quiet import QuietCommands
from services.domain.change import Claim
from services.domain.errors import NotAllowed, Unreadable, UsageError
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import KIND, WINDOWS, Once, QuietHours
from services.engine.lead.firing import fleet_zone, set_fleet_zone
from services.engine.quiet import EVERY_S, QuietKeeper
from tests.unit.services.engine.room import Room

DAY = 86_400


def commands(room: Room, role: str = "operator") -> QuietCommands:
    who = Operator(who="ann@desk", role=role)
    return QuietCommands(room.store, room.steps, Audit(room.store, who.who), who, lambda: "Asia/Shanghai")


def now_and_for(room: Room, seconds: int, scope: str = "all", name: str = "night") -> QuietHours:
    now = room.store.now_ms()
    window = Once(start=now - 1000, end=now + seconds * 1000)
    return QuietHours(name=name, scope=scope, once=(window,), reason="sale")


def parked(room: Room) -> str:
    task = room.create()
    room.take()
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)
    assert room.ask(claim).code == "blocked"
    return task.task_id


def windows(room: Room, name: str = "night") -> quiet_hours.Windows:
    return quiet_hours.WRITTEN_OUT.load(room.store.documents(WINDOWS)[name])


def test_they_hold_at_once_and_the_audit_says_who_and_why(room: Room) -> None:
    desk = commands(room)
    assert desk.set(now_and_for(room, 3600)) is None
    (known,) = desk.known()
    assert (known.hours.by, known.hours.reason, known.ends - room.store.now_ms()) == ("ann@desk", "sale", 3_600_000)
    assert room.task(parked(room)).gate == "quiet_hours"
    (entry,) = room.store.audit(10)
    assert (entry.who, entry.action, entry.target, entry.outcome) == ("ann@desk", "quiet.set", ("night", "all"), "done")
    assert json.loads(entry.detail)["reason"] == "sale"


def test_those_to_come_do_not_hold_yet(room: Room) -> None:
    desk, now = commands(room), room.store.now_ms()
    desk.set(QuietHours(name="later", scope="all", once=(Once(start=now + 60_000, end=now + 120_000),), reason="sale"))
    desk.set(now_and_for(room, 3600))
    assert {known.hours.name: known.holds for known in desk.known()} == {"later": False, "night": True}


@pytest.mark.parametrize("scope", ["all", "platform:pdd", "shop:pdd:s1", "type:work"])
def test_what_waits_is_released_when_they_are_taken_away_or_end_earlier(room: Room, scope: str) -> None:
    desk = commands(room)
    desk.set(now_and_for(room, 3600, scope))
    first = parked(room)
    assert desk.remove("night") is True
    assert json.loads(room.store.audit(1)[0].detail)["before"]["scope"] == scope, "by that it can be given back"
    assert (room.task(first).status, room.ready()) == ("queued", 1)
    assert desk.remove("night") is False
    assert desk.known() == []
    room.take()
    assert room.store.documents(KIND) == room.store.documents(WINDOWS) == {}


def test_those_of_before_are_replaced_and_given_back(room: Room) -> None:
    desk = commands(room)
    night = QuietHours(
        name="night", scope="all", weekly=(quiet_hours.weekly("daily 00:00-24:00"),), reason="risk control"
    )
    desk.set(night)
    waits = parked(room)
    before = desk.set(msgspec.structs.replace(night, scope="platform:temu"))
    assert before is not None
    assert (before.scope, before.weekly, before.reason) == (night.scope, night.weekly, night.reason)
    assert room.task(waits).status == "queued"


def test_the_first_ones_settle_the_time_zone_of_the_fleet(room: Room) -> None:
    assert fleet_zone(room.store) == ""
    commands(room).set(now_and_for(room, 10))
    assert fleet_zone(room.store) == "Asia/Shanghai"
    assert windows(room).zone == "Asia/Shanghai"


def test_a_time_zone_that_cannot_be_read_is_not_replaced_in_passing(room: Room) -> None:
    room.store.put_document("fleet", "time_zone", "{Asia")
    with pytest.raises(Unreadable, match=r"`schedule zone ZONE`"):
        commands(room).set(now_and_for(room, 10))
    assert room.store.document("fleet", "time_zone") == "{Asia"
    assert (commands(room).known(), room.store.audit(10)) == ([], [])
    set_fleet_zone(room.store, "Europe/Berlin")
    commands(room).set(now_and_for(room, 10))
    assert windows(room).zone == "Europe/Berlin"


def test_a_viewer_may_look_only(room: Room) -> None:
    commands(room).set(now_and_for(room, 3600))
    viewer = commands(room, "viewer")
    assert [one.hours.name for one in viewer.known()] == ["night"]
    with pytest.raises(NotAllowed):
        viewer.set(now_and_for(room, 10))
    with pytest.raises(NotAllowed):
        viewer.remove("night")
    assert len(viewer.known()) == 1


def test_what_cannot_be_is_refused_and_nothing_is_kept(room: Room) -> None:
    desk = commands(room)
    with pytest.raises(UsageError) as caught:
        desk.set(msgspec.structs.replace(now_and_for(room, 10), scope="lane:high"))
    assert caught.value.field == "scope"
    assert room.store.documents(KIND) == room.store.documents(WINDOWS) == {}


def test_the_leader_keeps_two_weeks_written_out(room: Room) -> None:
    keeper, desk = QuietKeeper(room.store, room.clock), commands(room)
    desk.set(
        QuietHours(name="night", scope="all", weekly=(quiet_hours.weekly("daily 22:00-06:00"),), reason="risk control")
    )
    first = windows(room)
    keeper.tick()
    assert windows(room) == first
    room.clock.advance(3 * DAY)
    keeper.tick()
    later = windows(room)
    assert later.until == room.store.now_ms() + quiet_hours.HORIZON_MS
    assert later.windows[0] in first.windows
    assert len(later.windows) >= 14


def test_the_leader_finishes_what_was_broken_off_and_follows_the_zone(room: Room) -> None:
    keeper, desk = QuietKeeper(room.store, room.clock), commands(room)
    desk.set(
        QuietHours(name="night", scope="all", weekly=(quiet_hours.weekly("daily 22:00-06:00"),), reason="risk control")
    )
    whole = windows(room)
    room.store.remove_document(WINDOWS, "night")
    keeper.tick()
    assert windows(room) == whole
    set_fleet_zone(room.store, "Europe/Berlin")
    keeper.tick()
    assert windows(room).zone == "Asia/Shanghai", "it looks now and then only"
    room.clock.advance(EVERY_S)
    keeper.tick()
    assert windows(room).zone == "Europe/Berlin"
    assert windows(room).windows != whole.windows


def test_windows_stay_closed_whose_wish_cannot_be_read_or_is_gone(room: Room) -> None:
    keeper, desk = QuietKeeper(room.store, room.clock), commands(room)
    desk.set(now_and_for(room, 3600))
    for spoil in (
        lambda: room.store.put_document(KIND, "night", "{"),
        lambda: room.store.remove_document(KIND, "night"),
    ):
        spoil()
        room.clock.advance(EVERY_S)
        keeper.tick()
        assert [one.gate for one in room.store.switches()] == ["quiet_hours"]
    assert [one.hours.name for one in desk.known()] == ["night"], "they hold, so they are shown"
    assert desk.names() == ["night"]
    assert desk.remove("night") is True
    assert room.store.switches() == []


def test_a_leader_that_was_behind_brings_nothing_back_that_was_removed(room: Room) -> None:
    """Its look and its writing are two steps: removed between them, quiet hours must not hold for two weeks more."""
    keeper, desk = QuietKeeper(room.store, room.clock), commands(room)
    desk.set(now_and_for(room, 3600))
    room.store.remove_document(WINDOWS, "night")
    put = room.store.put_document

    def put_late(kind: str, name: str, body: str) -> None:
        desk.remove("night")
        put(kind, name, body)

    room.store.put_document = put_late  # type: ignore[method-assign]
    keeper.tick()
    assert room.store.documents(WINDOWS) == {}


@pytest.mark.parametrize("wish", ["", '{"scope":'])
def test_windows_whose_wish_is_gone_or_spoilt_are_seen_and_can_be_removed(room: Room, wish: str) -> None:
    desk = commands(room)
    desk.set(now_and_for(room, 3600, "platform:pdd"))
    if wish:
        room.store.put_document(KIND, "night", wish)
    else:
        room.store.remove_document(KIND, "night")
    waits = parked(room)
    (known,) = desk.known()
    assert (known.holds, known.hours.name, known.hours.scope, known.hours.by) == (
        True, "night", "platform:pdd", "ann@desk",
    )  # fmt: skip
    assert desk.remove("night") is True
    assert (room.task(waits).status, desk.known()) == ("queued", [])


def test_of_quiet_hours_that_cannot_be_read_nobody_is_told_to_start_a_worker(room: Room) -> None:
    switch = quiet_hours.ENTRY.switch
    assert switch is not None
    room.store.put_document(KIND, "night", '{"scope":')
    assert switch.doubts(room.store.documents, room.store.now_ms()) == []
