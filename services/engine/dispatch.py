"""From record to broker: publish what carries an outbox mark, then clear the mark."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from services.domain import classify, envelope, fingerprint, own_words
from services.domain.change import GiveUp, Op, Published
from services.domain.errors import BrokerUnavailable, StoreError, StoreUnavailable
from services.domain.order import Order, Receipt
from services.domain.status import Status
from services.domain.task import ERROR_LIMIT, Task
from services.engine.letters_out import LettersOut, mark_of, mark_of_bytes
from services.ports import Broker, Store

log = logging.getLogger(__name__)
#: only these have a message of their own; anything else lost its mark to a later step
_WITH_MESSAGE = frozenset({Status.PENDING, Status.QUEUED, Status.RETRYING, Status.DEAD})


class Dispatcher:
    """Publishes records in batches; what fails keeps its mark and is published again by the reconciler."""

    def __init__(self, store: Store, broker: Broker, delays: Sequence[int], *, dead_log: bool = False) -> None:
        """``dead_log``: the broker may keep a second copy of dead letters."""
        self._store, self._broker, self._delays = store, broker, tuple(delays)
        self._letters = LettersOut(store) if dead_log else None
        self._platforms: frozenset[str] = frozenset()

    @property
    def longest_delay_s(self) -> int:
        """How long a message can be on its way through a delay queue."""
        return max(self._delays, default=0)

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
        """Publish the messages of these records, one receipt each in their order; raises nothing.

        A record that no message can be made of is given up: it becomes a dead letter with the reason, and its receipt
        is that of a record that needs no message.
        """
        ready = [task for task in tasks if task.status in _WITH_MESSAGE]
        if not ready:
            return [Receipt(True)] * len(tasks)
        try:
            now = self._store.now_ms()
        except StoreUnavailable as exc:
            log.warning("%d messages wait in the outbox, the store is silent: %s", len(ready), exc)
            return [Receipt(task.status not in _WITH_MESSAGE, "store") for task in tasks]
        receipts: dict[str, Receipt] = {}
        orders = self._orders(ready, now, receipts)
        receipts |= self._publish({task.task_id: task for task in ready}, orders)
        confirmed: list[Op] = [
            Published(task_id=task.task_id, status=task.status, gen=task.gen, attempt=task.attempt)
            for task in ready
            if task.task_id in orders and receipts[task.task_id].ok
        ]
        self._report({task_id: receipt for task_id, receipt in receipts.items() if not receipt.ok})
        try:
            if confirmed:
                self._store.apply(confirmed)
        except StoreError as exc:
            log.warning("confirmed messages keep their outbox mark until the store answers: %s", exc)
        return [receipts.get(task.task_id, Receipt(True)) for task in tasks]

    def bury(self, order: Order) -> Receipt:
        """Publish a letter that belongs to no record; raises nothing."""
        mark = mark_of_bytes(order)
        return self._bury({mark: order})[mark]

    def _publish(self, tasks: Mapping[str, Task], orders: dict[str, Order]) -> dict[str, Receipt]:
        dead = {name: mark_of(tasks[name]) for name in orders if tasks[name].status == Status.DEAD}
        others = {name: order for name, order in orders.items() if name not in dead}
        receipts = dict(zip(others, self._broker.publish(list(others.values())), strict=True)) if others else {}
        letters = self._bury({mark: orders[name] for name, mark in dead.items()}) if dead else {}
        return receipts | {name: letters[mark] for name, mark in dead.items()}

    def _bury(self, letters: dict[str, Order]) -> dict[str, Receipt]:
        """Publish letters by their marks."""
        if self._letters is None:
            return dict(zip(letters, self._broker.publish(list(letters.values())), strict=True))
        try:
            going = self._letters.begin(letters)
        except StoreError as exc:
            log.warning("%d dead letters wait for the store: %s", len(letters), exc)
            return dict.fromkeys(letters, Receipt(False, "store"))
        receipts = dict(zip(going, self._broker.publish(list(going.values())), strict=True))
        try:
            self._letters.end(going, receipts)
        except StoreError as exc:
            log.warning("letters that have arrived stay written down as under way: %s", exc)
        return receipts

    def _orders(self, tasks: Sequence[Task], now: int, receipts: dict[str, Receipt]) -> dict[str, Order]:
        """The messages by task; for a record that has none the receipt instead."""
        orders: dict[str, Order] = {}
        for task in tasks:
            try:
                orders[task.task_id] = envelope.order_for(task, now, self._delays)
            except Exception as exc:  # whatever a record holds, it must not keep back the others
                log.exception("no message can be made of %s", task.task_id)
                receipts[task.task_id] = self._give_up(task, f"{type(exc).__name__}: {exc}")
        return orders

    def _give_up(self, task: Task, why: str) -> Receipt:
        text = own_words.write("own.no_message", why=why)[:ERROR_LIMIT]
        op = GiveUp(
            task_id=task.task_id,
            gen=task.gen,
            attempt=task.attempt,
            error=text,
            error_kind=classify.BAD_MESSAGE,
            fingerprint=fingerprint.fingerprint(task.task_type, classify.BAD_MESSAGE, text),
        )
        try:
            (answer,) = self._store.apply([op])
            if answer.code == "ok":
                self._store.mark_executed([task.task_id])
        except StoreError as exc:
            log.warning("%s keeps its outbox mark until the store answers: %s", task.task_id, exc)
            return Receipt(False, "store")
        if answer.released:
            self.send(answer.released)
        return Receipt(True)

    def _report(self, failed: dict[str, Receipt]) -> None:
        if failed:
            first, receipt = next(iter(failed.items()))
            log.warning("%d messages wait in the outbox, first %s: %s", len(failed), first, receipt.error)
