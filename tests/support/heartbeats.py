"""Heartbeats of workers that were not heard of for a while, on either pair of drivers."""

from __future__ import annotations

import msgspec
import redis

from services.clock import SystemClock
from services.domain.fleet.worker import WorkerInfo
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
