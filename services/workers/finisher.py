"""Group commit of outcomes: record a batch, publish what follows from it, then acknowledge."""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import msgspec

from services.domain.change import UNREADABLE, Answer, Create, Finish
from services.domain.errors import Forbidden, SchemaTooNew, StoreError, StoreUnavailable
from services.domain.task.order import Delivery
from services.domain.task.record import Task
from services.engine import recipe
from services.engine.steps import Steps
from services.ports import Clock, Consumer, Store
from services.workers.spool import Spool

log = logging.getLogger(__name__)
BATCH = 200
RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)
OWED_EVERY_S = 5.0
#: outcomes that are told again to a store that may have forgotten its last moments: how old, how many, how large in all
LATELY_S, LATELY, LATELY_SIZE = 60.0, 1_000, 16_000_000
#: it will take the outcome: when it answers, from a worker of the newer program, once a person permits it
_LATER = (StoreUnavailable, SchemaTooNew, Forbidden)
#: given back by a worker that leaves, ended because a person wished it, or its shop waits for a person
_NO_FAILURE = frozenset({"pending", "cancelled", "blocked"})


class _Item(msgspec.Struct):
    op: Finish
    delivery: Delivery | None
    task: Task | None = None  #: as it was claimed
    told: float = 0.0  #: when it was recorded, monotonic; 0 for not yet


