"""Fixtures of the stores' own tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from services.clock import SystemClock
from services.store.redis.store import RedisStore


@pytest.fixture
def store(redis_url: str) -> Iterator[RedisStore]:
    """A store on an empty Redis."""
    made = RedisStore(redis_url, SystemClock())
    yield made
    made.close()


@pytest.fixture
def plain(redis_url: str) -> Iterator[redis.Redis]:
    """The same Redis as any other program sees it."""
    client = redis.Redis.from_url(redis_url, protocol=2)
    yield client
    client.close()
