"""The session of a shop: an attempt that meets a login or a captcha closes it, a person opens it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import msgspec
import pytest
import redis

from services.domain.change import Cancel, Claim, CloseSession, Create, Finish, Forget, Move, Nudge, OpenSession
from services.domain.fleet.shop import Pause
from services.domain.gates.limit import Limit
from services.domain.task.record import Attempt, Task
from services.domain.task.status import Status
from services.store.redis import keys
from tests.contract.rig import Rig, attempt_of, same_counts, shown, told


def expire(rig: Rig, kind: str = "login_expired", owner: str = "w1#1", **fields: Any) -> Task:
    """An attempt that found the shop logged out."""
    answer = meets(rig, rig.running(owner, **fields), kind)
    assert answer.code == "ok"
    assert answer.task is not None
    return answer.task


def meets(rig: Rig, task: Task, kind: str = "login_expired") -> Any:
    return rig.finish(task, "blocked", error="redirected to login", error_kind=kind, fingerprint="9ac1")


def login(rig: Rig, shop: str = "pdd:s1") -> str:
    return rig.ask(OpenSession(shop=shop, by="ann@desk")).code


@pytest.mark.parametrize("kind", ["login_expired", "captcha"])
def test_an_attempt_closes_it_and_waits_there_uncounted(rig: Rig, kind: str) -> None:
    start = rig.store.events("", 1, 0).cursor
    before = rig.store.now_ms()
    task = expire(rig, kind)
    assert (task.status, task.gate, task.retries, task.attempt) == (Status.BLOCKED, "session", 0, 1)
    assert (task.error, task.error_kind, task.fingerprint) == ("redirected to login", kind, "9ac1")
    assert (task.lease_until, task.due_at, task.ended_at, task.triage) == (0, 0, 0, "")
    assert [one.number for one in task.attempts] == [1]
    assert (task.steps[-1].from_, task.steps[-1].to, task.steps[-1].note) == ("running", "blocked", kind)
    (closed,) = rig.store.sessions()
    assert (closed.shop, closed.kind, closed.task_id, closed.attempt, closed.worker, closed.by) == (
        "pdd:s1", kind, task.task_id, 1, "w1", "",
    )  # fmt: skip
    assert before <= closed.since <= rig.store.now_ms()
    assert task.task_id not in rig.outbox()
    assert rig.store.parked_shops(5) == ["pdd:s1"]
    assert told(rig.all_events(start), task) == shown(task)
    assert rig.store.counts().shops["pdd:s1"] == {"blocked": 1}


def test_nothing_of_the_shop_starts_and_others_do(rig: Rig) -> None:
    rig.shop("s1", concurrency=3)
    on_its_way = rig.queued()
    parked = expire(rig)
    assert rig.claim(on_its_way, "w2#1").code == "blocked"
    assert rig.record(on_its_way).gate == "session"
    assert rig.open() == []
    rig.running(shop_id="s2")
    assert rig.record(parked).status == Status.BLOCKED


def test_what_comes_later_waits_from_the_start(rig: Rig) -> None:
    retrying = rig.retrying(delay_ms=1)
    planned = rig.create(status="scheduled", due_at=rig.store.now_ms() + 1)
    rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann"))
    new = rig.create()
    rig.pass_time(0.05)
    for task in (retrying, planned):
        rig.ask(Nudge(task_id=task.task_id, gen=0, attempt=task.attempt))
    now = [rig.record(task) for task in (new, retrying, planned)]
    assert [(task.status, task.gate, task.due_at) for task in now] == [("blocked", "session", 0)] * 3
    assert rig.outbox() == set()
    assert rig.store.recount(mend=False) == []
    login(rig)
    assert rig.open() == [retrying.task_id]


def test_who_is_run_now_while_its_message_is_not_confirmed_waits_without_one(rig: Rig) -> None:
    retrying = rig.retrying()
    assert retrying.task_id in rig.outbox()
    rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann"))
    move = Move(task_id=retrying.task_id, lane="high", priority=9, run_now=True, by="ann")
    assert rig.ask(move).code == "ok"
    assert (rig.record(retrying).status, rig.record(retrying).gate) == ("blocked", "session")
    assert rig.outbox() == set()
    login(rig)
    assert rig.open() == [retrying.task_id]


def test_the_gate_stands_between_pause_and_breaker(rig: Rig) -> None:
    rig.store.put_document("fleet", "breaker", '{"failures": 1, "of": 1}')
    rig.finish(rig.running(), "dead", error_kind="network")
    assert rig.store.breakers()
    assert rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann")).code == "ok"
    assert rig.blocked().gate == "session"
    rig.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    assert rig.blocked().gate == "paused"


def test_a_login_opens_it_and_all_can_go(rig: Rig) -> None:
    first = expire(rig)
    later = rig.blocked(priority=9)
    assert login(rig) == "ok"
    assert rig.store.sessions() == []
    noted = rig.store.logins()["pdd:s1"]
    assert (noted.by, noted.at <= rig.store.now_ms()) == ("ann@desk", True)
    assert rig.open() == [later.task_id]  # the more urgent one
    running = rig.claim(rig.record(later), "w2#1").task
    assert running is not None
    assert [task.task_id for task in rig.finish(running).released] == [first.task_id]
    again = rig.claim(rig.record(first), "w3#1").task
    assert again is not None
    assert (again.attempt, again.retries) == (2, 0)
    assert rig.finish(again).code == "ok"


def test_a_login_is_noted_where_nothing_was_closed(rig: Rig) -> None:
    assert login(rig, "pdd:s7") == "stale"
    assert set(rig.store.logins()) == {"pdd:s7"}


def test_the_first_one_tells_why(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    one, other = rig.running("w1#1"), rig.running("w2#1")
    meets(rig, one, "captcha")
    meets(rig, other, "login_expired")
    (closed,) = rig.store.sessions()
    assert (closed.kind, closed.task_id) == ("captcha", one.task_id)
    assert rig.ask(CloseSession(shop="pdd:s1", kind="login_expired", by="ann")).code == "stale"
    assert rig.record(other).gate == "session"


def test_it_closes_again_as_often_as_it_must(rig: Rig) -> None:
    task = expire(rig)
    for number in range(2, 6):
        login(rig)
        assert rig.open() == [task.task_id]
        running = rig.claim(rig.record(task), f"w{number}#1").task
        assert running is not None
        meets(rig, running)
        assert rig.store.sessions()[0].attempt == number
    now = rig.record(task)
    assert (now.status, now.retries, len(now.attempts)) == (Status.BLOCKED, 0, 5)


def test_an_attempt_from_before_the_login_says_nothing_about_it(rig: Rig) -> None:
    rig.shop("s1", concurrency=2)
    task = rig.running()
    rig.pass_time(0.05)
    login(rig)
    answer = meets(rig, task)
    assert answer.task.status == Status.PENDING
    assert (answer.task.retries, len(answer.task.attempts)) == (0, 1)
    assert rig.store.sessions() == []
    assert task.task_id in rig.outbox()


def test_a_person_closes_it(rig: Rig) -> None:
    assert rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann", note="phone is lost")).code == "ok"
    (closed,) = rig.store.sessions()
    assert (closed.kind, closed.by, closed.note, closed.task_id) == ("captcha", "ann", "phone is lost", "")
    assert rig.blocked().gate == "session"
    assert login(rig) == "ok"


def test_said_twice_it_is_recorded_once(rig: Rig) -> None:
    running = rig.running()
    op = Finish(
        task_id=running.task_id, owner=running.owner, to="blocked", attempt=attempt_of(running, "dead"),
        error="x", error_kind="captcha",
    )  # fmt: skip
    assert rig.ask(op).code == "ok"
    login(rig)
    assert rig.ask(op).code == "ok"
    assert rig.store.sessions() == []
    assert len(rig.record(running).attempts) == 1


def test_a_cancel_wins_and_the_gate_is_closed_all_the_same(rig: Rig) -> None:
    running = rig.running()
    rig.ask(Cancel(task_id=running.task_id, by="ann"))
    assert meets(rig, running).task.status == Status.CANCELLED
    assert len(rig.store.sessions()) == 1


def test_a_parked_task_can_be_cancelled(rig: Rig) -> None:
    task = expire(rig)
    assert rig.ask(Cancel(task_id=task.task_id, by="ann")).code == "ok"
    assert rig.store.parked_shops(5) == []


def test_a_released_task_parks_again_when_it_is_closed_meanwhile(rig: Rig) -> None:
    keeper = rig.running()
    waiting = rig.blocked()
    (released,) = rig.finish(keeper).released
    rig.confirm(released)
    rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann"))
    op = Claim(task_id=waiting.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1000)
    assert rig.ask(op).code == "blocked"
    assert rig.record(waiting).gate == "session"
    login(rig)
    assert rig.open() == [waiting.task_id]


def test_a_limit_passes_the_shop_over_until_it_is_opened(rig: Rig) -> None:
    rig.store.put_limit(Limit(scope="platform:pdd", concurrency=1))
    keeper = rig.running(shop_id="s2")
    mine, other = rig.blocked(shop_id="s1", priority=9), rig.blocked(shop_id="s3")
    assert mine.gate == "quota"
    rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann"))
    (released,) = rig.finish(keeper).released
    assert released.task_id == other.task_id
    assert rig.store.recount(mend=False) == []
    login(rig)
    assert rig.open() == []  # the limit is used by the other one, and it waits there again
    running = rig.claim(rig.record(other), "w2#1").task
    assert running is not None
    assert [task.task_id for task in rig.finish(running).released] == [mine.task_id]


def test_the_breaker_does_not_count_it(rig: Rig) -> None:
    rig.store.put_document("fleet", "breaker", '{"failures": 1, "of": 1}')
    expire(rig)
    assert rig.store.breakers() == []


def test_the_last_success_of_each_shop_is_known(rig: Rig) -> None:
    assert rig.store.successes() == {}
    before = rig.store.now_ms()
    rig.finish(rig.running(shop_id="s1"))
    rig.dead(shop_id="s2")
    rig.shop("s1", concurrency=3)
    found = rig.store.successes()
    assert set(found) == {"pdd:s1"}
    assert before <= found["pdd:s1"] <= rig.store.now_ms()
    rig.pass_time(0.05)
    rig.running(shop_id="s1")
    assert rig.store.successes() == found
    rig.finish(rig.running("w2#2", shop_id="s1"))
    assert rig.store.successes()["pdd:s1"] > found["pdd:s1"]


def test_the_last_success_of_each_type_is_known_by_shop(rig: Rig) -> None:
    assert rig.store.successes_of("sync_order") == {}
    before = rig.store.now_ms()
    first = rig.finish(rig.running(shop_id="s1", task_type="sync_order", payload='{"page": 1}')).task
    rig.finish(rig.running("w2#2", shop_id="s2", task_type="refresh_goods"))
    rig.dead(shop_id="s3", task_type="sync_order")
    found = rig.store.successes_of("sync_order")
    assert set(found) == {"pdd:s1"}
    assert before <= found["pdd:s1"] <= rig.store.now_ms()
    assert first is not None
    assert found["pdd:s1"] == first.ended_at
    rig.pass_time(0.05)
    later = rig.finish(rig.running("w3#3", shop_id="s1", task_type="sync_order", payload='{"page": 2}')).task
    assert later is not None
    assert rig.store.successes_of("sync_order") == {"pdd:s1": later.ended_at}
    rig.store.apply([Forget(task_id=later.task_id, updated_at=later.updated_at, tomb_ms=1000)])
    assert rig.store.successes_of("sync_order") == {"pdd:s1": later.ended_at}  # the record is gone


def test_an_older_success_that_comes_later_moves_nothing_back(rig: Rig) -> None:
    done = rig.finish(rig.running(shop_id="s1")).task
    assert done is not None
    known = rig.store.successes_of(done.task_type)
    old = msgspec.structs.replace(done, task_id="imported", created_at=1, updated_at=2, ended_at=2)
    rig.store.apply([Create(task=old, on_duplicate="force")])
    assert rig.store.get(["imported"])[0] is not None
    assert rig.store.successes_of(done.task_type) == known


def test_a_success_is_noted_also_beside_the_removal_of_an_older_one(rig: Rig) -> None:
    first = rig.finish(rig.running()).task
    assert first is not None
    found = rig.store.successes()
    rig.pass_time(0.05)
    task = rig.running("w2#2")
    forget = Forget(task_id=first.task_id, updated_at=first.updated_at, tomb_ms=1000)
    end = Finish(task_id=task.task_id, owner=task.owner, to="succeeded", attempt=attempt_of(task, "succeeded"))
    assert [answer.code for answer in rig.store.apply([forget, end])] == ["ok", "ok"]
    assert rig.store.successes()["pdd:s1"] > found["pdd:s1"]


def test_who_began_the_last_task_of_each_shop_is_known(rig: Rig) -> None:
    assert rig.store.last_runs() == {}
    rig.queued(shop_id="s3")
    first = rig.running("w1#1", shop_id="s1")
    rig.running("w2#1", shop_id="s2")
    assert {shop: worker for shop, (_, worker) in rig.store.last_runs().items()} == {"pdd:s1": "w1", "pdd:s2": "w2"}
    done = rig.finish(first).task
    assert done is not None
    rig.store.apply([Forget(task_id=done.task_id, updated_at=done.updated_at, tomb_ms=1000)])
    assert rig.store.last_runs()["pdd:s1"] == (first.started_at, "w1"), "also when its record is gone"
    rig.pass_time(0.05)
    again = rig.running("w3#1", shop_id="s1")
    assert rig.store.last_runs()["pdd:s1"] == (again.started_at, "w3")


def test_one_that_ends_in_the_batch_that_begins_it_is_known(rig: Rig) -> None:
    task = rig.queued()
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w1#1", worker="w1", lease_ms=1000)
    number = Attempt(number=1, worker="w1", started_at=rig.store.now_ms(), ended_at=rig.store.now_ms(), outcome="dead")
    end = Finish(task_id=task.task_id, owner="w1#1", to="dead", attempt=number)
    assert [answer.code for answer in rig.store.apply([claim, end])] == ["run", "ok"]
    assert rig.store.last_runs()["pdd:s1"][1] == "w1"


def test_a_recount_keeps_the_last_success(rig: Rig, store_kind: str, store_place: Any) -> None:
    rig.finish(rig.running())
    expire(rig, owner="w2#1")
    found, counts, runs = rig.store.successes(), rig.store.counts(), rig.store.last_runs()
    if store_kind == "embedded":
        with closing(sqlite3.connect(store_place, timeout=30)) as conn, conn:
            conn.execute("UPDATE shop_tallies SET n = 7")
    else:
        with closing(redis.Redis.from_url(store_place)) as client:
            numbers = client.hget(keys.BY_SHOP, "pdd:s1")
            assert isinstance(numbers, bytes)
            client.hset(keys.BY_SHOP, "pdd:s1", numbers[:16] + b"\x00" * 7 + b"\x07" + numbers[24:])
    assert not same_counts(rig.store.counts(), counts)
    rig.store.recount(mend=True)
    assert (rig.store.successes(), rig.store.last_runs()) == (found, runs)
    assert same_counts(rig.store.counts(), counts)


def test_longer_numbers_of_another_program_are_read(rig: Rig, store_kind: str, store_place: Any) -> None:
    if store_kind != "redis":
        pytest.skip("a table has columns")
    rig.finish(rig.running())
    counts = rig.store.counts()
    with closing(redis.Redis.from_url(store_place)) as client:
        numbers = client.hget(keys.BY_SHOP, "pdd:s1")
        assert isinstance(numbers, bytes)
        client.hset(keys.BY_SHOP, "pdd:s1", numbers + b"\x01" * 8)
    assert same_counts(rig.store.counts(), counts)
    assert rig.store.recount(mend=True) == []
    rig.shop("s1", concurrency=2)
    rig.finish(rig.running("w2#1"))
    assert rig.store.counts().shops == counts.shops
