"""What flows have drifted from their own past, as the leader saw it last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from services.domain.gates import quiet_hours
from services.domain.insight import drift
from services.domain.insight.drift import Drift, Drifts
from services.domain.text.message import Message
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.ports import Store

#: the leader looks every 10 s and is replaced within 15 s; what is older is no state of now
STALE_MS = 60_000


def rows(store: Store) -> tuple[Drifts, ...]:
    """Each type on each platform that has drifted, what began last first. Blocking."""
    found = drift.DOCUMENT.readable(store.documents(drift.KIND)).values()
    return tuple(sorted((one for one in found if one.found), key=lambda one: -since(one)))


class DriftNow(msgspec.Struct, frozen=True, kw_only=True):
    """What of a type on a platform is not as it was; ``said``: the worst first. ``stale``: nobody compares it now."""

    platform: str
    since: int  #: UTC ms
    said: tuple[Message, ...]
    extent: Message
    stale: bool = False


def by_type(store: Store) -> Mapping[str, tuple[DriftNow, ...]]:
    """All that has drifted by type, what began last first. Blocking."""
    now, found = store.now_ms(), defaultdict[str, list[DriftNow]](list)
    for one in rows(store):
        found[one.task_type].append(
            DriftNow(
                platform=one.platform,
                since=since(one),
                said=sentences(store, one, now),
                extent=drift.extent(one.found[0]),
                stale=now - one.at > STALE_MS,
            )
        )
    return {name: tuple(some) for name, some in found.items()}


def since(one: Drifts) -> int:
    """When the first of its figures went off, UTC ms."""
    return min(each.since for each in one.found)


def sentences(store: Store, one: Drifts, now: int) -> tuple[Message, ...]:
    """All that has drifted of it in words, the worst first."""
    zone = fleet_zone(store) or DEFAULT_ZONE
    return tuple(drift.sentence(one, each, clock(each, zone, now)) for each in one.found)


def clock(one: Drift, zone: str, now: int) -> str:
    """The time of day at which it began, with the day where that is long ago."""
    return quiet_hours.clock_at(one.since, zone, now)
