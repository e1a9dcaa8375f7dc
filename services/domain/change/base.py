"""The root of the operations and what they answer."""

from __future__ import annotations

import msgspec

from services.domain.task.record import Task


class Op(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Root of the operations."""


#: of an operation that met something in the store that is none of ours; nothing of it was written
UNREADABLE = "unreadable"
#: of a creation whose work has succeeded since the instant that was asked for
DONE = "done"
#: of a creation of which nobody can tell that: what is known of its work cannot be read
UNSURE = "unsure"


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What one operation did."""

    code: str
    task: Task | None = None
    released: tuple[Task, ...] = ()  #: pending records with an outbox mark that the caller should publish now
    words: str = ""  #: why, where something could not be read
    ended: tuple[Task, ...] = ()  #: records that were cancelled over a task that they depend on, as the step found it
