"""What people ask of a task or a shop."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.change import (
    Annotate,
    Answer,
    Cancel,
    CloseBreaker,
    CloseSession,
    Move,
    OpenSession,
    Rehome,
    Resolve,
    Route,
    SetTriage,
    TakeBackTry,
    Try,
)
from services.domain.gates import home, passing
from services.domain.gates.session import ClosedSession
from services.domain.step import passes, slots, starting, transitions
from services.domain.step.dependants import conclude, forget_needs, gate_of_plan
from services.domain.step.view import Mark, View
from services.domain.task.record import Task
from services.domain.task.status import (
    BLOCKED,
    CANCELLABLE,
    CANCELLED,
    CLAIMABLE,
    DEAD,
    HELD,
    MOVABLE,
    PENDING,
    RUNNING,
    SUCCEEDED,
    WITH_MARK,
    Triage,
)

_STALE = Answer("stale")
_DECIDED = (PENDING, SUCCEEDED, DEAD)
_SETTABLE = (Triage.OPEN, Triage.ARCHIVED, Triage.IGNORED)


def cancel(view: View, op: Cancel, task: Task) -> Answer:
    """End what has not started; ask a running one to stop."""
    if task.status == RUNNING:
        asked = task if task.cancel else view.put(transitions.cancel_requested(task, op, view.now))
        return Answer("requested", asked)
    if task.status not in CANCELLABLE:
        return Answer("ok" if task.status == CANCELLED else "refused", task)
    slots.give_back(view, task)
    ended = view.put(transitions.cancelled(task, op, view.now), Mark.CLEAR)
    forget_needs(view, task.task_id)
    return Answer("ok", ended, conclude(view, ended))


def move(view: View, op: Move, task: Task) -> Answer:
    """Another priority, or now."""
    if task.status not in MOVABLE:
        return Answer("refused", task)
    gate = gate_of_plan(view, replace(task, lane=op.lane, priority=op.priority))
    after = transitions.moved(task, op, view.now, gate=gate)
    mark = Mark.CLEAR if after.status == BLOCKED else Mark.KEEP
    view.put(after, Mark.SET if after.status in WITH_MARK else mark)
    released = starting.open_shop(view, task.shop) if task.status == BLOCKED else ()
    return Answer("ok", view.get(op.task_id), released)


def route(view: View, op: Route, task: Task) -> Answer:
    """Another queue for what has not started."""
    if task.status not in MOVABLE:
        return Answer("refused", task)
    after = transitions.routed(task, op, view.now)
    mark = Mark.SET if after is not task and after.status in WITH_MARK else Mark.KEEP
    return Answer("ok", view.put(after, mark))


def rehome(view: View, op: Rehome, task: Task) -> Answer:
    """Let go what waits for a node where its shop is not at home."""
    node = home.node_of(task.gate) if task.status == BLOCKED else ""
    if not node or view.homes.of(task.shop) == node:
        return Answer("stale", task)
    return Answer("ok", view.put(transitions.rehomed(task, op.by, view.now), Mark.SET))


def try_anyway(view: View, op: Try, task: Task) -> Answer:
    """Let one attempt of one task through what a person closed, or what closed by itself for a person to look."""
    if task.status not in CLAIMABLE:
        return Answer("refused", task)
    if not passes.has(view, task):
        if not starting.needs_pass(view, task):
            return Answer("open", task)
        if not passes.give(view, task, op.by, op.reason):
            return Answer("many", task)
        task = view.put(transitions.let_through(task, passing.note(op.by, op.reason), view.now))
    released: list[Task] = []
    if task.status == BLOCKED:
        starting.open_passed(view, task.shop, released)
    return Answer("ok", view.get(op.task_id), tuple(released))


def take_back_try(view: View, op: TakeBackTry, task: Task) -> Answer:
    """Let the gates hold it again; it may be on its way already, so they do that when it is claimed."""
    note = passing.note_back(op.by)
    if not passes.has(view, task):
        return Answer("ok" if task.steps and task.steps[-1].note == note else "no_pass", task)
    passes.forget(view, task.task_id)
    return Answer("ok", view.put(transitions.let_through(task, note, view.now)))


def set_triage(view: View, op: SetTriage, task: Task) -> Answer:
    """Put a dead letter aside, or take it up again."""
    if task.status != DEAD or task.triage == Triage.REPUBLISHED or op.triage not in _SETTABLE:
        return Answer("refused", task)
    return Answer("ok", view.put(transitions.triaged(task, op, view.now)))


def annotate(view: View, op: Annotate, task: Task) -> Answer:
    """Keep a note; no transition."""
    if task.status != DEAD:
        return Answer("refused", task)
    if view.annotations.annotate(op):
        view.tell(task)
    return Answer("ok", task)


def resolve(view: View, op: Resolve, task: Task) -> Answer:
    """Decide about a held task."""
    if task.status != HELD or op.to not in _DECIDED:
        return Answer("ok" if transitions.resolved_already(task, op) else "refused", task)
    after = transitions.resolved(task, op, view.now)
    view.put(after, Mark.SET if after.status in WITH_MARK else Mark.CLEAR)
    return Answer("ok", after, conclude(view, after))


def close_breaker(view: View, op: CloseBreaker) -> Answer:
    """Forget the failures of a shop."""
    if view.breakers.of(op.shop) is None:
        return _STALE
    view.breakers.put(op.shop, None)
    return Answer("ok", None, starting.open_shop(view, op.shop))


def close_session(view: View, op: CloseSession) -> Answer:
    """A person says that a shop has to be logged in."""
    if view.logins.is_closed(op.shop):
        return _STALE
    view.logins.close(ClosedSession(shop=op.shop, kind=op.kind, since=view.now, by=op.by, note=op.note))
    return Answer("ok")


def open_session(view: View, op: OpenSession) -> Answer:
    """A person has logged in."""
    was = view.logins.is_closed(op.shop)
    view.logins.open(op.shop, op.by)
    return Answer("ok") if was else _STALE
