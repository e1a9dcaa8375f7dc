"""Notes on dead letters, and what the duplicate guard has refused or held back, on Redis."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.task.notes import Note, Suppressed
from services.store.redis import keys
from services.store.redis.part import Part
from services.store.unreadable import all_sound, by_name, number

read_note = msgspec.msgpack.Decoder(Note, strict=False).decode
read_suppressed = msgspec.msgpack.Decoder(Suppressed, strict=False).decode


class Notes(Part):
    """The calls of ``services.ports.Store``."""

    def notes(self, task_id: str) -> list[Note]:
        """The oldest first."""
        return all_sound(read_note, self._link.call("LRANGE", keys.NOTES + task_id, 0, -1), "note")

    def suppressed(self, limit: int) -> list[Suppressed]:
        """The newest first."""
        ids = self._link.call("ZREVRANGE", keys.SUPPRESSED, 0, limit - 1)
        found = self._link.call("HMGET", keys.SUPPRESSED_OF, *ids) if ids else []
        return all_sound(read_suppressed, [one for one in found if one is not None], "suppressed duplicate")

    def suppressed_counts(self) -> Mapping[tuple[str, str, str], int]:
        """By outcome, shop and type."""
        counted = by_name(number, self._link.call("HGETALL", keys.SUPPRESSED_N), "count of duplicates")
        named = [(field.split("|"), count) for field, count in counted.items()]
        return {(words[0], words[1], words[2]): count for words, count in named if len(words) == 3}
