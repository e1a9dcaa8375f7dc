"""Whether a task may be run again: would its work be done twice?"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.insight import attempts, same_work
from services.domain.task import classify, ids, ledger
from services.domain.task.ledger import Done
from services.domain.task.record import Attempt, Task
from services.domain.task.status import ACTIVE, Status, Triage
from services.domain.text.message import Message, Param

SAFE, CHECK, WOULD_DUPLICATE = "safe", "check", "would_duplicate"
SAY_WHY_GIVEN_UP = "give_up.say_why"
#: these are found before a flow is started; a lost login or browser may come after half of the work
_BEFORE_WORK = frozenset(
    {classify.BAD_PAYLOAD, classify.UNKNOWN_TYPE, classify.MISSING_SECRET, classify.NO_COMMAND, classify.EXPIRED}
)
_UNKNOWN_OUTCOMES = frozenset({"timeout", "lost", "fenced", "returned", "preempted", "cancelled"})


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """``level``: safe | check (a person looks into the shop first) | would_duplicate; ``params`` are the evidence."""

    level: str
    code: str
    params: Mapping[str, Param] = msgspec.field(default_factory=dict)

    @property
    def message(self) -> Message:
        """The sentence to be rendered."""
        return Message(self.code, self.params)


def refusal(task: Task, *, edited: bool = False) -> Message | None:
    """Why this cannot be republished at all, None when it can; ``edited``: its payload is another now."""
    if task.status != Status.DEAD or task.triage == Triage.REPUBLISHED:
        return not_dead(task)
    if ids.is_unread(task.task_id) and not edited:
        return Message("dead.not_a_task", {"id": task.task_id})
    return None


def not_dead(task: Task) -> Message:
    """Why something is no dead letter."""
    if task.triage == Triage.REPUBLISHED:
        return Message("dead.already", {"id": task.successor})
    return Message("dead.not_dead", {"status": task.status})


def ran_after(task: Task, done: Done | None) -> bool:
    """Whether the same work has succeeded since this task was created, by another one."""
    return done is not None and done.task_id != task.task_id and done.at > task.created_at


def safe_to_run_again(task: Task, twin: Task | None = None, done: Done | None = None, now_ms: int = 0) -> Verdict:
    """Judge by the record: what ran, how it ended, and whether the type may repeat its work.

    ``twin``: an active task with the same work. ``done``: the last success of that work; ``now_ms``: to tell how long
    ago that was (UTC ms).
    """
    if task.status in ACTIVE and task.status != Status.HELD:
        return _verdict(WOULD_DUPLICATE, "active", status=task.status)
    found = _done_by_others(task, twin, done, now_ms) or _by_record(task)
    return _verdict(CHECK, "unread") if ledger.unread(done) and found.level != WOULD_DUPLICATE else found


def _by_record(task: Task) -> Verdict:
    if task.status == Status.SUCCEEDED:
        return _verdict(CHECK, "succeeded_idempotent") if task.idempotent else _verdict(WOULD_DUPLICATE, "succeeded")
    if task.error_kind == classify.ID_CONFLICT:
        return _verdict(CHECK, "id_conflict")
    if task.error_kind == classify.BAD_MESSAGE or ids.is_unread(task.task_id):
        return _verdict(CHECK, "unreadable")
    if task.idempotent:
        return _verdict(SAFE, "idempotent")
    return _of_unrepeatable(task)


def asks_why_given_up(task: Task) -> bool:
    """Whether giving it up asks for a reason: its work must not be done twice, nobody knows that it was not done, and
    when it is over the same work may be done by others.
    """
    if task.status != Status.HELD or task.error_kind == classify.ALREADY_DONE:
        return False
    return safe_to_run_again(task).level != SAFE


def _done_by_others(task: Task, twin: Task | None, done: Done | None, now_ms: int) -> Verdict | None:
    """What another task does, or has done, of its work."""
    if task.triage == Triage.OVERTAKEN and not ran_after(task, done):
        return _verdict(WOULD_DUPLICATE, "overtaken", successor=task.successor)
    if task.triage == Triage.REPUBLISHED or (task.successor and task.triage != Triage.OVERTAKEN):
        return _verdict(WOULD_DUPLICATE, "republished", successor=task.successor)
    if twin is not None and twin.task_id != task.task_id:
        return _verdict(WOULD_DUPLICATE, "twin", id=twin.task_id, status=twin.status)
    if done is not None and ran_after(task, done):
        return Verdict(level=WOULD_DUPLICATE, code="verdict.ran_after", params=same_work.told(done, now_ms))
    return None


def _of_unrepeatable(task: Task) -> Verdict:
    """The type's work must not be done twice, so only proof that it had not begun makes it safe."""
    if (done := _done(task)) is not None:
        return done
    # A recovered record was made from its message alone: what happened before is not known.
    if task.attempt == 0 and not task.attempts and not task.started_at and "recovered" not in task.marks:
        return _verdict(SAFE, "never_started")
    number, kind = task.attempt, task.error_kind or classify.UNKNOWN
    if task.progress > 0:
        if task.status == Status.HELD:
            if task.attempts and task.attempts[-1].outcome == "lost":
                return _verdict(WOULD_DUPLICATE, "held_lost", attempt=number, progress=task.progress)
            return _verdict(WOULD_DUPLICATE, "held_begun", attempt=number, progress=task.progress)
        return _verdict(WOULD_DUPLICATE, "work_had_begun", attempt=number, progress=task.progress)
    doubtful = [attempt for attempt in task.attempts if not _before_work(attempt)]
    if task.attempts and not doubtful and len(task.attempts) >= number:
        return _verdict(SAFE, "stopped_before_work", kind=kind)
    last = doubtful[-1] if doubtful else None
    if last is not None and last.outcome not in _UNKNOWN_OUTCOMES and task.status != Status.HELD:
        return _verdict(CHECK, "failed_midway", attempt=last.number, kind=last.error_kind or kind)
    shown = last.number if last is not None else number
    return _verdict(CHECK, "outcome_unknown", attempt=shown, kind=(last.error_kind if last is not None else "") or kind)


def _done(task: Task) -> Verdict | None:
    """What one of its own attempts shows to be done."""
    if any(attempt.outcome == "succeeded" for attempt in task.attempts):
        return _verdict(WOULD_DUPLICATE, "done_elsewhere")
    late = attempts.said_late(task)
    if late is None:
        return None
    return _verdict(WOULD_DUPLICATE, "done_late", attempt=late.number, worker=late.worker)


def _before_work(attempt: Attempt) -> bool:
    return attempt.outcome in ("failed", "returned") and attempt.error_kind in _BEFORE_WORK


def _verdict(level: str, code: str, **params: Param) -> Verdict:
    return Verdict(level=level, code=f"verdict.{code}", params=params)
