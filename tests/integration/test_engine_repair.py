"""What a crash leaves half done is finished: outbox, leases, lost messages, leadership; both pairs."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services import workforce
from services.domain.change import Claim, Create, Finish
from services.domain.errors import StoreUnavailable
from services.domain.step.transitions import ROLLED_BACK
from services.domain.task import envelope
from services.domain.task.record import Attempt, Task
from services.engine.lead.reconcile import BATCH, Reconciler
from services.engine.producer import TaskSpec
from tests.contract.rollback import of_redis
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines, moves
from tests.support.services import Redis

LEASE_MS = 300


def record_only(fleet: Fleet, shop: str = "s1", kind: str = "work", **payload: object) -> Task:
    """What a submitter leaves that dies between record and publish."""
    task = fleet.engine.producer.prepare(TaskSpec(platform="pdd", shop_id=shop, task_type=kind, payload=payload))
    answer = fleet.apply(Create(task=task))
    assert answer.code == "created"
    return fleet.task(task.task_id)


def lost_claim(fleet: Fleet, task_id: str, *, lease_ms: int = LEASE_MS) -> Task:
    """A worker takes a task and falls silent; the lease has run out when this returns."""
    task = fleet.task(task_id)
    owner = f"gone#{task.attempt}"
    claim = Claim(task_id=task_id, gen=task.gen, attempt=task.attempt, owner=owner, worker="gone", lease_ms=lease_ms)
    answer = fleet.apply(claim)
    assert answer.code == "run", answer.code
    assert answer.task is not None
    eventually(lambda: [one.task_id for one in fleet.engine.store.expired(10)] == [task_id], 30)
    return answer.task


# -------------------------------------------------------------------------------------------------------------- outbox
def test_a_task_recorded_but_never_published_is_published(fleet: Fleet) -> None:
    task = record_only(fleet)
    assert (task.status, fleet.ready("rpa_tasks_normal")) == ("pending", 0)
    assert fleet.reconciler(outbox_age_ms=60_000).republish_outbox() == 0, "its submitter may still be at it"
    assert fleet.reconciler().republish_outbox() == 1
    assert fleet.task(task.task_id).status == "queued"
    assert fleet.reconciler().republish_outbox() == 0
    fleet.worker()
    fleet.wait(task.task_id, "succeeded")


def test_a_twin_message_is_skipped(fleet: Fleet, seen: Path) -> None:
    """Published, and the submitter died before it could say so: the reconciler publishes again."""
    task = record_only(fleet, seen=str(seen))
    fleet.engine.broker.publish([envelope.order_for(task, fleet.engine.store.now_ms(), (1, 2, 4))])
    assert fleet.reconciler().republish_outbox() == 1
    assert fleet.ready("rpa_tasks_normal") == 2
    worker = fleet.worker()
    fleet.wait(task.task_id, "succeeded")
    eventually(lambda: worker.tally.skipped == 1, 30)
    assert len(lines(seen, "start")) == 1


def test_a_retry_whose_publish_was_lost_is_published(fleet: Fleet) -> None:
    task_id = fleet.create()
    fleet.purge("rpa_tasks_normal")
    running = fleet.apply(Claim(task_id=task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=60_000)).task
    assert running is not None
    failed = Attempt(number=1, worker="w", started_at=running.started_at, ended_at=running.started_at, outcome="failed")
    fleet.apply(
        Finish(task_id=task_id, owner="w#1", to="retrying", attempt=failed, delay_ms=1_000, error_kind="network")
    )
    assert fleet.reconciler().republish_outbox() == 1
    fleet.worker()
    task = fleet.wait(task_id, "succeeded")
    assert (task.attempt, task.retries) == (2, 1)


@pytest.mark.parametrize("broken", [{"lane": "express"}, {"payload": "{"}], ids=["lane", "payload"])
def test_a_record_that_no_message_can_be_made_of_ends_with_its_reason(fleet: Fleet, broken: dict[str, Any]) -> None:
    spec = TaskSpec(platform="pdd", shop_id="s1", task_type="work", payload={})
    bad = msgspec.structs.replace(fleet.engine.producer.prepare(spec), **broken)
    fleet.apply(Create(task=bad))
    good = record_only(fleet, "s2")
    reconciler = fleet.reconciler()
    assert reconciler.republish_outbox() == 2
    task = fleet.task(bad.task_id)
    assert (task.status, task.triage, task.error_kind, task.attempts) == ("dead", "open", "bad_message", ())
    assert "no message can be made of this record: " in task.error
    assert fleet.task(good.task_id).status == "queued"
    assert reconciler.republish_outbox() == 0
    assert fleet.ready("rpa_tasks_normal") == 1


def test_what_nobody_takes_does_not_hide_newer_messages(fleet: Fleet) -> None:
    specs = [TaskSpec(platform="pdd", shop_id=f"x{number}", task_type="work", payload={}) for number in range(BATCH)]
    lost = [msgspec.structs.replace(fleet.engine.producer.prepare(spec), queue="nowhere") for spec in specs]
    fleet.engine.store.apply([Create(task=task) for task in lost])
    before = fleet.engine.store.now_ms()
    eventually(lambda: fleet.engine.store.now_ms() > before, 30)
    newer = record_only(fleet, "s2")
    reconciler = fleet.reconciler()
    assert reconciler.republish_outbox() == BATCH
    assert fleet.task(newer.task_id).status == "pending"
    reconciler.republish_outbox()
    assert fleet.task(newer.task_id).status == "queued"
    assert len(fleet.engine.store.outbox(0, 1000)) == BATCH, "they wait for somebody who takes them"


# -------------------------------------------------------------------------------------------------------------- leases
def test_a_task_of_a_lost_worker_is_taken_over(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(seen=str(seen))
    old = lost_claim(fleet, task_id)
    assert fleet.reconciler().take_over_expired() == 1
    assert fleet.reconciler().take_over_expired() == 0
    fleet.worker()
    task = fleet.wait(task_id, "succeeded")
    assert [(one.number, one.outcome, one.error_kind) for one in task.attempts] == [
        (1, "lost", "worker_lost"),
        (2, "succeeded", ""),
    ]
    assert (len(task.losses), task.retries) == (1, 0), "a lost worker burns no retry"
    assert "running" in moves(task)[3:], moves(task)
    # the first worker was only slow: its result comes too late and is evidence, no more
    late = Attempt(number=1, worker="gone", started_at=old.started_at, ended_at=task.ended_at, outcome="succeeded")
    answer = fleet.apply(Finish(task_id=task_id, owner=old.owner, to="succeeded", attempt=late, result='{"late":1}'))
    assert answer.code == "fenced"
    after = fleet.task(task_id)
    assert (after.status, after.result) == (task.status, task.result)
    assert [one.outcome for one in after.attempts] == ["lost", "succeeded", "fenced"]


def test_three_lost_workers_are_enough(fleet: Fleet) -> None:
    fleet.archiver()
    task_id = fleet.create()
    reconciler = fleet.reconciler()
    for _ in range(3):
        lost_claim(fleet, task_id, lease_ms=1)
        assert reconciler.take_over_expired() == 1
    task = fleet.task(task_id)
    assert (task.status, task.error_kind, len(task.losses)) == ("dead", "worker_lost", 3)
    assert eventually(lambda: fleet.engine.store.get_letter(task_id), 30).error_kind == "worker_lost"


def test_an_unrepeatable_task_of_a_lost_worker_is_held(fleet: Fleet) -> None:
    task_id = fleet.create(kind="once")
    lost_claim(fleet, task_id)
    fleet.reconciler().take_over_expired()
    task = fleet.task(task_id)
    assert (task.status, task.error_kind) == ("held", "worker_lost")
    fleet.worker()
    fleet.purge("rpa_tasks_normal")
    assert fleet.commands().tasks.retry_waiting([task_id], reason="looked").done == (task_id,)
    assert fleet.wait(task_id, "succeeded").attempt == 2


def test_a_handler_that_may_not_run_twice_says_so_for_its_type(fleet: Fleet) -> None:
    fleet.worker(start=False)
    task_id = fleet.create(kind="never_twice")
    lost_claim(fleet, task_id)
    fleet.reconciler().take_over_expired()
    assert fleet.task(task_id).status == "held"


def test_a_lost_task_that_was_to_be_cancelled_is_cancelled(fleet: Fleet) -> None:
    task_id = fleet.create()
    lost_claim(fleet, task_id)
    fleet.commands().tasks.cancel([task_id])
    fleet.reconciler().take_over_expired()
    assert fleet.task(task_id).status == "cancelled"


def test_a_worker_renews_what_it_holds(fleet: Fleet) -> None:
    task_id = fleet.create(sleep=60)
    worker = fleet.worker(lease_s=1.0)
    started = fleet.wait(task_id, "running")
    eventually(lambda: fleet.task(task_id).lease_until > started.lease_until + 2_500, 30)
    assert fleet.engine.store.expired(10) == []
    worker.stop(0.0)


def test_an_attempt_that_lost_its_lease_is_stopped_and_cannot_record(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(sleep=60, seen=str(seen))
    fleet.worker(lease_s=1.0)
    running = fleet.wait(task_id, "running")
    stolen = Attempt(number=1, worker="w", started_at=running.started_at, ended_at=running.started_at, outcome="lost")
    fleet.apply(Finish(task_id=task_id, owner=running.owner, to="held", attempt=stolen, error_kind="worker_lost"))
    eventually(lambda: lines(seen, "stopped"), 30)
    eventually(lambda: [one.outcome for one in fleet.task(task_id).attempts] == ["lost", "fenced"], 30)
    assert fleet.task(task_id).status == "held"


@pytest.mark.parametrize(
    "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
)
@pytest.mark.parametrize("long", [False, True], ids=["ends", "renews"])
def test_a_claim_that_redis_has_forgotten_stands(fleet: Fleet, seen: Path, tmp_path: Path, long: bool) -> None:
    """Redis writes to disk once a second and dies in between: the record is queued again while its task runs."""
    gate = tmp_path / "gate"
    worker = fleet.worker(lease_s=1.0 if long else 60.0, start=False)
    task_id = fleet.create(seen=str(seen), until=str(gate))
    back = of_redis(fleet.settings.store.url)
    worker.start()
    eventually(lambda: lines(seen, "start"), 30)
    back()
    if long:
        assert fleet.wait(task_id, "running").steps[-1].note == ROLLED_BACK
    else:
        assert fleet.task(task_id).status == "queued"
    gate.touch()
    task = fleet.wait(task_id, "succeeded")
    assert moves(task) == ["pending", "queued", "running", "succeeded"]
    assert (task.steps[2].note, [one.outcome for one in task.attempts]) == (ROLLED_BACK, ["succeeded"])
    assert len(lines(seen, "start")) == 1


@pytest.mark.parametrize(
    "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
)
def test_an_end_that_a_failover_has_lost_is_told_again(fleet: Fleet, redis_server: Redis, seen: Path) -> None:
    """Its message is acknowledged: nobody else would know that it ran, and a task that may not run twice would."""
    redis_server.command("CONFIG SET appendfsync always")
    worker = fleet.worker(start=False)
    queued = fleet.create("s1", "once", seen=str(seen))
    kept = redis_server.directory / "kept"
    shutil.copytree(redis_server.directory / "appendonlydir", kept)
    later = fleet.create("s2", "once", seen=str(seen))
    worker.start()
    fleet.wait_ended([queued, later])
    eventually(lambda: not any(depth.unacked for depth in fleet.engine.broker.depths()), 30)
    redis_server.kill()
    shutil.rmtree(redis_server.directory / "appendonlydir")
    kept.rename(redis_server.directory / "appendonlydir")
    eventually(lambda: _silent(fleet), 30)
    redis_server.start()
    eventually(lambda: all(fleet.engine.store.get([queued, later])), 60)
    assert [task.status for task in fleet.wait_ended([queued, later])] == ["succeeded"] * 2
    assert fleet.task(queued).steps[-2].note == ROLLED_BACK
    fleet.reconciler().find_missing(fleet.engine.broker.depths())
    assert len(lines(seen, "start")) == 2


def _silent(fleet: Fleet) -> bool:
    try:
        fleet.engine.store.now_ms()
    except StoreUnavailable:
        return True
    return False


# ------------------------------------------------------------------------------------------------------- lost messages
def test_what_the_broker_has_forgotten_is_published_again(fleet: Fleet) -> None:
    ids = [fleet.create(f"s{number}") for number in range(10)]
    fleet.purge("rpa_tasks_normal")
    reconciler = fleet.reconciler()
    missing = _find(fleet, reconciler)
    assert missing == 10
    fleet.worker()
    assert {task.status for task in fleet.wait_ended(ids)} == {"succeeded"}


def test_a_task_that_runs_for_hours_does_not_hide_what_its_lane_has_lost(fleet: Fleet, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    running = fleet.create("s1", until=str(gate))
    fleet.worker(slots=1)
    fleet.wait(running, "running")
    lost = fleet.create("s2")
    eventually(lambda: fleet.task(lost).status == "queued", 30)
    eventually(lambda: fleet.rested("rpa_tasks_normal", 1), 30)
    fleet.purge("rpa_tasks_normal")
    reconciler = fleet.reconciler()
    depths = fleet.engine.broker.depths
    eventually(lambda: reconciler.find_missing(depths()) == 1, 30)
    gate.touch()
    fleet.wait(running, "succeeded")


def test_a_queue_that_is_not_empty_is_not_suspected(fleet: Fleet) -> None:
    fleet.create()
    reconciler = fleet.reconciler()
    assert reconciler.find_missing(fleet.engine.broker.depths()) == 0
    assert reconciler.find_missing(fleet.engine.broker.depths()) == 0


def test_a_retry_that_its_delay_queue_has_forgotten_is_published_again(fleet: Fleet) -> None:
    fleet.worker()
    reconciler = fleet.reconciler()
    released, task_id = 0, ""
    while not released:
        # the record says so a moment before its message lies there, and a second later it has left
        task_id = fleet.create(fail="network", fail_first=1)
        fleet.wait(task_id, "retrying")
        fleet.purge("rpa_delay_1s")
        ask = partial(_released_or_done, fleet, reconciler, task_id)
        released = eventually(ask, 30)[0]
    task = fleet.wait(task_id, "succeeded")
    assert (task.attempt, task.retries) == (2, 1)


def _released_or_done(fleet: Fleet, reconciler: Reconciler, task_id: str) -> tuple[int] | None:
    """How many were released; none where the message was not lost."""
    released = reconciler.release_due()
    return (released,) if released or fleet.task(task_id).status == "succeeded" else None


def _find(fleet: Fleet, reconciler: Reconciler) -> int:
    """Two looks at the empty queue, a moment apart."""
    return eventually(lambda: reconciler.find_missing(fleet.engine.broker.depths()), 30)


# ---------------------------------------------------------------------------------------------------------- leadership
def test_one_leads_and_hands_over_when_it_leaves(fleet: Fleet) -> None:
    first = fleet.steward(fleet.open())
    eventually(lambda: first.leader.leading, 30)
    second = fleet.steward(fleet.open())
    task = record_only(fleet)
    assert not second.leader.leading
    first.close()
    eventually(lambda: second.leader.leading, 30)
    assert not first.leader.leading
    assert fleet.engine.store.leader("engine") == fleet._engines[-1].name
    second.reconciler.republish_outbox()
    second.reconciler._outbox_age_ms = 0
    assert eventually(lambda: fleet.task(task.task_id).status == "queued", 30)


def test_a_leader_that_vanished_is_replaced(fleet: Fleet) -> None:
    assert fleet.engine.store.lead("engine", "vanished", 700)
    steward = fleet.steward()
    assert not steward.leader.leading
    eventually(lambda: steward.leader.leading, 30)


# --------------------------------------------------------------------------------------------------------- orderly end
def test_a_graceful_stop_gives_back_what_has_not_started(fleet: Fleet, seen: Path) -> None:
    ids = [fleet.create(f"s{number}", sleep=0.4, seen=str(seen)) for number in range(12)]
    worker = fleet.worker(2)
    eventually(lambda: len(lines(seen, "start")) == 2, 30)
    started = {row[1] for row in lines(seen, "start")}
    assert worker.stop(30.0), "everything was recorded"
    assert worker.state == "stopped"
    tasks = [fleet.task(task_id) for task_id in ids]
    for task in tasks:
        assert (task.status, task.retries) in (("queued", 0), ("succeeded", 0)), task
        assert task.attempt == (task.status == "succeeded"), "what had not started counts no attempt"
    assert started <= {task.task_id for task in tasks if task.status == "succeeded"}
    left = [task.task_id for task in tasks if task.status == "queued"]
    eventually(lambda: fleet.ready("rpa_tasks_normal") == len(left), 30)
    assert fleet.engine.store.workers() == []
    fleet.worker(4)
    assert {task.status for task in fleet.wait_ended(ids)} == {"succeeded"}
    assert len(lines(seen, "start")) == 12


@pytest.mark.parametrize(("kind", "status"), [("work", "queued"), ("once", "held")])
def test_after_its_grace_a_stop_gives_back_running_work_too(fleet: Fleet, seen: Path, kind: str, status: str) -> None:
    task_id = fleet.create(kind=kind, sleep=60, seen=str(seen))
    worker = fleet.worker()
    eventually(lambda: lines(seen, "start"), 30)  # what is claimed and has not begun goes back whatever it is
    assert worker.stop(0.2)
    task = fleet.task(task_id)
    assert (task.status, task.retries) == (status, 0)
    assert [one.outcome for one in task.attempts] == ["returned"]
    assert lines(seen, "stopped")


def test_a_drained_worker_takes_nothing_until_it_is_told(fleet: Fleet) -> None:
    worker = fleet.worker()
    commands = fleet.commands().fleet
    commands.tell_worker(worker.name, "drain")
    eventually(lambda: worker.state == "draining", 30)
    task_id = fleet.create()
    eventually(lambda: fleet.engine.store.workers()[0].state == "draining", 30)
    assert fleet.task(task_id).status == "queued"
    commands.tell_worker(worker.name, "slots=7")
    commands.tell_worker(worker.name, "resume")
    fleet.wait(task_id, "succeeded")
    eventually(lambda: len(fleet.engine.store.workers()[0].slots) == 7, 30)


def test_a_local_worker_that_is_ordered_to_stop_leaves(fleet: Fleet) -> None:
    local = workforce.local_workers(fleet.engine)
    worker = local.start(2)
    assert local.start(3) is worker, "one at a time"
    fleet.commands().fleet.tell_worker(worker.name, "stop")
    eventually(lambda: local.worker is None and worker.state == "stopped", 30)
    again = local.start(1)
    assert local.stop()
    assert again.state == "stopped"


def test_closing_waits_for_a_local_worker_that_leaves_already(fleet: Fleet, seen: Path) -> None:
    local = workforce.local_workers(fleet.engine)
    worker = local.start(1)
    task_id = fleet.create(sleep=60, seen=str(seen))
    eventually(lambda: lines(seen, "start"), 30)
    fleet.commands().fleet.tell_worker(worker.name, "stop=300")
    eventually(lambda: local.worker is None, 30)
    assert local.busy == (worker,), "its task runs still"
    assert local.close(0.2), "everything was recorded, in the grace of who closes"
    assert worker.state == "stopped"
    task = fleet.task(task_id)
    assert [(task.status, task.retries), *(one.outcome for one in task.attempts)] == [("queued", 0), "returned"]
    eventually(lambda: local.busy == (), 30)
