"""Which running tasks seem to hang, by what workers say in their heartbeats and how long such tasks ran of late."""

from __future__ import annotations

from collections.abc import Callable

from services.domain.fleet.worker import SlotState
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.worker import FleetNow

#: so many are looked at, the longest first
LOOKED_AT = 30


def slots(fleet: FleetNow, usual: Callable[[str, str], Runs], now_ms: int) -> list[SlotState]:
    """Those of workers that are heard of, the longest first; of others nobody knows whether their tasks still run.
    ``usual``: how long a type runs in a shop; asked only for what has run long.
    """
    least = now_ms - round(durations.HANGS_S * 1000)
    busy = [slot for one in fleet.workers if one.living for slot in one.slots if slot.task_id]
    long = sorted((slot for slot in busy if slot.since and slot.since <= least), key=lambda slot: slot.since)
    return [
        slot
        for slot in long[:LOOKED_AT]
        if usual(slot.task_type, slot.shop).hangs((now_ms - slot.since) / 1000, slot.progress)
    ]
