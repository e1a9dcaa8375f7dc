"""Claim without gates: who may run a delivered task, and what every other delivery gets."""

from __future__ import annotations

import pytest

from services.domain.change import Claim
from services.domain.task.status import Status
from tests.contract.rig import Rig, shown, told


def test_a_queued_task_runs(rig: Rig) -> None:
    task = rig.queued()
    rig.pass_time(0.1)
    start = rig.store.events("", 1, 0).cursor
    answer = rig.claim(task, "w1#7", lease_ms=45_000)
    assert answer.code == "run"
    record = rig.record(task)
    assert record == answer.task
    assert (record.status, record.attempt, record.owner, record.worker) == (Status.RUNNING, 1, "w1#7", "w1")
    assert record.lease_until == record.started_at + 45_000
    assert record.started_at == record.updated_at > task.updated_at
    assert told(rig.all_events(start), record) == shown(record)[-1:]
    assert shown(record)[-1][3] == "w1"


def test_the_same_claim_again_is_yes(rig: Rig) -> None:
    task = rig.queued()
    first = rig.claim(task)
    assert first.code == "run"
    start = rig.store.events("", 1, 0).cursor
    again = rig.claim(task)
    assert (again.code, again.task) == ("run", first.task)
    assert rig.all_events(start) == []


def test_another_claim_is_a_duplicate(rig: Rig) -> None:
    task = rig.queued()
    first = rig.claim(task, "w1#1")
    second = rig.claim(task, "w2#1")
    assert (second.code, second.task) == ("duplicate", first.task)
    assert rig.record(task).owner == "w1#1"


def test_an_expired_lease_is_not_taken_by_a_claim(rig: Rig) -> None:
    task = rig.queued()
    rig.claim(task, "w1#1", lease_ms=100)
    rig.pass_time(0.3)
    assert rig.claim(task, "w2#1").code == "duplicate"


def test_a_message_that_overtakes_its_confirmation_runs(rig: Rig) -> None:
    task = rig.create()
    assert rig.claim(task).code == "run"
    assert rig.outbox() == set()
    assert rig.confirm(task).code == "stale"
    assert rig.record(task).status == Status.RUNNING


def test_a_retrying_task_runs_its_next_attempt(rig: Rig) -> None:
    task = rig.retrying()
    answer = rig.claim(task, "w2#1")
    assert answer.code == "run"
    assert answer.task is not None
    assert (answer.task.attempt, answer.task.worker, answer.task.due_at) == (2, "w2", 0)
    assert len(answer.task.attempts) == 1
    assert rig.outbox() == set()


