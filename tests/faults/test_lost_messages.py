"""The broker loses ten of a thousand messages while a worker is at them; all thousand end, each once."""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, channel, lines

pytestmark = pytest.mark.fault

QUEUE = "rpa_tasks_normal"
SHOPS = itertools.count()  #: each task has a shop of its own


def test_ten_of_a_thousand_messages_are_deleted(fleet: Fleet, tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    ids = submit(fleet, 200, seen)
    lost = delete_first(fleet, 10)
    assert len(set(lost) & set(ids)) == 10
    # two looks at an empty queue are never far enough apart here: what came out later is the only sign
    reconciler = fleet.reconciler(missing_after_ms=10**12, overtaken_ms=1_500)
    worker = fleet.worker(8)
    found = 0
    while len(ids) < 1_000:
        ids += submit(fleet, 100, seen)
        eventually(lambda: fleet.ready(QUEUE) < 100, 60)
        found += reconciler.find_missing(fleet.engine.broker.depths())

    def mended() -> bool:
        nonlocal found
        ids.extend(submit(fleet, 1, seen))
        found += reconciler.find_missing(fleet.engine.broker.depths())
        return found >= 10

    eventually(mended, 60)
    assert {task.status for task in fleet.wait_ended(ids, 60)} == {"succeeded"}
    assert worker.state == "running"
    starts = Counter(row[1] for row in lines(seen, "start"))
    assert set(starts) == set(ids)
    assert set(starts.values()) == {1}


def submit(fleet: Fleet, count: int, seen: Path) -> list[str]:
    """Tasks of as many shops."""
    specs = [
        TaskSpec(
            platform="pdd",
            shop_id=f"s{next(SHOPS)}",
            task_type="work",
            payload={"seen": str(seen)},
            if_duplicate="queue",
        )
        for _ in range(count)
    ]
    return [task.task_id for task in fleet.submit(*specs).created]


def delete_first(fleet: Fleet, count: int) -> list[str]:
    """Take the first messages away, as a stranger's hand does; their task ids."""
    if fleet.kind == "fleet":
        with channel(fleet.settings.broker.url) as raw:
            return [raw.basic_get(QUEUE, auto_ack=True)[1].message_id for _ in range(count)]
    with closing(sqlite3.connect(fleet.settings.database, timeout=30)) as db, db:
        sql = "SELECT id, message_id FROM messages WHERE queue = ? AND owner = 0 ORDER BY id LIMIT ?"
        rows = db.execute(sql, (QUEUE, count)).fetchall()
        db.executemany("DELETE FROM messages WHERE id = ?", [(number,) for number, _ in rows])
    return [task_id for _, task_id in rows]
