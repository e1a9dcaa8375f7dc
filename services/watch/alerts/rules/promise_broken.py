"""A promise is broken in some of its shops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import CRITICAL, Rule
from services.domain.promises.judge import BROKEN
from services.domain.promises.standing import Standing
from services.domain.text.message import Message
from services.monitor.promises import UNJUDGED, PromiseRow, rows
from services.watch.alerts.look import Look, NotKnown
from services.watch.alerts.rules.rule_base import Measure, Reads, past_of

DEFAULT = Rule(
    name="promise_broken", measure="promise_broken", limits={"shops": 1.0}, for_s=0, calm_s=60, severity=CRITICAL
)
#: of the same promise being at risk is stage 0: who was told of that is told of the break too
STAGE = 1
#: causes besides the first that a message names
CAUSES = 2


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for each broken promise, whatever its shops lack."""
    for row, found in judged(look):
        if found.broken and found.broken >= rule.limit("shops"):
            yield told(look, row, found, rule)


def judged(look: Look) -> Iterable[tuple[PromiseRow, Standing]]:
    """Each promise that is judged now. Raises NotKnown behind them where one is not: what was seen of it stays."""
    unknown = []
    for row in rows(look.eyes.store, look.now_ms):
        if row.stale or row.state == UNJUDGED:
            unknown.append(row.name)
        elif row.standing is not None:
            yield row, row.standing
    if unknown:
        raise NotKnown(f"nobody judges {', '.join(unknown[:3])}")


def told(look: Look, row: PromiseRow, found: Standing, rule: Rule) -> Finding:
    """What is said of a promise, whichever rule sees it: as bad as it is."""
    broken = found.state == BROKEN
    at = found.rows[0].break_at if broken and found.rows else found.first_break
    count = found.broken if broken else found.at_risk
    facts = [*row.sentence]
    if broken and found.at_risk:
        facts.append(Message("alert.fact_at_risk", {"n": found.at_risk}))
    causes, role = found.causes, next((one.role for one in found.causes if one.role), "promise.an_operator")
    title = Message(
        "alert.promise_broken" if broken else "alert.promise_at_risk",
        {"name": row.name, "n": count, "total": found.total, "from_at": at},
    )
    return Finding(
        rule=rule.name,
        key=f"promise:{row.name}",
        words=Words(
            title=title,
            facts=(*facts, *(one.message for one in causes[1 : 1 + CAUSES])),
            cause=causes[0].message if causes else None,
            next=Message("alert.next_promise", {"name": row.name, "role": role}),
        ),
        count=count,
        of=found.total,
        names=look.eyes.names({one.shop for one in found.rows}),
        shops=tuple(sorted({one.shop for one in found.rows})),
        since_ms=at if broken else found.risk_since,
        scope=f"type:{row.promise.task_type}",
        stage=STAGE if broken and rule.measure == DEFAULT.measure else 0,
    )


def keeps(look: Look) -> Mapping[str, int]:
    """Of the promise with most of them: shops in which it is broken, and those together with what is going to break.
    Raises NotKnown where none is judged.
    """
    found = []
    try:
        for _row, standing in judged(look):
            found.append(standing)
    except NotKnown:
        if not found:
            raise
    return {
        "broken_in": max((one.broken for one in found), default=0),
        "at_risk_in": max((one.at_risk + one.broken for one in found if one.rows), default=0),
    }


MEASURE = Measure(DEFAULT, find, past_of(Reads(number="broken_in", limit="shops", matter="promise")), keeps)
