"""What other programs send, recorded before a worker takes it: read from the notices, which decide nothing.

The message stays in its lane. Its claim finds the record, so it is seen, searched, cancelled and moved until then;
where a notice is lost the claim makes the record, as it does without notices. Several may read them at the same time.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec

from services.domain.change import Create, Op
from services.domain.errors import BadMessage, StoreError, StoreUnavailable
from services.domain.step.transitions import NOTICED
from services.domain.task import classify, envelope
from services.domain.task.envelope import Parsed
from services.domain.task.lane import LATE_QUEUE
from services.domain.task.order import Delivery
from services.domain.task.record import Task
from services.engine import letters, recipe
from services.engine.letters import Bad
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.engine.unnoticed import Unnoticed
from services.ports import Broker, Clock, Consumer, Store

log = logging.getLogger(__name__)
BATCH = 200
EXPIRED = "the message expired before any worker recorded it"
#: how long the first notice is waited for once they are consumed; when nothing comes for so long there are no more
FIRST_S, QUIET_S = 1.0, 0.1


class Notices:
    """Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        broker: Broker,
        steps: Steps,
        registry: Registry,
        clock: Clock,
        name: str,
        *,
        strict_shops: bool = False,
        hold: bool = False,
        looks: bool = True,
    ) -> None:
        """``hold``: of the same work that waits or runs already the second is held for a person. ``looks``: lanes may
        be read for messages without a notice; not where the broker counts how often a message was delivered.
        """
        self._hold = hold
        self._unnoticed = Unnoticed(store, broker, clock, name, self.record) if looks else None
        self._store, self._broker, self._steps = store, broker, steps
        self._registry, self._clock, self._name, self._strict_shops = registry, clock, name, strict_shops

    def consumer(self) -> Consumer | None:
        """Start to consume the notices; None where the broker makes none."""
        return self._broker.notices(name=f"{self._name}-notices")

    def take_up(self, seconds: float) -> int:
        """Record what waits now, for at most so long, and what no notice told of; how many notices were read.

        Raises:
            ConsoleError: store or broker do not answer; what was not recorded is still there.
        """
        read = 0
        if any(depth.kind in ("notice", "late") and depth.ready for depth in self._broker.depths()):
            read = self._take_all(seconds)
        if self._unnoticed is not None:
            self._unnoticed.look()
        return read

    def look_beside(self) -> None:
        """Now and then: record what no notice told of. Raises the errors of store and broker."""
        if self._unnoticed is not None:
            self._unnoticed.look_now_and_then()

    def _take_all(self, seconds: float) -> int:
        consumer = self.consumer()
        if consumer is None:
            return 0
        until, read = self._clock.monotonic() + seconds, 0
        try:
            while (left := until - self._clock.monotonic()) > 0:
                got = self.round(consumer, min(left, QUIET_S if read else FIRST_S))
                if not got:
                    break
                read += got
        finally:
            consumer.close()
        return read

    def round(self, consumer: Consumer, wait_s: float) -> int:
        """Record one batch; how many there were.

        Raises:
            ConsoleError: the batch went back.
        """
        deliveries = consumer.take(BATCH, wait_s)
        if not deliveries:
            return 0
        try:
            self.record(deliveries)
        except BaseException:
            consumer.requeue(deliveries)
            raise
        consumer.ack(deliveries)
        return len(deliveries)

    def record(self, deliveries: Sequence[Delivery]) -> None:
        """Make the records that are not there yet, dead ones of what is no task: a worker will find the same.

        Raises:
            StoreError: some may be missing; it is safe to repeat.
        """
        late = [delivery for delivery in deliveries if delivery.queue == LATE_QUEUE]
        if late:
            self._keep_expired([one for one in late if one.given_up is not None and one.given_up.by_sender])
            deliveries = [one for one in deliveries if one.queue != LATE_QUEUE]
        tasks: dict[str, Task] = {}
        bad: list[Bad] = []
        for delivery in reversed(deliveries):
            try:
                task = self._read(delivery)
            except BadMessage as exc:
                bad.append(Bad(delivery, exc.kind, str(exc)))
            else:
                tasks |= {task.task_id: task} if task is not None else {}
        if bad:
            self._keep_bad(list(reversed(bad)))
        if not tasks:
            return
        self._steps.dispatcher.know({task.platform for task in tasks.values()})
        answers = self._steps.apply(introduce(list(reversed(tasks.values())), hold=self._hold))
        made = sum(answer.code == "created" for answer in answers)
        log.debug("%d notices of other programs' messages, %d of them recorded or known", len(deliveries), made)

    def _keep_expired(self, found: Sequence[Delivery]) -> None:
        """Of messages that expired with their notice: a dead letter of each that nobody has recorded. Its own way to
        the dead letters is bound when somebody knows its platform, and it may have been the first.
        """
        now = self._store.now_ms()
        bad: list[Bad] = []
        tasks: dict[str, tuple[Parsed, Delivery]] = {}
        for delivery in found:
            try:
                if (parsed := self._parse(delivery)) is not None:
                    tasks.setdefault(parsed.task.task_id, (parsed, delivery))
            except BadMessage as exc:
                bad.append(Bad(delivery, exc.kind, str(exc)))
        if bad:
            self._keep_bad(bad)
        names = list(tasks)
        known = zip(
            self._store.get(names), self._store.tombstones(names), self._store.executed(names), strict=True
        )  # a worker of another make marks what it has run
        for name, seen in zip(names, known, strict=True):
            if not any(seen):
                self._give_up(*tasks[name], now)
        self._steps.dispatcher.know({parsed.task.platform for parsed, _ in tasks.values()})

    def _give_up(self, parsed: Parsed, delivery: Delivery, now: int) -> None:
        task = parsed.task
        reason = envelope.DeadReason(classify.EXPIRED, f"{EXPIRED} (lane {task.queue or task.lane})")
        (answer,) = self._steps.apply([letters.given_up(parsed, self._registry.task_type(task.task_type), reason, now)])
        if answer.code == "created":
            letter = letters.letter_of(task.task_id, delivery, reason.kind, reason.error, now)
            self._store.put_letter(letter)

    def _keep_bad(self, found: Sequence[Bad]) -> None:
        try:
            letters.keep_bad(self._store, self._steps, found, self._store.now_ms())
        except StoreUnavailable:
            raise
        except (StoreError, ValueError) as exc:  # it must not hold up the tasks among them for ever
            log.warning("messages that are no tasks are recorded when a worker finds them: %s", exc)

    def _read(self, delivery: Delivery) -> Task | None:
        """The record that this message calls for; None for one of our own, and for a shop that has to be known first.

        Raises:
            BadMessage: it is no task.
        """
        parsed = self._parse(delivery)
        if parsed is None or (self._strict_shops and parsed.task.shop not in self._registry.shops()):
            return None
        return noticed(recipe.adopt(parsed, self._registry.task_type(parsed.task.task_type)))

    def _parse(self, delivery: Delivery) -> Parsed | None:
        """None for a message of our own."""
        if delivery.headers.get(envelope.GEN) is not None:
            return None
        return envelope.parse(
            delivery.body,
            delivery.headers,
            routing_key=delivery.routing_key,
            content_type=delivery.content_type,
            content_encoding=delivery.content_encoding,
            now_ms=self._clock.now_ms(),
        )


def noticed(task: Task) -> Task:
    """The record of a message that is still in its lane."""
    return msgspec.structs.replace(task, queued_at=0, marks=(*task.marks, NOTICED))


def introduce(tasks: Sequence[Task], *, hold: bool) -> list[Op]:
    """What records them. A message that a foreign producer published is never refused: as at a claim, the second of
    the same work waits for the first, or is held for a person where that is wished.
    """
    return [Create(task=task, on_duplicate="hold" if hold else "queue") for task in tasks]
