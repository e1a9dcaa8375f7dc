"""What exists on the broker: names, arguments and bindings of WIRE.md, as values, and declaring them on a channel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from services.broker.rabbitmq.wire import Channel
from services.domain.task.lane import LANES, LATE_QUEUE, NOTICE_QUEUE, SHOP_QUEUE, Lane, shop_queue
from services.domain.text.said import Said, said

TASKS, DEAD_LETTERS, RESULTS = "rpa_task_exchange", "rpa_dlx_exchange", "rpa_result_exchange"
#: where the fleet itself publishes work: it leads to the same queues by the same keys, and not to the notices
OWN = "rpa_own_exchange"
#: copies of what comes by the exchange of all programs, so that it is known before a worker takes it off its lane
NOTICES = NOTICE_QUEUE
#: notices that ended unread, also those that expired with their message: who sends under the name of a platform that
#: nobody knows yet has no binding to the dead letters, and a direct exchange knows no pattern that could be one
LATE = LATE_QUEUE
#: beginnings of the names of the fleet's queues
OURS = ("rpa_", SHOP_QUEUE)
DEAD_QUEUE, DEAD_LOG, DEAD_KEY = "rpa_dead_queue", "rpa_dead_log", "dead"
NODE_PREFIX, DELAY_PREFIX = "rpa_node_", "rpa_delay_"
MAX_PRIORITY = 10
DEAD_LOG_BYTES = 1 << 30
#: always said: on a vhost whose default is quorum an omitted type would become one; given and omitted count as equal
CLASSIC = {"x-queue-type": "classic"}
SORTED = {**CLASSIC, "x-max-priority": MAX_PRIORITY}
QUORUM = {"x-queue-type": "quorum"}
#: since 4.0 a quorum queue gives a message up after 20 returns; where nobody would take it up it must not
NO_LIMIT_SINCE, NO_LIMIT = (4, 0), {"x-delivery-limit": -1}
#: an expired message leaves a waiting room when its lane has confirmed it; the broker wants the overflow for that
SURELY = {"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"}
SINGLE, CLUSTER = "single", "cluster"  #: profiles of a broker
#: the highest priority that a quorum queue of 4.0 counts as normal
NORMAL_CLASS = 4
#: a notice decides nothing: when there are too many, or they are too old, they go, and the lanes still have the tasks
NOTICE_LIMITS = {
    "x-max-length": 100_000,
    "x-max-length-bytes": 256 << 20,
    "x-overflow": "drop-head",
    "x-message-ttl": 24 * 3600 * 1000,
}
#: no time limit: what expired before anybody came is kept until somebody does
LATE_LIMITS = {name: value for name, value in NOTICE_LIMITS.items() if name != "x-message-ttl"}
_LESS = {str(Lane.NORMAL): 2}  #: what brings the levels of a lane into that class


class Exchange(msgspec.Struct, frozen=True):
    """A durable exchange."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Queue:
    """A durable queue."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict, hash=False)
    #: what will do too where it stands already, or the broker knows no better: the best first
    accepted: tuple[Mapping[str, object], ...] = field(default=(), hash=False)


class Binding(msgspec.Struct, frozen=True):
    """What an exchange routes to a queue."""

    queue: str
    exchange: str
    key: str = ""


Declarable = Exchange | Queue | Binding


def lane_queue(lane: str) -> str:
    """Queue of a lane; the name of a dedicated queue stands for itself."""
    return f"rpa_tasks_{lane}" if lane in LANES else lane


def queue_of(routing_key: str) -> str:
    """Queue to which the key of a task leads."""
    word = routing_key.rpartition(".")[2]
    return lane_queue(word) if word in LANES else shop_queue(word)


def delay_queue(seconds: int) -> str:
    """Queue, and exchange, that keep a message for so many seconds."""
    return f"{DELAY_PREFIX}{seconds}s"


def quorum_priority(routing_key: str, priority: int) -> int:
    """Priority of a message on a cluster: above the normal class in the high lane only.

    Within a lane the order stays, for since 4.3 every level counts. In the queue of a single shop the priority tells
    the lane, so it stays as it is, and what is urgent comes first there.
    """
    lane = routing_key.rpartition(".")[2]
    if lane not in LANES or lane == Lane.HIGH:
        return priority
    return min(max(0, priority - _LESS.get(lane, 0)), NORMAL_CLASS)


def kind_of(queue: str) -> str:
    """lane | shop | delay | dead | notice | late | other, "" for a queue that is not ours."""
    if (single := {DEAD_QUEUE: "dead", NOTICES: "notice", LATE: "late"}.get(queue)) is not None:
        return single
    if queue in {lane_queue(lane) for lane in LANES}:
        return "lane"
    for prefix, kind in ((SHOP_QUEUE, "shop"), (DELAY_PREFIX, "delay"), (NODE_PREFIX, "other")):
        if queue.startswith(prefix):
            return kind
    return ""


def base(profile: str = SINGLE, version: tuple[int, ...] = ()) -> tuple[Declarable, ...]:
    """What every installation has; on a cluster all are quorum queues, which know no ``x-max-priority``."""
    lanes: list[Declarable] = []
    arguments = {**(QUORUM if profile == CLUSTER else SORTED), "x-dead-letter-exchange": DEAD_LETTERS}
    for lane in LANES:
        lanes += [Queue(lane_queue(lane), arguments), Binding(lane_queue(lane), TASKS, f"task.*.{lane}")]
    return (
        Exchange(TASKS, "topic"),
        Exchange(DEAD_LETTERS, "direct"),
        Exchange(RESULTS, "topic"),
        _dead_queue(profile, version),
        Binding(DEAD_QUEUE, DEAD_LETTERS, DEAD_KEY),
        *lanes,
    )


def own_way(profile: str = SINGLE) -> tuple[Declarable, ...]:
    """The exchange of the fleet's own work, and the notices of all other. Welcome, not required: without them own work
    goes by the exchange of all programs, and what others send is known when a worker takes it.

    The notices have the keys of the lanes and no more: what leads to no lane must stay unroutable for who sends it.
    """
    lanes = [(lane_queue(lane), f"task.*.{lane}") for lane in LANES]
    kind = QUORUM if profile == CLUSTER else CLASSIC
    without = {**kind, **NOTICE_LIMITS}  #: as they were once: their messages end with them
    return (
        Exchange(OWN, "topic"),
        *(Binding(queue, OWN, key) for queue, key in lanes),
        Exchange(LATE, "fanout"),
        Queue(LATE, {**kind, **LATE_LIMITS}),
        Binding(LATE, LATE),
        Queue(NOTICES, {**without, "x-dead-letter-exchange": LATE}, (without,)),
        *(Binding(NOTICES, TASKS, key) for _, key in lanes),
    )


def own_way_of_shop(platform: str, shop_id: str) -> tuple[Declarable, ...]:
    """What leads to the dedicated queue of a shop beside the exchange of all programs."""
    key = shop_key(platform, shop_id)
    return Binding(shop_queue(shop_id), OWN, key), Binding(NOTICES, TASKS, key)


def shop_key(platform: str, shop_id: str) -> str:
    """Routing key of a shop with a queue of its own."""
    return f"task.{platform}.{shop_id}"


def _dead_queue(profile: str, version: tuple[int, ...]) -> Queue:
    if profile != CLUSTER:
        return Queue(DEAD_QUEUE, CLASSIC)
    if version >= NO_LIMIT_SINCE:
        return Queue(DEAD_QUEUE, {**QUORUM, **NO_LIMIT}, (QUORUM, CLASSIC))
    return Queue(DEAD_QUEUE, QUORUM, (CLASSIC,))


def platform(name: str) -> tuple[Declarable, ...]:
    """The keys under which the broker itself dead-letters a platform's messages."""
    return tuple(Binding(DEAD_QUEUE, DEAD_LETTERS, f"task.{name}.{lane}") for lane in LANES)


