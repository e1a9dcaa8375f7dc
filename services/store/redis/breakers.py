"""The breakers of shops as the store's callers see them, on Redis."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from services.domain.gates.breaker import Breaker
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.unreadable import by_name, instant, number


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
    kept = {shop: words for shop, words in zip(shops, found, strict=True) if words}
    read = by_name(read_breaker, kept, "breaker")
    return [msgspec.structs.replace(one, shop=shop) for shop, one in read.items() if one.until]


def read_breaker(words: bytes) -> Breaker:
    """What is remembered of a shop.

    Raises:
        ValueError: it is something else.
    """
    outcomes, until, since, times, kind = words.decode().split(" ")
    if not set(outcomes) <= {"0", "1"}:
        raise ValueError("outcomes are 0 and 1")
    return Breaker(
        shop="", outcomes=outcomes, until=instant(until), since=instant(since), times=number(times), kind=kind
    )
