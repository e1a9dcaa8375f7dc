"""Where a shop is at home, changed by a person."""

from __future__ import annotations

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.errors import UsageError
from services.domain.gates import home
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.domain.text.said import said
from services.engine.homes import Homes
from services.ports import Store

NAMED = 10


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What a move did."""

    shop: str
    before: str  #: "" for none
    node: str
    tasks: int  #: that waited for the old home and were let go
    running: int  #: that run now, with the profile of the old home


class HomeCommands:
    """Audited."""

    def __init__(self, store: Store, homes: Homes, audit: Audit, operator: Operator) -> None:
        self._store, self._homes, self._audit, self._operator = store, homes, audit, operator

    def nodes(self) -> tuple[str, ...]:
        """Every node that a worker told of within a day, or that a shop is at home on."""
        told = {info.node for info in self._store.workers()} | {one.node for one in self._store.homes().values()}
        return tuple(sorted(told - {""}))

    def move(self, shop: str, node: str, *, force: bool = False) -> Moved:
        """Let a shop (``platform:shop_id``) be at home on a node. ``force``: also on one that nobody has heard of.

        The profile itself stays where it is: on the new node the shop begins with an empty one, or with what a person
        copied there.

        Raises:
            UsageError: it can be no node, or is none that is known.
        """
        self._audit.need(self._operator, "operator", "shop.move", [shop])
        if not home.valid_node(node):
            raise UsageError(said("node.name", node=f"{node!r:.80}"), field="node")
        known = self.nodes()
        if node not in known and not force:
            names = ", ".join(known[:NAMED]) + (" …" if len(known) > NAMED else "")
            code = "node.unknown" if names else "node.none_known"
            raise UsageError(said(code, node=f"{node!r:.80}", known=names), field="node")
        found = self._store.homes([shop]).get(shop)
        before = found.node if found is not None else ""
        running = equals("shop", shop), equals("status", Status.RUNNING)
        with self._audit.act("shop.move", [shop], {"from": before, "to": node}) as act:
            moved = self._homes.move(shop, node, self._operator.who)
            act.outcome = f"done: {moved} tasks moved"
        busy = self._store.query(Query(terms=running, limit=1)).number.number
        return Moved(shop=shop, before=before, node=node, tasks=moved, running=busy if before != node else 0)
