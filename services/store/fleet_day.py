"""When the fleet's day begins, for the days of the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable

from services.domain.task import ledger
from services.store.unreadable import WRONG

#: the document of the fleet's time zone (``services.engine.zone``)
KIND, NAME = "fleet", "time_zone"
#: somebody may have set another zone
AGAIN_MS = 60_000


def zone_of(body: str | bytes | None) -> str:
    """The zone that a document names; "" for none."""
    try:
        found = json.loads(body or '""')
    except WRONG:
        return ""
    return found if isinstance(found, str) else ""


class FleetDay:
    """Asked for with every batch; the zone is read once a minute, and at midnight."""

    def __init__(self) -> None:
        self._known = (0, 0, 0, 0)  # the instants from which and until which it holds, first and last of the day

    def begins(self, now_ms: int, zone: Callable[[], str]) -> int:
        """First instant of the day of ``now_ms``. ``zone`` reads the fleet's; what it raises ends the question."""
        return self.span(now_ms, zone)[0]

    def span(self, now_ms: int, zone: Callable[[], str]) -> tuple[int, int]:
        """First instant of that day, and of the next one; otherwise as ``begins``."""
        since, until, begins, ends = self._known
        if not since <= now_ms < until:
            begins, ends = ledger.day_begins(now_ms, zone())
            self._known = (now_ms, min(ends, now_ms + AGAIN_MS), begins, ends)
        return begins, ends
