"""Whatever ends a task, what ended in its wake is marked as executed too, on both pairs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services import repairs
from services.domain.change import Claim, Finish
from services.domain.task.record import Attempt
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet


def chain(fleet: Fleet, **first: object) -> list[str]:
    """Three tasks, each of which ends with the one before it."""
    one = fleet.create("s1", **first)
    two = fleet.create("s2", depends_on=(one,), on_dependency_failure="cancel")
    return [one, two, fleet.create("s3", depends_on=(two,), on_dependency_failure="cancel")]


def claimed(fleet: Fleet, task_id: str, *, lease_ms: int = 60_000) -> None:
    claim = Claim(task_id=task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=lease_ms)
    assert fleet.apply(claim).code == "run"


def planned(fleet: Fleet) -> set[str]:
    return {one.message.code for one in repairs.commands(fleet.engine).plan()}


def by_person(fleet: Fleet) -> list[str]:
    ids = chain(fleet)
    assert fleet.commands().tasks.cancel(ids[:1]).done == (ids[0],)
    return ids


def by_batch(fleet: Fleet) -> list[str]:
    done = fleet.submit(
        TaskSpec(platform="pdd", shop_id="s1", task_type="work", key="a", batch="B"),
        TaskSpec(
            platform="pdd", shop_id="s2", task_type="work", depends_on=["a"], on_dependency_failure="cancel", batch="B"
        ),
    )
    batches = fleet.commands().batches
    batches.cancel(batches.plan_cancel("B"))
    return [task.task_id for task in done.created]


def by_deadline(fleet: Fleet) -> list[str]:
    now = fleet.engine.store.now_ms()
    ids = chain(fleet, deadline_ms=now + 200)
    reconciler = fleet.reconciler()
    eventually(lambda: reconciler.end_overdue() == 1, 30)
    return ids


def by_decision(fleet: Fleet) -> list[str]:
    ids = chain(fleet, kind="once")
    claimed(fleet, ids[0])
    attempt = Attempt(number=1, worker="w", started_at=1, ended_at=2, outcome="lost")
    fleet.apply(Finish(task_id=ids[0], owner="w#1", to="held", attempt=attempt))
    assert fleet.commands().tasks.resolve(ids[:1], "dead", note="it did not run").done == (ids[0],)
    return ids


def by_failure(fleet: Fleet) -> list[str]:
    ids = chain(fleet, fail="bad_payload")
    fleet.worker()
    return ids


def by_lost_worker(fleet: Fleet) -> list[str]:
    ids = chain(fleet)
    claimed(fleet, ids[0], lease_ms=100)
    fleet.commands().tasks.cancel(ids[:1])
    reconciler = fleet.reconciler()
    eventually(reconciler.take_over_expired, 30)
    return ids


def by_birth(fleet: Fleet) -> list[str]:
    """What it depends on has failed already."""
    first = fleet.create("s1")
    fleet.commands().tasks.cancel([first])
    return [first, fleet.create("s2", depends_on=(first,), on_dependency_failure="cancel")]


ENDS = (by_person, by_batch, by_deadline, by_decision, by_failure, by_lost_worker, by_birth)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: str(end.__name__))
def test_what_ends_in_the_wake_of_another_is_marked(fleet: Fleet, end: Callable[[Fleet], list[str]]) -> None:
    ids = end(fleet)
    fleet.wait_ended(ids)
    eventually(lambda: fleet.engine.store.executed(ids) == [True] * len(ids), 10)
    assert "repair.executed" not in planned(fleet)
