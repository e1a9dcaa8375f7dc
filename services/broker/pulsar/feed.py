"""One queue as one consumer sees it: what was asked for, what lies here untaken, what is held."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from services.broker.pulsar import wire
from services.broker.pulsar.link import Link
from services.broker.pulsar.wire import Key
from services.domain.errors import BrokerUnavailable
from services.domain.task.order import Delivery

log = logging.getLogger(__name__)
AGAIN_S = 1.0  #: between two tries to subscribe
BATCH = 100  #: messages that the client keeps by itself where batches are sent


class Feed:
    """Pulsar hands out only what was asked for (a receiver queue of none), so nothing comes that nobody wants.

    What was asked for cannot be taken back, but by leaving the subscription; that gives back what is held too, so it is
    only done while nothing is, or where batches are sent, of which the client keeps some by itself. The owner's lock
    guards every field; ``handle`` is called without it, for the client calls back from its own threads.
    """

    def __init__(self, link: Link, queue: str, name: str, arrived: Callable[[Feed, int, Any, Any], None]) -> None:
        self._link, self.queue, self._name, self._arrived = link, queue, name, arrived
        self.handle: Any = None
        self.generation = 0
        self.asked = 0
        self.ready: deque[tuple[Key, Any, Delivery]] = deque()
        self.held: dict[Key, Any] = {}
        self.wanted = True  #: somebody takes from here; else what comes goes straight back
        self.turned = False  #: had a message for which there was no seat
        self._next_try = float("-inf")
        self.batches = False  #: other programs send batches here, and the subscription cannot take them apart yet
        self._receive = 0

    @property
    def unsettled(self) -> int:
        """Deliveries that are here, taken or not."""
        return len(self.held) + len(self.ready)

    def open(self, now: float) -> bool:
        """Subscribe, if that is to be tried now; whether there is a subscription. Blocking, without the lock."""
        if self.handle is not None:
            return True
        if now < self._next_try:
            return False
        self.handle = self.renewed()
        if self.handle is None:
            self._next_try = now + AGAIN_S
        return self.handle is not None

    def lost(self) -> bool:
        """Whether its connection is lost; the client itself waits up to a minute before it tries again."""
        handle = self.handle
        return handle is not None and not handle.is_connected()

    def renewed(self) -> Any:
        """A subscription to go on with by ``adopt``, None while there is none. Blocking, without the lock."""
        try:
            return self._link.subscribe(self.queue, self._name, receive=self._receive)
        except BrokerUnavailable as exc:
            log.debug("%s cannot be consumed now: %s", self.queue, exc)
            return None

    def adopt(self, handle: Any) -> Any:
        """Go on with another subscription, which settles what is held; what lay here comes again. The old one is to be
        closed. With the lock.
        """
        old = self.forget()
        self.handle = handle
        return old

    def ask(self, handle: Any, generation: int, count: int) -> None:
        """Let so many more come; ``asked`` counts them already. Without the lock, so with what the handle and the
        generation were while it was held.
        """
        for _ in range(count):
            # the public consumer waits for a message; only what is under it calls back
            handle._consumer.receive_async(  # noqa: SLF001
                lambda result, message: self._arrived(self, generation, result, message)
            )

    def in_batches(self, message: Any) -> bool:
        """Whether this came in a batch, of which the client drops what was not asked for one by one. Then the
        subscription must be renewed, with a queue of the client's own that keeps a batch; all of it comes again.
        """
        if not self._receive and message.message_id().batch_index() >= 0:
            self.batches, self._receive = True, BATCH
        return self.batches

    def note(self, message: Any, now: float) -> bool:
        """Keep what came; False where it is here already, as after a lost connection. With the lock."""
        key = wire.key_of(message)
        if key in self.held:
            self.held[key] = message  # its holder settles the newer one
            return False
        if any(key == known for known, _, _ in self.ready):
            return False
        self.ready.append((key, message, wire.delivery(self.queue, key, message, now)))
        return True

    def pick(self) -> Delivery:
        """The next one, held from now on. With the lock."""
        key, message, delivery = self.ready.popleft()
        self.held[key] = message
        return delivery

    def put_back(self, deliveries: list[Delivery], now: float) -> None:
        """What was taken lies here again, in front. With the lock."""
        for message in sorted(map(self.let_go, deliveries), key=wire.key_of, reverse=True):
            key = wire.key_of(message)
            self.ready.appendleft((key, message, wire.delivery(self.queue, key, message, now)))

    def let_go(self, delivery: Delivery) -> Any:
        """The message of a delivery that was held, None where it was settled before. With the lock."""
        token = delivery.token
        return self.held.pop(token, None) if isinstance(token, tuple) else None

    @property
    def bound(self) -> bool:
        """Whether it must not leave now, for that would give back what is held, too."""
        return bool(self.held) and not self._receive

    def give_up(self) -> list[Any]:
        """What lies here untaken, to be given back by ``refuse``. With the lock."""
        messages = [message for _, message, _ in self.ready]
        self.ready.clear()
        return messages

    def refuse(self, messages: list[Any]) -> None:
        """Give messages back to the broker. Without the lock."""
        handle = self.handle
        for message in messages if handle is not None else ():
            handle.negative_acknowledge(message)

    def settle(self, message: Any) -> bool:
        """Acknowledge; False where the client will not take it. Without the lock."""
        handle = self.handle
        if handle is None:
            return False
        try:
            handle.acknowledge(message)
        except self._link.pulsar.PulsarException as exc:
            log.warning("a message of %s comes back, it could not be acknowledged: %s", self.queue, exc)
            return False
        return True

    def forget(self) -> Any:
        """Leave the subscription as soon as ``close_handle`` is called with what this returns. With the lock."""
        handle, self.handle = self.handle, None
        self.generation += 1
        self.asked = 0
        self.ready.clear()
        self.batches = False
        return handle

    def close_handle(self, handle: Any) -> None:
        """Without the lock."""
        if handle is None:
            return
        try:
            handle.close()
        except self._link.pulsar.PulsarException as exc:
            log.debug("%s was left without a word: %s", self.queue, exc)
