"""Keeps what a store holds now, and brings it back: what a crash before the next write to disk does to a server."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import redis

Back = Callable[[], None]


def of_file(place: Path) -> Back:
    """Of the embedded store."""
    kept = sqlite3.connect(":memory:")
    with closing(sqlite3.connect(place, timeout=30)) as db:
        db.backup(kept)

    def back() -> None:
        with closing(sqlite3.connect(place, timeout=30)) as db, closing(kept):
            kept.backup(db)

    return back


def of_redis(url: str) -> Back:
    """Of Redis, without what expires by itself."""
    client = redis.Redis.from_url(url)
    kept = {key: client.dump(key) for key in client.scan_iter(count=1000)}

    def back() -> None:
        with client.pipeline() as at_once:  # who works meanwhile sees no empty server
            at_once.flushdb()
            for key, value in kept.items():
                at_once.restore(key, 0, value)
            at_once.execute()
        client.close()

    return back
