"""Dead letters that the store has lost, made again from the stream that holds a copy of every one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from services.domain.change import Create
from services.domain.errors import BadMessage
from services.domain.task import envelope, fingerprint, wire
from services.domain.task.order import Delivery
from services.domain.task.record import Task
from services.domain.task.status import Status, Triage
from services.domain.upkeep.miscount import some
from services.domain.upkeep.repair import DONE, LEFT, PLANNED, Mend, mend
from services.engine import recipe
from services.engine.letters import letter_of
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Broker, Consumer, Store

BATCH, SILENCE_S = 100, 2.0


class SecondCopy:
    """Reads the stream from its beginning; nothing is taken off it. What the store still knows is left alone."""

    def __init__(self, store: Store, broker: Broker, steps: Steps, registry: Registry) -> None:
        self._store, self._broker, self._steps, self._registry = store, broker, steps, registry

    def run(self, name: str, *, doing: bool) -> list[Mend]:
        """What was made again, or would be."""
        consumer = self._broker.dead_log(name=name)
        if consumer is None:
            return [mend(LEFT, "repair.no_stream")]
        letters: dict[str, None] = {}
        records: dict[str, None] = {}
        read = 0
        try:
            for deliveries in _all(consumer):
                read += len(deliveries)
                self._keep(deliveries, letters, records, doing=doing)
                consumer.ack(deliveries)
        finally:
            consumer.close()
        state = DONE if doing else PLANNED
        found = [mend(state, "repair.stream_read", messages=read)]
        for code, names in (("repair.stream_letters", list(letters)), ("repair.stream_records", list(records))):
            if names:
                found.append(mend(state, code, tasks=len(names), where=some(names)))
        return found

    def _keep(
        self, deliveries: Sequence[Delivery], letters: dict[str, None], records: dict[str, None], *, doing: bool
    ) -> None:
        now = self._store.now_ms()
        wanted = [self._dead(delivery, now) for delivery in deliveries]
        ids = [task.task_id for task in wanted]
        stones = self._store.tombstones(ids)
        for delivery, task, known, stone in zip(deliveries, wanted, self._store.get(ids), stones, strict=True):
            if known is None and stone is not None:
                continue  # removed after its time: that it is gone is right
            if known is not None and task.task_id not in records:
                if known.status != Status.DEAD or self._store.get_letter(known.task_id) is not None:
                    continue
                letters[task.task_id] = None
            elif known is None:
                records[task.task_id] = None
            if doing:
                self._store.put_letter(letter_of(task.task_id, delivery, task.error_kind, task.error, now))
                self._steps.apply([Create(task=task, on_duplicate="force")])

    def _dead(self, delivery: Delivery, now: int) -> Task:
        """The record that the letter tells of."""
        reason = envelope.dead_reason(delivery.body, delivery.headers, delivery.given_up)
        given = delivery.headers.get(envelope.ERROR_KIND)
        try:
            parsed = envelope.parse(delivery.body, delivery.headers, now_ms=now)
        except BadMessage as exc:
            given, reason = given or exc.kind, envelope.DeadReason(reason.kind, reason.error or str(exc))
        if given:
            return envelope.bad_record(delivery.body, kind=str(given), error=reason.error, now_ms=now)
        return msgspec.structs.replace(
            recipe.adopt(parsed, self._registry.task_type(parsed.task.task_type)),
            status=Status.DEAD,
            triage=Triage.OPEN,
            error=reason.error,
            error_kind=reason.kind,
            fingerprint=fingerprint.fingerprint(parsed.task.task_type, reason.kind, reason.error),
            ended_at=_failed_at(delivery.body, now),
            queued_at=0,
        )


def _failed_at(body: bytes, now: int) -> int:
    seen = wire.salvage(body).get("failed_at")
    try:
        return wire.instant(seen, None) if isinstance(seen, str) else now
    except BadMessage:
        return now


def _all(consumer: Consumer) -> Iterator[list[Delivery]]:
    """Batch by batch, until nothing comes for a while."""
    while deliveries := consumer.take(BATCH, SILENCE_S):
        yield deliveries
