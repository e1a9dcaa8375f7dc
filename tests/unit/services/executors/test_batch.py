"""A batch makes each of its tasks once, whatever happens to it in between, and ends with their counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from services.domain.change import Forget
from services.domain.task import classify
from services.domain.task.record import Task
from services.domain.task.search.filter import parse
from services.domain.task.search.query import Query
from services.executors.base import Job, Outcome
from services.executors.batch import BatchExecutor
from tests.unit.services.engine.room import Room, opened
from tests.unit.services.executors.builders import Listener


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with opened(tmp_path) as found:
        found.define("many", executor="batch")
        yield found


def batch(room: Room, items: list[Any], **beside: Any) -> Task:
    return room.create(task_type="many", payload={"items": items, "task_type": "work", **beside})


def run(room: Room, task: Task, listener: Listener | None = None) -> Outcome:
    made = BatchExecutor(room.store, room.producer, room.registry, look_s=30)
    work = Job(task=task, attempt=task.attempt + 1, worker="w1", slot=0, timeout_s=600)
    return made.run(work, (listener or Listener()).context)


def children(room: Room) -> list[Task]:
    page = room.store.query(Query(terms=parse("type:work", now_ms=0), limit=1000, descending=False))
    return list(page.tasks)


def test_children_inherit_and_are_counted_when_all_have_ended(room: Room) -> None:
    items = [{"shop_id": f"s{n}", "payload": {"n": n}} for n in range(4)] + [{"priority": "high"}]
    parent = batch(room, items)
    listener = Listener()
    waiting = run(room, parent, listener)
    assert (waiting.ok, waiting.again_s, listener.shown) == (False, 30, [(0, "0 of 5")])
    made = sorted(children(room), key=lambda task: task.shop_id)
    assert [(task.shop, task.batch, task.origin) for task in made] == [
        (f"pdd:{shop}", parent.task_id, "batch") for shop in ("s0", "s1", "s1", "s2", "s3")
    ]
    assert sorted(task.lane for task in made) == ["high", "normal", "normal", "normal", "normal"]
    for place, task in enumerate(made):
        room.finish(room.claim(task, owner=f"w#{place}"), "dead" if place == 4 else "succeeded")
        if place == 0:
            run(room, parent, listener)
    outcome = run(room, parent)
    told = json.loads(outcome.result)
    assert (outcome.ok, listener.shown[-1]) == (True, (20, "1 of 5"))
    assert told == {"tasks": 5, "refused": 0, "dead": 1, "succeeded": 4, "dead_tasks": [made[4].task_id]}


@pytest.mark.parametrize("applied", [True, False])
def test_killed_in_the_middle_it_doubles_none(room: Room, applied: bool) -> None:
    parent = batch(room, [{"payload": {"n": n}, "shop_id": f"s{n % 7}"} for n in range(450)])
    if applied:
        room.store.forgetful = 1  # the first chunk is created and nobody hears of it
    else:
        room.store.silent = 3
    broken = run(room, parent)
    assert (broken.again_s, broken.error_kind) == (30, "")
    room.store.forgetful = room.store.silent = 0
    assert run(room, parent).again_s
    assert run(room, parent).again_s
    made = children(room)
    assert len(made) == len({task.payload for task in made}) == 450


def test_what_ended_long_ago_and_was_removed_is_not_made_again(room: Room) -> None:
    parent = batch(room, [{"shop_id": "s2"}, {"shop_id": "s3"}])
    run(room, parent)
    first, second = children(room)
    done = room.finish(room.claim(first), "succeeded")
    room.ask(Forget(task_id=first.task_id, updated_at=done.updated_at, tomb_ms=10**9))
    assert run(room, parent).again_s
    assert [task.task_id for task in children(room)] == [second.task_id]
    room.finish(room.claim(second), "cancelled")
    assert json.loads(run(room, parent).result) == {"tasks": 2, "refused": 0, "cancelled": 1, "removed": 1}


def test_a_republished_batch_knows_the_tasks_of_the_first(room: Room) -> None:
    parent = batch(room, [{"shop_id": "s2"}])
    run(room, parent)
    run(room, structs.replace(parent, task_id="again", parent=parent.task_id))
    assert len(children(room)) == 1


def test_a_child_that_is_refused_is_counted_and_the_others_run(room: Room) -> None:
    room.define("work", schema={"type": "object", "required": ["since"]})
    parent = batch(room, [{"payload": {"since": "x"}}, {"payload": {}}])
    assert run(room, parent).again_s
    (task,) = children(room)
    room.finish(room.claim(task), "succeeded")
    told = json.loads(run(room, parent).result)
    assert (told["tasks"], told["succeeded"], told["refused"]) == (2, 1, 1)
    assert "since" in told["first_refusal"]


@pytest.mark.parametrize(
    ("items", "field"),
    [
        ([], "payload.items"),
        ("x", "payload.items"),
        ([7], "payload.items[0]"),
        ([{}, {"shop": "s1"}], "payload.items[1]"),
        ([{"shop_id": 7}], "payload.items[0].shop_id"),
        ([{"payload": []}], "payload.items[0].payload"),
        ([{"priority": "soon"}], "payload.items[0].priority"),
        ([{"task_type": "many"}], "payload.items[0].task_type"),
    ],
)
def test_bad_items_create_nothing(room: Room, items: Any, field: str) -> None:
    parent = room.create(task_type="many", payload={"items": items, "task_type": "work"})
    outcome = run(room, parent)
    assert (outcome.error_kind, outcome.error.partition(": ")[0]) == (classify.BAD_PAYLOAD, field)
    assert children(room) == []


def test_a_cancelled_batch_makes_no_more(room: Room) -> None:
    listener = Listener()
    listener.context.cancelled.set()
    assert run(room, batch(room, [{}]), listener).cancelled
    assert children(room) == []
