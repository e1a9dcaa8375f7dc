"""The reconciler: finds what a crash left half done and finishes it; every action is safe to repeat."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

from services.domain.change import Claim, Finish, GiveUp, Nudge, Op, Postpone, TellDependants
from services.domain.errors import BrokerUnavailable, StoreUnavailable
from services.domain.insight.worker import STOPPED, silence_ms
from services.domain.step.transitions import NOTICED
from services.domain.task import fingerprint, own_words, retry
from services.domain.task.lane import LANE_QUEUE, LANES, MAX_PRIORITY, MIN_PRIORITY, shop_queue
from services.domain.task.order import QueueDepth
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.engine.lead import deadlines
from services.engine.lead.opener import SHOPS, Opener, match_types
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Broker, Clock, Store

log = logging.getLogger(__name__)
BATCH = 200
#: rounds of telling dependants in one tick; each tells ``dependency.AT_ONCE`` of them
TELL_ROUNDS = 20
OUTBOX_AGE_MS = 30_000
#: a worker that has missed so many of its beats, one a second, may have been killed before it published
LOST_AGE_MS = 5_000
RETRY_GRACE_MS = 60_000
#: so many graces a retry is left to the message that seems to wait in its lane: others may be taken for it
LATE_GRACES = 10
#: longer than anything can be late
NEVER_MS = 400 * 86_400_000
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
#: a purge takes them all at once, and what comes back fills the queue: the next look is half a minute away
MISSING = 5_000
#: of each lane and priority; the others have their turn at the next look
OVERTAKEN = 500
#: two looks at an empty queue, this far apart, before a queued task counts as lost by the broker
MISSING_AFTER_MS = 30_000
#: a message of the same queue that was published this much later and came before it
OVERTAKEN_MS = 600_000
TAKEN_TEXT = own_words.write("own.taken")
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
        #: retries that are late wait in their lanes, as far as was seen: since when, and until when that holds
        self._held_since = self._held_until = float("-inf")
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
        """Publish what has waited in the outbox for longer than its submitter can still be at it; while a worker has
        just fallen silent, which released what ran next, much earlier: if it lives, that is a twin.

        What cannot be published by itself (nobody takes its key, its queue is full) waits behind the others for its
        next turn.
        """
        tasks = self._store.outbox(min(LOST_AGE_MS, self._outbox_age_ms), BATCH)
        if tasks and not self._just_lost():
            tasks = self._store.outbox(self._outbox_age_ms, BATCH)
        receipts = self._steps.publish(tasks)
        refused: list[Op] = [
            Postpone(task_id=task.task_id)
            for task, receipt in zip(tasks, receipts, strict=True)
            if not receipt.ok and receipt.error not in _FOR_ALL
        ]
        self._steps.apply(refused)
        return len(tasks)

    def _just_lost(self) -> bool:
        """Whether a worker is silent, and not for so long that all it left behind has been published since."""
        now = self._store.now_ms()
        return any(
            one.state != STOPPED and LOST_AGE_MS <= silence_ms(one, now) <= self._outbox_age_ms + SLEPT_MS
            for one in self._store.workers()
        )

    def release_due(self) -> int:
        """Publish what is due and on its way by no message."""
        return self._nudge(self.due())

    def due(self, limit: int = BATCH) -> list[Task]:
        """Scheduled tasks that are due, and retries whose delay queue forgot them; for a while without those that wait
        in their lanes: where the length of a lane is told, a twin of each would count, too. How long counts from when
        that was seen first, for nobody may have led while they became late.
        """
        found, now = self._store.due(limit, self._retry_grace_ms), self._clock.monotonic()
        late = Counter((task.queue, task.shop if task.queue else str(task.lane)) for task in found if _retries(task))
        if late and self._retry_grace_ms:
            if now >= self._held_until and self._hold(late):
                if now - self._held_until >= LOOK_S:
                    self._held_since = now
                self._held_until = now + LOOK_S
            if now < self._held_until:
                most = LATE_GRACES * self._retry_grace_ms
                found = self._store.due(limit, most if (now - self._held_since) * 1000 > most else NEVER_MS)
        return found

    def _hold(self, late: Mapping[tuple[str, str], int]) -> bool:
        """Whether each lane, and each queue of a shop (``late`` names the queue, "" for a lane, and whose it is), holds
        a message for each of its retries that are late, beyond what counts as queued.
        """
        try:
            told = self._broker.depths()
        except BrokerUnavailable:
            return False
        ready = {depth.name.removeprefix(LANE_QUEUE): depth.ready for depth in told if depth.kind in ("lane", "shop")}
        counts = self._store.counts()
        for (queue, whose), number in late.items():
            has = (counts.shops if queue else counts.lanes).get(whose, {})
            known = has.get(Status.QUEUED, 0) + has.get(Status.PENDING, 0)
            if ready.get(shop_queue(queue) if queue else whose, 0) - known < number:
                return False
        return True

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


def _retries(task: Task) -> bool:
    return task.status == Status.RETRYING


class MissingFinder:
    """Two signs: the queue is empty while the task waits, or messages published long after it have come out.

    What another program has sent is not sent again from here, as long as nobody here has taken its message: it is held
    for a person, for that program, or a consumer of its own, may have taken it back or done it.

    ``foreign_consumers``: programs that record nothing here may take messages. What is missing may have been done by
    one of them, so it is held for a person instead of being published again. ``lifo``: lanes where the youngest goes
    first, so that being overtaken is no sign of anything.
    """

    def __init__(
        self,
        store: Store,
        steps: Steps,
        *,
        missing_after_ms: int = MISSING_AFTER_MS,
        overtaken_ms: int = OVERTAKEN_MS,
        foreign_consumers: bool = False,
        lifo: Container[str] = (),
    ) -> None:
        self._store, self._steps = store, steps
        self._overtaken_ms, self._foreign, self._lifo = overtaken_ms, foreign_consumers, lifo
        self._lanes, self._shops = _EmptyLooks(missing_after_ms), _EmptyLooks(missing_after_ms)

    def look(self, depths: Sequence[QueueDepth]) -> int:
        """Publish again (or hold) what is missing; returns how many tasks."""
        by_name = {depth.name: depth for depth in depths if depth.kind == "lane"}
        missing = self._overtaken()
        for lane in LANES:
            depth = by_name.get(lane) or by_name.get(f"{LANE_QUEUE}{lane}")
            missing |= {task.task_id: task for task in self._of_empty(lane, depth)}
        missing |= self._of_shops({depth.name: depth for depth in depths if depth.kind == "shop"})
        if not missing:
            return 0
        log.warning("%d queued tasks have no message, first %s", len(missing), next(iter(missing)))
        return self._mend(list(missing.values()))

    def _of_shops(self, depths: Mapping[str, QueueDepth]) -> dict[str, Task]:
        """The tasks of shops with a queue of their own that was empty at two looks."""
        counts = self._store.counts().shops if depths else {}
        waiting = {shop_queue(key.partition(":")[2]): key for key, one in counts.items() if one.get(Status.QUEUED)}
        now, found = self._store.now_ms(), dict[str, Task]()
        empty = {
            name
            for name in waiting.keys() & depths.keys()
            if not depths[name].ready
            and self._unstarted(depths[name], counts[waiting[name]].get(Status.RUNNING, 0)) <= 0
        }
        self._shops.keep(empty)
        for name in empty:
            if before := self._shops.noted(name, now):
                tasks = self._queued_of(waiting[name])
                found |= {task.task_id: task for task in tasks if task.queue and task.queued_at < before}
        return found

    def _queued_of(self, key: str) -> Sequence[Task]:
        terms = (equals("shop", key), equals("status", Status.QUEUED))
        return self._store.query(Query(terms=terms, descending=False, limit=OVERTAKEN, want_total=False)).tasks

    def _of_empty(self, lane: str, depth: QueueDepth | None) -> list[Task]:
        """The tasks of a lane whose queue was empty at two looks."""
        now = self._store.now_ms()
        running = self._store.counts().lanes.get(lane, {}).get(Status.RUNNING, 0) if depth and depth.unacked else 0
        if depth is None or depth.ready or self._unstarted(depth, running) > 0:
            self._lanes.forget(lane)
            return []
        before = self._lanes.noted(lane, now)
        found = self._store.oldest_queued(lane, MISSING) if before else []
        return [task for task in found if task.queued_at < before and not task.queue]

    def _overtaken(self) -> dict[str, Task]:
        """Tasks behind which others of the same queue, no more urgent and published much later, have come out."""
        marks = {place: at for place, at in self._store.delivered().items() if place[0] not in self._lifo}
        limits = _limits(marks, self._overtaken_ms)
        queues = {queue for queue, _ in limits}
        before: dict[tuple[str, int], int] = {}
        for lane in LANES:
            for priority in range(MIN_PRIORITY, MAX_PRIORITY + 1):
                # A task of a dedicated queue keeps its lane; what is found is compared with its own queue below.
                own = [limits.get((queue, priority), 0) for queue in (queues - set(LANES)) | {lane.value}]
                if max(own) > 0:
                    before[lane.value, priority] = max(own)
        found = self._store.queued_before(before, OVERTAKEN) if before else []
        # what another program published may stand behind all others for long, by the priority that it gave its message
        return {
            task.task_id: task
            for task in found
            if NOTICED not in task.marks
            and task.queued_at < limits.get((task.queue or str(task.lane), task.priority), 0)
        }

    def _unstarted(self, depth: QueueDepth, running: int) -> int:
        """Deliveries that nobody has started; where the broker cannot tell, what our workers say.

        A running task keeps its delivery for as long as it runs: it must not hide for hours what its lane has lost.
        """
        if not depth.unacked:
            return sum(one.prefetched for one in self._store.workers()) if depth.unacked is None else 0
        return depth.unacked - running

    def _mend(self, tasks: Sequence[Task]) -> int:
        executed = self._store.executed([task.task_id for task in tasks])
        ops = [self._op(task, done) for task, done in zip(tasks, executed, strict=True)]
        return sum(answer.code in ("ok", "ended") for answer in self._steps.apply(ops))

    def _op(self, task: Task, executed: bool) -> Op:
        where: dict[str, Any] = {"task_id": task.task_id, "gen": task.gen, "attempt": task.attempt}
        if executed:  # by somebody who says so: it has succeeded
            return Claim(owner="reconciler", worker="foreign", lease_ms=1_000, foreign_done=True, **where)
        if self._foreign or NOTICED in task.marks:  # whoever took that message may have recorded nothing here
            return GiveUp(to=Status.HELD, error=TAKEN_TEXT, error_kind="unknown", **where)
        return Nudge(**where)


class _EmptyLooks:
    """At which looks a queue was empty, without one between at which it was not.

    More than the first of them, for it says nothing about what was published after it; of a lane whose workers are
    quick every look finds nothing, for days.
    """

    def __init__(self, apart_ms: int) -> None:
        self._apart_ms = apart_ms
        self._looks: dict[str, list[int]] = {}

    def noted(self, name: str, now: int) -> int:
        """It is empty now; the latest look long enough ago at which it was already, 0 for none."""
        looks = [*self._looks.get(name, []), now]
        old = sum(1 for at in looks if now - at >= self._apart_ms)
        self._looks[name] = looks[max(0, old - 1) :]
        return looks[old - 1] if old else 0

    def forget(self, name: str) -> None:
        """It is not empty."""
        self._looks.pop(name, None)

    def keep(self, names: Container[str]) -> None:
        """The others are not empty, or nothing is missed there."""
        self._looks = {name: looks for name, looks in self._looks.items() if name in names}


def _limits(marks: Mapping[tuple[str, int], int], overtaken_ms: int) -> dict[tuple[str, int], int]:
    """By queue and priority: what was queued before this instant and is still there has been overtaken.

    Of one queue the more urgent goes first, so what comes out at a priority speaks for all above it too.
    """
    limits: dict[tuple[str, int], int] = {}
    for queue in {queue for queue, _ in marks}:
        latest = 0
        for priority in range(MIN_PRIORITY, MAX_PRIORITY + 1):
            latest = max(latest, marks.get((queue, priority), 0))
            if latest:
                limits[queue, priority] = latest - overtaken_ms
    return limits
