"""The broker has an alarm of its memory or disk: it takes no messages soon, or already."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.insight import publisher
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(name="broker_alarm", measure="broker_alarm", calm_s=15, severity=CRITICAL)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """At most one; where it holds publishers back, too, that is the same matter."""
    way = look.snapshot.publisher()
    if way.kind not in (publisher.DISK, publisher.MEMORY, publisher.BOTH):
        return
    yield Finding(
        rule=rule.name,
        key="broker:alarm",
        words=Words(
            title=way.message,
            cause=Message("alert.cause_alarm", {"why": way.why}) if way.why else None,
            next=way.remedy,
        ),
        count=max(1, len(way.nodes)),
        names=way.nodes[:20],
        since_ms=way.since_ms,
        scope="status:pending",
    )


MEASURE = Measure(DEFAULT, find)
