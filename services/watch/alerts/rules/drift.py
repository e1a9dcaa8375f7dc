"""A flow has changed against its own past: slower, or with fewer rows, before anything dies of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight import drift
from services.domain.text.message import Message
from services.monitor.forecast import drift as queries
from services.watch.alerts.look import Look, NotKnown
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(name="drift", measure="drift", limits={"factor": 2.5}, for_s=0, calm_s=60, severity=WARNING)

MOST = 1_000  #: times that are recorded: what brings no rows at all any more is endlessly far from what it was


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for each type and platform, whichever of its figures are off. Raises NotKnown where nobody has looked."""
    unknown = []
    for one in queries.rows(look.eyes.store):
        if look.now_ms - one.at > queries.STALE_MS:
            unknown.append(one.task_type)
            continue
        if max(each.factor for each in one.found) < rule.limit("factor"):
            continue
        worst, *_others = one.found
        first, *others = queries.sentences(look.eyes.store, one, look.now_ms)
        yield Finding(
            rule=rule.name,
            key=f"drift:{one.task_type}:{one.platform}",
            words=Words(
                title=first,
                facts=(*others[:2], drift.extent(worst)),
                cause=Message("alert.cause_drift"),
                next=Message("drift.next"),
            ),
            count=len(worst.shops),
            names=look.eyes.names(worst.shops),
            shops=tuple(sorted(worst.shops)),
            since_ms=queries.since(one),
            scope=f"type:{one.task_type} platform:{one.platform}",
        )
    if unknown:
        raise NotKnown(f"nobody compares {', '.join(unknown[:3])}")


def keeps(look: Look) -> Mapping[str, int]:
    """Of the flow that changed most. Raises NotKnown where nobody has looked at any that had."""
    rows = queries.rows(look.eyes.store)
    known = [one for one in rows if look.now_ms - one.at <= queries.STALE_MS]
    if rows and not known:
        raise NotKnown("nobody compares flows")
    factors = (each.factor for one in known for each in one.found)
    return {"drifted": round(100 * min(MOST, max(factors, default=0.0)))}


MEASURE = Measure(DEFAULT, find, past_of(Reads(number="drifted", limit="factor", matter="drift", per=100)), keeps)
