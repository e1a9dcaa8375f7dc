"""The index of payload fields: what it answers, when it is built, and that it goes with the records."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest
import redis

from services.domain.change import Claim, Create, Forget, Republish
from services.domain.task.record import Task
from services.domain.task.search.query import Page, Query, Term, equals
from services.domain.text import mask
from services.domain.text.mask import masked
from services.ports import Store
from services.store.redis import keys
from tests.contract.rig import Rig


def build(store: Store, *names: str) -> None:
    store.index_fields(names)
    while store.index_more():
        pass


def ask(store: Store, *terms: Term, **fields: Any) -> Page:
    return store.query(Query(terms=terms, **({"limit": 100} | fields)))


def ids(page: Page) -> list[str]:
    return [task.task_id for task in page.tasks]


def order(rig: Rig, payload: Any, **fields: Any) -> Task:
    return rig.create(payload=json.dumps(payload), **fields)


def test_a_field_is_looked_for_until_it_is_indexed(rig: Rig) -> None:
    made = [order(rig, {"order_id": n % 50, "page": n}) for n in range(120)]
    asked = equals("payload.order_id", "7")
    before = ask(rig.store, asked)
    assert (before.searched, before.among, before.total) == (("payload.order_id",), 120, None)
    rig.store.index_fields(["order_id"])
    assert rig.store.indexed() == {"order_id": False}
    later = order(rig, {"order_id": 7})
    assert ask(rig.store, asked).searched == ("payload.order_id",)
    while rig.store.index_more():
        pass
    assert rig.store.indexed() == {"order_id": True}
    page = ask(rig.store, asked)
    assert set(ids(page)) == {made[7].task_id, made[57].task_id, made[107].task_id, later.task_id}
    assert (page.searched, page.among, page.total) == ((), 0, 4)
    beside = ask(rig.store, asked, equals("payload.page", "57"))
    assert ids(beside) == [made[57].task_id]
    assert (beside.searched, beside.among, beside.total) == (("payload.page",), 4, None)


def test_a_field_that_another_process_indexes_is_no_store_that_takes_no_writes(rig: Rig, second_store: Store) -> None:
    order(rig, {"order_id": 1})
    second_store.index_fields(["order_id"])
    later = order(rig, {"order_id": 7})
    assert rig.store.health()[0::2] == (True, "")
    while second_store.index_more():
        pass
    assert ids(ask(rig.store, equals("payload.order_id", "7"))) == [later.task_id]


CITY, LIST = {"to": {"city": "杭州"}}, {"orders": [1, "1", 2.5, True, None, {"x": 1}]}


@pytest.mark.parametrize(
    ("payload", "field", "value", "found"),
    [
        ({"a": 8841}, "a", "8841", True),
        ({"a": "8841"}, "a", "8841", True),
        ({"a": 8841.0}, "a", "8841", False),
        ({"a": 12345678901234567890}, "a", "12345678901234567890", True),
        ({"a": 12345678901234567890}, "a", "12345678901234567891", False),
        ({"a": "Straße 1, \"x\"\\|"}, "a", "Straße 1, \"x\"\\|", True),
        (CITY, "to.city", "杭州", True),
        ({"to.city": "杭州"}, "to.city", "杭州", True),
        (CITY, "city", "杭州", False),
        *((LIST, "orders", value, True) for value in ("1", "2.5", "true", "null")),
        (LIST, "orders", "2", False),
        ([{"a": 1}], "a", "1", True),
        ("a", "a", "a", False),
        ({"a": {"b": 1}}, "a", "b", False),
        ({"a": "x" * 5000}, "a", "x" * 5000, True),
    ],
)  # fmt: skip
def test_it_answers_as_the_payloads_would(rig: Rig, payload: Any, field: str, value: str, found: bool) -> None:
    task = order(rig, payload)
    asked = equals(f"payload.{field}", value)
    assert ids(ask(rig.store, asked)) == [task.task_id] * found
    build(rig.store, field)
    page = ask(rig.store, asked)
    assert (ids(page), page.total, page.searched) == ([task.task_id] * found, int(found), ())


def test_what_is_masked_is_found_as_the_screen_shows_it(rig: Rig) -> None:
    payload = {"note": "https://ann:hunter2@shop.example/x"}
    shown = masked(payload)["note"]
    assert shown != payload["note"]
    task = order(rig, payload)
    build(rig.store, "note")
    assert ids(ask(rig.store, equals("payload.note", shown))) == [task.task_id]
    assert ids(ask(rig.store, equals("payload.note", payload["note"]))) == []


def test_a_secret_that_this_process_comes_to_know_changes_no_index(rig: Rig) -> None:
    made = [order(rig, {"note": "desk Only-here-77"})]
    build(rig.store, "note")
    mask.know(["Only-here-77"])
    made.append(order(rig, {"note": "desk Only-here-77"}))
    assert rig.store.recount(mend=False) == []
    shown = ask(rig.store, equals("payload.note", f"desk {mask.DOTS}"))
    assert set(ids(shown)) == {task.task_id for task in made}


@pytest.mark.parametrize("sort", ["created", "updated", "priority", "due"])
def test_pages_of_many_and_of_several_values_in_every_order(rig: Rig, sort: str) -> None:
    made = [order(rig, {"tags": ["all", f"t{n % 3}"]}, priority=1 + n % 7, created_at=1000 + n % 5) for n in range(90)]
    build(rig.store, "tags")
    for values in (("all",), ("t0", "t1"), ("all", "t2")):
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = ask(rig.store, equals("payload.tags", *values), sort=sort, limit=20, cursor=cursor)
            assert page.total == (60 if values == ("t0", "t1") else 90)
            seen += ids(page)
            cursor = page.next
        wanted = {task.task_id for n, task in enumerate(made) if "all" in values or n % 3 < 2}
        assert len(seen) == len(wanted)
        assert set(seen) == wanted


def test_a_prefix_a_part_and_a_negation_go_on_looking(rig: Rig) -> None:
    task, other = order(rig, {"a": "8841"}), order(rig, {"a": "9"})
    build(rig.store, "a")
    for term in (
        Term(field="payload.a", op="=", values=("88*",)),
        Term(field="payload.a", op="~", values=("884",)),
        Term(field="payload.a", op="=", values=("9",), negated=True),
    ):
        page = ask(rig.store, term)
        assert (ids(page), page.searched) == ([task.task_id], ("payload.a",)), term
    assert ids(ask(rig.store, Term(field="payload.a", op="<", number=9.0))) == []
    assert other


def test_a_program_that_knows_other_fields_writes_the_right_ones(rig: Rig, second_store: Store) -> None:
    (answer,) = second_store.apply([Create(task=rig.task(payload='{"a": 1}'))])
    build(rig.store, "a")
    (later,) = second_store.apply([Create(task=rig.task(payload='{"a": 1}', shop_id="s2"))])
    dead = rig.dead(payload='{"a": 1}', shop_id="s3")
    fresh = rig.task(payload='{"a": 1}', shop_id="s3")
    assert second_store.apply([Republish(task_id=dead.task_id, task=fresh, by="ann")])[0].code == "ok"
    foreign = rig.task(payload='{"a": 1}', shop_id="s4", origin="foreign")
    claim = Claim(task_id=foreign.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1000, adopt=foreign)
    assert second_store.apply([claim])[0].code == "run"
    assert answer.task is not None
    assert later.task is not None
    known = {answer.task.task_id, later.task.task_id, dead.task_id, fresh.task_id, foreign.task_id}
    page = ask(rig.store, equals("payload.a", "1"))
    assert (set(ids(page)), page.total, page.searched) == (known, 5, ())
    assert rig.store.recount(mend=False) == []


def test_it_goes_with_the_record(rig: Rig, second_store: Store) -> None:
    build(rig.store, "a")
    task = rig.finish(rig.running(payload='{"a": [1, 2]}')).task
    assert task is not None
    (answer,) = second_store.apply([Forget(task_id=task.task_id, updated_at=task.updated_at, tomb_ms=0)])
    assert answer.code == "ok"
    page = ask(rig.store, equals("payload.a", "1"))
    assert (page.tasks, page.total) == ((), 0)
    assert rig.store.recount(mend=False) == []


def test_a_field_is_forgotten_and_learned_again(rig: Rig) -> None:
    task = order(rig, {"a": 1, "b[1]?": 2})
    build(rig.store, "a", "b[1]?")
    rig.store.index_fields(["a"])
    assert rig.store.indexed() == {"a": True}
    assert ask(rig.store, equals("payload.b[1]?", "2")).searched == ("payload.b[1]?",)
    rig.store.index_fields(["a", "b[1]?"])  # not before it is forgotten
    assert rig.store.indexed() == {"a": True}
    while rig.store.index_more():
        pass
    build(rig.store, "a", "b[1]?")
    assert rig.store.indexed() == {"a": True, "b[1]?": True}
    for field, value in (("a", "1"), ("b[1]?", "2")):
        page = ask(rig.store, equals(f"payload.{field}", value))
        assert (ids(page), page.searched) == ([task.task_id], ())
    assert rig.store.recount(mend=False) == []


def test_how_far_a_server_was_says_nothing_to_one_that_was_started_since(
    rig: Rig, store_kind: str, store_place: Any
) -> None:
    made = [order(rig, {"a": 1}) for _ in range(20)]
    rig.store.index_fields(["a"])
    if store_kind != "embedded":
        with closing(redis.Redis.from_url(store_place)) as client:
            client.hset(keys.INDEXED, "a", "build 65535 another-run")
            while rig.store.index_more():
                pass
            assert set(ids(ask(rig.store, equals("payload.a", "1")))) == {task.task_id for task in made}
            client.hset(keys.INDEXED, "a", "build 65535")
            client.delete(*client.scan_iter(keys.PAYLOAD + "*"))
    while rig.store.index_more():
        pass
    page = ask(rig.store, equals("payload.a", "1"))
    assert (set(ids(page)), page.searched) == ({task.task_id for task in made}, ())
    assert rig.store.recount(mend=False) == []


def test_what_is_missing_and_what_is_too_much_is_set_right(rig: Rig, store_kind: str, store_place: Any) -> None:
    task, other = order(rig, {"a": 1}), order(rig, {"a": 2})
    build(rig.store, "a")
    if store_kind == "embedded":
        with closing(sqlite3.connect(store_place, timeout=30)) as conn, conn:
            conn.execute("DELETE FROM payload_terms WHERE task_id = ?", (task.task_id,))
            conn.execute("INSERT INTO payload_terms SELECT term, 'nobody' FROM payload_terms")
    else:
        with closing(redis.Redis.from_url(store_place)) as client:
            first, second = sorted(client.scan_iter(keys.PAYLOAD + "*"), key=lambda key: client.zrange(key, 0, -1))
            gone, kept = (first, second) if client.zscore(first, task.task_id) is not None else (second, first)
            client.delete(gone)
            client.zadd(kept, {"nobody": 1})
    assert ids(ask(rig.store, equals("payload.a", "1"))) == []
    found = rig.store.recount(mend=False)
    assert {one.kind for one in found} == {"index"}
    assert sum(one.count for one in found) == sum(one.left for one in found) == 2
    rig.store.recount(mend=True)
    assert rig.store.recount(mend=False) == []
    assert ids(ask(rig.store, equals("payload.a", "1"))) == [task.task_id]
    page = ask(rig.store, equals("payload.a", "2"))
    assert (ids(page), page.total) == ([other.task_id], 1)


def test_of_many_entries_those_that_say_something_else_are_told_alone(
    rig: Rig, store_kind: str, store_place: Any
) -> None:
    """Also where the index has as many entries as it should."""
    made = [order(rig, {"a": n}) for n in range(1_200)]
    build(rig.store, "a")
    assert rig.store.recount(mend=False) == []
    wrong, gone = made[7].task_id, made[1_100].task_id
    if store_kind == "embedded":
        with closing(sqlite3.connect(store_place, timeout=30)) as conn, conn:
            conn.execute("UPDATE payload_terms SET task_id = 'nobody' WHERE task_id = ?", (gone,))
            other = "(SELECT term FROM payload_terms WHERE task_id <> ? LIMIT 1)"
            conn.execute(f"INSERT INTO payload_terms SELECT {other}, ?", (wrong, wrong))
    else:
        with closing(redis.Redis.from_url(store_place)) as client:
            for key in client.scan_iter(keys.PAYLOAD + "*"):
                if client.zrem(key, gone):
                    client.zadd(key, {"nobody": 1})
                elif client.zscore(key, made[8].task_id) is not None:
                    client.zadd(key, {wrong: 1})
    found = rig.store.recount(mend=False)
    assert {one.kind for one in found} == {"index"}
    assert sum(one.count for one in found) == 3, found
    rig.store.recount(mend=True)
    assert rig.store.recount(mend=False) == []
    assert ids(ask(rig.store, equals("payload.a", "7"))) == [wrong]
