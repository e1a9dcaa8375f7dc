"""Indexes and counters that differ from the records are found, and set right beside others who write."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import redis

from services.domain.change import Cancel, Claim, Create
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.domain.upkeep.miscount import Miscount
from services.ports import Store
from services.store.redis import keys
from tests.contract.rig import Rig, recount, same_counts


@pytest.fixture
def break_it(store_kind: str, store_place: Any) -> Callable[..., None]:
    """Change the store behind everybody's back: an SQL statement, or a command of Redis."""

    def change(sql: str, *command: Any) -> None:
        if store_kind == "embedded":
            with closing(sqlite3.connect(store_place, timeout=30)) as conn, conn:
                conn.execute(sql)
            return
        client = redis.Redis.from_url(store_place)
        client.execute_command(*command)
        client.close()

    return change


def crowd(rig: Rig) -> list[str]:
    """Tasks in every status, marked and unmarked, at gates, twins."""
    made = [rig.in_status(status, shop_id=f"s{n}", uniq=f"u{n}") for n, status in enumerate(map(str, Status))]
    made.append(rig.create(shop_id="s1", batch="b", uniq="u1x"))
    made.append(rig.dead(shop_id="s0", uniq=""))
    unserved = rig.queued(shop_id="lonely")
    claim = Claim(task_id=unserved.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1000, able=False)
    assert rig.ask(claim).code == "blocked"
    return [task.task_id for task in made]


