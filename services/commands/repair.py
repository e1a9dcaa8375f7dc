"""Mending what a crash, a wiped queue or a wrong counter left, as an audited act of an admin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.upkeep.repair import DONE, LEFT, PLANNED, Mend, Told, mend, unheard
from services.engine import people
from services.engine.lead.second_copy import SecondCopy
from services.engine.repair import Repair
from services.ports import Store


class RepairCommands:
    """``plan`` only looks and is for everybody who may operate."""

    def __init__(self, store: Store, repair: Repair, copy: SecondCopy, audit: Audit, operator: Operator) -> None:
        self._store, self._repair, self._copy = store, repair, copy
        self._audit, self._operator = audit, operator

    def plan(self, *, from_stream: bool = False, told: Told = unheard) -> list[Mend]:
        """What a repair would do; changes nothing. ``told``: at which step it is, of how many."""
        self._audit.need(self._operator, "operator", "repair", [])
        return self._all(doing=False, from_stream=from_stream, told=told)

    def repair(self, *, from_stream: bool = False, told: Told = unheard) -> list[Mend]:
        """Mend all that can be mended; the audit keeps what was done and what is left. ``told``: as of ``plan``."""
        self._audit.need(self._operator, "admin", "repair", [])
        with self._audit.act("repair", [], {"from_stream": from_stream}) as act:
            found = self._all(doing=True, from_stream=from_stream, told=told)
            act.outcome = f"done: {_codes(found, DONE)}; left: {_codes(found, LEFT)}"
        return found

    def _all(self, *, doing: bool, from_stream: bool, told: Told) -> list[Mend]:
        lost = self._copy.run("repair", doing=doing) if from_stream else []
        return [*lost, *self._repair.run(doing=doing, told=told), *self._admin(doing=doing)]

    def _admin(self, *, doing: bool) -> Iterator[Mend]:
        """Last, for only what was set aside shows whether an admin is left."""
        who = self._operator.who
        if people.without_admin(self._store) and people.may_repair(self._store, who):
            if doing:
                people.give_back(self._store, who)
            yield mend(DONE if doing else PLANNED, "repair.admin", who=who)


def _codes(found: Sequence[Mend], state: str) -> str:
    named = Counter(one.message.code.removeprefix("repair.") for one in found if one.state == state)
    return ", ".join(sorted(named)) or "nothing"
