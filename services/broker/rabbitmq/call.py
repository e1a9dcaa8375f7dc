"""One call of publish: its orders, each with the place for its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from services.broker.rabbitmq import frames
from services.domain.task.order import Order, Receipt

OK = Receipt(True)
UNKNOWN = Receipt(False, "timeout")  #: sent, and nobody knows who took it


class Slot:
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
        self.slots: list[Slot] = []
        for place, order in enumerate(orders):
            try:
                exchange = frames.exchange_of(order)
                self.slots.append(Slot(self, place, order, exchange, frames.head(order, exchange)))
            except frames.Unfit as exc:
                self.answer(place, Receipt(False, f"refused: {exc}"))

    def answer(self, place: int, receipt: Receipt) -> None:
        self._receipts[place] = receipt
        self._missing -= 1
        if not self._missing:
            self.done.set()

    def give_up(self, receipt: Receipt, which: Callable[[Slot], bool] = lambda _slot: True) -> int:
        """Answer what nobody answered; tell how many those were."""
        open_ = [slot for slot in self.slots if not slot.settled and which(slot)]
        for slot in open_:
            slot.settle(UNKNOWN if slot.once and slot.sent else receipt)
        return len(open_)

    def receipts(self, missing: Receipt) -> list[Receipt]:
        """All answers in the order of the orders."""
        return [receipt or missing for receipt in self._receipts]
