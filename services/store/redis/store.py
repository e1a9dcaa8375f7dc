"""The Redis driver of the Store port: one class joined from the parts that each know one duty."""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.errors import StoreError, StoreUnavailable
from services.domain.text.said import words_of
from services.ports import Clock
from services.store.fleet_day import FleetDay
from services.store.redis import facts as redis_facts
from services.store.redis.apply import Operations
from services.store.redis.batches import Batches
from services.store.redis.breakers import OpenBreakers
from services.store.redis.client import Link
from services.store.redis.closed import ClosedGates
from services.store.redis.events import Events
from services.store.redis.fleet import Fleet
from services.store.redis.ledger import Ledger
from services.store.redis.limits import Limits
from services.store.redis.logins import Sessions
from services.store.redis.papers import Papers
from services.store.redis.part import Ticker
from services.store.redis.query import Queries
from services.store.redis.remarks import Remarks
from services.store.redis.schedules import Schedules
from services.store.redis.soon import Soon
from services.store.redis.upkeep.aside import SetAside
from services.store.redis.upkeep.damage import Damages
from services.store.redis.upkeep.forget import Forgetting
from services.store.redis.upkeep.recount import Recounting


class RedisStore(
    Recounting,
    Damages,
    SetAside,
    Operations,
    Queries,
    Events,
    Fleet,
    Forgetting,
    Limits,
    Ledger,
    OpenBreakers,
    Papers,
    Remarks,
    Schedules,
    Sessions,
    Batches,
    ClosedGates,
):
    """Records and everything around them on one Redis (7.0 or newer); safe for any number of threads.

    Nothing is asked before the first call, so a store may be made while Redis is down.
    """

    def __init__(self, url: str, clock: Clock, *, read_only: bool = False, insecure: bool = False) -> None:
        """``insecure``: the certificate of the server is not checked."""
        self._link = Link(url, read_only=read_only, insecure=insecure)
        self._clock = clock
        self._ticker = Ticker(self._link)
        self._day = FleetDay()
        self._soon = Soon(self._send_waiting)
        self._link.before = self._soon.settle

    def now_ms(self) -> int:
        """The store's clock, UTC ms."""
        return self._ticker.now_ms()

    def health(self) -> tuple[bool, float, str]:
        """(answers, latency ms, error text) of a round trip made now."""
        begun = self._clock.monotonic()
        try:
            self._link.call("PING")
        except StoreError as exc:
            return False, -1.0, words_of(exc)
        return True, (self._clock.monotonic() - begun) * 1000, ""

    def facts(self) -> Mapping[str, str]:
        """What Redis says about itself and its durability."""
        commands, keys = self._link.refused()
        denied = {"refused": ", ".join(commands), "refused_keys": "yes" if keys else ""}
        try:
            info = redis_facts.parsed(*(self._link.call("INFO", part) for part in redis_facts.PARTS))
        except StoreUnavailable:
            raise
        except StoreError:  # neither may this account ask
            return {**redis_facts.of_hello(self._link.server), **denied}
        try:
            config = self._link.call("CONFIG", "GET", "appendfsync")
        except StoreError:  # a hosted Redis may not let anybody ask
            config = None
        return {**redis_facts.chosen(info, config), **denied}

    def close(self) -> None:
        """Send what nobody waited for and drop the connections; who waits for events is let go within a second."""
        self._soon.close()
        self._link.close()
