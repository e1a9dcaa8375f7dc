"""A link and channels without a broker: what was sent is kept, what the broker answers is said by the test."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from services.broker.rabbitmq.errors import ChannelLost
from services.broker.rabbitmq.timing import Timing
from services.broker.rabbitmq.url import parse
from services.clock import ManualClock


class FakeChannel:
    """Notes every call as (name, …); calls that want an answer wait for ``answer``."""

    def __init__(self, link: FakeLink, number: int, on_close: Callable[[ChannelLost], None]) -> None:
        self.link, self.channel_number, self.is_open = link, number, True
        self.calls: list[tuple[Any, ...]] = []
        self.owed: deque[Callable[[Any], None]] = deque()
        self.receivers: dict[str, Callable[..., None]] = {}
        self.on_closes: list[Callable[..., None]] = [lambda _channel, reason: on_close(reason)]
        self.on_confirm: Callable[[Any], None] | None = None
        self.on_return: Callable[..., None] | None = None
        self.on_cancel: Callable[[Any], None] | None = None
        self.on_reply: Callable[[Any], None] | None = None

    # ------------------------------------------------------------------------------------------ what the driver calls
    def basic_ack(self, tag: int, multiple: bool) -> None:
        self.calls.append(("ack", tag, multiple))

    def basic_nack(self, tag: int, multiple: bool, requeue: bool) -> None:
        assert requeue
        self.calls.append(("nack", tag, multiple))

    def basic_qos(self, *, prefetch_count: int, callback: Callable[[Any], None]) -> None:
        self.calls.append(("qos", prefetch_count))
        self.owed.append(callback)

    def basic_consume(
        self,
        queue: str,
        receive: Callable[..., None],
        *,
        consumer_tag: str,
        callback: Callable[[Any], None],
        arguments: Mapping[str, Any] | None = None,
    ) -> str:
        self.calls.append(("consume", queue))
        self.receivers[consumer_tag] = receive
        self.owed.append(callback)
        return consumer_tag

    def cancel_consumer(self, tag: str, callback: Callable[[Any], None]) -> None:
        self.calls.append(("cancel", tag))
        self.owed.append(callback)

    def count_queue(self, queue: str) -> None:
        self.calls.append(("count", queue))

    def find_queue(self, queue: str, callback: Callable[[Any], None]) -> None:
        self.calls.append(("find", queue))
        self.owed.append(callback)

    def find_exchange(self, exchange: str, callback: Callable[[Any], None]) -> None:
        self.calls.append(("find", exchange))
        self.owed.append(callback)

    def on_declared(self, callback: Callable[[Any], None]) -> None:
        self.on_reply = callback

    def ask_exchange(self, exchange: str, kind: str) -> None:
        self.calls.append(("exchange", exchange, kind))
        self.owed.append(self._declared)

    def ask_queue(self, queue: str, arguments: dict[str, Any]) -> None:
        self.calls.append(("queue", queue, arguments))
        self.owed.append(self._declared)

    def ask_binding(self, queue: str, exchange: str, key: str) -> None:
        self.calls.append(("bind", queue, exchange, key))
        self.owed.append(self._declared)

    def _declared(self, frame: Any) -> None:
        assert self.on_reply is not None
        self.on_reply(frame)

    def queue_bind(self, queue: str, exchange: str, *, routing_key: str, callback: Callable[[Any], None]) -> None:
        self.calls.append(("bind", queue, exchange, routing_key))
        self.owed.append(callback)

    def queue_unbind(self, queue: str, exchange: str, *, routing_key: str, callback: Callable[[Any], None]) -> None:
        self.calls.append(("unbind", queue, exchange, routing_key))
        self.owed.append(callback)

    def confirm_delivery(self, on_confirm: Callable[[Any], None], *, callback: Callable[[Any], None]) -> None:
        self.on_confirm = on_confirm
        self.owed.append(callback)

    def add_callback(self, callback: Callable[[Any], None], replies: list[Any], *, one_shot: bool) -> None:
        assert not one_shot
        self.on_reply = callback

    def add_on_return_callback(self, callback: Callable[..., None]) -> None:
        self.on_return = callback

    def add_on_cancel_callback(self, callback: Callable[[Any], None]) -> None:
        self.on_cancel = callback

    def add_on_close_callback(self, callback: Callable[..., None]) -> None:
        self.on_closes.append(callback)

    def close(self) -> None:
        self.calls.append(("close",))
        self.lose(0, "closed by this program")

    # --------------------------------------------------------------------------------------------- what the test says
    def answer(self, count: int | None = None) -> None:
        """The broker answers the oldest calls; without a number all of them, and what they lead to."""
        done = 0
        while self.owed and done != count:
            self.owed.popleft()(None)
            done += 1

    def lose(self, code: int, text: str) -> None:
        """The channel ends."""
        if self.is_open:
            self.is_open = False
            for callback in self.on_closes:
                callback(self, ChannelLost(code, text))

    def confirm(self, tag: int, *, multiple: bool = False, nack: bool = False) -> None:
        from pika import spec

        assert self.on_confirm is not None
        kind = spec.Basic.Nack if nack else spec.Basic.Ack
        self.on_confirm(SimpleNamespace(method=kind(tag, multiple)))
        self.link.data()

    def give_back(self, message_id: str, exchange: str, key: str) -> None:
        """An order was unroutable."""
        assert self.on_return is not None
        method = SimpleNamespace(exchange=exchange, routing_key=key)
        self.on_return(self, method, SimpleNamespace(message_id=message_id), b"")

    def deliver(self, consumer_tag: str, tag: int, body: bytes = b"{}", **fields: Any) -> None:
        """A message comes; ``link.data()`` ends the piece of input."""
        base = {
            "message_id": f"m{tag}",
            "content_type": None,
            "content_encoding": None,
            "headers": None,
            "priority": None,
        }
        method = SimpleNamespace(delivery_tag=tag, redelivered=False, routing_key="task.pdd.high")
        self.receivers[consumer_tag](self, method, SimpleNamespace(**(base | fields)), body)

    def told(self, *kinds: str) -> list[tuple[Any, ...]]:
        """Calls of these kinds."""
        return [call for call in self.calls if call[0] in kinds]


class FakeConnection:
    """Keeps what was written."""

    body_limit = 131_064

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.corks = 0

    def send(self, frames: list[bytes]) -> None:
        self.sent.append(b"".join(frames))

    @contextmanager
    def corked(self) -> Iterator[None]:
        self.corks += 1
        yield


class FakeLink:
    """Runs nothing by itself: ``run`` works off what was posted, ``tick`` the timers."""

    def __init__(self, clock: ManualClock | None = None, **timing: Any) -> None:
        self.clock = clock or ManualClock()
        self.clock.advance(100.0)
        self.address = parse("amqp://guest:secret@rabbit.example/fleet")
        self.timing = Timing(**timing)
        self.posted: deque[Callable[[], None]] = deque()
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.listeners: list[Any] = []
        self.channels: list[FakeChannel] = []
        self.connection = FakeConnection()
        self.up = self.ready = True
        self.blocked = self.closing = False
        self.blocked_at = self.changed_at = 0.0
        self.failed_at = float("-inf")
        self.error = ""
        self.version = "3.10.8"
        self.nudged = 0
        self.aborted: list[str] = []
        self._opens: deque[Callable[[], None]] = deque()

    def now(self) -> float:
        return self.clock.monotonic()

    def add(self, listener: Any) -> None:
        self.listeners.append(listener)
        if self.up:
            listener.on_up()

    def remove(self, listener: Any) -> None:
        self.listeners.remove(listener)

    def wait_up(self, _timeout: float) -> None:
        """Always up, unless a test says otherwise."""

    def post(self, work: Callable[[], None]) -> None:
        self.posted.append(work)

    def nudge(self) -> None:
        self.nudged += 1

    def later(self, seconds: float, work: Callable[[], None]) -> Any:
        timer = (self.now() + seconds, work)
        self.timers.append(timer)
        return timer

    def forget(self, timer: Any) -> None:
        if timer in self.timers:
            self.timers.remove(timer)

    def abort(self, reason: str) -> None:
        self.aborted.append(reason)

    def channel(self, on_open: Callable[[Any], None], on_close: Callable[[ChannelLost], None]) -> FakeChannel:
        channel = FakeChannel(self, 1, on_close)
        self.channels.append(channel)
        self._opens.append(lambda: on_open(channel))
        return channel

    # --------------------------------------------------------------------------------------------- what the test does
    def open(self) -> FakeChannel:
        """The broker opens the oldest channel asked for."""
        self._opens.popleft()()
        return self.channels[-1]

    def run(self) -> int:
        """Work off what was posted; tell how much."""
        done = 0
        while self.posted:
            self.posted.popleft()()
            done += 1
        return done

    def tick(self, seconds: float) -> None:
        """Let time pass and its timers run."""
        self.clock.advance(seconds)
        for timer in [timer for timer in self.timers if timer[0] <= self.now()]:
            self.timers.remove(timer)
            timer[1]()

    def data(self) -> None:
        """End of a piece of input."""
        for listener in list(self.listeners):
            listener.on_data()

    def fail(self) -> None:
        """The connection goes: channels first, as pika does it."""
        self.up = self.ready = False
        self.changed_at = self.now()
        for channel in list(self.channels):
            channel.lose(0, "the connection was lost")
        for listener in list(self.listeners):
            listener.on_down()

    def come_back(self) -> None:
        self.up = self.ready = True
        self.changed_at = self.now()
        self.connection = FakeConnection()
        for listener in list(self.listeners):
            listener.on_up()
