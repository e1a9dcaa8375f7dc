"""Jobs and listeners for the tests of the executors."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psutil

from services.artifacts import caps
from services.domain.task.artifact import Artifact, Source
from services.domain.task.record import Task
from services.executors import tree_guard
from services.executors.base import Executor, Job, JobContext, Outcome

PATIENCE_S = 50.0  #: for things that are certain to happen
#: a time-out by which a flow has begun; wine takes its time
SOON_S = 5.0 if sys.platform == "win32" else 0.3


def job(task_type: str = "sync_order", *, timeout_s: float = PATIENCE_S, attempt: int = 1, **fields: Any) -> Job:
    """A job of shop pdd:shop017; ``payload`` is a plain object."""
    fields["payload"] = json.dumps(fields.get("payload", {}), ensure_ascii=False)
    base: dict[str, Any] = {"task_id": "t-1", "shop_id": "shop017", "platform": "pdd"}
    return Job(
        task=Task(**(base | fields), task_type=task_type), attempt=attempt, worker="w1", slot=0, timeout_s=timeout_s
    )


@dataclass
class Files:
    """Takes files and forgets where they came from."""

    kept: dict[str, tuple[bytes, str, str]] = field(default_factory=dict)  #: content, kind and step by name
    notes: list[str] = field(default_factory=list)

    def add(self, source: Source, *, name: str = "", kind: str = "", step: str = "") -> Artifact | None:
        """Read it at once."""
        with caps.opened(source) as stream:
            content = stream.read()
        self.kept[name or getattr(source, "name", "")] = (content, kind, step)
        return None

    def note(self, text: str) -> None:
        """Remember."""
        self.notes.append(text)


@dataclass
class Listener:
    """Takes what a job says and lets a test wait for a line of it."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    shown: list[tuple[int, str]] = field(default_factory=list)
    files: Files = field(default_factory=Files)
    stops: int = 0
    _news: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.context = JobContext(log=self._log, progress=self._progress, stopping=self._stop, artifacts=self.files)

    def _log(self, stream: str, text: str) -> None:
        with self._news:
            self.lines.append((stream, text))
            self._news.notify_all()

    def _progress(self, percent: int, note: str) -> None:
        self.shown.append((percent, note))

    def _stop(self) -> None:
        self.stops += 1

    def out(self) -> list[str]:
        """Lines of standard output."""
        return [text for stream, text in self.lines if stream in ("out", "own")]

    def wait_for(self, start: str) -> str:
        """The rest of the first line that begins so."""
        with self._news:
            assert self._news.wait_for(lambda: self._find(start) is not None, PATIENCE_S), f"no line {start!r}"
        return str(self._find(start))

    def _find(self, start: str) -> str | None:
        return next((text[len(start) :].strip() for _, text in self.lines if text.startswith(start)), None)


@dataclass
class Running:
    """A job in a thread of its own."""

    thread: threading.Thread
    listener: Listener
    _outcome: list[Outcome]

    def outcome(self) -> Outcome:
        """Wait for the end."""
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()
        return self._outcome[0]


def start(executor: Executor, work: Job) -> Running:
    """Run a job beside the test."""
    listener, outcome = Listener(), list[Outcome]()
    thread = threading.Thread(target=lambda: outcome.append(executor.run(work, listener.context)))
    thread.start()
    return Running(thread, listener, outcome)


def is_gone(pid: int) -> bool:
    """Whether no process runs under this number; a zombie that nobody collects runs no more."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until it holds."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "never came true"
        time.sleep(0.005)


def unreaped() -> list[int]:
    """Children of this process, ended or not, without the one that guards the others."""
    guard = tree_guard._guard
    return [child.pid for child in psutil.Process().children() if guard is None or child.pid != guard.pid]


def descriptors() -> int:
    """Open descriptors of this process."""
    return psutil.Process().num_fds()
