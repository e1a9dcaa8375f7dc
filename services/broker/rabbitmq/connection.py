"""One connection on its own I/O thread: it comes back by itself, and everything that touches it runs in that thread."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from pika.adapters import select_connection

from services import log as logs
from services.broker.rabbitmq import errors, url
from services.broker.rabbitmq.errors import ChannelLost
from services.broker.rabbitmq.timing import NUDGE, REACH_CAP, REFUSED_CAP, STEADY, Backoff, Timing
from services.broker.rabbitmq.url import Address
from services.broker.rabbitmq.wire import Channel, Listener, WireConnection, quiet
from services.domain.errors import BrokerUnavailable
from services.domain.task import own_words
from services.domain.text.said import said
from services.ports import Clock

log = logging.getLogger(__name__)
T = TypeVar("T")


class Link:
    """A connection that recovers. ``post`` and ``call`` may be used from any thread, all else in the I/O thread."""

    def __init__(self, address: Address, clock: Clock, timing: Timing, *, name: str) -> None:
        self.address, self.timing, self.name = address, timing, name
        self._nodes = address.nodes
        # a fleet whose programs all began with the first node would leave the others idle
        self._node = random.randrange(len(self._nodes))
        self._reasons: list[tuple[Address, BaseException]] = []  #: of the nodes tried in vain since the last success
        self._clock = clock
        self._loop = select_connection.IOLoop()
        self._thread = threading.Thread(target=self._run, name=f"rabbitmq-{name}", daemon=True)
        self._cond = threading.Condition()
        self._listeners: list[Listener] = []
        self._connection: WireConnection | None = None
        self._retry: Any = None
        self._retry_at = 0.0
        self._hurry: Any = None
        self._backoff = Backoff()
        self._failures = 0
        self._tried_at = self._up_at = clock.monotonic()
        self.failed_at = float("-inf")
        self._started = self._closing = False
        self.up = self.blocked = False
        self.changed_at = self.blocked_at = clock.monotonic()
        self.since_ms = clock.now_ms()
        self.error = self.version = ""
        self.blocked_ms, self.why = 0, ""
        quiet()

    # ------------------------------------------------------------------------------------------------- any thread
    @property
    def closing(self) -> bool:
        return self._closing

    def start(self) -> None:
        """Start connecting; later calls do nothing."""
        with self._cond:
            if self._started or self._closing:
                return
            self._started = True
        self.post(self._connect)
        self._thread.start()

    @property
    def node(self) -> Address:
        """The node that this is connected to, or that is tried next."""
        return self._nodes[self._node]

    def add(self, listener: Listener) -> None:
        """Tell ``listener`` of what happens, beginning with ``on_up`` if the connection is up."""

        def join() -> None:
            self._listeners.append(listener)
            if self.up:
                listener.on_up()

        self.post(join)

    def remove(self, listener: Listener) -> None:
        self.post(lambda: self._listeners.remove(listener) if listener in self._listeners else None)

    def post(self, work: Callable[[], None]) -> None:
        """Run ``work`` in the I/O thread soon."""
        self._loop.add_callback_threadsafe(work)

    def wait_up(self, timeout: float) -> None:
        """Wait until connected, at most for one attempt made now: ``timeout`` seconds for each node.

        Raises:
            BrokerUnavailable: with the reason in plain words.
        """
        self.start()
        timeout *= len(self._nodes)
        with self._cond:
            failures = self._failures
            # only a failed attempt answers for now: a connection that was just lost is on its way back
            recent = bool(self.error) and self._clock.monotonic() - self.failed_at < NUDGE
            if not self.up and not recent:
                self.post(self.nudge)
            done = recent or self._cond.wait_for(lambda: self.up or self._closing or self._failures > failures, timeout)
            if self.up:
                return
            if self._closing:
                raise BrokerUnavailable(said("broker.closed"))
            raise BrokerUnavailable((self.error if done else "") or errors.silent(self.address, timeout))

    def call(self, work: Callable[[Future[T]], None], timeout: float) -> T:
        """Run ``work`` in the I/O thread of a connected link and wait for its answer.

        Raises:
            BrokerUnavailable: not connected, lost meanwhile, or no answer in time.
            ChannelLost: the broker closed the channel of the work.
        """
        self.wait_up(self.timing.connect + 1)
        answer: Future[T] = Future()
        self.post(lambda: self._begin(work, answer))
        try:
            return answer.result(timeout)
        except TimeoutError as exc:
            raise BrokerUnavailable(errors.silent(self.address, timeout)) from exc
        except ChannelLost as exc:
            if exc.code:
                raise
            raise BrokerUnavailable(said("broker.lost", place=self.address.place, error=exc.text)) from exc

    def now(self) -> float:
        return self._clock.monotonic()

    def leave(self) -> None:
        """Begin to say farewell without waiting."""
        with self._cond:
            first, self._closing = not self._closing, True
            self._cond.notify_all()
        if self._started:
            self.post(self._leave)
        elif first:
            self._loop.close()

    def close(self) -> None:
        """Say farewell, at most for ``timing.close`` seconds, and join the thread."""
        self.leave()
        if self._started and threading.current_thread() is not self._thread:
            self._thread.join(self.timing.close + 5)

    # ------------------------------------------------------------------------------------------------- I/O thread
    @property
    def ready(self) -> bool:
        """Whether channels may be used at this moment (``up`` is told to listeners a little later)."""
        return self._connection is not None and bool(self._connection.is_open)

    @property
    def connection(self) -> WireConnection:
        """The open connection; only while ``up``."""
        assert self._connection is not None
        return self._connection

    def channel(self, on_open: Callable[[Channel], None], on_close: Callable[[ChannelLost], None]) -> Channel:
        """Open a channel; ``on_close`` follows exactly once, whatever ends it."""
        channel: Channel = self.connection.channel(on_open_callback=on_open)
        channel.add_on_close_callback(lambda _channel, reason: on_close(errors.channel_lost(reason)))
        return channel

    def later(self, seconds: float, work: Callable[[], None]) -> Any:
        """A timer; give what is returned to ``forget`` to stop it."""
        return self._loop.call_later(seconds, work)

    def forget(self, timer: Any) -> None:
        if timer is not None:
            self._loop.remove_timeout(timer)

    def abort(self, reason: str) -> None:
        """Drop the connection; it is made anew."""
        if self._connection is not None and self.up:
            log.warning("%s connection to %s is made anew: %s", self.name, self.node.place, reason)
            self._connection.abort(reason)

    def nudge(self) -> None:
        """Try as soon as the last attempt is ``NUDGE`` ago, instead of at the end of a long pause."""
        now = self._clock.monotonic()
        if self._retry is not None and (soonest := max(now, self._tried_at + NUDGE)) < self._retry_at:
            self._retry_in(soonest - now)

    def _begin(self, work: Callable[[Future[T]], None], answer: Future[T]) -> None:
        try:
            if not self.ready:
                raise BrokerUnavailable(self.error or said("broker.down", place=self.address.place))
            work(answer)
        except Exception as exc:  # noqa: BLE001  # it belongs to the thread that asked
            if not answer.done():
                answer.set_exception(exc)

    def _run(self) -> None:
        while True:
            try:
                self._loop.start()
                break
            except Exception:  # the edge of this thread: a fault of one callback must not end the connection for good
                log.exception("fault in the %s thread", self.name)
                self._drop()
        self._loop.close()

    def _drop(self) -> None:
        if self._connection is not None and not self._connection.is_closed:
            self._connection.abort("fault in the I/O thread")
        elif self._retry is None:
            self._again(REACH_CAP)

    def _connect(self) -> None:
        self._retry = None
        if self._closing:
            self._loop.stop()
            return
        self._tried_at = self._clock.monotonic()
        self._hurry = self.later(self.timing.connect, self._late)
        try:
            self._connection = WireConnection(
                url.parameters(self.node, self.timing, name=self.name),
                self._after_data,
                on_open_callback=self._opened,
                on_open_error_callback=self._failed,
                on_close_callback=self._closed,
                custom_ioloop=self._loop,
            )
        except Exception as exc:  # noqa: BLE001  # whatever is wrong with this attempt, there is a next one
            self._failed(None, exc)

    def _late(self) -> None:
        """Give an AMQP handshake up (pika's own time-out for it ends in a failed assertion)."""
        if self._connection is not None and not self._connection.is_open:
            self._connection.abort(errors.LATE)

    def _opened(self, connection: WireConnection) -> None:
        self.forget(self._hurry)
        connection.add_on_connection_blocked_callback(lambda _connection, frame: self._hold(True, frame.method.reason))
        connection.add_on_connection_unblocked_callback(lambda *_: self._hold(False, ""))
        self._up_at = self._clock.monotonic()
        again = bool(self.version)
        self.version = connection.version
        self._reasons.clear()
        level = logging.WARNING if again else logging.INFO
        told = "%s connection to %s is up (RabbitMQ %s)"
        log.log(level, told, self.name, self.node.place, self.version, extra=logs.back(BrokerUnavailable))
        self._turn(True, "")
        for listener in tuple(self._listeners):
            listener.on_up()

    def _failed(self, _connection: WireConnection | None, reason: BaseException) -> None:
        self._connection = None
        self.forget(self._hurry)
        if self._closing:
            self._loop.stop()
            return
        self._reasons.append((self.node, errors.heard(reason, self.node)))
        self._node = (self._node + 1) % len(self._nodes)
        if len(self._reasons) % len(self._nodes):
            self._retry_in(0.0)  # another node may do
            return
        reason, text = self._worst()
        if text != self.error:
            # who asked for the very first connection is told by the error that he gets, and says it himself
            level = logging.WARNING if self.version else logging.INFO
            log.log(level, "%s connection: %s", self.name, text)
        self._tried_at = self.failed_at = self._clock.monotonic()
        with self._cond:
            self._failures += 1
        self._turn(False, text)
        self._again(REFUSED_CAP if errors.needs_person(reason) else REACH_CAP)

    def _worst(self) -> tuple[BaseException, str]:
        """Why no node would do: what needs a person, else the same for all, else what the last one met."""
        tried = self._reasons[-len(self._nodes) :]
        self._reasons.clear()
        refused = [(node, reason) for node, reason in tried if errors.needs_person(reason)]
        node, reason = (refused or tried)[-1]
        alike = len({errors.explain(reason, self.address) for _, reason in tried}) == 1
        return reason, errors.explain(reason, self.address if alike else node)

    def _closed(self, _connection: WireConnection, reason: BaseException) -> None:
        self._connection = None
        text = errors.describe(reason)
        lost = self.node.place
        self._node = (self._node + 1) % len(self._nodes)
        self._turn(False, "" if self._closing else said("broker.lost", place=lost, error=text))
        for listener in tuple(self._listeners):
            listener.on_down()
        if self._closing:
            self._loop.stop()
            return
        log.warning("%s connection to %s lost: %s", self.name, lost, text)
        if self._clock.monotonic() - self._up_at >= STEADY:
            self._backoff.reset()
        self._again(REACH_CAP)

    def _again(self, cap: float) -> None:
        self._retry_in(self._backoff.pause(cap))

    def _retry_in(self, seconds: float) -> None:
        self.forget(self._retry)
        self._retry_at = self._clock.monotonic() + seconds
        self._retry = self.later(seconds, self._connect)

    def _turn(self, up: bool, error: str) -> None:
        with self._cond:
            if up != self.up:
                self.changed_at, self.since_ms = self._clock.monotonic(), self._clock.now_ms()
            self.up, self.error = up, error
            if not up:
                self.blocked, self.blocked_ms, self.why = False, 0, ""
            self._cond.notify_all()

    def _hold(self, blocked: bool, why: str) -> None:
        self.blocked, self.blocked_at, self.since_ms = blocked, self._clock.monotonic(), self._clock.now_ms()
        self.blocked_ms, self.why = (self.since_ms, why) if blocked else (0, "")
        self.error = own_words.write("own.broker_holds", place=self.node.place, why=why) if blocked else ""
        log.warning("%s", self.error or f"RabbitMQ at {self.node.place} accepts publishers again.")

    def _after_data(self) -> None:
        for listener in tuple(self._listeners):
            listener.on_data()

    def _leave(self) -> None:
        self.forget(self._retry)
        self._retry = None
        connection = self._connection
        if connection is None:
            self._loop.stop()
        elif connection.is_closing or connection.is_closed:
            return
        elif self.blocked or not connection.is_open:
            connection.abort("closed before or between two answers")
        else:
            self.later(self.timing.close, lambda: connection.abort("no answer to the farewell"))
            connection.close()
