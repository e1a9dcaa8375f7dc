"""The lot of a shop: what closes it as a whole, who is parked there, and how a parked task leaves."""

from __future__ import annotations

from services.domain.fleet.shop import scopes_of
from services.domain.gates import home, listed
from services.domain.step import slots, transitions
from services.domain.step.view import Mark, View
from services.domain.task.record import Task
from services.domain.task.status import BLOCKED


def switch_of(view: View, shop: str, kind: str = "") -> str:
    """The gate of a switch of all, its platform or a shop (``kind``: or that type) that is closed, "" for none."""
    closed = view.switches()
    if not closed:
        return ""
    return listed.at_switch(closed, scopes_of(shop, kind))


def is_shut(view: View, shop: str) -> bool:
    """Whether none of its tasks may start: a switch is closed, or it waits for a login."""
    return bool(switch_of(view, shop)) or view.logins.is_closed(shop)


def has(task: Task) -> bool:
    """Whether a task stands in the lot of its shop, and not where a worker fetches it or another task lets it go."""
    return task.status == BLOCKED and home.in_lot(task.gate)


def release(view: View, task: Task) -> Task:
    """Let a parked task go, with a slot kept for it."""
    slots.promise(view, task)
    return view.put(transitions.released(task, view.now), Mark.SET)
