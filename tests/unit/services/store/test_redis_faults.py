"""Lost replies, forgotten scripts, foreign bytes, and what Lua's msgpack does to odd values."""

from __future__ import annotations

import threading

import pytest
import redis
from msgspec import structs

from services.clock import SystemClock
from services.domain.change import (
    Answer,
    Cancel,
    Claim,
    Create,
    Finish,
    Forget,
    Op,
    OpenShop,
    Progress,
    Published,
)
from services.domain.errors import SchemaTooNew, TaskError
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.task.record import LIFE, Attempt, Task
from services.domain.task.search.query import Query, Term, equals
from services.store.redis import apply, keys
from services.store.redis.store import RedisStore


def task(number: int = 0, **fields: object) -> Task:
    base = Task(task_id=f"t{number}", shop_id=f"s{number}", platform="pdd", task_type="sync", created_by="ann")
    return structs.replace(base, **fields)


def claim(number: int = 0, **fields: object) -> Claim:
    base = Claim(task_id=f"t{number}", gen=0, attempt=0, owner=f"w#{number}", worker="w", lease_ms=60_000)
    return structs.replace(base, **fields)


def finish(number: int = 0, to: str = "succeeded") -> Finish:
    return Finish(task_id=f"t{number}", owner=f"w#{number}", to=to, attempt=Attempt(1, "w", 5, 6, to))


def codes(answers: list[Answer]) -> list[str]:
    return [answer.code for answer in answers]


# ----------------------------------------------------------------------- repetition
def test_a_batch_whose_reply_was_lost_is_answered_the_same_again(store: RedisStore) -> None:
    for ops in (
        [Create(task=task(n)) for n in range(5)],
        [claim(n) for n in range(5)],
        [finish(n, to) for n, to in enumerate(("succeeded", "retrying", "dead", "held", "pending"))],
    ):
        first = store.apply(ops)
        cursor = store.counts().cursor
        again = store.apply(ops)
        assert first == again
        assert store.counts().cursor == cursor


def test_the_script_may_be_forgotten_between_any_two_batches(store: RedisStore, plain: redis.Redis) -> None:
    for number in range(5):
        plain.script_flush()
        assert codes(store.apply([Create(task=task(number)), claim(number)])) == ["created", "run"]
    plain.script_flush()
    assert store.lead("engine", "a", 1000)
    plain.script_flush()
    assert store.audit(10) == []


def test_the_script_may_be_forgotten_under_load(store: RedisStore, plain: redis.Redis) -> None:
    done = threading.Event()

    def forget() -> None:
        while not done.is_set():
            plain.script_flush()

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        for number in range(0, 600, 20):
            assert set(codes(store.apply([Create(task=task(number + n)) for n in range(20)]))) == {"created"}
    finally:
        done.set()
        thread.join()
    assert store.counts().total == 600


def test_many_threads(store: RedisStore) -> None:
    store.apply([Create(task=task(number)) for number in range(400)])
    ran: list[str] = []

    def work(worker: int) -> None:
        for start in range(0, 400, 50):
            ops = [claim(start + n, owner=f"w{worker}#{start + n}") for n in range(50)]
            found = store.apply(ops)
            ran.extend(op.task_id for op, answer in zip(ops, found, strict=True) if answer.code == "run")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ran) == sorted(f"t{number}" for number in range(400))


# --------------------------------------------------------------------------- values
ODD = {
    "payload": '{"text": "店铺 🛒 \\u0000", "s": "' + "x" * 1_000_000 + '"}',
    "extra": '{"a": [1.5, null, true]}',
    "error": "\x00\x01 é 末",
    "progress": -1,
    "expected_s": 0.1,
    "idempotent": False,
    "timeout_s": 2**31 + 7,
    "due_at": 2**47 + 1,
    "marks": ("recovered", "店"),
    "losses": (1_700_000_000_001, 5),
    "batch": "b" * 70,
    "note": "n" * 40,
    "uniq": "u" * 300,
}


