"""Shops that wait for a person to log in, or to solve a captcha."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding, Words
from services.domain.alerts.rule import WARNING, Rule
from services.domain.insight import cause, shop
from services.domain.past.frame import SHOP
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
        waiting = sum(counts.get(one, {}).get(Status.BLOCKED, 0) for one in shops)
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
            shops=tuple(sorted(shops)),
            since_ms=min(one.since for one in closed),
            scope="gate:session",
        )


def holds(seen: Seen, rule: Rule) -> Mapping[str, int]:
    """Logins and captchas as one: of a shop its state is recorded, which is the same for both."""
    since, least = sorted(seen.things.values()), max(1, round(rule.limit("shops")))
    return {"login": since[least - 1] if len(since) >= least else 0}


def waits(state: str) -> str:
    """Whether a recorded shop waited for a person."""
    return shop.LOGIN if shop.LOGIN in state.split("/") else ""


def waiting(seen: Seen, _rule: Rule) -> float:
    """How many shops waited for a person."""
    return len(seen.things)


MEASURE = Measure(DEFAULT, find, Past(holds, SHOP, waits, shop.LOGIN, measured={"shops": waiting}))
