"""Tasks that wait for other tasks: who waits, who is told, and what becomes of those whose dependency failed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import redis

from services.domain.change import Cancel, Claim, Create, Move, Nudge, Republish, Resolve, TellDependants
from services.domain.fleet.shop import Pause
from services.domain.gates import dependency
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig, shown, told


def after(rig: Rig, *others: Task, cancel: bool = False, **fields: Any) -> Task:
    """A new task that waits for these."""
    policy = dependency.CANCEL if cancel else dependency.HOLD
    names = tuple(task.task_id for task in others)
    return rig.create(**({"depends_on": names, "on_dependency_failure": policy} | fields))


def waits(rig: Rig, task: Task) -> bool:
    record = rig.record(task)
    return (record.status, record.gate) == (Status.BLOCKED, dependency.GATE)


def ids(tasks: tuple[Task, ...]) -> set[str]:
    return {task.task_id for task in tasks}


# ------------------------------------------------------------------------- creation
def test_a_task_waits_for_one_that_has_not_succeeded(rig: Rig) -> None:
    first = rig.create()
    start = rig.store.events("", 1, 0).cursor
    second = after(rig, first)
    assert (second.status, second.gate, second.depends_on) == (Status.BLOCKED, "dependency", (first.task_id,))
    assert rig.record(second) == second
    assert rig.outbox() == {first.task_id}
    assert [(event.from_, event.to) for event in rig.all_events(start)] == [("", "blocked")]
    assert rig.store.needs([second.task_id])[0] == [first.task_id]
    assert rig.store.counts().shops["pdd:s1"] == {"pending": 1, "blocked": 1}


@pytest.mark.parametrize("status", ["pending", "queued", "running", "retrying", "scheduled", "held", "blocked"])
def test_every_active_task_can_be_waited_for(rig: Rig, status: str) -> None:
    first = rig.in_status(status, shop_id="other")
    assert waits(rig, after(rig, first))


def test_what_has_succeeded_counts_as_met(rig: Rig) -> None:
    first, second = rig.in_status("succeeded"), rig.queued()
    free = after(rig, first)
    assert (free.status, free.depends_on) == (Status.PENDING, (first.task_id,))
    assert free.task_id in rig.outbox()
    half = after(rig, first, second)
    assert rig.store.needs([half.task_id])[0] == [second.task_id]


def test_an_unknown_task_cannot_be_waited_for(rig: Rig) -> None:
    known = rig.create()
    task = rig.task(depends_on=(known.task_id, "nobody"))
    answer = rig.ask(Create(task=task))
    assert (answer.code, answer.task) == ("unknown", None)
    assert rig.store.get([task.task_id]) == [None]
    own = rig.task(task_id="own", depends_on=("own",))
    assert rig.ask(Create(task=own)).code == "unknown"
    assert rig.store.counts().total == 1


@pytest.mark.parametrize("way", ["queue", "force"])
def test_of_a_twin_that_names_an_unknown_task_nothing_stays(rig: Rig, way: str) -> None:
    rig.create(uniq="U")
    task = rig.task(uniq="U", depends_on=("nobody",))
    assert rig.ask(Create(task=task, on_duplicate=way)).code == "unknown"
    assert rig.store.get([task.task_id]) == [None]


def test_a_task_named_twice_is_waited_for_once(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, first, shop_id="s2")
    assert rig.store.needs([second.task_id])[0] == [first.task_id]
    assert ids(rig.finish(first).released) == {second.task_id}


def test_the_same_creation_again_is_created(rig: Rig) -> None:
    first = rig.running()
    task = rig.task(depends_on=(first.task_id,))
    made = rig.ask(Create(task=task))
    assert rig.ask(Create(task=task)) == made
    rig.finish(first)
    assert rig.ask(Create(task=task)).code == "created"
    assert rig.record(task).status == Status.PENDING


def test_a_chain_is_created_in_one_batch(rig: Rig) -> None:
    one = rig.task()
    two = rig.task(depends_on=(one.task_id,))
    three = rig.task(depends_on=(two.task_id, one.task_id))
    assert [answer.code for answer in rig.store.apply([Create(task=task) for task in (one, two, three)])] == [
        "created"
    ] * 3
    assert not waits(rig, one)
    assert waits(rig, two)
    assert waits(rig, three)


def test_it_counts_as_active_for_uniqueness(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, uniq="U")
    answer = rig.ask(Create(task=rig.task(uniq="U")))
    assert (answer.code, answer.task) == ("duplicate", second)


# -------------------------------------------------------------------------- success
def test_success_releases_it_in_the_same_step(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, shop_id="s2")
    start = rig.store.events("", 1, 0).cursor
    answer = rig.finish(first)
    assert ids(answer.released) == {second.task_id}
    (released,) = answer.released
    assert (released.status, released.gate) == (Status.PENDING, "")
    assert rig.record(second) == released
    assert second.task_id in rig.outbox()
    assert rig.store.needs([second.task_id])[0] == []
    assert told(rig.all_events(start), second) == shown(released)[-1:]
    rig.confirm(released)
    assert rig.claim(rig.record(second), "w2#1").code == "run"


def test_it_goes_when_the_last_of_five_has_succeeded(rig: Rig) -> None:
    rig.shop("s1", concurrency=10)
    five = [rig.running(f"w#{number}") for number in range(5)]
    last = after(rig, *five, shop_id="s2")
    for task in five[:4]:
        assert rig.finish(task).released == ()
        assert waits(rig, last)
    assert rig.store.needs([last.task_id])[0] == [five[4].task_id]
    assert ids(rig.finish(five[4]).released) == {last.task_id}


def test_a_chain_goes_one_after_the_other(rig: Rig) -> None:
    one = rig.running()
    two = after(rig, one)
    three = after(rig, two)
    assert ids(rig.finish(one).released) == {two.task_id}
    claimed = rig.claim(rig.record(two), "w2#1").task
    assert claimed is not None
    assert waits(rig, three)
    assert ids(rig.finish(claimed).released) == {three.task_id}


def test_said_again_it_releases_nobody_again(rig: Rig) -> None:
    first = rig.running()
    after(rig, first)
    assert len(rig.finish(first).released) == 1
    assert rig.finish(first).released == ()


def test_a_person_who_says_it_succeeded_releases_it(rig: Rig) -> None:
    first = rig.held()
    second = after(rig, first)
    answer = rig.ask(Resolve(task_id=first.task_id, to="succeeded", by="ann"))
    assert ids(answer.released) == {second.task_id}


def test_success_at_somebody_else_releases_it(rig: Rig) -> None:
    first = rig.queued()
    second = after(rig, first)
    answer = rig.claim(first, foreign_done=True)
    assert (answer.code, ids(answer.released)) == ("ended", {second.task_id})


@pytest.mark.parametrize("to", ["retrying", "held", "pending"])
def test_an_attempt_that_is_not_the_end_tells_nobody(rig: Rig, to: str) -> None:
    first = rig.running()
    tasks = [after(rig, first), after(rig, first, cancel=True)]
    rig.finish(first, to, delay_ms=1000)
    assert all(waits(rig, task) for task in tasks)


def test_the_shop_goes_on_too(rig: Rig) -> None:
    first = rig.running()
    parked = rig.blocked()
    second = after(rig, first, shop_id="s2")
    assert ids(rig.finish(first).released) == {parked.task_id, second.task_id}


# -------------------------------------------------------------------------- failure
@pytest.mark.parametrize("end", ["dead", "cancelled"])
def test_held_by_default_when_it_fails(rig: Rig, end: str) -> None:
    first = rig.running()
    second = after(rig, first)
    before = rig.record(second)
    assert rig.finish(first, end).released == ()
    assert rig.record(second) == before
    assert rig.store.needs([second.task_id])[0] == [first.task_id]


@pytest.mark.parametrize("end", ["dead", "cancelled"])
def test_cancelled_with_it_if_that_was_asked_for(rig: Rig, end: str) -> None:
    first = rig.running()
    second = after(rig, first, cancel=True, shop_id="s2")
    kept = after(rig, first, shop_id="s3")
    start = rig.store.events("", 1, 0).cursor
    assert rig.finish(first, end).released == ()
    record = rig.record(second)
    assert (record.status, record.gate) == (Status.CANCELLED, "")
    assert record.reason == f"dependency {first.task_id} is {end}"
    assert (record.steps[-1].note, record.ended_at) == ("dependency", record.updated_at)
    assert told(rig.all_events(start), record) == shown(record)[-1:]
    assert rig.store.needs([second.task_id])[0] == []
    assert waits(rig, kept)


def test_cancelling_goes_on_through_all_that_follow(rig: Rig) -> None:
    one = rig.queued()
    two = after(rig, one, cancel=True)
    three = after(rig, two, cancel=True)
    four = after(rig, three, cancel=True)
    held = after(rig, three)
    answer = rig.ask(Cancel(task_id=one.task_id, by="ann"))
    assert (answer.code, answer.released) == ("ok", ())
    assert list(answer.ended) == [rig.record(task) for task in (two, three, four)], "who asked must tell of them too"
    assert [rig.record(task).status for task in (two, three, four)] == [Status.CANCELLED] * 3
    assert rig.record(four).reason == f"dependency {three.task_id} is cancelled"
    assert waits(rig, held)


def test_a_decision_that_it_is_dead_cancels(rig: Rig) -> None:
    first = rig.held()
    second = after(rig, first, cancel=True)
    rig.ask(Resolve(task_id=first.task_id, to="dead", by="ann"))
    assert rig.record(second).status == Status.CANCELLED


def test_one_failure_of_several_is_enough(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    good, bad = rig.running("w#1"), rig.running("w#2")
    second = after(rig, good, bad, cancel=True)
    rig.finish(bad, "dead")
    assert rig.record(second).status == Status.CANCELLED
    assert rig.finish(good).released == ()


def test_created_after_the_failure(rig: Rig) -> None:
    first = rig.dead()
    assert waits(rig, after(rig, first))
    asked = rig.task(depends_on=(first.task_id,), on_dependency_failure="cancel")
    answers = rig.store.apply([Create(task=asked), Create(task=rig.task(shop_id="s9"))])
    gone = rig.record(asked)
    assert [answer.ended for answer in answers] == [(gone,), ()]
    assert (gone.status, gone.reason) == (Status.CANCELLED, f"dependency {first.task_id} is dead")
    assert rig.store.needs([gone.task_id])[0] == []


def test_of_several_failures_the_first_that_is_named_is_told(rig: Rig) -> None:
    first, second = rig.dead(), rig.in_status("cancelled")
    gone = after(rig, first, second, cancel=True)
    assert rig.record(gone).reason == f"dependency {first.task_id} is dead"


def test_what_another_program_has_done_waits_for_nothing_more(rig: Rig) -> None:
    first = rig.queued()
    second = after(rig, first)
    assert rig.claim(second, foreign_done=True).code == "ended"
    assert rig.store.needs([second.task_id])[0] == []


def test_cancelling_who_waits_frees_its_place(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first)
    assert rig.ask(Cancel(task_id=second.task_id, by="ann")).code == "ok"
    assert rig.store.needs([second.task_id])[0] == []
    assert rig.finish(first).released == ()
    assert rig.record(second).status == Status.CANCELLED


def test_a_cancelled_twin_lets_the_next_go(rig: Rig) -> None:
    rig.shop("s1", concurrency=5)
    first = rig.running()
    twin = rig.running("w2#1", uniq="U")
    second = rig.ask(Create(task=rig.task(uniq="U"), on_duplicate="queue")).task
    assert second is not None
    assert rig.claim(second, "w3#1").code == "blocked"
    third = rig.task(uniq="U", depends_on=(first.task_id,), on_dependency_failure="cancel")
    assert rig.ask(Create(task=third, on_duplicate="queue")).code == "created"
    rig.finish(first, "dead")
    assert rig.record(third).status == Status.CANCELLED
    assert ids(rig.finish(twin).released) == {second.task_id}


# ---------------------------------------------------------------------- republishing
def republish(rig: Rig, dead: Task) -> Task:
    fresh = rig.task(shop_id=dead.shop_id, parent=dead.task_id)
    answer = rig.ask(Republish(task_id=dead.task_id, task=fresh, by="ann"))
    assert answer.code == "ok"
    assert answer.task is not None
    return answer.task


def run(rig: Rig, task: Task, to: str = "succeeded") -> set[str]:
    claimed = rig.claim(rig.record(task), f"w#{task.task_id}").task
    assert claimed is not None
    return ids(rig.finish(claimed, to).released)


def test_it_follows_a_republished_task(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, shop_id="s2")
    rig.finish(first, "dead")
    again = republish(rig, first)
    assert waits(rig, second)
    assert run(rig, again) == {second.task_id}
    assert rig.record(second).depends_on == (first.task_id,)


def test_it_follows_one_that_was_republished_twice(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, shop_id="s2")
    rig.finish(first, "dead")
    again = republish(rig, first)
    run(rig, again, "dead")
    third = republish(rig, again)
    late = after(rig, first, again, third, shop_id="s3")
    assert run(rig, third) == {second.task_id, late.task_id}
    met = after(rig, first, shop_id="s4")
    assert met.status == Status.PENDING


def test_the_failure_of_the_new_one_counts_too(rig: Rig) -> None:
    first = rig.dead()
    again = republish(rig, first)
    second = after(rig, first, cancel=True)
    assert waits(rig, second)
    run(rig, again, "dead")
    assert rig.record(second).status == Status.CANCELLED


def test_another_task_with_this_parent_is_not_its_successor(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, shop_id="s2")
    rig.finish(first, "dead")
    copy = rig.queued(parent=first.task_id)
    assert run(rig, copy) == set()
    assert waits(rig, second)


# ------------------------------------------------------------------------ other gates
def test_a_message_does_not_open_the_gate(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, shop_id="s2")
    start = rig.store.events("", 1, 0).cursor
    answer = rig.claim(second, "w2#1")
    assert (answer.code, answer.task) == ("blocked", second)
    assert rig.all_events(start) == []
    assert rig.ask(Nudge(task_id=second.task_id, gen=0, attempt=0)).code == "stale"


def test_it_is_in_no_lot(rig: Rig) -> None:
    first = rig.create(shop_id="s2")
    second = after(rig, first)
    assert rig.store.parked_shops(10) == []
    assert rig.open() == []
    running = rig.running()
    parked = rig.blocked()
    assert rig.store.parked_shops(10) == ["pdd:s1"]
    assert ids(rig.finish(running).released) == {parked.task_id}
    assert waits(rig, second)


def test_run_now_does_not_open_the_gate(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first)
    answer = rig.ask(Move(task_id=second.task_id, by="ann", lane="high", priority=10, run_now=True))
    assert (answer.code, answer.released) == ("ok", ())
    record = rig.record(second)
    assert (record.status, record.gate, record.gen, record.priority) == (Status.BLOCKED, "dependency", 1, 10)
    assert rig.store.parked_shops(10) == []
    assert ids(rig.finish(first).released) == {second.task_id}


def test_a_released_task_meets_the_next_gate(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first)
    rig.store.set_pause(Pause(scope="all", by="ann"))
    rig.finish(first)
    assert rig.claim(rig.record(second), "w2#1").code == "blocked"
    assert rig.record(second).gate == "paused"
    rig.store.clear_pause("all")
    assert rig.open() == [second.task_id]


def test_a_plan_that_falls_due_waits_for_the_others(rig: Rig) -> None:
    first = rig.running()
    due = rig.store.now_ms() + 1000
    second = after(rig, first, status=Status.SCHEDULED, due_at=due)
    assert second.status == Status.SCHEDULED
    rig.pass_time(1.1)
    answer = rig.ask(Nudge(task_id=second.task_id, gen=0, attempt=0))
    assert answer.code == "ok"
    record = rig.record(second)
    assert (record.status, record.gate, record.due_at, record.steps[-1].note) == (
        Status.BLOCKED, "dependency", 0, "dependency",
    )  # fmt: skip
    assert second.task_id not in rig.outbox()
    assert ids(rig.finish(first).released) == {second.task_id}


def test_a_plan_is_not_started_before_its_time(rig: Rig) -> None:
    first = rig.running()
    plan = after(rig, first, status=Status.SCHEDULED, due_at=rig.store.now_ms() + 3_600_000)
    assert rig.finish(first).released == ()
    assert rig.record(plan).status == Status.SCHEDULED
    moved = rig.ask(Move(task_id=plan.task_id, by="ann", lane="high", priority=10, run_now=True)).task
    assert moved is not None
    assert moved.status == Status.PENDING


def test_a_plan_run_now_waits_for_the_others(rig: Rig) -> None:
    first = rig.running()
    plan = after(rig, first, status=Status.SCHEDULED, due_at=rig.store.now_ms() + 3_600_000)
    moved = rig.ask(Move(task_id=plan.task_id, by="ann", lane="high", priority=10, run_now=True)).task
    assert moved is not None
    assert (moved.status, moved.gate, moved.due_at) == (Status.BLOCKED, "dependency", 0)
    assert plan.task_id not in rig.outbox()
    assert ids(rig.finish(first).released) == {plan.task_id}


def test_a_plan_is_cancelled_with_its_dependency(rig: Rig) -> None:
    first = rig.running()
    plan = after(rig, first, cancel=True, status=Status.SCHEDULED, due_at=rig.store.now_ms() + 3_600_000)
    rig.finish(first, "dead")
    assert rig.record(plan).status == Status.CANCELLED


def test_who_waits_for_others_is_no_twin_that_goes_first(rig: Rig) -> None:
    rig.shop("s1", concurrency=5)
    now = rig.store.now_ms()
    first = rig.running(uniq="U", created_at=now - 9000)
    second = rig.task(uniq="U", depends_on=(first.task_id,), created_at=now - 5000)
    assert rig.ask(Create(task=second, on_duplicate="queue")).code == "created"
    rig.finish(first, "dead")
    fresh = rig.task(uniq="U", parent=first.task_id)
    again = rig.ask(Republish(task_id=first.task_id, task=fresh, by="ann", on_duplicate="queue")).task
    assert again is not None
    assert rig.store.holders(["U"]) == [again]
    assert run(rig, again) == {second.task_id}
    assert rig.claim(rig.record(second), "w9#1").code == "run"


def test_released_it_takes_its_place_among_the_twins(rig: Rig) -> None:
    rig.shop("s1", concurrency=5)
    first = rig.running()
    now = rig.store.now_ms()
    old = rig.task(uniq="U", depends_on=(first.task_id,), created_at=now - 5000)
    rig.ask(Create(task=old, on_duplicate="queue"))
    young = rig.ask(Create(task=rig.task(uniq="U", created_at=now), on_duplicate="queue")).task
    assert young is not None
    running = rig.claim(young, "w2#1").task
    assert running is not None
    assert ids(rig.finish(first).released) == {old.task_id}
    assert rig.claim(rig.record(old), "w3#1").code == "blocked"
    assert rig.record(old).gate == "twin"
    assert ids(rig.finish(running).released) == {old.task_id}


# --------------------------------------------------------------------- many dependants
MANY = dependency.AT_ONCE + 60


@pytest.mark.parametrize("cancel", [False, True])
def test_too_many_for_one_step_are_told_in_the_next(rig: Rig, cancel: bool) -> None:
    first = rig.running()
    tasks = [
        rig.task(depends_on=(first.task_id,), on_dependency_failure="cancel" if cancel else "hold") for _ in range(MANY)
    ]
    rig.store.apply([Create(task=task) for task in tasks])
    done = ids(rig.finish(first, "dead" if cancel else "succeeded").released)
    assert len(done) == (0 if cancel else dependency.AT_ONCE)
    assert rig.store.untold(10) == [first.task_id]
    done |= ids(rig.ask(TellDependants(task_id=first.task_id)).released)
    assert rig.store.untold(10) == []
    wanted = Status.CANCELLED if cancel else Status.PENDING
    records = rig.store.get([task.task_id for task in tasks])
    assert {task.status for task in records if task is not None} == {wanted}
    assert done == (set() if cancel else {task.task_id for task in tasks})
    assert rig.outbox() >= done


def test_who_was_not_told_of_a_failure_yet_waits_for_the_task_that_it_was_republished_as(rig: Rig) -> None:
    first = rig.running()
    tasks = [rig.task(depends_on=(first.task_id,), on_dependency_failure="cancel") for _ in range(MANY)]
    rig.store.apply([Create(task=task) for task in tasks])
    rig.finish(first, "dead")
    again = republish(rig, first)
    rig.ask(TellDependants(task_id=first.task_id))
    assert rig.store.untold(10) == []
    left = [task for task in tasks if rig.record(task).status == Status.BLOCKED]
    assert len(left) == MANY - dependency.AT_ONCE
    assert run(rig, again) == {task.task_id for task in left}


def test_who_has_more_dependants_and_no_record_any_more_is_asked_for_once(
    rig: Rig, store_kind: str, store_place: Any
) -> None:
    first = rig.running()
    rig.store.apply([Create(task=rig.task(depends_on=(first.task_id,))) for _ in range(MANY)])
    rig.finish(first)
    assert rig.store.untold(10) == [first.task_id]
    if store_kind == "redis":
        with redis.Redis.from_url(store_place) as client:
            client.delete(f"{{rpa}}:t:{first.task_id}")
    else:
        with closing(sqlite3.connect(store_place, timeout=30)) as db, db:
            db.execute("DELETE FROM tasks WHERE task_id = ?", (first.task_id,))
    assert rig.ask(TellDependants(task_id=first.task_id)).code == "missing"
    assert rig.store.untold(10) == []


def test_a_long_chain_of_cancelling_is_carried_on(rig: Rig) -> None:
    first = rig.running()
    chain = [first]
    for _ in range(MANY):
        chain.append(rig.task(depends_on=(chain[-1].task_id,), on_dependency_failure="cancel"))
    rig.store.apply([Create(task=task) for task in chain[1:]])
    rig.finish(first, "dead")
    for _ in range(3):
        for one in rig.store.untold(10):
            assert rig.ask(TellDependants(task_id=one)).code == "ok"
    assert rig.store.untold(10) == []
    records = rig.store.get([task.task_id for task in chain[1:]])
    assert {task.status for task in records if task is not None} == {Status.CANCELLED}


def test_telling_again_is_harmless(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first)
    assert rig.ask(TellDependants(task_id=first.task_id)).code == "stale"
    assert rig.ask(TellDependants(task_id="nobody")).code == "missing"
    rig.finish(first)
    answer = rig.ask(TellDependants(task_id=first.task_id))
    assert (answer.code, answer.released) == ("ok", ())
    assert rig.record(second).status == Status.PENDING


def test_claims_and_ends_in_one_batch(rig: Rig) -> None:
    first = rig.running()
    second = after(rig, first, shop_id="s2")
    claim = Claim(task_id=second.task_id, gen=0, attempt=0, owner="w#2", worker="w", lease_ms=60_000)
    assert rig.ask(claim).code == "blocked"
    rig.finish(first)
    assert rig.ask(claim).code == "run"


def test_who_waits_for_a_task_is_told(rig: Rig) -> None:
    first = rig.running(shop_id="other")
    waiting = sorted(after(rig, first).task_id for _ in range(3))
    assert rig.store.dependants(first.task_id, 10) == waiting
    assert rig.store.dependants(first.task_id, 2) == waiting[:2]
    rig.finish(first)
    assert rig.store.dependants(first.task_id, 10) == []
    assert rig.store.dependants("nobody", 10) == []
