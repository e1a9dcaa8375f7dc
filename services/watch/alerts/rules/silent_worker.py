"""Workers that are not heard of: those of one machine are one matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight.worker import GONE, LATE_MS, MISSING, WorkerNow, machine
from services.domain.past.frame import WORKER
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(
    name="silent_worker",
    measure="silent_worker",
    limits={"seconds": 60.0, "minutes_after": 60.0},
    calm_s=15,
    severity=WARNING,
)


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One a machine. One that is gone for long and holds nothing any more was told of long enough; one that was started
    anew there is back.
    """
    groups: dict[str, list[WorkerNow]] = defaultdict(list)
    for one in look.snapshot.fleet().workers:
        enough = one.instead or one.silence_ms > rule.limit("minutes_after") * 60_000
        told = one.unconfirmed or not enough
        if one.missing and one.silence_ms >= rule.limit("seconds") * 1000 and told:
            groups[machine(one.info)].append(one)
    for name, found in groups.items():
        unconfirmed = sum(len(one.unconfirmed) for one in found)
        facts = [Message("alert.fact_unconfirmed", {"n": unconfirmed})] if unconfirmed else []
        facts += [fact.message for fact in found[0].facts[:2]] if len(found) == 1 else []
        yield Finding(
            rule=rule.name,
            key=f"silent:{name}",
            words=Words(
                title=Message("alert.silent", {"n": len(found), "worker": found[0].name, "machine": name}),
                facts=tuple(facts),
                cause=Message("alert.cause_silent", {"seconds": max(one.silence_ms for one in found) // 1000}),
                next=Message("alert.next_silent", {"machine": name}),
            ),
            count=len(found),
            names=tuple(sorted(one.name for one in found))[:20],
            since_ms=min(one.info.seen_at for one in found),
        )


def holds(seen: Seen, rule: Rule) -> Mapping[str, int]:
    """Each worker by itself: on which machine it was is not recorded."""
    patience, enough = (round(rule.limit(name) * 1000) for name in ("seconds", "minutes_after"))
    found = {}
    for name, since in seen.things.items():
        heard = since - LATE_MS
        told = heard + patience <= seen.at_ms <= heard + enough * 60
        found[name] = heard + patience if told else 0
    return found


def missing(state: str) -> str:
    """Whether a recorded worker was not heard of."""
    return "missing" if state.partition(" ")[0] in MISSING else ""


def silence(seen: Seen, rule: Rule) -> float:
    """Seconds since the last word of the worker that is silent for longest, without those that are forgotten."""
    spans = [(seen.at_ms - since + LATE_MS) / 1000 for since in seen.things.values()]
    return max((span for span in spans if span <= rule.limit("minutes_after") * 60), default=0.0)


MEASURE = Measure(DEFAULT, find, Past(holds, WORKER, missing, old=GONE, measured={"seconds": silence}))
