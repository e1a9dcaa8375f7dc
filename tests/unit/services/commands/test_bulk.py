"""Bulk republish: what is planned, tried first, paced, paused, stopped, and taken up again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from services.commands.audit import Audit
from services.commands.batches import BatchCommands
from services.commands.bulk import book
from services.commands.bulk.book import LEASE_MS
from services.commands.bulk.plan import ASKS, DONE, DUPLICATE, GONE, HELD, PAUSED, READY, SCHEMA
from services.commands.bulk.republish import PATIENCE_S, Control, Options, Progress
from services.commands.operator import Operator
from services.domain.change import CloseSession
from services.domain.errors import NotAllowed, StoreUnavailable, UsageError
from services.domain.fleet.shop import Pause, Shop
from services.domain.gates import breaker
from services.domain.gates.quiet_hours import WINDOWS, Windows
from services.domain.task.record import Task
from services.domain.task.search.query import Page, Query
from services.domain.text.message import Message
from services.messages import english
from tests.unit.services.commands.conftest import Desk, desk_of
from tests.unit.services.engine.room import Room


def letters(room: Room, count: int, shops: int = 0) -> list[str]:
    """Dead letters in as many shops as there are letters, or in ``shops``."""
    room.store.put_shops([Shop(platform="pdd", shop_id=f"s{number}", concurrency=9) for number in range(count)])
    return [room.dead(shop_id=f"s{number % (shops or count)}").task_id for number in range(count)]


def new_ones(room: Room, ids: list[str]) -> dict[str, Task]:
    """The successors of those that were republished."""
    records = [room.task(task_id) for task_id in ids]
    return {old.task_id: room.task(old.successor) for old in records if old.successor}


def work(room: Room, task: Task, to: str = "succeeded", **fields: object) -> None:
    """Let somebody run a task to an end."""
    room.finish(room.claim(room.task(task.task_id), owner=f"w#{task.task_id}"), to, **fields)


# ----------------------------------------------------------------------------------------------------------------- plan
def test_a_plan_says_what_is_in_the_way_of_each(room: Room, desk: Desk) -> None:
    room.define("checked", schema={"type": "object", "required": ["page"]})
    ready, paused = room.dead(shop_id="s1").task_id, room.dead(shop_id="s2").task_id
    twin, held = room.dead(shop_id="s3", payload={"a": 1}), room.dead(shop_id="s4", payload={"a": 1})
    waits = room.create(shop_id="s3", payload={"a": 1})
    asks = room.finish(room.running(shop_id="s4", payload={"a": 1}), "held", error_kind="worker_lost")
    room.define("checked", schema={})
    bad = room.dead(shop_id="s5", task_type="checked").task_id
    room.define("checked", schema={"type": "object", "required": ["page"]})
    over = room.dead(shop_id="s6").task_id
    new_id = desk.dead_letters.republish([over]).made[over]
    room.store.set_pause(Pause(scope="shop:pdd:s2", by="ann"))

    plan = desk.bulk.plan([ready, paused, twin.task_id, held.task_id, bad, over, "nobody", ready])
    assert {item.task_id: item.state for item in plan.items} == {
        ready: READY,
        paused: PAUSED,
        twin.task_id: DUPLICATE,
        held.task_id: HELD,
        bad: SCHEMA,
        over: GONE,
        "nobody": GONE,
    }
    by_id = {item.task_id: item for item in plan.items}
    assert (by_id[twin.task_id].existing, by_id[twin.task_id].existing_status) == (waits.task_id, "queued")
    assert (by_id[held.task_id].existing, by_id[held.task_id].existing_status) == (asks.task_id, "held")
    assert "page" in str(by_id[bad].why)
    assert by_id[over].why == Message("dead.already", {"id": new_id})
    assert plan.states() == {READY: 1, DUPLICATE: 1, HELD: 1, PAUSED: 1, SCHEMA: 1, GONE: 2}
    assert plan.counts("task_type") == {"work": 4, "checked": 1}
    assert plan.counts("shop", {READY, PAUSED}) == {"pdd:s1": 1, "pdd:s2": 1}
    assert next(item.task_id for item in plan.without([ready, over]).items) == paused
    assert room.task(ready).triage == "open", "a plan changes nothing"


def test_every_gate_that_is_closed_for_a_shop_platform_or_type_is_named(room: Room, desk: Desk) -> None:
    now = room.store.now_ms()
    logged_out, quiet, free = (room.dead(shop_id=shop).task_id for shop in ("s0", "s2", "s3"))
    room.ask(CloseSession(shop="pdd:s0", kind="captcha", by="ann@desk"))
    rule = breaker.Rule(failures=1, of=1, cooldown_s=3600, max_cooldown_s=3600)
    room.store.put_document(breaker.DOCUMENT, breaker.NAME, msgspec.json.encode(rule).decode())
    failing = room.finish(room.running(shop_id="s1"), "dead", error_kind="timeout").task_id
    hours = Windows(scope="shop:pdd:s2", windows=((now - 1, now + 3_600_000),), by="bob@desk", reason="sale")
    room.store.put_document(WINDOWS, "night", msgspec.json.encode(hours).decode())
    plan = desk.bulk.plan([logged_out, failing, quiet, free])
    assert [(item.state, item.gate) for item in plan.items] == [
        (PAUSED, "session"),
        (PAUSED, "breaker"),
        (PAUSED, "quiet_hours"),
        (READY, ""),
    ]
    assert "sale" in english(plan.items[2].why or Message(""))


def test_of_two_equal_letters_the_second_is_the_duplicate(room: Room, desk: Desk) -> None:
    first, second = (room.dead(payload={"a": 1}).task_id for _ in range(2))
    plan = desk.bulk.plan([first, second])
    assert [(item.state, item.existing) for item in plan.items] == [(READY, ""), (DUPLICATE, first)]
    ended = desk.bulk.run(plan)
    assert (ended.outcome.done, [one.why.code for one in ended.outcome.skipped]) == ((first,), ["task.duplicate"])


def test_a_field_is_set_in_every_payload_and_counts_for_the_check(room: Room, desk: Desk) -> None:
    room.define("work", schema={"type": "object", "properties": {"page": {"type": "integer"}}})
    ids = letters(room, 2)
    assert desk.bulk.plan(ids, fields={"page": "x"}).states() == {SCHEMA: 2}
    plan = desk.bulk.plan(ids, fields={"page": 7})
    ended = desk.bulk.run(plan, Options(lane="high", attempts=2))
    assert ended.outcome.clean
    for old, new in new_ones(room, ids).items():
        assert json.loads(new.payload) == json.loads(room.task(old).payload) | {"page": 7}
        assert (new.lane, new.priority, new.max_retries) == ("high", 10, 1)


def test_what_is_paused_or_does_not_fit_is_left_alone_only_where_asked(room: Room, desk: Desk) -> None:
    room.define("work", schema={"type": "object", "required": ["page"]})
    room.store.set_pause(Pause(scope="all", by="ann"))
    bad, paused = room.create(payload={"page": 1}), room.create(payload={"page": 2}, shop_id="s2")
    ids = []
    room.store.clear_pause("all")
    for task in (bad, paused):
        work(room, task, "dead", error="x", fingerprint="f")
        ids.append(task.task_id)
    room.define("work", schema={"type": "object", "properties": {"page": {"enum": [2]}}})
    room.store.set_pause(Pause(scope="platform:pdd", by="ann"))
    plan = desk.bulk.plan(ids)
    assert [item.state for item in plan.items] == [SCHEMA, PAUSED]
    ended = desk.bulk.run(plan, Options(skip=frozenset({SCHEMA, PAUSED})))
    assert [one.why.code for one in ended.outcome.skipped] == ["dead.schema", "gate.paused_unsaid"]
    ended = desk.bulk.run(plan, Options(skip=frozenset()))
    assert ended.outcome.done == tuple(ids)


@pytest.mark.parametrize("reason", ["", "the shop lost it"])
def test_what_is_done_once_more_by_number_says_who_let_it_go(room: Room, desk: Desk, reason: str) -> None:
    letter = room.dead(shop_id="s1", payload={"a": 1}).task_id
    room.clock.advance(1)
    work(room, room.create(shop_id="s1", payload={"a": 1}))
    desk.dead_letters.set_triage([letter], "open")
    other = room.dead(shop_id="s2").task_id
    plan = desk.bulk.plan([letter, other])
    assert [item.state for item in plan.items] == [DONE, READY]
    desk.bulk.run(plan, Options(skip=frozenset(), reason=reason))
    said = {old: new.reason for old, new in new_ones(room, [letter, other]).items()}
    typed = "its work had succeeded since: ann@desk typed how many of a bulk are done once more"
    assert said == {letter: reason or typed, other: ""}


def test_of_a_twin_whose_work_has_run_besides_the_plan_says_what_the_act_does(room: Room, desk: Desk) -> None:
    letter = room.dead(shop_id="s1", payload={"a": 1}).task_id
    room.clock.advance(1)
    work(room, room.create(shop_id="s1", payload={"a": 1}))
    desk.dead_letters.set_triage([letter], "open")
    room.create(shop_id="s1", payload={"a": 1})
    plan = desk.bulk.plan([letter])
    assert [item.state for item in plan.sent("reject").items] == [DUPLICATE]
    (queued,) = plan.sent("queue").items
    assert queued.state == DONE
    for how in (Options(), Options(if_duplicate="queue")):
        ended = desk.bulk.run(plan, how)
        planned = [one.why for one in plan.sent(how.if_duplicate).items]
        assert [one.why for one in ended.outcome.skipped if one.why in planned] == planned
    ended = desk.bulk.run(plan, Options(if_duplicate="queue", skip=frozenset()))
    assert ended.outcome.done == (letter,)


@pytest.mark.parametrize("unread", [True, False])
def test_what_asks_for_a_reason_of_its_own_goes_alone(room: Room, desk: Desk, tmp_path: Path, unread: bool) -> None:
    """Its work ran before it so lately that the type asks why, or nobody can read whether it ran."""
    room.define("soon", uniqueness="shop_type", unique_for="1d")
    done = room.create(shop_id="s1", task_type="soon")
    work(room, done)
    room.clock.advance(1)
    letter = room.create(shop_id="s1", task_type="soon", reason="a test")
    work(room, letter, "dead", error="x", fingerprint="f")
    if unread:
        with closing(sqlite3.connect(tmp_path / "room.sqlite", timeout=30)) as db, db:
            db.execute("UPDATE works SET at = 'soon' WHERE work = ?", (letter.work,))
    ids = [letter.task_id, room.dead(shop_id="s2").task_id]
    plan = desk.bulk.plan(ids)
    assert [item.state for item in plan.items] == [ASKS, READY]
    ended = desk.bulk.run(plan, Options(skip=frozenset(), reason="all were lost"))
    assert (ended.outcome.done, [one.task_id for one in ended.outcome.skipped]) == ((ids[1],), [ids[0]])
    alone = desk.bulk.plan(ids[:1])
    for options in (Options(), Options(skip=frozenset()), Options(skip=frozenset(), reason=" "), Options(reason="x")):
        assert desk.bulk.run(alone, options).outcome.done == ()
    desk.bulk.run(alone, Options(skip=frozenset(), reason="the shop lost it"))
    assert new_ones(room, ids[:1])[ids[0]].reason == "the shop lost it", "no record says what nobody knows"


def test_a_letter_that_dies_while_a_batch_is_looked_at_is_counted_nowhere(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.define("work", schema={"type": "object"})
    first = room.dead(shop_id="s1", batch="b").task_id
    late, look, asked = room.running(shop_id="s2", batch="b"), room.store.query, []

    def query(wanted: Query) -> Page:
        found = look(wanted)
        asked.append(wanted)
        if len(asked) == 1:
            room.finish(late, "dead", error="x", fingerprint="f")
            room.define("work", schema={"type": "object", "required": ["page"]})
        return found

    monkeypatch.setattr(room.store, "query", query)
    who = Operator(who="ann@desk", role="admin")
    audit, counts = Audit(room.store, who.who), room.store.batch_counts
    plan = BatchCommands(room.store, desk.tasks, audit, who, desk.bulk.plan, counts).plan_retry("b")
    assert (plan.task_ids, set(plan.left_alone), plan.number) == ((first,), {first}, 0)


# ----------------------------------------------------------------------------------------------------------------- pace
def test_no_minute_holds_more_than_the_rate(room: Room, desk: Desk) -> None:
    ids = letters(room, 25)
    begun = room.clock.monotonic()
    sent_at: list[float] = []

    def note(progress: Progress) -> None:
        sent_at.extend([room.clock.monotonic() - begun] * (progress.done - len(sent_at)))

    ended = desk.bulk.run(desk.bulk.plan(ids), Options(rate=10), on_progress=note)
    assert (len(ended.outcome.done), ended.left, ended.why) == (25, (), None)
    assert len(sent_at) == 25
    for at in sent_at:
        assert sum(1 for other in sent_at if at <= other < at + 60) <= 10
    assert 140 <= sent_at[-1] <= 160, "and it is not much slower"


def test_a_fast_pace_sends_several_at_once(room: Room, desk: Desk) -> None:
    ids = letters(room, 30)
    begun = room.clock.monotonic()
    assert desk.bulk.run(desk.bulk.plan(ids), Options(rate=6000)).outcome.done == tuple(ids)
    assert room.clock.monotonic() - begun <= 1.0


def test_what_is_refused_costs_no_time(room: Room, desk: Desk) -> None:
    ids = letters(room, 5)
    plan = desk.bulk.plan(ids)
    desk.dead_letters.republish(ids[:4])
    begun = room.clock.monotonic()
    ended = desk.bulk.run(plan, Options(rate=1))
    assert (ended.outcome.done, len(ended.outcome.skipped)) == ((ids[4],), 4)
    assert room.clock.monotonic() - begun < 1


def test_pause_holds_everything_and_stop_leaves_the_rest_dead(room: Room, desk: Desk) -> None:
    ids = letters(room, 6)
    control = Control()
    phases: list[str] = []

    def hand(progress: Progress) -> None:
        phases.append(progress.phase)
        if progress.done == 2 and not control.paused and "paused" not in phases:
            control.pause()
        if progress.phase == "paused" and phases.count("paused") == 5:
            assert progress.done == 2
            control.resume()
        if progress.done == 4:
            control.stop()

    ended = desk.bulk.run(desk.bulk.plan(ids), Options(rate=60), on_progress=hand, control=control)
    assert (ended.outcome.done, ended.left) == (tuple(ids[:4]), tuple(ids[4:]))
    assert ended.why is not None
    assert ended.why.code == "bulk.stopped"
    assert [room.task(task_id).triage for task_id in ids[4:]] == ["open", "open"]
    entry = room.store.audit(1)[0]
    assert (entry.action, entry.outcome) == ("dead.republish", "partly: 4 done, 2 left alone: bulk.stopped")
    assert json.loads(entry.detail) == {"rate": 60}


def test_the_same_again_goes_on_where_it_ended(room: Room, desk: Desk) -> None:
    """Somebody who fell over in the middle left no trace but the closed letters."""
    ids = letters(room, 5)

    class Crash(BaseException):
        pass

    def fall(progress: Progress) -> None:
        if progress.done == 3:
            raise Crash

    with pytest.raises(Crash):
        desk.bulk.run(desk.bulk.plan(ids), Options(rate=600), on_progress=fall)
    again = desk.bulk.run(desk.bulk.plan(ids), Options(rate=600))
    assert again.outcome.done == tuple(ids[3:])
    assert [(one.task_id, one.why.code) for one in again.outcome.skipped] == [
        (task_id, "dead.already") for task_id in ids[:3]
    ]
    assert len({task.task_id for task in new_ones(room, ids).values()}) == 5


# --------------------------------------------------------------------------------------------------------------- probes
def hand_of(room: Room, ids: list[str], end: Callable[[Task], None]) -> Callable[[Progress], None]:
    """Let the probes end once they are waited for."""

    def hand(progress: Progress) -> None:
        if progress.phase == "waiting":
            for probe in progress.probes:
                task = room.task(probe.new_id)
                if task.status == "queued":
                    end(task)

    return hand


def test_probes_come_from_different_shops_and_the_rest_follows_when_they_pass(room: Room, desk: Desk) -> None:
    ids = letters(room, 9, shops=3)
    seen: list[tuple[int, str]] = []

    def watch(progress: Progress) -> None:
        seen.append((progress.done, progress.phase))
        hand_of(room, ids, lambda task: work(room, task))(progress)

    ended = desk.bulk.run(desk.bulk.plan(ids), Options(probe=3), on_progress=watch)
    assert (len(ended.outcome.done), ended.left, ended.why) == (9, (), None)
    assert {probe.shop for probe in ended.probes} == {"pdd:s0", "pdd:s1", "pdd:s2"}
    assert all(probe.passed for probe in ended.probes)
    assert {done for done, phase in seen if phase == "waiting"} == {3}, "nothing else goes before they have ended"


def test_the_same_failure_stops_it_before_the_last_attempt(room: Room, desk: Desk) -> None:
    ids = letters(room, 6)

    def fail(task: Task) -> None:
        work(room, task, "retrying", delay_ms=120_000, error="login", error_kind="login_expired", fingerprint="9ac1")

    ended = desk.bulk.run(desk.bulk.plan(ids), Options(probe=2), on_progress=hand_of(room, ids, fail))
    assert ended.why is not None
    assert (ended.why.code, ended.why.params["kind"]) == ("bulk.probe_same", "login_expired")
    assert (len(ended.outcome.done), len(ended.left)) == (2, 4)
    assert all(room.task(task_id).triage == "open" for task_id in ended.left)
    assert any(probe.same and probe.passed is False for probe in ended.probes)


@pytest.mark.parametrize(("to", "print_"), [("dead", "other"), ("held", ""), ("cancelled", "")])
def test_any_other_end_stops_it_too(room: Room, desk: Desk, to: str, print_: str) -> None:
    ids = letters(room, 4)
    end = hand_of(room, ids, lambda task: work(room, task, to, error="x", error_kind="crashed", fingerprint=print_))
    ended = desk.bulk.run(desk.bulk.plan(ids), Options(probe=1), on_progress=end)
    assert ended.why is not None
    assert (ended.why.code, len(ended.left)) == ("bulk.probe_failed", 3)


def test_another_first_failure_may_still_pass(room: Room, desk: Desk) -> None:
    ids = letters(room, 3)
    rounds = iter(range(100))

    def hand(progress: Progress) -> None:
        if progress.phase != "waiting":
            return
        (probe,) = progress.probes
        task = room.task(probe.new_id)
        if task.status == "queued":
            work(room, task, "retrying", delay_ms=1000, error="net", error_kind="network", fingerprint="other")
        elif task.status == "retrying" and next(rounds) == 3:
            work(room, task)

    ended = desk.bulk.run(desk.bulk.plan(ids), Options(probe=1), on_progress=hand)
    assert (ended.why, len(ended.outcome.done)) == (None, 3)


def test_probes_alone(room: Room, desk: Desk) -> None:
    ids = letters(room, 5)
    end = hand_of(room, ids, lambda task: work(room, task))
    plan = desk.bulk.plan(ids)
    ended = desk.bulk.run(plan, Options(probe=3, probe_only=True), on_progress=end)
    assert (len(ended.outcome.done), len(ended.left), ended.why) == (3, 2, None)
    rest = desk.bulk.run(plan.without(ended.outcome.done))
    assert set(rest.outcome.done) == set(ended.left)


def test_probes_that_never_end_are_given_up(room: Room, desk: Desk) -> None:
    ids = letters(room, 3)
    ended = desk.bulk.run(desk.bulk.plan(ids), Options(probe=1, probe_wait_s=30.0))
    assert ended.why is not None
    assert (ended.why.code, len(ended.left)) == ("bulk.probe_late", 2)


def test_stop_ends_the_wait_for_probes(room: Room, desk: Desk) -> None:
    ids = letters(room, 3)
    control = Control()
    stop = iter(range(5))

    def hand(progress: Progress) -> None:
        if progress.phase == "waiting" and next(stop) == 3:
            control.stop()

    ended = desk.bulk.run(desk.bulk.plan(ids), Options(probe=1), on_progress=hand, control=control)
    assert ended.why is not None
    assert (ended.why.code, len(ended.outcome.done), len(ended.left)) == ("bulk.stopped", 1, 2)


def test_a_paused_shop_is_no_probe(room: Room, desk: Desk) -> None:
    ids = letters(room, 2)
    room.store.set_pause(Pause(scope="all", by="ann"))
    ended = desk.bulk.run(desk.bulk.plan(ids), Options(probe=1))
    assert ended.why is not None
    assert (ended.why.code, ended.left) == ("bulk.probe_none", tuple(ids))


# ----------------------------------------------------------------------------------------------------- silence
def test_a_lost_reply_makes_nothing_twice(room: Room, desk: Desk) -> None:
    ids = letters(room, 3)
    plan = desk.bulk.plan(ids)
    room.store.forgetful = 1
    ended = desk.bulk.run(plan)
    assert (ended.outcome.done, ended.outcome.skipped, ended.why) == (tuple(ids), (), None)
    assert set(ended.outcome.made.values()) == {task.task_id for task in new_ones(room, ids).values()}


def test_a_store_that_stays_silent_ends_it_with_the_rest_left(room: Room, desk: Desk) -> None:
    ids = letters(room, 3)
    plan = desk.bulk.plan(ids)
    begun = room.clock.monotonic()

    def fall_silent(progress: Progress) -> None:
        room.store.silent = 10 if progress.phase == "silent" or progress.done else 0

    ended = desk.bulk.run(plan, Options(rate=60), on_progress=fall_silent)
    room.store.silent = 0
    assert ended.why is not None
    assert (ended.why.code, ended.outcome.done, ended.left) == ("bulk.silent", (ids[0],), tuple(ids[1:]))
    assert room.clock.monotonic() - begun >= PATIENCE_S


def test_without_the_audit_entry_nothing_happens(room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = letters(room, 1)
    plan = desk.bulk.plan(ids)

    def silent(*_: object) -> None:
        raise StoreUnavailable("nobody answers")

    monkeypatch.setattr(room.store, "append_audit", silent)
    with pytest.raises(StoreUnavailable):
        desk.bulk.run(plan)
    assert room.task(ids[0]).triage == "open"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (Options(rate=-1), "rate"),
        (Options(probe=101), "probe"),
        (Options(if_duplicate="force"), "reason"),
        (Options(if_duplicate="maybe"), "if_duplicate"),
        (Options(skip=frozenset({"gone"})), "skip"),
        (Options(lane="fast"), "lane"),
        (Options(attempts=22), "attempts"),
    ],
)
def test_an_option_that_cannot_be_is_named(room: Room, desk: Desk, options: Options, field: str) -> None:
    with pytest.raises(UsageError) as caught:
        desk.bulk.run(desk.bulk.plan([]), options)
    assert caught.value.field == field


def test_who_may_only_look_republishes_nothing(room: Room) -> None:
    ids = letters(room, 1)
    desk = desk_of(room, "viewer")
    with pytest.raises(NotAllowed):
        desk.bulk.run(desk.bulk.plan(ids))
    assert room.task(ids[0]).triage == "open"


# ------------------------------------------------------------------------------------------------------- taken up again
class Crash(BaseException):
    """The process is no more."""


def crash_at(done: int, phase: str = "sending") -> Callable[[Progress], None]:
    def fall(progress: Progress) -> None:
        if progress.done == done and progress.phase == phase:
            raise Crash

    return fall


def crashed(room: Room, desk: Desk, ids: list[str], options: Options, done: int, phase: str = "sending") -> str:
    """A run that fell over after so many; its name."""
    with pytest.raises(Crash):
        desk.bulk.run(desk.bulk.plan(ids), options, on_progress=crash_at(done, phase))
    (view,) = desk.bulk.runs()
    assert (view.state, view.holder) == ("running", "ann@desk"), "nobody can know yet"
    room.clock.advance(LEASE_MS / 1000 + 1)
    (view,) = desk.bulk.runs()
    assert (view.state, view.entry.total, view.entry.left) == ("interrupted", len(ids), 0)
    return view.entry.run_id


def test_a_run_goes_on_after_a_crash_and_each_letter_is_republished_once(room: Room, desk: Desk) -> None:
    ids = letters(room, 6)
    run_id = crashed(room, desk, ids, Options(rate=600), 2)
    before = new_ones(room, ids)
    assert len(before) == 2
    ended = desk_of(room, "operator").bulk.resume(run_id)
    assert (ended.why, ended.left, ended.outcome.skipped) == (None, (), ())
    assert ended.outcome.done == tuple(ids)
    made = new_ones(room, ids)
    assert len({task.task_id for task in made.values()}) == 6
    assert {task_id: made[task_id] for task_id in before} == before
    assert room.store.counts().triage == {"republished": 6}
    (view,) = desk.bulk.runs()
    assert (view.state, view.entry.done, view.entry.left) == ("done", 6, 0)
    with pytest.raises(UsageError, match="is done"):
        desk.bulk.resume(run_id)
    entry = room.store.audit(1)[0]
    assert json.loads(entry.detail) == {"rate": 600, "resumed": run_id}


def test_a_run_that_has_just_begun_is_not_seen_as_interrupted(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, written, seen = letters(room, 2), room.store.put_document, []

    def looked_at(kind: str, name: str, body: str) -> None:
        written(kind, name, body)
        seen.extend(view.state for view in desk_of(room).bulk.runs())  # a page may ask at this moment

    monkeypatch.setattr(room.store, "put_document", looked_at)
    desk.bulk.run(desk.bulk.plan(ids), Options(rate=0))
    assert seen[0] == "running"
    assert "interrupted" not in seen


def test_a_letter_that_somebody_else_republished_meanwhile_is_told(room: Room, desk: Desk) -> None:
    ids = letters(room, 4)
    run_id = crashed(room, desk, ids, Options(rate=600), 1)
    desk.dead_letters.republish([ids[3]])
    ended = desk.bulk.resume(run_id)
    assert ended.outcome.done == tuple(ids[:3])
    assert [(one.task_id, one.why.code) for one in ended.outcome.skipped] == [(ids[3], "dead.already")]


def test_the_fields_and_options_of_a_run_hold_when_it_goes_on(room: Room, desk: Desk) -> None:
    ids = letters(room, 3)
    with pytest.raises(Crash):
        desk.bulk.run(desk.bulk.plan(ids, fields={"page": 7}), Options(rate=600, lane="high"), on_progress=crash_at(1))
    room.clock.advance(11)
    desk.bulk.resume(desk.bulk.runs()[0].entry.run_id)
    for task in new_ones(room, ids).values():
        assert (task.lane, json.loads(task.payload)["page"]) == ("high", 7)


def test_probes_that_were_sent_are_waited_for_not_sent_again(room: Room, desk: Desk) -> None:
    ids = letters(room, 5)
    run_id = crashed(room, desk, ids, Options(probe=2), 2, "waiting")
    tried = new_ones(room, ids)
    assert len(tried) == 2
    seen: list[int] = []

    def hand(progress: Progress) -> None:
        if progress.phase == "waiting" and not seen:
            seen.append(len(progress.probes))
            for task in tried.values():
                work(room, task)

    ended = desk.bulk.resume(run_id, on_progress=hand)
    assert (seen, len(ended.outcome.done), ended.why) == ([2], 5, None)
    assert {probe.new_id for probe in ended.probes} == {task.task_id for task in tried.values()}


def test_probes_that_have_passed_are_not_waited_for_again(room: Room, desk: Desk) -> None:
    ids = letters(room, 5)

    def fall(progress: Progress) -> None:
        if progress.phase == "waiting":
            for probe in progress.probes:
                if room.task(probe.new_id).status == "queued":
                    work(room, room.task(probe.new_id))
        if progress.phase == "sending" and progress.done == 3:
            raise Crash

    with pytest.raises(Crash):
        desk.bulk.run(desk.bulk.plan(ids), Options(probe=2, rate=600), on_progress=fall)
    room.clock.advance(11)
    ended = desk.bulk.resume(desk.bulk.runs()[0].entry.run_id)
    assert (len(ended.outcome.done), ended.probes, ended.why) == (5, (), None)


def test_a_run_whose_window_was_closed_is_told_as_interrupted_and_goes_on(room: Room, desk: Desk) -> None:
    ids = letters(room, 4)
    control = Control()
    desk.bulk.run(
        desk.bulk.plan(ids), Options(rate=600), control=control, on_progress=lambda told: told.done and control.leave()
    )
    (view,) = desk.bulk.runs()
    assert (view.state, view.entry.left, view.entry.why) == ("interrupted", 3, "bulk.left")
    seen: list[str] = []

    def look(_progress: Progress) -> None:
        seen.extend(one.state for one in desk.bulk.runs())

    assert desk.bulk.resume(view.entry.run_id, on_progress=look).outcome.done == tuple(ids)
    assert set(seen) == {"running"}, "it goes on"
    assert (desk.bulk.runs()[0].state, desk.bulk.runs()[0].entry.why) == ("done", "")


def test_a_run_that_was_stopped_goes_on(room: Room, desk: Desk) -> None:
    ids = letters(room, 4)
    control = Control()
    desk.bulk.run(
        desk.bulk.plan(ids), Options(rate=600), control=control, on_progress=lambda told: told.done and control.stop()
    )
    (view,) = desk.bulk.runs()
    assert (view.state, view.entry.left, view.entry.why) == ("stopped", 3, "bulk.stopped")
    assert desk.bulk.resume(view.entry.run_id).outcome.done == tuple(ids)


def test_a_run_that_was_stopped_before_its_window_was_closed_is_told_as_stopped(room: Room, desk: Desk) -> None:
    control = Control()

    def stop_and_close(progress: Progress) -> None:
        if progress.done:
            control.stop()
            control.leave()

    desk.bulk.run(desk.bulk.plan(letters(room, 4)), Options(rate=600), control=control, on_progress=stop_and_close)
    (view,) = desk.bulk.runs()
    assert (view.state, view.entry.why) == ("stopped", "bulk.stopped")


@pytest.mark.parametrize("act", ["resume", "abort"])
@pytest.mark.parametrize(("meanwhile", "state"), [("abort", "aborted"), ("resume", "done")])
def test_what_somebody_made_of_a_run_until_it_was_held_stands(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch, act: str, meanwhile: str, state: str
) -> None:
    ids = letters(room, 4)
    run_id = crashed(room, desk, ids, Options(rate=600), 1)
    lead = room.store.lead

    def others_first(role: str, holder: str, ttl_ms: int) -> bool:
        monkeypatch.setattr(room.store, "lead", lead)
        getattr(desk_of(room).bulk, meanwhile)(run_id)
        return lead(role, holder, ttl_ms)

    monkeypatch.setattr(room.store, "lead", others_first)
    with pytest.raises(UsageError, match="aborted" if meanwhile == "abort" else "is done"):
        getattr(desk.bulk, act)(run_id)
    (view,) = desk.bulk.runs()
    assert view.state == state
    assert len(new_ones(room, ids)) == (1 if meanwhile == "abort" else 4)
    assert not room.store.leader(f"{book.KIND}:{run_id}"), "nobody is at it"


def test_of_two_who_go_on_with_a_run_one_is_told(room: Room, desk: Desk) -> None:
    ids = letters(room, 4)
    run_id = crashed(room, desk, ids, Options(rate=60), 1)
    refused: list[UsageError] = []

    def meddle(progress: Progress) -> None:
        if progress.phase == "sending" and not refused:
            impatient = Control()
            impatient.stop()
            with pytest.raises(UsageError) as found:
                desk_of(room).bulk.resume(run_id, control=impatient)
            refused.append(found.value)

    ended = desk.bulk.resume(run_id, on_progress=meddle)
    assert ended.outcome.done == tuple(ids)
    assert "under way, ann@desk" in str(refused[0])
    assert len({task.task_id for task in new_ones(room, ids).values()}) == 4


def test_who_was_away_too_long_does_not_go_on_beside_another(room: Room, desk: Desk) -> None:
    """A notebook sleeps in the middle of a run and wakes up after somebody else took it over."""
    ids = letters(room, 5)

    def sleep(progress: Progress) -> None:
        if progress.done == 2 and progress.phase == "sending" and len(desk.bulk.runs()) == 1 and not slept:
            slept.append(True)
            room.clock.advance(LEASE_MS / 1000 + 1)
            others.append(desk_of(room).bulk.resume(desk.bulk.runs()[0].entry.run_id).outcome.done)

    slept: list[bool] = []
    others: list[tuple[str, ...]] = []
    ended = desk.bulk.run(desk.bulk.plan(ids), Options(rate=60), on_progress=sleep)
    assert others == [tuple(ids)]
    assert len(ended.outcome.done) + len(ended.outcome.skipped) + len(ended.left) == 5
    assert len({task.task_id for task in new_ones(room, ids).values()}) == 5
    assert room.store.counts().triage == {"republished": 5}


def test_an_unknown_run_is_named(desk: Desk) -> None:
    for ask in (desk.bulk.resume, desk.bulk.plan_of):
        with pytest.raises(UsageError, match="no run 'x'") as found:
            ask("x")
        assert found.value.field == "run"


def test_one_letter_is_no_run_and_old_runs_are_forgotten(
    room: Room, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "KEPT", 2)
    one, *ids = letters(room, 7)
    desk.bulk.run(desk.bulk.plan([one]))
    assert desk.bulk.runs() == []
    names = []
    for start in (0, 2, 4):
        desk.bulk.run(desk.bulk.plan(ids[start : start + 2]))
        room.clock.advance(1)
        names.append(desk.bulk.runs()[0].entry.run_id)
    assert [view.entry.run_id for view in desk.bulk.runs()] == names[:0:-1]
    assert room.store.documents(book.IDS + names[0]) == {}
