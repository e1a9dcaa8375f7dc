"""Lets parked tasks go where nobody else does: behind opened switches and raised limits, and as time allows."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from services.domain.change import Op, OpenLimit, OpenShop
from services.domain.gates import ability, passing
from services.domain.gates.limit import TYPE, Limit
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.ports import Store

log = logging.getLogger(__name__)
#: shops that are asked at a time, tasks that one limit releases in a step, and steps of one round
SHOPS, STEP, STEPS = 200, 50, 8


class Opener:
    """At most twice as many released tasks as the fleet has slots wait to be started at a time, so that neither a
    resume nor a limit whose window opens floods the lanes. A fleet without workers counts as one slot.
    """

    def __init__(self, store: Store, steps: Steps) -> None:
        self._store, self._steps = store, steps

    def open_shops(self, shops: Sequence[str]) -> int:
        """Release what may start of these shops; returns how many tasks."""
        if not shops:
            return 0
        left, count = self._left(), 0
        rest = list(shops)
        while rest and left > 0:
            now, rest = rest[:left], rest[left:]
            released = self._apply([OpenShop(shop=shop, most=max(1, left // len(now))) for shop in now])
            left, count = left - released, count + released
        return count

    def open_breakers(self) -> int:
        """Let shops whose cool-down is over try one task; returns how many."""
        now = self._store.now_ms()
        return self.open_shops([one.shop for one in self._store.breakers() if one.until <= now][:SHOPS])

    def open_passed(self) -> int:
        """Release those of whom a person said "try one anyway", where they waited for something else that is over;
        returns how many. Passes that no attempt can use any more are forgotten with it.
        """
        passes = passing.DOCUMENT.readable(self._store.documents(passing.KIND))
        shops = sorted({one.shop for one in passes.values()})
        return self._apply([OpenShop(shop=shop, most=1) for shop in shops]) if shops else 0

    def open_limits(self) -> int:
        """Release what waits at limits that have room; returns how many tasks."""
        scopes = self._store.waiting_limits()
        if not scopes:
            return 0
        left, count = self._left(), 0
        for scope in scopes:
            for _ in range(STEPS):
                most = min(left, STEP)
                released = self._apply([OpenLimit(scope=scope, most=most)]) if most > 0 else 0
                left, count = left - released, count + released
                if released < most or not most:
                    break
        return count

    def _left(self) -> int:
        now = self._store.now_ms()
        slots = sum(len(info.slots) for info in self._store.workers() if ability.is_alive(info, now))
        return max(0, 2 * max(1, slots) - self._store.promised())

    def _apply(self, ops: Sequence[Op]) -> int:
        return sum(len(answer.released) for answer in self._steps.apply(ops))


def match_types(store: Store, registry: Registry) -> int:
    """Let the store's limits of types be those of their documents, whoever was interrupted between the two; returns how
    many differed.
    """
    wanted = {limit.scope: limit for kind in registry.types().values() if (limit := kind.limit).limits}
    known = {one.limit.scope: one.limit for one in store.limits() if one.limit.scope.startswith(f"{TYPE}:")}
    changed = [limit for scope, limit in wanted.items() if known.get(scope) != limit]
    changed += [Limit(scope=scope) for scope in known if scope not in wanted]
    for limit in changed:
        log.info("the limit of %s follows its document: %s", limit.scope, limit)
        store.put_limit(limit)
    return len(changed)
