"""From delivery to claim: read the message, take the lease, or settle what needs no run."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from services.domain import envelope, ids
from services.domain.change import Answer, Claim, Create, Op, Republish
from services.domain.errors import BadMessage
from services.domain.order import Delivery, Order
from services.domain.status import Status
from services.domain.task import Task
from services.engine import recipe
from services.engine.dispatch import Dispatcher
from services.engine.registry import Registry
from services.ports import Broker, Clock, Consumer, Store
from services.workers.slots import Held

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tally:
    """What the intake did with deliveries, for the heartbeat and for tests."""

    run: int = 0
    parked: int = 0
    skipped: int = 0
    refused: int = 0


class Intake:
    """Turns a batch of deliveries into claimed jobs with one call of the store."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        consumer: Consumer,
        dispatcher: Dispatcher,
        registry: Registry,
        clock: Clock,
        *,
        worker: str,
        session: str,
        lease_ms: int,
        put: Callable[[Held], None],
    ) -> None:
        self._store, self._broker, self._consumer = store, broker, consumer
        self._dispatcher, self._registry, self._clock = dispatcher, registry, clock
        self._worker, self._session, self._lease_ms, self._put = worker, session, lease_ms, put
        self._numbers = itertools.count(1)
        self.tally = Tally()

    def accept(self, deliveries: Sequence[Delivery]) -> None:
        """Claim a batch; what runs goes to ``put``, the rest is settled.

        Raises:
            StoreUnavailable: nothing was settled; the caller gives the batch back.
        """
        read = [(delivery, parsed) for delivery in deliveries if (parsed := self._read(delivery)) is not None]
        claims: list[Op] = [self._claim(parsed) for _, parsed in read]
        if not claims:
            return
        done: list[Delivery] = []
        for (delivery, parsed), op, answer in zip(read, claims, self._store.apply(claims), strict=True):
            assert isinstance(op, Claim)
            if answer.code == "run" and answer.task is not None:
                self.tally.run += 1
                self._put(Held(task=answer.task, owner=op.owner, delivery=delivery))
            elif self._settle(delivery, parsed, answer):
                done.append(delivery)
        self._consumer.ack(done)

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
        return parsed

    def _claim(self, parsed: envelope.Parsed) -> Claim:
        task = parsed.task
        return Claim(
            task_id=task.task_id,
            gen=parsed.gen,
            attempt=parsed.attempt,
            owner=f"{self._worker}#{self._session}-{next(self._numbers)}",
            worker=self._worker,
            lease_ms=self._lease_ms,
            adopt=recipe.adopt(parsed, self._registry.task_type(task.task_type)),
        )

    def _settle(self, delivery: Delivery, parsed: envelope.Parsed, answer: Answer) -> bool:
        """Decide about a delivery that does not run; True when it may be acked."""
        record = answer.task
        if answer.code == "blocked":
            self.tally.parked += 1
            return True
        self.tally.skipped += 1
        if not parsed.foreign or delivery.redelivered or record is None:
            return True
        if not recipe.same_payload(record.payload, parsed.task.payload):
            text = f"task id {record.task_id} is taken by a task with another payload; send it under a new id"
            self._bury(delivery, "id_conflict", text, ack=False)
            return True
        if record.status in (Status.DEAD, Status.CANCELLED):
            return self._again(record)
        log.info("foreign message for %s skipped: it is %s", record.task_id, record.status)
        return True

    def _again(self, record: Task) -> bool:
        """A producer sent an ended task's message once more: a new task, linked to the old one."""
        fresh = recipe.successor(
            record, ids.new_task_id(record.platform, record.task_type, record.shop_id), by="foreign producer"
        )
        op: Op
        if record.status == Status.DEAD:
            op = Republish(task_id=record.task_id, task=fresh, by="foreign producer", on_duplicate="queue")
        else:
            op = Create(task=msgspec.structs.replace(fresh, parent=record.task_id), on_duplicate="queue")
        answer = self._store.apply([op])[0]
        if answer.task is not None and answer.code in ("ok", "created"):
            self._dispatcher.send([answer.task])
        return True

    def _bury(self, delivery: Delivery, kind: str, text: str, *, ack: bool = True) -> None:
        """Send the original bytes to the dead-letter queue and settle the delivery once they are safe there."""
        self.tally.refused += 1
        order = Order(
            kind="dead",
            routing_key="dead",
            body=delivery.body,
            message_id=delivery.message_id[:200],
            headers={"x-rpa-error": text[:1000], "x-rpa-error-kind": kind},
        )
        receipt = self._broker.publish([order])[0]
        if not receipt.ok:
            log.warning("a message that is not a task stays in its queue: %s", receipt.error)
            self._consumer.requeue([delivery])
        elif ack:
            self._consumer.ack([delivery])
