"""Notes on dead letters, and what the duplicate guard has refused or held back, on Redis."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from services.domain.remarks import Note, Suppressed
from services.store import keys
from services.store.redis_part import Part

_NOTE = msgspec.msgpack.Decoder(Note, strict=False)
_SUPPRESSED = msgspec.msgpack.Decoder(Suppressed, strict=False)


class Remarks(Part):
    """The calls of ``services.ports.Store``."""

    def notes(self, task_id: str) -> list[Note]:
        """The oldest first."""
        return [_NOTE.decode(packed) for packed in self._link.call("LRANGE", keys.NOTES + task_id, 0, -1)]

    def suppressed(self, limit: int) -> list[Suppressed]:
        """The newest first."""
        ids = self._link.call("ZREVRANGE", keys.SUPPRESSED, 0, limit - 1)
        found = self._link.call("HMGET", keys.SUPPRESSED_OF, *ids) if ids else []
        return [_SUPPRESSED.decode(packed) for packed in found if packed is not None]

    def suppressed_counts(self) -> Mapping[tuple[str, str, str], int]:
        """By outcome, shop and type."""
        found: dict[tuple[str, str, str], int] = {}
        for field, number in self._link.call("HGETALL", keys.SUPPRESSED_N).items():
            outcome, shop, kind = field.decode().split("|")
            found[outcome, shop, kind] = int(number)
        return found
