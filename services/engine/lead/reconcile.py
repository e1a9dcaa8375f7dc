"""The reconciler: finds what a crash left half done and finishes it; every action is safe to repeat."""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence

from services.domain.change import Finish, Nudge, Op, Postpone, TellDependants
from services.domain.errors import StoreUnavailable
from services.domain.task import fingerprint, own_words, retry
from services.domain.task.order import QueueDepth
from services.domain.task.record import Attempt, Task
from services.engine.lead import deadlines
from services.engine.lead.missing import MISSING_AFTER_MS, OVERTAKEN_MS, MissingFinder
from services.engine.lead.opener import SHOPS, Opener, match_types
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Broker, Clock, Store

log = logging.getLogger(__name__)
BATCH = 200
#: rounds of telling dependants in one tick; each tells ``dependency.AT_ONCE`` of them
TELL_ROUNDS = 20
OUTBOX_AGE_MS = 30_000
RETRY_GRACE_MS = 60_000
#: how long a claim lasts unless settings say otherwise
LEASE_S = 60.0
#: between two looks at the depths; how long a worker may need to renew its leases and to record what it owes
LOOK_S, RENEWAL_S = 10.0, 20.0
#: between two looks whether the limits of types are those of their documents
LIMITS_S = 30.0
#: ticks come about every second; a longer pause means that this machine was asleep or stopped
SLEPT_MS = 15_000
#: reasons of a receipt that tell nothing about the one message: the order of the outbox stays
_FOR_ALL = frozenset({"store", "disconnected", "blocked"})
LOST_TEXT = own_words.write("own.lost")


