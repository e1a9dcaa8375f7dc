"""Publishing with confirms: all threads share one window, every order gets its own answer, nothing waits for ever.

One call of publish: its orders, each with the place for its answer.
"""

from __future__ import annotations

import logging
import struct
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pika import exceptions, frame, spec

from services.broker.rabbitmq import topology
from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.errors import ACCESS_REFUSED, NOT_FOUND, ChannelLost
from services.broker.rabbitmq.given_up import STRIPPED_HEADERS
from services.broker.rabbitmq.timing import NUDGE
from services.broker.rabbitmq.wire import Channel
from services.domain.task.order import Order, Receipt
from services.ports import Clock

OK = Receipt(True)
UNKNOWN = Receipt(False, "timeout")  #: sent, and nobody knows who took it
PERSISTENT, MAX_AMQP_PRIORITY = 2, 255
CHANNEL = 1  #: the publisher's channel, the only one of its connection
#: what pika's encoder raises on values that do not fit
UNFIT = (ValueError, TypeError, AttributeError, AssertionError, struct.error, exceptions.AMQPError)
_head = struct.Struct(">BHI").pack
_CONTENT = struct.Struct(">HxxQ").pack  #: class, weight 0, size of the body
_END = bytes((spec.FRAME_END,))
SHORT_STRING = 255


class Outgoing:
    """One order on its way."""

    __slots__ = (
        "body", "call", "head", "nacks", "name", "once", "place", "returned", "sent", "settled", "size", "tries",
    )  # fmt: skip

    def __init__(self, call: Call, place: int, order: Order, exchange: str, head: bytes) -> None:
        self.call, self.place = call, place
        self.name = (order.message_id, exchange, order.routing_key)  #: what a return repeats
        self.head, self.body = head, order.body
        self.size = len(head) + len(order.body)
        self.sent = 0.0
        self.tries = self.nacks = 0
        self.once = order.kind == "dead"  #: a second time it would stand twice in the log beside the queue
        self.returned = self.settled = False

    def settle(self, receipt: Receipt) -> None:
        """Answer once; later answers are ignored."""
        if not self.settled:
            self.settled = True
            self.call.answer(self.place, receipt)


class Call:
    """The orders of one caller and how many answers are missing; guarded by the publisher's lock."""

    def __init__(self, orders: Sequence[Order], started: float) -> None:
        self.started = started
        self.done = threading.Event()
        self._receipts: list[Receipt | None] = [None] * len(orders)
        self._missing = len(orders)
        self.slots: list[Outgoing] = []
        for place, order in enumerate(orders):
            try:
                exchange = exchange_of(order)
                self.slots.append(Outgoing(self, place, order, exchange, head(order, exchange)))
            except Unfit as exc:
                self.answer(place, Receipt(False, f"refused: {exc}"))

    def answer(self, place: int, receipt: Receipt) -> None:
        self._receipts[place] = receipt
        self._missing -= 1
        if not self._missing:
            self.done.set()

    def give_up(self, receipt: Receipt, which: Callable[[Outgoing], bool] = lambda _slot: True) -> int:
        """Answer what nobody answered; tell how many those were."""
        open_ = [slot for slot in self.slots if not slot.settled and which(slot)]
        for slot in open_:
            slot.settle(UNKNOWN if slot.once and slot.sent else receipt)
        return len(open_)

    def receipts(self, missing: Receipt) -> list[Receipt]:
        """All answers in the order of the orders."""
        return [receipt or missing for receipt in self._receipts]


log = logging.getLogger(__name__)

