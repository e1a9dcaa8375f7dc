"""What an operator may do about quiet hours: set them, and take them away."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.fleet.shop import SCOPE_ALL
from services.domain.gates import quiet_hours
from services.domain.gates.quiet_hours import KIND, WINDOWS, QuietHours
from services.engine import quiet as keeping
from services.engine.lead.opener import SHOPS, Opener
from services.engine.steps import Steps
from services.engine.zone import need_readable_zone, settle_zone, zone_here
from services.i18n import N_
from services.ports import Store


class QuietNow(msgspec.Struct, frozen=True, kw_only=True):
    """Quiet hours and when they hold next: now, if that has begun; UTC ms, 0 for never again.
    ``holds``: that it has, by the store's clock, which a window's may be behind.
    """

    hours: QuietHours
    begins: int = 0
    ends: int = 0
    holds: bool = False


class QuietCommands:
    """Audited commands; ``known`` only looks."""

    def __init__(
        self, store: Store, steps: Steps, audit: Audit, operator: Operator, own_zone: Callable[[], str]
    ) -> None:
        """``own_zone``: of this machine; it becomes the fleet's where nobody has set that."""
        self._store, self._audit, self._operator, self._own_zone = store, audit, operator, own_zone
        self._opener = Opener(store, steps)

    def zone(self) -> str:
        """The fleet's time zone, in which hours are meant, or what it would become."""
        return zone_here(self._store, self._own_zone)

    def known(self) -> list[QuietNow]:
        """All that can be read, by name. Blocking."""
        zone, now = self.zone(), self._store.now_ms()
        found = []
        for hours in keeping.wished(self._store):
            begins, ends = quiet_hours.following(hours, zone, now)
            found.append(QuietNow(hours=hours, begins=begins, ends=ends, holds=bool(ends) and begins <= now))
        return sorted(found, key=lambda one: one.hours.name)

    def set(self, hours: QuietHours) -> QuietHours | None:
        """Let nothing of a scope start at these hours, in the place of what has this name; returns that. What waits no
        longer is released.

        Raises:
            UsageError: that cannot be set.
            Unreadable: the time zone of the fleet is.
        """
        self._audit.need(self._operator, "operator", "quiet.set", [hours.name])
        need_readable_zone(self._store)
        now = self._store.now_ms()
        quiet_hours.check(hours, now)
        hours = msgspec.structs.replace(hours, by=self._operator.who, at=now)
        before = next((one.hours for one in self.known() if one.hours.name == hours.name), None)
        detail = msgspec.to_builtins(hours) | ({"before": msgspec.to_builtins(before)} if before is not None else {})
        with self._audit.act("quiet.set", [hours.name, hours.scope], detail):
            settle_zone(self._store, self.zone())
            keeping.put(self._store, hours, self.zone())
            if before is not None:
                self._open(before.scope)
        return before

    def remove(self, name: str, *, note: str = "") -> bool:
        """Take quiet hours away; what waited behind them is released. False when there were none."""
        self._audit.need(self._operator, "operator", "quiet.remove", [name])
        before = next((one.hours for one in self.known() if one.hours.name == name), None)
        detail = {"note": note} if note else {}
        detail |= {"before": msgspec.to_builtins(before)} if before is not None else {}
        with self._audit.act("quiet.remove", [name], detail or None) as act:
            was = keeping.remove(self._store, name)
            if not was:
                act.refused(N_("there are none of this name"))
            self._open(before.scope if before is not None else SCOPE_ALL)
        return was

    def _open(self, scope: str) -> None:
        """What this does not open, the reconciler does within its next rounds."""
        head, _, rest = scope.partition(":")
        self._opener.open_shops([rest] if head == "shop" else self._store.parked_shops(SHOPS))

    def names(self) -> list[str]:
        """Of all that is stored, also what cannot be read."""
        return sorted({*self._store.documents(KIND), *self._store.documents(WINDOWS)})
