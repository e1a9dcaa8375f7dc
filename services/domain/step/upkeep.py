"""What the engine asks for: what was left half done is set right, what waits is let go, what has ended is removed."""

from __future__ import annotations

import sys

from services.domain.change import Answer, Forget, GiveUp, Nudge, OpenLimit, OpenShop, Postpone
from services.domain.step import at_limit, slots, starting, transitions
from services.domain.step.dependants import conclude, forget_needs, gate_of_plan, tell
from services.domain.step.view import Mark, View
from services.domain.task import tombstone
from services.domain.task.ledger import is_red
from services.domain.task.record import Task
from services.domain.task.status import BLOCKED, CANCELLED, CLAIMABLE, DEAD, HELD, QUEUED, SUCCEEDED, Triage
from services.domain.task.tombstone import Tombstone

_STALE = Answer("stale")


def nudge(view: View, op: Nudge) -> Answer:
    """Publish once more, or let a plan begin."""
    task = view.get(op.task_id)
    nudged = transitions.nudged(task, op, view.now, gate=gate_of_plan(view, task)) if task is not None else None
    if nudged is None:
        return _STALE
    return Answer("ok", view.put(nudged, Mark.CLEAR if nudged.status == BLOCKED else Mark.SET))


def give_up(view: View, op: GiveUp) -> Answer:
    """End what no message can be made of, or hold what somebody unknown may have done."""
    task = view.get(op.task_id)
    if task is None or (task.gen, task.attempt) != (op.gen, op.attempt):
        return _STALE
    if op.to == HELD and task.status != QUEUED:
        return _STALE
    if task.status == DEAD:
        return Answer("ok", view.put(task, Mark.CLEAR))
    if task.status not in CLAIMABLE:
        return _STALE
    slots.give_back(view, task)
    forget_needs(view, task.task_id)
    dead = view.put(transitions.given_up(task, op, view.now), Mark.CLEAR)
    return Answer("ok", dead, conclude(view, dead))


def postpone(view: View, op: Postpone) -> Answer:
    """Let others go first."""
    task = view.get(op.task_id)
    if task is None or not view.is_marked(op.task_id):
        return _STALE
    return Answer("ok", view.put(task, Mark.SET))


def open_shop(view: View, op: OpenShop) -> Answer:
    """Release what may start."""
    most = op.most or sys.maxsize
    passed: list[Task] = []
    starting.open_passed(view, op.shop, passed, most)
    left = most - len(passed)
    return Answer("ok", None, (*passed, *(starting.open_shop(view, op.shop, left) if left > 0 else ())))


def open_limit(view: View, op: OpenLimit) -> Answer:
    """Release what waits at a limit."""
    released: list[Task] = []
    at_limit.open_limit(view, op.scope, op.most, released)
    return Answer("ok", None, tuple(released))


def forget(view: View, op: Forget, task: Task) -> Answer:
    """Remove one record."""
    if not task.ended or task.updated_at != op.updated_at:
        return Answer("stale", task)
    if view.is_marked(task.task_id) or view.needs.is_needed(task.task_id) or _lives_on(view, task):
        return Answer("needed", task)
    until = view.now + op.tomb_ms if op.tomb_ms > 0 else 0
    view.works.forget(task, until)
    view.remove(task)
    if until:
        stone = Tombstone(
            task_id=task.task_id,
            status=task.status,
            ended_at=task.ended_at,
            successor=task.successor,
            digest=tombstone.digest(task),
        )
        view.stones.put(stone, until, task.batch)
    return Answer("ok", task)


def _lives_on(view: View, task: Task) -> bool:
    later = view.get(task.successor) if task.triage == Triage.REPUBLISHED else None
    return later is not None and later.status not in (SUCCEEDED, CANCELLED)


def close_overtaken(view: View) -> list[Task]:
    """What the present operation has brought to a success closes the held and the open ones before it; what comes free
    by that is released.
    """
    released: list[Task] = []
    for task_id, won in view.works.overtaken():
        task = view.get(task_id)
        if task is None or not is_red(task.status, task.triage) or task.updated_at > won.ended_at:
            continue
        held = task.status == HELD
        closed = view.put(transitions.overtaken(task, won.task_id, view.now), Mark.SET if held else Mark.KEEP)
        released += conclude(view, closed) if held else tell(view, closed)
    return released
