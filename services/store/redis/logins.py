"""Shops that wait for a person to log in, as the store's callers see them, on Redis."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.gates.session import ClosedSession, Login
from services.domain.upkeep.stored import Instant
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.unreadable import by_name, instant

_CLOSED = msgspec.msgpack.Decoder(ClosedSession).decode
read_login = msgspec.msgpack.Decoder(tuple[Instant, str]).decode


def sessions_in(found: Mapping[bytes, bytes]) -> list[ClosedSession]:
    """The stored ones, by shop."""
    return list(by_name(_CLOSED, found, "session").values())


class Sessions(Part):
    """The calls of ``services.ports.Store``."""

    def sessions(self) -> list[ClosedSession]:
        """The closed ones."""
        return sessions_in(self._link.call("HGETALL", keys.SESSIONS))

    def logins(self) -> Mapping[str, Login]:
        """Who logged in last, by shop."""
        found = by_name(read_login, self._link.call("HGETALL", keys.LOGINS), "login")
        return {shop: Login(shop=shop, at=at, by=who) for shop, (at, who) in found.items()}

    def successes(self) -> Mapping[str, int]:
        """When a task of each shop succeeded last."""
        return by_name(instant, self._link.call("HGETALL", keys.SUCCESSES), "last success")

    def successes_of(self, task_type: str) -> Mapping[str, int]:
        """When a task of a type succeeded last in each shop."""
        return by_name(instant, self._link.call("HGETALL", keys.SUCCESSES_OF + task_type), "last success")

    def last_runs(self) -> Mapping[str, tuple[int, str]]:
        """When and by whom a task of each shop was begun last."""
        return by_name(read_last_run, self._link.call("HGETALL", keys.LAST_RUNS), "last run")


def read_last_run(words: bytes) -> tuple[int, str]:
    """When, and which worker.

    Raises:
        ValueError: it is something else.
    """
    at, _, worker = words.decode().partition(" ")
    return instant(at), worker
