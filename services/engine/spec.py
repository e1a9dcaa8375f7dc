"""What is asked of the producer, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.domain.gates import dependency
from services.domain.task.ledger import Done
from services.domain.task.record import Task


class TaskSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One task as asked for; ``line`` tells where it came from in a file."""

    platform: str
    shop_id: str
    task_type: str
    payload: Mapping[str, Any] = msgspec.field(default_factory=dict)
    priority: str | int = ""
    delay_s: float = 0.0
    at_ms: int = 0  #: not before this instant (UTC ms of the store's clock), 0 for at once; one that is past is at once
    deadline_ms: int = 0  #: must begin before this instant (UTC ms of the store's clock), 0 for whenever
    if_duplicate: str = "reject"
    reason: str = ""
    batch: str = ""
    origin: str = "cli"
    created_by: str = ""
    max_retries: int | None = None
    parent: str = ""
    extra: str = ""  #: JSON object of message fields unknown to us, of a task that is made again
    line: int = 0
    asked_ms: int = 0  #: of work that is asked for once more: since when a success asks for a reason, 0 for its type's
    unasked: bool = False  #: nobody can be asked why: it is recorded though it was done lately, and held when claimed
    task_id: str = ""  #: of one that may be made again after a crash; "" for a new one
    key: str = ""  #: a name for other specs of the same bulk, which may wait for it by this name
    #: what must succeed first: ids of tasks, keys of specs of the same bulk, or types: the open ones for its shop
    depends_on: Sequence[str] = ()
    on_dependency_failure: str = dependency.HOLD  #: hold | cancel


class After(msgspec.Struct, frozen=True, kw_only=True):
    """What it means that tasks come after a type: each waits for what is open of it for its own shop."""

    task_type: str
    waiting: int  #: tasks that wait
    tasks: int  #: for so many, rows of the same bulk among them
    free: int  #: tasks for whose shop nothing of it is open, so that they wait for nothing

    @classmethod
    def of(cls, task_type: str, found: Sequence[Sequence[str]]) -> After:
        """By what each of the tasks waits for."""
        return cls(
            task_type=task_type,
            waiting=sum(map(bool, found)),
            tasks=len({name for names in found for name in names}),
            free=sum(not names for names in found),
        )


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a bulk of specs, each at its place in one of the four."""

    created: tuple[Task, ...] = ()
    duplicates: tuple[tuple[TaskSpec, Task], ...] = ()
    done: tuple[tuple[TaskSpec, Done], ...] = ()  #: succeeded since ``asked_ms``, or so lately that its type asks why
    errors: tuple[tuple[TaskSpec, str, str], ...] = ()  #: (spec, field, sentence)
    unconfirmed: int = 0  #: recorded, but the broker has not confirmed yet; they are sent as soon as it does
    after: tuple[After, ...] = ()


class Twin(msgspec.Struct, frozen=True, kw_only=True):
    """A spec whose work an active task does already."""

    spec: TaskSpec
    task_id: str  #: of the active one
    status: str  #: how that one stands


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """A spec whose work has succeeded before."""

    spec: TaskSpec
    done: Done  #: the last time; ``ledger.UNREADABLE`` where nobody can read whether, and its type asks
    asks: bool = False  #: its type asks for a reason to do it again so soon


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What would become of a bulk if it was submitted now: the rest of it would be created."""

    errors: tuple[tuple[TaskSpec, str, str], ...] = ()  #: (spec, field, sentence)
    twins: tuple[Twin, ...] = ()
    before: tuple[Before, ...] = ()  #: of those that are no twins, and of twins where it asks for a reason
    after: tuple[After, ...] = ()
