"""Batches on Redis: which there are, and how each stands."""

from __future__ import annotations

from services.domain.upkeep.stored import calendar
from services.store.redis import keys, plan
from services.store.redis.part import Part
from services.store.redis.upkeep.forget import place_of
from services.store.redis.upkeep.walk import Window, walk
from services.store.unreadable import text


class Batches(Part):
    """The calls of ``services.ports.Store``."""

    def batches(self, limit: int, cursor: str = "") -> tuple[list[tuple[str, int]], str]:
        """By their register, which a script keeps; one whose records are gone is passed over."""
        found: list[tuple[str, int]] = []
        window = Window(descending=True, after=place_of(cursor))
        for places in walk(self._link, [keys.BATCHES], window, limit + 1):
            sizes = self._link.many([("ZCARD", keys.BATCH.encode() + name) for _, name in places])
            found += [
                (known, at) for (at, name), size in zip(places, sizes, strict=True) if size and (known := text(name))
            ]
            if len(found) > limit:
                break
        shown = [(name, calendar(begun)) for name, begun in found[:limit]]
        return shown, f"{found[limit - 1][1]}/{found[limit - 1][0]}" if len(found) > limit else ""

    def batch_counts(self, batch: str) -> dict[str, int]:
        """How a batch stands: what its index has in common with each part of the status index, and what was removed."""
        return plan.count_by_status(self._link, keys.BATCH + batch, keys.BURIED + batch) if batch else {}
