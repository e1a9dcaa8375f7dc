"""Tasks that the worker with their message cannot run: parked by lane and type, and fetched by one that can."""

from __future__ import annotations

import pytest

from services.domain.change import Cancel, Create, Finish, Move, OpenLimit
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates.limit import Limit
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig, attempt_of

KIND = ("normal", "sync_order")


def unserved(rig: Rig, **fields: object) -> Task:
    """A task whose message came to a worker that cannot run it."""
    answer = rig.claim(rig.queued(**fields), "poor#1", able=False)
    assert answer.code == "blocked"
    assert answer.task is not None
    return answer.task


def waiting(rig: Rig, *kinds: tuple[str, str], limit: int = 100) -> list[str]:
    return [task.task_id for task in rig.store.unserved_tasks(kinds or (KIND,), limit)]


def test_who_cannot_run_it_does_not_start_it(rig: Rig) -> None:
    task = rig.queued()
    start = rig.store.events("", 1, 0).cursor
    answer = rig.claim(task, "poor#1", able=False)
    assert answer.code == "blocked"
    record = rig.record(task)
    assert answer.task == record
    assert (record.status, record.gate, record.attempt, record.owner) == (Status.BLOCKED, "no_worker", 0, "")
    assert [(e.from_, e.to) for e in rig.all_events(start)] == [("queued", "blocked")]
    assert record.steps[-1].note == "no_worker"
    assert rig.outbox() == set()


def test_it_stands_in_no_lot_and_nobody_releases_it(rig: Rig) -> None:
    task = unserved(rig)
    assert rig.store.parked_shops(10) == []
    assert rig.open() == []
    other = rig.running(owner="w2#1")
    assert rig.finish(other).released == ()
    assert rig.record(task) == task


def test_what_nobody_serves_is_told_by_lane_and_type(rig: Rig) -> None:
    me = WorkerInfo(worker="w1", host="h", pid=1)
    assert rig.store.heartbeat(me).unserved == frozenset()
    assert rig.store.unserved() == {}
    unserved(rig, shop_id="s1")
    unserved(rig, shop_id="s2")
    unserved(rig, shop_id="s3", task_type="mail", lane="high", priority=9)
    assert rig.store.unserved() == {KIND: 2, ("high", "mail"): 1}
    assert rig.store.heartbeat(me).unserved == {KIND, ("high", "mail")}


def test_a_capable_worker_fetches_and_claims_it_without_a_message(rig: Rig) -> None:
    task = unserved(rig)
    (found,) = rig.store.unserved_tasks([KIND], 5)
    assert found == task
    answer = rig.claim(found, "rich#1")
    assert answer.code == "run"
    assert answer.task is not None
    assert (answer.task.attempt, answer.task.worker, answer.task.gate) == (1, "rich", "")
    assert waiting(rig) == []
    assert rig.store.unserved() == {}
    assert rig.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1)).unserved == frozenset()
    assert rig.finish(answer.task).code == "ok"


def test_only_one_of_two_fetchers_gets_it(rig: Rig) -> None:
    task = unserved(rig)
    assert rig.claim(task, "rich#1").code == "run"
    assert rig.claim(task, "other#1").code == "duplicate"
    assert rig.claim(task, "rich#1").code == "run"


def test_the_best_come_first(rig: Rig) -> None:
    now = rig.store.now_ms()
    young = unserved(rig, shop_id="s1", created_at=now - 100)
    old = unserved(rig, shop_id="s2", created_at=now - 5_000)
    urgent = unserved(rig, shop_id="s3", priority=9, lane="high", task_type="mail")
    low = unserved(rig, shop_id="s4", priority=2, lane="low")
    equal = sorted(unserved(rig, task_id=f"t_{letter}", shop_id=letter, created_at=now).task_id for letter in "cab")
    kinds = (KIND, ("high", "mail"), ("low", "sync_order"))
    order = [urgent.task_id, old.task_id, young.task_id, *equal, low.task_id]
    assert waiting(rig, *kinds) == order
    assert waiting(rig, *kinds, limit=2) == order[:2]
    assert waiting(rig, ("low", "sync_order"), ("low", "nothing")) == [low.task_id]
    assert rig.store.unserved_tasks((), 5) == []


@pytest.mark.parametrize("able", [True, False])
def test_the_gates_before_it_are_named_first(rig: Rig, able: bool) -> None:
    rig.store.set_pause(Pause(scope="type:mail", by="ann"))
    paused = rig.claim(rig.queued(shop_id="s1", task_type="mail"), able=able).task
    rig.running(shop_id="s2", owner="x#1")
    busy = rig.claim(rig.queued(shop_id="s2"), able=able).task
    rig.queued(shop_id="s3", uniq="U", created_at=rig.store.now_ms() - 1_000)
    second = rig.ask(Create(task=rig.task(shop_id="s3", uniq="U"), on_duplicate="queue")).task
    assert second is not None
    twin = rig.claim(second, able=able).task
    assert [task.gate for task in (paused, busy, twin) if task] == ["paused", "shop_busy", "twin"]
    assert rig.store.unserved() == {}


def test_fetched_at_a_closed_gate_it_waits_in_the_lot_like_any_other(rig: Rig) -> None:
    task = unserved(rig)
    first = rig.running(owner="w2#1")
    start = rig.store.events("", 1, 0).cursor
    answer = rig.claim(task, "rich#1")
    assert answer.code == "blocked"
    assert rig.record(task).gate == "shop_busy"
    assert rig.all_events(start) == []
    assert rig.store.unserved() == {}
    assert rig.store.parked_shops(5) == ["pdd:s1"]
    assert [one.task_id for one in rig.finish(first).released] == [task.task_id]


