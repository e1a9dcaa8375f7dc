"""A worker that is heard of holds a task for longer than a broker waits for its acknowledgement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.past.frame import UNTOLD, Numbers
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(
    name="unacked_age", measure="unacked_age", limits={"minutes": 25.0}, calm_s=60, severity=WARNING
)  # RabbitMQ ends a delivery after 30 min


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for all of them; what a silent worker holds is told of that worker."""
    limit_ms = rule.limit("minutes") * 60_000
    slots = [
        (slot, one.name)
        for one in look.snapshot.fleet().workers
        if not one.missing
        for slot in one.slots
        if slot.task_id and slot.since and look.now_ms - slot.since > limit_ms
    ]
    if not slots:
        return
    slots.sort(key=lambda each: each[0].since)
    oldest, holder = slots[0]
    told = {"type": oldest.task_type, "shop": look.eyes.name(oldest.shop), "worker": holder}
    facts = tuple(
        Message("alert.fact_holder", {"type": slot.task_type, "shop": look.eyes.name(slot.shop), "worker": worker})
        for slot, worker in slots[1:3]
    )
    yield Finding(
        rule=rule.name,
        key="unacked",
        words=Words(
            title=Message("alert.unacked", {"n": len(slots), "seconds": (look.now_ms - oldest.since) // 1000}),
            facts=facts,
            cause=Message("alert.cause_held", told),
            next=Message("alert.next_unacked"),
        ),
        count=len(slots),
        names=look.eyes.names({slot.shop for slot, _ in slots}),
        shops=tuple(sorted({slot.shop for slot, _ in slots})),
        since_ms=round(oldest.since + limit_ms),
        scope=f"id:{','.join(slot.task_id for slot, _ in slots[:50])}",
    )


def holds(seen: Seen, rule: Rule) -> Mapping[str, int] | None:
    """Since a worker has held a task for as long as it may."""
    held, limit = longest(seen, rule), rule.limit("minutes")
    return None if held is None else {"unacked": round(seen.at_ms - (held - limit) * 60_000) if held > limit else 0}


def longest(seen: Seen, _rule: Rule) -> float | None:
    """Minutes that a worker had held the task that one held longest."""
    return None if seen.numbers is None else seen.numbers.held_s / 60


def is_told(row: Numbers) -> bool:
    """Whether a row tells it."""
    return row.held_s != UNTOLD


MEASURE = Measure(DEFAULT, find, Past(holds, told=is_told, measured={"minutes": longest}))
