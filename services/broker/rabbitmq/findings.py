"""What a doctor makes of a RabbitMQ: alarms, policies, copies on a cluster, and how long it lets a message be held."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from services.broker.rabbitmq.about import SENTENCES
from services.domain.task.lane import SHOP_QUEUE
from services.domain.upkeep.health import ERROR, NOTE, WARNING, Finding, finding
from services.domain.upkeep.miscount import some

DEAD_QUEUE, STREAM = "rpa_dead_queue", "rpa_dead_log"
#: RabbitMQ's own, in seconds; it does not tell which one holds. It looks once a minute, and a flow is killed late
CONSUMER_TIMEOUT_S, MARGIN_S = 1800, 170
#: of a quorum queue, unless somebody asks for more
USUAL_COPIES = 3
#: from the one to the other every return counts against a limit of 20 on quorum queues
RETURNS_COUNT = ((4, 0), (4, 3))


class QueueSeen(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One queue as the server has it, with what a policy of its operators adds to its own arguments."""

    name: str
    kind: str = ""  #: classic | quorum | stream, "" where the server does not tell
    copies: int = 0  #: on how many nodes it stands, 0 where the server does not tell
    policy: str = ""  #: names of the policies
    definition: dict[str, object] = {}


def of_facts(facts: Mapping[str, str], seen: Sequence[QueueSeen] = ()) -> list[Finding]:
    """Alarms, and whether they can be seen; ``seen``: queues that it tells of, as it may where it tells of no node."""
    found: list[Finding] = []
    if facts.get("alarms"):
        found.append(finding(ERROR, "broker", "doctor.alarm", SENTENCES, what=facts["alarms"]))
    if facts.get("management_error"):
        code = "doctor.no_alarms" if seen else "doctor.no_management"
        found.append(finding(NOTE, "broker", code, SENTENCES, error=facts["management_error"]))
    return found


def of_patience(facts: Mapping[str, str], longest: tuple[str, int]) -> list[Finding]:
    """``longest``: the task type that may run longest, and for how many seconds."""
    found: list[Finding] = []
    name, seconds = longest
    if seconds + MARGIN_S > CONSUMER_TIMEOUT_S:
        found.append(finding(WARNING, "broker", "doctor.consumer_timeout", SENTENCES, name=name, seconds=seconds))
    version = tuple(int(number) for number in re.findall(r"\d+", facts.get("version", ""))[:2])
    if facts.get("profile") == "cluster" and RETURNS_COUNT[0] <= version < RETURNS_COUNT[1]:
        found.append(finding(NOTE, "broker", "doctor.returns_count", SENTENCES))
    return found


def of_policies(seen: Sequence[QueueSeen]) -> list[Finding]:
    """What a policy makes of the queues that their own arguments do not say; the same one is told once."""
    told: dict[tuple[str, str], list[str]] = {}
    for queue in seen:
        for word in sorted(_harm(queue)):
            told.setdefault((queue.policy, word), []).append(queue.name)
    return [
        finding(
            WARNING if word in ("dead-letter-exchange", "max-length-rejects") else ERROR,
            "queues",
            f"doctor.policy_{word.replace('-', '_')}",
            SENTENCES,
            policy=policy,
            queues=some(names),
        )
        for (policy, word), names in told.items()
    ]


def of_alternates(alternates: Mapping[str, str]) -> list[Finding]:
    """``alternates``: of exchanges that have an alternate one, the policy that gives it to them."""
    told: dict[str, list[str]] = {}
    for exchange, policy in alternates.items():
        told.setdefault(policy, []).append(exchange)
    return [
        finding(WARNING, "queues", "doctor.policy_alternate", SENTENCES, policy=policy, exchanges=some(names))
        for policy, names in told.items()
    ]


def of_copies(seen: Sequence[QueueSeen], facts: Mapping[str, str]) -> list[Finding]:
    """On a cluster: what goes away with one of its nodes, and what stands on fewer of them than quorum queues do."""
    if facts.get("profile") != "cluster":
        return []
    found: list[Finding] = []
    nodes = int(facts.get("nodes") or 0)
    if lonely := [one.name for one in seen if one.kind == "classic"]:
        found.append(finding(WARNING, "queues", "doctor.one_node", SENTENCES, queues=some(lonely)))
    if few := [one.name for one in seen if one.kind == "quorum" and 0 < one.copies < min(nodes, USUAL_COPIES)]:
        found.append(finding(WARNING, "queues", "doctor.few_copies", SENTENCES, queues=some(few), nodes=nodes))
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
        rejects = str(given.get("overflow", "")).startswith("reject-publish")
        found.add("max-length-rejects" if rejects else "max-length")
    if "expires" in given:
        found.add("expires")
    if "dead-letter-exchange" in given and (queue.name == DEAD_QUEUE or queue.name.startswith(SHOP_QUEUE)):
        found.add("dead-letter-exchange")  # the others have one of their own, which wins
    return found
