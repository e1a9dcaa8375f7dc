"""Cursors of the event stream: trimmed, of another life, ahead of what is there."""

from __future__ import annotations

import contextlib
import threading

import redis

from services.domain.change import Create
from services.domain.errors import StoreUnavailable
from services.domain.task.record import Task
from services.store.redis import keys
from services.store.redis.store import RedisStore


def create(store: RedisStore, *numbers: int) -> None:
    store.apply([Create(task=Task(task_id=f"t{n}", shop_id="s", platform="p", task_type="x")) for n in numbers])


def test_a_cursor_that_was_trimmed_away_is_a_gap(store: RedisStore, plain: redis.Redis) -> None:
    create(store, 0)
    cursor = store.counts().cursor
    create(store, *range(1, 50))
    plain.xtrim(keys.EVENTS, maxlen=10, approximate=False)
    batch = store.events(cursor, 10, 5.0)
    assert (batch.gap, batch.events) == (True, ())
    assert batch.cursor == store.counts().cursor


def test_a_batch_keeps_the_stream_short(store: RedisStore, plain: redis.Redis) -> None:
    fill = "for _ = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'a', '1') end"
    plain.eval(fill, 1, keys.EVENTS, str(keys.EVENTS_KEPT + 1_000))
    node = 100  # entries that Redis keeps together: an approximate length leaves one such more
    create(store, *range(5))
    assert keys.EVENTS_KEPT <= plain.xlen(keys.EVENTS) <= keys.EVENTS_KEPT + node + 5


def test_the_beginning_of_an_empty_stream_is_no_gap(store: RedisStore) -> None:
    cursor = store.events("", 10, 0.0).cursor
    create(store, 1, 2)
    assert [event.task_id for event in store.events(cursor, 10, 0.0).events] == ["t1", "t2"]


def test_a_wiped_store_is_another_life(store: RedisStore, plain: redis.Redis) -> None:
    create(store, 0)
    cursor = store.counts().cursor
    plain.flushall()
    assert store.events(cursor, 10, 5.0).gap
    create(store, 1)
    assert store.events(cursor, 10, 5.0).gap
    assert store.counts().cursor.partition("/")[0] != cursor.partition("/")[0]


def test_a_place_that_the_server_lost_is_a_gap(store: RedisStore, plain: redis.Redis) -> None:
    create(store, 0, 1)
    batch = store.events(store.counts().cursor, 10, 0.0)
    last = batch.cursor.partition("/")[2]
    plain.xdel(keys.EVENTS, last)
    assert store.events(batch.cursor, 10, 5.0).gap


def test_entries_of_a_newer_program_are_read(store: RedisStore, plain: redis.Redis) -> None:
    create(store, 0)
    cursor = store.counts().cursor
    plain.xadd(keys.EVENTS, {"task_id": "x", "to": "frozen", "mood": "good", "at": "soon"})
    (event,) = store.events(cursor, 10, 0.0).events
    assert (event.task_id, event.to, event.at, event.shop_id) == ("x", "frozen", 0, "")


def test_closing_lets_a_waiting_reader_go(store: RedisStore) -> None:
    cursor = store.events("", 1, 0.0).cursor
    ended = threading.Event()

    def wait() -> None:
        with contextlib.suppress(StoreUnavailable):
            store.events(cursor, 10, 30.0)
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    store.close()
    assert ended.wait(5.0)
    thread.join()
