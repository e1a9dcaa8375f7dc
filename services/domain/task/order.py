"""Work orders: the messages that tell a worker to look at a record, and what comes back when one is delivered."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

#: headers that must not travel on when a message is published again (a broker may take them for a cycle, or expire it)
STRIPPED_HEADERS = frozenset(
    {"x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason", "x-last-death-exchange",
     "x-last-death-queue", "x-last-death-reason", "x-delivery-count", "x-acquired-count", "CC", "BCC"}
)  # fmt: skip


class Order(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message to publish: persistent, mandatory, confirmed.

    ``kind`` picks the exchange: ``work`` (lane or dedicated queue by ``routing_key``), ``delay`` (waits ``delay_s`` and
    then goes to ``routing_key``), ``dead`` (the dead-letter queue and, if there is one, the log beside it), ``letter``
    (the dead-letter queue alone, for the log may have it).
    """

    kind: str
    routing_key: str  #: task.{platform}.{lane or shop id}; ``dead`` for a dead letter
    body: bytes
    message_id: str
    priority: int = 5  #: AMQP priority 0–9
    delay_s: int = 0
    headers: Mapping[str, str | int] = msgspec.field(default_factory=dict)
    platform: str = ""


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """What became of one order: ``ok`` is True once the broker holds it, else ``error`` says why not.

    ``error``: unroutable | nack | timeout | blocked | disconnected | refused: <reason>.
    """

    ok: bool
    error: str = ""


class Delivery(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message handed to a consumer; settle it with that consumer. ``token`` is the driver's own."""

    token: object
    queue: str
    body: bytes
    routing_key: str = ""
    message_id: str = ""
    content_type: str = ""
    content_encoding: str = ""
    headers: Mapping[str, object] = msgspec.field(default_factory=dict)
    priority: int | None = None
    redelivered: bool = False
    received: float = 0.0  #: monotonic seconds, for returning what nobody started


class QueueDepth(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Live numbers of one queue; ``unacked`` is None where the broker cannot tell."""

    name: str
    ready: int
    unacked: int | None
    consumers: int
    kind: str = (
        "lane"  #: lane | shop | delay | dead | notice | late (unread notices) | foreign (a plain work queue) | other
    )


class QueueSeen(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One queue as the server has it, with what a policy of its operators adds to its own arguments."""

    name: str
    kind: str = ""  #: classic | quorum | stream, "" where the server does not tell
    copies: int = 0  #: on how many nodes it stands, 0 where the server does not tell
    policy: str = ""  #: names of the policies
    definition: dict[str, object] = {}


class Inspection(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a look that changes nothing found of the queues and exchanges that are needed."""

    missing: tuple[str, ...] = ()
    present: int = 0
    compared: bool = True  #: whether the arguments of those present could be seen
    unbound: tuple[str, ...] = ()  #: what should lead from an exchange to a queue and does not, as far as it is shown
    unreachable: tuple[tuple[str, str], ...] = ()  #: queues that nobody can get at now, and what the broker says


class BrokerHealth(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Whether the broker answers now."""

    connected: bool
    blocked: bool = False  #: the broker holds publishers back
    latency_ms: float = -1.0
    error: str = ""
    since_ms: int = 0  #: UTC ms of the last change
    version: str = ""
    blocked_ms: int = 0  #: since when it holds publishers back, UTC ms; 0 it does not
    why: str = ""  #: its reason, in its own words
    unanswered: int = 0  #: orders that were given up without a confirm since the last confirm
    unanswered_ms: int = 0  #: when the first of them was, UTC ms
