"""What became of the same work when it was asked for while a task did it, or waited to do it, already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.domain.task import ledger
from services.domain.task.ledger import Done
from services.domain.task.notes import Suppressed
from services.domain.task.record import Step, Task
from services.domain.task.status import Status
from services.domain.text.mask import masked_text
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_

REFUSED = "refused"
#: marks of a task that a person let run although its work ran or had run
ASKED = frozenset({"forced", "again"})

SENTENCES: dict[str, str] = {
    "same_work.refused": N_(
        "The same work was asked for again and refused ({count} in all), last {span} ago by {by}: no further task was"
        " created."
    ),
    "same_work.done": N_("The same work succeeded {span} ago as {id}, by {by}."),
    "same_work.unread": N_(
        "Nobody knows whether the same work was done: its entry in the ledger cannot be read; `repair` sets it aside."
    ),
    "same_work.let_run": N_("Let run again by {by}: {reason}"),
    "same_work.asked": N_("Asked for again by {by}: {reason}"),
}


def told(done: Done, now_ms: int) -> dict[str, Param]:
    """What a sentence says of the last success of a work, counted to an instant (UTC ms)."""
    return {"id": done.task_id, "by": done.by, "since": done.at, "seconds": max(0, now_ms - done.at) // 1000}


def succeeded(done: Done, now_ms: int) -> Message:
    """That a work has succeeded before, as which task, and who had created that; or that nobody can read whether."""
    if ledger.unread(done):
        return Message("same_work.unread")
    return Message("same_work.done", told(done, now_ms))


def why_again(task: Task) -> str:
    """The reason with which it was created, as far as the record tells it: a cancel writes its own in that place."""
    stopped = task.status == Status.CANCELLED or any(step.from_ == step.to == Status.RUNNING for step in task.steps)
    return "" if stopped else task.reason


def asked(task: Task) -> Message | None:
    """That a person asked for it although its work ran, or had run, and why; None where nobody did."""
    why = why_again(task)
    if not why or ASKED.isdisjoint(task.marks):
        return None
    return Message("same_work.asked", {"by": task.created_by or task.origin, "reason": masked_text(why)})


def decided(task: Task, step: Step) -> str:
    """Why a person decided so while it was held, at this step; "" where that is not known: a letter has other notes."""
    last = next((one for one in reversed(task.steps) if one.from_ == Status.HELD != one.to), None)
    return task.triage_note if step is last and task.status != Status.DEAD else ""


def let_run(task: Task) -> Message | None:
    """That a person let it run again although its work may be done, and why; None where nobody did."""
    for step in reversed(task.steps):
        if (step.from_, step.to) == (Status.HELD, Status.PENDING) and (why := decided(task, step)):
            return Message("same_work.let_run", {"by": step.note, "reason": masked_text(why)})
    return None


def met(task: Task, twin: Task | None, suppressed: Iterable[Suppressed]) -> tuple[Suppressed, ...]:
    """Of all those about a task, or about the one it waits for (``twin``), the oldest first; what became of
    that task itself is told by its status.
    """
    front = {task.task_id} | ({twin.task_id} if twin is not None else set())
    found = [one for one in suppressed if one.holder in front and one.task_id != task.task_id]
    return tuple(sorted(found, key=lambda one: one.at))


def refused(met_before: Sequence[Suppressed], now_ms: int) -> Message | None:
    """That the same work was refused meanwhile, and who wanted it last; None where nobody did."""
    found = [one for one in met_before if one.outcome == REFUSED]
    if not found:
        return None
    last = found[-1]
    seconds = max(0, now_ms - last.at) // 1000
    params: dict[str, Param] = {"count": len(found), "by": last.by or last.origin, "since": last.at, "seconds": seconds}
    return Message("same_work.refused", params)
