"""What one channel of a consumer has brought: deliveries on their way to whoever takes them, and their settlement."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Sequence

from services.broker.rabbitmq.connection import Link
from services.broker.rabbitmq.cut import Cut
from services.broker.rabbitmq.ledger import Ledger, Token, Verb
from services.broker.rabbitmq.wire import Channel
from services.domain.task.order import Delivery


class Side:
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

    def held(self) -> int:
        """Deliveries received and not settled."""
        with self._cond:
            return self.ledger.held

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
