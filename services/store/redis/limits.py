"""Limits of platforms and types as the store's callers see them, on Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from services.domain.gates import limit as limits
from services.domain.gates.limit import Limit, LimitNow
from services.store.redis import keys
from services.store.redis.client import Command
from services.store.redis.part import Part
from services.store.redis.script import load
from services.store.unreadable import by_name, number, sound, texts

_PUT_LIMIT = load("put_limit")
_NAMES = (keys.LIMITS, keys.LIMIT_RUNNING, keys.BY_KIND)
#: commands about one limit
_ASKED = 4


def numbers_of(found: Mapping[bytes, bytes], now: int) -> list[Command]:
    """What to ask for the numbers of these limits."""
    return [
        command
        for scope in by_name(read_limit, found, "limit")
        for command in (
            ("HGET", keys.LIMIT_RUNNING, scope),
            ("ZCOUNT", keys.LIMIT_RESERVED + scope, f"({now}", "+inf"),
            ("HGETALL", keys.LIMIT_STARTS + scope),
            ("ZCARD", keys.LIMIT_WAITING + scope),
        )
    ]


def limits_now(found: Mapping[bytes, bytes], replies: Sequence[Any], now: int) -> list[LimitNow]:
    """The limits with the answers to ``numbers_of``."""
    rows = [replies[start : start + _ASKED] for start in range(0, len(replies), _ASKED)]
    read = by_name(read_limit, found, "limit")
    return [_limit(scope, numbers, row, now) for (scope, numbers), row in zip(read.items(), rows, strict=True)]


def _limit(scope: str, numbers: tuple[int, int], replies: Sequence[Any], now: int) -> LimitNow:
    slots, per_minute = numbers
    running, promised, starts, waiting = replies
    this = now // 1000
    known = by_name(number, starts, "number of starts")
    counted = {
        int(second): n
        for second, n in known.items()
        if per_minute and second.isdecimal() and this - limits.SECONDS < int(second) <= this + 1
    }
    return LimitNow(
        limit=Limit(scope=scope, concurrency=slots, per_minute=per_minute),
        running=sound(number, running or b"0", "number of running tasks", scope) or 0,
        promised=promised,
        started=sum(counted.values()),
        resets_at=(min(counted) + limits.SECONDS) * 1000 if counted else 0,
        waiting=waiting,
    )


class Limits(Part):
    """The calls are those of ``services.ports.Store``."""

    def put_limit(self, limit: Limit) -> None:
        """Set or take away."""
        self._link.check_writable()
        words = f"{limit.concurrency} {limit.per_minute}" if limit.limits else ""
        self._link.run(_PUT_LIMIT, _NAMES, limit.scope, words)

    def limits(self) -> list[LimitNow]:
        """All limits with their numbers."""
        found = self._link.call("HGETALL", keys.LIMITS)
        if not found:
            return []
        now = self._ticker.now_ms()
        replies = self._link.many(numbers_of(found, now))
        return limits_now(found, replies, now)

    def recount_limits(self) -> None:
        """Count running tasks anew."""
        self._link.check_writable()
        self._link.run(_PUT_LIMIT, _NAMES)

    def waiting_limits(self) -> list[str]:
        """Scopes at whose limit somebody waits."""
        return sorted(texts(self._link.call("SMEMBERS", keys.LIMIT_SCOPES)))

    def promised(self) -> int:
        """Released tasks that have not started yet."""
        now = self._ticker.now_ms()
        shops = self._link.call("ZRANGEBYSCORE", keys.RESERVING, f"({now}", "+inf")
        asks = [("ZCOUNT", keys.RESERVED + shop, f"({now}", "+inf") for shop in texts(shops)]
        return sum(self._link.many(asks)) if asks else 0


def read_limit(words: bytes) -> tuple[int, int]:
    """How many may run at once, and start in a minute.

    Raises:
        ValueError: it is something else.
    """
    slots, per_minute = (int(word) for word in words.decode("ascii").split())
    if not (0 <= slots <= limits.MAX_CONCURRENCY and 0 <= per_minute <= limits.MAX_PER_MINUTE):
        raise ValueError("out of range")
    return slots, per_minute
