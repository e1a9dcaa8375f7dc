"""Declaring queues and exchanges so that one that cannot be had does not keep the others from being there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import msgspec

from services.broker.rabbitmq import topology
from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.errors import PRECONDITION_FAILED, ChannelLost, unreachable
from services.broker.rabbitmq.topology import Binding, Declarable, Queue
from services.broker.rabbitmq.wire import Channel

SILENT = 3.0  #: seconds without an answer after which a queue counts as out of reach
NO_ANSWER = "the broker does not answer for it"


class PartRefused(Exception):
    """The broker closed the channel instead of declaring this part."""

    def __init__(self, part: Declarable, reason: ChannelLost) -> None:
        super().__init__(reason.text)
        self.part, self.reason = part, reason


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """How it went, by the names of queues."""

    #: with what each was declared in the end
    arguments: Mapping[str, Mapping[str, object]] = msgspec.field(default_factory=dict)
    unreachable: Mapping[str, str] = msgspec.field(default_factory=dict)  #: and what the broker says of it
    #: what stands with other arguments, queues and exchanges; empty unless such are passed over
    refused: Mapping[str, PartRefused] = msgspec.field(default_factory=dict)


class Declaration:
    """One pass over some parts, in the I/O thread. ``answer`` gets a ``Declared``, a ``PartRefused`` or a
    ``ChannelLost`` without a code.
    """

    def __init__(
        self,
        link: Link,
        parts: Sequence[Declarable],
        answer: Future[Declared],
        latency: Callable[[float], None] = lambda _milliseconds: None,
        *,
        tolerant: bool = False,
    ) -> None:
        """``tolerant``: what stands with other arguments is passed over and told, and is no reason to end."""
        self._link, self._todo, self._answer, self._latency = link, list(parts), answer, latency
        self._wanted = {part.name: part for part in parts if isinstance(part, Queue)}
        self._done: dict[str, Mapping[str, object]] = {}
        self._away: dict[str, str] = {}
        self._tolerant = tolerant
        self._refused: dict[str, PartRefused] = {}
        self._asked_at: float | None = None
        self._opened = False  #: the broker has answered on this channel
        self._channel: Channel | None = None
        self._watch: Any = None

    def start(self) -> None:
        """Begin, or go on with what is left, on a channel of its own."""
        if not self._todo:
            self._end()
        elif not self._link.ready:
            self._answer.set_exception(ChannelLost(0, "the connection was lost"))
        else:
            self._open()

    def _open(self) -> None:
        def begin(channel: Channel) -> None:
            if self._channel is channel:
                self._opened, self._asked_at = True, self._link.now()
                with self._link.connection.corked():
                    topology.declare(channel, tuple(self._todo), lambda part: self._step(channel, part))

        def lost(reason: ChannelLost) -> None:
            if self._channel is opened:
                self._lost(reason)

        self._opened = False
        opened = self._channel = self._link.channel(begin, lost)
        self._wait()

    def _wait(self) -> None:
        self._link.forget(self._watch)
        channel = self._channel
        self._watch = self._link.later(SILENT, lambda: self._late(channel))

    def _step(self, channel: Channel, part: Declarable) -> None:
        if self._channel is not channel:
            return
        if self._asked_at is not None:
            self._latency((self._link.now() - self._asked_at) * 1000)
            self._asked_at = None
        self._todo.pop(0)
        if isinstance(part, Queue):
            self._done[part.name] = part.arguments
        if self._todo:
            self._wait()
        else:
            self._end()

    def _end(self) -> None:
        channel = self._leave()
        self._answer.set_result(Declared(arguments=self._done, unreachable=self._away, refused=self._refused))
        if channel is not None and channel.is_open:
            channel.close()

    def _leave(self) -> Channel | None:
        self._link.forget(self._watch)
        channel, self._channel, self._watch = self._channel, None, None
        return channel

    def _lost(self, reason: ChannelLost) -> None:
        self._leave()
        part = self._todo[0]
        if not reason.code:
            self._answer.set_exception(reason)
        elif reason.code == PRECONDITION_FAILED and isinstance(part, Queue) and part.accepted:
            self._todo[0] = Queue(part.name, part.accepted[0], part.accepted[1:])
            self._link.post(self.start)
        elif unreachable(reason) and isinstance(part, Queue | Binding):
            self._pass_over(part, reason.text)
        else:
            self._refuse(part, reason)

    def _refuse(self, part: Declarable, reason: ChannelLost) -> None:
        refused = PartRefused(self._wanted.get(part.name, part) if isinstance(part, Queue) else part, reason)
        if self._tolerant and reason.code == PRECONDITION_FAILED and not isinstance(part, Binding):
            self._refused[part.name] = refused
            self._todo.pop(0)
            self._link.post(self.start)
        else:
            self._answer.set_exception(refused)

    def _late(self, channel: Channel | None) -> None:
        """A queue that nobody answers for is passed over. The channel that waits for it ends when somebody does, after
        what was asked on it: that cannot be taken back.

        Where not even the channel was opened, it is the broker that is silent.
        """
        part = self._todo[0]
        if self._channel is channel and self._opened and isinstance(part, Queue | Binding):
            self._leave()
            if channel is not None and channel.is_open:
                channel.close()
            self._pass_over(part, NO_ANSWER)

    def _pass_over(self, part: Queue | Binding, why: str) -> None:
        name = part.name if isinstance(part, Queue) else part.queue
        self._away[name] = why
        self._done.pop(name, None)
        self._todo = [one for one in self._todo if _queue_of(one) != name]
        self._link.post(self.start)


def _queue_of(part: Declarable) -> str:
    if isinstance(part, Queue):
        return part.name
    return part.queue if isinstance(part, Binding) else ""
