"""What cannot be read any more: finding it, and taking it out of everybody's way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.domain.upkeep.damage import Aside, Check, Damage


class Care(Protocol):
    """For doctor and repair."""

    def damage(self, check: Check, *, deep: bool) -> list[Damage]:
        """Entries that no reader can read, keys of the wrong kind, names that are no text.

        ``check`` judges documents and schedules. ``deep``: also what there is one of for each task.
        """

    def set_aside(self, found: Sequence[Damage]) -> int:
        """Move these, with their bytes, where nobody reads them; how many were still as they were found.

        What closed a gate (a pause, a login) is replaced by an entry that keeps it closed. The trail of the audit is
        never shortened: a copy is made, and the entry is known from then on.
        """

    def aside(self, limit: int) -> list[Aside]:
        """What was set aside, the latest first, what nobody noted the time of last."""
