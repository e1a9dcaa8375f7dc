"""Closing what a success of the same work has overtaken, on SQLite."""

from __future__ import annotations

from services.domain.task import transitions
from services.domain.task.ledger import is_red
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.store.sqlite.gates.dependencies import conclude, tell_dependants
from services.store.sqlite.session import KEEP_MARK, SET_MARK, Session


def close(session: Session) -> list[Task]:
    """What the present operation has brought to a success closes the held and the open ones before it; what comes free
    by that is released.
    """
    released: list[Task] = []
    for task_id, won in session.works.overtaken():
        task = session.get(task_id)
        if task is None or not is_red(task.status, task.triage) or task.updated_at > won.ended_at:
            continue
        held = task.status == Status.HELD
        closed = transitions.overtaken(task, won.task_id, session.now)
        closed = session.put(closed, SET_MARK if held else KEEP_MARK)
        released += conclude(session, closed) if held else tell_dependants(session, closed)
    return released
