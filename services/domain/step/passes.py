"""*Try one anyway* (``services.domain.gates.passing``) within a step: who has a pass, and what uses it up."""

from __future__ import annotations

from services.domain.gates import passing
from services.domain.gates.passing import Pass
from services.domain.step.view import View
from services.domain.task.record import Task


def has(view: View, task: Task) -> bool:
    """Whether a task may start behind a gate that passes open."""
    found = view.passes.all().get(task.task_id)
    return found is not None and found.holds_for(task)


def in_shop(view: View, shop: str) -> list[str]:
    """The tasks of a shop that were given one, the first to be let through first."""
    return [task_id for task_id, one in view.passes.all().items() if one.shop == shop]


def give(view: View, task: Task, by: str, reason: str) -> bool:
    """Whether there was room for one more."""
    known = view.passes.all()
    if len(known) >= passing.MOST and task.task_id not in known:
        return False
    view.passes.put(task.task_id, Pass(shop=task.shop, attempt=task.attempt, by=by, at=view.now, reason=reason))
    return True


def forget(view: View, task_id: str) -> None:
    """No attempt can use it any more."""
    if task_id in view.passes.all():
        view.passes.drop(task_id)


def used(view: View, task_id: str) -> None:
    """An attempt has begun. Where nobody has asked for passes none was needed; what is left over is void."""
    if view.passes.asked:
        forget(view, task_id)
