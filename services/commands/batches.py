"""What an operator may do to a batch as one: cancel, retry what failed, raise what waits; one audit entry each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.commands.audit import Audit
from services.commands.bulk.plan import Plan
from services.commands.operator import Operator
from services.commands.outcome import Outcome
from services.commands.tasks import SLICE, Place, RaisedBatch, TaskCommands
from services.domain.errors import NotFound
from services.domain.task.lane import LANES, Lane
from services.domain.task.search.query import Query, Term, each, equals
from services.domain.task.status import ACTIVE, MOVABLE, Status, Triage
from services.domain.text.message import Message
from services.domain.text.said import said
from services.ports import Store

#: so many places of before the entry of a raise names, beside that of most
PLACES_KEPT = 200


class BatchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A batch by status, and the tasks that would be acted on, a frozen set."""

    batch: str
    before: Mapping[str, int]
    task_ids: tuple[str, ...]
    left_alone: Mapping[str, Message] = {}  #: of these, what the act will skip, and why

    @property
    def number(self) -> int:
        """How many it would be done to."""
        return len(self.task_ids) - len(self.left_alone)


class BatchOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, and how the batch stands afterwards; running tasks that were asked to stop are still running."""

    outcome: Outcome
    before: Mapping[str, int] = {}
    after: Mapping[str, int] = {}
    raised: RaisedBatch | None = None  #: how it was before, where it was raised


class BatchCommands:
    """``plan_…`` only looks; what it found is handed to the act, so that nothing else is touched."""

    def __init__(
        self,
        store: Store,
        tasks: TaskCommands,
        audit: Audit,
        operator: Operator,
        look: Callable[[Sequence[str]], Plan],
        counts: Callable[[Sequence[str]], Sequence[Mapping[str, int]]],
    ) -> None:
        """``look``: what would become of dead letters; ``counts``: tasks of batches by status, as pages tell them."""
        self._store, self._tasks, self._audit, self._operator = store, tasks, audit, operator
        self._look, self._counts = look, counts

    def plan_cancel(self, batch: str) -> BatchPlan:
        """Everything that has not ended, held tasks too.

        Raises:
            UsageError: there is no such batch.
        """
        return self._plan("batch.cancel", batch, (equals("status", *sorted(ACTIVE)),))

    def plan_retry(self, batch: str) -> BatchPlan:
        """Open dead letters and what waits for its next attempt; a held task is for a person to decide about.

        Raises:
            UsageError: there is no such batch.
        """
        open_ones = (equals("status", Status.DEAD), equals("triage", Triage.OPEN))
        before = self._before("batch.retry", batch)
        letters = self._ids((equals("batch", batch), *open_ones))
        waiting = self._ids((equals("batch", batch), equals("status", Status.RETRYING)))
        left = self._look(letters).left_alone() if letters else {}
        return BatchPlan(
            batch=batch, before=before, task_ids=tuple(dict.fromkeys([*letters, *waiting])), left_alone=left
        )

    def plan_raise(self, batch: str) -> BatchPlan:
        """What waits and is not in the high lane yet.

        Raises:
            UsageError: there is no such batch.
        """
        lower = equals("lane", *(one for one in LANES if one != Lane.HIGH))
        return self._plan("batch.raise", batch, (equals("status", *sorted(MOVABLE)), lower))

    def raise_waiting(self, plan: BatchPlan) -> BatchOutcome:
        """Let what waits go through the high lane. The entry keeps where most stood before, and who stood elsewhere,
        unless those are too many.
        """
        begun, most, others = self._store.now_ms(), *self._places(plan.task_ids)
        more = {"most": most, "was": others} if most is not None and len(others) <= PLACES_KEPT else {}
        done = self._act("batch.raise", plan, "", lambda ids: self._tasks.prioritize(ids, Lane.HIGH), more)
        raised = RaisedBatch(
            batch=plan.batch,
            who=self._operator.who,
            begun=begun,
            ended=self._store.now_ms(),
            most=most,
            others=others,
        )
        return replace(done, raised=raised)

    def _places(self, task_ids: Sequence[str]) -> tuple[Place | None, dict[str, Place]]:
        """Where most of them stand, and where those stand that stand elsewhere."""
        places: dict[str, Place] = {}
        for start in range(0, len(task_ids), SLICE):
            found = self._store.get(task_ids[start : start + SLICE])
            places |= {task.task_id: (task.lane, task.priority) for task in found if task is not None}
        if not places:
            return None, {}
        ((most, _number),) = Counter(places.values()).most_common(1)
        return most, {one: place for one, place in places.items() if place != most}

    def cancel(self, plan: BatchPlan, *, reason: str = "") -> BatchOutcome:
        """End waiting tasks, ask running ones to stop."""
        return self._act("batch.cancel", plan, reason, lambda ids: self._tasks.cancel(ids, reason=reason))

    def retry(self, plan: BatchPlan) -> BatchOutcome:
        """A new task for each dead letter, in the same batch; the next attempt now for what waits for it."""
        return self._act("batch.retry", plan, "", self._tasks.retry_waiting)

    def _plan(self, action: str, batch: str, terms: tuple[Term, ...]) -> BatchPlan:
        before = self._before(action, batch)
        return BatchPlan(batch=batch, before=before, task_ids=tuple(self._ids((equals("batch", batch), *terms))))

    def _before(self, action: str, batch: str) -> Mapping[str, int]:
        self._audit.need(self._operator, "operator", action, [batch])
        before = self._counts([batch])[0]
        if not before:
            raise NotFound(said("batch.unknown", name=batch[:80] or "''"), field="name")
        return before

    def _ids(self, terms: tuple[Term, ...]) -> list[str]:
        query = Query(terms=terms, limit=SLICE, want_total=False)
        return [task.task_id for task in each(self._store.query, query)]

    def _act(
        self,
        action: str,
        plan: BatchPlan,
        reason: str,
        do: Callable[[Sequence[str]], Outcome],
        more: Mapping[str, object] = {},
    ) -> BatchOutcome:
        self._audit.need(self._operator, "operator", action, [plan.batch])
        detail = {"before": dict(plan.before), "count": len(plan.task_ids)} | ({"reason": reason} if reason else {})
        detail |= more
        with self._audit.as_one(action, [plan.batch, *plan.task_ids], detail) as act:
            outcome = do(plan.task_ids) if plan.task_ids else Outcome()
            after = self._counts([plan.batch])[0]
            skipped = len(outcome.skipped) + len(outcome.failed)
            act.counted(len(outcome.done) + len(outcome.pending), skipped)
            act.outcome += "; after: " + ", ".join(f"{status} {number}" for status, number in sorted(after.items()))
            act.placed([(one.task_id, one.why.code) for one in (*outcome.skipped, *outcome.failed)])
        return BatchOutcome(outcome=outcome, before=plan.before, after=after)
