"""Several processes on one store: no lock error, nothing done twice, nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.domain.task.search.query import Query
from services.domain.task.status import TERMINAL
from services.ports import Store
from tests.contract.conftest import open_store
from tests.contract.rig import ended, recount, same_counts

pytestmark = pytest.mark.race

ROOT = Path(__file__).resolve().parents[2]
PROCESSES, TASKS_EACH, SHOPS = 4, 150, 6


def _events(store: Store, cursor: str) -> list[Any]:
    found: list[Any] = []
    while (batch := store.events(cursor, 1000, 0)).events:
        found += batch.events
        cursor = batch.cursor
    return found


def test_processes_share_the_work(store_kind: str, store_place: Any) -> None:
    store = open_store(store_kind, store_place, SystemClock())
    start = store.events("", 1, 0).cursor
    command = [sys.executable, "-m", "tests.contract.crowd", store_kind, str(store_place)]
    sizes = [str(TASKS_EACH), str(SHOPS)]
    crowd = [
        subprocess.Popen([*command, f"p{number}", *sizes], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(PROCESSES)
    ]
    reports = []
    for process in crowd:
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err.decode()
        reports.append(json.loads(out))
    tasks = store.query(Query(limit=10_000)).tasks
    assert len(tasks) == PROCESSES * TASKS_EACH
    assert {task.status for task in tasks} <= TERMINAL
    assert sorted(done for report in reports for done in report["done"]) == sorted(task.task_id for task in tasks)
    events = _events(store, start)
    assert ended(events) == {task.task_id: 1 for task in tasks}
    assert same_counts(store.counts(), recount(tasks))
    assert most_at_once(events) <= 1
    assert sum(report["ran"] > 0 for report in reports) >= 2
    store.close()


def most_at_once(events: list[Any]) -> int:
    """The most tasks of one shop that ran at the same time, by the order of the events."""
    running: dict[str, int] = {}
    most = 0
    for event in events:
        if event.to == "running":
            running[event.shop_id] = running.get(event.shop_id, 0) + 1
        elif event.from_ == "running":
            running[event.shop_id] -= 1
        most = max(most, running.get(event.shop_id, 0))
    return most
