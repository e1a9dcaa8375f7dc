"""Dead letters of one cause that nobody has looked at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.insight import cause, known_issue, reach
from services.domain.task import classify
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import Status, Triage
from services.domain.text.message import Message
from services.monitor.letters.causes import Cause
from services.watch.alerts.look import Look
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(
    name="dead_letters", measure="dead_letters", limits={"letters": 5.0}, calm_s=60, again_s=3600, severity=CRITICAL
)


def key_of(kind: str, flow: str = "") -> str:
    """The matter of a cause; what other rules see of the same kind of failure is the same matter."""
    return f"cause:{kind}:{flow}" if flow else f"cause:{kind}"


def _groups(look: Look) -> Mapping[tuple[str, str], list[Cause]]:
    """Causes by kind of failure, and by flow where it lies with flows."""
    groups: dict[tuple[str, str], list[Cause]] = defaultdict(list)
    for one in look.causes:
        kind = one.kind or classify.UNKNOWN
        groups[kind, one.types[0] if kind in cause.OF_A_FLOW and one.types else ""].append(one)
    return groups


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for each kind of failure, of each flow where it lies with flows: however many shops have it."""
    for (kind, flow), group in _groups(look).items():
        count = sum(one.count for one in group)
        if count < rule.limit("letters"):
            continue
        shops = {shop for one in group for shop in one.shop_keys}
        platforms = sorted({platform for one in group for platform in one.platforms})
        types = sorted({name for one in group for name in one.types})
        worst = max(group, key=lambda one: one.count)
        patterns = list(dict.fromkeys(name for one in group for name in one.patterns))
        terms = [equals("status", Status.DEAD), equals("triage", Triage.OPEN), equals("kind", kind)]
        if flow:
            terms.append(equals("type", flow))
        pause = "" if _refuses(worst) else worst.pause_scope
        yield Finding(
            rule=rule.name,
            key=key_of(kind, flow),
            words=Words(
                title=Message("alert.dead", {"n": count, "shops": len(shops)}),
                facts=(
                    Message(
                        "alert.fact_platforms",
                        {"platforms": ", ".join(platforms), "types": ", ".join(types[:3])},
                    ),
                    *_lies(worst, look),
                    *known_issue.told(worst.rule),
                ),
                cause=cause.title(kind, patterns) if patterns else worst.title,
                next=_next(look, worst, pause),
            ),
            count=len(shops),
            names=look.eyes.names(shops),
            shops=tuple(sorted(shops)),
            since_ms=min(one.first_at for one in group),
            scope=filter.format_terms(tuple(terms)),
            pause=pause,
            fingerprint=worst.fingerprint,
            once=all(one.rule.alert_once for one in group),
            # of several causes those that go to nobody else are still for whom the rule names
            to=()
            if all(not one.rule.route for one in group)
            else tuple(dict.fromkeys(name for one in group for name in one.rule.route or rule.channels)),
        )


def _lies(worst: Cause, look: Look) -> Iterable[Message]:
    """Where it lies, as far as what ran tells."""
    if worst.reach.at not in (reach.NOTHING, reach.FEW):
        yield worst.reach.told(shop=look.eyes.name)
        yield from worst.reach.rest[:1]


def keeps(look: Look) -> Mapping[str, int]:
    """The most that have one of these in common."""
    return {"letters": max((sum(one.count for one in group) for group in _groups(look).values()), default=0)}


MEASURE = Measure(DEFAULT, find, past_of(Reads(number="letters", limit="letters", matter="letters")), keeps)


def _refuses(worst: Cause) -> bool:
    """Whether one type fails on one machine alone: this leaves it to the others, and no pause holds them back."""
    return worst.reach.at == reach.NODE and len(worst.reach.values) == len(worst.types) == 1


def _next(look: Look, worst: Cause, pause: str) -> Message:
    """What to do: let a machine on which one type fails leave that to the others; else stop what would only make more
    of them, where a pause of that would.
    """
    if _refuses(worst):
        return Message("alert.next_refuse", {"machine": worst.reach.values[0], "type": worst.types[0]})
    kind, _, name = pause.partition(":")
    name = look.eyes.name(name) if kind == "shop" else name
    return Message(f"alert.next_pause_{kind}", {"name": name}) if kind else Message("alert.next_dead")
