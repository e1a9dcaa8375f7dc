"""A consumer of lanes, and of queues of single shops in turns."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from services.broker.pulsar import wire
from services.broker.pulsar.link import Link
from services.broker.pulsar.wire import Key
from services.domain.errors import BrokerUnavailable
from services.domain.task import lane
from services.domain.task.order import Delivery
from services.ports import Clock

#: what nobody takes for so long goes back to its queue
UNTAKEN_S = 1.0
#: a waiting take looks this often whether something more can be asked for
LOOK_S = 0.2
log = logging.getLogger(__name__)
AGAIN_S = 1.0  #: between two tries to subscribe
BATCH = 100  #: messages that the client keeps by itself where batches are sent


class PulsarConsumer:
    """``services.ports.Consumer``. ``tick`` is called a few times a second by the broker's own thread."""

    def __init__(self, link: Link, clock: Clock, queues: Sequence[str], *, window: int, name: str) -> None:
        self._link, self._clock, self._name = link, clock, name
        self._state = threading.Condition()
        self._opening = threading.Lock()
        self._lanes = {queue: Feed(link, queue, name, self._arrived) for queue in queues}
        self._shops: dict[str, Feed] = {}  #: who had the last turn at the end
        self._leaving: list[Feed] = []  #: not served any more, until what is held of them is settled
        self._seats, self._window = 0, max(1, window)
        self._paused = self._closed = False
        self._lost = 0
        self._fill()

    # ---------------------------------------------------------------------------------------------------- taking
    def take(self, limit: int, timeout: float, plan: Sequence[tuple[str, int]] = ()) -> list[Delivery]:
        deadline = self._clock.monotonic() + timeout
        quotas = [(lane.LANE_QUEUE + name if name in lane.LANES else name, most) for name, most in plan]
        quotas = quotas or [(queue, limit) for queue in self._lanes]
        with self._state:
            for queue, most in quotas:
                if queue in self._lanes and most > 0:
                    self._lanes[queue].wanted = True
            for feed in self._shops.values():
                feed.wanted = True
        while True:
            self._fill()
            with self._state:
                found = [] if self._paused or self._closed else self._pick(limit, quotas)
                left = deadline - self._clock.monotonic()
                if not found and left > 0 and not self._closed:
                    self._state.wait(min(LOOK_S, left))
                    found = [] if self._paused or self._closed else self._pick(limit, quotas)
            if found:
                self._fill()
            if found or self._closed or self._clock.monotonic() >= deadline:
                return found

    def _pick(self, limit: int, quotas: Sequence[tuple[str, int]]) -> list[Delivery]:
        found: list[Delivery] = []
        for queue, most in quotas:
            left = min(most, limit - len(found))
            feed = self._lanes.get(queue)
            place = lane.place_of(queue, None)
            for shop in list(self._shops.values()):
                if left > 0 and shop.ready and lane.place_of(shop.queue, shop.ready[0][2].priority) == place:
                    found.append(shop.pick())
                    self._shops[shop.queue] = self._shops.pop(shop.queue)
                    left -= 1
            while feed is not None and feed.ready and left > 0:
                found.append(feed.pick())
                left -= 1
        return found

    # ---------------------------------------------------------------------------------------------------- asking
    def _fill(self) -> None:
        """Ask for what may come; one thread at a time, for subscribing may block."""
        if not self._link.up or not self._opening.acquire(blocking=False):
            return
        try:
            for feed in [feed for feed in self._feeds() if feed.batches]:
                self._renew(feed)
            for feed, count in self._wanted():
                if feed.open(self._clock.monotonic()):
                    self._ask(feed, count)
        finally:
            self._opening.release()

    def _ask(self, feed: Feed, count: int) -> None:
        with self._state:
            # which may have come about while it subscribed
            gone = self._closed or self._lanes.get(feed.queue, self._shops.get(feed.queue)) is not feed
            handle, generation = (feed.forget() if gone else feed.handle), feed.generation
            wanted = not gone and feed.wanted and handle is not None
            if wanted:
                feed.asked += count
        if wanted:
            feed.ask(handle, generation, count)
        elif gone:
            feed.close_handle(handle)

    def _wanted(self) -> list[tuple[Feed, int]]:
        with self._state:
            if self._paused or self._closed:
                return []
            wanted = [
                (feed, self._window - feed.unsettled - feed.asked) for feed in self._lanes.values() if feed.wanted
            ]
            free = self._seats - sum(bool(feed.unsettled) for feed in self._shops.values())
            for feed in self._shops.values() if free > 0 else ():
                if feed.unsettled or feed.asked or not feed.wanted:
                    continue
                if feed.turned:  # it has something: no more of these than there are seats
                    if free <= 0:
                        continue
                    free, feed.turned = free - 1, False
                wanted.append((feed, 1))
            return [(feed, count) for feed, count in wanted if count > 0]

    def _arrived(self, feed: Feed, generation: int, result: Any, message: Any) -> None:
        """The client has something, or gives a question up; in a thread of the client."""
        with self._state:
            if generation != feed.generation:
                return
            feed.asked = max(0, feed.asked - 1)
            if result != self._link.pulsar.Result.Ok:
                return
            if feed.in_batches(message):
                back = []
            elif self._refuses(feed):
                feed.turned = True
                back = [message]
            else:
                feed.note(message, self._clock.monotonic())
                back = []
            self._state.notify_all()
        feed.refuse(back)

    def _refuses(self, feed: Feed) -> bool:
        if self._paused or self._closed or not feed.wanted:
            return True
        if feed.queue in self._lanes:
            return False
        taken = sum(bool(one.unsettled) for one in self._shops.values() if one is not feed)
        return feed.queue not in self._shops or taken >= self._seats

    def tick(self) -> None:
        """Give back what nobody took in time, and ask no more for it until somebody comes."""
        now = self._clock.monotonic()
        with self._state:
            late = [] if self._closed else [feed for feed in self._feeds() if _lies(feed, now)]
            done = [feed for feed in self._leaving if not feed.unacked]
            self._leaving = [feed for feed in self._leaving if feed.unacked]
        self._rest([*late, *done])

    def renew(self) -> None:
        """After the broker was away: subscribe anew where the client has not done so yet."""
        with self._state:
            lost = [] if self._closed else [feed for feed in self._feeds() if feed.lost()]
        for feed in lost:
            self._renew(feed)

    def _renew(self, feed: Feed) -> None:
        handle = feed.renewed()
        if handle is None:
            return
        with self._state:
            old = handle if self._closed else feed.adopt(handle)
        feed.close_handle(old)

    def _rest(self, feeds: Iterable[Feed]) -> None:
        """Nothing of these comes here any more; what nobody took goes back."""
        with self._state:
            back, left = [], []
            for feed in feeds:
                feed.wanted = False
                if feed.bound:
                    back.append((feed, feed.give_up()))
                else:
                    left.append((feed, feed.forget()))
        for feed, messages in back:
            feed.refuse(messages)
        for feed, handle in left:
            feed.close_handle(handle)

    def _feeds(self) -> list[Feed]:
        return [*self._lanes.values(), *self._shops.values(), *self._leaving]

    # -------------------------------------------------------------------------------------------------- settling
    def ack(self, deliveries: Iterable[Delivery]) -> None:
        """Settle as done."""
        for feed, message, _ in self._settled(deliveries):
            if not feed.settle(message):
                self._lost += 1

    def requeue(self, deliveries: Iterable[Delivery]) -> None:
        """Give back; it comes again a tenth of a second later."""
        for feed, message, _ in self._settled(deliveries):
            feed.refuse([message])

    def put_back(self, deliveries: Iterable[Delivery]) -> None:
        """As if they had not been taken."""
        now = self._clock.monotonic()
        with self._state:
            for feed in self._feeds():
                feed.put_back([one for one in deliveries if one.queue == feed.queue and one.token in feed.unacked], now)
            self._state.notify_all()

    def _settled(self, deliveries: Iterable[Delivery]) -> list[tuple[Feed, Any, Delivery]]:
        found = []
        with self._state:
            feeds = {feed.queue: feed for feed in self._feeds()}
            for one in deliveries:
                feed = feeds.get(one.queue)
                message = feed.let_go(one) if feed is not None else None
                if feed is not None and message is not None:
                    found.append((feed, message, one))
            self._state.notify_all()
        return found

    # ----------------------------------------------------------------------------------------------------- state
    @property
    def closed(self) -> bool:
        """Whether it has left."""
        return self._closed

    @property
    def ack_lost(self) -> int:
        """Deliveries that could not be settled."""
        return self._lost

    def unacked(self) -> int:
        """Deliveries received and not settled, taken or not."""
        with self._state:
            return sum(feed.unsettled for feed in self._feeds())

    def untouched(self) -> Mapping[str, int]:
        """Of those the ones that nobody has taken, by queue."""
        with self._state:
            return {feed.queue: len(feed.ready) for feed in self._feeds() if feed.ready}

    def set_window(self, unacked: int) -> None:
        """Hold at most so many of a queue."""
        with self._state:
            self._window = max(1, unacked)
            self._state.notify_all()
        self._fill()

    def serve(self, shops: Sequence[str], seats: int) -> None:
        """Take from the dedicated queues of these shops too."""
        queues = dict.fromkeys(map(lane.shop_queue, shops))
        with self._state:
            if self._closed:
                return
            gone = [feed for queue, feed in self._shops.items() if queue not in queues]
            kept = {queue: feed for queue, feed in self._shops.items() if queue in queues}
            fresh = {queue: Feed(self._link, queue, self._name, self._arrived) for queue in queues if queue not in kept}
            self._shops, self._seats = fresh | kept, max(1, seats)
            self._leaving += [feed for feed in gone if feed.unacked]
            self._state.notify_all()
        self._rest(gone)
        self._fill()

    def pause(self) -> None:
        """Take nothing more; what nobody took goes back."""
        with self._state:
            self._paused = True
            feeds = self._feeds()
        self._rest(feeds)

    def resume(self) -> None:
        """Take again."""
        with self._state:
            self._paused = False
            for feed in (*self._lanes.values(), *self._shops.values()):
                feed.wanted = True
            self._state.notify_all()
        self._fill()

    def close(self) -> None:
        """Give back what is unsettled, and leave."""
        with self._state:
            if self._closed:
                return
            self._closed = True
            left = [(feed, feed.forget()) for feed in self._feeds()]
            for feed, _ in left:
                feed.unacked.clear()
                feed.ready.clear()
            self._state.notify_all()
        for feed, handle in left:
            feed.close_handle(handle)


