"""From one record to the next: what each operation makes of a record, with nothing read or written.

``services/domain/change`` says what the operations mean; these functions are its pure half, for drivers that decide
in Python. Whether an operation applies at all (owner, gates, uniqueness) is decided before they are called.
"""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec.structs import replace

from services.domain.change import Cancel, Claim, Finish, GiveUp, Move, Nudge, Progress, Resolve, Route, SetTriage
from services.domain.gates import dependency, session
from services.domain.task import classify, own_words
from services.domain.task.ledger import Done
from services.domain.task.record import FORCED, HISTORY_LIMIT, Attempt, Step, Task
from services.domain.task.status import (
    BLOCKED,
    CANCELLED,
    CLAIMABLE,
    DEAD,
    HELD,
    ORDER,
    PENDING,
    QUEUED,
    RETRYING,
    RUNNING,
    SCHEDULED,
    SUCCEEDED,
    TERMINAL,
    Status,
    Triage,
    message_of,
)
from services.domain.task.tombstone import Tombstone

#: statuses that wait for an instant
WITH_DUE = frozenset({SCHEDULED, RETRYING})
RESERVATION_MS = 30_000
#: of a shop whose slots are taken, so many more tasks are published before the next ones wait in its lot from the start
LOOK_AHEAD = 32
#: for how long a sweep over the lots believes that those go first whose messages are under way
BELIEVED_MS = 30_000
#: a watermark is written when it moves by this much
WATERMARK_MS = 1_000
#: by so much two good clocks differ: what is said to have been created later than that was created now
AHEAD_MS = 10_000
#: mark of a record that was made of a notice: the message itself is still in its queue, as far as anybody knows
NOTICED = "noticed"
#: mark of a task that a person lets run although its work may have been done
AGAIN = "again"
#: error of a task that is held because the same work waits or runs already
HELD_TWIN = own_words.write("own.held_twin")
#: note of the step that takes a forgotten claim up again
ROLLED_BACK = "rolled_back"
#: for how long a slot is kept for a task on its way from a worker that cannot run it to one that can: three heartbeats
HANDOVER_MS = 3_000
T = TypeVar("T")


class _Names(dict[str, str]):
    """Of statuses, as plain texts; a word that is none is refused as the status refuses it."""

    def __missing__(self, word: str) -> str:
        return str(Status(word))


_NAMES = _Names((name, name) for name in map(str, Status))
#: what belongs to other statuses only, by the one that is entered
_CLEARED: dict[str, dict[str, Any]] = {
    name: ({} if name == BLOCKED else {"gate": ""})
    | ({} if name in WITH_DUE else {"due_at": 0})
    | ({} if name == RUNNING else {"lease_until": 0, "cancel": ""})
    for name in _NAMES
}


def step(task: Task, to: str, now: int, *, who: str = "", why: str = "", **changes: Any) -> Task:
    """The record after a transition by the worker ``who``. Fields that belong to one status only are cleared."""
    to = _NAMES[to]
    taken = Step(now, task.status, to, who, changes.get("gen", task.gen), changes.get("attempt", task.attempt), why)
    changes = {**_CLEARED[to], **changes}
    if to in TERMINAL:
        changes.setdefault("ended_at", task.ended_at or now)
    return replace(task, status=to, updated_at=now, steps=_longer(task.steps, taken), **changes)


def _longer(known: tuple[T, ...], one: T) -> tuple[T, ...]:
    """With one more; the oldest goes where there are enough."""
    return (*known, one) if len(known) < HISTORY_LIMIT else (*known[1 - HISTORY_LIMIT :], one)


def created(task: Task, now: int) -> Task:
    """A new record with its instants filled. None was created later than now, whatever the clock of a producer says, or
    a time without a zone: what succeeded since would count as done before it was asked for.
    """
    asked = task.created_at if 0 < task.created_at <= now + AHEAD_MS else now
    status = str(task.status)
    taken = Step(now, "", status, "", task.gen, task.attempt, task.created_by)
    return replace(
        task,
        status=status,
        lane=str(task.lane),
        created_at=asked,
        updated_at=now,
        queued_at=task.queued_at or (now if status == QUEUED else 0),
        ended_at=(task.ended_at or now) if status in TERMINAL else 0,
        due_at=task.due_at if status in WITH_DUE else 0,
        triage=(task.triage or Triage.OPEN.value) if status == DEAD else "",
        steps=_longer(task.steps, taken),
    )


def same_creation(record: Task, asked: Task) -> bool:
    """Whether a creation was asked for once more."""
    return (record.created_by, record.payload, record.origin) == (asked.created_by, asked.payload, asked.origin)


