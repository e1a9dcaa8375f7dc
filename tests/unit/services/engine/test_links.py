"""A bulk whose rows wait for each other and for tasks that exist: order, names, and what is refused."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import astuple

from services.domain.change import Forget, Published
from services.domain.gates import dependency
from services.domain.task import ids
from services.domain.task.record import Task
from services.domain.task.search.query import Page, Query
from services.engine import producer
from services.engine.producer import BULK, TaskSpec
from tests.unit.services.engine.room import Room


def row(room: Room, key: str, *names: str, **fields: Any) -> TaskSpec:
    """A row of its own shop, so that no limit stands between."""
    return room.spec(**({"key": key, "depends_on": names, "shop_id": key or "s1"} | fields))


def by_shop(tasks: tuple[Task, ...]) -> dict[str, Task]:
    return {task.shop_id: task for task in tasks}


def test_rows_wait_for_each_other_by_their_keys(room: Room) -> None:
    done = room.producer.submit([row(room, "c", "b", "a"), row(room, "b", "a"), row(room, "a")])
    made = by_shop(done.created)
    assert (done.errors, set(made)) == ((), {"a", "b", "c"})
    assert made["c"].depends_on == (made["b"].task_id, made["a"].task_id)
    assert [room.task(made[key].task_id).status for key in "abc"] == ["queued", "blocked", "blocked"]
    assert room.ready() == 1


def test_a_chain_longer_than_a_chunk(room: Room) -> None:
    count = BULK + 50
    rows = [row(room, f"r{number}", *([f"r{number - 1}"] if number else [])) for number in range(count)]
    random.Random(7).shuffle(rows)
    done = room.producer.submit(rows)
    assert (done.errors, len(done.created)) == ((), count)
    assert room.store.counts().status == {"queued": 1, "blocked": count - 1}


def test_an_id_that_exists(room: Room) -> None:
    first = room.create()
    (second,) = room.producer.submit([row(room, "", first.task_id, first.task_id)]).created
    assert (second.depends_on, second.status, second.gate) == ((first.task_id,), "blocked", "dependency")


@pytest.mark.parametrize("name", ["nobody", "x" * 300])
def test_an_unknown_id_is_named(room: Room, name: str) -> None:
    first = room.create()
    done = room.producer.submit([row(room, "a", first.task_id, name), row(room, "b")])
    ((spec, field, text),) = done.errors
    assert (spec.key, field) == ("a", "depends_on")
    assert name[:200] in text
    assert "name a task that exists" in text
    assert [task.shop_id for task in done.created] == ["b"]


def test_a_circle_is_refused_with_its_path(room: Room) -> None:
    rows = [row(room, "a", "c"), row(room, "b", "a"), row(room, "c", "b"), row(room, "d", "b"), row(room, "e")]
    done = room.producer.submit(rows)
    faults = {spec.key: (field, text) for spec, field, text in done.errors}
    assert [task.shop_id for task in done.created] == ["e"]
    assert set(faults) == {"a", "b", "c", "d"}
    assert {field for field, _ in faults.values()} == {"depends_on"}
    for key in "abc":
        assert "a → c → b → a is a circle" in faults[key][1]
    assert "b was not created" in faults["d"][1]


def test_a_row_that_waits_for_itself(room: Room) -> None:
    ((_, field, text),) = room.producer.submit([row(room, "a", "a")]).errors
    assert field == "depends_on"
    assert "a → a is a circle" in text


def test_two_circles_are_both_found(room: Room) -> None:
    rows = [row(room, "a", "b"), row(room, "b", "a"), row(room, "c", "d"), row(room, "d", "c")]
    assert {spec.key for spec, _, _ in room.producer.submit(rows).errors} == set("abcd")


def test_a_key_names_one_row(room: Room) -> None:
    done = room.producer.submit([row(room, "a"), row(room, "a", shop_id="s2"), row(room, "b", "a")])
    ((spec, field, _),) = done.errors
    assert (spec.shop_id, field) == ("s2", "key")
    assert by_shop(done.created)["b"].depends_on == (by_shop(done.created)["a"].task_id,)


def test_who_waits_for_a_refused_row_is_refused(room: Room) -> None:
    done = room.producer.submit([row(room, "a", priority="urgent"), row(room, "b", "a"), row(room, "c", "b")])
    assert [(spec.key, field) for spec, field, _ in done.errors] == [
        ("a", "priority"), ("b", "depends_on"), ("c", "depends_on"),
    ]  # fmt: skip
    assert room.store.counts().total == 0


def test_who_waits_for_a_duplicate_is_refused(room: Room) -> None:
    spec = room.spec()
    room.producer.submit([spec])
    again = row(room, "a", payload=spec.payload, shop_id=spec.shop_id)
    done = room.producer.submit([again, row(room, "b", "a")])
    assert len(done.duplicates) == 1
    ((_, field, text),) = done.errors
    assert (field, "a was not created" in text) == ("depends_on", True)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"depends_on": [f"t{number}" for number in range(dependency.MOST + 1)]}, "depends_on"),
        ({"on_dependency_failure": "explode"}, "on_dependency_failure"),
    ],
)
def test_limits(room: Room, fields: dict[str, Any], field: str) -> None:
    for number in range(dependency.MOST + 1):
        room.ask_create(f"t{number}")
    ((_, named, _),) = room.producer.submit([room.spec(**fields)]).errors
    assert named == field


def test_a_type_means_what_is_open_of_it_for_the_same_shop(room: Room) -> None:
    room.define("sync", title={"en": "Sync orders", "zh": "同步订单"})
    first = room.create(task_type="sync", shop_id="s1")
    room.clock.advance(1)
    second = room.create(task_type="sync", shop_id="s1")
    room.create(task_type="sync", shop_id="s2", delay_s=60)
    room.finish(room.running(task_type="sync", shop_id="s3"), "succeeded")
    room.create(task_type="other", shop_id="s4")
    rows = [room.spec(shop_id=f"s{number}", depends_on=("sync",)) for number in range(1, 5)]
    done = room.producer.submit(rows)
    made = by_shop(done.created)
    assert (done.errors, made["s1"].depends_on) == ((), (first.task_id, second.task_id))
    assert [len(made[f"s{number}"].depends_on) for number in range(1, 5)] == [2, 1, 0, 0]
    assert [room.task(made[shop].task_id).status for shop in ("s1", "s2", "s3")] == ["blocked", "blocked", "queued"]
    ((kind, waiting, tasks, free),) = [astuple(one) for one in done.after]
    assert (kind, waiting, tasks, free) == ("sync", 2, 3, 2)
    assert room.producer.after(rows) == done.after
    titled = room.producer.submit([room.spec(depends_on=("同步订单",)), room.spec(depends_on=("SYNC ORDERS",))])
    assert [len(task.depends_on) for task in titled.created] == [2, 2]


def test_a_type_means_rows_of_the_same_bulk_too(room: Room) -> None:
    """Those above a row of its own type, else each would wait for the other."""
    room.define("sync")
    rows = [
        room.spec(shop_id="s1", depends_on=("sync",)),
        room.spec(shop_id="s1", task_type="sync"),
        room.spec(shop_id="s1", task_type="sync", depends_on=("sync",)),
        room.spec(shop_id="s2", task_type="sync", depends_on=("sync",)),
    ]
    done = room.producer.submit(rows)
    work, first, second, alone = sorted(
        done.created, key=lambda task: (task.shop_id, task.task_type == "sync", task.payload)
    )
    assert set(work.depends_on) == {first.task_id, second.task_id}
    assert (first.depends_on, second.depends_on, alone.depends_on) == ((), (first.task_id,), ())
    assert (room.producer.check(rows).errors, done.errors) == ((), ())


def test_any_number_of_rows_may_follow_each_other_in_a_shop(room: Room) -> None:
    room.define("sync")
    done = room.producer.submit([room.spec(task_type="sync", depends_on=("sync",)) for _ in range(2 * dependency.MOST)])
    assert (done.errors, len(done.created)) == ((), 2 * dependency.MOST)
    assert all(before.task_id in task.depends_on for before, task in pairwise(done.created))
    assert room.store.counts().status == {"queued": 1, "blocked": 2 * dependency.MOST - 1}


def test_types_that_wait_for_each_other_are_a_circle(room: Room) -> None:
    for name in ("sync", "reply"):
        room.define(name)
    rows = [
        room.spec(task_type="sync", depends_on=("reply",)),
        room.spec(task_type="reply", depends_on=("sync",)),
        room.spec(task_type="reply", shop_id="s2", depends_on=("sync",)),
    ]
    for errors in (room.producer.check(rows).errors, room.producer.submit(rows).errors):
        assert [(spec, field) for spec, field, _ in errors] == [(rows[0], "depends_on"), (rows[1], "depends_on")]
        assert "sync (pdd:s1) → reply (pdd:s1) → sync (pdd:s1) is a circle" in errors[0][2]


def test_a_row_that_is_not_made_is_not_waited_for_because_of_its_type(room: Room) -> None:
    """What does its work already is open, and waited for."""
    room.define("sync")
    held = room.create(task_type="sync", payload={})
    rows = [
        room.spec(task_type="sync", payload={}),
        room.spec(task_type="sync", priority="urgent"),
        room.spec(depends_on=("sync",)),
        room.spec(depends_on=("sync", held.task_id)),
    ]
    checked = room.producer.check(rows)
    assert ([twin.spec for twin in checked.twins], [spec for spec, _, _ in checked.errors]) == ([rows[0]], [rows[1]])
    done = room.producer.submit(rows)
    assert [spec for spec, _ in done.duplicates] == [rows[0]]
    assert [spec for spec, _, _ in done.errors] == [rows[1]]
    assert [task.depends_on for task in done.created] == [(held.task_id,)] * 2


def test_what_waits_for_a_row_that_waits_for_a_type_is_made_behind_it(room: Room) -> None:
    """The middle one is made only once it is known that what it would wait for is not made."""
    room.define("sync")
    held = room.create(task_type="sync", payload={})
    rows = [
        room.spec(task_type="sync", payload={}),
        room.spec(key="middle", depends_on=("sync",)),
        room.spec(key="last", depends_on=("middle",)),
    ]
    assert room.producer.check(rows).errors == ()
    done = room.producer.submit(rows)
    assert ([spec for spec, _ in done.duplicates], done.errors) == ([rows[0]], ())
    middle, last = done.created
    assert (middle.depends_on, last.depends_on) == ((held.task_id,), (middle.task_id,))


def test_what_waits_for_a_type_is_made_also_where_a_row_of_it_is_refused_only_at_the_second_try(room: Room) -> None:
    """Two rows of the same work wait for one that is not made: which of them is the other's twin is known after it."""
    room.define("sync")
    room.define("reply")
    room.create(task_type="sync", payload={})
    rows = [
        room.spec(task_type="sync", payload={}),
        room.spec(task_type="reply", payload={}, depends_on=("sync",)),
        room.spec(task_type="reply", payload={}, depends_on=("sync",)),
        room.spec(depends_on=("reply",)),
    ]
    done = room.producer.submit(rows)
    assert ([spec for spec, _ in done.duplicates], done.errors) == ([rows[0], rows[2]], ())
    reply, last = done.created
    assert last.depends_on == (reply.task_id,)


