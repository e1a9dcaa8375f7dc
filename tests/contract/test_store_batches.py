"""How many tasks of a batch stand in each status."""

from __future__ import annotations

import pytest

from services.domain.change import Create, Republish
from services.domain.status import Status
from tests.contract.rig import Rig


def test_a_batch_is_counted_by_status(rig: Rig) -> None:
    for number, status in enumerate(Status):
        rig.in_status(status, shop_id=f"s{number}", batch="B")
        rig.in_status(status, shop_id=f"o{number}", batch="other")
    counts = {str(status): 1 for status in Status}
    counts["running"] += 1  # what keeps the shop of the blocked one busy is of the batch too
    assert rig.store.batch_counts("B") == counts


def test_lanes_priorities_and_triage_are_of_one_batch(rig: Rig) -> None:
    for priority, lane in ((1, "low"), (5, "normal"), (10, "high")):
        rig.queued(batch="B", priority=priority, lane=lane)
    dead = rig.dead(batch="B")
    rig.ask(Republish(task_id=dead.task_id, task=rig.task(batch="B", parent=dead.task_id), by="ann"))
    assert rig.store.batch_counts("B") == {"queued": 3, "dead": 1, "pending": 1}


@pytest.mark.parametrize("name", ["", "nobody", "B*"])
def test_a_batch_without_tasks_is_empty(rig: Rig, name: str) -> None:
    rig.create()
    rig.create(batch="B")
    assert rig.store.batch_counts(name) == {}


def test_a_large_batch(rig: Rig) -> None:
    rig.store.apply([Create(task=rig.task(batch="B", shop_id=f"s{number}")) for number in range(600)])
    assert rig.store.batch_counts("B") == {"pending": 600}
