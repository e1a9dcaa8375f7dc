"""The operations that set right what was left half done, on SQLite."""

from __future__ import annotations

import sys

from services.domain.change import (
    Answer,
    CloseBreaker,
    GiveUp,
    Nudge,
    OpenLimit,
    OpenShop,
    Postpone,
    Rehome,
    Route,
    TellDependants,
)
from services.domain.gates import home
from services.domain.task import transitions
from services.domain.task.record import Task
from services.domain.task.status import CLAIMABLE, MOVABLE, WITH_MARK, Status
from services.store.sqlite.gates import gates, waiting
from services.store.sqlite.gates.dependencies import conclude, forget_needs, gate_of_plan, tell_dependants
from services.store.sqlite.gates.lots import shop_key
from services.store.sqlite.session import CLEAR_MARK, KEEP_MARK, SET_MARK, Session

MISSING = Answer("missing")
STALE = Answer("stale")


def nudge(session: Session, op: Nudge) -> Answer:
    """Publish once more, or let a plan begin."""
    task = session.get(op.task_id)
    nudged = transitions.nudged(task, op, session.now, gate=gate_of_plan(session, task)) if task is not None else None
    if nudged is None:
        return STALE
    return Answer("ok", session.put(nudged, CLEAR_MARK if nudged.status == Status.BLOCKED else SET_MARK))


def give_up(session: Session, op: GiveUp) -> Answer:
    """End what no message can be made of, or hold what somebody unknown may have done."""
    task = session.get(op.task_id)
    if task is None or (task.gen, task.attempt) != (op.gen, op.attempt):
        return STALE
    if op.to == Status.HELD and task.status != Status.QUEUED:
        return STALE
    if task.status == Status.DEAD:
        return Answer("ok", session.put(task, CLEAR_MARK))
    if task.status not in CLAIMABLE:
        return STALE
    session.unreserve(task)
    forget_needs(session, task.task_id)
    dead = session.put(transitions.given_up(task, op, session.now), CLEAR_MARK)
    return Answer("ok", dead, conclude(session, dead))


def postpone(session: Session, op: Postpone) -> Answer:
    """Let others go first."""
    task = session.get(op.task_id)
    if task is None or not session.is_marked(op.task_id):
        return STALE
    return Answer("ok", session.put(task, SET_MARK))


def route(session: Session, op: Route) -> Answer:
    """Another queue for what has not started."""
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if task.status not in MOVABLE:
        return Answer("refused", task)
    after = transitions.routed(task, op, session.now)
    mark = SET_MARK if after is not task and after.status in WITH_MARK else KEEP_MARK
    return Answer("ok", session.put(after, mark))


def rehome(session: Session, op: Rehome) -> Answer:
    """Let go what waits for a node where its shop is not at home."""
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    node = home.node_of(task.gate) if task.status == Status.BLOCKED else ""
    if not node or session.homes.of(task.shop) == node:
        return Answer("stale", task)
    return Answer("ok", session.put(transitions.rehomed(task, op.by, session.now), SET_MARK))


def open_shop(session: Session, op: OpenShop) -> Answer:
    """Release what may start."""
    passed: list[Task] = []
    gates.open_passed(session, shop_key(op.shop), passed, op.most)
    return Answer("ok", None, (*passed, *gates.open_shop(session, shop_key(op.shop), op.most or sys.maxsize)))


def open_limit(session: Session, op: OpenLimit) -> Answer:
    """Release what waits at a limit."""
    released: list[Task] = []
    waiting.open_limit(session, op.scope, op.most, released)
    return Answer("ok", None, tuple(released))


def close_breaker(session: Session, op: CloseBreaker) -> Answer:
    """Forget the failures of a shop."""
    if session.breakers.of(op.shop) is None:
        return STALE
    session.breakers.put(op.shop, None)
    return Answer("ok", None, gates.open_shop(session, shop_key(op.shop)))


def tell_again(session: Session, op: TellDependants) -> Answer:
    """Tell the dependants of an ended task."""
    # also of a record that is gone: it would be asked for again and again
    session.conn.execute("DELETE FROM untold WHERE task_id = ?", (op.task_id,))
    task = session.get(op.task_id)
    if task is None:
        return MISSING
    if not task.ended:
        return Answer("stale", task)
    return Answer("ok", task, tell_dependants(session, task))
