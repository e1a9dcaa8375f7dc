"""What is noted beside the records (links, deadlines, limits, claims) is found wrong and set right."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import redis

from services.domain.change import Cancel, Create, Forget, OpenLimit, Relink
from services.domain.gates import dependency
from services.domain.gates.limit import Limit
from services.domain.task.search.query import Query, equals
from services.domain.upkeep.miscount import Miscount
from services.store.redis import keys
from tests.contract.rig import Rig

Break = Callable[..., None]
SOON = 4_000_000_000_000


@pytest.fixture
def break_it(store_kind: str, store_place: Any) -> Break:
    """Change the store behind everybody's back: an SQL statement, or commands of Redis."""

    def change(sql: str, *commands: tuple[Any, ...]) -> None:
        if store_kind == "embedded":
            with closing(sqlite3.connect(store_place, timeout=30)) as conn, conn:
                conn.execute(sql)
            return
        with closing(redis.Redis.from_url(store_place)) as client:
            for command in commands:
                client.execute_command(*command)

    return change


def found(rig: Rig, *, mend: bool = False) -> dict[str, Miscount]:
    return {one.kind: one for one in rig.store.recount(mend=mend)}


def relinked(rig: Rig, task_id: str) -> list[str]:
    """Answers of a look, of the act, and of another look."""
    asks = (Relink(task_id=task_id, look=True), Relink(task_id=task_id), Relink(task_id=task_id, look=True))
    return [rig.ask(op).code for op in asks]


# ------------------------------------------------------------------------------------------------------------- links
def test_a_link_that_was_lost_is_noted_again(rig: Rig, break_it: Break) -> None:
    first, other = rig.running(), rig.in_status("succeeded", shop_id="o")
    names = (first.task_id, other.task_id)
    waiting = rig.create(shop_id="s2", depends_on=names)
    planned = rig.create(shop_id="s3", depends_on=names, status="scheduled", due_at=SOON)
    assert [relinked(rig, task.task_id) for task in (waiting, planned)] == [["stale"] * 3] * 2
    lost = [(keys.NEEDS + task.task_id,) for task in (waiting, planned)]
    break_it("DELETE FROM dependencies", *(("DEL", *one) for one in lost),
             ("DEL", keys.DEPENDANTS + first.task_id, keys.NEEDED))  # fmt: skip
    assert rig.store.needs([waiting.task_id])[0] == []
    assert [relinked(rig, task.task_id) for task in (waiting, planned)] == [["ok", "ok", "stale"]] * 2
    assert rig.store.needs([waiting.task_id])[0] == rig.store.needs([planned.task_id])[0] == [first.task_id]
    assert [task.task_id for task in rig.finish(first).released] == [waiting.task_id]


def test_a_task_that_waits_for_nothing_any_more_goes(rig: Rig, break_it: Break) -> None:
    """Its dependency has succeeded, and it was not told."""
    first = rig.running()
    waiting = rig.create(shop_id="s2", depends_on=(first.task_id,))
    break_it("DELETE FROM dependencies", ("DEL", keys.DEPENDANTS + first.task_id, keys.NEEDED))
    assert rig.finish(first).released == ()
    answer = rig.ask(Relink(task_id=waiting.task_id))
    assert [task.task_id for task in answer.released] == [waiting.task_id]
    assert rig.record(waiting).status == "pending"
    assert waiting.task_id in rig.outbox()
    assert rig.ask(Relink(task_id=waiting.task_id)).code == "stale"


def test_a_failure_that_was_not_told_ends_those_that_asked_for_it(rig: Rig, break_it: Break) -> None:
    first = rig.running()
    waiting = rig.create(shop_id="s2", depends_on=(first.task_id,), on_dependency_failure="cancel")
    after = rig.create(shop_id="s3", depends_on=(waiting.task_id,), on_dependency_failure="cancel")
    break_it(f"DELETE FROM dependencies WHERE needs = '{first.task_id}'",
             ("DEL", keys.DEPENDANTS + first.task_id), ("SREM", keys.NEEDED, first.task_id))  # fmt: skip
    rig.finish(first, "dead", error="e", error_kind="network")
    assert rig.ask(Relink(task_id=waiting.task_id, look=True)).code == "ok"
    assert rig.record(waiting).status == "blocked"
    answer = rig.ask(Relink(task_id=waiting.task_id))
    assert answer.task is not None
    assert (answer.task.status, answer.task.reason) == ("cancelled", f"dependency {first.task_id} is dead")
    assert rig.record(after).status == "cancelled"


