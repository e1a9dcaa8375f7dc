"""What an admin may say about the audit: that what is wrong with it, or with what this machine had seen, is known."""

from __future__ import annotations

from services.audit_witness import Witness
from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.audit import ACCEPT
from services.domain.errors import UsageError
from services.domain.fleet.role import ADMIN
from services.domain.insight.audit import Verdict
from services.domain.text.said import said
from services.engine import audit_check
from services.ports import Store

#: what one acceptance may name, and how long its reason may be
MOST, MAX_NOTE = 1000, 500


class AuditCommands:
    """An acceptance is an entry of the trail like any other: it changes nothing of what it names."""

    def __init__(self, store: Store, audit: Audit, operator: Operator, witness: Witness | None = None) -> None:
        self._store, self._audit, self._operator, self._witness = store, audit, operator, witness

    def accept(self, *, note: str) -> Verdict:
        """Say that what a look finds now is known, as after a backup was put back: it is told no more as wrong, by
        nobody, but stays among what was accepted. So is what was taken from this machine's memory, which begins anew.
        Returns what was found before.

        Raises:
            UsageError: nothing is wrong, or the note that says why is missing or too long.
        """
        self._audit.need(self._operator, ADMIN, ACCEPT, [])
        words = note.strip()
        if not 1 <= len(words) <= MAX_NOTE:
            raise UsageError(said("audit.note", most=MAX_NOTE, count=len(words)), field="note")
        found = audit_check.check(self._store, self._witness)
        if found.ok and not found.sight_lost:
            raise UsageError(said("audit.nothing_wrong"), field="")
        known = [one.name for one in found.wrong[:MOST]]
        lost: dict[str, object] = {"sight_lost": True} if found.sight_lost else {}
        with self._audit.act(ACCEPT, [], {"known": known, "note": words, **lost}):
            if found.sight_lost and self._witness is not None:
                self._witness.settle()
        return found
