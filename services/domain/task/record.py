"""The record of a task: the truth about one unit of work for one shop."""

from __future__ import annotations

import msgspec

from services.domain.task import lane as lanes
from services.domain.task.artifact import ArtifactMark
from services.domain.task.status import CLAIMABLE, TERMINAL, WAITING, Status
from services.domain.upkeep.stored import Instant, Measure

# Nothing here can be part of a cycle, so the collector need not look at the many records in memory (gc=False).

#: transitions and attempts kept in the record itself; the event stream is only the live feed
HISTORY_LIMIT = 30
ERROR_LIMIT = 4000
#: before the uniqueness key of a task that was forced past the duplicate guard: it holds nobody back, its work is known
FORCED = "!"
#: mark and origin of a record that was made of its message, for its own is gone
RECOVERED = "recovered"
LIFE = "life"  #: of the store's documents: earlier lives of the data, which are lost, by when that was noticed (UTC ms)


class Step(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One transition of the record: when, from where to where, by whom."""

    at: Instant  #: UTC milliseconds of the store's clock
    from_: str  #: "" for the creation
    to: str
    worker: str = ""
    gen: int = 0
    attempt: int = 0
    note: str = ""  #: gate, error kind or the operator's name


class Attempt(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One start of the task on one worker, written when it ended."""

    number: int
    worker: str
    started_at: Instant
    ended_at: Instant
    outcome: str  #: succeeded | failed | timeout | cancelled | lost | returned | preempted | waiting | fenced
    error_kind: str = ""
    error: str = ""
    retry_in_s: int = -1  #: seconds until the next attempt, -1 when there is none
    artifacts: tuple[ArtifactMark, ...] = ()  #: files that it left, the first of them
    artifacts_note: str = ""  #: what of its files could not be kept, and why
    took: tuple[tuple[str, float], ...] = ()  #: seconds that its steps took, by the names that the flow gave them


class Task(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """The record. Instants are UTC milliseconds, 0 for "not yet"; text is "" for "none".

    The order of the fields is the stored form (an array) on every driver: append, never reorder or remove.
    """

    task_id: str
    shop_id: str
    platform: str
    task_type: str
    payload: str = "{}"  #: JSON object, opaque to the drivers
    lane: str = lanes.Lane.NORMAL
    priority: int = 6  #: 1–10
    queue: str = ""  #: "" for the lane's queue, else the dedicated queue's shop id
    status: str = Status.PENDING
    gate: str = ""  #: name of the closed gate while blocked
    gen: int = 0  #: rises when an operator re-prioritises, runs now or moves it
    attempt: int = 0  #: number of the last attempt that was started
    retries: int = 0  #: failures counted against max_retries
    max_retries: int = 3
    created_at: Instant = 0
    updated_at: Instant = 0
    due_at: Instant = 0  #: not before; end of the delay while retrying
    queued_at: Instant = 0
    started_at: Instant = 0  #: of the last attempt
    ended_at: Instant = 0
    owner: str = ""  #: claim token of the last attempt; kept after its end so that a repeated write is recognised
    lease_until: Instant = 0
    worker: str = ""
    cancel: str = ""  #: "" | requested | stopping
    error: str = ""
    error_kind: str = ""
    fingerprint: str = ""
    result: str = ""  #: JSON, "" for none
    progress: int = -1  #: percent, -1 unknown
    note: str = ""  #: what the running attempt says about itself
    batch: str = ""
    origin: str = ""  #: console | cli | rest | file | foreign | republish | schedule | demo | again
    created_by: str = ""
    reason: str = ""  #: why it was forced or cancelled
    parent: str = ""  #: dead task it was republished from
    successor: str = ""  #: task it was republished as, or that did its work later (triage overtaken)
    triage: str = ""  #: Triage value once dead
    triage_note: str = ""
    uniq: str = ""  #: uniqueness key of its work, "" for none; behind ``FORCED`` if it may run beside another
    marks: tuple[str, ...] = ()  #: twin | forced | again | recovered | unregistered | foreign | noticed
    losses: tuple[Instant, ...] = ()  #: instants at which a worker was lost while running it
    timeout_s: int = 600
    idempotent: bool = True
    expected_s: Measure = 0.0  #: declared duration, 0 unknown (counts as long)
    steps: tuple[Step, ...] = ()  #: last HISTORY_LIMIT transitions, oldest first
    attempts: tuple[Attempt, ...] = ()
    extra: str = ""  #: JSON object of message fields unknown to us; they travel on
    type_version: int = 0
    depends_on: tuple[str, ...] = ()  #: ids as they were named; one that was republished means its successor
    on_dependency_failure: str = "hold"  #: hold | cancel
    deadline: Instant = 0  #: its first attempt must begin before this instant, 0 for whenever

    @property
    def shop(self) -> str:
        """Shop identity ``platform:shop_id``."""
        return f"{self.platform}:{self.shop_id}"

    @property
    def work(self) -> str:
        """Uniqueness key of its work, also of one that was forced; "" where its type knows no equal work."""
        return self.uniq.removeprefix(FORCED)

    @property
    def guard(self) -> str:
        """The key under which it holds back others and waits for them; "" where it does neither."""
        uniq = self.uniq
        return "" if uniq[:1] == FORCED else uniq

    @property
    def waits_since(self) -> int:
        """From when on it has waited without a break (UTC ms): one that was planned ahead is older than it waits."""
        since = self.created_at
        for step in reversed(self.steps):
            if step.to not in WAITING:
                break
            since = step.at
        return since

    @property
    def bound(self) -> bool:
        """Whether it may still come too late for its ``deadline``."""
        return self.deadline > 0 and self.attempt == 0 and (self.status in CLAIMABLE or self.status == Status.SCHEDULED)

    @property
    def ended(self) -> bool:
        """Whether the status is terminal."""
        return self.status in TERMINAL


ENCODER = msgspec.msgpack.Encoder()
_STATUSES = frozenset(map(str, Status))
_DECODER = msgspec.msgpack.Decoder(Task, strict=False)


def encode(task: Task) -> bytes:
    """Pack a record into its stored form, a msgpack array in field order."""
    return ENCODER.encode(task)


def decode(data: bytes) -> Task:
    """Read a stored record to look at it; its status may be one that only another program knows (``check``).

    Raises:
        msgspec.DecodeError: the bytes are not a record.
    """
    return _DECODER.decode(data)


def check(task: Task) -> Task:
    """A record that this version may act on, for it knows its status.

    Raises:
        ValueError: it does not.
    """
    if task.status not in _STATUSES:
        raise ValueError(f"{task.status!r:.40} is no status that this version knows")
    return task
