"""From delivery to claim: read the message, take the lease, or settle what needs no run."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from services.domain.change import DONE, UNREADABLE, UNSURE, Answer, Claim, Create, Op, Republish
from services.domain.errors import BadMessage, Forbidden, StoreError, StoreUnavailable
from services.domain.task import envelope, ids, ledger, tombstone
from services.domain.task.order import Delivery, Order
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.engine import notices, recipe
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Clock, Consumer, Store
from services.ports.upkeep import Parked
from services.workers.burst import Burst, Room
from services.workers.slots import ClaimedTask

log = logging.getLogger(__name__)
T = TypeVar("T")
#: how long deliveries wait here for a silent store, and how often it is asked
PATIENCE_S, ASK_S = 60.0, 0.5
#: header: since when a message waits for a repair, UTC ms of the store's clock
PARKED_AT = "x-rpa-parked-at"
#: a message may be here before its record says that it was published; the next one of its kind is half a minute away
PUBLISHED_MS = 10_000


class Tally(msgspec.Struct):
    """What the intake did with deliveries, for the heartbeat and for tests."""

    run: int = 0
    fetched: int = 0  #: parked tasks that others could not run
    parked: int = 0
    skipped: int = 0
    refused: int = 0


class Accepted(NamedTuple):
    """What became of a batch of deliveries."""

    lowest: int = 0  #: the least priority in it, 0 for none
    met_long: bool = False  #: something takes long and must wait for a free slot


class Intake:
    """Turns a batch of deliveries into claimed jobs with one call of the store."""

    def __init__(
        self,
        store: Store,
        consumer: Consumer,
        steps: Steps,
        registry: Registry,
        clock: Clock,
        *,
        worker: str,
        session: str,
        lease_ms: int,
        put: Callable[[ClaimedTask], None],
        burst: Burst,
        stopping: threading.Event | None = None,
        able: Callable[[str], bool] = lambda task_type: True,
        home: Callable[[str], str] = lambda task_type: "",
        strict_shops: bool = False,
        hold_foreign: bool = False,
    ) -> None:
        """``hold_foreign``: a foreign message whose work waits or runs already is held for a person."""
        self._hold_foreign = hold_foreign
        self._store, self._consumer = store, consumer
        self._steps, self._registry, self._clock = steps, registry, clock
        self._worker, self._session, self._lease_ms, self._put = worker, session, lease_ms, put
        self._home, self._able, self._burst, self._strict_shops = home, able, burst, strict_shops
        self._stopping = stopping or threading.Event()
        self._numbers = itertools.count(1)
        self.tally = Tally()

    def accept(self, deliveries: Sequence[Delivery], room: Room) -> Accepted:
        """Claim a batch; what runs goes to ``put``, the rest is settled, or put back to wait for a slot.

        Beyond the free slots only what takes no time is claimed, for who claims a task that takes long must be about to
        start it.

        Raises:
            StoreUnavailable: nothing was settled; the caller gives the batch back.
        """
        read = [(delivery, parsed) for delivery in deliveries if (parsed := self._read(delivery)) is not None]
        choice = self._burst.choose([parsed.task for _, parsed in read], room)
        rest: list[Delivery] = []
        if len(choice.claim) < len(read):
            chosen = set(choice.claim)
            rest = [pair[0] for place, pair in enumerate(read) if place not in chosen]
            read = [read[place] for place in choice.claim]
        lowest = self._claim_all(read) if read else 0
        self._consumer.put_back(rest)
        return Accepted(lowest, choice.met_long)

    def _claim_all(self, read: Sequence[tuple[Delivery, envelope.Parsed]]) -> int:
        """Claim what was chosen and settle what does not run; the lowest priority among it."""
        self._steps.dispatcher.know({parsed.task.platform for _, parsed in read if parsed.foreign})
        if self._hold_foreign:
            self._introduce([self._adopted(parsed) for _, parsed in read if parsed.foreign])
        claims = self._patiently(lambda: [self._claim(parsed) for _, parsed in read])
        answers = self._recover(read, claims, self._patiently(lambda: self._steps.record(claims)))
        self._burst.note((parsed.task.shop, answer) for (_, parsed), answer in zip(read, answers, strict=True))
        done: list[Delivery] = []
        for (delivery, parsed), op, answer in zip(read, claims, answers, strict=True):
            if answer.code == "run" and answer.task is not None:
                self.tally.run += 1
                own = not self._conflicts(parsed, answer.task)
                self._put(ClaimedTask(task=answer.task, owner=op.owner, delivery=delivery if own else None))
                if not own:
                    self._bury_conflict(delivery, answer.task)
            elif self._settle(delivery, parsed, answer):
                done.append(delivery)
        self._consumer.ack(done)
        self._steps.follow(claims, answers)  # only now: what runs has begun
        return min(parsed.task.priority for _, parsed in read)

    def _introduce(self, tasks: Sequence[Task]) -> None:
        """Record them before they are claimed, as their notices do which may come late: whether one is the second of
        its work is decided in the step that records it.
        """
        if tasks:
            ops = notices.introduce([notices.noticed(task) for task in tasks], hold=True)
            self._patiently(lambda: self._steps.apply(ops))

    def fetch(self, kinds: Sequence[Parked], limit: int, floor: int, rooms: Mapping[str, int]) -> int:
        """Claim parked tasks of these kinds, without messages; returns how many there were of ``limit``.

        ``floor``: the least priority that is wanted. ``rooms``: how many of each lane.

        Raises:
            StoreUnavailable: what this worker was given all the same is found by its lease.
        """
        left = dict(rooms)
        tasks: list[Task] = []
        for task in self._store.unserved_tasks([kind for kind in kinds if left.get(kind[0])], limit):
            if task.priority >= floor and left.get(task.lane, 0) > 0:
                left[task.lane] -= 1
                tasks.append(task)
        self.tally.fetched += len(self.seize(tasks))
        return len(tasks)

    def seize(self, tasks: Sequence[Task]) -> list[ClaimedTask]:
        """Claim tasks without their messages, which will be taken for twins; those that run go to ``put``. What meets a
        closed gate is parked like any other.

        Raises:
            StoreUnavailable: what this worker was given all the same is found by its lease.
        """
        if not tasks:
            return []
        got: list[ClaimedTask] = []
        claims = [self._lease(task, task.gen, task.attempt) for task in tasks]
        answers = self._patiently(lambda: self._steps.record(claims))
        for op, answer in zip(claims, answers, strict=True):
            if answer.code == "run" and answer.task is not None:
                got.append(ClaimedTask(task=answer.task, owner=op.owner, delivery=None))
                self._put(got[-1])
        self._steps.follow(claims, answers)
        return got

    def can_claim(self) -> bool:
        """Whether the store answers now."""
        try:
            self._store.now_ms()
        except StoreUnavailable:
            return False
        return True

    def _read(self, delivery: Delivery) -> envelope.Parsed | None:
        try:
            parsed = envelope.parse(
                delivery.body,
                delivery.headers,
                routing_key=delivery.routing_key,
                content_type=delivery.content_type,
                content_encoding=delivery.content_encoding,
                now_ms=self._clock.now_ms(),
            )
        except BadMessage as exc:
            self._bury(delivery, exc.kind, str(exc))
            return None
        shop = parsed.task.shop
        if self._strict_shops and parsed.foreign and shop not in self._registry.shops():
            self._bury(
                delivery, "bad_message", f"shop {shop} is not registered and strict_shops is on; import it first"
            )
            return None
        return parsed

    def _recover(
        self, read: Sequence[tuple[Delivery, envelope.Parsed]], claims: Sequence[Claim], answers: list[Answer]
    ) -> list[Answer]:
        """Claim again, with a record made of the message, what the store has lost: rare, so nobody else pays for it."""
        lost = [n for n, (op, answer) in enumerate(zip(claims, answers, strict=True)) if _is_lost(op, answer)]
        if not lost:
            return answers
        again = self._patiently(
            lambda: [msgspec.structs.replace(claims[n], adopt=self._adopted(read[n][1])) for n in lost]
        )
        found = dict(zip(lost, self._patiently(lambda: self._steps.record(again)), strict=True))
        return [found.get(n, answer) for n, answer in enumerate(answers)]

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask a silent store again, with the very same words.

        If only its reply was lost, the claims are ours already; given back, their messages would be taken for twins and
        the tasks wait until their leases run out. And each return counts on queues with a delivery limit.
        """
        until = self._clock.monotonic() + PATIENCE_S
        while True:
            try:
                return ask()
            except (StoreUnavailable, Forbidden) as exc:
                if self._clock.monotonic() >= until:
                    raise
                log.warning("deliveries wait for the store: %s", exc)
                if self._clock.wait(self._stopping, ASK_S):
                    raise

    def _adopted(self, parsed: envelope.Parsed) -> Task:
        return recipe.adopt(parsed, self._registry.task_type(parsed.task.task_type))

    def _claim(self, parsed: envelope.Parsed) -> Claim:
        return self._lease(
            parsed.task,
            parsed.gen,
            parsed.attempt,
            adopt=self._adopted(parsed) if parsed.foreign else None,
            able=self._able(parsed.task.task_type),
        )

    def _lease(self, task: Task, gen: int, attempt: int, *, adopt: Task | None = None, able: bool = True) -> Claim:
        kind = self._registry.task_type(task.task_type)
        return Claim(
            task_id=task.task_id,
            gen=gen,
            attempt=attempt,
            owner=f"{self._worker}#{self._session}-{next(self._numbers)}",
            worker=self._worker,
            lease_ms=self._lease_ms,
            adopt=adopt,
            able=able,
            home=self._home(task.task_type),
            done_since=self._registry.done_since(task.task_type) if kind.window else 0,
            once=not kind.idempotent,
        )

    def _settle(self, delivery: Delivery, parsed: envelope.Parsed, answer: Answer) -> bool:
        """Decide about a delivery that does not run; True when it may be acked."""
        record = answer.task
        if record is not None and self._conflicts(parsed, record):
            self._bury_conflict(delivery, record)
            return False
        if answer.code == "blocked":
            self.tally.parked += 1
            return True
        self.tally.skipped += 1
        if answer.code == UNREADABLE and parsed.foreign:  # there may be nothing but this message
            self._bury(delivery, "store_unreadable", answer.words)
            return False
        if answer.code == UNREADABLE:
            return self._wait_for_repair(delivery, parsed)
        if answer.code == "forgotten":
            return self._settle_forgotten(delivery, parsed)
        # A message that comes back was taken before: it may be the very one that led to this end.
        # And a stale one is the message that its record was made of: a person has cancelled or moved the task since.
        if not parsed.foreign or delivery.redelivered or record is None or answer.code == "stale":
            return True
        if record.status in (Status.DEAD, Status.CANCELLED):
            return self._again(record)
        log.info("foreign message for %s skipped: it is %s", record.task_id, record.status)
        return True

    def _wait_for_repair(self, delivery: Delivery, parsed: envelope.Parsed) -> bool:
        """A message of ours that meets something spoilt goes through a delay queue and is tried again: until somebody
        has repaired that, it may be all that is left of the task. True when it may be acked, for it has arrived there,
        or a younger one is on its way.
        """
        try:
            (record,) = self._store.get([parsed.task.task_id])
            now = self._store.now_ms()
        except StoreError:
            record, now = None, self._clock.now_ms()
        since = delivery.headers.get(PARKED_AT)
        since = since if isinstance(since, int) else now
        if record is not None and record.queued_at > since + PUBLISHED_MS:
            return True  # it was found missing and published again: or every look would make one more
        log.warning("%s waits for a repair of the store", parsed.task.task_id)
        receipt = self._steps.dispatcher.park(delivery, parsed.task.platform, {PARKED_AT: since})
        if not receipt.ok:
            log.warning("%s stays in its queue: %s", parsed.task.task_id, receipt.error)
            self._consumer.requeue([delivery])
        return receipt.ok

    def _settle_forgotten(self, delivery: Delivery, parsed: envelope.Parsed) -> bool:
        """As ``_settle`` for a task whose record was removed: a tombstone says how it ended and what it was."""
        asked = parsed.task
        (stone,) = self._store.tombstones([asked.task_id])
        if stone is None or not parsed.foreign:
            return True
        if stone.digest and stone.digest != tombstone.digest(asked):
            self._bury_conflict(delivery, asked)
            return False
        if stone.status in (Status.DEAD, Status.CANCELLED) and not stone.successor and not delivery.redelivered:
            return self._again(msgspec.structs.replace(self._adopted(parsed), status=Status.CANCELLED))
        log.info("foreign message for %s skipped: it is %s, its record is removed", stone.task_id, stone.status)
        return True

    def _conflicts(self, parsed: envelope.Parsed, record: Task) -> bool:
        """Whether a foreign message asks for other work under the id of this record."""
        return parsed.foreign and not recipe.same_work(parsed.task, record)

    def _bury_conflict(self, delivery: Delivery, record: Task) -> None:
        text = f"task id {record.task_id} is taken by a task with another payload, shop or type; send it under a new id"
        self._bury(delivery, "id_conflict", text)

    def _again(self, record: Task) -> bool:
        """A producer sent an ended task's message once more: a new task, linked to the old one. Where it may not run
        twice and another task has done it since, or may have, the new one is held for a person.
        """
        new_id = ids.new_task_id(record.platform, record.task_type, record.shop_id)
        fresh = self._registry.placed(recipe.successor(record, new_id, by="foreign producer"))
        since = 0 if fresh.idempotent else record.created_at + 1
        (answer,) = self._steps.apply([_anew(record, fresh, since)])
        if answer.code in (DONE, UNSURE):
            (done,) = self._store.last_done([fresh.work]) if answer.code == DONE else [ledger.UNREADABLE]
            self._steps.apply([_anew(record, recipe.done_already(fresh, done), 0)])
        return True

    def _bury(self, delivery: Delivery, kind: str, text: str) -> None:
        """Send the original bytes to the dead-letter queue and settle the delivery once they are safe there."""
        self.tally.refused += 1
        order = Order(
            kind="dead",
            routing_key="dead",
            body=delivery.body,
            message_id=delivery.message_id[:200],
            headers={"x-rpa-error": text[:1000], "x-rpa-error-kind": kind},
        )
        receipt = self._steps.dispatcher.bury(order)
        if not receipt.ok:
            log.warning("a message that is not a task stays in its queue: %s", receipt.error)
            self._consumer.requeue([delivery])
        else:
            self._consumer.ack([delivery])


def _anew(record: Task, fresh: Task, done_since: int) -> Op:
    """Make the task that goes on with the work of an ended one."""
    if record.status == Status.DEAD:
        return Republish(
            task_id=record.task_id, task=fresh, by="foreign producer", on_duplicate="queue", done_since=done_since
        )
    return Create(
        task=msgspec.structs.replace(fresh, parent=record.task_id), on_duplicate="queue", done_since=done_since
    )


def _is_lost(op: Claim, answer: Answer) -> bool:
    return answer.code == "missing" and op.adopt is None