class Reconciler:
    """One ``tick`` looks at every kind of left-over; the leader calls it about once a second."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        steps: Steps,
        registry: Registry,
        clock: Clock,
        policy: retry.RetryPolicy,
        *,
        outbox_age_ms: int = OUTBOX_AGE_MS,
        retry_grace_ms: int = RETRY_GRACE_MS,
        missing_after_ms: int = MISSING_AFTER_MS,
        overtaken_ms: int = OVERTAKEN_MS,
        foreign_consumers: bool = False,
        lifo: Container[str] = (),
        lease_s: float = LEASE_S,
    ) -> None:
        """``lease_s``: how long a claim lasts; workers renew it four times in that time."""
        self._store, self._broker, self._steps = store, broker, steps
        self._registry, self._clock, self._policy = registry, clock, policy
        self._outbox_age_ms = outbox_age_ms
        # the store alone holds a retry back where the broker cannot; else its message is under way
        self._retry_grace_ms = retry_grace_ms if broker.capabilities.delay else 0
        self._missing = MissingFinder(
            store,
            steps,
            missing_after_ms=missing_after_ms,
            overtaken_ms=overtaken_ms,
            foreign_consumers=foreign_consumers,
            lifo=lifo,
        )
        self._opener = Opener(store, steps)
        self._matched_at: float | None = None
        self._looked_at = self._blind_until = self._answered_at = clock.monotonic()
        self._ticked_at, self._renew_s, self._failed = clock.now_ms(), lease_s / 4, False

    def tick(self) -> None:
        """Look once; raises only the errors of store and broker."""
        try:
            self.republish_outbox()
            self.release_due()
            self.end_overdue()
            if self._leases_tell():
                self.take_over_expired()
            self.match_limits()
            self.open_parked()
            self.tell_dependants()
        except StoreUnavailable:
            self._failed = True
            raise
        now = self._clock.monotonic()
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            self.find_missing(self._broker.depths())

    def _leases_tell(self) -> bool:
        """Whether a lease that ran out means a lost worker.

        Not right after the store was away for so long that a renewal was missed, or this machine slept: no worker could
        renew, and those that live must have their turn first. Nor does who has only now come to lead know what was.
        """
        wall, mono = self._clock.now_ms(), self._clock.monotonic()
        away = self._failed and mono - self._answered_at >= self._renew_s
        if away or wall - self._ticked_at > SLEPT_MS:
            self._blind_until = mono + RENEWAL_S
        self._ticked_at, self._answered_at, self._failed = wall, mono, False
        return mono >= self._blind_until

    def republish_outbox(self) -> int:
        """Publish what has waited in the outbox for longer than its submitter can still be at it.

        What cannot be published by itself (nobody takes its key, its queue is full) waits behind the others for its
        next turn.
        """
        tasks = self._store.outbox(self._outbox_age_ms, BATCH)
        receipts = self._steps.publish(tasks)
        refused: list[Op] = [
            Postpone(task_id=task.task_id)
            for task, receipt in zip(tasks, receipts, strict=True)
            if not receipt.ok and receipt.error not in _FOR_ALL
        ]
        self._steps.apply(refused)
        return len(tasks)

    def release_due(self) -> int:
        """Publish scheduled tasks that are due, and retries whose delay queue forgot them."""
        return self._nudge(self._store.due(BATCH, self._retry_grace_ms))

    def end_overdue(self) -> int:
        """End what could not begin before its deadline."""
        return deadlines.end_overdue(self._store, self._steps)

    def take_over_expired(self) -> int:
        """Decide about tasks whose worker's lease ran out: again, held for a person, or dead after three losses."""
        ops: list[Op] = [self._lost(task) for task in self._store.expired(BATCH)]
        for answer in self._steps.apply(ops):
            if answer.code == "ok" and answer.task is not None:
                log.warning(
                    "%s: its worker %s is lost, now %s", answer.task.task_id, answer.task.worker, answer.task.status
                )
        return len(ops)

    def open_parked(self) -> int:
        """Release parked tasks whose gate is open although nobody said so."""
        count = self._opener.open_passed() + self._opener.open_limits() + self._opener.open_breakers()
        return count + self._opener.open_shops(self._store.parked_shops(SHOPS))

    def match_limits(self) -> None:
        """Now and then: limits of types as their documents say, running tasks of all limits as the records say."""
        now = self._clock.monotonic()
        if self._matched_at is not None and now - self._matched_at < LIMITS_S:
            return
        self._matched_at = now
        match_types(self._store, self._registry)
        self._store.recount_limits()

    def tell_dependants(self) -> int:
        """Release (or cancel) on behalf of ended tasks that had more dependants than one step tells."""
        count = 0
        for _ in range(TELL_ROUNDS):
            ops: list[Op] = [TellDependants(task_id=ended) for ended in self._store.untold(BATCH)]
            if not ops:
                break
            count += sum(len(answer.released) for answer in self._steps.apply(ops))
        return count

    def find_missing(self, depths: Sequence[QueueDepth]) -> int:
        """Publish again the queued tasks that have no message any more."""
        return self._missing.look(depths)

    def _nudge(self, tasks: Sequence[Task]) -> int:
        ops: list[Op] = [Nudge(task_id=task.task_id, gen=task.gen, attempt=task.attempt) for task in tasks]
        return sum(answer.code == "ok" for answer in self._steps.apply(ops))

    def _lost(self, task: Task) -> Finish:
        decision = retry.decide(task, "worker_lost", self._policy, now_ms=self._store.now_ms())
        shown = fingerprint.fingerprint(task.task_type, "worker_lost", LOST_TEXT)
        return Finish(
            task_id=task.task_id,
            owner=task.owner,
            to=decision.to,
            attempt=Attempt(
                number=task.attempt,
                worker=task.worker,
                started_at=task.started_at,
                ended_at=task.lease_until,
                outcome="lost",
                error_kind="worker_lost",
                error=LOST_TEXT,
            ),
            delay_ms=round(max(0.0, decision.delay_s) * 1000),
            error=LOST_TEXT,
            error_kind="worker_lost",
            fingerprint=shown,
            lost=True,
            if_expired=True,
        )
