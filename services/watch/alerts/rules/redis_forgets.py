"""Redis may lose what it was told, by its own settings or because its writes fail."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.text.message import Message
from services.domain.upkeep import health
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(
    name="redis_forgets", measure="redis_forgets", calm_s=0, again_s=86_400, escalate_s=0, severity=WARNING
)  # fmt: skip
#: findings of the doctor that mean so
CODES = frozenset({"doctor.not_kept", "doctor.fsync", "doctor.evicts", "doctor.writes_fail", "doctor.replica"})

#: such a Redis is empty after a restart: nobody wants that of a fleet, whatever its environment is called
ALWAYS = frozenset({"doctor.not_kept"})


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """At most one, as the doctor judges it; outside production the last second may be lost, and nothing else."""
    production = look.eyes.production
    found = [
        one.message
        for one in health.of_store(look.eyes.store_facts(), production=production)
        if one.message.code in CODES and (one.level == health.ERROR or one.message.code in ALWAYS)
    ]
    if found:
        yield Finding(
            rule=rule.name,
            key="redis_forgets",
            words=Words(
                title=Message("alert.forgets"),
                facts=tuple(found[1:]),
                cause=found[0],
                next=Message("alert.next_redis"),
            ),
        )


MEASURE = Measure(DEFAULT, find)
