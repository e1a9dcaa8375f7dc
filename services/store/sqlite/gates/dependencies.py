"""Tasks that wait for others to succeed: what a new one needs, and who is told when one ends."""

from __future__ import annotations

from services.domain.gates import dependency
from services.domain.task import transitions
from services.domain.task.record import Task
from services.domain.task.status import REPLACED, TERMINAL, Status, Triage
from services.store.sqlite.gates import waiting
from services.store.sqlite.gates.gates import first_gate, open_shop
from services.store.sqlite.gates.lots import key_of
from services.store.sqlite.part import words
from services.store.sqlite.session import CLEAR_MARK, SET_MARK, Session

_FAILED = (Status.DEAD, Status.CANCELLED)
_NOTE = "INSERT OR IGNORE INTO dependencies (needs, cancels, task_id) VALUES (?, ?, ?)"
_FORGET = "DELETE FROM dependencies WHERE task_id = ?"
_STRIKE = "DELETE FROM dependencies WHERE needs = ? AND task_id = ?"
_WAITS = "SELECT EXISTS (SELECT 1 FROM dependencies WHERE task_id = ?)"
_DEPENDANTS = "SELECT task_id FROM dependencies WHERE needs = ? AND cancels >= ? ORDER BY cancels, task_id LIMIT ?"


def find_needs(session: Session, task: Task) -> tuple[list[str], Task | None] | None:
    """What a new task has to wait for, and the first of them that has failed; None where one of them is unknown."""
    needs: list[str] = []
    broken: Task | None = None
    for name in task.depends_on:
        now, ended = stands_for(session, name)
        if now is None and ended != Status.SUCCEEDED:
            return None
        if now is None:
            continue
        if now.status != Status.SUCCEEDED:
            needs.append(name)
        if broken is None and now.status in _FAILED:
            broken = now
    return needs, broken


def note_needs(session: Session, task: Task, needs: list[str], broken: Task | None) -> tuple[Task, tuple[Task, ...]]:
    """Remember what a stored task waits for; where that has failed already, it may end at once."""
    cancels = task.on_dependency_failure == dependency.CANCEL
    note(session, task, needs)
    if broken is None or not cancels:
        return task, ()
    released: list[Task] = []
    return drop(session, task.task_id, broken, released) or task, tuple(released)


def note(session: Session, task: Task, needs: list[str]) -> None:
    """Keep whom it waits for."""
    cancels = task.on_dependency_failure == dependency.CANCEL
    session.conn.executemany(_NOTE, [(name, cancels, task.task_id) for name in needs])
    session.anybody_waits = True


def waits(session: Session, task_id: str) -> bool:
    """Whether a task waits for others."""
    return session.anybody_waits and bool(session.conn.execute(_WAITS, (task_id,)).fetchone()[0])


def gate_of_plan(session: Session, task: Task) -> str:
    """The gate at which a plan that ends now has to wait, "" for none."""
    if task.status == Status.SCHEDULED and waits(session, task.task_id):
        return dependency.GATE
    return first_gate(session, task) if task.status in transitions.WITH_DUE else ""


def forget_needs(session: Session, task_id: str) -> None:
    """A task that has ended waits for nothing."""
    if session.anybody_waits:
        session.conn.execute(_FORGET, (task_id,))


def conclude(session: Session, task: Task) -> tuple[Task, ...]:
    """What follows when a task leaves its slot: its dependants are told if it has ended, and its shop may go on."""
    told = tell_dependants(session, task) if task.status in TERMINAL else ()
    released = [*told, *open_shop(session, key_of(task), back=task)]
    waiting.freed(session, task, released)
    return tuple(released)


def tell_dependants(session: Session, task: Task) -> tuple[Task, ...]:
    """Let those go that waited for nothing else, or cancel those that asked for it; the pending ones come back."""
    if not session.anybody_waits:
        return ()
    released: list[Task] = []
    ended = [task]
    while ended:
        one = ended.pop()
        if not _tell(session, one, ended, released):
            session.conn.execute("INSERT OR IGNORE INTO untold VALUES (?)", (one.task_id,))
    return tuple(released)


def _tell(session: Session, task: Task, dropped: list[Task], released: list[Task]) -> bool:
    """Tell the dependants of one ended task; False if they were too many for this round."""
    # what was overtaken: another task has done its work
    good = task.status == Status.SUCCEEDED or task.triage == Triage.OVERTAKEN
    if task.triage == Triage.REPUBLISHED:
        return True
    for name in _names_of(session, task):
        rows = session.conn.execute(_DEPENDANTS, (name, 0 if good else 1, session.tell_left + 1)).fetchall()
        for (found,) in rows:
            task_id = words(found)
            if session.tell_left == 0:
                return False
            session.tell_left -= 1
            if good:
                _met(session, task_id, name, released)
            elif (gone := drop(session, task_id, task, released)) is not None:
                dropped.append(gone)
    return True


def _met(session: Session, task_id: str, name: str, released: list[Task]) -> None:
    session.conn.execute(_STRIKE, (name, task_id))
    task = None if waits(session, task_id) else session.get(task_id)
    if task is not None and is_parked(task):
        released.append(session.put(transitions.released(task, session.now), SET_MARK))


def is_parked(task: Task) -> bool:
    """Whether it stands at this gate."""
    return (task.status, task.gate) == (Status.BLOCKED, dependency.GATE)


def drop(session: Session, task_id: str, cause: Task, released: list[Task]) -> Task | None:
    """Cancel a task over one that it depends on; None for one that has begun."""
    forget_needs(session, task_id)
    task = session.get(task_id)
    if task is None or task.status not in (Status.BLOCKED, Status.SCHEDULED):
        return None
    gone = session.put(transitions.dropped(task, cause, session.now), CLEAR_MARK)
    session.dropped.append(gone)
    released += open_shop(session, key_of(gone))
    return gone


def stands_for(session: Session, name: str) -> tuple[Task | None, str]:
    """The record that stands for an id now, the last one it was republished as; where that was removed, how it ended"""
    while True:
        task = session.get(name)
        stone = session.stones.get(name) if task is None else None
        later = stone.successor if stone is not None else ""
        if task is not None and task.triage in REPLACED:
            later = task.successor
        if not later:
            return task, stone.status if stone is not None else ""
        name = later


def _names_of(session: Session, task: Task) -> list[str]:
    """The ids under which somebody may wait for a task: its own and those that it was republished from."""
    names = [task.task_id]
    young: Task | None = task
    while young is not None and young.parent:
        old = session.get(young.parent)
        if old is not None and old.successor != young.task_id:
            break
        names.append(young.parent)
        young = old
    return names
