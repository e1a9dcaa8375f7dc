"""A broker that does whatever a broker may do: deliver twice, late, in any order or not at all.

The real brokers have suites of their own. Which message comes when is for the test to decide here, and no real
broker lets anybody decide that; so this is the port in memory, with the topology of WIRE: lanes, queues of single
shops, delays (whose messages are dropped silently where their key leads nowhere by then), the dead queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from services.clock import ManualClock
from services.domain.task import lane as lanes
from services.domain.task.order import BrokerHealth, Delivery, Inspection, Order, QueueDepth, Receipt
from services.ports.broker import Capabilities

DEAD = "rpa_dead_queue"


@dataclass(eq=False, slots=True)
class Message:
    """One copy in a queue; ``owner`` holds it unsettled."""

    order: Order
    queue: str
    visible_at: int = 0
    owner: str = ""
    redelivered: bool = False

    @property
    def rank(self) -> tuple[object, ...]:
        """A place among all messages that does not depend on when it was published."""
        headers = self.order.headers
        return (
            self.queue, self.order.message_id, headers.get("x-rpa-gen", 0), headers.get("x-rpa-attempt", 0),
            self.visible_at, self.redelivered, self.owner,
        )  # fmt: skip


class Bag:
    """``services.ports.Broker`` as one list of messages."""

    capabilities = Capabilities(priority=False, delay=True, depth=True, unroutable=True, dead_log=False, others=False)

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.messages: list[Message] = []
        self.shops: dict[str, str] = {}  #: dedicated queue by the key that it takes
        self.down = False

    # ------------------------------------------------------------------ publishing
    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """All or, while it is down, nothing."""
        return [self._put(order) for order in orders]

    def _put(self, order: Order) -> Receipt:
        if self.down:
            return Receipt(False, "disconnected")
        queue = DEAD if order.kind == "dead" else self._queue_of(order.routing_key)
        if order.kind == "delay":
            self.messages.append(Message(order, queue, self._clock.now_ms() + order.delay_s * 1000))
        elif queue:
            self.messages.append(Message(order, queue))
        else:
            return Receipt(False, "unroutable")
        return Receipt(True)

    def _queue_of(self, key: str) -> str:
        third = key.split(".")[2]
        return f"rpa_tasks_{third}" if third in lanes.DEFAULT_PRIORITY else self.shops.get(key, "")

    # ------------------------------------------------------------------- consuming
    def waiting(self, queue: str | None = None) -> list[Message]:
        """What may be delivered now, of one queue or of all but the dead one, in an order of its own."""
        self._wake()
        found = [one for one in self.messages if not one.owner and not one.visible_at]
        chosen = [one for one in found if (one.queue == queue if queue else one.queue != DEAD)]
        return sorted(chosen, key=lambda one: one.rank)

    def _wake(self) -> None:
        now = self._clock.now_ms()
        for one in [one for one in self.messages if 0 < one.visible_at <= now]:
            one.visible_at, one.queue = 0, self._queue_of(one.order.routing_key)
            if not one.queue:
                self.messages.remove(one)

    def hand(self, message: Message, owner: str) -> Delivery:
        """Give a message to a consumer; it comes back unless it is settled."""
        message.owner = owner
        order = message.order
        return Delivery(
            token=message,
            queue=message.queue,
            body=order.body,
            routing_key=order.routing_key,
            message_id=order.message_id,
            content_type="application/json",
            headers=dict(order.headers),
            priority=order.priority,
            redelivered=message.redelivered,
        )

    def double(self, message: Message) -> None:
        """The same once more."""
        self.messages.append(Message(message.order, message.queue, message.visible_at))

    def lose(self, message: Message) -> None:
        """Gone, and nobody is told."""
        self.messages.remove(message)

    def drop_owner(self, owner: str) -> None:
        """A consumer is gone: what it had not settled comes again."""
        for one in self.messages:
            if one.owner == owner:
                one.owner, one.redelivered = "", True

    # --------------------------------------------------------------------- looking
    def depths(self) -> list[QueueDepth]:
        """Of all queues."""
        self._wake()
        names = [(f"rpa_tasks_{lane}", "lane") for lane in lanes.LANES]
        names += [(name, "shop") for name in sorted(set(self.shops.values()))] + [(DEAD, "dead")]
        return [self._depth(name, kind) for name, kind in names]

    def _depth(self, name: str, kind: str) -> QueueDepth:
        here = [one for one in self.messages if one.queue == name and not one.visible_at]
        unacked = sum(1 for one in here if one.owner)
        return QueueDepth(name=name, ready=len(here) - unacked, unacked=unacked, consumers=1, kind=kind)

    def ensure(self, platforms: Iterable[str] = (), delays: Iterable[int] = ()) -> None:
        """Everything is there."""

    def open_shop(self, platform: str, shop_id: str) -> None:
        """Make the queue of a shop."""
        self.shops[f"task.{platform}.{shop_id}"] = lanes.shop_queue(shop_id)

    def close_shop(self, platform: str, shop_id: str) -> bool:
        """Delete it if nothing is in it."""
        queue = lanes.shop_queue(shop_id)
        if any(one.queue == queue and not one.visible_at for one in self.messages):
            return False
        self.shops.pop(f"task.{platform}.{shop_id}", None)
        return True

    def know(self, shops: Iterable[str], delays: Iterable[int] = ()) -> None:
        """It knows them."""

    def inspect(self, delays: Iterable[int] = ()) -> Inspection:
        """Nothing is missing."""
        return Inspection()

    def health(self) -> BrokerHealth:
        """It answers, or it does not."""
        return BrokerHealth(connected=not self.down)

    def facts(self) -> Mapping[str, str]:
        """It is none of the two."""
        return {"kind": "bag"}

    def close(self) -> None:
        """Nothing to do."""


class BagConsumer:
    """``services.ports.Consumer`` as far as intake and finisher use it."""

    ack_lost = 0

    def __init__(self, bag: Bag, name: str) -> None:
        self._bag, self.name = bag, name

    def ack(self, deliveries: Iterable[Delivery]) -> None:
        """Settled, unless it came again to somebody else meanwhile."""
        for one in deliveries:
            message = one.token
            if isinstance(message, Message) and message.owner == self.name and message in self._bag.messages:
                self._bag.messages.remove(message)

    def requeue(self, deliveries: Iterable[Delivery]) -> None:
        """Back to the queue."""
        for one in deliveries:
            if isinstance(one.token, Message) and one.token.owner == self.name:
                one.token.owner, one.token.redelivered = "", True

    def put_back(self, deliveries: Iterable[Delivery]) -> None:
        """As if it had not been taken."""
        for one in deliveries:
            if isinstance(one.token, Message) and one.token.owner == self.name:
                one.token.owner = ""
