"""Counts what the ledger does not know: ends from before there was one, and what programs of before leave out of it."""

from __future__ import annotations

import json
import logging

from services.domain.task import ledger
from services.engine.lead.duty import Rounds
from services.ports import Clock, Store

log = logging.getLogger(__name__)
KIND, NAME = "fleet", "ledger"
#: marks of the store, beside ``ledger.FORM`` where it is all in that form: never counted in any, and counted while a
#: worker of an older program was about, so that it is to be counted once more when all of those have left
NEVER, BESIDE_OLDER = -1, 0
AGAIN_S = 60.0
#: a walk over many records goes on by itself when the process is to end; another one begins anew
LEAVE_S = 2.0


class LedgerKeeper(Rounds):
    """Whoever leads does it, in a thread of its own, for it walks over every record.

    A program of an older form writes an entry as it knows it, and what newer ones keep there is gone. So the store is
    marked as counted only while no worker of one is about, and when the last one has left it is counted again.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(
            self.count, AGAIN_S, clock, "ledger-keeper", log=log, waits="the ledger is not counted yet", leave_s=LEAVE_S
        )
        self._store = store

    def count(self) -> bool:
        """Whether the ledger knows all records, and nobody is about who writes less. Raises the errors of the store."""
        mark = self._mark()
        older = sorted(worker.worker for worker in self._store.workers() if worker.ledger < ledger.FORM)
        if mark >= ledger.FORM:
            if older:
                log.info("%s keeps the ledger as older versions do; it is counted again later", older[0])
                self._set(BESIDE_OLDER)
            return not older
        if mark == BESIDE_OLDER and older:
            return False
        # once only: what the present form has counted is not to be taken for the failures that older ones made up
        found = self._store.recount_works(mend=True, anew=mark != BESIDE_OLDER)
        if found.count:
            log.info("the ledger has counted %d ends of before, %d are left", found.count - found.left, found.left)
        if found.left:  # they moved meanwhile
            return False
        self._set(BESIDE_OLDER if older else ledger.FORM)
        return not older

    def _set(self, mark: int) -> None:
        self._store.put_document(KIND, NAME, json.dumps(mark))

    def _mark(self) -> int:
        try:
            return int(json.loads(self._store.documents(KIND).get(NAME, str(NEVER))))
        except (ValueError, TypeError, RecursionError):
            return NEVER
