"""Whoever leads compares what ended with its past, and keeps in the store what has drifted."""

from __future__ import annotations

import json

import pytest

from services.domain.insight import drift
from services.domain.task.record import Attempt
from services.domain.task.search.query import Page, Query
from services.monitor.forecast import drift as queries
from services.watch.drift import DriftKeeper
from tests.unit.services.engine.room import Room


def run(room: Room, rows: int, shop: str = "s1") -> None:
    """A run that brought so many rows and took a second."""
    room.clock.advance(60)
    task = room.running(f"w#{room.store.now_ms()}", shop_id=shop)
    room.clock.advance(1)
    done = Attempt(task.attempt, "w", task.started_at, room.store.now_ms(), "succeeded")
    room.finish(task, "succeeded", attempt=done, result=json.dumps({"orders": rows}))


def keeper(room: Room, name: str = "k1") -> DriftKeeper:
    return DriftKeeper(room.store, room.clock, name)


def test_rows_that_fell_to_nothing_are_kept_until_they_are_back(room: Room) -> None:
    looks = keeper(room)
    for _ in range(15):
        run(room, 40)
        assert looks.tick() == 0
    first = room.store.now_ms() + 61_000
    for _ in range(5):
        run(room, 0)
        looks.tick()
    (told,) = queries.rows(room.store)
    (found,) = told.found
    assert (told.task_type, told.platform, found.figure, found.after) == ("work", "pdd", "rows:orders", 0.0)
    assert (found.since, found.shops) == (first, ("pdd:s1",))
    for _ in range(6):
        run(room, 41)
        looks.tick()
    assert queries.rows(room.store) == ()


def test_the_next_leader_knows_it_from_the_records(room: Room) -> None:
    looks = keeper(room)
    for rows in [40] * 15 + [0] * 5:
        run(room, rows)
    assert looks.tick() == 1
    after = keeper(room, "k2")
    assert after.tick() == 1
    assert [one.found[0].figure for one in queries.rows(room.store)] == ["rows:orders"]


def test_what_was_seen_is_not_counted_twice(room: Room) -> None:
    looks = keeper(room)
    for _ in range(15):
        run(room, 40)
    run(room, 0)
    for _ in range(9):
        assert looks.tick() == 0


def test_what_ended_last_is_not_read_for_ever(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, ask, read = keeper(room), room.store.query, list[int]()

    def asked(query: Query) -> Page:
        page = ask(query)
        read.append(len(page.tasks))
        return page

    run(room, 40)
    looks.tick()
    monkeypatch.setattr(room.store, "query", asked)
    for _ in range(3):
        room.clock.advance(10)
        looks.tick()
    assert sum(read) == 1, "once more, for what ended in the same moment"
    run(room, 40)
    looks.tick()
    assert sum(read) == 2


def test_what_cannot_be_read_is_no_drift(room: Room) -> None:
    room.store.put_document(drift.KIND, "x:y", "{")
    assert queries.rows(room.store) == ()
    assert keeper(room).tick() == 0
    assert room.store.documents(drift.KIND) == {}