@pytest.mark.parametrize("empty", [False, True])
def test_odd_values_survive_every_step(store: RedisStore, empty: bool) -> None:
    odd = {"due_at": 0} if empty else ODD
    asked = task(**odd, status="pending" if empty else "scheduled")
    kept = {name: getattr(asked, name) for name in ODD if name not in ("due_at", "progress", "note", "error")}
    (answer,) = store.apply([Create(task=asked)])
    assert answer.task is not None
    assert answer.task.due_at == asked.due_at
    ops: list[Op] = [
        Cancel(task_id="t0", by="b") if not empty else Published(task_id="t0", status="pending", gen=0, attempt=0)
    ]
    if empty:
        ops += [claim(), Progress(task_id="t0", owner="w#0", progress=0, note="页"), finish(to="retrying")]
    for op in ops:
        (answer,) = store.apply([op])
        assert answer.task is not None
        assert {name: getattr(answer.task, name) for name in kept} == kept
        assert store.get(["t0"]) == [answer.task]
    assert answer.task.steps[-1].to == ("retrying" if empty else "cancelled")


def test_a_large_batch_is_cut_by_its_bytes(store: RedisStore) -> None:
    ops = [Create(task=task(number, payload="x" * 1_500_000)) for number in range(8)]
    assert set(codes(store.apply(ops))) == {"created"}
    assert [found is not None for found in store.get([f"t{number}" for number in range(8)])] == [True] * 8


def test_what_is_no_operation_is_refused_before_anything_changes(store: RedisStore) -> None:
    with pytest.raises(TaskError, match="Op"):
        store.apply([Create(task=task()), Op()])
    assert store.counts().total == 0


def test_two_changes_of_one_record_in_a_batch(store: RedisStore) -> None:
    ops: list[Op] = [
        Create(task=task()),
        claim(),
        finish(to="pending"),
        claim(attempt=1, owner="w#9"),
        Create(task=task(1)),
    ]
    answers = store.apply(ops)
    assert codes(answers) == ["created", "run", "ok", "run", "created"]
    assert [answer.task.status for answer in answers if answer.task] == [
        "pending",
        "running",
        "pending",
        "running",
        "pending",
    ]
    assert [found.task_id for found in store.query(Query(terms=(equals("status", "running"),))).tasks] == ["t0"]
    assert [found.task_id for found in store.query(Query(terms=(equals("status", "pending"),))).tasks] == ["t1"]
    assert {found.task_id for found in store.outbox(0, 10)} == {"t1"}


# -------------------------------------------------------------------- foreign bytes
@pytest.mark.parametrize("junk", [b"", b"not a record", b"\x00" * 60, b"\xff" * 200])
def test_bytes_that_are_no_record_count_as_missing_and_are_kept(
    store: RedisStore, plain: redis.Redis, junk: bytes
) -> None:
    store.apply([Create(task=task(1))])
    plain.set(keys.task("t0"), junk)
    assert store.get(["t0", "t1"])[0] is None
    adopted = claim(adopt=task(status="queued"))
    assert codes(store.apply([claim(), claim(1), adopted])) == ["missing", "run", "run"]
    assert plain.get(keys.BROKEN + "t0") == junk
    assert store.get(["t0"])[0] is not None


