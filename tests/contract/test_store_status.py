"""A record with a status that this program does not know: seen as it is, and neither started nor replaced."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from services.domain.change import UNREADABLE, Cancel, Claim, Create
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.ports import Store
from services.store.redis import keys
from tests.contract.rig import Rig

KNOWN, FOREIGN = b"queued", b"asleep"


@pytest.fixture
def foreign(store_kind: str, store_place: Any, rig: Rig) -> Any:
    """Makes a queued task one of another program, behind the store's back."""

    def write(task: Task) -> Task:
        if store_kind == "redis":
            client = redis.Redis.from_url(store_place)
            key = keys.task(task.task_id)
            client.set(key, client.get(key).replace(KNOWN, FOREIGN))
            client.close()
        else:
            with closing(sqlite3.connect(Path(store_place))) as conn, conn:
                (data,) = conn.execute("SELECT data FROM tasks WHERE task_id = ?", (task.task_id,)).fetchone()
                words = (FOREIGN.decode(), data.replace(KNOWN, FOREIGN), task.task_id)
                conn.execute("UPDATE tasks SET status = ?, data = ? WHERE task_id = ?", words)
        return rig.record(task)

    return write


def test_it_is_seen_and_nothing_starts_ends_or_replaces_it(store: Store, rig: Rig, foreign: Any) -> None:
    task, other = foreign(rig.queued(uniq="only-one")), rig.queued(shop_id="s2")
    assert task.status == FOREIGN.decode()
    claim = {"gen": 0, "attempt": 0, "owner": "w#1", "worker": "w", "lease_ms": 60_000}
    ops = (
        Claim(task_id=task.task_id, adopt=task, **claim),
        Cancel(task_id=task.task_id, by="ann"),
        Create(task=task),
        Claim(task_id=other.task_id, **claim),
    )
    answers = store.apply(ops)
    assert [answer.code for answer in answers] == [*[UNREADABLE] * 3, "run"]
    assert all("asleep" in answer.words for answer in answers[:3])
    assert rig.record(task) == task
    assert task in store.query(Query(terms=(equals("shop", task.shop),))).tasks


def test_the_doctor_names_it(store: Store, rig: Rig, foreign: Any) -> None:
    task = foreign(rig.queued())
    (found,) = store.damage(lambda *_: None, deep=True)
    assert task.task_id in found.place + found.entry
    assert "'asleep' is no status that this version knows" in found.why
