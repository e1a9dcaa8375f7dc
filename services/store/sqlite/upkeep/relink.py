"""Noting anew what a task waits for, on SQLite: see ``services.domain.change.Relink``."""

from __future__ import annotations

from services.domain.change import Answer, Relink
from services.domain.gates import dependency
from services.domain.task import transitions
from services.domain.task.record import Task
from services.domain.task.status import TERMINAL, Status
from services.store.sqlite.gates.dependencies import drop, is_parked, note, stands_for, tell_dependants
from services.store.sqlite.session import SET_MARK, Session

_NOTED = "SELECT needs, cancels FROM dependencies WHERE task_id = ?"
_STRIKE = "DELETE FROM dependencies WHERE task_id = ?"


def relink(session: Session, op: Relink) -> Answer:
    """Compare with the records, and set right."""
    task = session.get(op.task_id)
    if task is None:
        return Answer("missing")
    noted = set(session.conn.execute(_NOTED, (task.task_id,)))
    cancels = task.on_dependency_failure == dependency.CANCEL
    waits, broken = _find(session, task, {name for name, _ in noted})
    ends = broken is not None and cancels
    goes = is_parked(task) and not waits
    if not ends and not goes and noted == {(name, int(cancels)) for name in waits}:
        return Answer("stale", task)
    if op.look:
        return Answer("ok", task)
    session.conn.execute(_STRIKE, (task.task_id,))
    note(session, task, waits)
    if ends and broken is not None:
        released: list[Task] = []
        gone = drop(session, task.task_id, broken, released)
        return Answer("ok", gone, (*released, *(tell_dependants(session, gone) if gone is not None else ())))
    if goes:
        task = session.put(transitions.released(task, session.now), SET_MARK)
        return Answer("ok", task, (task,))
    return Answer("ok", task)


def _find(session: Session, task: Task, noted: set[str]) -> tuple[list[str], Task | None]:
    """What it waits for now, and the first of that which has failed."""
    waits: list[str] = []
    broken: Task | None = None
    if not is_parked(task) and task.status != Status.SCHEDULED:
        return waits, broken
    for name in dict.fromkeys(task.depends_on):
        now, ended = stands_for(session, name)
        if ended == Status.SUCCEEDED if now is None else now.status == Status.SUCCEEDED:
            continue
        if now is None and name not in noted:
            continue
        waits.append(name)
        if broken is None and now is not None and now.status in TERMINAL:
            broken = now
    return waits, broken
