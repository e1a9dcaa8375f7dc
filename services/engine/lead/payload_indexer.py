"""Sees to it that the store indexes the payload fields that task types name (``TaskType.indexed``)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from services.domain.errors import ConsoleError, UsageError
from services.domain.types import task_type
from services.engine.lead.duty import DutyThread, OnDuty
from services.ports import Clock, Store

log = logging.getLogger(__name__)
#: how often the types are looked at, and fields that are indexed in the whole fleet at most, in order of their names
LOOK_S, MOST = 5.0, 32
LEAVE_S = 2.0


class PayloadIndexer(OnDuty):
    """Whoever leads does it, in a thread of its own: a new field is learned from every record there is.

    No ``Rounds``: one of its rounds may last for minutes, and must hear in the middle of it that the lead has ended.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._duty = DutyThread(self.run, "payload-indexer", leave_s=LEAVE_S)
        self._types: Mapping[str, str] = {}  #: as they were read last
        self._named: tuple[set[str], bool] = (set(), True)  #: what they name, and whether all could be read

    def run(self, stop: threading.Event) -> None:
        """Until the lead ends; a store that does not answer is asked again."""
        while not stop.is_set():
            try:
                self.look()
                self._go_on(stop)
            except ConsoleError as exc:
                log.warning("the index of payloads is as it was: %s", exc)
            self._clock.wait(stop, LOOK_S)

    def look(self) -> None:
        """Tell the store which fields the types name. Raises the errors of the store."""
        known = set(self._store.indexed())
        types = self._store.documents("type")
        if types != self._types:
            self._named, self._types = indexed_fields(types), types
        wanted, sure = self._named
        if not sure:  # nobody knows what a type names that cannot be read
            wanted = wanted | known
        chosen = set(sorted(wanted)[:MOST])
        if len(wanted) > MOST:
            log.warning("%d fields of payloads are to be indexed, %d are", len(wanted), MOST)
        if chosen != known:
            log.info("indexed fields of payloads: %s", ", ".join(sorted(chosen)) or "none")
            self._store.index_fields(sorted(chosen))

    def _go_on(self, stop: threading.Event) -> None:
        """Half of the time is left to others: they write to the same store."""
        while not stop.is_set():
            begun = self._clock.monotonic()
            if not self._store.index_more():
                return
            self._clock.wait(stop, max(0.001, self._clock.monotonic() - begun))


def indexed_fields(documents: Mapping[str, str]) -> tuple[set[str], bool]:
    """The fields that types name, and whether all types could be read."""
    fields: set[str] = set()
    sure = True
    for body in documents.values():
        try:
            fields.update(task_type.stored(body).indexed)
        except UsageError:
            sure = False
    return fields, sure
