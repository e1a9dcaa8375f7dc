"""The breakers of shops as the store's callers see them, on Redis."""

from __future__ import annotations

from collections.abc import Sequence

from services.domain.breaker import Breaker
from services.store import keys
from services.store.redis_part import Part


class OpenBreakers(Part):
    """The call of ``services.ports.Store``."""

    def breakers(self) -> list[Breaker]:
        """Those that are open."""
        shops = sorted(self._link.call("ZRANGE", keys.BREAKERS_OPEN, 0, -1))
        if not shops:
            return []
        found = self._link.call("HMGET", keys.BREAKERS, *shops)
        return opened(shops, found)


def opened(shops: Sequence[bytes], found: Sequence[bytes | None]) -> list[Breaker]:
    """The breakers of these shops by what is stored of each."""
    return [_breaker(shop.decode(), words.decode()) for shop, words in zip(shops, found, strict=True) if words]


def _breaker(shop: str, words: str) -> Breaker:
    outcomes, until, since, times, kind = words.split(" ")
    return Breaker(shop=shop, outcomes=outcomes, until=int(until), since=int(since), times=int(times), kind=kind)
