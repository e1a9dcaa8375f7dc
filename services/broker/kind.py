"""What is known of a kind of broker before one is opened. No driver is loaded for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec

from services.ports import Broker, Clock

#: how many tasks are recorded as queued, by queue: for brokers that do not count; raises StoreError
Recorded = Callable[[], Mapping[str, int]]


class Place(Protocol):
    """Where a broker is, as the settings say."""

    @property
    def url(self) -> str: ...
    @property
    def management_url(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def insecure_tls(self) -> bool: ...


class BrokerKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of broker: a folder of this package and its line in ``listed.KINDS``."""

    name: str  #: what people call it
    schemes: tuple[str, ...]  #: its addresses begin with one of these
    secure: str  #: the one of them that means TLS
    like: str  #: an address as it should look
    #: refuses what is no address of it: (address, field where it came from); raises UsageError
    check: Callable[[str, str], None]
    #: (place, clock, plain work queues of other programs, what records tell) → its driver, not connected yet; raises
    #: ConsoleError
    open: Callable[[Place, Clock, Iterable[str], Recorded], Broker]
    #: what is wrong with its management address, "" when it answers
    ask_management: Callable[[Place, Clock], str]
    #: what a user that connects may not do there all the same, "" for nothing; changes nothing
    ask_rights: Callable[[Broker], str] = lambda _driver: ""
    sentences: Mapping[str, str] = {}  #: of its own findings, by code
