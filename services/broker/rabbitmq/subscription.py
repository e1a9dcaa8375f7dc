"""A consumer's channel: brought from what is there to what is wanted, step by step, again after every loss."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Container, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import msgspec

from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.control import Control
from services.broker.rabbitmq.count import Numbers
from services.broker.rabbitmq.cut import Cut, of_pika
from services.broker.rabbitmq.errors import ACCESS_REFUSED, ChannelLost
from services.broker.rabbitmq.timing import REACH_CAP, STEADY, Backoff
from services.broker.rabbitmq.wire import Channel
from services.domain.task import own_words

log = logging.getLogger(__name__)

WATCH = 5.0  #: seconds between two looks of the watchdog
STUCK = 30.0  #: a step the broker does not answer for so long: the connection is made anew
STALL = 60.0  #: nothing came for so long although messages are ready: likewise
AGAIN = 5.0  #: seconds between two tries to get at a queue that is out of reach
PERMITTED = 30.0  #: seconds between two questions whether this user may take from a queue by now
ACK_TIMEOUT = "delivery acknowledgement"


class Running(msgspec.Struct, frozen=True):
    """A consumer as the broker knows it."""

    tag: str
    number: int
    window: int


class Owner(Protocol):
    """Who receives what the channel delivers."""

    def on_channel(self, channel: Channel) -> None: ...
    def on_lost(self) -> None: ...
    def on_delivery(self, queue: str, source: int, found: Cut, now: float) -> None: ...
    def on_data(self) -> None: ...
    def give_back(self, keep: Container[int]) -> None: ...
    def on_settled(self) -> None: ...
    def unacked(self) -> int: ...


class Subscription:
    """Runs one consumer per queue with the wanted window while running; all in the I/O thread of the link."""

    def __init__(
        self,
        link: Link,
        control: Control,
        queues: Sequence[str],
        owner: Owner,
        *,
        window: int,
        name: str,
        offset: str = "",
    ) -> None:
        """``offset``: where to begin in a stream, "" for queues."""
        self._arguments = {"x-stream-offset": offset} if offset else {}
        self._link, self._control, self._owner = link, control, owner
        self._queues, self._window, self._name = tuple(queues), max(window, 1), name
        self._running, self._leaving = True, False
        self._resting: set[str] = set()  #: queues that are not consumed for the time being
        self._active: dict[str, Running] = {}  #: by queue
        self._shrunk = False
        self._steps = 0  #: answers the broker owes
        self._stepped_at = self._delivered_at = self._up_at = link.now()
        self._asked_at = float("-inf")  #: when a queue out of reach was asked for last
        self._refused: dict[str, str] = {}  #: queues that this user may not take from, and what the broker says
        self._tried_at = float("-inf")  #: when that was asked for last
        self._numbers = 0
        self._opening = False
        self._backoff = Backoff()
        self._retry: Any = None
        self._watch: Any = None
        self.channel: Channel | None = None
        self.error = ""

    @property
    def refused(self) -> tuple[str, ...]:
        """Queues that this user may not take from; any thread may ask."""
        return tuple(self._refused)

    # ---------------------------------------------------------------------------------------------------- asked for
    def set_window(self, window: int) -> None:
        self._window = window
        self._converge()

    def set_running(self, running: bool) -> None:
        self._running = running
        self._converge()

    def rest(self, queues: Iterable[str]) -> None:
        """Do not consume these queues until they are woken; what nobody took of them goes back."""
        self._resting |= set(queues)
        self._converge()

    def wake(self, queues: Iterable[str]) -> None:
        """Consume these queues again."""
        self._resting -= set(queues)
        self._converge()

    def leave(self, left: threading.Event) -> None:
        """Cancel, give back, close the channel; ``left`` is set when nothing remains."""
        self._leaving, self._running = True, False
        self._link.forget(self._watch)
        self._link.forget(self._retry)
        self._retry = None
        if self.channel is None:
            left.set()
        else:
            self.channel.add_on_close_callback(lambda *_: left.set())
            self._converge()

    # -------------------------------------------------------------------------------------------------- listener
    def on_up(self) -> None:
        if not self._leaving:
            self._link.forget(self._retry)
            self._retry = None
            self._stepped_at = self._link.now()
            self._set_watch()
            self._control.restore(self._converge)

    def on_down(self) -> None:
        self._forget_channel()

    def on_data(self) -> None:
        self._owner.on_data()

    # -------------------------------------------------------------------------------------------------- converge
    def _converge(self) -> None:
        """Take the next step towards what is wanted, unless one is under way."""
        if not self._link.ready or self._opening or self._steps or self._retry is not None:
            return
        if self.channel is None:
            if not self._leaving:
                self._opening, self._stepped_at = True, self._link.now()
                self._link.channel(self._opened, self._lost)
            return
        wanted = self._wanted()
        right = {queue for queue, item in self._active.items() if item.window == self._window}
        fresh = [queue for queue in wanted if queue not in right]
        ended = [queue for queue in self._active if queue not in wanted]
        stale = [self._active[queue] for queue in (*fresh, *ended) if queue in self._active]
        self._shrunk |= bool(ended) or any(item.window > self._window for item in stale)
        if fresh:
            self._consume(self.channel, fresh)
        for item in stale:
            self.channel.cancel_consumer(item.tag, self._step())
        for queue in ended:
            del self._active[queue]
        if not fresh and not stale:
            self._arrive(self.channel)

    def _wanted(self) -> list[str]:
        if not self._running:
            return []
        away = self._control.unreachable.keys() | self._refused.keys()
        return [queue for queue in self._queues if queue not in self._resting and queue not in away]

    def _away(self) -> list[str]:
        away = self._control.unreachable
        return [queue for queue in self._queues if queue in away]

    def _arrive(self, channel: Channel) -> None:
        """All is as wanted: what exceeds it can go back now without being delivered here again at once."""
        away = self._away()
        self.error = own_words.write("own.queues_away", names=", ".join(away)) if away else ""
        self.error = next(iter(self._refused.values()), self.error)
        if self._shrunk or not self._running:
            self._shrunk = False
            self._owner.give_back({item.number for item in self._active.values()})
        self._owner.on_settled()
        if self._leaving and channel.is_open:
            channel.close()

    def _opened(self, channel: Channel) -> None:
        self._opening = False
        if self._leaving:
            channel.close()
            return
        self.channel = channel
        self._up_at = self._link.now()
        channel.add_on_cancel_callback(self._cancelled)
        self._owner.on_channel(channel)
        self._converge()

    def _consume(self, channel: Channel, queues: Sequence[str]) -> None:
        """The window of a running consumer cannot change: new ones start, then the old ones are cancelled."""
        channel.basic_qos(prefetch_count=self._window, callback=self._step())
        for queue in queues:
            self._numbers += 1
            item = Running(f"{self._name[:100]}.{queue}.{self._numbers}", self._numbers, self._window)
            self._active[queue] = item
            receive = functools.partial(self._deliver, queue, item.number)
            channel.basic_consume(
                queue, receive, consumer_tag=item.tag, arguments=self._arguments, callback=self._step()
            )

    def _deliver(self, queue: str, source: int, _channel: Any, method: Any, properties: Any, body: bytes) -> None:
        self._delivered_at = now = self._link.now()
        found = method if isinstance(method, Cut) else of_pika(method, properties, body)
        self._owner.on_delivery(queue, source, found, now)

    def _step(self) -> Callable[[object], None]:
        channel = self.channel
        self._steps += 1
        self._stepped_at = self._link.now()

        def answered(_frame: object) -> None:
            if self.channel is channel:
                self._steps -= 1
                self._converge()

        return answered

    # -------------------------------------------------------------------------------------------------- recovery
    def _cancelled(self, frame: Any) -> None:
        """The broker ended a consumer: its queue was deleted, or a delivery was held too long (4.3)."""
        tag = frame.method.consumer_tag
        for queue, item in list(self._active.items()):
            if item.tag == tag:
                del self._active[queue]
                log.warning("the broker cancelled the consumer of %s (deleted, or a delivery held too long)", queue)
                self._recover()

    def _lost(self, reason: ChannelLost) -> None:
        self._forget_channel()
        if self._leaving or not reason.code:
            return
        cause = own_words.write("own.channel_closed", why=f"{reason.code} {reason.text}")
        if ACK_TIMEOUT in reason.text:
            cause = own_words.write("own.held_too_long", why=reason.text)
        if cause != self.error:
            log.warning("%s", cause)
        self.error = cause
        if reason.code == ACCESS_REFUSED:  # all queues of this channel would be lost with each further try
            named = [queue for queue in self._queues if f"queue '{queue}'" in reason.text]
            self._refused = {**self._refused, **dict.fromkeys(named, cause)}
            self._tried_at = self._link.now()
        self._recover()

    def _forget_channel(self) -> None:
        self._opening, self._steps = False, 0
        self._active.clear()
        if self.channel is not None:
            self.channel = None
            self._owner.on_lost()

    def _recover(self) -> None:
        """Declare again what is wanted, then consume again, after a pause that grows while it fails."""
        if self._retry is not None or self._leaving:
            return
        if self._link.now() - self._up_at >= STEADY:
            self._backoff.reset()
        self._retry = self._link.later(self._backoff.pause(REACH_CAP), self._again)

    def _again(self) -> None:
        self._retry = None
        if self._link.ready:
            self._control.restore(self._converge)

    # -------------------------------------------------------------------------------------------------- watchdog
    def _look(self) -> None:
        """A worker that is alive and consumes nothing must be impossible."""
        self._set_watch()
        now = self._link.now()
        if self._leaving or not self._link.ready or not self._running:
            return
        self._try_refused(now)
        if (self._steps or self._opening) and now - self._stepped_at > STUCK:
            self._link.abort("the broker does not answer a consumer")
        elif self._away() and now - self._asked_at >= AGAIN:
            self._asked_at = now
            self._control.restore(self._converge)
        elif self._idle(now):
            log.warning("%s consumes nothing; starting again", self._name)
            self._recover()
        elif self._active and now - self._delivered_at > STALL and not self._arguments:
            self._delivered_at = now
            self._check_stall()

    def _try_refused(self, now: float) -> None:
        if self._refused and now - self._tried_at >= PERMITTED:
            self._tried_at = now
            for queue in self._refused:
                self._try(queue)

    def _try(self, queue: str) -> None:
        """Whether this user may take from a queue by now: on a channel of its own, for a refusal closes it."""

        def begin(channel: Channel) -> None:
            def permitted(_frame: object) -> None:
                log.info("this user may take from %s again", queue)
                self._refused = {name: why for name, why in self._refused.items() if name != queue}
                channel.close()
                self._converge()

            channel.basic_qos(prefetch_count=1, callback=lambda _frame: None)
            tag = f"{self._name[:100]}.{queue}.try"
            channel.basic_consume(
                queue, lambda *_: None, consumer_tag=tag, arguments=self._arguments, callback=permitted
            )

        self._link.channel(begin, lambda _reason: None)

    def _set_watch(self) -> None:
        self._link.forget(self._watch)
        self._watch = self._link.later(WATCH, self._look)

    def _idle(self, now: float) -> bool:
        """Neither complete nor on the way there."""
        under_way = self._steps or self._opening or self._retry is not None or now - self._stepped_at < WATCH
        return not under_way and len(self._active) < len(self._wanted())

    def _check_stall(self) -> None:
        """Nothing came for a while: right if the queues are empty or others consume, wrong if we are the only one."""
        answer: Future[Numbers] = Future()
        answer.add_done_callback(self._judge_stall)
        self._control.counting(tuple(self._active), answer)

    def _judge_stall(self, answer: Future[Numbers]) -> None:
        if answer.exception() is not None or self._owner.unacked():
            return
        waiting = [queue for queue, (ready, consumers) in answer.result().items() if ready and consumers <= 1]
        if waiting and self._active:
            self._link.abort(f"nothing is delivered although messages wait in {', '.join(waiting)}")
