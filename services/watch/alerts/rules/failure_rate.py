"""Too many of the attempts of the last minutes failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight import cause
from services.domain.past.frame import UNTOLD, Numbers
from services.domain.task import classify
from services.domain.text.message import Message
from services.watch.alerts.look import Look, NotKnown
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(
    name="failure_rate",
    measure="failure_rate",
    limits={"percent": 30.0, "minutes": 10.0, "attempts": 20.0},
    for_s=60,
    calm_s=300,
    severity=WARNING,
)


#: so much of its minutes has to be counted before few attempts mean few
WHOLE = 0.8


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """At most one; it is the matter of the cause that most of them have, so that one cause is not told twice."""
    counted = look.attempts(rule)
    ended = counted.done + counted.failed
    few = ended < rule.limit("attempts")
    if few and counted.span_ms < WHOLE * rule.limit("minutes") * 60_000:
        raise NotKnown("attempts are counted since a moment ago")  # as after another process: it is not over by that
    if few or 100 * counted.failed <= rule.limit("percent") * ended:
        return
    recent = [task for task in look.failing if task.updated_at >= look.now_ms - rule.limit("minutes") * 60_000]
    kinds = Counter(task.error_kind or classify.UNKNOWN for task in recent) if recent else Counter[str]()
    kind, most = kinds.most_common(1)[0] if kinds else ("", 0)
    whole = kind and 2 * most > len(recent)
    shops = {task.shop for task in recent}
    yield Finding(
        rule=rule.name,
        key=f"cause:{kind}" if whole else "failing",
        words=Words(
            title=Message(
                "alert.failing",
                {"failed": counted.failed, "of": ended, "percent": round(100 * counted.failed / ended, 1)},
            ),
            cause=cause.title(kind) if whole else Message("alert.cause_mixed") if kinds else None,
            next=Message("alert.next_failing"),
        ),
        # shops, as every rule of this matter counts: attempts stand in the title
        count=max(1, len(shops)),
        names=look.eyes.names(shops),
        shops=tuple(sorted(shops)),
        scope="status:dead,retrying",
    )


def holds(seen: Seen, rule: Rule) -> Mapping[str, int] | None:
    """Whichever cause they had; of too short a time nobody knows it."""
    few = seen.tried.tries < rule.limit("attempts")
    if few and seen.tried.span_ms < WHOLE * rule.limit("minutes") * 60_000:
        return None
    return {"failing": seen.at_ms if (share(seen, rule) or 0.0) > rule.limit("percent") else 0}


def share(seen: Seen, rule: Rule) -> float | None:
    """Per cent of the attempts that failed, where there were enough."""
    tried = seen.tried
    return 100 * tried.failed / tried.tries if tried.tries and tried.tries >= rule.limit("attempts") else None


def is_told(row: Numbers) -> bool:
    """Whether a row tells it."""
    return row.tries != UNTOLD


MEASURE = Measure(DEFAULT, find, Past(holds, told=is_told, measured={"percent": share}))
