"""How many tasks of a batch stand in each status."""

from __future__ import annotations

import pytest

from services.domain.change import Cancel, Create, Forget, Republish
from services.domain.task.status import Status
from tests.contract.rig import Rig


def test_a_batch_is_counted_by_status(rig: Rig) -> None:
    for number, status in enumerate(Status):
        rig.in_status(status, shop_id=f"s{number}", batch="B")
        rig.in_status(status, shop_id=f"o{number}", batch="other")
    counts = {str(status): 1 for status in Status}
    counts["running"] += 1  # what keeps the shop of the blocked one busy is of the batch too
    assert rig.store.batch_counts(["B"])[0] == counts


def test_lanes_priorities_and_triage_are_of_one_batch(rig: Rig) -> None:
    for priority, lane in ((1, "low"), (5, "normal"), (10, "high")):
        rig.queued(batch="B", priority=priority, lane=lane)
    dead = rig.dead(batch="B")
    rig.ask(Republish(task_id=dead.task_id, task=rig.task(batch="B", parent=dead.task_id), by="ann"))
    assert rig.store.batch_counts(["B"])[0] == {"queued": 3, "dead": 1, "pending": 1}


@pytest.mark.parametrize("name", ["", "nobody", "B*"])
def test_a_batch_without_tasks_is_empty(rig: Rig, name: str) -> None:
    rig.create()
    rig.create(batch="B")
    assert rig.store.batch_counts([name])[0] == {}


def test_many_batches_are_counted_at_their_places(rig: Rig) -> None:
    rig.store.apply(
        [
            Create(task=rig.task(batch=f"B{number:03d}", shop_id=f"s{number}-{place}"))
            for number in range(600)
            for place in range(1 + number % 2)
        ]
    )
    done = rig.in_status("succeeded", batch="B001")
    rig.ask(Forget(task_id=done.task_id, updated_at=done.updated_at, tomb_ms=60_000))
    names = [f"B{number:03d}" for number in reversed(range(600))]
    asked = ["", *names, "nobody", "B001"]
    counts = {name: {"pending": 1 + int(name[1:]) % 2} for name in names}
    counts["B001"]["succeeded"] = 1
    assert rig.store.batch_counts(asked) == [counts.get(name, {}) for name in asked]
    assert rig.store.batch_counts([]) == []


def test_a_large_batch(rig: Rig) -> None:
    rig.store.apply([Create(task=rig.task(batch="B", shop_id=f"s{number}")) for number in range(600)])
    assert rig.store.batch_counts(["B"])[0] == {"pending": 600}


def test_batches_by_their_beginning(rig: Rig) -> None:
    for number, name in enumerate(("old", "middle", "new")):
        rig.create(batch=name, created_at=1000 + number)
        rig.create(batch=name, created_at=9000 - number)
    rig.create()
    assert rig.store.batches(10) == ([("new", 1002), ("middle", 1001), ("old", 1000)], "")
    page, cursor = rig.store.batches(2)
    assert [name for name, _ in page] == ["new", "middle"]
    assert rig.store.batches(2, cursor) == ([("old", 1000)], "")


def test_a_batch_of_which_no_record_is_left_is_none(rig: Rig) -> None:
    done, other = rig.in_status("succeeded", batch="B"), rig.queued(batch="B", shop_id="o")
    rig.queued(batch="C", shop_id="p")
    rig.ask(Forget(task_id=done.task_id, updated_at=done.updated_at, tomb_ms=60_000))
    assert {name for name, _ in rig.store.batches(9)[0]} == {"B", "C"}
    gone = rig.ask(Cancel(task_id=other.task_id, by="ann")).task
    assert gone is not None
    rig.ask(Forget(task_id=gone.task_id, updated_at=gone.updated_at, tomb_ms=60_000))
    assert [name for name, _ in rig.store.batches(9)[0]] == ["C"]
    assert rig.store.batch_counts(["B"])[0] == {"succeeded": 1, "cancelled": 1}
    rig.create(batch="B", shop_id="q")
    assert {name for name, _ in rig.store.batches(9)[0]} == {"B", "C"}


def test_no_batch_at_all(rig: Rig) -> None:
    rig.create()
    assert rig.store.batches(5) == ([], "")
