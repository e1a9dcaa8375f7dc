"""What cannot be read in a store is named, holds up nobody else, and is set aside with its bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from services.domain.change import UNREADABLE, Annotate, CloseSession, Create, Finish, OpenShop
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates.home import Home
from services.domain.gates.limit import Limit
from services.domain.task.status import Status
from services.ports import AuditEntry, Letter, Store
from services.store.redis import keys
from tests.contract.rig import Rig, attempt_of

JUNK = b"\xff\xfe\x80 \xc3("
Behind = Callable[..., None]


def no_check(kind: str, name: str, body: str) -> None:
    """Takes every document."""


def places(store: Store) -> list[tuple[str, str]]:
    """What is damaged."""
    return [(one.place, one.entry) for one in store.damage(no_check, deep=True)]


@pytest.fixture
def behind(store_kind: str, store_place: Any) -> Behind:
    """Runs a statement on SQLite, or a command on Redis, behind the store's back."""

    def run(sql: str, *command: Any) -> None:
        if store_kind == "redis":
            redis.Redis.from_url(store_place).execute_command(*command)
            return
        with closing(sqlite3.connect(Path(store_place))) as conn, conn:
            conn.execute(sql)
        conn.close()

    return run


def test_a_sound_store_has_none(rig: Rig) -> None:
    rig.running()
    rig.dead(shop_id="s2")
    rig.create(shop_id="s3")
    rig.store.set_pause(Pause(scope="all", by="ann@desk"))
    rig.store.put_limit(Limit(scope="type:sync_order", concurrency=3))
    rig.store.heartbeat(WorkerInfo(worker="w1", host="h", pid=1))
    rig.store.append_audit(AuditEntry(entry_id="a", at=1, who="ann@desk", action="x"))
    rig.store.put_letter(Letter(task_id="t", body=b"{}"))
    assert places(rig.store) == []


def test_one_shop_that_cannot_be_read_hides_no_other(rig: Rig, behind: Behind) -> None:
    rig.store.put_shops([Shop(platform="pdd", shop_id="s1"), Shop(platform="pdd", shop_id="s2")])
    behind("UPDATE shops SET data = x'fffe80' WHERE shop_id = 's1'", "HSET", keys.SHOPS, "pdd:s1", JUNK)
    assert [shop.shop_id for shop in rig.store.shops()] == ["s2"]
    (found,) = rig.store.damage(no_check, deep=False)
    assert found.why
    assert "s1" in found.entry
    assert rig.store.set_aside([found]) == 1
    assert places(rig.store) == []
    assert rig.store.set_aside([found]) == 0, "it is there no more"


def test_a_pause_that_cannot_be_read_stays_closed(rig: Rig, behind: Behind) -> None:
    """Also once it is set aside: a person opens it."""
    rig.store.set_pause(Pause(scope="shop:pdd:s1", by="ann@desk", reason="stock"))
    behind("UPDATE pauses SET data = x'fffe80'", "HSET", keys.PAUSES, "shop:pdd:s1", JUNK)
    task, other = rig.queued(), rig.queued(shop_id="s2")
    assert rig.store.pauses() == []
    assert rig.claim(task).code == "blocked"
    assert rig.claim(other).code == "run"
    assert rig.store.set_aside(rig.store.damage(no_check, deep=False)) == 1
    (pause,) = rig.store.pauses()
    assert (pause.scope, pause.by) == ("shop:pdd:s1", "repair")
    assert rig.ask(OpenShop(shop="pdd:s1")).released == ()


def test_a_login_that_cannot_be_read_stays_asked_for(rig: Rig, behind: Behind) -> None:
    rig.ask(CloseSession(shop="pdd:s1", kind="captcha", by="ann@desk", note=""))
    behind("UPDATE sessions SET data = x'fffe80'", "HSET", keys.SESSIONS, "pdd:s1", JUNK)
    assert rig.store.sessions() == []
    assert rig.store.set_aside(rig.store.damage(no_check, deep=False)) == 1
    assert [one.shop for one in rig.store.sessions()] == ["pdd:s1"]


