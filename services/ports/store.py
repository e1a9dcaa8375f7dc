"""The store, whole: what a driver of it must offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from services.ports.fleet import Fleet
from services.ports.journals import Journals
from services.ports.limits import Limits
from services.ports.records import Records
from services.ports.timetable import Timetable
from services.ports.upkeep import Care, PayloadIndex, Recount, Upkeep


class Store(Records, Upkeep, Journals, Timetable, Fleet, Limits, PayloadIndex, Recount, Care, Protocol):
    """Records, compare-and-set transitions, indexes, queries, leases, gates, events, shops, audit."""

    def health(self) -> tuple[bool, float, str]:
        """(answers, latency ms, error text) of a round trip made now; what answers with an error takes no writes."""

    def newer(self) -> str:
        """The sentence that a newer program wrote the data, so that this one only reads; "" where none did."""

    def facts(self) -> Mapping[str, str]:
        """What the server says about itself: ``kind``, ``version``; on Redis also ``role``, ``maxmemory``,
        ``maxmemory_policy``, ``appendonly``, ``appendfsync`` ("" where it does not tell) and how its last writes went.
        """

    def close(self) -> None: ...
