"""What a comparison of indexes and counters with the records found."""

from __future__ import annotations

import msgspec


class Miscount(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of difference. ``left``: how many of ``count`` stay, for they cannot be mended or moved meanwhile."""

    kind: str  #: index | counter | reservation | unreadable
    where: str  #: some of the names, for a person
    count: int
    left: int = 0
