"""Orders for the broker suite, and a patient way to collect deliveries."""

from __future__ import annotations

import time

from services.domain.task.order import Delivery, Order, QueueDepth
from services.ports import Broker, Consumer
from tests.contract.waiting import PATIENCE_S
from tests.support.rabbit_cluster import NODES

#: by then the first has come to a driver that buffers; from a queue on several nodes later
_BUFFERS_S = 0.5 if NODES == 1 else 5.0


def order(number: int, lane: str = "normal", *, priority: int = 5, delay_s: int = 0, platform: str = "pdd") -> Order:
    """A work order that can be told from others by its message id."""
    return Order(
        kind="delay" if delay_s else "work",
        routing_key=f"task.{platform}.{lane}",
        body=f'{{"n": {number}}}'.encode(),
        message_id=f"m{number}",
        priority=priority,
        delay_s=delay_s,
        headers={"x-rpa-gen": 0, "x-rpa-attempt": 0},
        platform=platform,
    )


def collect(
    consumer: Consumer, count: int, *, settle: bool = False, at_once: int = 1000, seconds: float = PATIENCE_S
) -> list[Delivery]:
    """Take until there are so many; fails if they do not come."""
    found: list[Delivery] = []
    deadline = time.monotonic() + seconds
    while len(found) < count:
        assert time.monotonic() < deadline, f"{len(found)} of {count} deliveries"
        taken = consumer.take(min(at_once, count - len(found)), 0.5)
        if settle:
            consumer.ack(taken)
        found += taken
    return found


def buffered(consumer: Consumer, count: int) -> None:
    """Let a driver that buffers fill its buffer; one that does not has nothing to wait for."""
    began = time.monotonic()
    while consumer.unacked() < count and time.monotonic() - began < (PATIENCE_S if consumer.unacked() else _BUFFERS_S):
        time.sleep(0.005)


def depth(broker: Broker, lane: str) -> QueueDepth:
    """The numbers of a lane, or of the dead queue."""
    kind = "dead" if lane == "dead" else "lane"
    (found,) = [one for one in broker.depths() if one.kind == kind and (kind == "dead" or one.name.endswith(lane))]
    return found
