"""Acts taken back from their entries: only what the entry proves, and nothing of what others did."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from services.clock import ManualClock
from services.commands.alerts import AlertCommands, RuleChanged
from services.commands.audit import Audit, heard
from services.commands.back.ways import Way, since, take_back, unchanged, way_of
from services.commands.batches import PLACES_KEPT, BatchCommands
from services.commands.breakers import BreakerCommands
from services.commands.bulk.plan import Plan
from services.commands.causes import CauseCommands
from services.commands.operator import Operator
from services.commands.outcome import Outcome
from services.commands.roles import RoleCommands
from services.commands.schedules import ScheduleCommands
from services.commands.tasks import TaskCommands
from services.commands.views import ViewCommands
from services.domain import audit
from services.domain.alerts.incident import DOCUMENT as INCIDENTS
from services.domain.alerts.incident import UNTIL_CHANGED, Answer, Incident, Words, slot_of
from services.domain.alerts.rule import VERSIONS
from services.domain.audit import TARGETS_KEPT, AuditEntry
from services.domain.errors import StoreUnavailable, UsageError
from services.domain.fleet import role as roles
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import breaker
from services.domain.gates.breaker import Rule as BreakerRule
from services.domain.gates.limit import Limit
from services.domain.plans.schedule import Schedule
from services.domain.task.search.shared_view import SharedView
from services.domain.text.message import Message
from services.engine import people
from services.engine.lead.firing import Firing
from services.monitor.audit import AuditQueries
from services.watch.alerts.rules import DEFAULTS
from tests.unit.services.commands.conftest import desk_of
from tests.unit.services.engine.room import Room

CAUSE, OTHER, THIRD = "9ac1" * 4, "0b2d" * 4, "ab" * 8


def office(room: Room, name: str = "ann@desk") -> Any:
    """The commands of one admin, by the names that ``ways`` knows."""
    who = Operator(who=name, role="admin")
    audit, desk = Audit(room.store, name), desk_of(room)
    firing = Firing(room.store, room.producer, room.registry)
    return SimpleNamespace(
        alerts=AlertCommands(room.store, audit, who, DEFAULTS, lambda *_: ""),
        tasks=desk.tasks,
        dead_letters=desk.dead_letters,
        fleet=desk.fleet,
        breakers=BreakerCommands(room.store, room.steps, audit, who),
        causes=CauseCommands(room.store, room.steps, audit, who),
        roles=RoleCommands(room.store, audit, who),
        views=ViewCommands(room.store, audit, who),
        schedules=ScheduleCommands(room.store, firing, room.registry, audit, who, lambda: "UTC"),
    )


def last(room: Room) -> AuditEntry:
    return room.store.audit(1)[0]


def code(room: Room, entry: AuditEntry) -> str:
    """Why it is not taken back from here, "" where it is."""
    found = way_of(entry, room.store.now_ms())
    if isinstance(found, Message):
        return found.code
    why = since(AuditQueries(room.store), entry)
    return why.code if why is not None else ""


def back(room: Room, entry: AuditEntry) -> Outcome:
    return take_back(office(room, "ben@desk"), AuditQueries(room.store), entry)


def test_what_may_have_been_done_is_not_run_again_by_taking_its_cancelling_back(room: Room) -> None:
    room.define("once", idempotent=False)
    desk = office(room)
    begun = room.finish(room.running(task_type="once", shop_id="s1"), "held", error_kind="worker_lost")
    waiting = room.create(task_type="once", shop_id="s2")
    desk.tasks.cancel([begun.task_id, waiting.task_id], reason="looked into the shop")
    outcome = back(room, last(room))
    assert outcome.done == (waiting.task_id,)
    assert [(one.task_id, one.why.code) for one in outcome.skipped] == [(begun.task_id, "verdict.outcome_unknown")]
    again = desk.tasks.create_again([begun.task_id], reason="it was not there")
    assert again.done == (begun.task_id,)


def test_a_raised_batch_gets_its_priorities_back_but_for_what_somebody_set_since(room: Room) -> None:
    desk = office(room)
    low, normal, other, ran = (
        room.create(batch="night", shop_id=f"s{n}", priority=level).task_id for n, level in enumerate((1, 6, 4, 5))
    )
    who, audit = Operator(who="ann@desk", role="admin"), Audit(room.store, "ann@desk")
    tasks = TaskCommands(room.store, room.producer, room.steps, audit, who, desk.dead_letters.republish)
    batches = BatchCommands(room.store, tasks, audit, who, lambda _ids: Plan(), lambda _names: [{"queued": 4}])
    batches.raise_waiting(batches.plan_raise("night"))
    entry = last(room)
    assert (entry.action, code(room, entry)) == ("batch.raise", "")
    desk.tasks.prioritize([other], 8)
    room.claim(room.task(ran))
    outcome = back(room, entry)
    assert set(outcome.done) == {low, normal}
    assert {(one.task_id, one.why.code) for one in outcome.skipped} >= {(other, "back.differs")}
    found = {task.task_id: (task.lane, task.priority) for task in room.store.get([low, normal, other]) if task}
    assert found == {low: ("low", 1), normal: ("normal", 6), other: ("high", 8)}
    assert last(room).action == "task.prioritize"
    assert AuditQueries(room.store).entries().partly == {entry.entry_id}


def test_a_raised_batch_of_which_some_are_lowered_again_is_no_refusal(room: Room) -> None:
    desk = office(room)
    low, other = (room.create(batch="night", shop_id=f"s{level}", priority=level).task_id for level in (1, 4))
    who, audit = Operator(who="ann@desk", role="admin"), Audit(room.store, "ann@desk")
    tasks = TaskCommands(room.store, room.producer, room.steps, audit, who, desk.dead_letters.republish)
    batches = BatchCommands(room.store, tasks, audit, who, lambda _ids: Plan(), lambda _names: [{"queued": 2}])
    batches.raise_waiting(batches.plan_raise("night"))
    entry = last(room)
    desk.tasks.prioritize([other], 8)
    assert back(room, entry).done == (low,)


def test_what_somebody_else_raised_in_the_moment_of_a_batch_stays(room: Room) -> None:
    mine, late = (room.create(batch="night", shop_id=f"s{n}", priority=2).task_id for n in range(2))
    batches = batches_of(room)
    plan = msgspec.structs.replace(batches.plan_raise("night"), task_ids=(mine,))
    raised = batches.raise_waiting(plan).raised
    assert raised is not None
    desk_of(room, name="ben@desk").tasks.prioritize([late], "high")
    assert office(room).tasks.lower_back(raised).done == (mine,)
    assert [task.lane for task in room.store.get([mine, late]) if task] == ["low", "high"]


def batches_of(room: Room) -> BatchCommands:
    """What ann does to batches; one entry stands for all of an act."""
    audit, who = Audit(room.store, "ann@desk"), Operator(who="ann@desk", role="admin")
    tasks = TaskCommands(room.store, room.producer, room.steps, audit, who, desk_of(room).dead_letters.republish)
    return BatchCommands(room.store, tasks, audit, who, lambda _ids: Plan(), lambda _names: [{"queued": 1}])


def test_more_tasks_of_a_raised_batch_than_its_entry_names_get_their_places_back(room: Room) -> None:
    desk = office(room)
    ids = [room.create(batch="night", shop_id=f"s{n}", priority=6).task_id for n in range(TARGETS_KEPT + 5)]
    low, urgent = (room.create(batch="night", shop_id=f"u{level}", priority=level).task_id for level in (2, 10))
    batches = batches_of(room)
    plan = batches.plan_raise("night")
    room.claim(room.task(ids[0]))
    batches.raise_waiting(plan)
    entry = last(room)
    assert audit.state(entry, room.store.now_ms()) == "partly"
    way = way_of(entry, room.store.now_ms())
    assert isinstance(way, Way)
    assert (way.number, way.asked) == (len(ids), len(ids) + 1), "all of them, also those that it does not name"
    room.clock.advance(1)
    later = room.create(batch="night", shop_id="later", priority=10).task_id
    desk.tasks.run_now([ids[1]])
    assert code(room, entry) == ""
    outcome = back(room, entry)
    assert set(outcome.done) == {*ids[2:], low}
    assert [(one.task_id, one.why.code) for one in outcome.skipped] == [(ids[1], "back.differs")]
    found = {task.task_id: (task.lane, task.priority) for task in room.store.get([*ids, low, urgent, later]) if task}
    assert {found[one] for one in (*ids[2:], ids[0])} == {("normal", 6)}
    assert (found[low], {found[one] for one in (urgent, later, ids[1])}) == (("low", 2), {("high", 10)})
    with pytest.raises(UsageError, match="not as this act left it"):
        back(room, entry)


def test_a_raised_batch_whose_tasks_stood_at_very_many_places_says_so(room: Room) -> None:
    for n in range(2 * PLACES_KEPT + 2):
        room.create(batch="night", shop_id=f"s{n}", priority=5 + n % 2)
    batches = batches_of(room)
    batches.raise_waiting(batches.plan_raise("night"))
    assert code(room, last(room)) == "back.unsaid"


def test_what_had_a_lane_of_its_own_gets_that_back_with_its_batch(room: Room) -> None:
    own = room.create(batch="night", priority=6).task_id
    office(room).tasks.place({own: ("low", 6)})
    room.clock.advance(1)
    others = [room.create(batch="night", shop_id=f"s{n}", priority=6).task_id for n in range(2)]
    batches = batches_of(room)
    batches.raise_waiting(batches.plan_raise("night"))
    back(room, last(room))
    assert [(task.lane, task.priority) for task in room.store.get([own, *others]) if task] == [
        ("low", 6),
        ("normal", 6),
        ("normal", 6),
    ]


def test_an_entry_of_before_that_tells_priorities_alone_gives_these_back(room: Room) -> None:
    low, other = (room.create(batch="night", shop_id=f"s{level}", priority=level).task_id for level in (1, 4))
    batches = batches_of(room)
    batches.raise_waiting(batches.plan_raise("night"))
    entry = last(room)
    told = {name: value for name, value in audit.details(entry).items() if name != "most"}
    before = msgspec.structs.replace(entry, detail=json.dumps(told | {"was": {low: 1, other: 4}}))
    assert set(back(room, before).done) == {low, other}
    assert [task.lane for task in room.store.get([low, other]) if task] == ["low", "normal"]


INCIDENT = Incident(id="INC-1", key="INC-1", rule=DEFAULTS[0], words=Words(title=Message("alert.forgets")), raised_at=1)
NEXT_WEEK = ManualClock().now_ms() + 7 * 86_400_000
TWICE: dict[str, Callable[[Any, str], object]] = {
    "pause": lambda desk, who: desk.fleet.pause("shop:pdd:s1", reason=who),
    "ignore": lambda desk, who: desk.causes.ignore(CAUSE, seconds=60),
    "know": lambda desk, who: desk.causes.know(CAUSE, owner=who),
    "answer": lambda desk, who: desk.alerts.answer(INCIDENT.id, who),
    "mute": lambda desk, who: desk.alerts.mute(INCIDENT.id, NEXT_WEEK, who),
    "merge": lambda desk, who: desk.causes.merge([OTHER], CAUSE if who == "ann" else THIRD),
}


@pytest.mark.parametrize("act", TWICE.values(), ids=TWICE)
def test_the_second_act_is_not_taken_back_over_the_first_persons(room: Room, act: Callable[[Any, str], object]) -> None:
    desk = office(room)
    room.store.put_document("alert_incident", slot_of(INCIDENT.key), INCIDENTS.dump(INCIDENT))
    act(desk, "ann")
    assert code(room, last(room)) == ""
    act(desk, "ben")
    assert code(room, last(room)) == "back.unsaid"
    older = msgspec.structs.replace(last(room), detail="{}")
    assert code(room, older) == "back.unsaid", "an older program wrote nothing of what stood before"


def test_a_mute_in_the_place_of_one_that_a_change_has_ended_is_taken_back(room: Room) -> None:
    desk = office(room)
    room.store.put_document("alert_incident", slot_of(INCIDENT.key), INCIDENTS.dump(INCIDENT))
    muted = desk.alerts.mute(INCIDENT.id, UNTIL_CHANGED, "known")
    ended = msgspec.structs.replace(INCIDENT, unmuted=muted.answer.muted_at)
    room.store.put_document("alert_incident", slot_of(INCIDENT.key), INCIDENTS.dump(ended))
    room.clock.advance(60)
    desk.alerts.mute(INCIDENT.id, UNTIL_CHANGED, "of the new extent", seen=Answer())
    assert code(room, last(room)) == ""


def test_letters_that_were_archived_before_are_not_opened(room: Room) -> None:
    desk, first, second = office(room), room.dead(shop_id="s1"), room.dead(shop_id="s2")
    desk.dead_letters.set_triage([first.task_id], "archived")
    assert code(room, last(room)) == ""
    desk.dead_letters.set_triage([first.task_id, second.task_id], "ignored")
    assert code(room, last(room)) == "back.unsaid"


def test_a_shop_that_had_its_queue_keeps_it(room: Room) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    desk = office(room)
    desk.fleet.dedicate("pdd:s1")
    assert code(room, last(room)) == ""
    desk.fleet.dedicate("pdd:s1")
    assert code(room, last(room)) == "back.nothing"


def test_a_worker_that_drained_already_goes_on_draining(room: Room) -> None:
    desk = office(room)
    for state, why in (("running", ""), ("draining", "back.nothing"), ("stopping", "back.unsaid")):
        room.store.heartbeat(WorkerInfo(worker=f"w-{state}", host="h", pid=1, state=state))
        desk.fleet.tell_worker(f"w-{state}", "drain")
        assert code(room, last(room)) == why


def test_only_schedules_that_the_act_switched_are_switched_back(room: Room) -> None:
    room.define("work")
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    desk = office(room)
    for name in ("a", "b"):
        desk.schedules.add(Schedule(name=name, task_type="work", every_s=3600, all_shops=True))
    desk.schedules.switch(["a"], enabled=False)
    desk.schedules.switch(["a", "b"], enabled=False)
    assert back(room, last(room)).done == ("b",)
    desk.schedules.switch(["a"], enabled=False)
    assert code(room, last(room)) == "back.nothing"


def test_a_view_that_somebody_changed_or_renamed_since_stays(room: Room) -> None:
    desk = office(room)
    made = desk.views.share(SharedView(key="", title="Mine", filter="status:dead"))
    shared = last(room)
    assert code(room, shared) == ""
    theirs = desk.views.share(msgspec.structs.replace(made, title="Ours"))
    assert code(room, shared) == "back.changed", "under its new name it is the same view"
    unseen = SimpleNamespace(after=lambda *_: [], now_ms=room.store.now_ms)
    with pytest.raises(UsageError, match="not as this act left it"):
        take_back(desk, unseen, shared)
    assert desk.views.known() == [theirs]


def test_whoever_had_no_role_of_their_own_has_none_again(room: Room) -> None:
    desk = office(room)
    desk.roles.set("cleo@desk", "viewer")
    given = last(room)
    back(room, given)
    assert people.roles(room.store).entry("cleo@desk") is None
    desk.roles.set("cleo@desk", "viewer")
    desk.roles.set("cleo@desk", "operator")
    second = last(room)
    room.store.put_document(roles.KIND, "cleo@desk", roles.dump("admin"))
    with pytest.raises(UsageError, match="not as this act left it"):
        back(room, second)
    room.store.put_document(roles.KIND, "cleo@desk", roles.dump("operator"))
    assert code(room, msgspec.structs.replace(second, detail='{"from": "viewer", "to": "operator"}')) == "back.unsaid"


def test_what_was_changed_without_an_entry_is_seen_too(room: Room) -> None:
    desk = office(room)
    desk.fleet.set_limit(Limit(scope="platform:pdd", concurrency=3))
    limited = last(room)
    room.store.put_limit(Limit(scope="platform:pdd", concurrency=5))
    desk.fleet.pause("all")
    paused = last(room)
    room.store.set_pause(Pause(scope="all", by="repair", reason="damage"))
    for entry in (limited, paused):
        with pytest.raises(UsageError, match="not as this act left it"):
            back(room, entry)
    assert [one.by for one in room.store.pauses()] == ["repair"]


def test_settings_that_were_changed_without_an_entry_are_not_put_back(room: Room) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    desk, store, entries = office(room), room.store, list[AuditEntry]()
    desk.breakers.set_rule(BreakerRule(failures=2, of=4))
    entries.append(last(room))
    store.put_document(breaker.DOCUMENT, breaker.NAME, msgspec.json.encode(BreakerRule(failures=3, of=5)).decode())
    desk.roles.set_default("viewer")
    entries.append(last(room))
    store.put_document(roles.FLEET, roles.DEFAULT, roles.dump("operator"))
    desk.fleet.set_concurrency("pdd:s1", 3)
    entries.append(last(room))
    store.put_shops([Shop(platform="pdd", shop_id="s1", concurrency=5)])
    for entry in entries:
        with pytest.raises(UsageError, match="not as this act left it"):
            back(room, entry)
    assert desk.breakers.rule() == BreakerRule(failures=3, of=5)
    assert [one.concurrency for one in store.shops()] == [5]


def test_settings_that_stand_as_an_act_left_them_are_put_back(room: Room) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
    desk, before = office(room), office(room).breakers.rule()
    desk.breakers.set_rule(BreakerRule(failures=2, of=4))
    back(room, last(room))
    assert desk.breakers.rule() == before
    was = people.roles(room.store).default
    desk.roles.set_default("viewer" if was == "operator" else "operator")
    back(room, last(room))
    assert people.roles(room.store).default == was
    desk.fleet.set_concurrency("pdd:s1", 3)
    back(room, last(room))
    assert [one.concurrency for one in room.store.shops()] == [1]


def test_a_decision_behind_which_no_letter_waited_counts_as_taken_back(room: Room) -> None:
    office(room).causes.ignore(CAUSE, seconds=60)
    assert back(room, last(room)).done == (CAUSE,)


def test_what_others_did_since_bars_an_undo_and_what_its_own_writer_did_does_not(room: Room) -> None:
    desk, trail = office(room), AuditQueries(room.store)
    with heard() as entries:
        desk.fleet.pause("all")
    assert [one.action for one in entries] == ["pause"]
    unchanged(trail, entries)
    desk.fleet.resume("all")
    desk.fleet.pause("platform:pdd")
    unchanged(trail, entries)
    desk_of(room, name="ben@desk").fleet.pause("platform:pdd")
    unchanged(trail, entries)
    desk_of(room, name="ben@desk").fleet.pause("all")
    with pytest.raises(UsageError, match=r"ben@desk.* changed it again since"):
        unchanged(trail, entries)
    assert len(entries) == 1, "what was written after it was listened to is not kept"


def test_an_undo_of_more_than_are_named_waits_for_nobody_elses_act_on_any_of_them(room: Room) -> None:
    trail = AuditQueries(room.store)
    with heard() as entries, Audit(room.store, "ann@desk").act("dead.archived", [f"t{n}" for n in range(300)]):
        pass
    unchanged(trail, entries)
    with Audit(room.store, "ben@desk").act("dead.ignored", ["t250"]):
        pass
    with pytest.raises(UsageError, match="changed it again since"):
        unchanged(trail, entries)


def test_a_rule_is_written_over_no_version_that_was_not_seen(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs, seen = office(room).alerts, office(room, "ben@desk").alerts, DEFAULTS[0]
    wanted = msgspec.structs.replace(seen, for_s=90)
    now = theirs.enable_rule(seen.name, enabled=False)
    with pytest.raises(RuleChanged, match="ben@desk changed this alert rule meanwhile") as refused:
        mine.set_rule(wanted, instead=seen)
    assert refused.value.now == mine.rules()[seen.name] == now
    theirs.reset_rule(seen.name)
    with pytest.raises(RuleChanged, match="set this alert rule back"):
        mine.set_rule(wanted, instead=now)
    with pytest.raises(RuleChanged, match="set this alert rule back"):
        mine.enable_rule(seen.name, enabled=True, instead=now)
    with pytest.raises(RuleChanged, match="set this alert rule back"):
        mine.reset_rule(seen.name, instead=now)
    assert mine.rules()[seen.name] == seen, "neither was done"
    made = mine.set_rule(wanted, instead=seen)
    look, came = room.store.documents, list[str]()

    def overtaken(kind: str) -> object:
        found = look(kind)
        if kind == VERSIONS and not came:
            came.append(kind)
            theirs.set_rule(seen)
        return found

    monkeypatch.setattr(room.store, "documents", overtaken)
    with pytest.raises(RuleChanged, match="ben@desk"):
        mine.set_rule(msgspec.structs.replace(made, for_s=120), instead=made)
    assert mine.rules()[seen.name].for_s == seen.for_s


def test_a_rule_that_somebody_changes_while_it_is_set_back_keeps_that(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs, seen = office(room).alerts, office(room, "ben@desk").alerts, DEFAULTS[0]
    made = mine.set_rule(msgspec.structs.replace(seen, for_s=90))
    keep, came = room.store.put_document, list[str]()

    def overtaken(kind: str, name: str, body: str) -> None:
        keep(kind, name, body)
        if kind == VERSIONS and not came:
            came.append(kind)
            theirs.set_rule(msgspec.structs.replace(made, for_s=120))

    monkeypatch.setattr(room.store, "put_document", overtaken)
    with pytest.raises(RuleChanged, match="ben@desk"):
        mine.reset_rule(seen.name)
    assert mine.rules()[seen.name].for_s == 120


def test_what_a_rule_runs_for_an_incident_changes_nothing_of_its_answer(room: Room) -> None:
    trail = AuditQueries(room.store)
    with heard() as entries, Audit(room.store, "ann@desk").act("alert.mute", ["i1"]):
        pass
    with Audit(room.store, "rule dead_letters").act("alert.run", ["i1"]):
        pass
    unchanged(trail, entries)


def test_what_failed_may_be_done_in_part(room: Room) -> None:
    desk = office(room)
    desk.fleet.pause("all")
    paused = last(room)
    with pytest.raises(StoreUnavailable), Audit(room.store, "ben@desk").act("resume", ["all"]):
        raise StoreUnavailable("silent")
    assert code(room, last(room)) == "back.partly"
    assert code(room, paused) == "back.changed"


def test_of_an_act_that_was_done_in_part_what_was_done_is_taken_back_and_no_other(room: Room) -> None:
    desk, letters, task = office(room), [room.dead(), room.dead()], room.create()
    desk.dead_letters.set_triage([letters[0].task_id, task.task_id, letters[1].task_id], "archived")
    archived = last(room)
    assert archived.outcome.startswith("partly: 2 done, 1 refused")
    way = way_of(archived, room.store.now_ms())
    assert isinstance(way, Way)
    assert (way.objects, way.asked) == ((letters[0].task_id, letters[1].task_id), 3)
    with Audit(room.store, "ben@desk").act("dead.open", [task.task_id]):
        pass  # somebody else did something to the one that was left alone
    assert code(room, archived) == ""
    assert back(room, archived).done == way.objects
    assert last(room).target == way.objects
    assert code(room, archived) == "back.changed"


def test_what_stood_otherwise_before_counts_only_where_it_was_done(room: Room) -> None:
    desk, letter, task = office(room), room.dead(), room.create()
    detail = {"was": {task.task_id: "ignored"}}
    with Audit(room.store, "ann@desk").act("dead.archived", [letter.task_id, task.task_id], detail) as act:
        act.counted(1, 1, "task.not_dead")
        act.placed([(task.task_id, "task.not_dead")])
    assert code(room, last(room)) == ""
    desk.dead_letters.set_triage([letter.task_id], "archived")
    with Audit(room.store, "ann@desk").act("dead.archived", [letter.task_id], {"was": {letter.task_id: "ignored"}}):
        pass
    assert code(room, last(room)) == "back.unsaid"


def test_where_names_and_counts_of_what_was_done_differ_nothing_is_offered(room: Room) -> None:
    with Audit(room.store, "ann@desk").act("dead.archived", ["t1", "t2", "t3"], {"was": {}}) as act:
        act.counted(1, 2, "task.not_dead")
        act.placed([("t2", "task.not_dead")])
    assert code(room, last(room)) == "back.partly"


def test_an_act_on_so_many_that_not_all_are_named_may_be_about_each(room: Room) -> None:
    desk, letter = office(room), room.dead()
    desk.dead_letters.set_triage([letter.task_id], "archived")
    archived = last(room)
    with Audit(room.store, "ben@desk").act("dead.open", [f"t{number}" for number in range(TARGETS_KEPT)]):
        pass
    assert code(room, archived) == "back.changed"


def test_rows_that_cannot_be_read_are_not_the_end(room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.monitor.audit.PAGE", 2)
    desk = office(room)
    desk.fleet.pause("all")
    paused = last(room)
    desk.fleet.resume("all")
    for _ in range(2):
        desk.causes.describe(CAUSE, name="x", note="")
    with closing(sqlite3.connect(tmp_path / "room.sqlite")) as db:
        db.execute("DROP TRIGGER audit_is_closed_once")
        db.execute("UPDATE audit SET data = x'fffe80' WHERE entry_id = ?", (last(room).entry_id,))
        db.commit()
    assert code(room, paused) == "back.changed"
    assert [one.action for one in AuditQueries(room.store).page().entries] == ["cause.describe", "resume", "pause"]
