"""Which running tasks take long, and which seem to hang: by what workers say in their heartbeats, and how long such
tasks ran of late.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import msgspec

from services.domain.fleet.worker import SlotState
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.worker import FleetNow
from services.domain.text.message import Message, Param

#: so many are looked at, the longest first
LOOKED_AT = 30
#: one of twenty takes long; so many at once, and this share of what runs, is no chance
TOGETHER, SHARE = 3, 0.5

#: how long a type runs in a shop (``platform:shop_id``), or on a platform
Usual = Callable[[str, str], Runs]


class Slow(msgspec.Struct, frozen=True, kw_only=True):
    """Several tasks of a type on a platform that all run past the 95th percentile."""

    task_type: str
    platform: str
    slots: tuple[SlotState, ...]  #: the longest first
    running: int  #: of that type there
    usual: Runs


def slots(fleet: FleetNow, usual: Usual, now_ms: int) -> list[SlotState]:
    """Those of workers that are heard of, the longest first; of others nobody knows whether their tasks still run.
    ``usual``: how long a type runs in a shop; asked only for what has run long.
    """
    return [
        slot
        for slot in _longest(fleet, now_ms, durations.HANGS_S)[:LOOKED_AT]
        if usual(slot.task_type, slot.shop).hangs((now_ms - slot.since) / 1000, slot.progress)
    ]


def past(fleet: FleetNow, usual: Usual, now_ms: int) -> list[SlotState]:
    """Those that run past the 95th percentile of their type on their platform (``usual``), the longest first."""
    return [
        slot
        for slot in _longest(fleet, now_ms, durations.LONG_S)
        if usual(slot.task_type, platform_of(slot)).is_long((now_ms - slot.since) / 1000)
    ]


def together(fleet: FleetNow, usual: Usual, now_ms: int) -> list[Slow]:
    """Where so many of them are past it at once that it is no chance, most of them first."""
    running, long = _by_kind(_busy(fleet)), _by_kind(past(fleet, usual, now_ms))
    found = [
        Slow(
            task_type=kind,
            platform=there,
            slots=tuple(some),
            running=len(running[kind, there]),
            usual=usual(kind, there),
        )
        for (kind, there), some in long.items()
        if len(some) >= max(TOGETHER, SHARE * len(running[kind, there]))
    ]
    return sorted(found, key=lambda one: -len(one.slots))


def sentence(slot: SlotState, usual: Runs, now_ms: int) -> Message:
    """How long one runs beside how long nearly all of its type do on its platform."""
    params: dict[str, Param] = {
        "seconds": (now_ms - slot.since) // 1000, "since": slot.since, "type": slot.task_type,
        "platform": platform_of(slot), "nearly_s": round(usual.nearly_all_s, 1), "count": len(usual.seconds),
    }  # fmt: skip
    return Message("task.long", params)


def platform_of(slot: SlotState) -> str:
    """Of its shop."""
    return slot.shop.partition(":")[0]


def _busy(fleet: FleetNow) -> list[SlotState]:
    return [slot for one in fleet.workers if one.living for slot in one.slots if slot.task_id]


def _longest(fleet: FleetNow, now_ms: int, least_s: float) -> list[SlotState]:
    since = now_ms - round(least_s * 1000)
    return sorted((slot for slot in _busy(fleet) if slot.since and slot.since <= since), key=lambda slot: slot.since)


def _by_kind(some: Iterable[SlotState]) -> dict[tuple[str, str], list[SlotState]]:
    found: dict[tuple[str, str], list[SlotState]] = defaultdict(list)
    for slot in some:
        found[slot.task_type, platform_of(slot)].append(slot)
    return found
