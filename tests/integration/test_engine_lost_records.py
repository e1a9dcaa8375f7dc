"""Records that vanish under running tasks, a store that falls silent: nothing is lost, nothing runs twice unasked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from services import repairs
from services.domain.change import UNREADABLE, Answer, Claim, Nudge, Op
from services.domain.errors import StoreUnavailable
from services.domain.task.order import Order, Receipt
from services.store.redis import keys
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


@pytest.mark.parametrize("kind", ["work", "once"])
def test_a_running_task_whose_record_is_wiped_goes_on_and_its_end_is_recorded(
    fleet: Fleet, seen: Path, tmp_path: Path, kind: str
) -> None:
    gate = tmp_path / "gate"
    task_id = fleet.create(kind=kind, seen=str(seen), until=str(gate))
    fleet.worker()
    fleet.wait(task_id, "running")
    wipe(fleet)
    gate.touch()
    eventually(lambda: found(fleet, task_id, "succeeded"), 30)
    assert len(lines(seen, "start")) == 1
    assert fleet.task(task_id).marks == ("recovered",)
    assert fleet.ready("rpa_tasks_normal") == 0


def test_what_may_not_run_twice_is_held_when_its_record_was_wiped(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(kind="once", seen=str(seen))
    wipe(fleet)
    fleet.worker()
    eventually(lambda: found(fleet, task_id, "held"), 30)
    assert lines(seen, "start") == []
    assert "record" in fleet.task(task_id).error
    assert fleet.ready("rpa_tasks_normal") == 0


def test_what_may_run_twice_is_made_again_from_its_message(fleet: Fleet, seen: Path) -> None:
    task_id = fleet.create(seen=str(seen))
    wipe(fleet)
    fleet.worker()
    eventually(lambda: found(fleet, task_id, "succeeded"), 30)
    assert fleet.task(task_id).marks == ("recovered",)


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


# ------------------------------------------------------------------------------ what cannot be read while it is claimed
def damage(fleet: Fleet, task_id: str) -> None:
    """Spoil the payload of a record: on Redis a claim goes through, and who claimed cannot read what it was given."""
    if fleet.kind == "fleet":
        with closing(redis.Redis.from_url(fleet.settings.store.url)) as client:
            stored = client.get(keys.TASK + task_id)
            assert isinstance(stored, bytes)
            client.set(keys.TASK + task_id, stored.replace(b'"seen"', b'"\xffeen"'))
        return
    with closing(sqlite3.connect(fleet.settings.database, timeout=30)) as db, db:
        db.execute("UPDATE tasks SET data = x'fffe80' WHERE task_id = ?", (task_id,))


def started(seen: Path) -> list[str]:
    """The tasks that were begun, as often as they were."""
    return [row[1] for row in lines(seen, "start")]


def delayed(fleet: Fleet) -> int:
    """Messages in the delay queues."""
    return sum(depth.ready for depth in fleet.engine.broker.depths() if depth.kind == "delay")


def test_a_message_of_a_damaged_record_waits_for_the_repair_and_makes_it_again(fleet: Fleet, seen: Path) -> None:
    bad = fleet.create(seen=str(seen))
    damage(fleet, bad)
    same_shop, other = fleet.create(seen=str(seen), n=2), fleet.create(shop="s2", seen=str(seen))
    fleet.worker(slots=1)
    fleet.wait(other, "succeeded")  # the worker's one slot was not taken
    if fleet.kind == "fleet":  # SQLite puts such a record aside when it meets it: nothing waits there
        eventually(lambda: delayed(fleet) == 1, 30)
        assert any(bad in one.place + one.entry for one in fleet.engine.store.damage(lambda *_: None, deep=True))
        assert bad not in started(seen)
    repairs.commands(fleet.engine).repair()
    assert fleet.wait_ended([same_shop])[0].status == "succeeded"  # the shop's slot is free
    eventually(lambda: found(fleet, bad, "succeeded"), 30)
    assert fleet.task(bad).marks == ("recovered",)
    assert started(seen).count(bad) == 1
    assert fleet.engine.store.damage(lambda *_: None, deep=True) == []


def test_a_message_that_meets_something_spoilt_comes_back_until_it_is_repaired_and_only_once(
    fleet: Fleet, seen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is sound, and what the claim needs beside it is not; meanwhile the message is found missing, too."""
    store, broker = fleet.engine.store, fleet.engine.broker
    spoilt, claims, parked = [True], list[str](), list[Order]()
    apply, publish = store.apply, broker.publish

    def meets(ops: Sequence[Op]) -> list[Answer]:
        if spoilt[0] and any(isinstance(op, Claim) for op in ops):
            claims.extend(op.task_id for op in ops if isinstance(op, Claim))
            return [Answer(UNREADABLE, words="a key is something else") for _ in ops]
        return apply(ops)

    def published(orders: Sequence[Order]) -> list[Receipt]:
        parked.extend(order for order in orders if order.kind == "delay")
        return publish(orders)

    monkeypatch.setattr(store, "apply", meets)
    monkeypatch.setattr(broker, "publish", published)
    task_id = fleet.create(seen=str(seen))
    fleet.worker(slots=1)
    eventually(lambda: len(parked) == 4, 60)  # it comes back every few seconds, and not at once
    task = fleet.task(task_id)
    fleet.engine.steps.apply([Nudge(task_id=task_id, gen=task.gen, attempt=task.attempt)])
    eventually(lambda: len(parked) == 7, 60)  # the second message at once, and then twice more
    assert len(claims) - len(parked) == 1, "the older of the two has ended"
    spoilt[0] = False
    fleet.wait(task_id, "succeeded", seconds=60)
    assert len(lines(seen, "start")) == 1
    assert fleet.task(task_id).marks == ()