def test_fields_of_a_newer_program_travel_on(
    store: RedisStore, plain: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Newer(Task, frozen=True, kw_only=True, array_like=True):
        came_later: tuple[str, ...] = ()

    newer = Newer(**(structs.asdict(task()) | {"came_later": ("t7",)}))
    store.apply([Create(task=newer)])
    store.apply([claim(), finish(to="retrying")])
    stored = plain.get(keys.task("t0"))
    assert isinstance(stored, bytes)
    assert b"\xa2t7" in stored[-6:]
    (found,) = store.get(["t0"])
    assert found is not None
    assert (found.status, found.type_version) == ("retrying", 0)


def test_data_of_a_newer_program_are_read_and_not_written(store: RedisStore, plain: redis.Redis) -> None:
    store.apply([Create(task=task())])
    plain.hset(keys.META, "writer", keys.SCHEMA + 1)
    with pytest.raises(SchemaTooNew):
        store.apply([claim()])
    with pytest.raises(SchemaTooNew):
        RedisStore(f"{store._link.address}", SystemClock()).put_document("type", "x", "{}")
    assert store.get(["t0"])[0] is not None
    assert store.counts().total == 1


def test_older_programs_can_read_the_numbers_of_a_shop(store: RedisStore, plain: redis.Redis) -> None:
    store.apply([Create(task=task())])
    store.apply([claim(), finish()])
    assert store.successes()
    store.put_shops([Shop(platform="pdd", shop_id="s1", concurrency=3)])
    store.recount(mend=True)
    numbers = plain.hgetall(keys.BY_SHOP)
    # nine of eight bytes: the programs up to schema 3 unpack just as many and end with an error at any other length
    assert {len(packed) for packed in numbers.values()} == {72}


def test_the_first_write_keeps_older_programs_from_writing(store: RedisStore, plain: redis.Redis) -> None:
    store.apply([Create(task=task(0))])
    epoch = plain.hget(keys.META, "epoch")
    plain.hset(keys.META, mapping={"schema": 1, "writer": 1})
    store.apply([Create(task=task(1))])
    number = str(keys.BASE_SCHEMA).encode()
    assert plain.hmget(keys.META, ["schema", "writer", "epoch"]) == [number, number, epoch]
    assert store.get(["t0"])[0] is not None


# --------------------------------------------------------------------- foreign marks
def test_a_mark_of_another_program_ends_the_task(store: RedisStore) -> None:
    store.apply([Create(task=task(0)), Create(task=task(1)), Create(task=task(2))])
    store.apply([claim(1), finish(1)])
    store.mark_executed(["t0", "t1", "t3"])
    answers = store.apply([claim(0), claim(1), claim(2), claim(3, adopt=task(3, status="queued"))])
    assert codes(answers) == ["ended", "ended", "run", "ended"]
    workers = [answer.task.worker for answer in answers if answer.task]
    assert workers == ["foreign", "w", "w", "foreign"]


# -------------------------------------------------------------------------- queries
def test_a_page_goes_through_more_ties_than_one_slice(store: RedisStore) -> None:
    store.apply([Create(task=task(number, created_at=1_700_000_000_000)) for number in range(2500)])
    for descending in (True, False):
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = store.query(Query(limit=900, cursor=cursor, descending=descending, want_total=False))
            seen += [found.task_id for found in page.tasks]
            cursor = page.next
        assert seen == sorted((f"t{number}" for number in range(2500)), reverse=descending)


def test_a_long_scan_is_cut_and_goes_on(store: RedisStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.store.redis.query.SCAN", 100)
    monkeypatch.setattr("services.store.redis.query.FEW", 0)
    monkeypatch.setattr("services.store.redis.query.MOST", 50)
    ops = [Create(task=task(number, status="dead", error="needle" if number == 7 else "hay")) for number in range(500)]
    store.apply(ops)
    for sort in ("created", "updated"):
        found: list[str] = []
        pages = 0
        cursor: str | None = ""
        while cursor is not None:
            page = store.query(
                Query(terms=(Term(field="error", op="~", values=("NEEDLE",)),), cursor=cursor, sort=sort)
            )
            found += [one.task_id for one in page.tasks]
            cursor, pages = page.next, pages + 1
        assert found == ["t7"]
        assert pages > 2


def test_a_filter_that_names_its_tasks(store: RedisStore) -> None:
    store.apply([Create(task=task(number, priority=1 + number % 3)) for number in range(20)])
    named = equals("id", "t3", "t7", "t4", "nobody", "t3")
    for sort, ids in (("created", ["t7", "t4", "t3"]), ("priority", ["t7", "t4", "t3"])):
        first = store.query(Query(terms=(named,), sort=sort, limit=2))
        assert first.total == 3
        rest = store.query(Query(terms=(named,), sort=sort, limit=2, cursor=first.next or ""))
        assert sorted(one.task_id for one in (*first.tasks, *rest.tasks)) == sorted(ids)
        assert rest.next is None
    assert store.query(Query(terms=(named, equals("status", "dead")))).total == 0


def test_an_index_without_its_record_is_passed_over(store: RedisStore, plain: redis.Redis) -> None:
    store.apply([Create(task=task(number, uniq="U" if number == 1 else "")) for number in range(4)])
    plain.delete(keys.task("t1"), keys.task("t2"))
    assert {found.task_id for found in store.query(Query()).tasks} == {"t0", "t3"}
    assert {found.task_id for found in store.outbox(0, 10)} == {"t0", "t3"}
    assert codes(store.apply([Create(task=task(9, uniq="U"))])) == ["created"]


# ----------------------------------------------------------------------------- lots
def parked(store: RedisStore, count: int, **fields: object) -> None:
    tasks = [task(n, shop_id="s", **fields) for n in range(10, 10 + count)]
    store.apply([Create(task=one, on_duplicate="queue") for one in tasks])
    assert set(codes(store.apply([claim(n) for n in range(10, 10 + count)]))) == {"blocked"}


def test_a_large_lot_is_released_in_order_as_far_as_there_are_slots(store: RedisStore) -> None:
    store.put_shops([Shop(platform="pdd", shop_id="s", concurrency=1)])
    store.set_pause(Pause(scope="all", by="ann"))
    parked(store, 900, created_at=1_700_000_000_000)
    store.put_shops([Shop(platform="pdd", shop_id="s", concurrency=700)])
    store.clear_pause("all")
    (answer,) = store.apply([OpenShop(shop="pdd:s")])
    assert [one.task_id for one in answer.released] == sorted(f"t{n}" for n in range(10, 910))[:700]
    assert store.counts().status == {"pending": 700, "blocked": 200}


def test_nobody_waits_for_ever_behind_very_many_twins(store: RedisStore) -> None:
    store.put_shops([Shop(platform="pdd", shop_id="s", concurrency=2)])
    store.apply([Create(task=task(n, shop_id="s", uniq="U" if n == 0 else "")) for n in range(3)])
    assert codes(store.apply([claim(0), claim(1), claim(2)])) == ["run", "run", "blocked"]
    parked(store, 430, uniq="U", priority=10, lane="high")
    (answer,) = store.apply([finish(1)])
    found = [one.task_id for one in answer.released]
    for _ in range(400):
        if found:
            break
        (answer,) = store.apply([OpenShop(shop="pdd:s")])
        found = [one.task_id for one in answer.released]
    assert found == ["t2"]


# --------------------------------------------------------------------------- memory
def _held(plain: redis.Redis) -> int:
    """Bytes of all keys but the live feed, without what Redis takes for scripts and connections."""
    stats = plain.memory_stats()
    feed = plain.memory_usage(keys.EVENTS, samples=0) or 0
    return int(stats["dataset.bytes"]) + sum(stats["db.0"].values()) - feed


def test_a_record_costs_less_than_it_may(store: RedisStore, plain: redis.Redis) -> None:
    """1.5 kB a task with all indexes; the live feed, which is of one size, is left out."""
    store.apply([Create(task=task(4000))])
    begun = _held(plain)
    count = 4000
    for start in range(0, count, 200):
        ids = range(start, start + 200)
        ops = [
            Create(
                task=task(
                    n, task_id=f"pdd_sync_order_pdd-10021_{n:08x}", shop_id=f"pdd-{n % 20}", payload="x" * 80,
                    uniq=f"{n:024x}", origin="cli", created_by="operator@desk-01",
                )
            )
            for n in ids
        ]  # fmt: skip
        store.apply(ops)
    assert (_held(plain) - begun) / count < 1500


def test_the_apply_script_is_loaded_once() -> None:
    assert apply._APPLY.sha == apply.load_apply().sha


# ------------------------------------------------------------------ uniqueness keys of records that are gone
def test_a_key_whose_holder_has_no_record_holds_up_nobody(store: RedisStore, plain: redis.Redis) -> None:
    """Somebody struck the record of the task that went first, or the server forgot it."""
    store.put_shops([Shop(platform="pdd", shop_id="s0", concurrency=5)])
    first, second = task(0, uniq="k"), task(1, shop_id="s0", uniq="k")
    codes(store.apply([Create(task=first), claim(0), Create(task=second, on_duplicate="queue")]))
    plain.delete(keys.task("t0"))
    holder = store.holders(["k"])[0]
    assert holder is not None
    assert holder.task_id == "t1"
    assert codes(store.apply([claim(1)])) == ["run"]
    assert codes(store.apply([finish(1)])) == ["ok"]
    assert store.holders(["k"]) == [None]
    assert codes(store.apply([Create(task=task(2, shop_id="s0", uniq="k"))])) == ["created"]


# --------------------------------------------------------------------------------- once for a batch
def test_ends_of_one_batch_keep_what_each_work_was(store: RedisStore, plain: redis.Redis) -> None:
    spoilt = keys.WORK + "k1"
    plain.hset(spoilt, "of", "somebody else")
    tasks = [task(n, uniq=f"k{n % 3}") for n in range(4)]
    store.apply([Create(task=one, on_duplicate="force") for one in tasks])
    assert codes(store.apply([claim(n) for n in range(4)])) == ["run"] * 4
    assert codes(store.apply([finish(0), finish(1, "dead"), finish(2), finish(3)])) == ["ok"] * 4
    done = [one.task_id if one is not None else "" for one in store.last_done(["k0", "k1", "k2"])]
    assert done == ["t3", "", "t2"]
    assert plain.hgetall(spoilt) == {b"of": b"somebody else"}, "a failure is not written over what nobody can read"

    plain.delete(keys.WORK + "k2")
    plain.hset(keys.WORK + "k2", "of", "somebody else")
    store.apply([Create(task=task(n, uniq=f"k{n % 3}"), on_duplicate="force") for n in (4, 5)])
    store.apply([claim(4), claim(5)])
    assert codes(store.apply([finish(4), finish(5)])) == ["ok", "ok"]
    assert [one.task_id for one in store.last_done(["k1", "k2"]) if one is not None] == ["t4", "t5"]
    for aside in (spoilt, keys.WORK + "k2"):
        assert plain.hgetall(keys.ASIDE + aside) == {b"of": b"somebody else"}, "a success is, and keeps it"


def test_a_task_that_was_removed_is_not_made_again_beside_new_ones(store: RedisStore) -> None:
    store.apply([Create(task=task())])
    store.apply([claim()])
    (ended,) = store.apply([finish()])
    assert ended.task is not None
    forget = Forget(task_id="t0", updated_at=ended.task.updated_at, tomb_ms=60_000)
    again = [Create(task=task()), Create(task=task(1)), Create(task=task(2))]
    assert codes(store.apply([forget, *again])) == ["ok", "exists", "created", "created"]
    assert codes(store.apply([Create(task=task()), Create(task=task(3))])) == ["exists", "created"]


def test_last_successes_of_few_shops_are_a_table(store: RedisStore, plain: redis.Redis) -> None:
    store.apply([Create(task=task(n)) for n in range(3)])
    store.apply([claim(n) for n in range(3)])
    store.apply([finish(n) for n in range(3)])
    for name, known in ((keys.SUCCESSES, store.successes()), (keys.SUCCESSES_OF + "sync", store.successes_of("sync"))):
        assert plain.object("encoding", name) == b"hashtable"
        assert sorted(known) == ["pdd:s0", "pdd:s1", "pdd:s2"]
        assert min(known.values()) > 0


def test_of_many_losses_the_newest_are_known(store: RedisStore, plain: redis.Redis) -> None:
    store.apply([Create(task=task())])
    lives = []
    for _ in range(40):
        lives.append(store.counts().cursor.partition("/")[0])
        plain.flushall()
        for _ in range(2):
            store.heartbeat(WorkerInfo(worker="w", host="here", pid=1))
    named = store.documents(LIFE)
    assert set(lives[-20:]) <= named.keys()
    assert len(named) < 25
