"""What a program that knew the store puts back into one that was emptied."""

from __future__ import annotations

import time
from contextlib import closing
from types import SimpleNamespace

import pytest
import redis

from services.clock import SystemClock
from services.domain.change import Published
from services.domain.fleet.shop import Pause
from services.store.redis.store import RedisStore

STALE_S = 60.0
RECORDED = Published(task_id="t1", status="queued", gen=1, attempt=0)  #: anything


@pytest.mark.parametrize("away_s", [0.0, STALE_S])
@pytest.mark.parametrize("notices", ["by looking", "by recording"])
def test_a_pause_is_put_back_only_by_who_has_looked_lately(
    store: RedisStore, redis_url: str, plain: redis.Redis, monkeypatch: pytest.MonkeyPatch, notices: str, away_s: float
) -> None:
    """Others may have lifted it since, in a fleet of which he has heard nothing for a while."""
    store.apply([RECORDED])
    store.set_pause(Pause(scope="platform:temu", by="ann"))
    assert store.lead("test", "me", 1000)  # as a leader does every few seconds: it sees what holds work back
    if away_s:
        with closing(RedisStore(redis_url, SystemClock())) as other:
            other.clear_pause("platform:temu")
    plain.flushall()
    late = SimpleNamespace(monotonic=lambda: time.monotonic() + away_s)
    monkeypatch.setattr("services.store.redis.life.time", late)
    if notices == "by looking":
        store.lead("test", "me", 1000)
    else:
        store.apply([RECORDED])
    assert [pause.scope for pause in store.pauses()] == ([] if away_s else ["platform:temu"])