def delay(seconds: int, profile: str = SINGLE) -> tuple[Declarable, ...]:
    """A waiting room: a fanout in front, so that the original routing key survives to the way out."""
    name = delay_queue(seconds)
    waits = {"x-message-ttl": seconds * 1000, "x-dead-letter-exchange": TASKS}
    queue = Queue(name, {**CLASSIC, **waits})
    if profile == CLUSTER:
        queue = Queue(name, {**QUORUM, **waits, **SURELY}, ({**QUORUM, **waits}, {**CLASSIC, **waits}))
    return Exchange(name, "fanout"), queue, Binding(name, name)


def shop(platform: str, shop_id: str, profile: str = SINGLE) -> tuple[Declarable, ...]:
    """The dedicated queue of a shop; what a quorum queue gives up for its returns goes to the dead letters."""
    name = shop_queue(shop_id)
    queue = Queue(name, CLASSIC)
    if profile == CLUSTER:
        back = {"x-dead-letter-exchange": DEAD_LETTERS, "x-dead-letter-routing-key": DEAD_KEY}
        queue = Queue(name, {**QUORUM, **back}, (CLASSIC,))
    return queue, Binding(name, TASKS, shop_key(platform, shop_id))


def dead_log(platforms: Iterable[str]) -> tuple[Declarable, ...]:
    """The second copy of dead letters, where the broker has streams."""
    keys = [DEAD_KEY, *(f"task.{name}.{lane}" for name in platforms for lane in LANES)]
    stream = Queue(DEAD_LOG, {"x-queue-type": "stream", "x-max-length-bytes": DEAD_LOG_BYTES})
    return stream, *(Binding(DEAD_LOG, DEAD_LETTERS, key) for key in keys)


def declare(channel: Channel, parts: Iterable[Declarable], step: Callable[[Declarable], None]) -> None:
    """Declare all of them in one write; ``step`` follows each answer, and answers come in the order of the parts."""
    asked = tuple(parts)
    unanswered = iter(asked)
    channel.on_declared(lambda _frame: step(next(unanswered)))
    for part in asked:
        match part:
            case Exchange(name, kind):
                channel.ask_exchange(name, kind)
            case Queue(name, arguments):
                channel.ask_queue(name, dict(arguments))
            case Binding(queue, exchange, key):
                channel.ask_binding(queue, exchange, key)


def mismatch(part: Declarable, text: str, existing: Mapping[str, object] | None) -> Said:
    """What to tell a person when something exists with other arguments."""
    if isinstance(part, Exchange):
        return said("broker.exchange_differs", name=part.name, kind=part.kind, error=text)
    if isinstance(part, Binding):
        return said("broker.not_bound", name=part.queue, exchange=part.exchange, error=text)
    told = {"name": part.name, "needed": str(dict(part.arguments)), "error": text}
    if existing is None:
        return said("broker.queue_unread", **told)
    told["theirs"] = str(dict(existing))
    if part.name in map(lane_queue, LANES):
        found = CLUSTER if existing.get("x-queue-type") == "quorum" else SINGLE
        wanted = CLUSTER if part.arguments.get("x-queue-type") == "quorum" else SINGLE
        if found != wanted:
            return said("broker.queue_profile", **told, found=found, wanted=wanted)
    return said("broker.queue_differs", **told)
