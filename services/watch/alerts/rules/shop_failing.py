"""A shop fails k of its last n attempts: its breaker is open, so nothing of it starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.gates.breaker import Breaker
from services.domain.insight import cause
from services.domain.task import classify
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules.dead_letters import key_of
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(
    name="shop_failing", measure="shop_failing", limits={"shops": 1.0}, for_s=0, calm_s=120, severity=WARNING
)  # fmt: skip


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for each kind of failure, however many shops: k and n are those of the breaker's rule."""
    groups: dict[str, list[Breaker]] = defaultdict(list)
    for one in look.breakers:
        groups[one.kind or classify.UNKNOWN].append(one)
    for kind, found in groups.items():
        if len(found) < rule.limit("shops"):
            continue
        first = min(found, key=lambda one: one.since)
        shops = {one.shop for one in found}
        yield Finding(
            rule=rule.name,
            key=key_of(kind),
            words=Words(
                title=Message("alert.shop_failing", {"n": len(shops)}),
                facts=(
                    Message(
                        "alert.fact_failed",
                        {"failed": first.failed, "of": len(first.outcomes), "shop": look.eyes.name(first.shop)},
                    ),
                ),
                cause=cause.title(kind),
                next=Message("alert.next_shop"),
            ),
            count=len(shops),
            names=look.eyes.names(shops),
            shops=tuple(sorted(shops)),
            since_ms=first.since,
            scope="gate:breaker",
        )


MEASURE = Measure(DEFAULT, find, past_of(Reads(number="broken", limit="shops", matter="failing")))