def test_a_limit_that_cannot_be_read_lets_nobody_of_its_own_start(rig: Rig, behind: Behind) -> None:
    rig.store.put_limit(Limit(scope="type:sync_order", concurrency=5))
    task, other = rig.queued(), rig.queued(shop_id="s2", task_type="other")
    behind("UPDATE limits SET concurrency = 'many'", "HSET", keys.LIMITS, "type:sync_order", "many")
    assert rig.claim(task).code == "blocked"
    assert rig.claim(other).code == "run"
    assert rig.store.limits() == []
    rig.store.set_aside(rig.store.damage(no_check, deep=False))
    rig.ask(OpenShop(shop="pdd:s1"))
    assert rig.claim(rig.record(task)).code in ("run", "blocked")


def test_counters_that_are_none_do_not_let_a_second_task_of_a_shop_start(rig: Rig, behind: Behind) -> None:
    rig.running(shop_id="s1")
    second = rig.queued(shop_id="s1")
    behind("SELECT 1", "HSET", keys.BY_SHOP, "pdd:s1", JUNK)
    assert rig.claim(second, "w2#1").code == "blocked"


def test_a_finish_is_recorded_whatever_else_is_spoiled(rig: Rig, behind: Behind) -> None:
    task = rig.running(shop_id="s1")
    behind("UPDATE tallies SET n = 'many'", "HSET", keys.BY_KIND, "pdd|sync_order|normal|running||6", "many")
    behind("UPDATE breakers SET until = 'x'", "HSET", keys.BREAKERS, "pdd:s1", JUNK)
    behind("UPDATE watermarks SET at = 'x'", "HSET", keys.WATERMARKS, "normal|6", JUNK)
    assert rig.finish(task).code == "ok"
    assert rig.record(task).status == Status.SUCCEEDED


def test_a_counter_that_is_none_leaves_the_others_counted(rig: Rig, behind: Behind) -> None:
    rig.running(shop_id="s1")
    rig.queued(shop_id="s2")
    assert rig.store.counts().status == {Status.RUNNING: 1, Status.QUEUED: 1}
    behind(
        "UPDATE tallies SET n = 'many' WHERE status = 'running'",
        "HSET",
        keys.BY_KIND,
        "pdd|sync_order|normal|running||6",
        "many",
    )
    assert rig.store.counts().status == {Status.QUEUED: 1}


def test_a_home_that_cannot_be_read_is_nobody_else_s(rig: Rig, behind: Behind) -> None:
    """Or the next task would make another machine the home, where nobody is logged in."""
    rig.store.put_home("pdd:s1", "desk-01")
    rig.store.put_home("pdd:s2", "desk-01")
    behind("UPDATE homes SET node = x'fffe' WHERE shop = 'pdd:s1'", "HSET", keys.HOMES, "pdd:s1", JUNK)
    task, other = rig.queued(), rig.queued(shop_id="s2")
    assert rig.claim(task, home="desk-02").code == "blocked"
    assert rig.claim(other, home="desk-01").code == "run"
    assert rig.store.homes() == {"pdd:s2": Home(shop="pdd:s2", node="desk-01", since=rig.store.homes()["pdd:s2"].since)}


def test_a_tombstone_that_cannot_be_read_makes_no_room(rig: Rig, behind: Behind) -> None:
    """Who knows how it ended: the work must not be done again."""
    task = rig.task()
    behind(
        f"INSERT INTO tombstones VALUES ('{task.task_id}', {rig.store.now_ms() + 10**9}, x'fffe80')",
        "SET", keys.TOMB + task.task_id, JUNK,
    )  # fmt: skip
    assert rig.ask(Create(task=task)).code == "exists"


def test_the_audit_is_never_shortened(rig: Rig, behind: Behind, store_kind: str, store_place: Any) -> None:
    for number in range(2):
        rig.store.append_audit(AuditEntry(entry_id=f"a{number}", at=1, who="ann@desk", action="x"))
    behind("DROP TRIGGER audit_is_closed_once", "PING")
    behind("UPDATE audit SET data = x'fffe80' WHERE entry_id = 'a0'", "HSET", keys.AUDIT, "a0", JUNK)
    assert [one.entry_id for one in rig.store.audit(10)] == ["a1"]
    assert rig.store.set_aside(rig.store.damage(no_check, deep=False)) == 1
    assert places(rig.store) == [], "it is known"
    if store_kind == "redis":
        assert redis.Redis.from_url(store_place).hget(keys.AUDIT, "a0") == JUNK
    else:
        with closing(sqlite3.connect(Path(store_place))) as conn, conn:
            assert conn.execute("SELECT count(*) FROM audit").fetchone() == (2,)
        conn.close()


