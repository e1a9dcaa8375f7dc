"""The states of a task and the moves between them that are allowed."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where a task stands; the value is what is stored and sent."""

    PENDING = "pending"  #: recorded, the broker has not confirmed its message yet
    BLOCKED = "blocked"  #: parked at a closed gate; no message is in the broker
    SCHEDULED = "scheduled"  #: due later; no message is in the broker
    QUEUED = "queued"  #: the broker holds its message
    RUNNING = "running"  #: a worker holds its lease
    RETRYING = "retrying"  #: failed, its message waits in a delay queue
    HELD = "held"  #: outcome unknown and not idempotent: a person decides
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"


#: the same as plain words, for what is asked of every step of every task: to look up a member of an enumeration takes
#: as long as ten comparisons
PENDING, BLOCKED, SCHEDULED, QUEUED, RUNNING, RETRYING, HELD, SUCCEEDED, DEAD, CANCELLED = map(str, Status)


class Triage(StrEnum):
    """What a person has done about a dead task."""

    OPEN = "open"
    ARCHIVED = "archived"
    IGNORED = "ignored"
    REPUBLISHED = "republished"
    OVERTAKEN = "overtaken"  #: set by the store: the same work has succeeded later, as ``Task.successor``


#: closed by the engine, with a successor that stands for it
REPLACED = frozenset({Triage.REPUBLISHED, Triage.OVERTAKEN})


TERMINAL = frozenset({Status.SUCCEEDED, Status.DEAD, Status.CANCELLED})
#: counts for uniqueness: a second task of the same kind would do its work twice
ACTIVE = frozenset(Status) - TERMINAL
#: what an operator calls in flight: begun or due; what is planned for later is neither
IN_FLIGHT = ACTIVE - {Status.SCHEDULED}
#: what an operator calls waiting
WAITING = frozenset({Status.PENDING, Status.QUEUED, Status.BLOCKED})
#: their message is on its way to a worker
UNDER_WAY = frozenset({Status.PENDING, Status.QUEUED})
#: a delivery of the right generation may start these
CLAIMABLE = frozenset({Status.PENDING, Status.QUEUED, Status.RETRYING, Status.BLOCKED})
#: may be cancelled at once because nothing has started
CANCELLABLE = frozenset({Status.PENDING, Status.BLOCKED, Status.SCHEDULED, Status.QUEUED, Status.RETRYING, Status.HELD})
#: may be given another priority or started earlier
MOVABLE = frozenset({Status.PENDING, Status.BLOCKED, Status.SCHEDULED, Status.QUEUED, Status.RETRYING})
#: what a message is: a worker takes an order, a letter tells of a death
ORDER, LETTER = "order", "letter"
_MESSAGES: dict[str, str] = {Status.PENDING: ORDER, Status.QUEUED: ORDER, Status.RETRYING: ORDER, Status.DEAD: LETTER}
#: entered with a message to publish; a queued task has its own already
WITH_MARK = frozenset({Status.PENDING, Status.RETRYING, Status.DEAD})


def message_of(status: str) -> str:
    """What message belongs to a task of this status, at the broker or on its way there: order, letter or ""."""
    return _MESSAGES.get(status, "")
