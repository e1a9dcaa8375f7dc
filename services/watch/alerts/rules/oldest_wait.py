"""A task that could start has waited in its lane for too long."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight.depth import LANES
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules import causes
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

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


MEASURE = Measure(
    DEFAULT,
    find,
    past_of(
        *(
            Reads(
                number=f"waits_{lane}_s", limit=f"{lane}_minutes", matter=lane, per=60, age_ms=60_000, zero_is_off=True
            )
            for lane in TOLD
        )
    ),
)
