"""What the reconciler decides, with time turned by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from services.domain.change import Claim, Renew
from services.domain.errors import StoreUnavailable
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import dependency
from services.domain.task.order import QueueDepth
from services.domain.task.record import Task
from services.engine.lead.reconcile import (
    LATE_GRACES,
    LOOK_S,
    LOST_AGE_MS,
    MISSING_AFTER_MS,
    OUTBOX_AGE_MS,
    RENEWAL_S,
    RETRY_GRACE_MS,
    SLEPT_MS,
    Reconciler,
)
from services.engine.lead.shop_queues import ShopQueues
from services.engine.repair import Repair
from tests.unit.services.engine.room import POLICY, Room


@pytest.fixture
def reconciler(room: Room) -> Reconciler:
    """With the ages that a fleet has."""
    return Reconciler(room.store, room.broker, room.steps, room.registry, room.clock, POLICY)


def depth(ready: int = 0, unacked: int | None = 0, lane: str = "normal") -> list[QueueDepth]:
    return [QueueDepth(name=f"rpa_tasks_{lane}", ready=ready, unacked=unacked, consumers=1)]


def after(room: Room, milliseconds: int) -> None:
    """One millisecond more than that."""
    room.clock.advance((milliseconds + 1) / 1000)


# ------------------------------------------------------------------------------------------------------------- outbox
def test_a_mark_is_left_to_its_submitter_for_half_a_minute(room: Room, reconciler: Reconciler) -> None:
    task = room.recorded()
    room.clock.advance((OUTBOX_AGE_MS - 1) / 1000)
    assert reconciler.republish_outbox() == 0
    room.clock.advance(0.002)
    assert reconciler.republish_outbox() == 1
    assert (room.task(task.task_id).status, room.ready()) == ("queued", 1)


@pytest.mark.parametrize(("state", "released"), [("running", 1), ("stopped", 0)])
def test_what_a_killed_worker_released_waits_for_a_few_beats_only(
    room: Room, reconciler: Reconciler, state: str, released: int
) -> None:
    """It recorded what follows and published nothing; one that said goodbye has published all."""
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, state=state))
    task = room.recorded()
    assert reconciler.republish_outbox() == 0
    after(room, LOST_AGE_MS)
    room.store.heartbeat(WorkerInfo(worker="w2", host="h", pid=2, state="running"))
    assert reconciler.republish_outbox() == released
    assert room.task(task.task_id).status == ("queued" if released else "pending")


def test_of_a_worker_that_is_gone_for_long_nothing_is_published_early(room: Room, reconciler: Reconciler) -> None:
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, state="running"))
    room.clock.advance(120)
    room.recorded()
    after(room, LOST_AGE_MS)
    assert reconciler.republish_outbox() == 0


def test_while_the_broker_refuses_the_mark_stays(room: Room, reconciler: Reconciler) -> None:
    room.recorded()
    after(room, OUTBOX_AGE_MS)
    room.broker.refuses = "blocked"
    reconciler.republish_outbox()
    assert room.ready() == 0
    room.broker.refuses = ""
    assert reconciler.republish_outbox() == 1
    assert room.ready() == 1


# ---------------------------------------------------------------------------------------------------------------- due
def test_a_plan_is_released_when_it_is_due_and_a_retry_after_its_grace(room: Room, reconciler: Reconciler) -> None:
    plan = room.create(delay_s=30)
    retry = room.finish(room.running(shop_id="s2"), "retrying", delay_ms=30_000, error_kind="network")
    room.confirm(retry)
    room.take()
    room.clock.advance(29.9)
    assert reconciler.release_due() == 0
    room.clock.advance(0.2)
    assert reconciler.release_due() == 1
    assert room.task(plan.task_id).status == "queued"
    assert room.task(retry.task_id).status == "retrying", "its own message is about to come out of the delay queue"
    after(room, RETRY_GRACE_MS)
    assert reconciler.release_due() == 1
    assert room.task(retry.task_id).status == "queued"


def test_a_retry_whose_message_waits_in_its_lane_is_sent_no_twin(
    room: Room, reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All slots are busy: what came out of the delay queue waits for its turn, and is counted once."""
    waits = room.create(shop_id="s1")
    retry = room.finish(room.running(shop_id="s2"), "retrying", delay_ms=30_000, error_kind="network")
    room.confirm(retry)
    room.take()
    ready = 2
    monkeypatch.setattr(room.broker, "depths", lambda: depth(ready))
    after(room, 30_000 + RETRY_GRACE_MS)
    reconciler.tick()
    assert (room.task(waits.task_id).status, room.task(retry.task_id).status) == ("queued", "retrying")
    ready = 1  # only that of the other one
    room.clock.advance(LOOK_S)
    reconciler.tick()
    assert room.task(retry.task_id).status == "queued"


