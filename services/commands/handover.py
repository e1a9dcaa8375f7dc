"""What an operator may do about the page for who takes over: say when it is sent and to whom, and send it now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.alerts import channel as channels
from services.domain.alerts import rule as rules
from services.domain.plans import handover
from services.domain.plans.handover import KIND, PLAN, HandoverPlan
from services.i18n import N_
from services.ports import Store

#: writes the page for these channels into the outbox, of so long until now (ms); returns those that get it
Write = Callable[[Sequence[str], int], Sequence[str]]


class HandoverCommands:
    """Audited commands; ``plan`` only looks."""

    def __init__(self, store: Store, audit: Audit, operator: Operator, write: Write) -> None:
        self._store, self._audit, self._operator, self._write = store, audit, operator, write

    def plan(self) -> HandoverPlan | None:
        """When it is sent, None where it is not, or nobody can read that."""
        return handover.DOCUMENT.read(self._store.documents(KIND).get(PLAN), None)

    def set(self, plan: HandoverPlan) -> HandoverPlan | None:
        """Send it at these times from now on; returns how it was before.

        Raises:
            UsageError: it cannot be like this, or no channel is called so.
        """
        self._audit.need(self._operator, "admin", "handover.set", [])
        handover.check(plan)
        self._reached(plan.to)
        before, now = self.plan(), self._store.now_ms()
        made = msgspec.structs.replace(plan, times=tuple(sorted(plan.times)), by=self._operator.who, at=now)
        detail = {"times": list(made.times), "to": list(made.to)}
        if before is not None:
            detail["before"] = [*before.times, *before.to]
        with self._audit.act("handover.set", [", ".join(made.times)], detail):
            self._store.put_document(KIND, PLAN, handover.DOCUMENT.dump(made))
        return before

    def remove(self) -> bool:
        """Send it no more; False where it was not sent."""
        self._audit.need(self._operator, "admin", "handover.remove", [])
        before = self.plan()
        detail = {"times": list(before.times), "to": list(before.to)} if before is not None else None
        with self._audit.act("handover.remove", [], detail) as act:
            was = self._store.remove_document(KIND, PLAN)
            if not was:
                act.refused(N_("it was not set"))
        return was

    def send(self, to: Sequence[str], span_ms: int) -> Sequence[str]:
        """Send it now, of so long until now; returns the channels that get it.

        Raises:
            UsageError: no channel is called so.
        """
        self._audit.need(self._operator, "operator", "handover.send", [])
        self._reached(to)
        with self._audit.act("handover.send", list(to), {"span_s": span_ms // 1000}):
            return self._write(to, span_ms)

    def _reached(self, to: Sequence[str]) -> None:
        known = channels.readable(self._store.documents(channels.KIND))
        called = {*known, *(one.group for one in known.values())}
        for name in to:
            # a group of nobody is served by those on duty; a name that is none is misspelt
            if name not in {*called, rules.DUTY, rules.LEAD} or not channels.chosen([name], known):
                raise rules.no_channel(name, called, "to")