def test_what_is_set_aside_keeps_its_bytes(rig: Rig, behind: Behind, store_kind: str, store_place: Any) -> None:
    rig.store.put_document("type", "work", "{}")
    behind("UPDATE documents SET body = x'fffe80' WHERE name = 'work'", "HSET", keys.DOCUMENTS + "type", "work", JUNK)
    assert dict(rig.store.documents("type")).get("work", "") != "{}"
    assert rig.store.set_aside(rig.store.damage(no_check, deep=False)) == 1
    assert "work" not in rig.store.documents("type")
    if store_kind == "redis":
        assert redis.Redis.from_url(store_place).hget(f"{keys.ASIDE}{keys.DOCUMENTS}type", "work") == JUNK
    else:
        with closing(sqlite3.connect(Path(store_place))) as conn, conn:
            ((place, entry, data),) = conn.execute("SELECT place, entry, data FROM aside").fetchall()
        conn.close()
        assert (place, entry) == ("documents", "type|work")
        assert b"\xff\xfe\x80" in data


def test_documents_are_judged_by_who_knows_them(rig: Rig) -> None:
    def check(kind: str, name: str, body: str) -> None:
        if body == "bad":
            raise ValueError(f"{kind} {name} is bad")

    rig.store.put_document("type", "good", "good")
    rig.store.put_document("type", "work", "bad")
    (found,) = rig.store.damage(check, deep=False)
    assert (found.document, found.why) == (("type", "work"), "type work is bad")


def test_an_operation_that_meets_something_spoilt_stops_no_other(rig: Rig, behind: Behind) -> None:
    good, bad = rig.running(shop_id="s1"), rig.task(shop_id="s2", uniq="spoilt")
    behind("SELECT 1", "SET", f"{keys.UNIQUE}spoilt", "a string, where a sorted set should be")
    finish = Finish(task_id=good.task_id, owner=good.owner, to=Status.SUCCEEDED, attempt=attempt_of(good, "succeeded"))
    refused, done = rig.store.apply([Create(task=bad), finish])
    assert done.code == "ok"
    assert rig.record(good).status == Status.SUCCEEDED
    if refused.code != "created":  # SQLite has no such key
        assert refused.code == UNREADABLE
        assert "repair" in refused.words
        assert rig.store.get([bad.task_id]) == [None]
        rig.store.set_aside(rig.store.damage(no_check, deep=True))
        assert rig.ask(Create(task=bad)).code == "created"


@pytest.mark.redis
@pytest.mark.parametrize(
    "key", [keys.OUTBOX, keys.LEASES, keys.UPDATED, keys.BY_KIND, keys.EVENTS, keys.NEEDED, keys.LOTS]
)
def test_a_derived_key_of_another_kind_is_set_aside_by_who_writes_it(redis_url: str, key: str) -> None:
    """A step must never stop halfway: the record written, its indexes not."""
    from services.clock import SystemClock
    from tests.contract.conftest import open_store

    rig = Rig(open_store("redis", redis_url, SystemClock()), None)
    first = rig.running()
    raw = redis.Redis.from_url(redis_url)
    raw.delete(key)
    raw.set(key, "another kind")
    assert rig.finish(first).code == "ok"
    assert rig.record(first).status == Status.SUCCEEDED
    assert rig.running(shop_id="s2").status == Status.RUNNING
    assert rig.store.counts().unsent >= 0
    rig.store.close()


def test_what_was_set_aside_is_listed_with_its_bytes(rig: Rig, behind: Behind) -> None:
    assert rig.store.aside(10) == []
    rig.store.put_shops([Shop(platform="pdd", shop_id="s1"), Shop(platform="pdd", shop_id="s2")])
    behind("UPDATE shops SET data = x'fffe80' WHERE shop_id = 's1'", "HSET", keys.SHOPS, "pdd:s1", JUNK[:3])
    before = rig.store.now_ms()
    (bad,) = rig.store.damage(no_check, deep=True)
    assert rig.store.set_aside([bad]) == 1
    (found,) = rig.store.aside(10)
    assert (found.place, found.entry, found.why) == (bad.place, bad.entry, bad.why)
    assert before <= found.at <= rig.store.now_ms()
    assert JUNK[:3] in dict(found.parts).values()
    assert places(rig.store) == [], "where it lies now is no damage"


