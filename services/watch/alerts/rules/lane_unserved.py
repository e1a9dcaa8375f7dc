"""Tasks wait where no worker takes them: no worker at all, or none for their lane."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.insight.depth import LANES
from services.domain.text.message import Message
from services.monitor.attention import workers
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(name="lane_unserved", measure="lane_unserved", for_s=120, calm_s=30, severity=CRITICAL)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """As the items that need attention tell it."""
    for item in workers.missing(look.items):
        lane, tasks = str(item.params.get("lane", "")), int(item.params["tasks"])
        code = "alert.lane_unserved" if lane else "alert.no_workers"
        yield Finding(
            rule=rule.name,
            key=f"unserved:{lane}" if lane else "unserved",
            words=Words(
                title=Message(code, {"n": tasks, "lane": lane}),
                facts=item.facts[1:],
                cause=_cause(look, lane, item.facts),
                next=Message("alert.next_worker"),
            ),
            count=tasks,
            since_ms=item.since_ms,
            scope=f"status:queued lane:{lane}" if lane else "status:waiting",
        )


def _cause(look: Look, lane: str, facts: Sequence[Message]) -> Message:
    if facts:
        return facts[0]
    taken = {name for one in look.items.alive() for name in one.open_lanes}
    if lane and taken:
        return Message("alert.cause_lanes", {"lanes": ", ".join(name for name in LANES if name in taken)})
    return Message("alert.cause_no_taker")


def keeps(look: Look) -> Mapping[str, int]:
    """Tasks that wait in vain, in all lanes."""
    return {"unserved": sum(int(item.params["tasks"]) for item in workers.missing(look.items))}


MEASURE = Measure(DEFAULT, find, past_of(Reads(number="unserved", limit="tasks", matter="unserved")), keeps)