def marked(task: Task, mark: str) -> tuple[str, ...]:
    """The task's marks with one more."""
    return task.marks if mark in task.marks else (*task.marks, mark)


def held_twin(task: Task) -> Task:
    """A new task that a person has to decide about. It holds nobody back: what waits or runs already goes on."""
    return replace(task, status=HELD, error=HELD_TWIN, uniq=FORCED + task.uniq, marks=marked(task, "twin"))


def unnoticed(task: Task) -> Task:
    """The message of another program, which the record was made of, has come out of its queue."""
    return replace(task, marks=tuple(mark for mark in task.marks if mark != NOTICED))


def queued(task: Task, now: int) -> Task:
    """The broker holds its message."""
    return step(task, QUEUED, now, queued_at=now)


def parked(task: Task, gate: str, now: int) -> Task:
    """At a closed gate; no transition if it is parked already."""
    marks = marked(task, "twin") if gate == "twin" else task.marks
    if task.status == BLOCKED:
        return task if (task.gate, task.marks) == (gate, marks) else replace(task, gate=gate, marks=marks)
    return step(task, BLOCKED, now, why=gate, gate=gate, marks=marks)


def started(task: Task, op: Claim, now: int) -> Task:
    """Running under a new lease."""
    return step(
        task,
        RUNNING,
        now,
        who=op.worker,
        attempt=task.attempt + 1,
        owner=op.owner,
        worker=op.worker,
        lease_until=now + op.lease_ms,
        started_at=now,
        cancel="",
        progress=-1,
        note="",
    )


def taken_back(
    task: Task, owner: str, number: int, worker: str, started_at: int, lease_until: int, now: int
) -> Task | None:
    """The record running under a claim that the store has forgotten; None if it is not as before that claim."""
    if task.status not in CLAIMABLE or not number or task.attempt != number - 1:
        return None
    return step(
        task,
        RUNNING,
        now,
        who=worker,
        why=ROLLED_BACK,
        attempt=number,
        owner=owner,
        worker=worker,
        lease_until=lease_until,
        started_at=started_at,
        cancel="",
        progress=-1,
        note="",
    )


def foreign_done(task: Task, now: int) -> Task:
    """Somebody else's worker has done it."""
    return step(task, SUCCEEDED, now, who="foreign", why="foreign", worker="foreign")


def finished(task: Task, op: Finish, now: int) -> Task:
    """The attempt has ended. A cancel that was asked for wins over another try."""
    to = _NAMES[op.to]
    if task.cancel and to in (RETRYING, PENDING, BLOCKED):
        to = CANCELLED
    retrying = to == RETRYING
    return step(
        task,
        to,
        now,
        who=task.worker,
        why=op.error_kind,
        gate=session.GATE if to == BLOCKED else "",
        retries=task.retries + (retrying and op.counted),
        due_at=now + op.delay_ms if retrying else 0,
        triage=Triage.OPEN.value if to == DEAD else "",
        error=op.error,
        error_kind=op.error_kind,
        fingerprint=op.fingerprint,
        result=op.result,
        attempts=_longer(task.attempts, op.attempt),
        losses=_longer(task.losses, now) if op.lost else task.losses,
    )


def evidence(task: Task, attempt: Attempt) -> Task:
    """A result that came too late, kept once."""
    late = replace(attempt, outcome="fenced")
    if late in task.attempts:
        return task
    return replace(task, attempts=_longer(task.attempts, late))


def recorded(task: Task, op: Finish) -> bool:
    """Whether this very outcome of this owner is in the record already; another one of his came too late."""
    return task.owner == op.owner and task.status != RUNNING and op.attempt in task.attempts


def progressed(task: Task, op: Progress) -> Task:
    """What the attempt says about itself."""
    return replace(
        task,
        progress=op.progress if op.progress >= 0 else task.progress,
        note=op.note or task.note,
        cancel="stopping" if op.stopping else task.cancel,
    )


def cancelled(task: Task, op: Cancel, now: int) -> Task:
    """Ended before it started."""
    return step(task, CANCELLED, now, why=op.by, reason=op.reason or task.reason)


def dropped(task: Task, cause: Task | Tombstone, now: int) -> Task:
    """Ended because a task that it depends on has failed."""
    why = own_words.write("own.dropped_cancelled" if cause.status == CANCELLED else "own.dropped", id=cause.task_id)
    return step(task, CANCELLED, now, why=dependency.GATE, reason=why)


def cancel_requested(task: Task, op: Cancel, now: int) -> Task:
    """Its worker is asked to stop."""
    return step(task, RUNNING, now, why=op.by, cancel="requested", reason=op.reason or task.reason)


