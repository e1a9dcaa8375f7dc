"""The broker does not answer, or takes no messages: what is created is recorded and not sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.past.frame import BROKER
from services.domain.text.message import Message
from services.monitor.attention import broker
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(name="publisher_blocked", measure="publisher_blocked", for_s=15, calm_s=15, severity=CRITICAL)

#: titles while no task is kept back by it
_WITHOUT = {
    "alert.broker_lost": "alert.broker_lost_idle",
    "alert.publisher_blocked": "alert.publisher_blocked_idle",
    "alert.file_lost": "alert.file_lost_idle",
}


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """At most one, as the item that needs attention tells it."""
    here = look.snapshot.broker.embedded
    for item in broker.items(look.items):
        lost = item.key == "broker_lost"
        tasks = int(item.params.get("tasks", 0))
        yield Finding(
            rule=rule.name,
            key="broker",
            words=Words(
                title=_title(item.code, lost, here, tasks),
                facts=item.facts[1:],
                cause=_cause(lost, here, item.facts),
                next=Message("alert.next_here" if here else "alert.next_broker"),
            ),
            count=max(1, tasks),
            since_ms=item.since_ms,
            scope="status:pending",
        )


def _title(code: str, lost: bool, here: bool, tasks: int) -> Message:
    if code == broker.QUEUE_REJECTS:
        called = "alert.queue_rejects"
    elif here:
        called = "alert.file_lost" if lost else "alert.unsent_here"
    else:
        called = "alert.broker_lost" if lost else "alert.publisher_blocked"
    return Message(called, {"n": tasks}) if tasks or called not in _WITHOUT else Message(_WITHOUT[called])


def _cause(lost: bool, here: bool, facts: Sequence[Message]) -> Message:
    """What a driver says of a lost broker holds its address, so it stays here. ``here``: it is a file of this computer,
    which no server and no network lies before.
    """
    if here:
        return Message("alert.cause_file" if lost else "alert.cause_slow_here")
    if lost:
        return Message("alert.cause_unreached")
    return facts[0] if facts else Message("alert.cause_unconfirmed")


def holds(seen: Seen, _rule: Rule) -> Mapping[str, int]:
    """As whoever led met the broker: that it did not answer, or took no messages."""
    return {"broker": min(seen.things.values(), default=0)}


MEASURE = Measure(DEFAULT, find, Past(holds, BROKER))