def _lies(feed: Feed, now: float) -> bool:
    """Whether something of it waits here for longer than it may."""
    return bool(feed.ready) and now - feed.ready[0][2].received >= UNTAKEN_S


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
        self.unacked: dict[Key, Any] = {}
        self.wanted = True  #: somebody takes from here; else what comes goes straight back
        self.turned = False  #: had a message for which there was no seat
        self._next_try = float("-inf")
        self.batches = False  #: other programs send batches here, and the subscription cannot take them apart yet
        self._receive = 0

    @property
    def unsettled(self) -> int:
        """Deliveries that are here, taken or not."""
        return len(self.unacked) + len(self.ready)

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
        if key in self.unacked:
            self.unacked[key] = message  # its holder settles the newer one
            return False
        if any(key == known for known, _, _ in self.ready):
            return False
        self.ready.append((key, message, wire.delivery(self.queue, key, message, now)))
        return True

    def pick(self) -> Delivery:
        """The next one, held from now on. With the lock."""
        key, message, delivery = self.ready.popleft()
        self.unacked[key] = message
        return delivery

    def put_back(self, deliveries: list[Delivery], now: float) -> None:
        """What was taken lies here again, in front. With the lock."""
        for message in sorted(map(self.let_go, deliveries), key=wire.key_of, reverse=True):
            key = wire.key_of(message)
            self.ready.appendleft((key, message, wire.delivery(self.queue, key, message, now)))

    def let_go(self, delivery: Delivery) -> Any:
        """The message of a delivery that was held, None where it was settled before. With the lock."""
        token = delivery.token
        return self.unacked.pop(token, None) if isinstance(token, tuple) else None

    @property
    def bound(self) -> bool:
        """Whether it must not leave now, for that would give back what is held, too."""
        return bool(self.unacked) and not self._receive

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
