"""A schedule has not fired in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.past.frame import UNTOLD, Numbers
from services.domain.text.message import Message
from services.monitor.attention import schedules
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure

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


def holds(seen: Seen, rule: Rule) -> Mapping[str, int] | None:
    """Since the first of those that are late was due."""
    late = lateness(seen, rule)
    return None if late is None else {"schedule_late": round(seen.at_ms - late * 1000) if late else 0}


def lateness(seen: Seen, _rule: Rule) -> float | None:
    """Seconds by which the first of those was late."""
    return None if seen.numbers is None else seen.numbers.late_s


def is_told(row: Numbers) -> bool:
    """Whether a row tells it."""
    return row.late_s != UNTOLD


MEASURE = Measure(DEFAULT, find, Past(holds, told=is_told, measured={"seconds": lateness}), keeps)
