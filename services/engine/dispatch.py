"""From record to broker: publish what carries an outbox mark, then clear the mark."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from services.domain import envelope
from services.domain.change import Op, Published
from services.domain.errors import BrokerUnavailable, StoreError, StoreUnavailable
from services.domain.order import Receipt
from services.domain.status import Status
from services.domain.task import Task
from services.ports import Broker, Store

log = logging.getLogger(__name__)
#: only these have a message of their own; anything else lost its mark to a later step
_WITH_MESSAGE = frozenset({Status.PENDING, Status.QUEUED, Status.RETRYING, Status.DEAD})


class Dispatcher:
    """Publishes records in batches; what fails keeps its mark and is published again by the reconciler."""

    def __init__(self, store: Store, broker: Broker, delays: Sequence[int]) -> None:
        self._store, self._broker, self._delays = store, broker, tuple(delays)
        self._platforms: frozenset[str] = frozenset()

    def know(self, platforms: Iterable[str]) -> None:
        """Bind the dead letters of these platforms, before the first of their tasks can be given up by anybody."""
        unknown = frozenset(platforms) - self._platforms
        if not unknown:
            return
        try:
            self._broker.ensure(platforms=unknown)
        except BrokerUnavailable as exc:
            # the record and its outbox mark do not need the broker; the reconciler publishes when it is back
            log.warning("dead-letter bindings of %s wait for the broker: %s", ", ".join(sorted(unknown)), exc)
            return
        self._platforms |= unknown

    def send(self, tasks: Sequence[Task]) -> list[Receipt]:
        """Publish the messages of these records, one receipt each in their order; raises nothing."""
        ready = [task for task in tasks if task.status in _WITH_MESSAGE]
        if not ready:
            return [Receipt(True)] * len(tasks)
        try:
            now = self._store.now_ms()
        except StoreUnavailable as exc:
            log.warning("%d messages wait in the outbox, the store is silent: %s", len(ready), exc)
            return [Receipt(task.status not in _WITH_MESSAGE, "store") for task in tasks]
        orders = [envelope.order_for(task, now, self._delays) for task in ready]
        receipts = dict(zip((task.task_id for task in ready), self._broker.publish(orders), strict=True))
        confirmed: list[Op] = [
            Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt)
            for task in ready
            if receipts[task.task_id].ok
        ]
        self._report({task.task_id: receipts[task.task_id] for task in ready if not receipts[task.task_id].ok})
        try:
            if confirmed:
                self._store.apply(confirmed)
        except StoreError as exc:
            log.warning("confirmed messages keep their outbox mark until the store answers: %s", exc)
        return [receipts.get(task.task_id, Receipt(True)) for task in tasks]

    def _report(self, failed: dict[str, Receipt]) -> None:
        if failed:
            first, receipt = next(iter(failed.items()))
            log.warning("%d messages wait in the outbox, first %s: %s", len(failed), first, receipt.error)