WINDOW = 1000  #: orders on their way and not confirmed; more gains nothing
WINDOW_BYTES = 32 << 20
TICK = 0.25  #: seconds between two looks of a waiting thread at its deadlines
TRIES = 3  #: an order that was on its way each time the channel broke is the one that breaks it
REOPEN = 0.05
REFUSED_S = 75.0  #: so long a refusal stands where nothing is sent after it; whoever leads tries again sooner
#: seconds until an order that a cluster did not take goes again on a channel of its own, for each time
AFRESH = (0.3, 1.0, 2.0)
#: and until one goes again for which there is no answer at all
UNANSWERED = 5.0
UNROUTABLE = Receipt(False, "unroutable")
NO_EXCHANGE = "refused: NOT_FOUND"  #: how the error of an order begins whose exchange is not there
NACK = Receipt(False, "nack")
BLOCKED = Receipt(False, "blocked")
TIMEOUT = Receipt(False, "timeout")
GONE = Receipt(False, "disconnected")


class Publisher:
    """Sends orders through one channel with confirms; ``publish`` may be called from any thread."""

    def __init__(
        self,
        link: Link,
        clock: Clock,
        on_missing: Callable[[], None],
        *,
        window: int = WINDOW,
        cluster: bool = False,
    ) -> None:
        """``cluster``: what is refused, or not answered, goes again. A channel that first met a queue while its leader
        was on a node that had just died refuses all for that queue for as long as it lives, and what it had on its way
        to such a leader is never confirmed (RabbitMQ 3.10).
        """
        self._link, self._clock, self._on_missing, self._window = link, clock, on_missing, window
        self._afresh = AFRESH if cluster else ()
        self._renewing = False  #: nothing more goes through this channel
        self._lock = threading.Lock()
        self._waiting: deque[Outgoing] = deque()
        self._flying: dict[int, Outgoing] = {}  #: by delivery tag, ascending
        self._bytes = 0
        self._suspects = 0  #: orders in front of ``_waiting`` that go alone, since one of them broke the channel
        self._solo = False  #: one of them is on its way
        self._waking = False
        self._channel: Channel | None = None
        self._tag = self._returned = 0
        self._progress = clock.monotonic()
        self.unanswered = self.unanswered_ms = 0  #: see ``BrokerHealth``
        self._refused, self._refused_ms, self._refused_at = "", 0, 0.0
        self._rejecting: dict[str, tuple[int, float]] = {}  #: queues that took no message: since when, and when last
        link.add(self)

    # ------------------------------------------------------------------------------------------------- any thread
    @property
    def answered_at(self) -> float:
        """When the broker confirmed something last, monotonic seconds."""
        return self._progress

    @property
    def refused(self) -> tuple[str, int]:
        """Why this user may not send tasks and since when (UTC ms), as long as somebody meets it; "" where he may."""
        stands = self._clock.monotonic() - self._refused_at < REFUSED_S
        return (self._refused, self._refused_ms) if stands else ("", 0)

    @property
    def rejecting(self) -> tuple[tuple[str, ...], int]:
        """The queues that reject what comes to them, and since when (UTC ms), as long as somebody meets it."""
        now = self._clock.monotonic()
        with self._lock:
            stand = {queue: since for queue, (since, last) in self._rejecting.items() if now - last < REFUSED_S}
        return tuple(sorted(stand)), min(stand.values(), default=0)

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """Send a batch and wait for every answer."""
        call = Call(orders, self._clock.monotonic())
        if call.slots and not self._link.closing:
            if not self._link.up:
                self._link.post(self._link.nudge)
            with self._lock:
                self._waiting.extend(call.slots)
                wake, self._waking = not self._waking, True
            if wake:
                self._link.post(self._pump)
            while not call.done.wait(TICK):
                self._expire(call)
        return call.receipts(GONE)

    def _expire(self, call: Call) -> None:
        """Give up what has waited long enough; only the orders of this caller."""
        now, link, timing = self._clock.monotonic(), self._link, self._link.timing
        with self._lock:
            given_up = 0
            if link.closing or self._unreachable(call, now):
                given_up = call.give_up(GONE)
            elif link.blocked and now - link.blocked_at >= timing.grace:
                given_up = call.give_up(BLOCKED)
            elif (oldest := now - timing.publish) >= call.started:
                waited = max(self._progress, call.started)
                given_up = call.give_up(TIMEOUT, lambda slot: (slot.sent or waited) <= oldest)
                if given_up:
                    self.unanswered_ms = self.unanswered_ms or self._clock.now_ms()
                    self.unanswered += given_up
            if given_up:
                self._wait_for([slot for slot in self._waiting if not slot.settled])
            afresh = not self._renewing and self._ignored(call, now)
            self._renewing |= afresh
        if afresh:
            self._link.post(self._renew)
        if given_up:
            self._link.post(self._pump)

    def _ignored(self, call: Call, now: float) -> bool:
        """Whether a cluster has not answered for one of these orders in time; longer is waited for it each time."""
        if not self._link.up or self._link.blocked:
            return False
        silent = [slot for slot in call.slots if not (slot.settled or slot.once) and slot.sent]
        again = [
            slot
            for slot in silent
            if slot.nacks < len(self._afresh) and now - slot.sent >= UNANSWERED * (slot.nacks + 1)
        ]
        for slot in again:
            slot.nacks += 1
        return bool(again)

    def _unreachable(self, call: Call, now: float) -> bool:
        """Lost for long enough; at once where it has been, and an attempt made for this call failed too."""
        link, limit = self._link, self._link.timing.reconnect
        if link.up:
            return False
        tried = link.failed_at >= call.started - NUDGE
        return now - max(link.changed_at, call.started) >= limit or (tried and now - link.changed_at >= limit)

    def _wait_for(self, slots: Sequence[Outgoing]) -> None:
        self._waiting = deque(slots)
        self._suspects = sum(1 for slot in slots if slot.tries)

    # ------------------------------------------------------------------------------------------------- I/O thread
    def on_up(self) -> None:
        self._open()

    def on_down(self) -> None:
        self._land()

    def on_data(self) -> None:
        if self._waiting and len(self._flying) <= self._window // 2:
            self._pump()

    def _open(self) -> None:
        if self._link.ready and self._channel is None:
            self._link.channel(self._opened, self._lost)

    def _opened(self, channel: Channel) -> None:
        channel.add_on_return_callback(self._unroutable)
        channel.confirm_delivery(self._confirmed, callback=lambda _frame: self._begin(channel))

    def _begin(self, channel: Channel) -> None:
        assert channel.channel_number == CHANNEL
        self._channel, self._tag, self._returned = channel, 0, 0
        self._pump()

    def _pump(self) -> None:
        """Fill the window and write it as one piece."""
        with self._lock:
            self._waking = False
            if self._channel is None or self._link.blocked or self._renewing:
                return
            pieces: list[bytes] = []
            limit, now = self._link.connection.body_limit, self._clock.monotonic()
            while self._waiting and self._room():
                slot = self._waiting.popleft()
                self._suspects -= slot.tries > 0
                if slot.settled:
                    continue
                self._tag += 1
                self._flying[self._tag] = slot
                self._bytes += slot.size
                slot.sent = now
                slot.tries += 1
                self._solo = slot.tries > 1
                pieces += (slot.head, body(slot.body, limit))
        if pieces:
            self._link.connection.send(pieces)

    def _room(self) -> bool:
        if (self._suspects or self._solo) and self._flying:
            return False
        if len(self._flying) >= self._window:
            self._flying = {tag: slot for tag, slot in self._flying.items() if not slot.settled}
        return len(self._flying) < self._window and (self._bytes < WINDOW_BYTES or not self._flying)

    def _confirmed(self, frame: Any) -> None:
        method = frame.method
        answer = OK if isinstance(method, spec.Basic.Ack) else NACK
        with self._lock:
            self._progress = self._clock.monotonic()
            self.unanswered = self.unanswered_ms = 0
            self._refused = ""
            if not method.multiple:
                self._settle(int(method.delivery_tag), answer)
                return
            last = int(method.delivery_tag)
            tags = []
            for tag in self._flying:
                if tag > last:
                    break
                tags.append(tag)
            for tag in tags:
                self._settle(tag, answer)

    def _settle(self, tag: int, answer: Receipt) -> None:
        slot = self._flying.pop(tag, None)
        if slot is None:
            return
        self._bytes -= slot.size
        refused = answer is NACK and not slot.returned and bool(self._afresh)
        last = slot.once or slot.nacks >= len(self._afresh)
        if refused and not self._renewing:
            self._renewing = True
            self._link.later(self._afresh[min(slot.nacks, len(self._afresh) - 1)], self._renew)
        if last or not refused:
            self._note(slot, answer)
            slot.settle(UNROUTABLE if slot.returned else answer)
            return
        slot.nacks += 1
        slot.sent, slot.tries = 0.0, 0
        self._waiting.append(slot)

    def _note(self, slot: Outgoing, answer: Receipt) -> None:
        """A queue at its limit rejects what comes; one that takes a message is not full."""
        if answer is not NACK and not self._rejecting:
            return
        queue, now = _queue_of(slot), self._clock.monotonic()
        since, last = self._rejecting.get(queue, (0, 0.0))
        if answer is not NACK:
            if slot.sent > last:  # the broker confirms what it had taken before later than it rejects
                self._rejecting.pop(queue, None)
        elif queue and not slot.returned:
            stands = since and now - last < REFUSED_S
            self._rejecting[queue] = (since if stands else self._clock.now_ms(), now)

    def _renew(self) -> None:
        """Begin again on a new channel."""
        channel, self._renewing = self._channel, False
        if channel is not None and channel.is_open:
            self._land()
            channel.close()
            self._link.later(REOPEN, self._open)

    def _unroutable(self, _channel: Any, method: Any, properties: Any, _body: bytes) -> None:
        """A return comes before the confirm, carries no tag, and returns come in the order of publishing."""
        what = (properties.message_id or "", method.exchange, method.routing_key)
        with self._lock:
            for tag, slot in self._flying.items():
                if tag > self._returned and slot.name == what:
                    slot.returned, self._returned = True, tag
                    break
        self._on_missing()

    # -------------------------------------------------------------------------------------------------- recovery
    def _lost(self, reason: ChannelLost) -> None:
        """The broker closed the channel because of one order; what else was on its way goes again."""
        if self._channel is None and not reason.code:  # we have left it
            return
        if reason.code == NOT_FOUND:
            self._on_missing()  # before anybody hears of it: who then sends again waits until it is there
        with self._lock:
            if reason.code in (NOT_FOUND, ACCESS_REFUSED) and " topic " not in reason.text:
                self._refuse(f"refused: {reason.text}", lambda slot: f" exchange '{slot.name[1]}'" in reason.text)
            elif reason.code:
                alone = len(self._flying) == 1
                self._refuse(f"refused: {reason.text}", lambda slot: alone or slot.tries >= TRIES)
            tasks = any(f" exchange '{name}'" in reason.text for name in (topology.TASKS, topology.OWN))
            if reason.code == ACCESS_REFUSED and tasks and " topic " not in reason.text:
                since = self._refused_ms if self.refused[0] else self._clock.now_ms()
                self._refused, self._refused_ms, self._refused_at = reason.text, since, self._clock.monotonic()
        self._land(suspect=reason.code != 0)
        if reason.code:
            log.warning("the broker closed the publishing channel: %d %s", reason.code, reason.text)
            self._link.later(REOPEN, self._open)

    def _refuse(self, error: str, which: Callable[[Outgoing], bool]) -> None:
        for slot in self._flying.values():
            if which(slot):
                slot.settle(Receipt(False, error))

    def _land(self, *, suspect: bool = False) -> None:
        """Put what was on its way back in front; a twin of what the broker did take is harmless."""
        with self._lock:
            self._channel = None
            for slot in self._flying.values():
                if slot.once:  # what was taken of it is not known, and it must not be taken twice
                    slot.settle(TIMEOUT)
            back = [slot for slot in self._flying.values() if not slot.settled]
            self._flying.clear()
            self._bytes = 0
            for slot in back:
                slot.sent = 0.0
                slot.returned = False
                slot.tries = slot.tries if suspect else 0
            self._solo = False
            self._wait_for([*back, *self._waiting])


