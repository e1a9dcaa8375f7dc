"""What each rule of alerts is: its default document, what it finds in a look, and which recorded numbers tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import msgspec

from services.domain.alerts.dry_run import Past, Seen
from services.domain.alerts.incident import Finding
from services.domain.alerts.rule import Rule
from services.domain.past.frame import UNTOLD, Numbers
from services.watch.alerts.look import Look


class Measure(msgspec.Struct, frozen=True):
    """``find`` blocks; it may raise ``NotKnown``, and any error of store or broker. ``past`` tells the same of what the
    recorder keeps, None where that does not tell it. ``keeps``: what the recorder keeps of a look for that alone, by
    the names of ``Numbers``; it may raise the same.
    """

    default: Rule
    find: Callable[[Look, Rule], Iterable[Finding]]
    past: Past | None = None
    keeps: Callable[[Look], Mapping[str, int]] | None = None

    @property
    def name(self) -> str:
        """What rules call it."""
        return self.default.measure


class Reads(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded number that tells one matter of a rule: it holds where that has reached the limit, and is not 0."""

    number: str  #: of ``Numbers``
    limit: str  #: what it is held against; where the rule has none of this name, any is too much
    matter: str
    per: float = 1.0  #: so many of the number are one of the limit
    #: ms in one of the limit, where the number is for how long something has been so: it holds since that passed the
    #: limit. 0: it holds since it was recorded
    age_ms: int = 0
    zero_is_off: bool = False  #: a limit of 0 takes the matter out of the rule; else it means any


def past_of(*reads: Reads) -> Past:
    """How a rule is tried on numbers that are all kept from the same version of this program on."""

    def holds(seen: Seen, rule: Rule) -> Mapping[str, int] | None:
        return None if seen.numbers is None else {one.matter: _since(one, seen, seen.numbers, rule) for one in reads}

    def told(row: Numbers) -> bool:
        return bool(getattr(row, reads[0].number) != UNTOLD)

    return Past(holds, told=told, measured={one.limit: partial(_measured, one) for one in reads})


def _measured(one: Reads, seen: Seen, _rule: Rule) -> float | None:
    return None if seen.numbers is None else _value(one, seen.numbers)


def _value(one: Reads, row: Numbers) -> float:
    return float(getattr(row, one.number)) / one.per


def _since(one: Reads, seen: Seen, row: Numbers, rule: Rule) -> int:
    value, limit = _value(one, row), rule.limit(one.limit)
    if not value or value < limit or (one.zero_is_off and not limit):
        return 0
    return round(seen.at_ms - (value - limit) * one.age_ms) if one.age_ms else seen.at_ms