def test_whole_keys_of_every_kind_are_listed(rig: Rig, store_kind: str, store_place: Any) -> None:
    if store_kind != "redis":
        pytest.skip("a table has no kind")
    client = redis.Redis.from_url(store_place)
    client.set(keys.PAUSES, b"\xffword")
    client.rpush(keys.LIMITS, "a", "b")
    client.zadd(keys.HOMES, {"m": 3})
    client.sadd(keys.SESSIONS, "one")
    client.hset(keys.TASK + "odd", "field", b"value")
    for one in rig.store.damage(no_check, deep=True):
        rig.store.set_aside([one])
    found = {one.place: one for one in rig.store.aside(10)}
    assert found[keys.PAUSES].parts == (("", b"\xffword"),)
    assert found[keys.LIMITS].parts == (("", b"a"), ("", b"b"))
    assert [name for name, _ in found[keys.HOMES].parts] == ["m"]
    assert found[keys.SESSIONS].parts == (("", b"one"),)
    assert found[keys.TASK + "odd"].parts == (("field", b"value"),)
    assert all(one.at and one.why for one in found.values())
    assert len(rig.store.aside(2)) == 2
    client.hset(keys.ASIDE_NOTES, client.hkeys(keys.ASIDE_NOTES)[0], b"\xff none")
    assert len(rig.store.aside(10)) == 5, "a note that cannot be read hides nothing"


def test_what_is_damaged_is_called_as_people_call_it(rig: Rig, behind: Behind) -> None:
    """And what helps depends on what it is."""
    store = rig.store
    noted = rig.dead(shop_id="s3").task_id
    store.put_shops([Shop(platform="pdd", shop_id="s1")])
    store.put_limit(Limit(scope="type:sync_order", concurrency=3))
    store.set_pause(Pause(scope="type:work", by="ann@desk"))
    store.put_document("promise", "orders", "{}")
    store.put_document("quiet_hours", "night", "{}")
    store.put_document("quiet_windows", "night", "{}")
    store.append_audit(AuditEntry(entry_id="a0", at=1, who="ann@desk", action="x"))
    assert rig.ask(Annotate(task_id=noted, by="ann", text="seen", note_id="n")).code == "ok"
    task = rig.queued(shop_id="s2").task_id
    behind("UPDATE shops SET data = x'fffe80' WHERE shop_id = 's1'", "HSET", keys.SHOPS, "pdd:s1", JUNK)
    behind("UPDATE limits SET concurrency = 'x'", "HSET", keys.LIMITS, "type:sync_order", JUNK)
    behind("UPDATE pauses SET data = x'fffe80'", "HSET", keys.PAUSES, "type:work", JUNK)
    for kind, name in (("promise", "orders"), ("quiet_hours", "night"), ("quiet_windows", "night")):
        change = f"UPDATE documents SET body = x'fffe80' WHERE kind = '{kind}'"
        behind(change, "HSET", f"{keys.DOCUMENTS}{kind}", name, JUNK)
    behind("DROP TRIGGER audit_is_closed_once", "PING")
    behind("UPDATE audit SET data = x'fffe80'", "HSET", keys.AUDIT, "a0", JUNK)
    behind("UPDATE notes SET text = x'fffe80'", "RPUSH", keys.NOTES + noted, JUNK)
    behind(f"UPDATE tasks SET data = x'fffe80' WHERE task_id = '{task}'", "SET", keys.TASK + task, JUNK)
    found = {str(one.what): one.remedy.code for one in store.damage(no_check, deep=True)}
    assert (
        found.items()
        >= {
            "shop pdd:s1": "damage.again.remedy",
            "the limit of type:sync_order": "damage.again.remedy",
            "the pause of type:work": "damage.closed.remedy",
            "promise orders": "damage.again.remedy",
            "quiet hours night": "damage.quiet_hours.remedy",
            "the coming windows of quiet hours night": "damage.quiet_windows.remedy",
            "entry a0 of the audit": "doctor.unreadable_more.remedy",
            f"the notes of {noted}": "doctor.unreadable_more.remedy",
            f"the record of task {task}": "damage.task.remedy",
        }.items()
    )
