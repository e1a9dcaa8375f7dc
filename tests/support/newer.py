"""Makes of the data of a fleet those of a program that is newer than this one: it writes what this one has never heard
of, and says that this one may not write.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import Any

import redis

from services.settings import Settings
from services.store.redis import keys

#: what each queued task becomes, everywhere; as long as its old name, so that what is packed stays whole
OLD, NEW = "queued", "asleep"
PROGRAM = "9.9.0"
DOCUMENTS = {
    ("type", "later"): {"name": "later", "colour": {"of": ["the", "future"]}, "retries_like": "a newer program"},
    ("horoscope", "today"): {"stars": 5},
}


def make(settings: Settings, *, program: str = PROGRAM) -> None:
    """``program``: the one that wrote."""
    if settings.embedded:
        with contextlib.closing(sqlite3.connect(settings.database)) as db, db:
            _file(db)
            db.execute("UPDATE meta SET value = ? WHERE key = 'writer.store'", ("99",))
            db.execute("UPDATE meta SET value = ? WHERE key = 'program'", (program,))
        return
    with redis.Redis.from_url(settings.store.url) as client:
        _redis(client)
        client.hset(keys.META, mapping={"writer": 99, "program": program})


def _file(db: sqlite3.Connection) -> None:
    db.executescript(
        "BEGIN IMMEDIATE; UPDATE meta SET value = '99' WHERE key = 'schema.store';"
        " PRAGMA user_version=99;"
        " ALTER TABLE tasks ADD COLUMN colour TEXT NOT NULL DEFAULT ''; CREATE TABLE stars (n INTEGER);"
        " ALTER TABLE events ADD COLUMN mood TEXT NOT NULL DEFAULT 'good';"
    )
    for table in ("tasks", "tallies", "shop_tallies"):
        db.execute(f"UPDATE {table} SET status = '{NEW}' WHERE status = '{OLD}'")
    db.execute(f"UPDATE events SET to_ = '{NEW}' WHERE to_ = '{OLD}'")
    for task_id, data in db.execute("SELECT task_id, data FROM tasks").fetchall():
        db.execute("UPDATE tasks SET data = ? WHERE task_id = ?", (_renamed(data), task_id))
    columns = [name for _, name, *_ in db.execute("PRAGMA table_info(documents)")]
    for (kind, key), body in DOCUMENTS.items():
        row = {"kind": kind, "key": key, "id": key, "name": key, "body": json.dumps(body), "data": json.dumps(body)}
        marks = ", ".join("?" for _ in columns)
        db.execute(f"INSERT INTO documents VALUES ({marks})", [row.get(name, 1) for name in columns])


def _redis(client: redis.Redis) -> None:
    client.hset(keys.META, mapping={"schema": 99, "stars": "5"})
    for (kind, key), body in DOCUMENTS.items():
        client.hset(keys.DOCUMENTS + kind, key, json.dumps(body))
    for key in sorted(client.scan_iter()):
        if client.type(key) == b"hash":
            found: Any = client.hgetall(key)
            client.delete(key)
            client.hset(key, mapping={_renamed(name): _renamed(value) for name, value in found.items()})
        elif key.startswith(keys.TASK.encode()) and client.type(key) == b"string":
            stored: Any = client.get(key)
            client.set(key, _renamed(stored))
        elif client.type(key) == b"stream":
            for _, fields in client.xrange(key):
                client.xadd(key, {name: _renamed(value) for name, value in fields.items()})
        if OLD.encode() in key:
            client.rename(key, _renamed(key))


def _renamed(data: bytes) -> bytes:
    return data.replace(OLD.encode(), NEW.encode())
