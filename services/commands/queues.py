"""What an operator may do to a queue as a whole: empty it, by its records, under one audit entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.outcome import Outcome, Refusal
from services.commands.tasks import TaskCommands, in_portions, join, tell
from services.domain.errors import UsageError
from services.domain.task.queues import QueueOf
from services.domain.text.message import Message
from services.domain.text.said import said
from services.engine.paged_tasks import queue_of, tasks_in
from services.ports import Store


class PurgePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A queue, and the tasks that waited in it when it was looked at: a frozen set, nothing else is touched."""

    queue: QueueOf
    task_ids: tuple[str, ...]


class QueueCommands:
    """``plan_purge`` only looks; what it found is handed to ``purge``."""

    def __init__(
        self, store: Store, tasks: TaskCommands, audit: Audit, operator: Operator, delays: Iterable[int]
    ) -> None:
        """``delays``: seconds of the back-off queues."""
        self._store, self._tasks, self._audit, self._operator = store, tasks, audit, operator
        self._delays = tuple(delays)

    def plan_purge(self, name: str) -> PurgePlan:
        """What waits in a queue now, with its message or parked at a gate.

        Raises:
            NotFound: there is no such queue.
            UsageError: dead letters are there, which are put aside otherwise.
        """
        self._audit.need(self._operator, "operator", "queue.purge", [name])
        queue = queue_of(self._store, name, self._delays)
        return PurgePlan(queue=queue, task_ids=tuple(task.task_id for task in tasks_in(self._store, queue)))

    def purge(self, plan: PurgePlan, *, typed: str, reason: str = "") -> Outcome:
        """Cancel what the plan found and still waits there, some hundreds at a time. Their messages stay on the queue
        and are skipped by whoever takes them, so that no record is left behind without its message.

        One that a worker takes in that very moment is asked to stop (``pending``).

        Raises:
            UsageError: ``typed`` is not the name of the queue.
        """
        name = plan.queue.name
        self._audit.need(self._operator, "operator", "queue.purge", [name])
        if typed != name:
            raise UsageError(said("queue.not_typed", name=name), field="confirm")
        detail: dict[str, object] = {"count": len(plan.task_ids)} | ({"reason": reason} if reason else {})
        with self._audit.as_one("queue.purge", [name, *plan.task_ids], detail) as act:
            some = partial(self._some, queue=plan.queue, reason=reason)
            outcome = in_portions(plan.task_ids, some, lambda: self._audit.lost(self._operator, "operator"))
            tell(act, outcome)
        return outcome

    def _some(self, ids: Sequence[str], queue: QueueOf, reason: str) -> Outcome:
        found = zip(ids, self._store.get(ids), strict=True)
        there = {task_id for task_id, task in found if task is not None and queue.holds(task)}
        left = Message("queue.left", {"name": queue.name})
        gone = tuple(Refusal(task_id=one, why=left) for one in ids if one not in there)
        wanted = [one for one in ids if one in there]
        done = self._tasks.cancel(wanted, reason=reason) if wanted else Outcome()
        return join(done, Outcome(skipped=gone))
