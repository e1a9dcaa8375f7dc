"""What an executor gets and gives back: one attempt of one task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event
from typing import Protocol

import msgspec

from services.domain.fleet.worker import BrowserState
from services.domain.task import classify, own_words
from services.domain.task.artifact import Artifact, Source
from services.domain.task.record import Task


class Signal(Protocol):
    """Something that happens once: a ``threading.Event``, or a ``Flag``."""

    def set(self) -> None: ...
    def is_set(self) -> bool: ...


class Flag:
    """A signal that nobody waits for: without the lock and the condition that an event makes for every task."""

    __slots__ = ("_up",)

    def __init__(self) -> None:
        self._up = False

    def set(self) -> None:
        """It has happened."""
        self._up = True

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._up


class ArtifactSink(Protocol):
    """Takes the files of one attempt; may be called from any thread until the executor returns."""

    def add(self, source: Source, *, name: str = "", kind: str = "", step: str = "") -> Artifact | None:
        """Keep a copy of a file or of these bytes; never raises. None: it could not be kept, which is noted in the
        record of the attempt and fails nothing. ``name`` may be left out for a file.
        """

    def note(self, text: str) -> None:
        """Say in the record what of the files could not be kept, and why."""


class NoArtifacts:
    """Where nothing is kept."""

    def add(self, source: Source, *, name: str = "", kind: str = "", step: str = "") -> Artifact | None:
        """Leave it where it is."""

    def note(self, text: str) -> None:
        """Nobody reads it."""


class NoneToLend(Exception):
    """There is no browser to lend; the text says why. ``unable``: it counts for nothing, another try may find one."""

    def __init__(self, text: str, *, unable: bool = True) -> None:
        super().__init__(text)
        self.unable = unable


class NoProfile(Exception):
    """What was wanted of a shop's browser cannot be done here; the text says why."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the browser of a shop shows to a person."""

    url: str = ""
    logged_in: bool = False
    visible: bool = False  #: at the machine itself
    picture: bytes = b""  #: JPEG


class ProfileControl(Protocol):
    """What a person may have done to the browser profiles of shops on this machine. Every call blocks.

    Raises:
        NoProfile: see there.
    """

    def restart_browser(self, platform: str, shop_id: str) -> None:
        """End the shop's browser; a task in it fails with it, the next one starts a new browser."""

    def release_profile(self, platform: str, shop_id: str) -> None:
        """Let nobody hold the shop's profile any more; refused while a task of this worker works in it."""

    def open_window(
        self, platform: str, shop_id: str, *, stop: Event, again: Event, told: Callable[[Shown], None]
    ) -> None:
        """Open the shop's browser for a person until it is closed, or ``stop``; ``again`` loads its page anew."""


class Job(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One attempt to execute."""

    task: Task
    attempt: int
    worker: str
    slot: int
    timeout_s: float


class JobContext(msgspec.Struct, kw_only=True):
    """The job's line back to the worker; ``log`` and ``progress`` may be called from any thread."""

    log: Callable[[str, str], None]  #: (stream, see ``LogLine``; one line without newline)
    progress: Callable[[int, str], None]  #: (percent 0–100, note)
    cancelled: Signal = msgspec.field(default_factory=Flag)
    stopping: Callable[[], None] = lambda: None  #: called once when a requested stop has begun
    artifacts: ArtifactSink = msgspec.field(default_factory=NoArtifacts)  #: takes the files that the job makes


class Outcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How the attempt ended. ``error_kind`` is one of services.domain.task.classify.KINDS when not ok."""

    ok: bool
    result: str = ""  #: JSON
    error: str = ""
    error_kind: str = ""
    cancelled: bool = False
    timed_out: bool = False
    retry_after_s: float = 0.0  #: the other side asks to wait so long before the next attempt
    again_s: float = 0.0  #: not over: go on with another attempt after so long, which is no failure
    of_shop: bool = True  #: a login or captcha that it met is the shop's, where a person can help; False: of an account
    unable: bool = False  #: nothing was started: this worker lacks what it needs, another one may have it


def broken_off(code: str) -> Outcome:
    """The end of an attempt that somebody stopped; ``code``: of the sentence that says how."""
    return Outcome(ok=False, cancelled=True, error=own_words.write(code), error_kind=classify.CANCELLED)


class Fitness(msgspec.Struct, frozen=True, kw_only=True):
    """What an executor can run here now. ``types``: those that it has something of their own for; ``lacks``: what it
    does not find, by type, "" for all others.
    """

    types: frozenset[str] = frozenset()
    lacks: Mapping[str, str] = msgspec.field(default_factory=dict)
    lends: frozenset[str] = frozenset()  #: types whose flows get the browser of their shop
    browsers: int = 0  #: that it has running
    pool: tuple[BrowserState, ...] = ()  #: what they do
    versions: Mapping[str, str] = msgspec.field(default_factory=dict)  #: of what it runs on


class Executor(Protocol):
    """Runs jobs of the task types that name it; one instance serves all slots of a worker."""

    name: str

    def fitness(self) -> Fitness:
        """Look whether what it needs is there; asked about once a second."""

    def run(self, job: Job, context: JobContext) -> Outcome:
        """Execute to the end, the time-out or the cancellation; raises nothing but programming errors."""

    def close(self) -> None:
        """End what is still running (whole process trees)."""
