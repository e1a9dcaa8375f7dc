"""What is said of a message and of a running attempt: Published, Renew, Progress, Finish."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.change import Answer, Finish, Progress, Published, Renew
from services.domain.gates import breaker
from services.domain.gates.breaker import Breaker
from services.domain.gates.session import ClosedSession
from services.domain.step import slots, transitions
from services.domain.step.dependants import conclude, forget_needs
from services.domain.step.view import Mark, View
from services.domain.task.record import Task
from services.domain.task.status import BLOCKED, PENDING, QUEUED, RUNNING, WITH_MARK

_FENCED = Answer("fenced")


def published(view: View, op: Published) -> Answer:
    """The broker has confirmed a message."""
    task = view.get(op.task_id)
    if task is None or (task.status, task.gen, task.attempt) != (op.status, op.gen, op.attempt):
        return Answer("stale")
    if task.status == PENDING:
        task = transitions.queued(task, view.now)
    elif task.status == QUEUED and view.is_marked(op.task_id):
        task = replace(task, queued_at=view.now)
    return Answer("ok", view.put(task, Mark.CLEAR))


def finish(view: View, op: Finish, task: Task) -> Answer:
    """Record how an attempt ended."""
    if task.status != RUNNING or task.owner != op.owner:
        number, worker, started_at = op.attempt.number, op.attempt.worker, op.attempt.started_at
        back = None if op.if_expired else _take_back(view, task, op.owner, number, worker, started_at, 0)
        if back is None:
            return _late(view, task, op)
        task = back
    if op.if_expired and task.lease_until > view.now:
        return Answer("fenced", task)
    if op.to == BLOCKED:
        op = replace(op, to=_asks_for_login(view, task, op))
    ended = transitions.finished(task, op, view.now)
    _tell_breaker(view, task, op, ended)
    view.put(ended, Mark.SET if ended.status in WITH_MARK else Mark.CLEAR)
    return Answer("ok", ended, conclude(view, ended))


def _late(view: View, task: Task, op: Finish) -> Answer:
    if transitions.recorded(task, op):
        return Answer("ok", task)
    return Answer("fenced", task if op.if_expired else view.put(transitions.evidence(task, op.attempt)))


def _asks_for_login(view: View, task: Task, op: Finish) -> str:
    """An attempt says that its shop asks for a person; what becomes of the task."""
    if view.logins.logged_in_at(task.shop) > task.started_at:  # it began before somebody logged in
        return PENDING
    if not view.logins.is_closed(task.shop):
        view.logins.close(
            ClosedSession(
                shop=task.shop,
                kind=op.error_kind,
                since=view.now,
                task_id=task.task_id,
                attempt=op.attempt.number,
                worker=op.attempt.worker,
            )
        )
    return BLOCKED


def _tell_breaker(view: View, task: Task, op: Finish, ended: Task) -> None:
    failed = breaker.verdict(ended.status, op.error_kind)
    found = view.breakers.of(task.shop)
    if failed is None or (found is None and not failed):
        return
    old = found or Breaker(shop=task.shop)
    new = breaker.after(old, view.breakers.rule(), failed, op.error_kind, task.started_at, view.now)
    if new != found:
        view.breakers.put(task.shop, new)


def _take_back(
    view: View, task: Task, owner: str, number: int, worker: str, started_at: int, lease_until: int
) -> Task | None:
    """Let a claim stand that the store has forgotten."""
    back = transitions.taken_back(task, owner, number, worker, started_at, lease_until, view.now)
    if back is None:
        return None
    slots.give_back(view, task)
    forget_needs(view, task.task_id)
    return view.put(back, Mark.CLEAR)


def renew(view: View, op: Renew) -> Answer:
    """Prolong the lease."""
    task = view.get(op.task_id)
    if task is None:
        return _FENCED
    until = view.now + op.lease_ms
    if task.status != RUNNING or task.owner != op.owner:
        back = _take_back(view, task, op.owner, op.attempt, op.worker, op.started_at, until)
        return _FENCED if back is None else Answer("ok", back)
    return Answer("ok", view.put(replace(task, lease_until=until)))


def progress(view: View, op: Progress) -> Answer:
    """Keep what an attempt says about itself."""
    task = view.get(op.task_id)
    if task is None or task.status != RUNNING or task.owner != op.owner:
        return _FENCED
    return Answer("ok", view.put(transitions.progressed(task, op)))