class Unfit(Exception):
    """The order cannot be written as an AMQP message."""


def exchange_of(order: Order) -> str:
    """Where an order is published.

    Raises:
        Unfit: its kind is unknown.
    """
    match order.kind:
        case "work":
            return topology.TASKS
        case "own":
            return topology.OWN
        case "delay":
            return topology.delay_queue(order.delay_s)
        case "dead":
            return topology.DEAD_LETTERS
        case "letter":
            return ""  # the default exchange, which knows queues by their names
        case "result":
            return topology.RESULTS
    raise Unfit(f"unknown kind of order {order.kind!r:.40}")


def _queue_of(slot: Outgoing) -> str:
    """The queue where an order is to lie, "" where other programs bind theirs."""
    _, exchange, key = slot.name
    if exchange in (topology.TASKS, topology.OWN):
        return topology.queue_of(key)
    return {topology.RESULTS: "", topology.DEAD_LETTERS: topology.DEAD_QUEUE, "": key}.get(exchange, exchange)


def head(order: Order, exchange: str) -> bytes:
    """Method and header frame of an order.

    Raises:
        Unfit: a name is too long for AMQP, or a header has a type it does not know.
    """
    try:
        properties = _before_the_name(order)
        name = order.message_id.encode()
        if len(name) > SHORT_STRING:
            raise exceptions.ShortStringTooLong(order.message_id)
        header = _CONTENT(spec.BasicProperties.INDEX, len(order.body)) + properties + bytes((len(name),)) + name
        method = _method(exchange, order.routing_key, order.kind != "result")
        return method + _head(spec.FRAME_HEADER, CHANNEL, len(header)) + header + _END
    except UNFIT as exc:
        raise Unfit(f"{type(exc).__name__}: {exc}"[:200]) from exc


