"""Records that vanish under running tasks, a store that falls silent: nothing is lost, nothing runs twice unasked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from services.domain.change import Answer, Claim, Op
from services.domain.errors import StoreUnavailable
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines


def wipe(fleet: Fleet) -> None:
    """Lose every record, as FLUSHALL does."""
    if fleet.kind == "fleet":
        with closing(redis.Redis.from_url(fleet.settings.store.url)) as client:
            client.flushdb()
        return
    with closing(sqlite3.connect(fleet.settings.database, timeout=30)) as db, db:
        for table in ("tasks", "tallies", "shop_tallies", "reservations", "documents", "shops"):
            db.execute(f"DELETE FROM {table}")


def found(fleet: Fleet, task_id: str, status: str) -> bool:
    """Whether there is a record of this status."""
    (task,) = fleet.engine.store.get([task_id])
    return task is not None and task.status == status


def test_a_running_task_whose_record_is_wiped_is_made_again_from_its_message(
    fleet: Fleet, seen: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    task_id = fleet.create(seen=str(seen), until=str(gate))
    fleet.worker()
    fleet.wait(task_id, "running")
    wipe(fleet)
    gate.touch()
    eventually(lambda: found(fleet, task_id, "succeeded"), 30)
    assert fleet.task(task_id).marks == ("recovered",)


def test_what_may_not_run_twice_is_held_when_its_record_was_wiped(fleet: Fleet, seen: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    task_id = fleet.create(kind="once", seen=str(seen), until=str(gate))
    fleet.worker()
    fleet.wait(task_id, "running")
    wipe(fleet)
    gate.touch()
    eventually(lambda: found(fleet, task_id, "held"), 30)
    assert len(lines(seen, "start")) == 1
    assert "record" in fleet.task(task_id).error
    assert fleet.ready("rpa_tasks_normal") == 0


def silent(real: Callable[[Sequence[Op]], list[Answer]], times: int, *, after: bool) -> Callable[[Sequence[Op]], Any]:
    """An apply that loses the replies to the first claims, or the claims themselves."""
    left = [times]

    def apply(ops: Sequence[Op]) -> list[Answer]:
        if left[0] and any(isinstance(op, Claim) for op in ops):
            left[0] -= 1
            if after:
                real(ops)
            raise StoreUnavailable("nobody answers")
        return real(ops)

    return apply


@pytest.mark.parametrize("after", [True, False], ids=["reply lost", "claim lost"])
def test_a_worker_knows_its_own_claim_when_the_reply_was_lost(
    fleet: Fleet, seen: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    worker = fleet.worker(start=False)
    store = fleet.engine.store
    monkeypatch.setattr(store, "apply", silent(store.apply, 2, after=after))
    task_id = fleet.create(kind="once", seen=str(seen))
    worker.start()
    task = fleet.wait(task_id, "succeeded")
    assert (task.attempt, task.losses) == (1, ())
    assert len(lines(seen, "start")) == 1
