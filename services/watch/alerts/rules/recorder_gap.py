"""The fleet is not recorded: nobody will be able to say what it was."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.past import recorded
from services.domain.text.message import Message
from services.watch.alerts.look import Look, NotKnown
from services.watch.alerts.rules.rule_base import Measure

#: patience besides the limit: whoever leads anew after a night has not recorded for hours, and does in a moment
DEFAULT = Rule(
    name="recorder_gap",
    measure="recorder_gap",
    limits={"seconds": 60.0},
    for_s=30,
    calm_s=15,
    escalate_s=0,
    severity=WARNING,
)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """At most one, while somebody leads: that nobody does is another matter. What never recorded tells nothing."""
    if not look.snapshot.leader:
        raise NotKnown("nobody leads")
    last = recorded.DOCUMENT.read(look.eyes.store.documents(recorded.KIND).get(recorded.NAME), None)
    if last is None or look.now_ms - last.at < rule.limit("seconds") * 1000:
        return
    title = Message("alert.not_recorded", {"from_at": last.at}) if last.at else Message("alert.never_recorded")
    yield Finding(
        rule=rule.name,
        key="recorder",
        words=Words(
            title=title,
            facts=(Message("alert.fact_led", {"leader": look.snapshot.leader}),),
            cause=Message("alert.recorder_says", {"why": last.why}) if last.why else Message("alert.cause_no_recorder"),
            next=Message("alert.next_recorder"),
        ),
    )


MEASURE = Measure(DEFAULT, find)
