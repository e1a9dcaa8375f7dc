"""Shops that wait for a person to log in, as the store's callers see them, on Redis."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.session import ClosedSession, Login
from services.store import keys
from services.store.redis_part import Part

_CLOSED = msgspec.msgpack.Decoder(ClosedSession).decode
_LOGIN = msgspec.msgpack.Decoder(tuple[int, str]).decode


def sessions_in(found: Mapping[bytes, bytes]) -> list[ClosedSession]:
    """The stored ones, by shop."""
    return [_CLOSED(found[shop]) for shop in sorted(found)]


class Sessions(Part):
    """The calls of ``services.ports.Store``."""

    def sessions(self) -> list[ClosedSession]:
        """The closed ones."""
        return sessions_in(self._link.call("HGETALL", keys.SESSIONS))

    def logins(self) -> Mapping[str, Login]:
        """Who logged in last, by shop."""
        found = {shop.decode(): _LOGIN(data) for shop, data in self._link.call("HGETALL", keys.LOGINS).items()}
        return {shop: Login(shop=shop, at=at, by=who) for shop, (at, who) in found.items()}

    def successes(self) -> Mapping[str, int]:
        """When a task of each shop succeeded last."""
        return {shop.decode(): int(at) for shop, at in self._link.call("HGETALL", keys.SUCCESSES).items()}
