"""A record whose bytes are none counts as missing, is kept, and holds up nobody else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from services.clock import SystemClock
from services.domain.change import Create, Published
from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.domain.task.status import Status
from services.ports import ScheduleEntry, Store
from services.store.redis import keys
from tests.contract.conftest import open_store
from tests.contract.rig import Rig

JUNK = b"\xff" * 200


@pytest.fixture
def spoil(store_kind: str, store_place: Any) -> Any:
    """Overwrites the record of a task behind the store's back."""

    def write(task: Task) -> None:
        if store_kind == "redis":
            redis.Redis.from_url(store_place).set(keys.task(task.task_id), JUNK)
            return
        with closing(sqlite3.connect(Path(store_place))) as conn, conn:
            conn.execute("UPDATE tasks SET data = ? WHERE task_id = ?", (JUNK, task.task_id))
        conn.close()

    return write


def ids(tasks: list[Task]) -> list[str]:
    return [task.task_id for task in tasks]


def test_what_the_reconciler_asks_for_comes_without_it(rig: Rig, spoil: Any) -> None:
    now = rig.store.now_ms()
    plans = [rig.create(status=Status.SCHEDULED, due_at=now + 300, shop_id=shop) for shop in ("s1", "s2")]
    marked = [rig.create(shop_id=shop) for shop in ("s3", "s4")]
    leased = [rig.running(shop_id=shop, lease_ms=100) for shop in ("s5", "s6")]
    rig.pass_time(0.4)
    for task in (plans[0], marked[0], leased[0]):
        spoil(task)
    assert ids(rig.store.due(10)) == [plans[1].task_id]
    assert marked[1].task_id in ids(rig.store.outbox(0, 10))
    assert marked[0].task_id not in ids(rig.store.outbox(0, 10))
    assert ids(rig.store.expired(10)) == [leased[1].task_id]
    assert rig.store.get([plans[0].task_id, plans[1].task_id])[0] is None


def test_more_of_them_than_are_asked_for_at_a_time_hide_nobody(rig: Rig, spoil: Any) -> None:
    due_at = rig.store.now_ms() + 300
    plans = [rig.create(status=Status.SCHEDULED, due_at=due_at + n, shop_id=f"s{n}") for n in range(7)]
    marked = [rig.create(shop_id=f"t{n}") for n in range(7)]
    rig.pass_time(0.4)
    for task in (*plans[:5], *marked[:5]):
        spoil(task)
    assert ids(rig.store.due(2)) == [plans[5].task_id, plans[6].task_id]
    assert ids(rig.store.outbox(0, 2)) == [marked[5].task_id, marked[6].task_id]


@pytest.mark.parametrize("sort", ["created", "priority"])
def test_a_list_goes_on_behind_it(rig: Rig, spoil: Any, sort: str) -> None:
    tasks = [rig.create(shop_id=f"s{number}") for number in range(7)]
    for task in tasks[1:4]:
        spoil(task)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = rig.store.query(Query(sort=sort, descending=False, limit=2, cursor=cursor))
        seen += ids(list(page.tasks))
        cursor = page.next
    assert seen == ids([tasks[0], *tasks[4:]])


def test_a_claim_calls_it_missing_and_may_bring_it_back(store: Store, rig: Rig, spoil: Any) -> None:
    lost, other = rig.create(), rig.create(shop_id="s2")
    spoil(lost)
    assert rig.claim(lost).code == "missing"
    assert rig.claim(other).code == "run"
    assert rig.ask(Create(task=lost)).code == "created"
    assert store.get([lost.task_id])[0] is not None


def test_it_stands_in_no_new_task_s_way(rig: Rig, spoil: Any) -> None:
    lost = rig.create(uniq="only-one")
    spoil(lost)
    assert rig.ask(Create(task=rig.task(uniq="only-one"))).code == "created"


@pytest.mark.redis
def test_a_spoiled_schedule_hides_no_other(redis_url: str) -> None:
    store = open_store("redis", redis_url, SystemClock())
    for name, at in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
        store.put_schedule(ScheduleEntry(name=name, body="{}", next_at=at), 0)
    for name in ("a", "b", "c"):
        redis.Redis.from_url(redis_url).hset(keys.SCHEDULES, name, JUNK)
    assert [one.name for one in store.due_schedules(2)] == ["d"]
    assert [one.name for one in store.schedules()] == ["d"]
    store.close()


def test_what_nobody_waits_for_meets_it_and_holds_up_nobody(rig: Rig, spoil: Any) -> None:
    lost, sound = rig.create(shop_id="s1"), rig.create(shop_id="s2")
    spoil(lost)
    rig.store.apply_soon(
        [Published(task_id=task.task_id, status="pending", gen=0, attempt=0) for task in (lost, sound)]
    )
    other = rig.create(shop_id="s3")
    assert [rig.record(task).status for task in (sound, other)] == [Status.QUEUED, Status.PENDING]


def test_what_is_no_record_says_whether_it_was_one(rig: Rig, spoil: Any) -> None:
    here, claimed, moved, other = (rig.create(shop_id=f"s{number}", task_id=f"t:{number}") for number in range(4))
    for task in (here, claimed, moved):
        spoil(task)
    assert rig.claim(claimed).code == "missing"
    found = [one for one in rig.store.damage(lambda *_words: None, deep=True) if one.name == moved.task_id]
    assert rig.store.set_aside(found) == 1
    told = {task.task_id: rig.store.unread(task.task_id) for task in (here, claimed, moved, other)}
    assert told == {"t:0": "there", "t:1": "aside", "t:2": "aside", "t:3": ""}
    assert [rig.store.unread(name) for name in ("t", "t:", "nobody")] == ["", "", ""]
    assert rig.ask(Create(task=moved)).code == "created"
    assert rig.store.unread(moved.task_id) == ""
