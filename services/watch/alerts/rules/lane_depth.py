"""More tasks in a lane than a fleet works off in reasonable time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight.depth import LANES
from services.domain.past.frame import UNTOLD
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules import causes
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(
    name="lane_depth", measure="lane_depth", limits={"tasks": 5000.0}, for_s=600, calm_s=300, severity=WARNING
)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for each lane."""
    limit = round(rule.limit("tasks"))
    for lane in look.lanes:
        if lane.depth <= limit:
            continue
        yield Finding(
            rule=rule.name,
            key=f"depth:{lane.lane}",
            words=Words(
                title=Message("alert.depth", {"n": lane.depth, "lane": lane.lane, "limit": limit}),
                cause=causes.of_waiting(look, lane.lane),
                next=Message("alert.next_depth"),
            ),
            count=lane.depth,
            scope=f"lane:{lane.lane} status:waiting" if lane.lane != "dedicated" else "status:waiting",
        )


def holds(seen: Seen, rule: Rule) -> Mapping[str, int] | None:
    """Each lane, where the broker told how deep it was."""
    row, limit = seen.numbers, round(rule.limit("tasks"))
    if row is None or row.high == UNTOLD:
        return None
    return {lane: seen.at_ms if getattr(row, lane) > limit else 0 for lane in LANES}


def deepest(seen: Seen, _rule: Rule) -> float | None:
    """Tasks in the deepest lane."""
    row = seen.numbers
    return None if row is None or row.high == UNTOLD else max(getattr(row, lane) for lane in LANES)


MEASURE = Measure(DEFAULT, find, Past(holds, measured={"tasks": deepest}))
