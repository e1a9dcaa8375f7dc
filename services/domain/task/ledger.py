"""What is known of a work, whichever task did it: the work is what the uniqueness key of its type names."""

from __future__ import annotations

import msgspec

from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.domain.upkeep.stored import Instant


class Done(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last success of a work. Kept for as long as the record of that task or its tombstone."""

    task_id: str
    at: Instant  #: when it ended, UTC milliseconds
    by: str = ""  #: who created it; where nobody said so, where it came from (``Task.origin``)
    worker: str = ""


def done_by(task: Task) -> Done:
    """What a task that has succeeded leaves in the ledger."""
    return Done(task.task_id, task.ended_at, task.created_by or task.origin, task.worker)


def is_red(status: str, triage: str) -> bool:
    """Whether a person has still to decide about a task of this status: held, or dead and open."""
    return status == Status.HELD or (status == Status.DEAD and triage == Triage.OPEN)
