"""A worker is struck off the list only when it is gone and holds nothing; both pairs."""

from __future__ import annotations

import pytest

from services.domain.change import Claim, Finish
from services.domain.errors import UsageError
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.record import Attempt
from tests.integration.fleet_rig import Fleet
from tests.support.heartbeats import beat_ago

INFO = WorkerInfo(worker="desk-7", host="h", pid=1)
HOUR_MS = 3_600_000


def refused(fleet: Fleet, words: str) -> None:
    """It is refused, and the worker stands where it stood."""
    with pytest.raises(UsageError, match=words) as caught:
        fleet.commands().fleet.forget_worker("desk-7")
    assert caught.value.field == "worker"
    assert [one.worker for one in fleet.engine.store.workers()] == ["desk-7"]


def forgotten(fleet: Fleet) -> None:
    """Nothing is in the way any more."""
    fleet.commands().fleet.forget_worker("desk-7")
    assert fleet.engine.store.workers() == []
    assert [(one.action, one.target, one.outcome) for one in fleet.engine.store.audit(1)] == [
        ("worker.forget", ("desk-7",), "done")
    ]


def test_one_that_lives_or_was_heard_of_a_moment_ago_stays(fleet: Fleet) -> None:
    fleet.engine.store.heartbeat(INFO)
    refused(fleet, "desk-7 is alive")
    beat_ago(fleet.settings, INFO, 15_000)
    refused(fleet, "until a moment ago")
    assert fleet.engine.store.audit(1) == [], "it was not even begun"
    beat_ago(fleet.settings, INFO, HOUR_MS)
    forgotten(fleet)


def test_one_that_still_holds_a_claim_stays_until_that_is_over(fleet: Fleet) -> None:
    slot = SlotState(task_id="t-1", task_type="work", shop="pdd:s1", lane="normal", attempt=1, since=1)
    beat_ago(fleet.settings, WorkerInfo(worker="desk-7", host="h", pid=1, slots=(slot,)), HOUR_MS)
    task = fleet.task(fleet.create(task_id="t-1"))
    claim = Claim(
        task_id="t-1", gen=task.gen, attempt=task.attempt, owner="desk-7#1", worker="desk-7", lease_ms=600_000
    )
    assert fleet.apply(claim).code == "run"
    refused(fleet, "may still hold 1 task")
    done = Attempt(number=1, worker="desk-7", started_at=1, ended_at=2, outcome="succeeded")
    assert fleet.apply(Finish(task_id="t-1", owner="desk-7#1", to="succeeded", attempt=done)).code == "ok"
    forgotten(fleet)


def test_one_that_is_back_before_it_is_struck_off_stays(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold a task by then, and have been told something."""
    store = fleet.engine.store
    beat_ago(fleet.settings, INFO, HOUR_MS)
    look = store.workers

    def looked() -> list[WorkerInfo]:
        found = look()
        store.heartbeat(INFO)
        return found

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(store, "workers", looked)
        with pytest.raises(UsageError, match="desk-7 is alive"):
            fleet.commands().fleet.forget_worker("desk-7")
    assert [one.worker for one in store.workers()] == ["desk-7"]
    assert store.audit(1)[0].outcome.startswith("refused: ")