@pytest.mark.parametrize("policy", dependency.POLICIES)
@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("status", ["succeeded", "cancelled", "dead"])
def test_a_dependency_that_was_removed_counts_as_it_ended(
    rig: Rig, break_it: Break, status: str, policy: str, *, noted: bool
) -> None:
    """Its dependants were not told, and without a link nothing kept its record."""
    first = rig.running()
    waiting = rig.create(shop_id="s2", depends_on=(first.task_id,), on_dependency_failure=policy)
    after = rig.create(shop_id="s3", depends_on=(waiting.task_id,), on_dependency_failure="cancel")
    break_it(f"DELETE FROM dependencies WHERE needs = '{first.task_id}'",
             ("DEL", keys.NEEDS + waiting.task_id, keys.DEPENDANTS + first.task_id),
             ("SREM", keys.NEEDED, first.task_id))  # fmt: skip
    rig.finish(first, status, error_kind="" if status != "dead" else "network")
    if status == "dead":
        assert rig.confirm(rig.record(first)).code == "ok"
    gone = Forget(task_id=first.task_id, updated_at=rig.record(first).updated_at, tomb_ms=60_000)
    assert rig.ask(gone).code == "ok"
    if noted:
        cancels = int(policy == dependency.CANCEL)
        break_it(f"INSERT INTO dependencies VALUES ('{first.task_id}', {cancels}, '{waiting.task_id}')",
                 ("SADD", keys.NEEDS + waiting.task_id, first.task_id), ("SADD", keys.NEEDED, first.task_id),
                 ("ZADD", keys.DEPENDANTS + first.task_id, cancels, waiting.task_id))  # fmt: skip
    if status == "succeeded":
        assert relinked(rig, waiting.task_id) == ["ok", "ok", "stale"]
        assert rig.record(waiting).status == "pending"
        assert waiting.task_id in rig.outbox()
    elif policy == dependency.CANCEL:
        assert relinked(rig, waiting.task_id) == ["ok", "ok", "stale"]
        ended = rig.record(waiting)
        assert (ended.status, ended.reason) == ("cancelled", f"dependency {first.task_id} is {status}")
        assert rig.record(after).status == "cancelled"
    else:
        assert relinked(rig, waiting.task_id) == (["stale"] * 3 if noted else ["ok", "ok", "stale"])
        assert rig.record(waiting).status == "blocked"
        assert rig.store.needs([waiting.task_id])[0] == [first.task_id]


def test_links_of_tasks_that_wait_for_nobody_go(rig: Rig, break_it: Break) -> None:
    """They would keep what they name from being removed."""
    first, done = rig.running(), rig.in_status("succeeded", shop_id="o")
    ids = (done.task_id, first.task_id)
    break_it(f"INSERT INTO dependencies VALUES ('{first.task_id}', 0, '{done.task_id}'), ('x', 0, 'nobody')",
             ("SADD", keys.NEEDS + ids[0], ids[1]), ("ZADD", keys.DEPENDANTS + ids[1], 0, ids[0]),
             ("SADD", keys.NEEDS + "nobody", "x"), ("SADD", keys.NEEDED, ids[1], "x"))  # fmt: skip
    looked = found(rig)
    assert set(looked) == {"link"}
    assert looked["link"].count == looked["link"].left > 0
    assert rig.store.needs([done.task_id])[0] == [first.task_id]
    assert found(rig, mend=True)["link"].left == 0
    assert found(rig, mend=True) == {}
    assert rig.store.needs([done.task_id])[0] == rig.store.needs(["nobody"])[0] == []


# --------------------------------------------------------------------------------------------------------- deadlines
def test_a_deadline_that_was_forgotten_is_noted_again(rig: Rig, break_it: Break) -> None:
    task = rig.queued(deadline=rig.store.now_ms() + 1)
    begun = rig.running(shop_id="s2", deadline=SOON)
    rig.pass_time(1)
    break_it("DELETE FROM deadlines", ("DEL", keys.DEADLINES))
    assert rig.store.overdue(5) == []
    assert found(rig)["index"].where == task.task_id
    assert found(rig, mend=True)["index"].left == 0
    assert rig.store.overdue(5) == [task.task_id]
    assert found(rig) == {}
    assert begun.task_id not in rig.store.overdue(5)


