"""Sends orders and waits until the broker has each of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from services.broker.pulsar import wire
from services.broker.pulsar.link import SEND_MS, Link
from services.domain.errors import BrokerUnavailable
from services.domain.task.order import Order, Receipt
from services.ports import Clock

#: so many are under way at once
WINDOW = 1_000
GONE, LATE = Receipt(False, "disconnected"), Receipt(False, "timeout")
#: how the client calls what is no fault of the message; the rest is a refusal
_ERRORS = {
    "Timeout": LATE,
    "ProducerQueueIsFull": Receipt(False, "blocked"),
    "ProducerBlockedQuotaExceededError": Receipt(False, "blocked"),
    "ProducerBlockedQuotaExceededException": Receipt(False, "blocked"),
    "MemoryBufferIsFull": Receipt(False, "blocked"),
    "AlreadyClosed": GONE,
    "NotConnected": GONE,
    "Disconnected": GONE,
    "ConnectError": GONE,
    "Retryable": GONE,
}


class _Batch:
    """Receipts that are awaited."""

    def __init__(self, count: int) -> None:
        self.receipts: list[Receipt] = [LATE] * count
        self._left = count
        self._state = threading.Condition()

    def answer(self, place: int, receipt: Receipt) -> None:
        with self._state:
            self.receipts[place] = receipt
            self._left -= 1
            if not self._left:
                self._state.notify_all()

    def wait(self, seconds: float) -> None:
        with self._state:
            self._state.wait_for(lambda: not self._left, seconds)


class Publisher:
    """Any thread may publish; a queue's messages keep the order in which one caller gave them."""

    def __init__(self, link: Link, clock: Clock) -> None:
        self._link, self._clock = link, clock
        self._lock = threading.Lock()
        self._producers: dict[str, Any] = {}
        self._known: set[str] = set()

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """One receipt each in their order; raises nothing."""
        receipts: list[Receipt] = []
        for start in range(0, len(orders), WINDOW):
            part = orders[start : start + WINDOW]
            batch = _Batch(len(part))
            for place, order in enumerate(part):
                self._send(order, batch, place)
            batch.wait(SEND_MS / 1000 + 5.0)
            receipts += batch.receipts
        return receipts

    def _send(self, order: Order, batch: _Batch, place: int) -> None:
        queue = wire.queue_of(order)
        if not queue:
            batch.answer(place, Receipt(False, "unroutable"))
            return
        if not self._link.up:  # waiting for each would hold everybody up; the outbox has it
            batch.answer(place, GONE)
            return
        delay = timedelta(seconds=order.delay_s) if self._link.address.delays and order.delay_s else None
        try:
            self._producer(queue).send_async(
                order.body,
                partial(self._sent, batch, place),
                properties=wire.properties(order),
                partition_key=order.message_id or None,
                deliver_after=delay,
            )
        except BrokerUnavailable:
            batch.answer(place, GONE)
        except (self._link.pulsar.PulsarException, ValueError, TypeError) as exc:  # one must not keep back the others
            batch.answer(place, _receipt(type(exc).__name__))

    def _sent(self, batch: _Batch, place: int, result: Any, _message: Any) -> None:
        ok = result == self._link.pulsar.Result.Ok
        batch.answer(place, Receipt(True) if ok else _receipt(result.name))

    def _producer(self, queue: str) -> Any:
        with self._lock:
            found = self._producers.get(queue)
            if found is not None and not found.is_connected():  # left to itself it waits up to a minute
                self._producers.pop(queue).close()
                found = None
            if found is None:
                self.declare(queue)
                found = self._producers[queue] = self._link.producer(queue)
            return found

    def declare(self, queue: str) -> None:
        """See that what is sent there is kept: Pulsar drops what no subscription waits for. Results are for others,
        who bring subscriptions of their own.

        Raises:
            BrokerUnavailable: the broker does not answer.
        """
        if queue in self._known or queue == wire.RESULTS:
            return
        self._link.subscribe(queue, "").close()
        self._known.add(queue)


def _receipt(error: str) -> Receipt:
    """What an error of the client means for the message."""
    return _ERRORS.get(error, Receipt(False, f"refused: {error}"))