def test_a_retry_that_is_late_for_long_is_sent_whatever_seems_to_wait_in_its_lane(
    room: Room, reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits there may be old messages that stand for nothing."""
    plan = room.create(delay_s=60)
    retry = room.finish(room.running(shop_id="s2"), "retrying", delay_ms=30_000, error_kind="network")
    room.confirm(retry)
    room.take()
    monkeypatch.setattr(room.broker, "depths", lambda: depth(9))
    after(room, 30_000 + RETRY_GRACE_MS)
    reconciler.tick()
    assert (room.task(plan.task_id).status, room.task(retry.task_id).status) == ("queued", "retrying")
    for _ in range(round(LATE_GRACES * RETRY_GRACE_MS / 1000 / LOOK_S)):
        assert room.task(retry.task_id).status == "retrying"
        after(room, round(LOOK_S * 1000))
        reconciler.tick()
    assert room.task(retry.task_id).status == "queued"


def test_a_retry_that_became_late_while_nobody_led_is_sent_no_twin_either(
    room: Room, reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its message came out of the delay queue long ago and waits in its lane: with a twin of each, 6 tasks were 12."""
    retries = [
        room.finish(room.running(shop_id=f"s{n}"), "retrying", delay_ms=30_000, error_kind="network") for n in range(6)
    ]
    for one in retries:
        room.confirm(one)
    while room.ready():
        room.take()
    plan = room.create(shop_id="s9", delay_s=60)
    after(room, 18 * 60_000)

    def released() -> bool:
        return room.task(plan.task_id).status == "queued"

    monkeypatch.setattr(room.broker, "depths", lambda: depth(6 + released()))
    for _ in range(30):
        reconciler.tick()
        room.clock.advance(1)
    assert {room.task(one.task_id).status for one in retries} == {"retrying"}
    assert released(), "nothing else waits for that"
    monkeypatch.setattr(room.broker, "depths", lambda: depth(1))
    room.clock.advance(LOOK_S)
    reconciler.tick()
    assert {room.task(one.task_id).status for one in retries} == {"queued"}, "they are lost after all"


@pytest.mark.parametrize(("ready", "status"), [(1, "retrying"), (0, "queued")])
def test_a_retry_of_a_shop_with_a_queue_of_its_own_is_looked_for_there(
    room: Room, reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch, ready: int, status: str
) -> None:
    room.store.put_shops([Shop(platform="pdd", shop_id="s2", dedicated=True)])
    room.registry.forget()
    ShopQueues(room.store, room.broker, room.steps, room.registry, room.clock).tick()
    retry = room.finish(room.running(shop_id="s2"), "retrying", delay_ms=30_000, error_kind="network")
    assert retry.queue == "s2"
    room.confirm(retry)
    own = QueueDepth(name="single_shop_s2", ready=ready, unacked=0, consumers=0, kind="shop")
    monkeypatch.setattr(room.broker, "depths", lambda: [*depth(3 - 3 * ready), own])
    after(room, 30_000 + RETRY_GRACE_MS)
    reconciler.tick()
    assert room.task(retry.task_id).status == status


@pytest.mark.parametrize(("ready", "told"), [(2, []), (0, ["repair.due"])])
def test_a_repair_calls_no_retry_lost_whose_message_waits_in_its_lane(
    room: Room, reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch, ready: int, told: list[str]
) -> None:
    """No worker is there, so that it stays late; mended, it would have a twin."""
    for shop in ("s1", "s2"):
        room.confirm(room.finish(room.running(shop_id=shop), "retrying", delay_ms=30_000, error_kind="network"))
        room.take()
    monkeypatch.setattr(room.broker, "depths", lambda: depth(ready))
    after(room, 18 * 60_000)
    queues = ShopQueues(room.store, room.broker, room.steps, room.registry, room.clock)
    repair = Repair(room.store, room.broker, room.steps, reconciler, queues, (30,))
    found = [one.message for one in repair.run(doing=False) if one.message.code == "repair.due"]
    assert [one.code for one in found] == told
    assert [one.params["tasks"] for one in found] == [2] * len(told)


def test_a_broker_that_holds_nothing_back_is_sent_a_retry_when_it_is_due(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    can = replace(room.broker.capabilities, delay=False)
    monkeypatch.setattr(type(room.broker), "capabilities", can)
    retry = room.finish(room.running(), "retrying", delay_ms=30_000, error_kind="network")
    room.take()
    (receipt,) = room.steps.publish([retry])
    assert (receipt.ok, room.ready(), room.take()) == (True, 0, [])
    assert room.store.outbox(0, 10) == []
    reconciler = Reconciler(room.store, room.broker, room.steps, room.registry, room.clock, POLICY)
    room.clock.advance(29.9)
    assert reconciler.release_due() == 0
    room.clock.advance(0.2)
    assert reconciler.release_due() == 1
    assert [one.message_id for one in room.take()] == [retry.task_id]


# -------------------------------------------------------------------------------------------------------------- leases
def test_a_live_lease_is_let_alone(room: Room, reconciler: Reconciler) -> None:
    room.running(lease_ms=10_000)
    room.clock.advance(9.9)
    assert reconciler.take_over_expired() == 0
    room.clock.advance(0.2)
    assert reconciler.take_over_expired() == 1


def test_who_renews_between_the_look_and_the_decision_keeps_the_task(
    room: Room, reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = room.running(lease_ms=1_000)
    after(room, 1_000)
    look = room.store.expired

    def expired(limit: int) -> Sequence[Task]:
        found = look(limit)
        renewal = Renew(
            task_id=task.task_id, owner=task.owner, lease_ms=60_000, attempt=1, worker="w1", started_at=task.started_at
        )
        assert room.ask(renewal).code == "ok"
        return found

    monkeypatch.setattr(room.store, "expired", expired)
    reconciler.take_over_expired()
    kept = room.task(task.task_id)
    assert (kept.status, kept.owner, kept.losses) == ("running", task.owner, ())
    assert room.finish(kept, "succeeded").status == "succeeded"


@pytest.mark.parametrize(("idempotent", "status"), [(True, "queued"), (False, "held")])
def test_a_lost_worker(room: Room, reconciler: Reconciler, idempotent: bool, status: str) -> None:
    room.define("work", idempotent=idempotent)
    task = room.running(lease_ms=1_000)
    room.take()
    after(room, 1_000)
    reconciler.take_over_expired()
    found = room.task(task.task_id)
    assert (found.status, found.error_kind, found.retries, len(found.losses)) == (status, "worker_lost", 0, 1)
    (attempt,) = found.attempts
    assert (attempt.outcome, attempt.ended_at, attempt.worker) == ("lost", task.lease_until, "w1")
    assert room.ready() == (1 if idempotent else 0)
    assert room.store.executed([task.task_id]) == [False]


def test_losses_of_long_ago_do_not_count(room: Room, reconciler: Reconciler) -> None:
    task = room.create()
    for gap_s in (0, 0, 73 * 3600, 0, 0):
        room.clock.advance(gap_s)
        room.claim(room.task(task.task_id), f"w{gap_s}#{room.clock.now_ms()}", 1_000)
        after(room, 1_000)
        reconciler.take_over_expired()
    found = room.task(task.task_id)
    assert (found.status, len(found.losses), found.attempt) == ("dead", 5, 5)
    assert room.store.executed([task.task_id]) == [True]


def test_a_lost_task_frees_its_shop(room: Room, reconciler: Reconciler) -> None:
    room.define("once", idempotent=False)
    room.running(task_type="once", lease_ms=1_000)
    waiting = room.create()
    room.take()
    parked = room.ask(_claim(waiting.task_id))
    assert parked.code == "blocked"
    after(room, 1_000)
    reconciler.take_over_expired()
    assert (room.task(waiting.task_id).status, room.ready()) == ("queued", 1)


# --------------------------------------------------------------------------------------------- when leases do not tell
def test_after_a_silent_store_the_workers_have_their_turn_first(room: Room) -> None:
    reconciler = Reconciler(room.store, room.broker, room.steps, room.registry, room.clock, POLICY, lease_s=10.0)
    task = room.running(lease_ms=10_000)
    reconciler.tick()
    room.clock.advance(10.1)
    room.store.silent = 1
    with pytest.raises(StoreUnavailable):
        reconciler.tick()
    reconciler.tick()
    assert room.task(task.task_id).status == "running"
    for _ in range(3):
        room.clock.advance(RENEWAL_S / 2)
        reconciler.tick()
    assert room.task(task.task_id).status != "running", "a worker that did not renew then is lost"


def test_a_short_silence_costs_no_renewal_and_no_time(room: Room, reconciler: Reconciler) -> None:
    """Or a store that stumbles now and then would keep lost workers' tasks running for ever."""
    task = room.running(lease_ms=2_000)
    reconciler.tick()
    for _ in range(3):
        room.clock.advance(1.0)
        room.store.silent = 1
        with pytest.raises(StoreUnavailable):
            reconciler.tick()
    room.clock.advance(1.0)
    reconciler.tick()
    assert room.task(task.task_id).status != "running"


def test_who_comes_to_lead_does_not_know_whether_the_store_was_away(room: Room, reconciler: Reconciler) -> None:
    task = room.running(lease_ms=60_000)
    room.clock.advance(70.0)
    reconciler.tick()
    assert room.task(task.task_id).status == "running", "it has not had its turn to renew"
    for _ in range(3):
        room.clock.advance(RENEWAL_S / 2)
        reconciler.tick()
    assert room.task(task.task_id).status != "running"


def test_after_this_machine_slept_the_workers_have_their_turn_first(room: Room, reconciler: Reconciler) -> None:
    task = room.running(lease_ms=10_000)
    reconciler.tick()
    room.clock.advance(SLEPT_MS / 1000 + 3600)
    reconciler.tick()
    assert room.task(task.task_id).status == "running"
    for _ in range(3):
        room.clock.advance(RENEWAL_S / 2)
        reconciler.tick()
    assert room.task(task.task_id).status != "running"


def test_ordinary_ticks_take_over_at_once(room: Room, reconciler: Reconciler) -> None:
    task = room.running(lease_ms=2_000)
    for _ in range(4):
        reconciler.tick()
        room.clock.advance(1.0)
    assert room.task(task.task_id).status != "running"


# ------------------------------------------------------------------------------------------------------- lost messages
def test_two_looks_at_an_empty_queue_and_the_message_is_missing(room: Room, reconciler: Reconciler) -> None:
    task = room.create()
    room.take()
    room.clock.advance(1)
    assert reconciler.find_missing(depth()) == 0
    room.clock.advance(MISSING_AFTER_MS / 1000 - 1)
    assert reconciler.find_missing(depth()) == 0
    room.clock.advance(1.1)
    assert reconciler.find_missing(depth()) == 1
    found = room.task(task.task_id)
    assert (found.status, found.gen, found.attempt, room.ready()) == ("queued", 0, 0, 1)


@pytest.mark.parametrize("look", [{"ready": 1}, {"unacked": 1}])
def test_a_look_that_sees_something_starts_the_wait_anew(
    room: Room, reconciler: Reconciler, look: dict[str, Any]
) -> None:
    room.create()
    room.take()
    room.clock.advance(1)
    reconciler.find_missing(depth())
    room.clock.advance(20)
    reconciler.find_missing(depth(**look))
    room.clock.advance(20)
    assert reconciler.find_missing(depth()) == 0
    after(room, MISSING_AFTER_MS)
    assert reconciler.find_missing(depth()) == 1


def test_a_task_queued_between_the_looks_is_not_missing(room: Room, reconciler: Reconciler) -> None:
    reconciler.find_missing(depth())
    room.clock.advance(1)
    room.create()
    after(room, MISSING_AFTER_MS)
    assert reconciler.find_missing(depth()) == 0


def test_where_the_broker_cannot_tell_the_heartbeats_do(room: Room, reconciler: Reconciler) -> None:
    room.create()
    room.take()
    room.clock.advance(1)
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, prefetched=3))
    for _ in range(2):
        assert reconciler.find_missing(depth(unacked=None)) == 0
        after(room, MISSING_AFTER_MS)
    room.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1, prefetched=0))
    assert reconciler.find_missing(depth(unacked=None)) == 0
    after(room, MISSING_AFTER_MS)
    assert reconciler.find_missing(depth(unacked=None)) == 1