# ------------------------------------------------------------------------------------------------------------ limits
def test_running_tasks_of_a_limit_are_counted_anew(rig: Rig, break_it: Break) -> None:
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=2))
    rig.running()
    break_it("SELECT 1", ("HSET", keys.LIMIT_RUNNING, "platform:pdd", 2))
    claimed = rig.claim(rig.queued(shop_id="s2"), "w2#1")
    looked = found(rig)  # SQLite keeps no such counter
    assert (claimed.code, set(looked)) in (("blocked", {"limit"}), ("run", set()))
    found(rig, mend=True)
    assert found(rig) == {}
    assert {one.running for one in rig.store.limits()} <= {1, 2}


def test_a_lot_that_its_limit_has_forgotten_waits_there_again(rig: Rig, break_it: Break) -> None:
    rig.store.put_limit(Limit(scope="type:sync_order", concurrency=1))
    keeper = rig.running(shop_id="s1")
    parked = rig.blocked(shop_id="s2")
    busy = rig.in_status("blocked", shop_id="s3", task_type="other")
    assert (parked.gate, busy.gate) == ("quota", "shop_busy")
    rig.open("pdd:s2")
    assert rig.store.waiting_limits() == ["type:sync_order"]
    assert found(rig) == {}
    break_it("DELETE FROM limit_waits", ("DEL", keys.LIMIT_WAITING + "type:sync_order", keys.LIMIT_SCOPES))
    looked = found(rig)
    assert (set(looked), looked["waiting"].where) == ({"waiting"}, "pdd:s2|sync_order")
    assert found(rig, mend=True)["waiting"].left == 0
    assert found(rig) == {}
    assert [task.task_id for task in rig.finish(keeper).released] == [parked.task_id]


def test_a_place_at_a_limit_that_is_kept_for_ever_goes(rig: Rig, break_it: Break) -> None:
    rig.store.put_limit(Limit(scope="type:sync_order", concurrency=1))
    task = rig.queued()
    far = rig.store.now_ms() + 86_400_000
    break_it(f"INSERT INTO limit_reservations VALUES ('type:sync_order', 'x', {far})",
             ("ZADD", keys.LIMIT_RESERVED + "type:sync_order", far, "x"))  # fmt: skip
    assert found(rig)["reservation"].where == "x"
    found(rig, mend=True)
    assert rig.claim(task).code == "run"


# ------------------------------------------------------------------------------------------------- claims and batches
def test_a_claim_on_its_work_by_a_task_that_ended_goes(rig: Rig, break_it: Break) -> None:
    done = rig.in_status("succeeded", uniq="U")
    break_it("UPDATE tasks SET held_uniq = uniq", ("ZADD", keys.UNIQUE + "U", 1, done.task_id))
    (holder,) = rig.store.holders(["U"])
    assert holder is not None
    assert found(rig)["index"].where == done.task_id
    found(rig, mend=True)
    assert rig.store.holders(["U"]) == [None]
    assert rig.create(uniq="U").status == "pending"


def test_a_claim_that_was_lost_stands_in_the_way_again(rig: Rig, break_it: Break) -> None:
    task = rig.running(uniq="U")
    break_it("UPDATE tasks SET held_uniq = NULL", ("DEL", keys.UNIQUE + "U"))
    assert rig.store.holders(["U"]) == [None]
    assert found(rig, mend=True)["index"].where == task.task_id
    (holder,) = rig.store.holders(["U"])
    assert holder is not None
    assert holder.task_id == task.task_id


def test_a_batch_is_counted_by_its_records(rig: Rig, break_it: Break) -> None:
    task, other = rig.queued(batch="B"), rig.queued(batch="B", shop_id="s2")
    rig.ask(Cancel(task_id=other.task_id, by="ann"))
    break_it(f"UPDATE tasks SET batch = 'C' WHERE task_id = '{task.task_id}'",
             ("ZREM", keys.BATCH + "B", task.task_id), ("ZADD", keys.BATCH + "C", 1, task.task_id))  # fmt: skip
    assert rig.store.batch_counts(["B"])[0] == {"cancelled": 1}
    assert task.task_id in found(rig, mend=True)["index"].where
    assert rig.store.batch_counts(["B"])[0] == {"cancelled": 1, "queued": 1}
    assert rig.store.batch_counts(["C"])[0] == {}


