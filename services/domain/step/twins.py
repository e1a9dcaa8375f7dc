"""Tasks that do the same work: who of them goes first, and what is told of the others."""

from __future__ import annotations

from services.domain.gates import dependency
from services.domain.step.view import Standing, View
from services.domain.task.notes import Suppressed
from services.domain.task.record import Task
from services.domain.task.status import HELD, RUNNING, SCHEDULED

_BEGUN = (RUNNING, HELD)


def holder(view: View, uniq: str) -> str | None:
    """The active task that was created first of those that hold the key."""
    holders = view.holders(uniq)
    if not holders:
        return None
    ranked = sorted((one.created_at, task_id) for task_id, one in holders.items())
    return next((task_id for _, task_id in ranked if view.get(task_id) is not None), None)


def first(view: View, uniq: str) -> str | None:
    """The task that closes the gate for all others of its key: running or held, else created first of those that wait
    for nothing else.
    """
    holders = view.holders(uniq)
    if len(holders) == 1:
        return next(iter(holders))
    ranked = [
        (one.status not in _BEGUN, one.created_at, task_id) for task_id, one in holders.items() if not _stands_back(one)
    ]
    return min(ranked)[2] if ranked else None


def goes_first(view: View, task: Task) -> bool:
    """Whether no other task of its key is before it."""
    return not task.guard or first(view, task.guard) == task.task_id


def _stands_back(one: Standing) -> bool:
    return one.status == SCHEDULED or one.gate == dependency.GATE


def note(view: View, task: Task, outcome: str, first_id: str | None) -> None:
    """Tell of a task that met another one with the same work."""
    other = view.get(first_id) if first_id else None
    if other is None or other.task_id == task.task_id:
        return
    view.annotations.suppress(
        Suppressed(
            view.now, task.task_id, task.platform, task.shop_id, task.task_type, task.created_by, task.origin, outcome,
            other.task_id, other.status,
        )
    )  # fmt: skip
