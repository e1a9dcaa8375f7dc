"""What a comparison of indexes and counters with the records found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

SHOWN = 3
#: what differs; `repair.KIND` is its sentence
Kind = Literal["index", "counter", "reservation", "link", "limit", "waiting", "ledger"]


class Miscount(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of difference. ``left``: how many of ``count`` stay, for they cannot be mended or moved meanwhile."""

    kind: Kind
    where: str  #: some of the names, for a person
    count: int
    left: int = 0


def some(names: Sequence[str]) -> str:
    """The first few of many names."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
