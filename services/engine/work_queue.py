"""The plain work queue of another program, read by the leader: each message becomes a task as configuration says."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from services.domain.errors import BadMessage
from services.domain.task import mapping
from services.domain.task.mapping import Mapped, QueueMapping
from services.domain.task.order import Delivery, Order
from services.engine import recipe
from services.engine.producer import Producer
from services.engine.spec import TaskSpec
from services.engine.steps import Steps
from services.ports import Broker, Consumer

log = logging.getLogger(__name__)
BATCH = 200
ORIGIN = "foreign"


class WorkQueue:
    """A message is settled when its task is recorded, or when it lies among the dead letters: a crash between loses
    nothing. What comes again after one is the same task if its message has an id.
    """

    def __init__(
        self, broker: Broker, steps: Steps, producer: Producer, queue: str, meaning: QueueMapping, *, hold: bool = False
    ) -> None:
        """``hold``: of the same work that waits or runs already the second is held for a person."""
        self._broker, self._steps, self._producer = broker, steps, producer
        self._queue, self._meaning, self._hold = queue, meaning, hold

    def consumer(self) -> Consumer | None:
        """Start to consume it; None where the broker has no such queues."""
        return self._broker.work_queue(self._queue, name=f"fleetdeck-{self._queue}")

    def round(self, consumer: Consumer, wait_s: float) -> int:
        """Take up one batch; how many messages there were.

        Raises:
            ConsoleError: those that were not settled went back.
        """
        deliveries = consumer.take(BATCH, wait_s)
        if not deliveries:
            return 0
        try:
            refused = self._take_up(deliveries)
            unsafe = {number for number, why in refused.items() if not self._bury(deliveries[number], why)}
        except BaseException:
            consumer.requeue(deliveries)
            raise
        consumer.ack([one for number, one in enumerate(deliveries) if number not in unsafe])
        consumer.requeue([deliveries[number] for number in sorted(unsafe)])
        return len(deliveries)

    def _take_up(self, deliveries: Sequence[Delivery]) -> dict[int, BadMessage]:
        """Record the tasks; which messages are none, by their places, and why."""
        refused: dict[int, BadMessage] = {}
        specs: list[TaskSpec] = []
        for number, delivery in enumerate(deliveries):
            try:
                found = mapping.read(self._queue, self._meaning, delivery.body, delivery.message_id)
            except BadMessage as exc:
                refused[number] = exc
            else:
                specs.append(self._spec(found, number))
        done = self._producer.submit(specs)
        for spec, field, error in done.errors:
            words = f"{field}: {error}; correct what sends it, or [foreign_queues.{self._queue}]"
            refused[spec.line] = BadMessage(words, "bad_payload")
        for spec, task in done.duplicates:  # of this id; by its work nothing is refused
            same = (spec.platform, spec.shop_id, spec.task_type) == (task.platform, task.shop_id, task.task_type)
            if not same or recipe.payload_text(spec.payload) != task.payload:
                words = f"task id {task.task_id} is taken by a task with another payload, shop or type; send another id"
                refused[spec.line] = BadMessage(words, "id_conflict")
        log.debug("%d messages of %s: %d new tasks", len(deliveries), self._queue, len(done.created))
        return refused

    def _spec(self, found: Mapped, number: int) -> TaskSpec:
        return TaskSpec(
            platform=found.platform,
            shop_id=found.shop_id,
            task_type=found.task_type,
            payload=found.payload,
            priority=found.priority,
            task_id=found.task_id,
            # as of any foreign message: it is never refused for a twin
            if_duplicate="hold" if self._hold else "queue",
            # nor for having been done lately: its claim holds it for a person then, where its type says so
            unasked=True,
            origin=ORIGIN,
            created_by=f"queue {self._queue}",
            line=number,
        )

    def _bury(self, delivery: Delivery, why: BadMessage) -> bool:
        """Send the original bytes to the dead letters; whether they are safe there."""
        order = Order(
            kind="dead",
            routing_key="dead",
            body=delivery.body,
            message_id=delivery.message_id[:200],
            headers={"x-rpa-error": str(why)[:1000], "x-rpa-error-kind": why.kind},
        )
        receipt = self._steps.dispatcher.bury(order)
        if not receipt.ok:
            log.warning("a message of %s that is no task stays there: %s", self._queue, receipt.error)
        return receipt.ok
