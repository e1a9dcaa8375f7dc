"""New records: Create and Republish."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.change import DONE, UNSURE, Answer, Create, Republish
from services.domain.gates import dependency
from services.domain.step import dependants, starting, transitions, twins
from services.domain.step.view import Mark, View
from services.domain.task.record import FORCED, Task
from services.domain.task.status import ACTIVE, BLOCKED, DEAD, PENDING, QUEUED, TERMINAL, Triage

#: what may stand beside an active twin, and how that is noted
_BESIDE = {"queue": "queued", "force": "forced", "hold": "held"}


def create(view: View, op: Create) -> Answer:
    """Record a new task."""
    record = view.get(op.task.task_id)
    if record is not None:
        return Answer("created" if transitions.same_creation(record, op.task) else "exists", record)
    stone = view.stones.get(op.task.task_id)
    if stone is not None and (stone.status != DEAD or op.task.status == QUEUED):
        return Answer("exists")
    if stone is not None:
        view.stones.remove(op.task.task_id)
    return _admit(view, op.task, op.on_duplicate, op.done_since)


def republish(view: View, op: Republish) -> Answer:
    """Let a dead letter live on under another id."""
    dead = view.get(op.task_id)
    if dead is None:
        return Answer("missing")
    if dead.successor and dead.successor == op.task.task_id:
        return Answer("ok", view.get(dead.successor))
    closed = dead.status != DEAD or dead.triage == Triage.REPUBLISHED
    if closed or view.get(op.task.task_id) is not None:
        return Answer("refused", dead)
    admitted = _admit(view, op.task, op.on_duplicate, op.done_since)
    if admitted.code != "created":
        return admitted
    view.put(transitions.republished(dead, op.task.task_id, op.by, view.now))
    return Answer("ok", admitted.task)


def _admit(view: View, task: Task, on_duplicate: str, done_since: int) -> Answer:
    """Store a new record, or name the active task that stands in its way."""
    guard = task.guard if task.status in ACTIVE else ""
    held_by = twins.holder(view, guard) if guard else None
    if held_by is not None and on_duplicate not in _BESIDE:
        twins.note(view, task, "refused", held_by)
        return Answer("duplicate", view.get(held_by))
    if (done := view.works.done(task, done_since)) is not None:
        return Answer(DONE, view.get(done.task_id)) if done.task_id else Answer(UNSURE)
    found = dependants.find_needs(view, task) if task.depends_on else ([], None)
    if found is None:
        return Answer("unknown")
    if held_by is not None:
        twins.note(view, task, _BESIDE[on_duplicate], held_by)
        task = _beside(task, on_duplicate)
    needs, broken = found
    if needs and task.status == PENDING:
        task = replace(task, status=BLOCKED, gate=dependency.GATE)
    elif task.status == PENDING and (gate := starting.first_gate(view, task)):
        task = replace(task, status=BLOCKED, gate=gate)
    _introduce(view, task)
    mark = Mark.SET if task.status == PENDING else Mark.CLEAR
    fresh = view.put(transitions.created(task, view.now), mark)
    return Answer("created", dependants.note_needs(view, fresh, needs, broken) if needs else fresh)


def _introduce(view: View, task: Task) -> None:
    if task.deadline:
        view.note_deadline(task)
    if task.status not in TERMINAL:  # a shop that nobody worked for may be a misspelt word in a letter
        view.shops.register(task.shop)


def _beside(task: Task, on_duplicate: str) -> Task:
    """As it stands beside an active task that holds its key."""
    if on_duplicate == "queue":
        return replace(task, marks=transitions.marked(task, "twin"))
    if on_duplicate == "hold":
        return transitions.held_twin(task)
    return replace(task, marks=transitions.marked(task, "forced"), uniq=FORCED + task.uniq)
