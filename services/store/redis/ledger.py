"""What is known of a work, on Redis: see ``scripts/ledger.lua``."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from services.domain.task.ledger import Done
from services.domain.upkeep.stored import Instant
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.unreadable import sound

SLICE = 500


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One stored entry."""

    task_id: str  #: "" for no success
    at: Instant
    by: str
    worker: str
    red: tuple[str, ...] = ()  #: held, or dead and open

    @property
    def done(self) -> Done | None:
        """Its last success."""
        return Done(self.task_id, self.at, self.by, self.worker) if self.task_id else None


read_entry = msgspec.msgpack.Decoder(Entry, strict=False).decode


class Ledger(Part):
    """The call of ``services.ports.Records``."""

    def last_done(self, works: Sequence[str]) -> list[Done | None]:
        """At the place of each work its last success."""
        return [entry.done if entry is not None else None for entry in self._work_entries(works)]

    def _work_entries(self, works: Sequence[str]) -> list[Entry | None]:
        found: list[Entry | None] = []
        for start in range(0, len(works), SLICE):
            names = [keys.WORK + work for work in works[start : start + SLICE]]
            stored = self._link.call("MGET", *names)
            for name, data in zip(names, stored, strict=True):
                found.append(sound(read_entry, data, "work", name.encode()) if data else None)
        return found
