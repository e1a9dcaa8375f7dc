"""The event stream and the counters: both follow every transition in the same step."""

from __future__ import annotations

import threading
import time

import pytest

from services.domain.change import Cancel, Move, Republish, SetTriage
from services.domain.task.event import EventBatch
from services.domain.task.search.query import Query
from services.domain.task.status import Status
from services.ports import Store
from tests.contract.rig import Rig, recount, same_counts, shown, told


def everything(rig: Rig) -> list[str]:
    """Bring tasks through every kind of transition; returns their ids."""
    tasks = [rig.in_status(status, shop_id=f"s{number}") for number, status in enumerate(Status)]
    dead = rig.dead(shop_id="dead1")
    rig.ask(SetTriage(task_id=dead.task_id, triage="archived", by="ann"))
    fresh = rig.task(parent=dead.task_id, shop_id="dead1")
    rig.ask(Republish(task_id=dead.task_id, task=fresh, by="ann"))
    moved = rig.queued(lane="low", priority=1, shop_id="m1", platform="temu")
    rig.ask(Move(task_id=moved.task_id, by="ann", lane="high", priority=9))
    asked = rig.running(shop_id="c1")
    rig.ask(Cancel(task_id=asked.task_id, by="ann"))
    rig.finish(asked, "cancelled")
    again = rig.retrying(shop_id="r1")
    claimed = rig.claim(again, "w5#1").task
    assert claimed is not None
    rig.finish(claimed)
    return [task.task_id for task in (*tasks, dead, fresh, moved, asked, again)]


def test_events_are_the_transitions(rig: Rig) -> None:
    start = rig.store.events("", 1, 0).cursor
    ids = everything(rig)
    events = rig.all_events(start)
    for task_id in ids:
        record = rig.record(task_id)
        assert told(events, record) == shown(record)
    assert {event.task_id for event in events} >= set(ids)
    assert len({event.cursor for event in events}) == len(events)


def test_an_event_names_the_task(rig: Rig) -> None:
    start = rig.store.events("", 1, 0).cursor
    task = rig.create(platform="temu", shop_id="x-1", task_type="refresh", lane="low", priority=2)
    (event,) = rig.all_events(start)
    assert (event.task_id, event.platform, event.shop_id, event.task_type, event.lane) == (
        task.task_id, "temu", "x-1", "refresh", "low",
    )  # fmt: skip
    assert (event.from_, event.to, event.at, event.worker, event.gen, event.attempt) == (
        "", "pending", task.created_at, "", 0, 0,
    )  # fmt: skip


def test_counters_equal_a_recount(rig: Rig) -> None:
    ids = everything(rig)
    keepers = rig.store.query(Query(limit=1000)).tasks
    assert {task.task_id for task in keepers} >= set(ids)
    assert same_counts(rig.store.counts(), recount(keepers))


def test_the_counters_name_their_place_in_the_stream(rig: Rig) -> None:
    rig.create()
    counts = rig.store.counts()
    assert rig.store.events(counts.cursor, 10, 0).events == ()
    task = rig.create()
    assert [event.task_id for event in rig.store.events(counts.cursor, 10, 0).events] == [task.task_id]


def test_from_now_on(rig: Rig) -> None:
    rig.create()
    first = rig.store.events("", 10, 5.0)  # answers at once
    assert (first.events, first.gap) == ((), False)
    task = rig.create()
    batch = rig.store.events(first.cursor, 10, 0)
    assert [event.task_id for event in batch.events] == [task.task_id]
    assert batch.cursor == batch.events[-1].cursor


def test_pages_of_events(rig: Rig) -> None:
    cursor = rig.store.events("", 1, 0).cursor
    ids = [rig.create().task_id for _ in range(25)]
    seen: list[str] = []
    while (batch := rig.store.events(cursor, 10, 0)).events:
        assert len(batch.events) <= 10
        seen += [event.task_id for event in batch.events]
        cursor = batch.cursor
    assert seen == ids


def test_every_event_cursor_is_a_place_to_go_on_from(rig: Rig) -> None:
    start = rig.store.events("", 1, 0).cursor
    for _ in range(5):
        rig.create()
    events = rig.all_events(start)
    for number, event in enumerate(events):
        assert rig.store.events(event.cursor, 10, 0).events == tuple(events[number + 1 :])


@pytest.mark.parametrize("cursor", ["nonsense", "0123456789abcdef/1", "other/0-0", "/"])
def test_a_cursor_of_another_life_is_a_gap(rig: Rig, cursor: str) -> None:
    rig.create()
    batch = rig.store.events(cursor, 10, 5.0)
    assert (batch.gap, batch.events) == (True, ())
    assert rig.store.events(batch.cursor, 10, 0) == EventBatch(events=(), cursor=batch.cursor)


def test_waiting_for_nothing_keeps_the_place(rig: Rig) -> None:
    cursor = rig.store.events("", 1, 0).cursor
    begun = time.monotonic()
    batch = rig.store.events(cursor, 10, 0.2)
    assert (batch.events, batch.cursor, batch.gap) == ((), cursor, False)
    assert 0.15 < time.monotonic() - begun < 20


def test_a_waiting_reader_hears_at_once(rig: Rig) -> None:
    cursor = rig.store.events("", 1, 0).cursor
    heard: list[EventBatch] = []
    thread = threading.Thread(target=lambda: heard.append(rig.store.events(cursor, 10, 60.0)))
    thread.start()
    begun = time.monotonic()
    task = rig.create()
    thread.join(60)
    assert time.monotonic() - begun < 40
    assert [event.task_id for event in heard[0].events] == [task.task_id]


def test_a_reader_through_another_connection_hears_too(rig: Rig, second_store: Store) -> None:
    cursor = second_store.events("", 1, 0).cursor
    task = rig.create()
    batch = second_store.events(cursor, 10, 5.0)
    assert [event.task_id for event in batch.events] == [task.task_id]
    assert second_store.counts().total == 1
