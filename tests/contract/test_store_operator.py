"""What people ask for: cancel, move, republish, triage, resolve; and the reconciler's nudge."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from services.domain.change import (
    Cancel,
    Create,
    GiveUp,
    Move,
    Nudge,
    Op,
    Postpone,
    Republish,
    Resolve,
    Route,
    SetTriage,
)
from services.domain.insight import attempts
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.ports import Store
from tests.contract.rig import Rig, shown, told


# ------------------------------------------------------------------------- cancel
def test_a_cancelled_task_names_who_wished_it_also_when_it_ran(rig: Rig) -> None:
    waits = rig.queued()
    rig.ask(Cancel(task_id=waits.task_id, by="ann@desk", reason="not needed"))
    runs = rig.running()
    assert rig.ask(Cancel(task_id=runs.task_id, by="ben@desk")).code == "requested"
    assert rig.finish(rig.record(runs), "cancelled").code == "ok"
    found = [attempts.cancelled(rig.record(task)) for task in (waits, runs)]
    assert [one.by for one in found if one is not None] == ["ann@desk", "ben@desk"]


@pytest.mark.parametrize("status", ["pending", "queued", "scheduled", "retrying", "held", "blocked"])
def test_what_has_not_started_is_cancelled_at_once(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    start = rig.store.events("", 1, 0).cursor
    answer = rig.ask(Cancel(task_id=task.task_id, by="ann@desk", reason="not needed"))
    assert answer.code == "ok"
    record = rig.record(task)
    assert (record, record.status, record.reason) == (answer.task, Status.CANCELLED, "not needed")
    assert record.ended_at == record.updated_at
    assert record.gate == ""
    assert record.steps[-1].note == "ann@desk"
    assert task.task_id not in rig.outbox()
    assert told(rig.all_events(start), record) == shown(record)[-1:]
    assert rig.claim(task, "w7#1").code == "ended"


def test_a_running_task_is_asked_to_stop(rig: Rig) -> None:
    task = rig.running()
    start = rig.store.events("", 1, 0).cursor
    for _ in range(2):
        answer = rig.ask(Cancel(task_id=task.task_id, by="ann", reason="wrong"))
        assert answer.code == "requested"
    record = rig.record(task)
    assert (record.status, record.cancel, record.reason) == (Status.RUNNING, "requested", "wrong")
    assert [(e.from_, e.to) for e in rig.all_events(start)] == [("running", "running")]
    assert rig.finish(task, "cancelled").code == "ok"
    assert rig.record(task).status == Status.CANCELLED


@pytest.mark.parametrize(("status", "code"), [("succeeded", "refused"), ("dead", "refused"), ("cancelled", "ok")])
def test_what_has_ended_cannot_be_cancelled(rig: Rig, status: str, code: str) -> None:
    task = rig.in_status(status)
    answer = rig.ask(Cancel(task_id=task.task_id, by="ann"))
    assert (answer.code, answer.task) == (code, task)


MISSING: list[Op] = [
    Cancel(task_id="nobody", by="ann"),
    Move(task_id="nobody", by="ann", lane="high", priority=9),
    Republish(task_id="nobody", by="ann", task=Task(task_id="x", shop_id="s", platform="p", task_type="t")),
    SetTriage(task_id="nobody", triage="archived", by="ann"),
    Resolve(task_id="nobody", to="pending", by="ann"),
    Route(task_id="nobody", queue="s1", by="ann"),
]


@pytest.mark.parametrize("op", MISSING, ids=lambda op: type(op).__name__)
def test_what_does_not_exist_is_missing(rig: Rig, op: Op) -> None:
    answer = rig.ask(op)
    assert (answer.code, answer.task) == ("missing", None)
    assert rig.store.counts().total == 0


# --------------------------------------------------------------------------- move
def move(rig: Rig, task: Task, *, run_now: bool = False, lane: str = "high", priority: int = 10) -> Task:
    answer = rig.ask(Move(task_id=task.task_id, by="ann", lane=lane, priority=priority, run_now=run_now))
    assert answer.code == "ok"
    record = rig.record(task)
    assert answer.task == record
    assert (record.gen, record.lane, record.priority) == (task.gen + 1, lane, priority)
    return record


@pytest.mark.parametrize("run_now", [False, True])
@pytest.mark.parametrize("status", ["pending", "queued"])
def test_a_moved_task_gets_a_new_message(rig: Rig, status: str, run_now: bool) -> None:
    task = rig.in_status(status)
    start = rig.store.events("", 1, 0).cursor
    record = move(rig, task, run_now=run_now)
    assert record.status == Status.PENDING
    assert rig.outbox() == {task.task_id}
    assert [(e.from_, e.to, e.gen, e.lane) for e in rig.all_events(start)] == [(status, "pending", 1, "high")]
    assert rig.claim(task, "w1#1").code == "stale"
    assert rig.claim(record, "w1#1").code == "run"


@pytest.mark.parametrize("status", ["scheduled", "retrying"])
def test_run_now(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    record = move(rig, task, run_now=True, lane=task.lane, priority=task.priority)
    assert (record.status, record.due_at, record.attempt) == (Status.PENDING, 0, task.attempt)
    assert rig.outbox() == {task.task_id}


def test_a_scheduled_task_keeps_its_time(rig: Rig) -> None:
    task = rig.in_status("scheduled")
    record = move(rig, task)
    assert (record.status, record.due_at) == (Status.SCHEDULED, task.due_at)
    assert rig.outbox() == set()


def test_a_retrying_task_keeps_its_time_and_gets_a_message(rig: Rig) -> None:
    task = rig.retrying()
    rig.confirm(task)
    record = move(rig, task)
    assert (record.status, record.due_at) == (Status.RETRYING, task.due_at)
    assert rig.outbox() == {task.task_id}
    assert rig.confirm(record).code == "ok"
    assert rig.outbox() == set()


@pytest.mark.parametrize("status", ["running", "held", "succeeded", "dead", "cancelled"])
def test_what_cannot_be_moved(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    answer = rig.ask(Move(task_id=task.task_id, by="ann", lane="high", priority=10, run_now=True))
    assert (answer.code, answer.task) == ("refused", task)


def test_moving_counts_in_the_new_lane(rig: Rig) -> None:
    task = rig.queued(lane="low", priority=2)
    move(rig, task)
    assert {lane: table for lane, table in rig.store.counts().lanes.items() if table} == {"high": {"pending": 1}}


# ---------------------------------------------------------------------- republish
def republish(rig: Rig, dead: Task, **fields: object) -> Republish:
    fresh = rig.task(**({"parent": dead.task_id, "origin": "republish", "payload": dead.payload} | fields))
    return Republish(task_id=dead.task_id, task=fresh, by="ann@desk")


@pytest.mark.parametrize("triage", ["open", "archived", "ignored"])
def test_a_dead_letter_is_published_again_under_a_new_id(rig: Rig, triage: str) -> None:
    dead = rig.dead()
    rig.confirm(dead)
    if triage != "open":
        rig.ask(SetTriage(task_id=dead.task_id, triage=triage, by="ann"))
    start = rig.store.events("", 1, 0).cursor
    op = republish(rig, dead)
    answer = rig.ask(op)
    assert answer.code == "ok"
    old, new = rig.record(dead), rig.record(op.task)
    assert (old.status, old.triage, old.successor) == (Status.DEAD, "republished", new.task_id)
    assert (new, new.status, new.parent) == (answer.task, Status.PENDING, old.task_id)
    assert rig.outbox() == {new.task_id}
    assert {(e.task_id, e.from_, e.to) for e in rig.all_events(start)} == {
        (old.task_id, "dead", "dead"), (new.task_id, "", "pending"),
    }  # fmt: skip
    counts = rig.store.counts()
    assert (counts.triage, counts.status) == ({"republished": 1}, {"dead": 1, "pending": 1})
    assert counts.shops == {"pdd:s1": {"pending": 1}}


def test_republishing_under_the_id_of_another_task_is_refused(rig: Rig) -> None:
    dead, other = rig.dead(), rig.running(shop_id="s2")
    answer = rig.ask(republish(rig, dead, task_id=other.task_id, shop_id="s1"))
    assert (answer.code, answer.task) == ("refused", dead)
    assert (rig.record(dead), rig.record(other)) == (dead, other)


def test_republishing_again_with_the_same_id_is_ok(rig: Rig) -> None:
    dead = rig.dead()
    op = republish(rig, dead)
    rig.ask(op)
    rig.confirm(rig.record(op.task))
    again = rig.ask(op)
    assert (again.code, again.task) == ("ok", rig.record(op.task))
    assert rig.store.counts().total == 2


def test_republishing_under_a_second_id_is_refused(rig: Rig) -> None:
    dead = rig.dead()
    first = republish(rig, dead)
    rig.ask(first)
    second = rig.ask(republish(rig, dead))
    assert second.code == "refused"
    assert second.task is not None
    assert (second.task.task_id, second.task.successor) == (dead.task_id, first.task.task_id)


@pytest.mark.parametrize("status", ["pending", "running", "succeeded", "cancelled", "held"])
def test_only_the_dead_are_republished(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    answer = rig.ask(republish(rig, task))
    assert (answer.code, answer.task) == ("refused", task)


def test_an_active_twin_refuses_the_republish(rig: Rig) -> None:
    dead = rig.dead(uniq="U")
    twin = rig.create(uniq="U")
    op = republish(rig, dead, uniq="U")
    answer = rig.ask(op)
    assert (answer.code, answer.task) == ("duplicate", twin)
    assert rig.record(dead).triage == "open"
    assert rig.store.get([op.task.task_id]) == [None]
    queued = rig.ask(Republish(task_id=op.task_id, task=op.task, by=op.by, on_duplicate="queue"))
    assert queued.code == "ok"
    assert queued.task is not None
    assert queued.task.marks == ("twin",)


# ------------------------------------------------------------------------- triage
def test_triage(rig: Rig) -> None:
    dead = rig.dead()
    start = rig.store.events("", 1, 0).cursor
    for triage, note in (("archived", "seen"), ("ignored", ""), ("open", "not yet"), ("open", "not yet")):
        answer = rig.ask(SetTriage(task_id=dead.task_id, triage=triage, by="ann", note=note))
        assert answer.code == "ok"
        assert answer.task == rig.record(dead)
    record = rig.record(dead)
    assert (record.status, record.triage, record.triage_note) == (Status.DEAD, "open", "not yet")
    assert [(e.from_, e.to) for e in rig.all_events(start)] == [("dead", "dead")] * 3
    assert rig.store.counts().triage == {"open": 1}


def test_another_note_is_kept_without_another_decision(rig: Rig) -> None:
    dead = rig.dead()
    for note in ("seen", "asked the shop", ""):
        rig.ask(SetTriage(task_id=dead.task_id, triage="archived", by="ann", note=note))
    assert (rig.record(dead).triage, rig.record(dead).triage_note) == ("archived", "asked the shop")


def test_an_archived_letter_is_not_open(rig: Rig) -> None:
    dead = rig.dead()
    assert rig.store.counts().shops == {"pdd:s1": {"dead": 1}}
    rig.ask(SetTriage(task_id=dead.task_id, triage="archived", by="ann"))
    counts = rig.store.counts()
    assert {key: table for key, table in counts.shops.items() if table} == {}
    assert (counts.triage, counts.status) == ({"archived": 1}, {"dead": 1})


@pytest.mark.parametrize("status", ["queued", "held", "succeeded", "cancelled"])
def test_only_the_dead_have_a_triage(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    answer = rig.ask(SetTriage(task_id=task.task_id, triage="archived", by="ann"))
    assert (answer.code, answer.task) == ("refused", task)


def test_a_republished_letter_is_closed(rig: Rig) -> None:
    dead = rig.dead()
    rig.ask(republish(rig, dead))
    assert rig.ask(SetTriage(task_id=dead.task_id, triage="open", by="ann")).code == "refused"


# ------------------------------------------------------------------------ resolve
@pytest.mark.parametrize(("to", "marked"), [("pending", True), ("succeeded", False), ("dead", True)])
def test_a_person_decides_about_a_held_task(rig: Rig, to: str, marked: bool) -> None:
    task = rig.held()
    op = Resolve(task_id=task.task_id, to=to, by="ann", note="looked at the shop")
    answer = rig.ask(op)
    record = rig.record(task)
    assert (answer.code, answer.task) == ("ok", record)
    assert (record.status, record.triage_note) == (to, "looked at the shop")
    assert record.triage == ("open" if to == "dead" else "")
    assert (record.ended_at > 0) == (to != "pending")
    assert (task.task_id in rig.outbox()) == marked
    again = rig.ask(op)
    assert (again.code, again.task) == ("ok", record)
    if to == "pending":
        assert rig.claim(record, "w2#1").code == "run"


@pytest.mark.parametrize("status", ["queued", "running", "succeeded", "dead", "cancelled"])
def test_only_held_tasks_are_resolved(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    answer = rig.ask(Resolve(task_id=task.task_id, to="succeeded", by="ann"))
    assert (answer.code, answer.task) == ("refused", task)


def test_the_other_decision_comes_too_late(rig: Rig) -> None:
    task = rig.held()
    rig.ask(Resolve(task_id=task.task_id, to="succeeded", by="ann"))
    assert rig.ask(Resolve(task_id=task.task_id, to="pending", by="bob")).code == "refused"


@pytest.mark.parametrize("to", ["succeeded", "dead"])
def test_the_end_of_a_held_task_lets_its_twin_go(rig: Rig, to: str) -> None:
    held = rig.held(uniq="U", created_at=rig.store.now_ms() - 1000)
    twin = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate="queue")).task
    assert twin is not None
    assert rig.claim(twin, "w2#1").code == "blocked"
    answer = rig.ask(Resolve(task_id=held.task_id, to=to, by="ann"))
    assert [task.task_id for task in answer.released] == [twin.task_id]


# -------------------------------------------------------------------------- nudge
def nudge(rig: Rig, task: Task, **off: int) -> str:
    fields = {"gen": task.gen, "attempt": task.attempt} | off
    return rig.ask(Nudge(task_id=task.task_id, **fields)).code


@pytest.mark.parametrize("status", ["pending", "queued", "retrying"])
def test_a_nudge_sets_the_mark_again(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    rig.confirm(task)
    task = rig.record(task)
    start = rig.store.events("", 1, 0).cursor
    assert nudge(rig, task) == "ok"
    assert rig.record(task) == task
    assert rig.outbox() == {task.task_id}
    assert rig.all_events(start) == []
    rig.confirm(task)
    assert rig.outbox() == set()


def test_a_due_plan_starts(rig: Rig) -> None:
    task = rig.create(status=Status.SCHEDULED, due_at=rig.store.now_ms() + 200)
    assert nudge(rig, task) == "stale"
    assert rig.store.due(10) == []
    rig.pass_time(0.4)
    assert [found.task_id for found in rig.store.due(10)] == [task.task_id]
    assert nudge(rig, task) == "ok"
    record = rig.record(task)
    assert (record.status, record.due_at, record.gen) == (Status.PENDING, 0, 0)
    assert rig.outbox() == {task.task_id}
    assert rig.store.due(10) == []


def test_a_retry_past_due_goes_straight_to_its_lane(rig: Rig) -> None:
    task = rig.retrying(delay_ms=100)
    rig.confirm(task)
    rig.pass_time(0.4)
    assert nudge(rig, task) == "ok"
    record = rig.record(task)
    assert (record.status, record.due_at, record.attempt) == (Status.PENDING, 0, 1)
    assert rig.claim(record, "w2#1").code == "run"


@pytest.mark.parametrize("off", [{"gen": 1}, {"attempt": 1}])
def test_a_nudge_of_another_state_is_stale(rig: Rig, off: dict[str, int]) -> None:
    task = rig.queued()
    assert nudge(rig, task, **off) == "stale"
    assert rig.outbox() == set()


@pytest.mark.parametrize("status", ["running", "held", "blocked", "succeeded", "cancelled"])
def test_others_have_no_message_to_lose(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    assert nudge(rig, task) == "stale"
    assert rig.ask(Nudge(task_id="nobody", gen=0, attempt=0)).code == "stale"
    assert rig.outbox() == set()


# ------------------------------------------------------------------------ give up
def give_up(rig: Rig, task: Task, **off: int) -> str:
    fields: dict[str, Any] = {"gen": task.gen, "attempt": task.attempt} | off
    op = GiveUp(task_id=task.task_id, error="no message", error_kind="bad_message", fingerprint="0f", **fields)
    return rig.ask(op).code


@pytest.mark.parametrize("status", ["pending", "queued", "blocked", "retrying"])
def test_what_waits_can_be_given_up(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    start = rig.store.events("", 1, 0).cursor
    assert give_up(rig, task) == "ok"
    record = rig.record(task)
    assert (record.status, record.triage, record.attempt, record.attempts) == (
        Status.DEAD,
        "open",
        task.attempt,
        task.attempts,
    )
    assert (record.error, record.error_kind, record.fingerprint) == ("no message", "bad_message", "0f")
    assert task.task_id not in rig.outbox()
    assert rig.store.parked_shops(10) == []
    assert [(event.from_, event.to) for event in rig.all_events(start)] == [(status, "dead")]
    assert give_up(rig, task) == "ok", "asked again"
    assert rig.record(task) == record


def test_a_dead_letter_that_cannot_be_sent_only_loses_its_mark(rig: Rig) -> None:
    task = rig.dead()
    assert rig.outbox() == {task.task_id}
    assert give_up(rig, task) == "ok"
    assert (rig.record(task), rig.outbox()) == (task, set())


@pytest.mark.parametrize("status", ["running", "held", "scheduled", "succeeded", "cancelled"])
def test_what_needs_no_message_is_not_given_up(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    assert give_up(rig, task) == "stale"
    assert rig.record(task) == task


def test_another_state_is_not_given_up(rig: Rig) -> None:
    task = rig.queued()
    assert [give_up(rig, task, gen=1), give_up(rig, task, attempt=1)] == ["stale", "stale"]
    nobody = GiveUp(task_id="nobody", gen=0, attempt=0, error="", error_kind="")
    assert rig.ask(nobody).code == "stale"


def test_what_somebody_unknown_may_have_done_is_held(rig: Rig) -> None:
    task = rig.queued()
    op = GiveUp(task_id=task.task_id, gen=0, attempt=0, error="who?", error_kind="unknown", to="held")
    assert rig.ask(op).code == "ok"
    record = rig.record(task)
    assert (record.status, record.triage, record.error, record.ended_at) == ("held", "", "who?", 0)
    for status in ("pending", "retrying", "dead"):
        other = rig.in_status(status, shop_id=f"s-{status}")
        again = GiveUp(task_id=other.task_id, gen=0, attempt=other.attempt, error="", error_kind="unknown", to="held")
        assert rig.ask(again).code == "stale"
    assert rig.ask(Resolve(task_id=task.task_id, to="pending", by="ann")).code == "ok"


def test_giving_up_lets_the_next_go(rig: Rig) -> None:
    """A released task that cannot be published keeps its reserved slot from nobody."""
    running = rig.running()
    first = rig.blocked(created_at=rig.store.now_ms() - 1000)
    second = rig.blocked()
    (released,) = rig.finish(running).released
    assert released.task_id == first.task_id
    op = GiveUp(task_id=first.task_id, gen=0, attempt=0, error="no message", error_kind="bad_message")
    assert [task.task_id for task in rig.ask(op).released] == [second.task_id]


# ----------------------------------------------------------------------- postpone
def test_a_postponed_message_waits_behind_the_others(rig: Rig) -> None:
    first = rig.create()
    rig.pass_time(0.01)
    second = rig.create()
    rig.pass_time(0.01)
    start = rig.store.events("", 1, 0).cursor
    assert rig.ask(Postpone(task_id=first.task_id)).code == "ok"
    assert [task.task_id for task in rig.store.outbox(0, 10)] == [second.task_id, first.task_id]
    assert (rig.record(first), rig.all_events(start)) == (first, [])


def test_only_what_waits_in_the_outbox_is_postponed(rig: Rig) -> None:
    task = rig.queued()
    assert rig.ask(Postpone(task_id=task.task_id)).code == "stale"
    assert rig.ask(Postpone(task_id="nobody")).code == "stale"
    assert rig.outbox() == set()


def test_of_two_who_republish_the_same_letters_at_once_one_wins_and_the_other_is_told(
    rig: Rig, second_store: Store
) -> None:
    """FAULTS 8.30."""
    letters = [rig.dead(shop_id=f"s{number}") for number in range(30)]
    stores, asked = (rig.store, second_store), threading.Barrier(2)
    fresh = [[rig.task(shop_id=one.shop_id, parent=one.task_id) for one in letters] for _ in stores]

    def go(who: int) -> list[str]:
        asked.wait(30)
        answers = []
        for old, new in zip(letters, fresh[who], strict=True):
            answers += stores[who].apply([Republish(task_id=old.task_id, task=new, by=f"p{who}")])
        return [answer.code for answer in answers]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(go, range(2))
    for place, old in enumerate(letters):
        assert sorted((first[place], second[place])) == ["ok", "refused"]
        winner = fresh[0 if first[place] == "ok" else 1][place]
        assert rig.record(old).successor == winner.task_id
    assert rig.store.counts().triage == {"republished": 30}
    assert rig.store.counts().status.get("pending") == 30
