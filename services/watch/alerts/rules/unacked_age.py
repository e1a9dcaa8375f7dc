"""A worker that is heard of holds a task for longer than a broker waits for its acknowledgement."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.fleet.worker import SlotState
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(
    name="unacked_age", measure="unacked_age", limits={"minutes": 25.0}, calm_s=60, severity=WARNING
)  # RabbitMQ ends a delivery after 30 min


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for all of them; what a silent worker holds is told of that worker, and a machine that sleeps holds nothing
    back.
    """
    limit_ms = rule.limit("minutes") * 60_000
    slots = [
        (slot, one.name)
        for one in look.snapshot.fleet().workers
        if not one.missing
        for slot in one.slots
        if slot.task_id and slot.since and _held_ms(look, slot) >= limit_ms
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
            title=Message("alert.unacked", {"n": len(slots), "seconds": _held_ms(look, oldest) // 1000}),
            facts=facts,
            cause=Message("alert.cause_held", told),
            next=Message("alert.next_unacked"),
        ),
        count=len(slots),
        names=look.eyes.names({slot.shop for slot, _ in slots}),
        shops=tuple(sorted({slot.shop for slot, _ in slots})),
        since_ms=round(look.now_ms - _held_ms(look, oldest) + limit_ms),
        scope=f"id:{','.join(slot.task_id for slot, _ in slots[:50])}",
    )


def _held_ms(look: Look, slot: SlotState) -> int:
    return look.eyes.awake_ms(slot.since, look.now_ms)


MEASURE = Measure(
    DEFAULT, find, past_of(Reads(number="held_s", limit="minutes", matter="unacked", per=60, age_ms=60_000))
)
