"""Comparing what the store has derived from the records with the records."""

from __future__ import annotations

from typing import Protocol

from services.domain.upkeep.miscount import Miscount


class Recount(Protocol):
    """For repair; a walk over everything, so minutes where there are millions of tasks."""

    def recount(self, *, mend: bool) -> list[Miscount]:
        """Compare indexes, counters and reservations with the records, and with ``mend`` set right what differs.

        Safe beside working programs: each record is set right only if it is still the one that was looked at. What
        cannot be told while tasks move is ``left``.
        """

    def recount_works(self, *, mend: bool, anew: bool = False) -> Miscount:
        """Only the ledger (``Records.ran``): the part of ``recount`` that a store of before needs once.

        ``anew``: programs of before have counted letters that never ran among the failures. They are taken out of each
        day of which every failure still has its record; of others nothing proves what they are.
        """