def test_a_shop_that_no_list_names_is_found_again(rig: Rig, store_kind: str, break_it: Break) -> None:
    task = rig.queued(shop_id="s9", batch="B")
    parked = rig.in_status("blocked", shop_id="s2")
    break_it(
        "SELECT 1",
        ("DEL", keys.SHOP_NAMES, keys.PLATFORMS, keys.BATCHES),
        ("DEL", keys.LOTS, keys.LOT_TYPES + "pdd:s2"),
    )
    if store_kind == "redis":
        assert found(rig)["index"].count >= 2
    found(rig, mend=True)
    assert found(rig) == {}
    page = rig.store.query(Query(terms=(equals("shop", "s*"), equals("status", "queued"))))
    assert [one.task_id for one in page.tasks] == [task.task_id]
    assert rig.store.parked_shops(5) == [parked.shop]
    assert [name for name, _ in rig.store.batches(5)[0]] == ["B"]


def test_a_lot_whose_shop_has_others_on_their_way_is_not_forgotten(rig: Rig) -> None:
    """A message is on its way to a worker and goes first, so nobody looks at what the limit held back."""
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=1))
    keeper = rig.running(shop_id="s2", owner="w#0")
    low, high = (rig.queued(shop_id="s1", priority=priority) for priority in (1, 9))
    rig.queued(shop_id="s1", priority=5)
    assert rig.claim(low, "w#1").code == "blocked"
    assert rig.claim(high, "w#2").code == "blocked"
    (released,) = rig.finish(keeper).released
    rig.confirm(released)
    running = rig.claim(rig.record(released), "w#2").task
    assert running is not None
    assert running.priority == 9
    assert rig.finish(running, "pending").released == ()
    assert rig.store.recount(mend=False) == []


def test_a_lot_that_stands_back_for_its_twin_is_not_forgotten(rig: Rig) -> None:
    """A limit held both back; now the first one runs, and the other waits for nothing but its end."""
    rig.shop("s1", concurrency=2)
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=1))
    keeper = rig.running(shop_id="s2")
    first = rig.claim(rig.queued(shop_id="s1", uniq="U", priority=3, created_at=1), "w#1").task
    made = rig.ask(Create(task=rig.task(shop_id="s1", uniq="U", priority=9), on_duplicate="queue")).task
    assert made is not None
    second = rig.claim(made, "w#2").task
    assert first is not None
    assert second is not None
    assert (first.gate, second.gate) == ("quota", "quota")
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=3))
    (released,) = rig.ask(OpenLimit(scope="platform:pdd", most=5)).released
    assert released.task_id == first.task_id
    rig.confirm(released)
    assert rig.claim(rig.record(released), "w#1").code == "run"
    assert rig.store.recount(mend=False) == []
    assert rig.finish(keeper).code == "ok"


# ---------------------------------------------------------------------------------------------------------- counters
def test_no_number_is_below_nothing_where_counters_were_lost(rig: Rig, break_it: Break) -> None:
    """As by a Redis that throws keys away when its memory is full: what goes on is counted from nothing."""
    first, other = rig.create(), rig.create(shop_id="s2", task_type="other")
    dead = rig.dead(shop_id="s3")
    break_it("UPDATE tallies SET n = 0", ("DEL", keys.BY_KIND, keys.BY_SHOP))
    break_it("UPDATE shop_tallies SET n = 0")
    for task in (first, other):
        rig.ask(Cancel(task_id=task.task_id, by="ann"))
    rig.create(shop_id="s4", task_type="third")
    told = rig.store.counts()
    numbers = [*told.status.values(), *told.triage.values(), *(n for row in told.lanes.values() for n in row.values())]
    numbers += [n for row in told.shops.values() for n in row.values()]
    assert min(numbers) > 0, told
    assert told.lost
    assert told.total == sum(told.status.values())
    page = rig.store.query(Query(terms=(equals("status", dead.status), equals("platform", dead.platform)), limit=1))
    assert page.number.number >= 0
    rig.store.recount(mend=True)
    told = rig.store.counts()
    assert not told.lost
    assert told.status == {"cancelled": 2, "dead": 1, first.status: 1}
    assert sum(told.shops["pdd:s4"].values()) == 1