def test_an_id_goes_before_a_type_and_a_row_before_both(room: Room) -> None:
    room.define("sync")
    room.create(task_type="sync")
    named = room.ask_create("sync", payload={"n": 0})
    assert room.producer.submit([room.spec(depends_on=("sync",))]).created[0].depends_on == (named.task_id,)
    done = room.producer.submit([room.spec(key="sync"), room.spec(depends_on=("sync",))])
    assert done.created[1].depends_on == (done.created[0].task_id,)


def test_more_than_one_may_wait_for_is_refused(room: Room) -> None:
    room.define("sync")
    room.producer.submit([room.spec(task_type="sync") for _ in range(dependency.MOST + 5)])
    room.create(task_type="sync", shop_id="s2")
    done = room.producer.submit([room.spec(depends_on=("sync",)), room.spec(shop_id="s2", depends_on=("sync",))])
    ((spec, field, text),) = done.errors
    assert (spec.shop_id, field, f"up to {dependency.MOST} tasks" in text) == ("s1", "depends_on", True)
    assert [len(task.depends_on) for task in done.created] == [1]


def test_shops_with_more_than_one_may_wait_for_do_not_have_the_others_read_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each that has too many would have all of those before it looked at once more."""
    monkeypatch.setattr(dependency, "MOST", 5)
    monkeypatch.setattr(producer, "SLICE", 10)
    room.define("sync")
    shops = [f"s{number}" for number in range(12)]
    for _ in range(8):
        room.clock.advance(1)
        room.producer.submit([room.spec(task_type="sync", shop_id=shop) for shop in shops])
    room.producer.submit([room.spec(task_type="sync", shop_id="few")])
    query, read = room.store.query, list[int]()

    def counted(asked: Query) -> Page:
        page = query(asked)
        read.append(len(page.tasks))
        return page

    monkeypatch.setattr(room.store, "query", counted)
    rows = [room.spec(shop_id=shop, depends_on=("sync",)) for shop in [*shops, "few"]]
    ((_kind, waiting, tasks, free),) = [astuple(one) for one in room.producer.after(rows)]
    assert (waiting, tasks, free) == (13, 12 * 6 + 1, 0)
    assert sum(read) <= 12 * 8 + 1 + 60, "all of them once, and some of a moment once more"


def test_a_misspelt_type_is_told(room: Room) -> None:
    room.define("sync_order")
    ((_, field, text),) = room.producer.submit([room.spec(depends_on=("sync_ordr",))]).errors
    assert (field, "did you mean sync_order?" in text) == ("depends_on", True)


def test_an_id_that_is_gone_is_no_misspelt_type(room: Room) -> None:
    room.define("pdd_sync_order_s1")
    room.define("sync_order")
    name = ids.new_task_id("pdd", "sync_order", "s1")
    ((_, field, text),) = room.producer.submit([room.spec(depends_on=(name,))]).errors
    assert (field, name in text, "did you mean" in text) == ("depends_on", True, False)


def test_what_was_made_in_the_moment_at_which_a_shop_has_too_many_is_waited_for_too(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dependency, "MOST", 5)
    monkeypatch.setattr(producer, "SLICE", 10)
    room.define("sync")
    shops = [f"s{number}" for number in range(20)]
    room.producer.submit([room.spec(task_type="sync", shop_id=shop) for shop in ["many"] * 40 + shops])
    rows = [room.spec(shop_id=shop, depends_on=("sync",)) for shop in ["many", *shops]]
    ((_kind, waiting, tasks, free),) = [astuple(one) for one in room.producer.after(rows)]
    assert (waiting, tasks, free) == (21, 6 + 20, 0)


def test_without_links_the_order_stays(room: Room) -> None:
    done = room.producer.submit([room.spec(shop_id=f"s{number}") for number in (3, 1, 2)])
    assert [task.shop_id for task in done.created] == ["s3", "s1", "s2"]


@pytest.mark.parametrize(("end", "word"), [("succeeded", ""), ("dead", "is dead"), ("cancelled", "is cancelled")])
def test_a_removed_dependency_says_how_it_ended(room: Room, end: str, word: str) -> None:
    task = room.finish(room.running(), end)
    room.store.apply([Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt)])
    room.store.apply([Forget(task_id=task.task_id, updated_at=room.task(task.task_id).updated_at, tomb_ms=60_000)])
    assert room.store.get([task.task_id]) == [None]
    done = room.producer.submit([row(room, "a", task.task_id)])
    assert len(done.created) == (not word)
    if word:
        ((_, field, text),) = done.errors
        assert field == "depends_on"
        assert word in text
        assert "removed" in text
