"""What a worker does with the orders that its heartbeat brings."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Protocol

from services.domain.fleet import worker_order
from services.domain.fleet.autoscale import Range
from services.domain.gates.lane_share import Share

log = logging.getLogger(__name__)


class Ordered(Protocol):
    """Who can be told."""

    def drain(self) -> None: ...
    def resume(self) -> None: ...
    def leave(self, grace_s: float | None) -> None: ...
    def refuse(self, types: Iterable[str]) -> None: ...
    def cancel(self, task_id: str) -> None: ...
    def scale_within(self, bounds: Range | None) -> None: ...
    def set_slots(self, slots: int, shares: Mapping[str, Share] | None = None) -> None: ...


def obey(worker: Ordered, order: str) -> None:
    """Do it; what cannot be understood, from a newer program perhaps, is logged and left."""
    verb, _, value = order.partition("=")
    if verb == "cancel":  # the engine's own, with the id of any task
        worker.cancel(value)
        return
    try:
        told = worker_order.parse(order)
    except ValueError as exc:
        log.warning("order not understood: %r: %s", order, exc)
        return
    if verb == "drain":
        worker.drain()
    elif verb == "resume":
        worker.resume()
    elif verb == "stop":
        worker.leave(told.grace_s)
    elif verb == "refuse":
        worker.refuse(told.types)
    elif told.auto is not None:
        worker.scale_within(told.auto)
    else:
        worker.set_slots(told.slots, told.shares)
