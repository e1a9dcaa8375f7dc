"""Consuming with manual ack: one channel, one consumer per queue, settled in bursts, recovering by itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Container, Iterable, Sequence
from typing import Any

from services.broker import rabbitmq_topology as topology
from services.broker.rabbitmq_connection import Link
from services.broker.rabbitmq_control import Control
from services.broker.rabbitmq_cut import Cut
from services.broker.rabbitmq_ledger import Ledger, Token, Verb
from services.broker.rabbitmq_subscription import Subscription
from services.broker.rabbitmq_wire import Channel
from services.domain.order import Delivery

log = logging.getLogger(__name__)
REST_AFTER, REST_LOOK = 1.0, 0.25  #: seconds: what nobody took for so long goes back; how exactly that is kept
#: seconds: how long the first deliveries of a woken queue are waited for, after its consumer is there and in all
FIRST_WAIT, WAKE_WAIT = 0.02, 0.2


class RabbitConsumer:
    """Deliveries of some queues for one worker; every method of the port may be called from any thread."""

    def __init__(self, link: Link, control: Control, queues: Sequence[str], *, window: int, name: str) -> None:
        self._link = link
        self._cond = threading.Condition()
        self._ledger = Ledger(queues)
        self._arrived: list[tuple[int, Delivery]] = []  #: of this piece of input; I/O thread only
        self._waking = self._paused = self._closed = False
        self._queues = tuple(queues)
        self._resting: set[str] = set()  #: not consumed: their deliveries lay here untaken
        self._woken = False  #: some of them are on their way back
        self._rest_timer: Any = None  #: I/O thread only
        self._left = threading.Event()
        self._number = 0
        self._subscription = Subscription(link, control, queues, self, window=window, name=name)
        link.add(self._subscription)

    # ----------------------------------------------------------------------------------------------- port, any thread
    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def error(self) -> str:
        """Why nothing is consumed, "" while all is well or on its way."""
        return self._subscription.error

    @property
    def ack_lost(self) -> int:
        with self._cond:
            return self._ledger.ack_lost

    def held(self) -> int:
        with self._cond:
            return self._ledger.held

    def take(self, limit: int, timeout: float, plan: Sequence[tuple[str, int]] = ()) -> list[Delivery]:
        quotas = [(topology.lane_queue(lane), most) for lane, most in plan] or [(name, limit) for name in self._queues]
        names = {name for name, _ in quotas}
        with self._cond:
            if self._resting and not self._paused:
                self._wake(limit, quotas)
            self._cond.wait_for(lambda: self._closed or (not self._paused and self._ledger.waiting(names)), timeout)
            return [] if self._paused or self._closed else self._ledger.take(limit, quotas)

    def _wake(self, limit: int, quotas: Sequence[tuple[str, int]]) -> None:
        """Consume again what this take comes to, and wait for it: less urgent messages must not be faster."""
        woken = self._ledger.short(limit, quotas, self._resting)
        if not woken:
            return
        self._resting -= woken
        self._woken = True
        self._link.post(lambda: self._subscription.wake(woken))
        self._cond.wait_for(
            lambda: not self._woken or self._closed or not self._ledger.short(limit, quotas, woken), WAKE_WAIT
        )

    def put_back(self, deliveries: Iterable[Delivery]) -> None:
        with self._cond:
            self._ledger.put_back(list(deliveries))
        self._link.post(self._watch_untaken)

    def ack(self, deliveries: Iterable[Delivery]) -> None:
        self._settle(deliveries, Verb.ACK)

    def requeue(self, deliveries: Iterable[Delivery]) -> None:
        self._settle(deliveries, Verb.BACK)

    def set_window(self, unacked: int) -> None:
        self._link.post(lambda: self._subscription.set_window(max(unacked, 1)))

    def pause(self) -> None:
        with self._cond:
            self._paused = True
        self._link.post(lambda: self._subscription.set_running(False))

    def resume(self) -> None:
        with self._cond:
            self._paused = False
            self._cond.notify_all()
        self._link.post(lambda: self._subscription.set_running(True))

    def close(self) -> None:
        if self.leave():
            self.left(self._link.timing.close)

    def leave(self) -> bool:
        """Begin to close without waiting; tell whether this was the first time."""
        with self._cond:
            if self._closed:
                return False
            self._closed = True
            self._cond.notify_all()
        self._link.post(lambda: self._subscription.leave(self._left))
        return True

    def left(self, timeout: float) -> None:
        """Wait for the end of ``leave``; what is settled from now on is too late."""
        if not self._link.closing:
            self._left.wait(timeout)
        self._link.remove(self._subscription)
        with self._cond:
            self._ledger.begin()

    # ----------------------------------------------------------------------------- the subscription's, I/O thread only
    def on_channel(self, channel: Channel) -> None:
        """Deliveries come from this channel now."""
        self._number = channel.channel_number
        self._arrived.clear()
        with self._cond:
            self._ledger.begin()

    def on_lost(self) -> None:
        """The channel is gone: what it held belongs to the broker again."""
        self._arrived.clear()
        with self._cond:
            self._ledger.begin()

    def on_delivery(self, queue: str, source: int, found: Cut, now: float) -> None:
        tag = found.delivery_tag
        delivery = Delivery(
            token=Token(self._ledger.epoch, self._number, tag, source),
            queue=queue,
            body=found.body,
            routing_key=found.routing_key,
            message_id=found.message_id,
            content_type=found.content_type,
            content_encoding=found.content_encoding,
            headers=found.headers,
            priority=found.priority,
            redelivered=found.redelivered,
            received=now,
        )
        self._arrived.append((tag, delivery))

    def on_data(self) -> None:
        """Hand over what one piece of input brought, with one wake-up."""
        if not self._arrived:
            return
        with self._cond:
            for tag, delivery in self._arrived:
                self._ledger.receive(tag, delivery)
            self._arrived.clear()
            self._cond.notify_all()
        self._watch_untaken()

    def on_settled(self) -> None:
        """All queues that should be consumed are."""
        if self._woken:
            self._link.later(FIRST_WAIT, self._awake)

    def _awake(self) -> None:
        with self._cond:
            self._woken = False
            self._cond.notify_all()

    def _watch_untaken(self) -> None:
        if self._rest_timer is None and not self._closed:
            self._rest_timer = self._link.later(REST_AFTER, self._rest)

    def _rest(self) -> None:
        """What lies here untaken could be started elsewhere, and the more urgent must not wait behind it."""
        self._rest_timer = None
        since = self._link.now() - REST_AFTER
        with self._cond:
            old = self._ledger.untaken(since) - self._resting
            self._resting |= old
            some = self._ledger.ready > 0
        if some and not self._closed:
            self._rest_timer = self._link.later(REST_LOOK, self._rest)
        if old:
            self._subscription.rest(old)

    def give_back(self, keep: Container[int]) -> None:
        """Give back what nobody took, but for what the consumers to ``keep`` delivered; send all that is decided."""
        self.on_data()
        with self._cond:
            self._ledger.give_back(keep)
        self._flush()

    # --------------------------------------------------------------------------------------------------- settling
    def _settle(self, deliveries: Iterable[Delivery], verb: Verb) -> None:
        with self._cond:
            self._ledger.settle(deliveries, verb)
            wake = self._wants_flush()
        if wake:
            self._link.post(self._flush)

    def _wants_flush(self) -> bool:
        """Whether the I/O thread must be woken: once per burst, not once per ack."""
        if self._waking or not self._ledger.decided:
            return False
        self._waking = True
        return True

    def _flush(self) -> None:
        channel = self._subscription.channel
        with self._cond:
            self._waking = False
            plan = self._ledger.plan()
        if channel is None or not channel.is_open or not plan:
            return
        with self._link.connection.corked():
            for item in plan:
                if item.verb is Verb.ACK:
                    channel.basic_ack(item.tag, item.multiple)
                else:
                    channel.basic_nack(item.tag, item.multiple, True)
