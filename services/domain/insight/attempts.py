"""What a record says of its attempts and its end: of how many, whether the next is the last, who cancelled it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import dependency
from services.domain.task.record import Attempt, Task
from services.domain.task.status import ACTIVE, CLAIMABLE, Status
from services.domain.text.message import Message
from services.domain.text.sentences import N_

SENTENCES: dict[str, str] = {
    "attempts.last": N_("The last attempt runs; if it fails, the task is a dead letter."),
    "attempts.next_last": N_("The next attempt is the last; if it fails, the task is a dead letter."),
    "attempts.only": N_("It has one attempt; if that fails, the task is a dead letter."),
    "cancelled.by": N_("Cancelled by {who}"),
    "cancelled.dependency": N_("Cancelled, because a task that it depends on failed"),
    "cancelled.unknown": N_("Cancelled; the record does not say by whom"),
}


def most(task: Task) -> int:
    """How many attempts it may come to: those that did not count, as where a worker was lost, come on top."""
    ahead = task.attempt + 1 if task.status in CLAIMABLE else max(task.attempt, 1)
    return max(ahead + task.max_retries - task.retries, task.max_retries + 1)


def last(task: Task) -> Message | None:
    """That no attempt follows the one that runs or comes next; None where one does, and for what has ended."""
    if task.status not in ACTIVE or task.status == Status.HELD or task.retries < task.max_retries:
        return None
    if not task.max_retries and most(task) == 1:
        return Message("attempts.only")
    if task.status == Status.RUNNING:
        return Message("attempts.last")
    return Message("attempts.next_last") if task.status in CLAIMABLE else None


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a task that nobody recorded. ``worker`` is "" where the record does not say; ``lost``: it was lost."""

    worker: str
    started_at: int  #: UTC milliseconds, 0 where the record does not say
    at: int  #: when it was given up, UTC milliseconds
    lost: bool
    late: bool = False  #: its worker came back, and said too late that it had ended well
    sign_at: int = 0  #: last sign of the worker that was lost with it, UTC milliseconds, 0 where nobody knows


def unknown_end(task: Task, workers: Iterable[WorkerInfo] = ()) -> Unknown | None:
    """Who had a held task and since when nobody knows of it; None for any other.

    ``workers``: those that are known; one that was heard of after it was given up has lived on, so says nothing.
    """
    if task.status != Status.HELD:
        return None
    counted = [one for one in task.attempts if one.outcome != "fenced"]
    last = counted[-1] if counted else None
    if last is None:
        return Unknown(worker=task.worker, started_at=task.started_at, at=task.updated_at, lost=False)
    lost = last.outcome == "lost"
    seen = (info.seen_at for info in workers if info.worker == last.worker and info.seen_at <= last.ended_at)
    sign_at = max((at for at in seen if at >= last.started_at), default=0) if lost else 0
    late = said_late(task)
    return Unknown(
        worker=last.worker, started_at=last.started_at, at=last.ended_at, lost=lost, sign_at=sign_at,
        late=late is not None and late.number == last.number,
    )  # fmt: skip


def said_late(task: Task) -> Attempt | None:
    """The attempt of which its worker, taken for lost, said too late that it had ended well."""
    late = [one for one in task.attempts if one.outcome == "fenced" and not one.error_kind and not one.error]
    return late[-1] if late and late[-1].retry_in_s < 0 else None


class Cancelled(msgspec.Struct, frozen=True, kw_only=True):
    """``by``: a person, a program, or "" where a rule did it or nobody knows."""

    by: str
    sentence: Message
    reason: str = ""


def cancelled(task: Task) -> Cancelled | None:
    """Who ended a cancelled task before it was done; None for any other.

    One that ran was asked to stop: who asked stands in the step of that wish, its end is only the worker's.
    """
    if task.status != Status.CANCELLED:
        return None
    end = next((step for step in reversed(task.steps) if step.to == Status.CANCELLED), None)
    if end is not None and end.note == dependency.GATE and end.from_ != Status.RUNNING:
        return Cancelled(by="", sentence=Message("cancelled.dependency"), reason=task.reason)
    asked = next(
        (step.note for step in reversed(task.steps) if step.from_ == step.to == Status.RUNNING and step.note), ""
    )
    by = asked if end is not None and end.from_ == Status.RUNNING else end.note if end is not None else ""
    if not by:
        return Cancelled(by="", sentence=Message("cancelled.unknown"), reason=task.reason)
    return Cancelled(by=by, sentence=Message("cancelled.by", {"who": by}), reason=task.reason)
