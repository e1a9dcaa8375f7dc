"""A worker that is heard of holds a task for longer than a broker waits for its acknowledgement."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(
    name="unacked_age", measure="unacked_age", limits={"minutes": 25.0}, calm_s=60, severity=WARNING
)  # RabbitMQ ends a delivery after 30 min


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for all of them; what a silent worker holds is told of that worker."""
    limit_ms = rule.limit("minutes") * 60_000
    held = [one for one in look.held if one.ms >= limit_ms]
    if not held:
        return
    oldest = held[0]
    told, *others = [
        {"type": one.slot.task_type, "shop": look.eyes.name(one.slot.shop), "worker": one.worker} for one in held[:3]
    ]
    shops = {one.slot.shop for one in held}
    yield Finding(
        rule=rule.name,
        key="unacked",
        words=Words(
            title=Message("alert.unacked", {"n": len(held), "seconds": oldest.ms // 1000}),
            facts=tuple(Message("alert.fact_holder", one) for one in others),
            cause=Message("alert.cause_held", told),
            next=Message("alert.next_unacked"),
        ),
        count=len(held),
        names=look.eyes.names(shops),
        shops=tuple(sorted(shops)),
        since_ms=round(look.now_ms - oldest.ms + limit_ms),
        scope=f"id:{','.join(one.slot.task_id for one in held[:50])}",
    )


MEASURE = Measure(
    DEFAULT, find, past_of(Reads(number="held_s", limit="minutes", matter="unacked", per=60, age_ms=60_000))
)
