"""The archiver: moves the dead-letter queue into the store, whole messages; nobody else looks into the queue."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

import msgspec

from services.domain.change import Create, GiveUp, Nudge, Op
from services.domain.errors import BadMessage, ConsoleError, StoreUnavailable
from services.domain.task import classify, envelope, fingerprint
from services.domain.task.order import Delivery
from services.domain.task.record import Task
from services.domain.task.status import LETTER, Status, message_of
from services.engine import letters, recipe
from services.engine.lead.duty import DutyThread, OnDuty
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Broker, Clock, Consumer, Store

log = logging.getLogger(__name__)
BATCH = 50
TAKE_S = 1.0


class Archiver(OnDuty):
    """Consumes the dead queue while its process leads; stores, then acknowledges."""

    def __init__(self, store: Store, broker: Broker, steps: Steps, registry: Registry, clock: Clock, name: str) -> None:
        self._store, self._broker, self._steps = store, broker, steps
        self._registry, self._clock, self._name = registry, clock, name
        self._duty = DutyThread(self._loop, f"{name}-archiver")

    def archive(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Store a batch; returns what is stored and may be acknowledged. One bad letter does not hold up the others.

        Raises:
            StoreUnavailable: nothing can be stored now.
        """
        now = self._store.now_ms()
        kept: list[Delivery] = []
        for delivery in deliveries:
            try:
                self._keep(delivery, now)
                kept.append(delivery)
            except StoreUnavailable:
                if not kept:
                    raise
                break
            except Exception:  # whatever its bytes do to us, the letters after it must be kept
                log.exception("a dead letter stays in its queue: %s", delivery.message_id or "without an id")
        return kept

    def _loop(self, stop: threading.Event) -> None:
        consumer: Consumer | None = None
        try:
            while not stop.is_set():
                try:
                    consumer = consumer or self._broker.dead_letters(name=f"{self._name}-archiver")
                    clean = self._round(consumer)
                except ConsoleError as exc:
                    log.warning("dead letters wait in their queue: %s", exc)
                    clean = False
                if not clean:
                    self._clock.wait(stop, 2.0)
        finally:
            if consumer is not None:
                consumer.close()

    def _round(self, consumer: Consumer) -> bool:
        """Take, store, acknowledge; tell whether all of it was stored."""
        deliveries = consumer.take(BATCH, TAKE_S)
        if not deliveries:
            return True
        kept: list[Delivery] = []
        try:
            kept = self.archive(deliveries)
        finally:
            consumer.ack(kept)
            known = set(map(id, kept))
            consumer.requeue([one for one in deliveries if id(one) not in known])
        return len(kept) == len(deliveries)

    def _keep(self, delivery: Delivery, now: int) -> None:
        error = str(delivery.headers.get("x-rpa-error", ""))
        kind = str(delivery.headers.get("x-rpa-error-kind", ""))
        try:
            parsed = envelope.parse(
                delivery.body, delivery.headers, routing_key="", content_type="", content_encoding="", now_ms=now
            )
        except BadMessage as exc:
            self._keep_bad(delivery, kind or exc.kind, error or str(exc), now)
            return
        if kind:
            self._keep_bad(delivery, kind, error, now)
            return
        self._keep_task(delivery, parsed, now)

    def _keep_bad(self, delivery: Delivery, kind: str, error: str, now: int) -> None:
        letters.keep_bad(self._store, self._steps, [letters.Bad(delivery, kind, error)], now)

    def _keep_task(self, delivery: Delivery, parsed: envelope.Parsed, now: int) -> None:
        """A letter of a task: its record is dead already, or the broker or somebody else gave it up."""
        task_id = parsed.task.task_id
        record = self._store.get([task_id])[0]
        if record is None and self._store.tombstones([task_id])[0] is not None:
            log.info("an old message of %s came to the dead letters; its record is removed", task_id)
            return
        reason = envelope.dead_reason(delivery.body, delivery.headers, delivery.given_up)
        if record is not None and not recipe.same_work(parsed.task, record):
            text = f"a letter came under {task_id}, which is the id of another task; that one was left as it is"
            self._keep_bad(delivery, classify.ID_CONFLICT, text, now)
            return
        if record is not None and message_of(record.status) == LETTER:
            if self._is_its_letter(record, parsed):
                self._store.put_letter(letters.letter_of(task_id, delivery, reason.kind, reason.error, now))
            else:
                log.info("an old message of %s came to the dead letters; its own letter stays", task_id)
            return
        if reason.returned and self._send_again(parsed, record):
            return
        # the record first: a letter must not stand beside a task that goes on, and a crash in between brings it again
        if self._end(parsed, record, reason, now):
            self._store.put_letter(letters.letter_of(task_id, delivery, reason.kind, reason.error, now))
        else:
            log.info("an old message of %s came to the dead letters; its task goes on", task_id)

    def _send_again(self, parsed: envelope.Parsed, record: Task | None) -> bool:
        """Publish what a quorum queue gave up because workers went away with it; their losses are counted elsewhere."""
        op: Op
        if record is None:
            kind = self._registry.task_type(parsed.task.task_type)
            op = Create(task=msgspec.structs.replace(recipe.adopt(parsed, kind), status=Status.PENDING))
        else:
            op = Nudge(task_id=record.task_id, gen=parsed.gen, attempt=parsed.attempt)
        (answer,) = self._steps.apply([op])
        if answer.task is None or answer.code not in ("ok", "created"):
            return False
        log.warning("%s came back too often and is sent again", answer.task.task_id)
        return True

    def _is_its_letter(self, record: Task, parsed: envelope.Parsed) -> bool:
        """Whether this is the message that its death published, or there is none yet and any is better."""
        same = (parsed.gen, parsed.attempt) == (record.gen, record.attempt)
        return same or self._store.get_letter(record.task_id) is None

    def _end(self, parsed: envelope.Parsed, record: Task | None, reason: envelope.DeadReason, now: int) -> bool:
        """Record as dead what reached the dead queue without our outcome (expired, over length, rejected elsewhere)."""
        kind = self._registry.task_type(parsed.task.task_type)
        op: Op
        if record is None:
            op = letters.given_up(parsed, kind, reason, now)
        else:
            op = GiveUp(
                task_id=record.task_id,
                gen=parsed.gen,
                attempt=parsed.attempt,
                error=reason.error,
                error_kind=reason.kind,
                fingerprint=fingerprint.fingerprint(parsed.task.task_type, reason.kind, reason.error),
            )
        (answer,) = self._steps.apply([op])
        return answer.code in ("ok", "created")
