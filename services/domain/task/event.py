"""One transition of a task as consoles and other programs see it."""

from __future__ import annotations

import msgspec

from services.domain.upkeep.stored import Instant


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Appended in the same atomic step as the transition. Names are the wire contract, but ``from_`` for ``from``."""

    cursor: str  #: place in the stream: "{epoch}/{position}"; opaque outside the store
    task_id: str
    shop_id: str
    platform: str
    task_type: str
    from_: str  #: "" for a creation
    to: str
    at: Instant  #: UTC milliseconds
    worker: str
    gen: int
    attempt: int
    lane: str = ""


class EventBatch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Events after a cursor. ``gap``: the cursor was too old or of another epoch, so take a new snapshot."""

    events: tuple[Event, ...]
    cursor: str
    gap: bool = False
