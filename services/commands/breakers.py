"""What an operator may do to the breakers of shops."""

from __future__ import annotations

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.change import CloseBreaker
from services.domain.errors import UsageError
from services.domain.gates import breaker
from services.domain.gates.breaker import Rule
from services.domain.text.said import said
from services.engine.steps import Steps
from services.i18n import N_
from services.ports import Store


class BreakerCommands:
    """Audited commands on breakers."""

    def __init__(self, store: Store, steps: Steps, audit: Audit, operator: Operator) -> None:
        self._store, self._steps, self._audit, self._operator = store, steps, audit, operator

    def rule(self) -> Rule:
        """When breakers open."""
        return breaker.read(self._store.documents(breaker.DOCUMENT))

    def set_rule(self, rule: Rule) -> None:
        """Change when breakers open; those that are open stay so until a probe succeeds.

        Raises:
            UsageError: no such rule can be; ``field`` names what to change.
        """
        self._audit.need(self._operator, "admin", "breaker.rule", ["fleet"])
        breaker.check(rule)
        detail = {"from": msgspec.to_builtins(self.rule()), "to": msgspec.to_builtins(rule)}
        with self._audit.act("breaker.rule", ["fleet"], detail):
            self._store.put_document(breaker.DOCUMENT, breaker.NAME, msgspec.json.encode(rule).decode())

    def close(self, shop: str, *, note: str = "") -> bool:
        """Forget the failures of a shop (``platform:shop_id``); what waits is released. False when none was open.

        Raises:
            UsageError: that is no shop.
        """
        self._audit.need(self._operator, "operator", "breaker.close", [shop])
        if ":" not in shop:
            raise UsageError(said("shop.written", shop=f"{shop!r:.80}"), field="shop")
        with self._audit.act("breaker.close", [shop], {"note": note} if note else None) as act:
            was = any(one.shop == shop for one in self._store.breakers())
            self._steps.apply([CloseBreaker(shop=shop)])
            if not was:
                act.refused(N_("it was not open"))
        return was
