"""A page of the sample storefront that changes: its flow goes on, and brings nothing."""

from __future__ import annotations

import json

from services.domain.insight import drift
from services.domain.insight.drift import Flow
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from tests.unit.resources.sample_fleet import Fleet

MINUTE = 60_000


def record(number: int, result: dict[str, object]) -> Task:
    """What a worker records of such a run; a minute lies between two of them."""
    last = Attempt(1, "w", number * MINUTE, number * MINUTE + 900, "succeeded")
    return Task(
        task_id=f"t{number}", shop_id="pdd-10021", platform="pdd", task_type="sync_order", status=Status.SUCCEEDED,
        attempts=(last,), result=json.dumps(result),
    )  # fmt: skip


def test_a_page_that_lost_its_rows_is_told_within_five_runs(fleet: Fleet) -> None:
    flow, told = Flow("sync_order", "pdd"), []
    for number in range(17):
        if number == 12:
            fleet.trouble("pdd:pdd-10021", "empty")
        done = fleet.run("pdd_sync_order", "pdd-10021", task_id=f"t{number}")
        assert done.code == 0, done.stderr
        run = drift.run_of(record(number, done.result))
        assert run is not None
        flow.add(run)
        if found := flow.found(run.at).found:
            told.append((number, found[0].figure, found[0].after))
    assert told
    assert told[0][0] >= 12, "nothing is told of a page that is as it was"
    assert told[0][1:] == ("rows:orders", 0.0)