def test_only_the_lane_that_is_empty_is_suspected(room: Room, reconciler: Reconciler) -> None:
    for priority in ("high", "normal"):
        room.create(priority=priority)
        room.take(priority)
    room.clock.advance(1)
    looks = [*depth(), *depth(ready=5, lane="high")]
    reconciler.find_missing(looks)
    after(room, MISSING_AFTER_MS)
    assert reconciler.find_missing(looks) == 1
    assert (room.ready("rpa_tasks_normal"), room.ready("rpa_tasks_high")) == (1, 0)


def test_depths_are_asked_for_now_and_then_only(
    room: Room, reconciler: Reconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    real = room.broker.depths
    monkeypatch.setattr(room.broker, "depths", lambda: (asked.append(room.clock.monotonic()), real())[1])
    for _ in range(25):
        reconciler.tick()
        room.clock.advance(1)
    assert len(asked) == 25 // LOOK_S


# --------------------------------------------------------------------------------------------------------------- gates
def test_a_gate_that_nobody_opened_is_opened(room: Room, reconciler: Reconciler) -> None:
    room.store.set_pause(Pause(scope="all", by="ann"))
    task = room.create()
    room.take()
    assert room.ask(_claim(task.task_id)).code == "blocked"
    assert reconciler.open_parked() == 0
    room.store.clear_pause("all")
    assert reconciler.open_parked() == 1
    assert (room.task(task.task_id).status, room.ready()) == ("queued", 1)


def test_every_act_is_safe_to_repeat(room: Room, reconciler: Reconciler) -> None:
    room.create(delay_s=5)
    room.running(shop_id="s2", lease_ms=1_000)
    room.recorded(shop_id="s3")
    for _ in range(40):
        room.clock.advance(1)
        reconciler.tick()
    counts = room.store.counts()
    assert counts.status == {"queued": 3}
    assert room.store.outbox(0, 10) == []


def _claim(task_id: str) -> Any:
    return Claim(task_id=task_id, gen=0, attempt=0, owner="w9#1", worker="w9", lease_ms=60_000)


# --------------------------------------------------------------------------------------------------------- dependencies
def test_dependants_too_many_for_one_step_are_told_by_the_reconciler(room: Room, reconciler: Reconciler) -> None:
    first = room.running()
    count = dependency.AT_ONCE + 30
    specs = [room.spec(shop_id=f"s{number}", depends_on=(first.task_id,)) for number in range(count)]
    assert room.producer.submit(specs).errors == ()
    room.finish(first, "succeeded")
    assert room.store.counts().status["blocked"] == 30
    assert reconciler.tell_dependants() == 30
    assert room.store.counts().status.get("blocked", 0) == 0
    assert room.ready() == 1 + 30, "what the last step released is the finisher's to publish, the rest is published"
    assert reconciler.tell_dependants() == 0


def test_a_success_whose_release_was_not_published_is_repaired(room: Room, reconciler: Reconciler) -> None:
    first = room.running()
    (second,) = room.producer.submit([room.spec(shop_id="s2", depends_on=(first.task_id,))]).created
    room.finish(first, "succeeded")
    assert (room.task(second.task_id).status, room.ready()) == ("pending", 1)
    after(room, OUTBOX_AGE_MS)
    assert reconciler.republish_outbox() == 1
    assert (room.task(second.task_id).status, room.ready()) == ("queued", 2)


def test_a_plan_that_falls_due_and_waits_is_not_published(room: Room, reconciler: Reconciler) -> None:
    first = room.create()
    (plan,) = room.producer.submit([room.spec(shop_id="s2", delay_s=5, depends_on=(first.task_id,))]).created
    assert plan.status == "scheduled"
    room.clock.advance(6)
    reconciler.release_due()
    task = room.task(plan.task_id)
    assert (task.status, task.gate, room.ready()) == ("blocked", "dependency", 1)
