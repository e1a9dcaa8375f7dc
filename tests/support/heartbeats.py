"""Heartbeats of workers that do nothing: for as long as a test lasts, or long ago; on either pair of drivers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import redis

from services.clock import SystemClock
from services.domain.fleet.worker import WorkerInfo
from services.ports import Store
from services.settings import Settings
from services.store.redis import keys
from services.store.sqlite.store import EmbeddedStore


class Behind(SystemClock):
    """So many milliseconds ago."""

    def __init__(self, ago_ms: int) -> None:
        super().__init__()
        self._ago_ms = ago_ms

    def now_ms(self) -> int:
        return super().now_ms() - self._ago_ms


def beat_ago(settings: Settings, info: WorkerInfo, ago_ms: int) -> None:
    """Let the last heartbeat of a worker be so old."""
    if settings.embedded:
        store = EmbeddedStore(settings.database, Behind(ago_ms))
        store.heartbeat(info)
        store.close()
        return
    client = redis.Redis.from_url(settings.store.url)
    seconds, micros = client.time()
    old = seconds * 1000 + micros // 1000 - ago_ms
    client.hset(keys.WORKERS, info.worker, f"{old:013d}".encode() + msgspec.msgpack.encode(info))
    client.close()


@contextmanager
def heard_of(store: Store, *infos: WorkerInfo) -> Iterator[None]:
    """Let workers go on being heard of: what a slow machine takes longer for than they may be silent must not find them
    so.
    """
    over = threading.Event()

    def beat() -> None:
        for info in infos:
            store.heartbeat(info)

    def go_on() -> None:
        while not over.wait(2.0):
            beat()

    beat()
    heart = threading.Thread(target=go_on)
    heart.start()
    try:
        yield
    finally:
        over.set()
        heart.join()