def test_a_twin_of_its_message_brings_it_from_the_lot_to_where_it_is_fetched(rig: Rig) -> None:
    rig.store.set_pause(Pause(scope="all", by="ann"))
    task = rig.claim(rig.queued()).task
    assert task is not None
    rig.store.clear_pause("all")
    assert rig.claim(task, "poor#1", able=False).code == "blocked"
    assert rig.record(task).gate == "no_worker"
    assert rig.store.parked_shops(5) == []
    assert waiting(rig) == [task.task_id]


def test_the_slot_promised_to_it_stays_its_own_while_it_is_handed_over(rig: Rig) -> None:
    first = rig.running()
    parked = rig.blocked()
    (released,) = rig.finish(first).released
    rig.confirm(released)
    assert rig.claim(rig.record(parked), "poor#1", able=False).code == "blocked"
    late = rig.queued(priority=10, lane="high")
    assert rig.claim(late, "w2#1").code == "blocked"
    assert rig.open() == []
    assert rig.claim(rig.record(parked), "rich#1").code == "run"


def test_a_slot_that_nobody_fetches_it_for_is_given_to_the_next(rig: Rig) -> None:
    first = rig.running()
    parked = rig.blocked()
    (released,) = rig.finish(first).released
    assert rig.claim(released, "poor#1", able=False).code == "blocked"
    late = rig.blocked()
    if rig.clock is None:
        rig.pass_time(2)
        rig.pass_time(1.2)
    else:
        rig.pass_time(3.1)
    assert rig.open() == [late.task_id]
    assert rig.record(parked).gate == "no_worker"


def test_a_place_at_a_limit_that_nobody_fetches_it_for_is_given_to_the_next(rig: Rig) -> None:
    rig.store.put_limit(Limit(scope="type:sync_order", concurrency=1))
    first = rig.running(shop_id="s0")
    parked = rig.blocked(shop_id="s1")
    (released,) = rig.finish(first).released
    assert rig.claim(released, "poor#1", able=False).code == "blocked"
    late = rig.blocked(shop_id="s2")
    room = OpenLimit(scope="type:sync_order", most=5)
    assert rig.ask(room).released == ()
    rig.pass_time(1.6)
    rig.pass_time(1.6)
    assert [task.task_id for task in rig.ask(room).released] == [late.task_id]
    assert rig.record(parked).gate == "no_worker"


def test_without_a_promise_it_holds_no_slot(rig: Rig) -> None:
    unserved(rig)
    rig.running(owner="w2#1")


def test_cancelled_it_is_gone_and_its_slot_is_free(rig: Rig) -> None:
    first = rig.running()
    parked = rig.blocked()
    (released,) = rig.finish(first).released
    rig.claim(released, "poor#1", able=False)
    next_ = rig.blocked()
    answer = rig.ask(Cancel(task_id=parked.task_id, by="ann"))
    assert (answer.code, [task.task_id for task in answer.released]) == ("ok", [next_.task_id])
    assert rig.store.unserved() == {}
    assert rig.claim(parked, "rich#1").code == "ended"


@pytest.mark.parametrize("run_now", [True, False])
def test_with_another_priority_it_waits_at_its_new_place(rig: Rig, run_now: bool) -> None:
    first, second = unserved(rig, shop_id="s1"), unserved(rig, shop_id="s2")
    answer = rig.ask(Move(task_id=second.task_id, by="ann", lane="high", priority=9, run_now=run_now))
    assert (answer.code, answer.released) == ("ok", ())
    moved = rig.record(second)
    assert (moved.status, moved.gate, moved.gen, moved.lane) == (Status.BLOCKED, "no_worker", 1, "high")
    assert rig.store.unserved() == {KIND: 1, ("high", "sync_order"): 1}
    assert waiting(rig, KIND, ("high", "sync_order")) == [second.task_id, first.task_id]
    assert rig.claim(second, "rich#1").code == "stale"
    assert rig.claim(moved, "rich#1").code == "run"
    same_lane = rig.ask(Move(task_id=first.task_id, by="ann", lane="normal", priority=4, run_now=run_now))
    assert same_lane.code == "ok"
    third = unserved(rig, shop_id="s3", priority=5)
    assert waiting(rig) == [third.task_id, first.task_id]


def test_a_lost_fetcher_is_seen_by_its_lease(rig: Rig) -> None:
    task = unserved(rig)
    run = rig.claim(task, "rich#1", lease_ms=1).task
    assert run is not None
    rig.pass_time(0.05)
    assert [one.task_id for one in rig.store.expired(5)] == [task.task_id]
    op = Finish(
        task_id=run.task_id, owner=run.owner, to="pending", attempt=attempt_of(run, "pending"), lost=True,
        if_expired=True,
    )  # fmt: skip
    assert rig.ask(op).code == "ok"
    assert rig.record(task).status == Status.PENDING
    assert rig.outbox() == {task.task_id}


def test_a_message_without_a_record_is_kept_too(rig: Rig) -> None:
    task = rig.task()
    answer = rig.claim(task, "poor#1", adopt=task, able=False)
    assert answer.code == "blocked"
    assert waiting(rig) == [task.task_id]
    assert rig.claim(task, "poor#1", adopt=task, able=False).code == "blocked"
    assert rig.claim(rig.record(task), "rich#1").code == "run"


def test_it_counts_for_uniqueness(rig: Rig) -> None:
    task = unserved(rig, uniq="U")
    answer = rig.ask(Create(task=rig.task(uniq="U")))
    assert (answer.code, answer.task) == ("duplicate", task)
