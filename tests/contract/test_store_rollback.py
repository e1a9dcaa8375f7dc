"""A store that went back in time by a moment: a claim that it has forgotten still stands, and its end is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.domain.change import Cancel, Move, Renew
from services.domain.step.transitions import ROLLED_BACK
from services.domain.task.record import Task
from services.domain.task.status import Status
from tests.contract.rig import Rig, attempt_of
from tests.contract.rollback import Back, of_file, of_redis


@pytest.fixture
def remember(store_kind: str, store_place: Any) -> Callable[[], Back]:
    """Keep everything that is stored now; the answer brings it back."""
    return (lambda: of_file(store_place)) if store_kind == "embedded" else (lambda: of_redis(store_place))


def claimed_and_forgotten(rig: Rig, remember: Callable[[], Back], status: str) -> tuple[Task, Task]:
    """The record as its worker knows it, and as it stands in the store again."""
    if status == "blocked":  # released, on its way, and claimed by its message
        holder = rig.running("w9#9")
        task = rig.blocked()
        back = remember()
        rig.finish(holder)
    else:
        task = rig.in_status(status)
        back = remember()
    claimed = rig.claim(rig.record(task), "w1#1").task
    assert claimed is not None
    assert claimed.status == Status.RUNNING
    back()
    before = rig.record(task)
    assert (before.status, before.attempt) == (status, claimed.attempt - 1)
    return claimed, before


STATUSES = ["pending", "queued", "retrying", "blocked"]


@pytest.mark.parametrize("status", STATUSES)
def test_the_end_of_a_forgotten_claim_is_recorded(rig: Rig, remember: Callable[[], Back], status: str) -> None:
    claimed, before = claimed_and_forgotten(rig, remember, status)
    start = rig.store.events("", 1, 0).cursor
    answer = rig.finish(claimed, result='{"orders": 3}')
    assert answer.code == "ok"
    record = rig.record(claimed)
    assert record == answer.task
    assert (record.status, record.attempt, record.owner, record.worker, record.result) == (
        Status.SUCCEEDED, claimed.attempt, "w1#1", "w1", '{"orders": 3}',
    )  # fmt: skip
    assert record.attempts == (*before.attempts, attempt_of(claimed, "succeeded"))
    taken, ended = record.steps[-2:]
    assert (taken.from_, taken.to, taken.worker, taken.note) == (status, "running", "w1", ROLLED_BACK)
    assert (ended.from_, ended.to) == ("running", "succeeded")
    assert [(event.from_, event.to) for event in rig.all_events(start)][:2] == [
        (status, "running"),
        ("running", "succeeded"),
    ]
    assert claimed.task_id not in rig.outbox()
    assert rig.finish(claimed, result='{"orders": 3}').code == "ok", "said again"
    assert rig.record(claimed) == record


@pytest.mark.parametrize(("to", "status"), [("retrying", "retrying"), ("dead", "dead"), ("held", "held")])
def test_a_failure_is_recorded_too(rig: Rig, remember: Callable[[], Back], to: str, status: str) -> None:
    claimed, _ = claimed_and_forgotten(rig, remember, "queued")
    assert rig.finish(claimed, to, delay_ms=30_000, error="no net", error_kind="network").code == "ok"
    record = rig.record(claimed)
    assert (record.status, record.attempt, record.error_kind) == (status, 1, "network")
    assert (record.task_id in rig.outbox()) == (to != "held")


@pytest.mark.parametrize("status", STATUSES)
def test_a_renewal_lets_a_forgotten_claim_go_on(rig: Rig, remember: Callable[[], Back], status: str) -> None:
    claimed, _ = claimed_and_forgotten(rig, remember, status)
    answer = rig.ask(renewal(claimed))
    assert answer.code == "ok"
    record = rig.record(claimed)
    assert (record.status, record.attempt, record.owner, record.started_at) == (
        Status.RUNNING, claimed.attempt, "w1#1", claimed.started_at,
    )  # fmt: skip
    assert record.lease_until > rig.store.now_ms()
    assert record.steps[-1].note == ROLLED_BACK
    assert rig.claim(claimed, "w2#1", attempt=claimed.attempt - 1).code == "duplicate", "its message comes once more"
    assert rig.ask(renewal(claimed)).code == "ok"
    assert len(rig.record(claimed).steps) == len(record.steps)
    assert rig.finish(claimed).code == "ok"


def test_who_has_claimed_it_since_has_it(rig: Rig, remember: Callable[[], Back]) -> None:
    claimed, before = claimed_and_forgotten(rig, remember, "queued")
    assert rig.claim(before, "w2#1").code == "run"
    assert rig.ask(renewal(claimed)).code == "fenced"
    assert rig.finish(claimed).code == "fenced"
    assert rig.record(claimed).owner == "w2#1"


def test_what_was_cancelled_since_stays_cancelled(rig: Rig, remember: Callable[[], Back]) -> None:
    claimed, _ = claimed_and_forgotten(rig, remember, "queued")
    rig.ask(Cancel(task_id=claimed.task_id, by="ann"))
    assert rig.ask(renewal(claimed)).code == "fenced"
    assert rig.finish(claimed).code == "fenced"
    record = rig.record(claimed)
    assert (record.status, [one.outcome for one in record.attempts]) == ("cancelled", ["fenced"])


def test_a_new_priority_changes_nothing_about_it(rig: Rig, remember: Callable[[], Back]) -> None:
    claimed, _ = claimed_and_forgotten(rig, remember, "queued")
    rig.ask(Move(task_id=claimed.task_id, by="ann", lane="high", priority=9))
    assert rig.finish(claimed).code == "ok"
    assert (rig.record(claimed).status, rig.outbox()) == ("succeeded", set())


@pytest.mark.parametrize("number", [0, 1, 3])
def test_only_the_next_attempt_can_have_been_forgotten(rig: Rig, number: int) -> None:
    task = rig.retrying()
    other = attempt_of(task, "succeeded")
    late = type(other)(number, "w7", other.started_at, other.ended_at, "succeeded")
    assert rig.finish(task, owner="w7#1", attempt=late).code == "fenced"
    assert rig.ask(Renew(task_id=task.task_id, owner="w7#1", lease_ms=1000, attempt=number)).code == "fenced"
    assert rig.record(task).status == "retrying"


def renewal(task: Task) -> Renew:
    """What the worker asks that has this record in hand."""
    return Renew(
        task_id=task.task_id,
        owner=task.owner,
        lease_ms=60_000,
        attempt=task.attempt,
        worker=task.worker,
        started_at=task.started_at,
    )
