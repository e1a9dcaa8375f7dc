"""What an executor gets and gives back: one attempt of one task."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from services.domain.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One attempt to execute."""

    task: Task
    attempt: int
    worker: str
    slot: int
    timeout_s: float


@dataclass(slots=True, kw_only=True)
class JobContext:
    """The job's line back to the worker; ``log`` and ``progress`` may be called from any thread."""

    log: Callable[[str, str], None]  #: (stream "out"|"err", one line without newline)
    progress: Callable[[int, str], None]  #: (percent 0–100, note)
    cancelled: threading.Event = field(default_factory=threading.Event)
    stopping: Callable[[], None] = lambda: None  #: called once when a requested stop has begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the attempt ended. ``error_kind`` is one of services.domain.classify.KINDS when not ok."""

    ok: bool
    result: str = ""  #: JSON
    error: str = ""
    error_kind: str = ""
    cancelled: bool = False
    timed_out: bool = False


class Executor(Protocol):
    """Runs jobs of the task types that name it; one instance serves all slots of a worker."""

    name: str

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Execute to the end, the time-out or the cancellation; raises nothing but programming errors."""

    def close(self) -> None:
        """End what is still running (whole process trees)."""
