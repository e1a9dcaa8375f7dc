"""How many bytes a task takes in its store with every index: while it waits, when it has succeeded, when removed."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import redis

from services.engine.lead.janitor import Janitor, Retention
from services.store.redis import keys
from tests.bench.pairs import CountMismatch, Pair

#: of the size benchmark; the parts of a store that do not grow with the tasks weigh little among so many
COUNT = 20_000


def measure(pair: Pair, count: int) -> dict[str, float]:
    """Bytes a task. The event stream is told apart: it is the same for the first 100,000 events and all that follow."""
    begun, _ = _bytes(pair)
    pair.create(pair.specs(count))
    waiting, waiting_events = _bytes(pair)
    pair.drain()
    ended, events = _bytes(pair)
    _forget(pair)
    buried, later_events = _bytes(pair)
    return {
        "bytes a waiting task": (waiting - begun - waiting_events) / count,
        "bytes a succeeded task": (ended - begun - events) / count,
        "bytes a removed task": (buried - begun - later_events) / count,
        "bytes of events a task": events / count,
    }


def _forget(pair: Pair) -> None:
    """What the leader does when the time of all of them is over."""
    engine = pair.engine
    until = engine.store.now_ms()
    while engine.store.now_ms() <= until + 1:
        time.sleep(0.001)
    janitor = Janitor(engine.store, engine.steps, engine.clock, Retention(finished_ms=1))
    while janitor.tick():
        pass
    left = engine.store.counts().total
    if left:
        raise CountMismatch(f"{left} records are left")


def _bytes(pair: Pair) -> tuple[float, float]:
    """What the store holds in all, and what of it the event stream takes."""
    url = pair.engine.settings.store.url
    return _of_redis(url) if url else _of_file(pair.engine.settings.database)


def _of_redis(url: str) -> tuple[float, float]:
    with redis.Redis.from_url(url) as client:
        client.execute_command("MEMORY", "PURGE")
        used = float(client.info("memory")["used_memory"])
        marks = sum(client.memory_usage(key) or 0 for key in client.scan_iter(keys.EXECUTED + "*", count=5000))
        return used - marks, float(client.memory_usage(keys.EVENTS, samples=0) or 0)


def _of_file(path: Path) -> tuple[float, float]:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rows = dict(conn.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall())
    return float(sum(rows.values())), float(rows.get("events", 0))
