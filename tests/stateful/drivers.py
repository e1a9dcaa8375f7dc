"""What lets two stores live through the very same history: one clock, and one order where the port leaves it open.

A real Redis asks its machine for the time, inside the scripts. Here the scripts are the product's own, but the words
``TIME`` and ``PEXPIRE`` go through a few lines that look at a key instead: the clock is turned by hand, and keys that
tidy themselves away later than anybody looks at them do not do so after seconds of real time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from services.clock import ManualClock
from services.domain.change import Answer, Op
from services.domain.errors import StoreUnavailable
from services.domain.task.record import Task
from services.ports import Store
from services.store.redis import store as redis_driver
from services.store.redis.client import Link
from services.store.redis.script import Script
from services.store.sqlite.store import EmbeddedStore

_NOW = "turned:now"
_TURNED = f"""local function turned(name, ...)
  if name == 'TIME' then
    local now = tonumber(redis.call('GET', '{_NOW}'))
    return {{ math.floor(now / 1000), now % 1000 * 1000 }}
  end
  if name == 'PEXPIRE' then return redis.pcall(name, (...), '86400000') end
  return redis.pcall(name, ...)
end
"""


class HandClock(ManualClock):
    """Only the test turns it: who waits has waited, and finds nothing changed."""

    def wait(self, event: Any, seconds: float) -> bool:
        """Look at once."""
        return bool(event.is_set())


class _TurnedLink(Link):
    clock: ManualClock
    _told = -1
    _scripts: dict[str, Script]

    def run(self, script: Script, names: Sequence[str], *arguments: Any) -> Any:
        """A script of the product in which the time is that of the hand."""
        now = self.clock.now_ms()
        if now != self._told:
            self._told = now
            self.call("SET", _NOW, now)
        known = self.__dict__.setdefault("_scripts", {})
        if script.sha not in known:
            text = _TURNED + script.text.replace("redis.pcall", "turned").replace("redis.call", "turned")
            known[script.sha] = Script(lambda: (text, "", ""))
        return super().run(known[script.sha], names, *arguments)


class _HandTicker:
    def __init__(self, clock: ManualClock) -> None:
        self.now_ms = clock.now_ms

    def saw(self, now: int) -> None:
        """Nothing to learn."""


def open_redis(url: str, clock: ManualClock) -> Store:
    """The Redis driver under a clock that is turned by hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redis_driver, "Link", _TurnedLink)
        store = redis_driver.RedisStore(url, clock)
    assert isinstance(store._link, _TurnedLink)
    store._link.clock = clock
    store._ticker = _HandTicker(clock)  # type: ignore[assignment]
    store._link.call("FLUSHALL")
    return store


def open_embedded(folder: Path, clock: ManualClock) -> Store:
    """The embedded driver in an empty folder."""
    return EmbeddedStore(folder / "fleet.sqlite", clock)


class Ordered:
    """A store whose lists come in one order where the port promises none, and that can lose replies and requests."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.lose: str = ""  #: reply | request: of the next ``apply``

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        """As it is, unless its words get lost on the way."""
        lost, self.lose = self.lose, ""
        if lost == "request":
            raise StoreUnavailable("the request was lost")
        answers = self._store.apply(ops)
        if lost:
            raise StoreUnavailable("the reply was lost")
        return answers

    def parked_shops(self, limit: int) -> list[str]:
        """By name."""
        return sorted(self._store.parked_shops(limit))

    def waiting_limits(self) -> list[str]:
        """By name."""
        return sorted(self._store.waiting_limits())

    def untold(self, limit: int) -> list[str]:
        """By id."""
        return sorted(self._store.untold(limit))

    def outbox(self, older_than_ms: int, limit: int) -> list[Task]:
        """By id."""
        return self._sorted(lambda: self._store.outbox(older_than_ms, limit))

    def due(self, limit: int, grace_ms: int = 0) -> list[Task]:
        """By id."""
        return self._sorted(lambda: self._store.due(limit, grace_ms))

    def expired(self, limit: int) -> list[Task]:
        """By id."""
        return self._sorted(lambda: self._store.expired(limit))

    def _sorted(self, ask: Callable[[], list[Task]]) -> list[Task]:
        return sorted(ask(), key=lambda task: task.task_id)
