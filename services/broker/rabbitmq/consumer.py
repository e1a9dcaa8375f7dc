"""Consuming with manual ack: lanes on one channel, the queues of single shops on another, recovering by itself.

What one channel of a consumer has brought: deliveries on their way to whoever takes them, and their settlement.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from services.broker.rabbitmq import given_up, topology
from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.control import Control
from services.broker.rabbitmq.cut import Cut
from services.broker.rabbitmq.ledger import Ledger, Token, Verb
from services.broker.rabbitmq.rota import Rota
from services.broker.rabbitmq.subscription import Subscription
from services.broker.rabbitmq.wire import Channel
from services.domain.task import lane as lanes
from services.domain.task.order import Delivery


class DeliveryChannel:
    """Guarded by the consumer's condition, which is notified when something arrives."""

    def __init__(self, link: Link, cond: threading.Condition, queues: Sequence[str], *, named: bool = False) -> None:
        """``named``: keep in mind which queues have unsettled deliveries (see ``busy``)."""
        self._link, self._cond = link, cond
        self.ledger = Ledger(queues, named=named)
        self._arrived: list[tuple[int, Delivery]] = []  #: of this piece of input; I/O thread only
        self._channel: Channel | None = None
        self._waking = False
        self._number = 0

    # ------------------------------------------------------------------------------------------------- any thread
    def settle(self, deliveries: Iterable[Delivery], verb: Verb) -> None:
        """Decide about deliveries; what is decided leaves soon."""
        with self._cond:
            self.ledger.settle(deliveries, verb)
            wake = self._wants_flush()
        if wake:
            self._link.post(self._flush)

    def unacked(self) -> int:
        """Deliveries received and not settled."""
        with self._cond:
            return self.ledger.unacked

    def untaken(self, since: float) -> set[str]:
        """Queues whose first delivery came before that instant and was not taken."""
        with self._cond:
            return self.ledger.untaken(since)

    # ----------------------------------------------------------------------------- the subscription's, I/O thread only
    def on_channel(self, channel: Channel) -> None:
        """Deliveries come from this channel now."""
        self._channel, self._number = channel, channel.channel_number
        self._begin()

    def on_lost(self) -> None:
        """The channel is gone: what it held belongs to the broker again."""
        self._channel = None
        self._begin()

    def on_delivery(self, queue: str, source: int, found: Cut, now: float) -> None:
        tag = found.delivery_tag
        delivery = Delivery(
            token=Token(self.ledger.epoch, self._number, tag, source),
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
            given_up=given_up.read(found.headers),
        )
        self._arrived.append((tag, delivery))

    def on_data(self) -> None:
        """Hand over what one piece of input brought, with one wake-up."""
        if not self._arrived:
            return
        with self._cond:
            for tag, delivery in self._arrived:
                self.ledger.receive(tag, delivery)
            self._arrived.clear()
            self._cond.notify_all()

    def busy(self) -> set[str]:
        """Queues with unsettled deliveries; what came in the same piece of input as the question's reason counts."""
        self.on_data()
        with self._cond:
            return self.ledger.busy()

    def on_settled(self) -> None:
        """All queues that should be consumed are."""

    def give_back(self, keep: Container[int]) -> None:
        """Give back what nobody took, but for what the consumers to ``keep`` delivered; send all that is decided."""
        self.on_data()
        with self._cond:
            self.ledger.give_back(keep)
        self._flush()

    # ---------------------------------------------------------------------------------------------------- helpers
    def _begin(self) -> None:
        self._arrived.clear()
        with self._cond:
            self.ledger.begin()

    def _wants_flush(self) -> bool:
        """Whether the I/O thread must be woken: once per burst, not once per ack."""
        if self._waking or not self.ledger.decided:
            return False
        self._waking = True
        return True

    def _flush(self) -> None:
        channel = self._channel
        with self._cond:
            self._waking = False
            plan = self.ledger.plan()
        if channel is None or not channel.is_open or not plan:
            return
        with self._link.connection.corked():
            for item in plan:
                if item.verb is Verb.ACK:
                    channel.basic_ack(item.tag, item.multiple)
                else:
                    channel.basic_nack(item.tag, item.multiple, True)