def moved(task: Task, op: Move, now: int, *, gate: str = "") -> Task:
    """Another priority and a new generation; ``gate``: at which its plan ends, if it does."""
    stays = task.status == BLOCKED or (task.status in WITH_DUE and not op.run_now)
    kept: dict[str, Any] = {"gate": task.gate, "due_at": task.due_at} if stays else {}
    to = task.status if stays else PENDING
    if gate and not stays:
        to, kept = BLOCKED, {"gate": gate}
    return step(task, to, now, why=op.by, gen=task.gen + 1, lane=str(op.lane), priority=op.priority, **kept)


def routed(task: Task, op: Route, now: int) -> Task:
    """On its way through another queue; no transition if it is already."""
    if task.queue == op.queue:
        return task
    stays = task.status == BLOCKED or task.status in WITH_DUE
    kept: dict[str, Any] = {"gate": task.gate, "due_at": task.due_at} if stays else {}
    to = task.status if stays else PENDING
    return step(task, to, now, why=op.by, gen=task.gen + 1, queue=op.queue, **kept)


def let_through(task: Task, note: str, now: int) -> Task:
    """Where it was, with a note of who lets its next attempt through and why, or no longer does."""
    return step(task, task.status, now, why=note, gate=task.gate, due_at=task.due_at)


def rehomed(task: Task, by: str, now: int) -> Task:
    """On its way to another home."""
    return step(task, PENDING, now, why=by, gen=task.gen + 1)


def republished(task: Task, successor: str, by: str, now: int) -> Task:
    """A dead letter that lives on under another id."""
    return step(task, DEAD, now, why=by, triage=Triage.REPUBLISHED.value, successor=successor)


def triaged(task: Task, op: SetTriage, now: int) -> Task:
    """A dead letter put aside or taken up again; no transition if nothing changes."""
    note = op.note or task.triage_note
    if (task.triage, task.triage_note) == (op.triage, note):
        return task
    by = "" if task.triage == Triage.OVERTAKEN else task.successor
    return step(task, DEAD, now, why=op.by, triage=str(op.triage), triage_note=note, successor=by)


def overtaken(task: Task, by: str, now: int) -> Task:
    """Closed, dead or held, for the task ``by`` has done its work."""
    return step(task, DEAD, now, why=by, triage=Triage.OVERTAKEN.value, successor=by)


def resolved(task: Task, op: Resolve, now: int) -> Task:
    """A held task that a person has decided about."""
    to = _NAMES[op.to]
    triage = Triage.OPEN.value if to == DEAD else ""
    marks = marked(task, AGAIN) if to == PENDING else task.marks
    return step(task, to, now, why=op.by, triage=triage, triage_note=op.note or task.triage_note, marks=marks)


def resolved_already(task: Task, op: Resolve) -> bool:
    """Whether this person has decided the same before."""
    last = next((taken for taken in reversed(task.steps) if taken.from_ == HELD), None)
    return task.status != HELD and last is not None and (last.to, last.note) == (op.to, op.by)


def done_already(task: Task, done: Done, now: int) -> Task:
    """Held instead of started: another task has done its work, or may have, and nobody said that it is to be done
    again.
    """
    error, kind = not_again(task.work, done)
    return step(task, HELD, now, why=kind, error=error, error_kind=kind)


def not_again(work: str, done: Done) -> tuple[str, str]:
    """Why a task is held instead of started for what was done of its work: error and kind."""
    if not done.task_id:
        return own_words.write("own.work_unreadable", work=work), classify.UNKNOWN
    return own_words.write("own.already_done", id=done.task_id, by=done.by), classify.ALREADY_DONE


def given_up(task: Task, op: GiveUp, now: int) -> Task:
    """Dead without another attempt, for there is no message for it; or held."""
    return step(
        unnoticed(task),
        op.to,
        now,
        why=op.error_kind,
        triage=Triage.OPEN.value if op.to == DEAD else "",
        error=op.error,
        error_kind=op.error_kind,
        fingerprint=op.fingerprint,
    )


def released(task: Task, now: int) -> Task:
    """Out of the lot, on its way to the broker."""
    return step(task, PENDING, now)


def nudged(task: Task, op: Nudge, now: int, *, gate: str = "") -> Task | None:
    """The record that needs a message once more, None where there is nothing to publish.

    ``gate``: at which its plan ends, if it does, and without a message.
    """
    if (task.gen, task.attempt) != (op.gen, op.attempt):
        return None
    due = 0 < task.due_at <= now
    if due and task.status in WITH_DUE and gate:
        return step(task, BLOCKED, now, why=gate, gate=gate)
    if due and task.status in WITH_DUE:
        return step(task, PENDING, now)
    return task if message_of(task.status) == ORDER else None
