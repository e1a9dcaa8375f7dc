"""Counting queues: all questions in one write, since pika alone would wait for each answer before the next question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from pika import spec

from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.errors import ACCESS_REFUSED, NOT_FOUND, RESOURCE_LOCKED, ChannelLost, unreachable
from services.broker.rabbitmq.wire import Channel

Numbers = dict[str, tuple[int, int]]  #: queue → ready messages, consumers


class Count:
    """One count; lives in the I/O thread. A missing queue closes the channel: the rest is asked again on another."""

    def __init__(
        self,
        link: Link,
        names: Sequence[str],
        answer: Future[Numbers],
        latency: Callable[[float], None],
        seen: Callable[[Iterable[str], Mapping[str, str]], None] = lambda _reached, _unreachable: None,
    ) -> None:
        """``seen`` hears which queues were reached and, with what the broker says of it, which could not be."""
        self._link, self._names, self._answer, self._latency, self._seen = link, names, answer, latency, seen
        self._away: dict[str, str] = {}
        self._found: Numbers = {}
        self._position = 0  #: answers come in the order of the questions
        self._asked_at: float | None = None
        self._channel: Channel | None = None

    def start(self) -> None:
        """Ask for everything from the current position on."""
        if self._link.ready:
            self._channel = self._link.channel(self._ask, self._lost)
        else:
            self._answer.set_exception(ChannelLost(0, "the connection was lost"))

    def _ask(self, channel: Channel) -> None:
        channel.add_callback(self._counted, [spec.Queue.DeclareOk], one_shot=False)
        self._asked_at = self._link.now()
        with self._link.connection.corked():
            for name in self._names[self._position :]:
                channel.count_queue(name)

    def _counted(self, frame: Any) -> None:
        if self._asked_at is not None:
            self._latency((self._link.now() - self._asked_at) * 1000)
            self._asked_at = None
        self._found[self._names[self._position]] = (int(frame.method.message_count), int(frame.method.consumer_count))
        self._position += 1
        if self._position == len(self._names):
            self._finish()

    def _finish(self) -> None:
        self._seen(self._found, self._away)
        self._answer.set_result(self._found)
        if self._channel is not None and self._channel.is_open:
            self._channel.close()

    def _lost(self, reason: ChannelLost) -> None:
        if self._answer.done():
            return
        if reason.code not in (NOT_FOUND, ACCESS_REFUSED, RESOURCE_LOCKED):
            self._answer.set_exception(reason)
            return
        if unreachable(reason):
            self._away[self._names[self._position]] = reason.text
        self._position += 1
        if self._position >= len(self._names):
            self._finish()
        else:
            self._link.post(self.start)
