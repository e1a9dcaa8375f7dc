"""What a doctor makes of queues: who serves them, and how long a broker lets a message be held."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from services.domain.task.lane import SHOP_QUEUE, shop_queue
from services.domain.task.order import QueueDepth, QueueSeen
from services.domain.upkeep.health import ERROR, NOTE, WARNING, Finding, finding
from services.domain.upkeep.miscount import some

DEAD_QUEUE, STREAM = "rpa_dead_queue", "rpa_dead_log"
#: RabbitMQ's own, in seconds; it does not tell which one holds. It looks once a minute, and a flow is killed late
CONSUMER_TIMEOUT_S, MARGIN_S = 1800, 170
#: of a quorum queue, unless somebody asks for more
USUAL_COPIES = 3
#: from the one to the other every return counts against a limit of 20 on quorum queues
RETURNS_COUNT = ((4, 0), (4, 3))


def of_queues(depths: Sequence[QueueDepth], shops: Sequence[str], *, workers: int) -> list[Finding]:
    """``shops``: ids of those with a queue of their own; ``workers``: how many are alive."""
    found: list[Finding] = []
    by_name = {depth.name: depth for depth in depths}
    for shop in shops:
        depth = by_name.get(shop_queue(shop))
        if depth is None:
            found.append(finding(WARNING, "queues", "doctor.shop_queue_missing", queue=shop_queue(shop)))
        elif workers and depth.ready and not depth.consumers:
            found.append(finding(WARNING, "queues", "doctor.shop_queue_waits", queue=depth.name, messages=depth.ready))
    held = sum(depth.unacked or 0 for depth in depths if depth.kind in ("lane", "shop"))
    if held and not workers:
        found.append(finding(WARNING, "orphans", "doctor.unacked", messages=held))
    return found


def of_foreign(depths: Sequence[QueueDepth], names: Collection[str]) -> list[Finding]:
    """``names``: plain work queues of other programs that the settings name."""
    found: list[Finding] = []
    by_name = {depth.name: depth for depth in depths}
    for name in sorted(names):
        depth = by_name.get(name)
        if depth is None:
            found.append(finding(WARNING, "queues", "doctor.work_queue_missing", queue=name))
        elif depth.ready and not depth.consumers:
            found.append(finding(WARNING, "queues", "doctor.work_queue_waits", queue=name, messages=depth.ready))
    return found


def of_patience(facts: Mapping[str, str], longest: tuple[str, int]) -> list[Finding]:
    """``longest``: the task type that may run longest, and for how many seconds."""
    if facts.get("kind") != "rabbitmq":
        return []
    found: list[Finding] = []
    name, seconds = longest
    if seconds + MARGIN_S > CONSUMER_TIMEOUT_S:
        found.append(finding(WARNING, "broker", "doctor.consumer_timeout", name=name, seconds=seconds))
    version = tuple(int(number) for number in re.findall(r"\d+", facts.get("version", ""))[:2])
    if facts.get("profile") == "cluster" and RETURNS_COUNT[0] <= version < RETURNS_COUNT[1]:
        found.append(finding(NOTE, "broker", "doctor.returns_count"))
    return found


def of_policies(seen: Sequence[QueueSeen]) -> list[Finding]:
    """What a policy makes of the queues that their own arguments do not say; the same one is told once."""
    told: dict[tuple[str, str], list[str]] = {}
    for queue in seen:
        for word in sorted(_harm(queue)):
            told.setdefault((queue.policy, word), []).append(queue.name)
    return [
        finding(
            WARNING if word == "dead-letter-exchange" else ERROR,
            "queues",
            f"doctor.policy_{word.replace('-', '_')}",
            policy=policy,
            queues=some(names),
        )
        for (policy, word), names in told.items()
    ]


def of_copies(seen: Sequence[QueueSeen], facts: Mapping[str, str]) -> list[Finding]:
    """On a cluster: what goes away with one of its nodes, and what stands on fewer of them than quorum queues do."""
    if facts.get("profile") != "cluster":
        return []
    found: list[Finding] = []
    nodes = int(facts.get("nodes") or 0)
    if lonely := [one.name for one in seen if one.kind == "classic"]:
        found.append(finding(WARNING, "queues", "doctor.one_node", queues=some(lonely)))
    if few := [one.name for one in seen if one.kind == "quorum" and 0 < one.copies < min(nodes, USUAL_COPIES)]:
        found.append(finding(WARNING, "queues", "doctor.few_copies", queues=some(few), nodes=nodes))
    return found


def _harm(queue: QueueSeen) -> set[str]:
    found: set[str] = set()
    given = queue.definition
    own_ttl = re.fullmatch(r"rpa_delay_(\d+)s", queue.name)
    ttl = given.get("message-ttl")
    if isinstance(ttl, int) and (own_ttl is None or ttl < int(own_ttl[1]) * 1000):
        found.add("message-ttl")
    stream = queue.name == STREAM
    if not stream and given.keys() & {"max-length", "max-length-bytes"}:
        found.add("max-length")
    if "expires" in given:
        found.add("expires")
    if "dead-letter-exchange" in given and (queue.name == DEAD_QUEUE or queue.name.startswith(SHOP_QUEUE)):
        found.add("dead-letter-exchange")  # the others have one of their own, which wins
    return found


def of_strays(seen: Sequence[QueueSeen], shops: Collection[str]) -> list[Finding]:
    """Dedicated queues that no document knows. ``shops``: ids of those that one knows, in whatever state."""
    known = {shop_queue(shop) for shop in shops}
    strays = sorted(one.name for one in seen if one.name.startswith(SHOP_QUEUE) and one.name not in known)
    return [finding(WARNING, "orphans", "doctor.stray_queue", count=len(strays), queues=some(strays))] if strays else []