@pytest.mark.parametrize("status", ["succeeded", "dead", "cancelled"])
def test_an_ended_task_does_not_run(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    answer = rig.claim(task, "w2#1")
    assert (answer.code, answer.task) == ("ended", task)
    assert rig.record(task) == task


@pytest.mark.parametrize("status", ["held", "scheduled"])
def test_a_task_that_waits_for_somebody_does_not_run(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    answer = rig.claim(task, "w2#1")
    assert (answer.code, answer.task) == ("stale", task)


@pytest.mark.parametrize("off", [{"gen": 1}, {"gen": -1}, {"attempt": 1}, {"attempt": 5}])
def test_a_message_of_another_generation_or_attempt_is_stale(rig: Rig, off: dict[str, int]) -> None:
    task = rig.queued()
    answer = rig.claim(task, **off)
    assert (answer.code, answer.task) == ("stale", task)


def test_the_message_of_an_earlier_attempt_is_stale(rig: Rig) -> None:
    task = rig.queued()
    claimed = rig.claim(task).task
    assert claimed is not None
    rig.finish(claimed, "retrying", delay_ms=1000)
    assert rig.claim(task, "w2#1").code == "stale"


def test_without_a_record_there_is_nothing_to_run(rig: Rig) -> None:
    answer = rig.claim(rig.task())
    assert (answer.code, answer.task) == ("missing", None)


def test_a_foreign_message_becomes_a_record_and_runs(rig: Rig) -> None:
    start = rig.store.events("", 1, 0).cursor
    task = rig.task(status=Status.QUEUED, origin="foreign", marks=("foreign",), shop_id="new", uniq="U", attempt=2)
    answer = rig.claim(task, adopt=task)
    assert answer.code == "run"
    record = rig.record(task)
    assert (record.status, record.attempt, record.origin, record.marks) == (Status.RUNNING, 3, "foreign", ("foreign",))
    assert record.created_at > 0
    assert [(step.from_, step.to) for step in record.steps] == [("", "queued"), ("queued", "running")]
    assert told(rig.all_events(start), record) == shown(record)
    assert rig.store.counts().status == {"running": 1}


def test_a_lost_record_that_may_not_run_twice_is_made_again_as_held(rig: Rig) -> None:
    task = rig.task(status=Status.HELD, marks=("recovered",), shop_id="new", uniq="U", attempt=1, idempotent=False)
    assert rig.claim(task, adopt=task).code == "stale"
    record = rig.record(task)
    assert (record.status, record.attempt, record.marks) == (Status.HELD, 1, ("recovered",))
    assert [(step.from_, step.to) for step in record.steps] == [("", "held")]
    assert rig.store.counts().status == {"held": 1}
    assert rig.claim(task, "w2#1", adopt=task).code == "stale"


def test_a_claim_registers_an_unknown_shop(rig: Rig) -> None:
    rig.shop("s1", concurrency=2, name="known")
    rig.running(shop_id="s1")
    rig.running(shop_id="other")
    shops = {shop.key: shop for shop in rig.store.shops()}
    assert (shops["pdd:other"].unregistered, shops["pdd:other"].concurrency) == (True, 1)
    assert (shops["pdd:s1"].unregistered, shops["pdd:s1"].name) == (False, "known")


def test_adopt_is_ignored_where_there_is_a_record(rig: Rig) -> None:
    task = rig.queued()
    answer = rig.claim(task, adopt=rig.task(task_id=task.task_id, payload='{"other": 1}', status=Status.QUEUED))
    assert answer.code == "run"
    assert rig.record(task).payload == task.payload


@pytest.mark.parametrize("status", ["queued", "retrying", "pending"])
def test_done_by_a_foreign_consumer(rig: Rig, status: str) -> None:
    task = rig.in_status(status)
    answer = rig.claim(task, "w2#1", foreign_done=True)
    assert answer.code == "ended"
    record = rig.record(task)
    assert (record.status, record.worker, answer.task) == (Status.SUCCEEDED, "foreign", record)
    assert record.ended_at > 0
    assert rig.outbox() == set()
    assert rig.claim(task, "w2#1", foreign_done=True).code == "ended"


def test_a_claim_looks_for_the_mark_of_a_worker_of_other_make_itself(rig: Rig) -> None:
    done, other = rig.queued(), rig.queued()
    rig.store.mark_executed([done.task_id])
    answer = rig.claim(done, "w2#1")
    assert answer.code == "ended"
    assert answer.task is not None
    assert (answer.task.status, answer.task.worker) == (Status.SUCCEEDED, "foreign")
    assert rig.claim(other, "w2#1").code == "run"


def test_foreign_done_does_not_end_what_runs_here(rig: Rig) -> None:
    task = rig.queued()
    rig.claim(task, "w1#1")
    assert rig.claim(task, "w2#1", foreign_done=True).code == "duplicate"
    assert rig.claim(task, "w1#1", foreign_done=True).code == "run"


def test_of_two_claims_in_one_batch_the_first_wins(rig: Rig) -> None:
    task = rig.queued()
    ops = [
        Claim(task_id=task.task_id, gen=0, attempt=0, owner=f"w{number}#1", worker=f"w{number}", lease_ms=1000)
        for number in (1, 2)
    ]
    assert [answer.code for answer in rig.store.apply(ops)] == ["run", "duplicate"]
    assert rig.record(task).owner == "w1#1"