class Finisher:
    """One thread that turns finished attempts into recorded outcomes.

    Outcomes are collected while the write before them is on its way, so a busy worker pays one round trip for many
    tasks and an idle one waits for nothing. The order is always: record, publish, acknowledge. While the store is
    silent they are kept in the spool too, from where a later worker of this machine records them if this one is killed.
    """

    def __init__(
        self,
        store: Store,
        steps: Steps,
        consumer: Consumer,
        clock: Clock,
        name: str,
        spool: Spool | None = None,
        recorded: Callable[[Iterable[str]], None] = lambda _owners: None,
    ) -> None:
        """``recorded`` hears the owners of leases that nobody needs to renew any more."""
        self._recorded = recorded
        self._store, self._steps, self._consumer, self._clock = store, steps, consumer, clock
        self._spool = spool
        self._away = False  #: the store did not answer last time
        self._replayed = threading.Event()
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._owed: list[tuple[Delivery, Task]] = []
        self._unread: list[_Item] = []
        self._owed_at = 0.0
        self._abandon = threading.Event()
        self._lock = threading.Lock()
        self._open: dict[str, Finish] = {}
        self._lately: deque[_Item] = deque()
        self._lately_size = 0
        self.done = 0
        self.failed = 0
        self._thread = threading.Thread(target=self._loop, name=f"{name}-finisher", daemon=True)
        self._thread.start()

    def put(self, op: Finish, delivery: Delivery | None, task: Task | None = None) -> None:
        """Record this outcome soon; returns at once. ``task``: as it was claimed, for a store that has lost it."""
        with self._lock:
            self._open[op.owner] = op
            away = self._away
        if away and self._spool is not None:
            self._spool.keep([op])
        self._queue.put(_Item(op, delivery, task))

    def tell_again(self) -> None:
        """The store was silent, and may have come back without its last moments: record again what it does not know.

        Raises:
            StoreError: it does not answer.
        """
        with self._lock:
            lately = list(self._lately)
        records = self._store.get([item.op.task_id for item in lately])
        gone = [item.op.task_id for item, record in zip(lately, records, strict=True) if record is None]
        removed = {one.task_id for one in (self._store.tombstones(gone) if gone else ()) if one is not None}
        for item, record in zip(lately, records, strict=True):
            if item.op.task_id in removed:
                continue
            if record is None or item.op.attempt not in record.attempts:
                log.warning("the store has forgotten how %s ended; it is told again", item.op.task_id)
                self.put(item.op, None, item.task)

    @property
    def away(self) -> bool:
        """Whether the store is silent, as far as is known here."""
        return self._away

    def wait_replayed(self, seconds: float) -> bool:
        """Wait until what earlier workers could not record is recorded; nobody should judge their tasks before."""
        return self._replayed.wait(seconds)

    def unrecorded(self) -> int:
        """Outcomes not yet recorded."""
        with self._lock:
            return len(self._open)

    def close(self, timeout: float) -> bool:
        """Record what is left, then leave; True when everything was recorded in time."""
        self._queue.put(None)
        self._thread.join(timeout)
        if self._thread.is_alive():
            self._abandon.set()
            self._thread.join(10.0)
        if self._spool is not None:
            self._spool.close()
        return self.unrecorded() == 0

    def _loop(self) -> None:
        self._replay()
        open_ = True
        while open_:
            batch, open_ = self._collect()
            try:
                if batch:
                    self._commit(batch)
                self._pay()
            except Exception:  # a worker whose outcomes nobody records any more must be impossible
                log.exception("%d outcomes are left to the reconciler, which sees their leases run out", len(batch))
                self._forget(batch)

    def _replay(self) -> None:
        """Record what workers of this machine left behind that were killed while the store was away."""
        try:
            left = self._left_behind()
            for first in range(0, len(left), BATCH):
                self._commit([_Item(op, None) for op in left[first : first + BATCH]])
        except Exception:  # whatever such a file holds, this worker has work of its own
            log.exception("outcomes of a worker that was killed here are left to the reconciler")
        finally:
            self._replayed.set()

    def _left_behind(self) -> list[Finish]:
        if self._spool is None:
            return []
        left = self._spool.adopt()
        if not left:
            return left
        try:
            records = self._store.get([op.task_id for op in left])
            known = {op.owner for op, task in zip(left, records, strict=True) if task and op.attempt in task.attempts}
            self._spool.settle(known)
            left = [op for op in left if op.owner not in known]
        except StoreError as exc:
            log.warning("whether they are recorded already is not known: %s", exc)
        log.warning("%d outcomes of workers that were killed here are recorded now", len(left))
        with self._lock:
            self._open.update((op.owner, op) for op in left)
        return left

    def _collect(self) -> tuple[list[_Item], bool]:
        try:
            first = self._queue.get(timeout=1.0)
        except queue.Empty:
            return [], True
        batch: list[_Item] = []
        item: _Item | None = first
        while item is not None:
            batch.append(item)
            if len(batch) >= BATCH:
                return batch, True
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _commit(self, batch: list[_Item]) -> None:
        answers = self._apply([item.op for item in batch])
        if answers is None or (answers := self._recovered(batch, answers)) is None:
            return
        batch, answers = self._without_unread(batch, answers)
        self._recorded([item.op.owner for item in batch])
        settled: list[tuple[Delivery, Task | None]] = []
        orphans: list[Delivery] = []
        for item, answer in zip(batch, answers, strict=True):
            task = answer.task if answer.code == "ok" else None
            self._count(answer.code, item.op)
            if item.delivery is not None and answer.code == "missing":
                orphans.append(item.delivery)
            elif item.delivery is not None:
                settled.append((item.delivery, task))
        unsent = self._steps.follow([item.op for item in batch], answers)
        self._consumer.ack([delivery for delivery, task in settled if task is None or task.task_id not in unsent])
        # the message is all that is left of the task, and who takes it next makes a record of it
        self._consumer.requeue(orphans)
        self._owed += [(delivery, task) for delivery, task in settled if task is not None and task.task_id in unsent]
        self._forget(batch)
        self._remember([item for item, answer in zip(batch, answers, strict=True) if answer.code == "ok"])

    def _remember(self, told: Sequence[_Item]) -> None:
        now = self._clock.monotonic()
        with self._lock:
            for item in told:
                self._lately.append(_Item(item.op, None, item.task, now))
                self._lately_size += len(item.op.result)
            while self._lately and (
                now - self._lately[0].told > LATELY_S or len(self._lately) > LATELY or self._lately_size > LATELY_SIZE
            ):
                self._lately_size -= len(self._lately.popleft().op.result)

    def _recovered(self, batch: Sequence[_Item], answers: list[Answer]) -> list[Answer] | None:
        """The same, with the outcomes recorded of tasks whose records the store has lost; None as of ``_apply``."""
        lost = [place for place, answer in enumerate(answers) if answer.code == "missing" and batch[place].task]
        if not lost:
            return answers
        claimed = [(batch[place].task, batch[place].op) for place in lost]
        again = [one for task, op in claimed if task is not None for one in (recipe.begun(task), op)]
        made = self._apply(again)
        if made is None:
            return None
        found = dict(zip(lost, made[1::2], strict=True))
        return [found.get(place, answer) for place, answer in enumerate(answers)]

    def _without_unread(self, batch: list[_Item], answers: list[Answer]) -> tuple[list[_Item], list[Answer]]:
        """Outcomes that meet something spoilt in the store wait until somebody has repaired it: they are done work."""
        pairs = list(zip(batch, answers, strict=True))
        waits = [item for item, answer in pairs if answer.code == UNREADABLE]
        if waits and self._spool is not None:
            self._spool.keep([item.op for item in waits])
        self._unread += waits
        known = [(item, answer) for item, answer in pairs if answer.code != UNREADABLE]
        return [item for item, _ in known], [answer for _, answer in known]

    def _forget(self, batch: list[_Item]) -> None:
        self._recorded([item.op.owner for item in batch])
        with self._lock:
            for item in batch:
                self._open.pop(item.op.owner, None)
        if self._spool is not None:
            self._spool.settle(item.op.owner for item in batch)

    def _apply(self, ops: Sequence[Finish | Create]) -> list[Answer] | None:
        """The answers, however long the store is silent; None when this worker leaves before it answers."""
        tries = 0
        while True:
            try:
                answers = self._steps.record(ops)
                self._came_back()
                return answers
            except _LATER as exc:
                self._keep()
                pause = RETRY_S[min(tries, len(RETRY_S) - 1)]
                log.warning("%d outcomes wait for the store (try %d): %s", len(ops), tries + 1, exc)
                tries += 1
                if self._clock.wait(self._abandon, pause):
                    return None
            except StoreError:
                if len(ops) == 1:
                    log.exception("the store refuses the outcome of %s; its lease runs out", _id_of(ops[0]))
                    return [Answer("refused")]
                return self._one_by_one(ops)
            except Exception:  # what one outcome holds must not take the others with it
                if len(ops) == 1:
                    raise
                return self._one_by_one(ops)

    def _keep(self) -> None:
        """The store is silent: write down what is not recorded; ``put`` does so with what comes."""
        with self._lock:
            if self._away:
                return
            self._away = True
            waiting = list(self._open.values())
        if self._spool is not None:
            self._spool.keep(waiting)

    def _came_back(self) -> None:
        """The store answers; who was killed here meanwhile and is not started again has nobody else to speak for it."""
        if not self._away:
            return
        self._away = False
        for op in self._left_behind():
            self._queue.put(_Item(op, None))

    def _one_by_one(self, ops: Sequence[Finish | Create]) -> list[Answer] | None:
        """One outcome that the store refuses must not take the others with it."""
        answers: list[Answer] = []
        for op in ops:
            answer = self._apply([op])
            if answer is None:
                return None
            answers += answer
        return answers

    def _pay(self) -> None:
        """Try again to publish what must be safe before its delivery may be acknowledged."""
        now = self._clock.monotonic()
        if not (self._owed or self._unread) or now - self._owed_at < OWED_EVERY_S:
            return
        self._owed_at = now
        unread, self._unread = self._unread, []
        for item in unread:
            self._queue.put(item)
        owed, self._owed = self._owed, []
        receipts = self._steps.publish([task for _, task in owed])
        unsent = {task.task_id for (_, task), receipt in zip(owed, receipts, strict=True) if not receipt.ok}
        self._consumer.ack([delivery for delivery, task in owed if task.task_id not in unsent])
        self._owed += [pair for pair in owed if pair[1].task_id in unsent]

    def _count(self, code: str, op: Finish) -> None:
        if code == "refused":
            self.failed += 1
        elif code == "missing":
            log.warning("the record of %s is gone, and with it the result of its attempt", op.task_id)
        elif code != "ok":
            log.warning("a late result of %s is kept as evidence only (%s)", op.task_id, code)
        elif op.to == "succeeded":
            self.done += 1
        elif op.to not in _NO_FAILURE and op.counted:
            self.failed += 1


def _id_of(op: Finish | Create) -> str:
    return op.task.task_id if isinstance(op, Create) else op.task_id
