"""Letters on their way to the dead queue: the log beside it gets each once, however often the queue refuses it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import structs

from services.domain.task.order import Order, Receipt
from services.domain.task.record import Task
from services.ports import Store

KIND = "letter_out"
#: errors after which the log may have what the queue has not
_PERHAPS = frozenset({"nack", "timeout"})


class LettersOut:
    """Written down before the first try, struck off once the queue has it. A crash in between costs the second copy,
    never the letter: whoever tries again sends to the queue alone.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, orders: Mapping[str, Order]) -> dict[str, Order]:
        """The same orders by their marks, those of letters that were tried before for the queue alone.

        Raises:
            StoreError: nothing was written down, so nothing may be sent.
        """
        return {
            mark: order if self._store.add_document(KIND, mark, "{}") else structs.replace(order, kind="letter")
            for mark, order in orders.items()
        }

    def end(self, orders: Mapping[str, Order], receipts: Mapping[str, Receipt]) -> None:
        """Forget what has arrived, and what was surely not sent.

        Raises:
            StoreError: it stays written down.
        """
        for mark, order in orders.items():
            receipt = receipts[mark]
            if receipt.ok or (order.kind == "dead" and receipt.error not in _PERHAPS):
                self._store.remove_document(KIND, mark)


def mark_of(task: Task) -> str:
    """Each death of a task is a letter of its own."""
    return f"{task.task_id}#{task.gen}.{task.attempt}"


def mark_of_bytes(order: Order) -> str:
    """Of what is no task."""
    return f"bad_{hashlib.sha256(order.message_id.encode() + order.body).hexdigest()[:32]}"
