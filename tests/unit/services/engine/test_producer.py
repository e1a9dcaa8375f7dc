"""Submit: what is asked becomes a record, or a sentence that names the field."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from services.domain.fleet.shop import Shop
from services.domain.text.mask import DOTS
from services.engine.producer import BULK
from tests.unit.services.engine.room import Room, opened


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"platform": ""}, "platform"),
        ({"platform": "p.d.d"}, "platform"),
        ({"shop_id": "s#1"}, "shop"),
        ({"shop_id": "low"}, "shop"),
        ({"shop_id": "s" * 65}, "shop"),
        ({"task_type": "os.system"}, "type"),
        ({"priority": "urgent"}, "priority"),
        ({"priority": 0}, "priority"),
        ({"priority": True}, "priority"),
        ({"delay_s": -0.1}, "delay"),
        ({"delay_s": float("nan")}, "delay"),
        ({"delay_s": 1e9}, "delay"),
        ({"max_retries": 21}, "max_retries"),
        ({"max_retries": -1}, "max_retries"),
        ({"if_duplicate": "maybe"}, "if-duplicate"),
        ({"if_duplicate": "force", "reason": "  "}, "reason"),
        ({"payload": {"n": float("nan")}}, "payload"),
        ({"payload": {"login": {"password": DOTS}}}, "login.password"),
        ({"task_type": "checked", "payload": {}}, "page"),
        ({"task_type": "checked", "payload": {"page": "x"}}, "page"),
    ],
)
def test_a_bad_field_is_named_and_nothing_is_recorded(room: Room, fields: dict[str, Any], field: str) -> None:
    schema = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
    room.define("checked", schema=schema)
    done = room.producer.submit([room.spec(**fields)])
    assert [name for _, name, _ in done.errors] == [field]
    assert room.store.counts().total == 0


def test_the_record_carries_the_policy_of_its_type(room: Room) -> None:
    room.define("work", timeout_s=99, max_retries=5, idempotent=False, expected_s=2.0, lane="high", version=3)
    task = room.create()
    assert (task.timeout_s, task.max_retries, task.idempotent, task.expected_s, task.type_version) == (
        99,
        5,
        False,
        2.0,
        3,
    )
    assert (task.lane, task.priority) == ("high", 10)
    assert room.create(priority=2, max_retries=0).max_retries == 0


def test_a_bulk_is_cut_and_keeps_its_order(room: Room) -> None:
    done = room.producer.submit([room.spec(shop_id=f"s{number}") for number in range(2 * BULK + 1)])
    assert [task.shop_id for task in done.created] == [f"s{number}" for number in range(2 * BULK + 1)]
    assert room.ready() == 2 * BULK + 1


def test_the_same_work_twice_in_one_bulk_is_a_duplicate(room: Room) -> None:
    spec = room.spec()
    done = room.producer.submit([spec, spec])
    assert len(done.created) == 1
    assert [task.task_id for _, task in done.duplicates] == [done.created[0].task_id]


def test_a_check_names_what_is_active_already_and_who_would_wait_for_it(room: Room) -> None:
    held = room.create(shop_id="s1", payload={})
    specs = [
        room.spec(shop_id="s1", payload={}, key="a"),
        room.spec(shop_id="s2", key="b", depends_on=("a",)),
        room.spec(shop_id="s3", depends_on=("b",)),
        room.spec(shop_id="s4"),
    ]
    found = room.producer.check(specs)
    assert [(twin.spec, twin.task_id, twin.status) for twin in found.twins] == [(specs[0], held.task_id, held.status)]
    assert [(spec.shop_id, field) for spec, field, _text in found.errors] == [
        ("s2", "depends_on"),
        ("s3", "depends_on"),
    ]
    assert room.store.counts().total == 1
    wished = [replace(spec, if_duplicate="queue") for spec in specs]
    assert room.producer.check(wished).errors == (), "queued behind it, it is made"


def test_a_check_says_of_work_that_is_active_what_was_done_only_where_that_asks_for_a_reason(room: Room) -> None:
    asked = room.store.now_ms()
    room.finish(room.running(shop_id="s1", payload={}), "succeeded")
    again = room.create(shop_id="s1", payload={})
    spec = room.spec(shop_id="s1", payload={})
    specs = [spec, replace(spec, asked_ms=asked)]
    found = room.producer.check(specs)
    assert [(twin.spec, twin.task_id) for twin in found.twins] == [(one, again.task_id) for one in specs]
    assert [(one.spec, one.asks) for one in found.before] == [(specs[1], True)]


def test_a_check_of_a_bulk_asks_the_store_a_few_times(room: Room) -> None:
    room.producer.submit([room.spec(shop_id="s7", payload={})])
    found = room.producer.check([room.spec(shop_id=f"s{number}", payload={}) for number in range(2 * BULK + 1)])
    assert [twin.spec.shop_id for twin in found.twins] == ["s7"]
    assert room.store.keys_asked == (BULK, BULK, 1)


def test_what_the_broker_did_not_take_is_counted_and_kept(room: Room) -> None:
    room.broker.refuses = "blocked"
    done = room.producer.submit([room.spec(), room.spec(delay_s=60)])
    assert (len(done.created), done.unconfirmed) == (2, 1)
    assert room.store.counts().status == {"pending": 1, "scheduled": 1}


def test_a_delayed_task_has_no_message(room: Room) -> None:
    task = room.create(delay_s=60)
    assert (task.status, task.due_at) == ("scheduled", room.clock.now_ms() + 60_000)
    assert room.ready() == 0


def test_strict_shops_must_be_registered(tmp_path: Path) -> None:
    with opened(tmp_path, strict_shops=True) as room:
        done = room.producer.submit([room.spec()])
        assert [(name, "not registered" in text) for _, name, text in done.errors] == [("shop", True)]
        room.store.put_shops([Shop(platform="pdd", shop_id="s1")])
        room.registry.forget()
        assert len(room.producer.submit([room.spec()]).created) == 1


def test_a_time_that_is_still_to_come_makes_a_scheduled_task(room: Room) -> None:
    now = room.store.now_ms()
    later, past = room.spec(shop_id="s1", at_ms=now + 90_000), room.spec(shop_id="s2", at_ms=now - 1)
    first, second = room.producer.submit([later, past]).created
    assert (first.status, first.due_at) == ("scheduled", now + 90_000)
    assert second.due_at == 0
    refused = room.producer.submit([room.spec(at_ms=now + 400 * 86_400_000), room.spec(at_ms=now, delay_s=1)])
    assert [field for _spec, field, _words in refused.errors] == ["at", "at"]


def test_a_deadline_at_the_very_moment_a_task_is_due_cannot_be_kept(room: Room) -> None:
    now = room.store.now_ms()
    due = now + 60_000
    asked = [
        room.spec(deadline_ms=now),
        room.spec(at_ms=due, deadline_ms=due),
        room.spec(at_ms=due, deadline_ms=due + 1),
    ]
    done = room.producer.submit(asked)
    assert [(field, "it is past" in words) for _spec, field, words in done.errors] == [
        ("deadline", True),
        ("deadline", False),
    ]
    assert [task.deadline for task in done.created] == [due + 1]


def test_where_nobody_can_read_whether_it_was_done_a_reason_is_asked(room: Room, tmp_path: Path) -> None:
    room.define("once", uniqueness="shop_type", unique_for="1d")
    first = room.finish(room.running(task_type="once"), "succeeded")
    with closing(sqlite3.connect(tmp_path / "room.sqlite", timeout=30)) as db, db:
        db.execute("UPDATE works SET at = 'soon'")
    told = room.producer.submit([room.spec(task_type="once"), room.spec()])
    assert (len(told.created), told.done) == (1, ()), "it holds up no other"
    ((_spec, field, words),) = told.errors
    assert (field, first.uniq in words, "`repair`" in words) == ("reason", True, True)
    again = room.create(task_type="once", reason="the shop lost it")
    assert room.claim(again).status == "running"
