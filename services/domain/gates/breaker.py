"""The breaker of a shop: after too many failures its tasks wait, and one of them tries now and then. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.errors import UsageError
from services.domain.task import classify
from services.domain.task.status import Status
from services.domain.text.said import said
from services.domain.upkeep.stored import Instant

GATE = "breaker"
#: kind and name of the document that holds the rule of a fleet
DOCUMENT, NAME = "fleet", "breaker"
MAX_WINDOW, MAX_COOLDOWN_S = 50, 86_400
#: failures that say something about the shop; the others lie with a payload, a program, a machine or a person
KINDS = (
    classify.TIMEOUT, classify.LOGIN_EXPIRED, classify.CAPTCHA, classify.RISK_CONTROL, classify.ELEMENT_NOT_FOUND,
    classify.NETWORK, classify.RATE_LIMITED, classify.UNKNOWN,
)  # fmt: skip
_FAILED = frozenset({Status.RETRYING, Status.DEAD, Status.HELD})
_MAX_DOUBLINGS = 20


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """It opens when ``failures`` of the last ``of`` finished attempts failed; 0 switches all breakers off."""

    failures: int = 5
    of: int = 10
    cooldown_s: int = 60  #: until the first probe; doubled by each that fails
    max_cooldown_s: int = 1800


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of a shop whose attempts fail."""

    shop: str  #: platform:shop_id
    outcomes: str = ""  #: the last finished attempts, the latest first: 1 failed, 0 succeeded
    until: Instant = 0  #: UTC ms from which a probe may start, 0 while it is closed
    since: Instant = 0  #: UTC ms at which it opened
    times: int = 0  #: how often in a row it opened
    kind: str = ""  #: of the last failure

    @property
    def is_open(self) -> bool:
        """Whether tasks wait."""
        return self.until > 0

    @property
    def failed(self) -> int:
        """Failures among the remembered attempts."""
        return self.outcomes.count("1")


def verdict(to: str, kind: str) -> bool | None:
    """Whether an attempt that ended so failed by the shop; None: it says nothing about the shop."""
    if to == Status.SUCCEEDED:
        return False
    return True if to in _FAILED and kind in KINDS else None


def after(found: Breaker, rule: Rule, failed: bool, kind: str, started_at: int, now: int) -> Breaker | None:
    """What is remembered after one more attempt, None for nothing.

    While it is open only attempts count that began after the cool-down: those are probes.
    """
    if not rule.failures:
        return None
    if found.is_open:
        if started_at < found.until:
            return found
        if not failed:
            return None
        times = found.times + 1
        until = now + cooldown_ms(rule, times)
        return msgspec.structs.replace(found, until=until, times=times, kind=kind)
    outcomes = ("1" if failed else "0") + found.outcomes[: rule.of - 1]
    if "1" not in outcomes:
        return None
    seen = msgspec.structs.replace(found, outcomes=outcomes, kind=kind if failed else found.kind)
    if seen.failed < rule.failures:
        return seen
    return msgspec.structs.replace(seen, until=now + cooldown_ms(rule, 1), since=now, times=1)


def cooldown_ms(rule: Rule, times: int) -> int:
    """How long it stays shut when it opens for the so many-th time in a row."""
    return min(rule.cooldown_s << min(times - 1, _MAX_DOUBLINGS), rule.max_cooldown_s) * 1000


def parse(body: str) -> Rule:
    """The rule of a document; one that cannot be read counts as none was written."""
    try:
        rule = msgspec.json.decode(body, type=Rule) if body else Rule()
        check(rule)
    except (msgspec.DecodeError, UnicodeError, RecursionError, UsageError):
        return Rule()
    return rule


def read(documents: Mapping[str, str]) -> Rule:
    """The rule of the fleet, among documents of its kind."""
    return parse(documents.get(NAME, ""))


def check(rule: Rule) -> None:
    """Refuse a rule that cannot be.

    Raises:
        UsageError: ``field`` names what to change.
    """
    bounds = (
        ("of", rule.of, 1, MAX_WINDOW),
        ("failures", rule.failures, 0, rule.of),
        ("cooldown", rule.cooldown_s, 1, MAX_COOLDOWN_S),
        ("max_cooldown", rule.max_cooldown_s, rule.cooldown_s, MAX_COOLDOWN_S),
    )
    for field, value, least, most in bounds:
        if not least <= value <= most:
            raise UsageError(said("breaker.range", field=field, least=least, most=most, value=value), field=field)
