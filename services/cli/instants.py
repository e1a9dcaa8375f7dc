"""Instants as people write them on the command line and into files: a time, or how long from now."""

from __future__ import annotations

import unicodedata

from services.assembly import Engine
from services.cli import shapes, spoken
from services.domain.errors import UsageError
from services.domain.plans import recurrence
from services.domain.task.search import filter_time
from services.i18n import N_

#: what a cell or an option may say
EXAMPLES = N_(
    "2026-11-22T08:00 (with or without an offset), 18:00, tomorrow 9:00, or a duration from now such as 30m or 2h"
)


def zone_of(engine: Engine) -> str:
    """In which zone instants without an offset are meant.

    Raises:
        UsageError: there is no such zone.
    """
    zone = shapes.zone(engine)
    recurrence.zone_named(zone)
    return zone


class Instants:
    """Reads instants in the fleet's time zone; durations begin when this was made."""

    def __init__(self, zone: str, now_ms: int) -> None:
        self._times, self._zone = filter_time.Times(now_ms, zone), zone

    @classmethod
    def of(cls, engine: Engine) -> Instants:
        """In the zone of the fleet; before somebody set it in that of the settings, else of this machine."""
        return cls(shapes.zone(engine), engine.store.now_ms())

    def read(self, text: str, field: str) -> int:
        """UTC milliseconds, 0 for an empty text.

        Raises:
            UsageError: it is no time, a whole day, or past; ``field`` names it. Or this machine does not know the zone.
        """
        text = unicodedata.normalize("NFKC", text)  # full-width digits and colons, as cells of a file may have them
        if not text.strip():
            return 0
        if filter_time.duration_ms(text.strip()) is None:
            recurrence.zone_named(self._zone)  # else the time would be meant in that of the machine
        found = self._times.coming(text)  # as a cell of a file and the form of New task take it
        if found is None:
            raise UsageError(
                spoken.phrase(
                    "{field} takes {examples}, not {text}",
                    field=field,
                    examples=spoken.phrase(EXAMPLES),
                    text=f"{text!r:.40}",
                ),
                field=field,
            )
        if found <= self._times.now_ms:
            raise UsageError(spoken.phrase("{field}: {time} is past", field=field, time=text.strip()[:40]), field=field)
        return found
