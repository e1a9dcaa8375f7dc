"""What a worker does with the orders that its heartbeat brings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from services.domain.fleet import worker_order
from services.domain.fleet.autoscale import Range
from services.domain.fleet.worker_order import WorkerOrder
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
    def about_profile(self, order: WorkerOrder, words: str) -> None: ...
    def show_log(self, seconds: float) -> None: ...
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
    if told.auto is not None:
        worker.scale_within(told.auto)
        return
    do: dict[str, Callable[[], None]] = {
        "drain": worker.drain,
        "resume": worker.resume,
        "stop": lambda: worker.leave(told.grace_s),
        "refuse": lambda: worker.refuse(told.types),
        "slots": lambda: worker.set_slots(told.slots, told.shares),
        worker_order.LOG: lambda: worker.show_log(told.log_s),
    }
    do.get(verb, lambda: worker.about_profile(told, order))()
