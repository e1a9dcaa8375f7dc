"""The schedules as they are kept."""

from __future__ import annotations

from typing import Protocol

import msgspec

from services.domain.upkeep.stored import Instant


class ScheduleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as it is kept. ``version`` rises with every change, so that of two who saw the same one changes it."""

    name: str
    body: str  #: JSON, see ``services.domain.plans.schedule``
    next_at: Instant = 0  #: UTC ms of the next run, 0 for none
    version: int = 0  #: filled by the store


class Timetable(Protocol):
    """Schedules, changed by compare-and-set."""

    def put_schedule(self, entry: ScheduleEntry, expect: int) -> int:
        """Write a schedule if its version still is ``expect`` (0: there is none of this name); its new version, 0 when
        somebody else was first. ``entry.version`` is not looked at. After a lost reply, read it again. No two schedules
        that had the same name one after the other share a version.
        """

    def remove_schedule(self, name: str, expect: int) -> bool:
        """Strike a schedule off if its version still is ``expect``; tell whether it was."""

    def schedules(self) -> list[ScheduleEntry]:
        """All schedules by name."""

    def due_schedules(self, limit: int) -> list[ScheduleEntry]:
        """Those whose next run is due by ``wall_ms``, the earliest first."""

    def wall_ms(self) -> int:
        """The instant that schedules go by: that of the store, but while this runs ahead of a clock that was set back
        what the clock shows, or a run of this evening would come at noon.
        """
