"""Serving many queues of single shops with few seats: one message each at a time, and whoever waits has a turn.

A consumer on every queue would hold a message of each, although only a few can run. So there are as many seats as
slots: a seat is a consumer with a prefetch of one, or a message that is still unsettled. With fewer queues than seats
each has its own. With more, the queues that have messages (found by counting) sit in turns, those first that sat the
longest time ago. All of it in the I/O thread of the link.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Container, Sequence
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

TURN = 0.1  #: seconds between two looks at the seats
#: a seat that brought all that was counted, or nothing for so long, or was kept so long, is given up if others wait
IDLE, LONG = 0.3, 1.5
UNTAKEN, REST = 1.0, 2.0  #: what nobody took for so long goes back, and its queue rests for a while
COUNT, COUNT_EACH = 0.5, 0.005  #: seconds between two counts: at least, and for each queue (200 questions a second)
PERMITTED = 300.0  #: seconds until a queue is tried again that this user may not take from: each try closes the channel
STUCK = 30.0  #: a step the broker does not answer for so long: the connection is made anew


class Seat(msgspec.Struct):
    """A consumer of one queue."""

    tag: str
    number: int
    since: float
    last_delivery: float  #: last delivery
    left: int  #: messages that were counted when it sat down and have not come


class Owner(Protocol):
    """Who receives what the channel delivers."""

    def on_channel(self, channel: Channel) -> None: ...
    def on_lost(self) -> None: ...
    def on_delivery(self, queue: str, source: int, found: Cut, now: float) -> None: ...
    def on_data(self) -> None: ...
    def give_back(self, keep: Container[int]) -> None: ...
    def busy(self) -> set[str]: ...
    def untaken(self, since: float) -> set[str]: ...


class Rota:
    """Brings the seats from what is there to what is wanted, look by look."""

    def __init__(self, link: Link, control: Control, owner: Owner, *, name: str) -> None:
        self._link, self._control, self._owner, self._name = link, control, owner, name
        self._queues: tuple[str, ...] = ()
        self._seats = 1
        self._running, self._leaving = True, False
        self._sitting: dict[str, Seat] = {}
        self._rising: set[str] = set()  #: cancelled, not answered yet
        self._sat: dict[str, float] = {}  #: when a queue had its last turn
        self._rests: dict[str, float] = {}  #: until when a queue whose message nobody took is left alone
        self._refused: dict[str, str] = {}  #: queues that this user may not take from, and what the broker says
        self._ready: dict[str, int] = {}  #: as counted, of those that do not sit
        self._counting, self._counted_at = False, float("-inf")
        self._steps, self._numbers = 0, 0
        self._stepped_at = self._up_at = link.now()
        self._opening = False
        self._backoff = Backoff()
        self._resume_at = float("-inf")
        self._timer: Any = None
        self._left: threading.Event | None = None
        self.channel: Channel | None = None
        self.error = ""

    # ---------------------------------------------------------------------------------------------------- asked for
    def serve(self, queues: Sequence[str], seats: int) -> None:
        """These queues from now on, with so many seats for all of them."""
        fresh = set(queues) - set(self._queues)
        self._queues, self._seats = tuple(queues), seats
        self._sat = {queue: at for queue, at in self._sat.items() if queue in set(queues)}
        for queue in self._refused.keys() - set(queues):
            self._permitted(queue)
        if fresh:
            self._counted_at = float("-inf")
        self.look()

    def set_running(self, running: bool) -> None:
        self._running = running
        self.look()

    def leave(self, left: threading.Event) -> None:
        """Cancel, give back, close the channel; ``left`` is set when nothing remains."""
        self._leaving, self._running, self._left = True, False, left
        if self.channel is None:
            self._link.forget(self._timer)
            left.set()
        else:
            self.channel.add_on_close_callback(lambda *_: left.set())
            self.look()

    # -------------------------------------------------------------------------------------------------- listener
    def on_up(self) -> None:
        self._resume_at = self._counted_at = float("-inf")
        self.look()

    def on_down(self) -> None:
        self._forget_channel()

    def on_data(self) -> None:
        self._owner.on_data()

    # ---------------------------------------------------------------------------------------------------- turns
    def look(self) -> None:
        """Take the next steps and come back soon, as long as there is anything to serve."""
        self._link.forget(self._timer)
        self._timer = None
        if self._link.ready and not self._opening and not self._steps and self._link.now() >= self._resume_at:
            self._turn()
        elif (self._steps or self._opening) and self._link.now() - self._stepped_at > STUCK:
            self._link.abort("the broker does not answer a consumer of a shop's queue")
        if (self._queues or self._sitting or self._rising) and not (self._leaving and self.channel is None):
            self._timer = self._link.later(TURN, self.look)

    def _turn(self) -> None:
        if self.channel is None:
            if self._queues and self._running:
                self._opening, self._stepped_at = True, self._link.now()
                self._link.channel(self._opened, self._lost)
            return
        self._rise(self.channel)
        if self._running:
            self._sit_down(self.channel)
            self._count()
        elif not self._sitting and not self._rising:
            self._owner.give_back(())
            if self._leaving and self.channel.is_open:
                self.channel.close()

    def _rise(self, channel: Channel) -> None:
        """Cancel who is not wanted, and, if others wait, who had a turn."""
        now, busy, wanted = self._link.now(), self._owner.busy(), set(self._queues)
        untaken = self._owner.untaken(now - UNTAKEN)
        waiting = any(ready for queue, ready in self._ready.items() if self._rests.get(queue, now) <= now)
        others = waiting and len(self._queues) > self._seats
        for queue, seat in list(self._sitting.items()):
            idle = queue not in busy and now - max(seat.since, seat.last_delivery) >= IDLE
            turn_over = others and (idle or seat.left <= 0 or now - seat.since >= LONG)
            if not self._running or queue not in wanted or turn_over or queue in untaken:
                del self._sitting[queue]
                self._rising.add(queue)
                self._sat[queue] = now
                if queue in untaken:
                    self._rests[queue] = now + REST
                channel.cancel_consumer(seat.tag, self._step(functools.partial(self._risen, queue)))

    def _risen(self, queue: str) -> None:
        self._rising.discard(queue)
        if queue in self._rests:
            self._owner.give_back({seat.number for seat in self._sitting.values()})

    def _sit_down(self, channel: Channel) -> None:
        """Fill the free seats with queues that exist and, where not all can sit, have messages."""
        taken = set(self._sitting) | self._rising | self._owner.busy()
        free = self._seats - len(taken)
        crowded = len(self._queues) > self._seats
        now = self._link.now()
        self._rests = {queue: until for queue, until in self._rests.items() if until > now}
        taken |= set(self._rests)
        able = [q for q in self._queues if q not in taken and (self._ready.get(q, 0) if crowded else q in self._ready)]
        able.sort(key=lambda queue: self._sat.get(queue, 0.0))
        chosen = able[: max(0, free)]
        if not chosen:
            return
        channel.basic_qos(prefetch_count=1, callback=self._step())
        for queue in chosen:
            counted = self._ready.pop(queue, 0)
            self._numbers += 1
            seat = Seat(f"{self._name[:80]}.{queue}.{self._numbers}", self._numbers, now, now, counted)
            self._sitting[queue] = seat
            receive = functools.partial(self._deliver, queue, seat)
            answered = self._step(functools.partial(self._permitted, queue))
            channel.basic_consume(queue, receive, consumer_tag=seat.tag, callback=answered)

    def _permitted(self, queue: str) -> None:
        """Taken from, or no concern of this worker any more: what the broker said of it once is over."""
        if self._refused.pop(queue, ""):
            self._rests.pop(queue, None)
            self.error = self._complaint()

    def _complaint(self) -> str:
        return next((why for queue, why in self._refused.items() if queue in self._rests), "")

    def _deliver(self, queue: str, seat: Seat, _channel: Any, method: Any, properties: Any, body: bytes) -> None:
        seat.last_delivery = now = self._link.now()
        seat.left -= 1
        found = method if isinstance(method, Cut) else of_pika(method, properties, body)
        self._owner.on_delivery(queue, seat.number, found, now)

    def _count(self) -> None:
        """Look which of the others exist and have messages."""
        others = [queue for queue in self._queues if queue not in self._sitting and queue not in self._rising]
        pause = max(COUNT, COUNT_EACH * len(others))
        if not others or self._counting or self._link.now() - self._counted_at < pause:
            return
        self._counting = True
        answer: Future[Numbers] = Future()
        answer.add_done_callback(self._counted)
        self._control.counting(others, answer)

    def _counted(self, answer: Future[Numbers]) -> None:
        self._counting, self._counted_at = False, self._link.now()
        if answer.exception() is None:
            self._ready = {queue: ready for queue, (ready, _) in answer.result().items() if queue not in self._sitting}
            self._link.post(self.look)

    def _step(self, then: Callable[[], None] | None = None) -> Callable[[object], None]:
        channel = self.channel
        self._steps += 1
        self._stepped_at = self._link.now()

        def answered(_frame: object) -> None:
            if self.channel is not channel:
                return
            self._steps -= 1
            if then is not None:
                then()
            if not self._steps:
                self.error = self._complaint()
                self.look()

        return answered

    # -------------------------------------------------------------------------------------------------- recovery
    def _opened(self, channel: Channel) -> None:
        self._opening = False
        if self._leaving:
            channel.close()
            return
        self.channel, self._up_at = channel, self._link.now()
        channel.add_on_cancel_callback(self._cancelled)
        self._owner.on_channel(channel)
        self.look()

    def _cancelled(self, frame: Any) -> None:
        """The broker ended a consumer: its queue was deleted, or a delivery was held too long (4.3)."""
        for queue, seat in list(self._sitting.items()):
            if seat.tag == frame.method.consumer_tag:
                del self._sitting[queue]
                log.info("the broker cancelled the consumer of %s", queue)

    def _lost(self, reason: ChannelLost) -> None:
        self._forget_channel()
        if self._leaving or not reason.code:
            return
        cause = own_words.write("own.channel_shops", why=f"{reason.code} {reason.text}")
        if cause != self.error:
            log.warning("%s", cause)
        self.error = cause
        if reason.code == ACCESS_REFUSED:  # the others must not be lost with it again and again
            named = [queue for queue in self._queues if f"queue '{queue}'" in reason.text]
            self._refused |= dict.fromkeys(named, cause)
            self._rests |= dict.fromkeys(named, self._link.now() + PERMITTED)
        if self._link.now() - self._up_at >= STEADY:
            self._backoff.reset()
        self._resume_at = self._link.now() + self._backoff.pause(REACH_CAP)
        self._counted_at = float("-inf")
        self.look()

    def _forget_channel(self) -> None:
        self._opening, self._steps = False, 0
        self._sitting.clear()
        self._rising.clear()
        self._ready.clear()
        if self.channel is not None:
            self.channel = None
            self._owner.on_lost()
        if self._leaving and self._left is not None:
            self._left.set()
