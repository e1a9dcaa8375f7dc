"""A promise is going to break in some of its shops unless somebody acts: told before it does."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding
from services.domain.alerts.rule import WARNING, Rule
from services.watch.alerts.look import Look
from services.watch.alerts.rules.promise_broken import judged, told
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(
    name="promise_at_risk", measure="promise_at_risk", limits={"shops": 1.0}, for_s=30, calm_s=300, severity=WARNING
)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for each promise. One that breaks stays the same matter: it is not over because it got worse."""
    for row, found in judged(look):
        if found.rows and found.at_risk + found.broken >= rule.limit("shops"):
            yield told(look, row, found, rule)


MEASURE = Measure(DEFAULT, find, past_of(Reads(number="at_risk_in", limit="shops", matter="promise")))
