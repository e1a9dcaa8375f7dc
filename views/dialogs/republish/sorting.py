"""Which letters of a plan become tasks and which are skipped, and why. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from services.commands.bulk.plan import ASKS, DONE, DUPLICATE, GONE, HELD, PAUSED, READY, SCHEMA, Item
from services.commands.bulk.republish import Options, Plan
from services.domain.gates import session
from services.domain.insight.shop import ShopNow

TWIN, CLOSED = "twin", "closed"
#: reasons to skip, in the order they are told
RULES = (TWIN, DONE, ASKS, CLOSED, PAUSED, SCHEMA, GONE)
#: those that cannot be chosen otherwise: what asks for a reason of its own goes alone, what is gone never
FIXED = frozenset({ASKS, GONE})
_REASONS = {DUPLICATE: TWIN, HELD: TWIN, DONE: DONE, ASKS: ASKS, PAUSED: PAUSED, SCHEMA: SCHEMA, GONE: GONE}


def duplicates(skip: frozenset[str]) -> str:
    """What becomes of a letter whose work waits or runs already: ``reject`` | ``queue``."""
    return "reject" if TWIN in skip else "queue"


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What a person chose in the dialog."""

    skip: frozenset[str] = frozenset(RULES)
    lane: str = ""  #: "" keeps each its own
    attempts: int = 0  #: 0 keeps what it had
    rate: int = 0  #: a minute, 0 all at once

    def options(self, *, probe: int = 0) -> Options:
        """The same for the service; the letters to skip are no part of the plan any more."""
        return Options(
            rate=0 if probe else self.rate,
            probe=probe,
            probe_only=bool(probe),
            if_duplicate=duplicates(self.skip),
            skip=frozenset({DONE} & self.skip),
            lane=self.lane,
            attempts=self.attempts,
        )


class Sorted(msgspec.Struct, frozen=True, kw_only=True):
    """The letters of a plan, each in one place."""

    plan: Plan = msgspec.field(default_factory=Plan)
    going: tuple[Item, ...] = ()
    reasons: Mapping[str, tuple[Item, ...]] = msgspec.field(
        default_factory=dict
    )  #: all with that reason, skipped or not

    @property
    def total(self) -> int:
        """How many letters there are."""
        return len(self.plan.items)

    def to_send(self) -> Plan:
        """The plan without those that are skipped."""
        going = {item.task_id for item in self.going}
        return self.plan.without([item.task_id for item in self.plan.items if item.task_id not in going])

    def shops(self) -> tuple[int, int]:
        """To how many shops they go, of how many."""
        return len({item.shop for item in self.going}), len({item.shop for item in self.plan.items if item.shop})

    def counts(self, name: str) -> dict[str, int]:
        """How many of those that go have which ``task_type``, ``lane`` …; the most frequent first."""
        return dict(Counter(str(getattr(item, name)) for item in self.going).most_common())

    def most_per_shop(self) -> int:
        """Letters of the shop that gets most."""
        return max(Counter(item.shop for item in self.going).values(), default=0)


def reason(item: Item, shops: Mapping[str, ShopNow]) -> str:
    """Why a letter would be skipped, "" for nothing in its way."""
    if item.gate == session.GATE:
        return CLOSED
    if item.state != READY:
        return _REASONS.get(item.state, GONE)
    now = shops.get(item.shop)
    return CLOSED if now is not None and now.closed else ""


def sort_out(plan: Plan, shops: Mapping[str, ShopNow], skip: frozenset[str]) -> Sorted:
    """Put each letter in its place; those of ``FIXED`` never go."""
    plan = plan.sent(duplicates(skip))
    going: list[Item] = []
    reasons: dict[str, list[Item]] = {}
    for item in plan.items:
        why = reason(item, shops)
        if why:
            reasons.setdefault(why, []).append(item)
        if not why or why not in (skip | FIXED):
            going.append(item)
    return Sorted(plan=plan, going=tuple(going), reasons={why: tuple(items) for why, items in reasons.items()})