REST_AFTER, REST_LOOK = 1.0, 0.25  #: seconds: what nobody took for so long goes back; how exactly that is kept
#: seconds: how long the first deliveries of a woken queue are waited for, after its consumer is there and in all
FIRST_WAIT, WAKE_WAIT = 0.02, 0.2


class RabbitConsumer(DeliveryChannel):
    """Deliveries of some queues for one worker; every method of the port may be called from any thread.

    The queues of single shops have a channel of their own: a fault of one of them does not close that of the lanes.
    """

    def __init__(
        self, link: Link, control: Control, queues: Sequence[str], *, window: int, name: str, offset: str = ""
    ) -> None:
        """``offset``: where to begin in a stream (``first``), "" for queues."""
        super().__init__(link, threading.Condition(), queues)
        self._control, self._name = control, name
        self._paused = self._closed = False
        self._queues = tuple(queues)
        self._resting: set[str] = set()  #: not consumed: their deliveries lay here untaken
        self._woken = False  #: some of them are on their way back
        self._rest_timer: Any = None  #: I/O thread only
        self._left: list[threading.Event] = []
        self._subscription = Subscription(link, control, queues, self, window=window, name=name, offset=offset)
        self._shops = DeliveryChannel(link, self._cond, (), named=True)
        self._rota: Rota | None = None
        link.add(self._subscription)

    # ----------------------------------------------------------------------------------------------- port, any thread
    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def error(self) -> str:
        """Why nothing is consumed, "" while all is well or on its way."""
        return self._subscription.error or (self._rota.error if self._rota is not None else "")

    @property
    def refused(self) -> tuple[str, ...]:
        """Queues that this user may not take from."""
        return self._subscription.refused

    @property
    def ack_lost(self) -> int:
        with self._cond:
            return self.ledger.ack_lost + self._shops.ledger.ack_lost

    def unacked(self) -> int:
        with self._cond:
            return self.ledger.unacked + self._shops.ledger.unacked

    def untouched(self) -> Mapping[str, int]:
        with self._cond:
            return {**self.ledger.untouched(), **self._shops.ledger.untouched()}

    def take(self, limit: int, timeout: float, plan: Sequence[tuple[str, int]] = ()) -> list[Delivery]:
        quotas = [(topology.lane_queue(lane), most) for lane, most in plan] or [(name, limit) for name in self._queues]
        names = {name for name, _ in quotas}
        with self._cond:
            if self._resting and not self._paused:
                self._wake(limit, quotas)
            self._cond.wait_for(lambda: self._closed or (not self._paused and self._anything(names)), timeout)
            if self._paused or self._closed:
                return []
            return self._pick(limit, quotas) if self._shops.ledger.ready else self.ledger.take(limit, quotas)

    def _anything(self, names: set[str]) -> bool:
        """Whether one of these queues has a delivery, or a shop's queue has one of their lanes."""
        if self.ledger.waiting(names):
            return True
        fronts = self._shops.ledger.fronts() if self._rota is not None else ()
        return bool(fronts) and not {_place(one) for one in fronts}.isdisjoint(map(_place_of_queue, names))

    def _pick(self, limit: int, quotas: Sequence[tuple[str, int]]) -> list[Delivery]:
        """In the order of the plan; what comes from a shop's queue stands in the lane of its priority, by arrival."""
        shops = self._shops.ledger
        taken: list[Delivery] = []
        for name, most in quotas:
            place = _place_of_queue(name)
            while most > 0 and len(taken) < limit:
                of_lane = self.ledger.front(name)
                mine = [one for one in shops.fronts() if _place(one) == place]
                of_shop = min(mine, key=lambda one: one.received, default=None)
                if of_shop is not None and (of_lane is None or of_shop.received < of_lane.received):
                    taken.append(shops.pop(of_shop.queue))
                elif of_lane is not None:
                    taken.append(self.ledger.pop(name))
                else:
                    break
                most -= 1
        return taken

    def _wake(self, limit: int, quotas: Sequence[tuple[str, int]]) -> None:
        """Consume again what this take comes to, and wait for it: less urgent messages must not be faster."""
        woken = self.ledger.short(limit, quotas, self._resting)
        if not woken:
            return
        self._resting -= woken
        self._woken = True
        self._link.post(lambda: self._subscription.wake(woken))
        self._cond.wait_for(
            lambda: not self._woken or self._closed or not self.ledger.short(limit, quotas, woken), WAKE_WAIT
        )

    def put_back(self, deliveries: Iterable[Delivery]) -> None:
        of_lanes, of_shops = _apart(deliveries)
        with self._cond:
            self.ledger.put_back(of_lanes)
            self._shops.ledger.put_back(of_shops)
        self._link.post(self._watch_untaken)

    def ack(self, deliveries: Iterable[Delivery]) -> None:
        self._settle(deliveries, Verb.ACK)

    def requeue(self, deliveries: Iterable[Delivery]) -> None:
        self._settle(deliveries, Verb.BACK)

    def _settle(self, deliveries: Iterable[Delivery], verb: Verb) -> None:
        if self._rota is None:
            self.settle(deliveries, verb)
            return
        of_lanes, of_shops = _apart(deliveries)
        self.settle(of_lanes, verb)
        if of_shops:
            self._shops.settle(of_shops, verb)
            self._link.post(self._rota.look)

    def set_window(self, unacked: int) -> None:
        self._link.post(lambda: self._subscription.set_window(max(unacked, 1)))

    def serve(self, shops: Sequence[str], seats: int) -> None:
        rota = self._rota
        if rota is None:
            if not shops or self._closed:
                return
            rota = self._rota = Rota(self._link, self._control, self._shops, name=self._name)
            self._link.post(functools.partial(rota.set_running, not self._paused))
            self._link.add(rota)
        self._link.post(functools.partial(rota.serve, tuple(map(lanes.shop_queue, shops)), max(seats, 1)))

    def pause(self) -> None:
        with self._cond:
            self._paused = True
        self._run(running=False)

    def resume(self) -> None:
        with self._cond:
            self._paused = False
            self._cond.notify_all()
        self._run(running=True)

    def _run(self, *, running: bool) -> None:
        for part in self._parts():
            self._link.post(functools.partial(part.set_running, running))

    def _parts(self) -> list[Subscription | Rota]:
        return [self._subscription, *([self._rota] if self._rota is not None else [])]

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
        for part in self._parts():
            self._left.append(threading.Event())
            self._link.post(functools.partial(part.leave, self._left[-1]))
        return True

    def left(self, timeout: float) -> None:
        """Wait for the end of ``leave``; what is settled from now on is too late."""
        for event in () if self._link.closing else self._left:
            event.wait(timeout)
        for part in self._parts():
            self._link.remove(part)
        with self._cond:
            self.ledger.begin()
            self._shops.ledger.begin()

    # ----------------------------------------------------------------------------- the subscription's, I/O thread only
    def on_data(self) -> None:
        """Hand over what one piece of input brought, with one wake-up."""
        if self._arrived:
            super().on_data()
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
            old = self.ledger.untaken(since) - self._resting
            self._resting |= old
            some = self.ledger.ready > 0
        if some and not self._closed:
            self._rest_timer = self._link.later(REST_LOOK, self._rest)
        if old:
            self._subscription.rest(old)


def _apart(deliveries: Iterable[Delivery]) -> tuple[list[Delivery], list[Delivery]]:
    """What came from lanes, and what came from the queues of single shops."""
    of_lanes: list[Delivery] = []
    of_shops: list[Delivery] = []
    for one in deliveries:
        (of_shops if lanes.is_shop_queue(one.queue) else of_lanes).append(one)
    return of_lanes, of_shops


def _place(delivery: Delivery) -> int:
    return lanes.place_of(delivery.queue, delivery.priority)


def _place_of_queue(queue: str) -> int:
    return lanes.place_of(queue, None)
