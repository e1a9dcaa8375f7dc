"""From record to broker: the messages of records, published in batches."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from services.domain.errors import BrokerUnavailable, StoreError
from services.domain.task import envelope
from services.domain.task.order import Delivery, Order, Receipt
from services.domain.task.record import Task
from services.domain.task.status import LETTER, message_of
from services.engine.lead.letters_out import LettersOut, mark_of, mark_of_bytes
from services.ports import Broker, Store

log = logging.getLogger(__name__)
#: how long a message waits at least that cannot be judged now
PARKED_S = 15
AWAY = "disconnected"


class Sent(NamedTuple):
    """What became of a batch."""

    receipts: Mapping[str, Receipt]  #: by task, of those that have a message
    unfit: Mapping[str, str]  #: by task, why no message can be made of it


class Dispatcher:
    """Only ``engine.steps`` sends by it: whoever publishes must clear the outbox mark too."""

    def __init__(self, store: Store, broker: Broker, delays: Sequence[int]) -> None:
        self._store, self._broker, self._delays = store, broker, tuple(delays)
        self._letters = LettersOut(store) if broker.capabilities.dead_log else None
        self._platforms: frozenset[str] = frozenset()
        self.away = False  #: the broker has not answered whoever works by this, and is not tried again

    @property
    def longest_delay_s(self) -> int:
        """How long a message can be on its way through a delay queue."""
        return max(self._delays, default=0)

    def know(self, platforms: Iterable[str]) -> None:
        """Bind the dead letters of these platforms, before the first of their tasks can be given up by anybody."""
        unknown = frozenset(platforms) - self._platforms
        if not unknown or self.away:
            return
        try:
            self._broker.ensure(platforms=unknown)
        except BrokerUnavailable as exc:
            # the record and its outbox mark do not need the broker; the reconciler publishes when it is back
            log.warning("dead-letter bindings of %s wait for the broker: %s", ", ".join(sorted(unknown)), exc)
            return
        self._platforms |= unknown

    def send(self, tasks: Sequence[Task], now_ms: int) -> Sent:
        """Publish the messages of these records, each of which has one; raises nothing. The outbox mark is the
        caller's: see ``Steps.publish``.
        """
        if self.away:
            return Sent({task.task_id: Receipt(False, AWAY) for task in tasks}, {})
        unfit: dict[str, str] = {}
        orders = self._orders(tasks, now_ms, unfit)
        return Sent(self._publish({task.task_id: task for task in tasks}, orders), unfit)

    def bury(self, order: Order) -> Receipt:
        """Publish a letter that belongs to no record; raises nothing."""
        mark = mark_of_bytes(order)
        return self._bury({mark: order})[mark]

    def park(self, delivery: Delivery, platform: str, marks: Mapping[str, int]) -> Receipt:
        """Publish the message of a delivery once more, to come back to its lane after a while; raises nothing. Refused
        by a broker that holds nothing back.

        ``marks``: headers to put on it.
        """
        if not self._broker.capabilities.delay:
            return Receipt(False, "refused: this broker holds no message back")
        kept = {name: value for name, value in delivery.headers.items() if isinstance(value, str | int)}
        enough = [level for level in self._delays if level >= PARKED_S]
        order = Order(
            kind="delay",
            routing_key=delivery.routing_key,
            body=delivery.body,
            message_id=delivery.message_id,
            priority=5 if delivery.priority is None else delivery.priority,
            delay_s=min(enough, default=self.longest_delay_s),
            headers={**kept, **marks},
            platform=platform,
        )
        return self._broker.publish([order])[0]

    def _publish(self, tasks: Mapping[str, Task], orders: dict[str, Order]) -> dict[str, Receipt]:
        dead = {name: mark_of(tasks[name]) for name in orders if message_of(tasks[name].status) == LETTER}
        kept = set() if self._broker.capabilities.delay else {name for name, one in orders.items() if one.delay_s}
        others = {name: order for name, order in orders.items() if name not in dead and name not in kept}
        receipts = dict(zip(others, self._broker.publish(list(others.values())), strict=True)) if others else {}
        letters = self._bury({mark: orders[name] for name, mark in dead.items()}) if dead else {}
        # what the broker cannot hold back needs no message before it is due: the reconciler sends it then
        waiting = dict.fromkeys(kept, Receipt(True))
        return receipts | waiting | {name: letters[mark] for name, mark in dead.items()}

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

    def _orders(self, tasks: Sequence[Task], now: int, unfit: dict[str, str]) -> dict[str, Order]:
        """The messages by task; why there is none is noted in ``unfit``."""
        orders: dict[str, Order] = {}
        for task in tasks:
            try:
                orders[task.task_id] = envelope.order_for(task, now, self._delays)
            except Exception as exc:  # whatever a record holds, it must not keep back the others
                log.exception("no message can be made of %s", task.task_id)
                unfit[task.task_id] = f"{type(exc).__name__}: {exc}"
        return orders
