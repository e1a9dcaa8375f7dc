"""What is kept about tasks beside their records: notes of people on dead letters, and what the duplicate guard did."""

from __future__ import annotations

import msgspec

from services.domain.upkeep.stored import Instant

#: notes of one letter, the newest; how long one may be; entries about suppressed duplicates, the newest
NOTES_KEPT, NOTE_LIMIT, SUPPRESSED_KEPT = 50, 2_000, 1_000
#: what became of a task whose work another one was doing already: not created; created and behind it in the queue;
#: created all the same, with a reason; published by another program, waits at its gate
OUTCOMES = ("refused", "queued", "forced", "waits", "held")


class Note(msgspec.Struct, frozen=True, array_like=True):
    """What a person wrote about a dead letter."""

    note_id: str
    at: Instant
    who: str
    text: str


class Suppressed(msgspec.Struct, frozen=True, array_like=True):
    """A task that met another one with the same work."""

    at: Instant
    task_id: str  #: there is no such task where it was refused
    platform: str
    shop_id: str
    task_type: str
    by: str
    origin: str
    outcome: str  #: one of OUTCOMES
    holder: str  #: the task that is the reason
    holder_status: str  #: as it was then
