"""Work orders: the messages that tell a worker to look at a record, and what comes back when one is delivered."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Order(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message to publish: persistent, mandatory, confirmed.

    ``kind`` says what it is: ``work`` (lane or dedicated queue by ``routing_key``), ``delay`` (waits ``delay_s`` and
    then goes to ``routing_key``), ``dead`` (the dead-letter queue and, if there is one, the log beside it), ``letter``
    (the dead-letter queue alone, for the log may have it).
    """

    kind: str
    routing_key: str  #: task.{platform}.{lane or shop id}; ``dead`` for a dead letter
    body: bytes
    message_id: str
    priority: int = 5  #: 0–9, see ``lane.message_priority``
    delay_s: int = 0
    headers: Mapping[str, str | int] = msgspec.field(default_factory=dict)
    platform: str = ""


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """What became of one order: ``ok`` is True once the broker holds it, else ``error`` says why not.

    ``error``: unroutable | nack | timeout | blocked | disconnected | refused: <reason>.
    """

    ok: bool
    error: str = ""


class GivenUp(msgspec.Struct, frozen=True, gc=False):
    """Why a broker put a message among the dead letters by itself."""

    reason: str  #: expired | maxlen (the queue was too long) | rejected | delivery_limit (it came back too often)
    queue: str = ""  #: where it was
    by_sender: bool = False  #: it expired by a time that its sender gave it, and not by a limit of the queue


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
    given_up: GivenUp | None = None  #: where the broker tells that it put it aside


class QueueDepth(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Live numbers of one queue; ``unacked`` is None where the broker cannot tell."""

    name: str
    ready: int
    unacked: int | None
    consumers: int
    kind: str = (
        "lane"  #: lane | shop | delay | dead | notice | late (unread notices) | foreign (a plain work queue) | other
    )


class Inspection(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a look that changes nothing found of what is needed there."""

    missing: tuple[str, ...] = ()
    present: int = 0
    compared: bool = True  #: whether the arguments of those present could be seen
    unbound: tuple[str, ...] = ()  #: what should lead to a queue and does not, as far as it is shown
    unreachable: tuple[tuple[str, str], ...] = ()  #: queues that nobody can get at now, and what the broker says


class BrokerHealth(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Whether the broker answers now."""

    connected: bool
    blocked: bool = False  #: the broker holds publishers back, or does not let this user send
    latency_ms: float = -1.0
    error: str = ""
    since_ms: int = 0  #: UTC ms of the last change
    version: str = ""
    blocked_ms: int = 0  #: since when it holds publishers back, UTC ms; 0 it does not
    why: str = ""  #: its reason, in its own words
    unanswered: int = 0  #: orders that were given up without a confirm since the last confirm
    unanswered_ms: int = 0  #: when the first of them was, UTC ms
    rejecting: tuple[str, ...] = ()  #: queues that take no message from this process, as where they are at their limit
    rejecting_ms: int = 0  #: since when, UTC ms
    closed: tuple[str, ...] = ()  #: queues of this process that its user may not take from
    embedded: bool = False  #: it is a file of this computer, with no server that anybody runs
