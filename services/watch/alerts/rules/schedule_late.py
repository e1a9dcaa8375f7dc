"""A schedule has not fired in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.text.message import Message
from services.monitor.attention import schedules
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(name="schedule_late", measure="schedule_late", for_s=30, calm_s=15, severity=CRITICAL)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for all that are late, as the item that needs attention tells it."""
    for item in schedules.late(look.items):
        count = int(item.params["count"])
        names = str(item.params["names"]).split("\n")
        yield Finding(
            rule=rule.name,
            key="schedule_late",
            words=Words(
                title=Message(
                    "alert.schedule_late",
                    {"n": count, "name": str(item.params["name"]), "seconds": int(item.params["seconds"])},
                ),
                facts=item.facts[1:],
                cause=item.facts[0] if item.facts else None,
                next=Message("alert.next_schedule"),
            ),
            count=count,
            names=tuple(names),
            since_ms=item.since_ms,
        )


def keeps(look: Look) -> Mapping[str, int]:
    """How late the first is that is late."""
    return {"late_s": max((int(item.params["seconds"]) for item in schedules.late(look.items)), default=0)}


MEASURE = Measure(
    DEFAULT, find, past_of(Reads(number="late_s", limit="seconds", matter="schedule_late", age_ms=1000)), keeps
)
