"""Orders as messages of Pulsar and back: the topic, the key, and the properties, which are texts only."""

from __future__ import annotations

from typing import Any

from services.domain.fleet import shop
from services.domain.task import envelope
from services.domain.task.lane import LANE_QUEUE, LANES, SHOP_QUEUE, shop_queue
from services.domain.task.order import Delivery, Order

DEAD, RESULTS = "rpa_dead_queue", "rpa_results"
ROUTE, PRIORITY = "x-rpa-route", "x-rpa-priority"
CONTENT = "content-type"
_OURS = "x-rpa-"
#: properties of ours that stay texts even where they are made of figures
_TEXTS = frozenset({envelope.ERROR, envelope.ERROR_KIND})
Key = tuple[int, int, int]  #: ledger, entry, place in its batch


def queue_of(order: Order) -> str:
    """The queue that an order belongs into; "" where its key names none."""
    if order.kind in ("dead", "letter"):
        return DEAD
    if order.kind == "result":
        return RESULTS
    words = order.routing_key.split(".")
    if len(words) != 3 or words[0] != "task":
        return ""
    if words[2] in LANES:
        return LANE_QUEUE + words[2]
    return shop_queue(words[2]) if shop.valid_shop_id(words[2]) else ""


def properties(order: Order) -> dict[str, str]:
    """What stands beside the body."""
    told = {name: str(value) for name, value in order.headers.items()}
    return told | {ROUTE: order.routing_key, PRIORITY: str(order.priority), CONTENT: "application/json"}


def key_of(message: Any) -> Key:
    """What tells a message from all others of its topic."""
    found = message.message_id()
    return found.ledger_id(), found.entry_id(), found.batch_index()


def delivery(queue: str, key: Key, message: Any, received: float) -> Delivery:
    """A message as the port hands it out."""
    told = dict(message.properties())
    route, priority = told.pop(ROUTE, ""), told.pop(PRIORITY, "")
    return Delivery(
        token=key,
        queue=queue,
        body=bytes(message.data()),
        routing_key=route or _route(queue),
        message_id=message.partition_key(),
        content_type=told.pop(CONTENT, ""),
        headers={name: _value(name, value) for name, value in told.items()},
        priority=int(priority) if priority.isdecimal() and len(priority) < 4 else None,
        redelivered=message.redelivery_count() > 0,
        received=received,
    )


def _route(queue: str) -> str:
    """The key of what another program sent without one: its topic says where it belongs."""
    for prefix in (LANE_QUEUE, SHOP_QUEUE):
        if queue.startswith(prefix):
            return f"task.any.{queue.removeprefix(prefix)}"
    return "dead" if queue == DEAD else ""


def _value(name: str, value: str) -> str | int:
    ours = name.startswith(_OURS) and name not in _TEXTS and value.isascii() and value.isdecimal()
    return int(value) if ours and len(value) < 19 else value