def _before_the_name(order: Order) -> bytes:
    """The properties up to the message id, which is the last of them: of nearly all messages the same."""
    priority = min(max(order.priority, 0), MAX_AMQP_PRIORITY)
    headers = tuple((name, type(value), value) for name, value in order.headers.items())  # 1 and True differ
    try:
        hash(headers)
    except TypeError:
        return _properties.__wrapped__(priority, headers)
    return _properties(priority, headers)


@lru_cache(maxsize=256)
def _properties(priority: int, headers: tuple[tuple[str, type, str | int], ...]) -> bytes:
    properties = spec.BasicProperties(
        content_type="application/json",
        delivery_mode=PERSISTENT,
        priority=priority,
        message_id="",
        headers={name: value for name, _, value in headers if name not in STRIPPED_HEADERS} or None,
    )
    return b"".join(properties.encode())[:-1]


def body(data: bytes, limit: int) -> bytes:
    """Body frames of at most ``limit`` bytes each."""
    if len(data) <= limit:
        return _body(data) if data else b""
    return b"".join(_body(data[start : start + limit]) for start in range(0, len(data), limit))


def _body(data: bytes) -> bytes:
    return _head(spec.FRAME_BODY, CHANNEL, len(data)) + data + _END


@lru_cache(maxsize=4096)
def _method(exchange: str, routing_key: str, mandatory: bool) -> bytes:
    method = spec.Basic.Publish(exchange=exchange, routing_key=routing_key, mandatory=mandatory)
    data: bytes = frame.Method(CHANNEL, method).marshal()
    return data
