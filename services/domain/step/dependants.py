"""Tasks that wait for others to succeed: what a new one needs, and who is told when one ends."""

from __future__ import annotations

from services.domain.change import Answer, Relink, TellDependants
from services.domain.gates import dependency
from services.domain.step import at_limit, starting, transitions
from services.domain.step.view import Mark, View
from services.domain.task.record import Task
from services.domain.task.status import BLOCKED, CANCELLED, DEAD, REPLACED, SCHEDULED, SUCCEEDED, TERMINAL, Triage
from services.domain.task.tombstone import Tombstone

_FAILED = (DEAD, CANCELLED)


def find_needs(view: View, task: Task) -> tuple[list[str], Task | None] | None:
    """What a new task has to wait for, and the first of them that has failed; None where one of them is unknown."""
    needs: list[str] = []
    broken: Task | None = None
    for name in task.depends_on:
        now, stone = stands_for(view, name)
        if now is None and (stone is None or stone.status != SUCCEEDED):
            return None
        if now is None:
            continue
        if now.status != SUCCEEDED:
            needs.append(name)
        if broken is None and now.status in _FAILED:
            broken = now
    return needs, broken


def note_needs(view: View, task: Task, needs: list[str], broken: Task | None) -> Task:
    """Remember what a stored task waits for; where that has failed already, it may end at once."""
    cancels = task.on_dependency_failure == dependency.CANCEL
    view.needs.note(task.task_id, needs, cancels=cancels)
    if broken is None or not cancels:
        return task
    return drop(view, task.task_id, broken) or task


def gate_of_plan(view: View, task: Task) -> str:
    """The gate at which a plan that ends now has to wait, "" for none."""
    if task.status == SCHEDULED and _waits(view, task.task_id):
        return dependency.GATE
    return starting.first_gate(view, task) if task.status in transitions.WITH_DUE else ""


def forget_needs(view: View, task_id: str) -> None:
    """A task that has ended waits for nothing."""
    if view.needs.some:
        view.needs.forget(task_id)


def _waits(view: View, task_id: str) -> bool:
    return view.needs.some and view.needs.waits(task_id)


def conclude(view: View, task: Task) -> tuple[Task, ...]:
    """What follows when a task leaves its slot: its dependants are told if it has ended, and its shop may go on."""
    told = tell(view, task) if task.status in TERMINAL else ()
    released = [*told, *starting.open_shop(view, task.shop, back=task)]
    at_limit.freed(view, task, released)
    return tuple(released)


def tell(view: View, task: Task) -> tuple[Task, ...]:
    """Let those go that waited for nothing else, or cancel those that asked for it; the pending ones come back."""
    if not view.needs.some:
        return ()
    released: list[Task] = []
    ended = [task]
    while ended:
        one = ended.pop()
        if not _tell(view, one, ended, released):
            view.needs.postpone(one.task_id)
    return tuple(released)


def _tell(view: View, task: Task, dropped: list[Task], released: list[Task]) -> bool:
    """Tell the dependants of one ended task; False if they were too many for this round."""
    # what was overtaken: another task has done its work
    good = task.status == SUCCEEDED or task.triage == Triage.OVERTAKEN
    if task.triage == Triage.REPUBLISHED:
        return True
    for name in _names_of(view, task):
        for task_id in view.needs.dependants(name, view.tell_left + 1, cancelling=not good):
            if view.tell_left == 0:
                return False
            view.tell_left -= 1
            if good:
                _met(view, task_id, name, released)
            elif (gone := drop(view, task_id, task)) is not None:
                dropped.append(gone)
    return True


def _met(view: View, task_id: str, name: str, released: list[Task]) -> None:
    view.needs.strike(task_id, name)
    task = None if _waits(view, task_id) else view.get(task_id)
    if task is not None and _is_parked(task):
        released.append(view.put(transitions.released(task, view.now), Mark.SET))


def _is_parked(task: Task) -> bool:
    """Whether it stands at this gate."""
    return (task.status, task.gate) == (BLOCKED, dependency.GATE)


def drop(view: View, task_id: str, cause: Task | Tombstone) -> Task | None:
    """Cancel a task over one that it depends on; None for one that has begun. It stood in nobody's way."""
    forget_needs(view, task_id)
    task = view.get(task_id)
    if task is None or task.status not in (BLOCKED, SCHEDULED):
        return None
    gone = view.put(transitions.dropped(task, cause, view.now), Mark.CLEAR)
    view.dropped.append(gone)
    return gone


def stands_for(view: View, name: str) -> tuple[Task | None, Tombstone | None]:
    """The record that stands for an id now, the last one it was republished as, or the tombstone of that."""
    while True:
        task = view.get(name)
        stone = view.stones.get(name) if task is None else None
        later = stone.successor if stone is not None else ""
        if task is not None and task.triage in REPLACED:
            later = task.successor
        if not later:
            return task, stone
        name = later


def _names_of(view: View, task: Task) -> list[str]:
    """The ids under which somebody may wait for a task: its own and those that it was republished from."""
    names = [task.task_id]
    young: Task | None = task
    while young is not None and young.parent:
        old = view.get(young.parent)
        if old is not None and old.successor != young.task_id:
            break
        names.append(young.parent)
        young = old
    return names


# ------------------------------------------------------------------------------ operations
def tell_again(view: View, op: TellDependants) -> Answer:
    """Tell the dependants of an ended task."""
    view.needs.told(op.task_id)  # also of a record that is gone: it would be asked for again and again
    task = view.get(op.task_id)
    if task is None:
        return Answer("missing")
    return Answer("ok", task, tell(view, task)) if task.ended else Answer("stale", task)


def relink(view: View, op: Relink, task: Task) -> Answer:
    """Compare what is noted with the records, and set right."""
    noted = view.needs.noted(task.task_id)
    cancels = task.on_dependency_failure == dependency.CANCEL
    waits, broken = _waits_for(view, task, {name for name, _ in noted})
    ends = broken is not None and cancels
    goes = _is_parked(task) and not waits
    if not ends and not goes and noted == {(name, cancels) for name in waits}:
        return Answer("stale", task)
    if op.look:
        return Answer("ok", task)
    view.needs.forget(task.task_id)
    view.needs.note(task.task_id, waits, cancels=cancels)
    if ends and broken is not None:
        gone = drop(view, task.task_id, broken)
        return Answer("ok", gone, tell(view, gone) if gone is not None else ())
    if goes:
        task = view.put(transitions.released(task, view.now), Mark.SET)
        return Answer("ok", task, (task,))
    return Answer("ok", task)


def _waits_for(view: View, task: Task, noted: set[str]) -> tuple[list[str], Task | Tombstone | None]:
    """What it waits for now, and the first of that which has failed, or what is left of that."""
    waits: list[str] = []
    broken: Task | Tombstone | None = None
    if not _is_parked(task) and task.status != SCHEDULED:
        return waits, broken
    for name in dict.fromkeys(task.depends_on):
        found, stone = stands_for(view, name)
        now = found or stone
        if now.status == SUCCEEDED if now is not None else name not in noted:
            continue
        waits.append(name)
        if broken is None and now is not None and now.status in _FAILED:
            broken = now
    return waits, broken