def kinds(found: list[Miscount]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for one in found:
        counted[one.kind] = counted.get(one.kind, 0) + one.count
    return counted


@pytest.mark.parametrize("shop", ["s", "s{}"])
def test_many_at_once_leave_nothing_but_themselves(rig: Rig, shop: str) -> None:
    tasks = [rig.task(shop_id=shop.format(number), batch="B", uniq=f"u{number}") for number in range(40)]
    rig.store.apply([Create(task=task) for task in tasks])
    page = rig.store.query(Query(limit=100))
    assert {task.task_id for task in page.tasks} == {task.task_id for task in tasks}
    assert rig.store.recount(mend=False) == []
    rig.store.apply([Cancel(task_id=task.task_id, by="ann") for task in tasks])
    assert rig.store.recount(mend=False) == []


def test_a_store_that_is_right_is_left_alone(rig: Rig) -> None:
    crowd(rig)
    before = rig.store.counts()
    assert rig.store.recount(mend=False) == []
    assert rig.store.recount(mend=True) == []
    assert same_counts(rig.store.counts(), before)


def test_a_counter_is_counted_anew(rig: Rig, break_it: Callable[..., None]) -> None:
    crowd(rig)
    before = rig.store.counts()
    field = next(iter(before.status))
    assert field
    break_it("UPDATE tallies SET n = n + 3", "HSET", keys.BY_KIND, "pdd|t|normal|queued||6", 17)
    break_it("DELETE FROM shop_tallies WHERE shop_id = 's1'", "HDEL", keys.BY_SHOP, "pdd:s1")
    looked = rig.store.recount(mend=False)
    assert kinds(looked)["counter"] >= 2
    assert all(one.left == one.count for one in looked)
    assert not same_counts(rig.store.counts(), before)
    assert all(one.left == 0 for one in rig.store.recount(mend=True))
    assert same_counts(rig.store.counts(), before)
    assert rig.store.recount(mend=False) == []


def test_the_counters_of_a_shop_are_told_as_they_stand(rig: Rig, break_it: Callable[..., None]) -> None:
    crowd(rig)
    before = rig.store.counts().shops
    assert "pdd:s1" in before
    break_it("DELETE FROM shop_tallies WHERE shop_id = 's1'", "HDEL", keys.BY_SHOP, "pdd:s1")
    assert rig.store.counts().shops == {shop: row for shop, row in before.items() if shop != "pdd:s1"}
    rig.store.recount(mend=True)
    assert rig.store.counts().shops == before


def test_a_task_that_no_index_knows_is_found_again(rig: Rig, break_it: Callable[..., None]) -> None:
    task = rig.queued(shop_id="s1", batch="b1")
    gone = f"DELETE FROM tasks WHERE task_id = '{task.task_id}'"
    break_it(gone.replace("DELETE FROM tasks", "UPDATE tasks SET status = 'held', lane = 'low', batch = ''"),
             "DEL", keys.status("queued", task.priority, task.lane), keys.BATCH + "b1")  # fmt: skip
    query = Query(terms=(equals("status", "queued"),))
    assert rig.store.query(query).tasks == ()
    found = rig.store.recount(mend=True)
    assert (kinds(found)["index"], found[0].left) == (1, 0)
    assert [one.task_id for one in rig.store.query(query).tasks] == [task.task_id]
    assert [one.task_id for one in rig.store.query(Query(terms=(equals("batch", "b1"),))).tasks] == [task.task_id]
    assert rig.store.recount(mend=False) == []


def test_a_parked_task_comes_back_to_its_lot(rig: Rig, break_it: Callable[..., None]) -> None:
    task = rig.in_status("blocked", shop_id="s1")
    lot = f"{keys.LOT}pdd:s1|{task.task_type}"
    break_it("UPDATE tasks SET lot = NULL", "DEL", lot, keys.LOTS, keys.LOT_TYPES + "pdd:s1")
    assert rig.store.parked_shops(5) == [] or rig.open() == []
    assert kinds(rig.store.recount(mend=True))["index"] == 1
    assert rig.store.parked_shops(5) == ["pdd:s1"]
    (keeper,) = rig.store.query(Query(terms=(equals("status", "running"),))).tasks
    released = rig.finish(keeper).released
    assert [one.task_id for one in released] == [task.task_id]


def test_what_an_index_names_and_nobody_has_goes(rig: Rig, store_kind: str, store_place: Any) -> None:
    if store_kind == "embedded":
        return  # SQLite keeps its indexes by itself
    task = rig.queued()
    client = redis.Redis.from_url(store_place)
    client.zadd(keys.UPDATED, {"nobody": 5})
    client.zadd(keys.status("running", 5), {task.task_id: 7, "nobody": 1})
    client.zadd(keys.LEASES, {task.task_id: 1})
    assert kinds(rig.store.recount(mend=False))["index"] == 4
    assert all(one.left == 0 for one in rig.store.recount(mend=True))
    assert rig.store.expired(5) == []
    assert rig.store.recount(mend=False) == []
    client.close()


def test_a_reservation_that_never_ends_is_taken_away(rig: Rig, break_it: Callable[..., None]) -> None:
    """As a clock leaves it that was far ahead for a while."""
    task = rig.queued(shop_id="s1")
    far = rig.store.now_ms() + 86_400_000
    break_it(f"INSERT INTO reservations VALUES ('x', 'pdd', 's1', {far})", "ZADD", keys.RESERVED + "pdd:s1", far, "x")
    break_it("SELECT 1", "ZADD", keys.RESERVING, far, "pdd:s1")
    assert kinds(rig.store.recount(mend=False)) == {"reservation": 1}
    rig.store.recount(mend=True)
    assert rig.claim(task, "w1#1").code == "run"


def test_a_reservation_that_has_run_out_is_no_finding(rig: Rig, break_it: Callable[..., None]) -> None:
    """It promises nothing any more, whatever became of its task; it goes with the next one that is made."""
    task = rig.running(shop_id="s1")
    past, far = rig.store.now_ms() - 5_000, rig.store.now_ms() + 86_400_000
    row = f"INSERT INTO reservations VALUES ('{task.task_id}', 'pdd', 's1', {past})"
    break_it(row, "ZADD", keys.RESERVED + "pdd:s1", past, task.task_id)
    break_it("SELECT 1", "ZADD", keys.RESERVING, far, "pdd:s1")
    assert rig.store.recount(mend=False) == []


def test_bytes_that_are_no_record_are_named(rig: Rig, break_it: Callable[..., None]) -> None:
    task = rig.queued()
    other = rig.queued()
    break_it(
        f"UPDATE tasks SET data = x'00' WHERE task_id = '{task.task_id}'", "SET", keys.task(task.task_id), b"\x00" * 30
    )
    (found,) = rig.store.damage(lambda kind, name, body: None, deep=True)
    assert task.task_id in f"{found.place} {found.entry}"
    assert rig.claim(other, "w1#1").code == "run"


def test_others_may_write_meanwhile(rig: Rig, second_store: Store, break_it: Callable[..., None]) -> None:
    ids = [rig.queued(shop_id=f"s{n % 5}").task_id for n in range(60)]
    break_it("UPDATE tallies SET n = n + 3 WHERE status = 'queued'", "ZREM", keys.UPDATED, *ids[:20])
    stop = threading.Event()

    def work() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            fresh = rig.task(shop_id="busy")
            second_store.apply([Create(task=fresh)])
            second_store.apply([Cancel(task_id=fresh.task_id, by="ann")])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(3):
            rig.store.recount(mend=True)
    finally:
        stop.set()
        thread.join()
    rig.store.recount(mend=True)
    everything = []
    page = rig.store.query(Query(limit=1000))
    everything += page.tasks
    while page.next is not None:
        page = rig.store.query(Query(limit=1000, cursor=page.next))
        everything += page.tasks
    assert same_counts(rig.store.counts(), recount(everything))
    assert rig.store.recount(mend=False) == []
