"""What a bulk command did, item by item."""

from __future__ import annotations

import msgspec

from services.domain.text.message import Message


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One item that was left alone, and why."""

    task_id: str
    why: Message


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """``done`` in the order asked; ``made`` maps an item to the new task that came of it."""

    done: tuple[str, ...] = ()
    skipped: tuple[Refusal, ...] = ()
    failed: tuple[Refusal, ...] = ()
    made: dict[str, str] = msgspec.field(default_factory=dict)
    pending: tuple[str, ...] = ()  #: asked for, e.g. the stop of a running task; the end is shown when it is there

    @property
    def clean(self) -> bool:
        """Whether everything asked for was done or is under way."""
        return not self.skipped and not self.failed
