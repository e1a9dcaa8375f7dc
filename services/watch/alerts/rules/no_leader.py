"""Nobody led the fleet: told while that lasts by who watches, else by the next one, from when to when it was."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.task.order import BrokerHealth
from services.domain.text.message import Message
from services.watch.alerts.look import Gap, Look
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(name="no_leader", measure="no_leader", limits={"seconds": 60.0}, calm_s=0, severity=CRITICAL)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """At most one, where something was left unfinished: a desk that is switched off at night needs no leader."""
    gap = look.eyes.gap
    if gap is None or not gap.unfinished or (gap.until or look.now_ms) - gap.since < rule.limit("seconds") * 1000:
        return
    seconds = ((gap.until or look.now_ms) - gap.since) // 1000
    params = {"seconds": seconds, "from_at": gap.since, "to_at": gap.until}
    facts = [Message("alert.fact_unfinished", {"n": gap.unfinished})]
    if look.snapshot.leader:
        facts.append(Message("alert.fact_led", {"leader": look.snapshot.leader}))
    yield Finding(
        rule=rule.name,
        key="no_leader",
        words=Words(
            title=Message("alert.leaderless" if gap.until else "alert.leaderless_now", params),
            facts=tuple(facts),
            cause=_cause(gap),
            next=Message(_next(gap, look.snapshot.broker)),
        ),
        count=1,
        since_ms=gap.since,
        passed=bool(gap.until),
    )


def _cause(gap: Gap) -> Message | None:
    if gap.no_store:
        return Message("alert.cause_no_store")
    return Message("alert.cause_led", {"leader": gap.led}) if gap.led else None


def _next(gap: Gap, broker: BrokerHealth) -> str:
    """Nobody leads where the broker cannot be reached, or the store takes nothing."""
    if gap.no_store:
        return "alert.next_here" if broker.embedded else "alert.next_store"
    if broker.connected:
        return "alert.next_leader"
    return "alert.next_here" if broker.embedded else "alert.next_broker"


MEASURE = Measure(DEFAULT, find)
