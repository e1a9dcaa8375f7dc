"""Limits of platforms and types as the store's callers see them, on Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from services.domain import limit as limits
from services.domain.limit import Limit, LimitNow
from services.store import keys
from services.store.redis_client import Command
from services.store.redis_part import Part
from services.store.redis_script import load

_PUT_LIMIT = load("put_limit")
_NAMES = (keys.LIMITS, keys.LIMIT_RUNNING, keys.BY_KIND)
#: commands about one limit
_ASKED = 4


def numbers_of(found: Mapping[bytes, bytes], now: int) -> list[Command]:
    """What to ask for the numbers of these limits."""
    return [
        command
        for scope in sorted(found)
        for command in (
            ("HGET", keys.LIMIT_RUNNING, scope),
            ("ZCOUNT", keys.LIMIT_RESERVED + scope.decode(), f"({now}", "+inf"),
            ("HGETALL", keys.LIMIT_STARTS + scope.decode()),
            ("ZCARD", keys.LIMIT_WAITING + scope.decode()),
        )
    ]


def limits_now(found: Mapping[bytes, bytes], replies: Sequence[Any], now: int) -> list[LimitNow]:
    """The limits with the answers to ``numbers_of``."""
    rows = [replies[start : start + _ASKED] for start in range(0, len(replies), _ASKED)]
    return [_limit(scope.decode(), found[scope], row, now) for scope, row in zip(sorted(found), rows, strict=True)]


def _limit(scope: str, words: bytes, replies: Sequence[Any], now: int) -> LimitNow:
    slots, per_minute = (int(word) for word in words.split())
    running, promised, starts, waiting = replies
    this = now // 1000
    counted = {
        second: int(n)
        for second, n in ((int(field), n) for field, n in starts.items())
        if per_minute and this - limits.SECONDS < second <= this + 1
    }
    return LimitNow(
        limit=Limit(scope=scope, concurrency=slots, per_minute=per_minute),
        running=int(running or 0),
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
        return sorted(scope.decode() for scope in self._link.call("SMEMBERS", keys.LIMIT_SCOPES))

    def promised(self) -> int:
        """Released tasks that have not started yet."""
        now = self._ticker.now_ms()
        shops = self._link.call("ZRANGEBYSCORE", keys.RESERVING, f"({now}", "+inf")
        asks = [("ZCOUNT", keys.RESERVED + shop.decode(), f"({now}", "+inf") for shop in shops]
        return sum(self._link.many(asks)) if asks else 0
