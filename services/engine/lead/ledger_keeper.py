"""Counts once what ended before the store kept a ledger of it: stores of before know no days and no failures."""

from __future__ import annotations

import json
import logging
import threading

from services.domain.errors import ConsoleError
from services.engine.lead.duty import DutyThread
from services.ports import Store

log = logging.getLogger(__name__)
#: what the ledger tells; a store whose mark is less is counted once more. 1: last success and failure, days. 2: a
#: letter that never ran is no failure
VERSION = 2
KIND, NAME = "fleet", "ledger"
AGAIN_S = 60.0
#: a walk over many records goes on by itself when the process is to end; another one begins anew
LEAVE_S = 2.0


class LedgerKeeper:
    """Whoever leads does it, in a thread of its own, for it walks over every record; then it never does it again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = DutyThread(self.run, "ledger-keeper", leave_s=LEAVE_S)

    def start(self) -> None:
        """Count, if that was never done."""
        self._thread.start()

    def stop(self) -> None:
        """Leave it to the next one."""
        self._thread.stop()

    def run(self, stop: threading.Event) -> None:
        """Until it is done; a store that does not answer is asked again."""
        while not stop.is_set() and not self._try():
            stop.wait(AGAIN_S)

    def _try(self) -> bool:
        try:
            return self.count()
        except ConsoleError as exc:
            log.warning("what ended before is not in the ledger yet: %s", exc)
            return False

    def count(self) -> bool:
        """Whether the ledger knows all records. Raises the errors of the store."""
        if self._marked():
            return True
        found = self._store.recount_works(mend=True, anew=True)
        if found.count:
            log.info("the ledger has counted %d ends of before, %d are left", found.count - found.left, found.left)
        if found.left:  # they moved meanwhile
            return False
        self._store.put_document(KIND, NAME, json.dumps(VERSION))
        return True

    def _marked(self) -> bool:
        try:
            return int(json.loads(self._store.documents(KIND).get(NAME, "0"))) >= VERSION
        except (ValueError, TypeError, RecursionError):
            return False
