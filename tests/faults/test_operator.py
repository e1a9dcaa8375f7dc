"""A console is killed in the middle of a bulk: the same words finish it, and each letter has one successor."""

from __future__ import annotations

import signal

import pytest

from services.domain.task.search.query import Query
from tests.contract.waiting import eventually
from tests.integration.cli_rig import Cli
from tests.integration.fleet_rig import Fleet

pytestmark = pytest.mark.fault
LETTERS = 60


def test_kill_9_in_the_middle_of_a_republish(cli: Cli, fleet: Fleet) -> None:
    ids = [fleet.create(f"s{number}", fail="missing_secret", n=number) for number in range(LETTERS)]
    worker = fleet.worker(8)
    fleet.wait_ended(ids)
    worker.stop()
    words = ("dead", "republish", "--filter", "kind:missing_secret", "--yes")
    with cli.start(*words, "--rate", "1200") as process:
        eventually(lambda: fleet.engine.store.counts().triage.get("republished", 0) >= 5, 90)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    sent = fleet.engine.store.counts().triage["republished"]
    assert 5 <= sent < LETTERS
    done = cli.run(*words)
    assert len(done["done"]) == LETTERS - sent
    fleet.reconciler().republish_outbox()
    records = fleet.engine.store.query(Query(limit=500)).tasks
    fresh = [task for task in records if task.parent]
    assert sorted(task.parent for task in fresh) == sorted(ids)
    assert {task.task_id: task.successor for task in records if not task.parent} == {
        task.parent: task.task_id for task in fresh
    }
    worker = fleet.worker(8)
    assert {task.attempt for task in fleet.wait_ended([task.task_id for task in fresh])} == {1}
