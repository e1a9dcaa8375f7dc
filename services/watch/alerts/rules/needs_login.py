"""Shops that wait for a person to log in, or to solve a captcha."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight import cause
from services.domain.task import classify
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.watch.alerts.look import Look
from services.watch.alerts.rules.dead_letters import key_of
from services.watch.alerts.rules.rule_base import Measure

DEFAULT = Rule(
    name="needs_login",
    measure="needs_login",
    limits={"shops": 1.0},
    for_s=30,
    calm_s=30,
    again_s=3600,
    severity=WARNING,
)  # fmt: skip


def find(look: Look, rule: Rule) -> Iterable[Finding]:
    """One for all logins, one for all captchas."""
    for kind, code in ((classify.LOGIN_EXPIRED, "alert.login"), (classify.CAPTCHA, "alert.captcha")):
        closed = [one for one in look.snapshot.sessions if (one.kind == classify.CAPTCHA) == (kind == classify.CAPTCHA)]
        if not closed or len(closed) < rule.limit("shops"):
            continue
        shops = {one.shop for one in closed}
        counts = look.snapshot.counts.shops
        waiting = sum(counts.get(shop, {}).get(Status.BLOCKED, 0) for shop in shops)
        yield Finding(
            rule=rule.name,
            key=key_of(kind),
            words=Words(
                title=Message(code, {"n": len(shops)}),
                facts=(Message("alert.fact_waiting", {"n": waiting}),) if waiting else (),
                cause=cause.title(kind),
                next=Message("alert.next_login"),
            ),
            count=len(shops),
            names=look.eyes.names(shops),
            since_ms=min(one.since for one in closed),
            scope="gate:session",
        )


MEASURE = Measure(DEFAULT, find)
