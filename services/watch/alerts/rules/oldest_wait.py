"""A task that could start has waited in its lane for too long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight.depth import LANES
from services.domain.past.frame import UNTOLD, Numbers
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules import causes
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(
    name="oldest_wait",
    measure="oldest_wait",
    limits={"high_minutes": 5.0, "normal_minutes": 60.0, "low_minutes": 720.0},
    for_s=60,
    calm_s=120,
    severity=WARNING,
)
#: the oldest records of a lane that are looked at: one that was planned long ahead is older than it waits
ASKED = 20
TOLD = tuple(name.removesuffix("_minutes") for name in DEFAULT.limits)  #: lanes of which the recorder keeps it


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for each lane. What waits at a gate is not meant: a person, a login or another task holds it."""
    for lane in LANES:
        minutes = rule.limit(f"{lane}_minutes")
        queued = look.snapshot.counts.lanes.get(lane, {}).get(Status.QUEUED, 0)
        if not minutes or not queued:
            continue
        terms = (equals("status", Status.QUEUED), equals("lane", lane))
        tasks = look.eyes.store.query(Query(terms=terms, descending=False, limit=ASKED, want_total=False)).tasks
        since = min((task.waits_since for task in tasks), default=look.now_ms)
        waited_s = (look.now_ms - since) / 1000
        if waited_s < minutes * 60:
            continue
        yield Finding(
            rule=rule.name,
            key=f"wait:{lane}",
            words=Words(
                title=Message("alert.oldest_wait", {"lane": lane, "seconds": round(waited_s)}),
                facts=(Message("alert.fact_queued", {"n": queued}),),
                cause=causes.of_waiting(look, lane),
                next=Message("alert.next_wait"),
            ),
            count=queued,
            names=look.eyes.names({task.shop for task in tasks[:1]}),
            shops=tuple(sorted({task.shop for task in tasks[:1]})),
            since_ms=round(since + minutes * 60_000),
            scope=f"lane:{lane} status:queued",
        )


def holds(seen: Seen, rule: Rule) -> Mapping[str, int] | None:
    """Each lane, since its oldest has waited for as long as it may."""
    return None if seen.numbers is None else {lane: _since(seen, rule, lane) for lane in TOLD}


def _since(seen: Seen, rule: Rule, lane: str) -> int:
    minutes, waits = rule.limit(f"{lane}_minutes"), waited(seen, lane)
    if not minutes or waits is None or waits < minutes:
        return 0
    return round(seen.at_ms - (waits - minutes) * 60_000)


def _measured(lane: str, seen: Seen, _rule: Rule) -> float | None:
    return waited(seen, lane)


def waited(seen: Seen, lane: str) -> float | None:
    """Minutes that the oldest of a lane had waited."""
    return None if seen.numbers is None else getattr(seen.numbers, f"waits_{lane}_s") / 60


def is_told(row: Numbers) -> bool:
    """Whether a row tells the lanes apart."""
    return row.waits_high_s != UNTOLD


MEASURE = Measure(
    DEFAULT,
    find,
    Past(
        holds,
        told=is_told,
        measured={f"{lane}_minutes": partial(_measured, lane) for lane in TOLD},
    ),
)
