"""What follows a step: whose message must be published, who is marked as executed, whom a worker must hear of."""

from __future__ import annotations

from services.domain.change import (
    Answer,
    Cancel,
    Create,
    Finish,
    GiveUp,
    Move,
    Nudge,
    Op,
    Rehome,
    Republish,
    Resolve,
    Route,
)
from services.domain.task.record import Task
from services.domain.task.status import LETTER, TERMINAL, WITH_MARK, message_of

_DONE = frozenset({"ok", "created"})
#: they may leave an outbox mark at the record that they answer
_MARK = frozenset({Create, Finish, Move, Nudge, Rehome, Republish, Resolve, Route})
#: they may end the record that they answer; what only ends in their wake stands in ``Answer.ended``
_END = frozenset({Cancel, Create, Finish, GiveUp, Resolve})


def to_publish(op: Op, answer: Answer) -> Task | None:
    """The record that was asked about, if its message must be published now; who was released besides stands in the
    answer.
    """
    task = answer.task
    if type(op) not in _MARK or task is None or answer.code not in _DONE:
        return None
    if type(op) is Create and message_of(task.status) == LETTER:  # its letter lies in the store already
        return None
    if type(op) is Nudge:  # also of one that is queued and whose message seems to be lost
        return task if message_of(task.status) else None
    return task if task.status in WITH_MARK else None


def ended(op: Op, answer: Answer) -> tuple[str, ...]:
    """Ids of the tasks that this step ended, of which no program may start anything any more."""
    task = answer.task
    own = type(op) in _END and task is not None and answer.code in _DONE and task.status in TERMINAL
    names = (task.task_id,) if own and task is not None else ()
    return (*names, *(one.task_id for one in answer.ended)) if answer.ended else names


def to_tell(op: Op, answer: Answer) -> str:
    """The worker that must hear that its task is to be cancelled, "" for none."""
    task = answer.task
    return task.worker if answer.code == "requested" and isinstance(op, Cancel) and task is not None else ""
