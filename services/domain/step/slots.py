"""The slots of a shop: how many are free, and for whom one is kept."""

from __future__ import annotations

from services.domain.step.transitions import RESERVATION_MS
from services.domain.step.view import View
from services.domain.task.record import Task
from services.domain.task.status import RUNNING


def free(view: View, shop: str, but: str = "", *, anyway: bool = False) -> int:
    """Slots that are neither running nor promised to others than ``but``; behind an open breaker none, or one.
    ``anyway``: for a task that passes the breaker.
    """
    seen = view.shops.whole(shop)
    most = seen.slots or 1
    found = None if anyway else view.breakers.of(shop)
    if found is not None and found.until > view.now:
        return 0
    if found is not None and found.until > 0:
        most = 1
    promised = seen.promised
    return most - seen.counted.get(RUNNING, 0) - len(promised) + (but in promised)


def left_for(view: View, shop: str, priority: int = 0) -> int:
    """Slots left for a task so urgent behind what runs and is on its way; below 0: what is on its way ahead."""
    seen = view.shops.whole(shop)
    # who is awaited is on its way
    under_way = max(view.shops.under_way(shop, priority), len(seen.promised))
    return (seen.slots or 1) - seen.counted.get(RUNNING, 0) - under_way


def tripped(view: View, shop: str) -> bool:
    """Whether its breaker is open, or lets one at a time try."""
    found = view.breakers.of(shop)
    return found is not None and found.until > 0


def promise(view: View, task: Task, for_ms: int = RESERVATION_MS) -> None:
    """Keep a slot of its shop, and a place of its limits, for a task."""
    view.shops.promise(task, view.now + for_ms)
    view.limits.promise(task, view.now + for_ms)


def give_back(view: View, task: Task) -> bool:
    """Keep nothing for a task any more; tell whether that was a slot of its shop."""
    had = task.task_id in view.shops.whole(task.shop).promised
    view.limits.take_back(task)
    if had:
        view.shops.take_back(task)
    return had
