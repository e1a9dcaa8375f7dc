"""A store of before knows its old ends as soon as somebody leads: nobody has to think of ``repair``."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import redis

from services.store.redis import keys
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet


def test_whoever_leads_counts_what_ended_before(fleet: Fleet) -> None:
    worker = fleet.worker()
    task_id = fleet.create("s1", "single")
    fleet.wait(task_id, "succeeded")
    worker.stop(0.0)
    work = fleet.task(task_id).work
    if url := fleet.settings.store.url:
        with redis.Redis.from_url(url) as client:
            client.delete(keys.WORK + work)
    else:
        with closing(sqlite3.connect(fleet.settings.database, timeout=30)) as conn, conn:
            conn.execute("DELETE FROM works")
    store = fleet.engine.store
    assert store.ran([work]) == [None]
    fleet.steward()

    def days() -> list[tuple[int, str]]:
        (ran,) = store.ran([work])
        return [(day.succeeded, day.first_id) for day in ran.days] if ran is not None else []

    eventually(lambda: days() == [(1, task_id)], 30)
