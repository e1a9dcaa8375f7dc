"""Runs of bulk republishing as the store knows them: what was planned, how far it is, who is at it.

The ids that new tasks get are made of run and letter, so whoever takes a run up again sees by a closed letter whether
this run closed it; nothing is written for a single item. A run is held by a lease, so that one person at a time is at
it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from services.commands.bulk.options import Ended, Options, Progress
from services.commands.bulk.plan import Plan
from services.domain.errors import NotFound, StoreError, UsageError
from services.domain.text.said import said
from services.domain.upkeep.stored import Instant
from services.ports import Clock, Store

log = logging.getLogger(__name__)
KIND, IDS = "bulk", "bulk_ids:"
LEASE_MS, BEAT_S = 10_000, 1.0
#: how many runs are remembered
KEPT = 50
_TAIL = 12
#: why a run ended that nobody shall go on with
ABORTED = "bulk.aborted"
#: why one ended whose window was closed: somebody shall know
LEFT = "bulk.left"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One run. ``done`` and ``skipped`` are as of ``at``; the letters themselves tell the truth."""

    run_id: str
    who: str
    begun_at: Instant
    at: Instant
    total: int
    done: int = 0
    skipped: int = 0
    left: int = 0
    probed: bool = False  #: those tried first have succeeded
    ended: bool = False
    why: str = ""  #: code of what ended it early
    options: Options = msgspec.field(default_factory=Options)
    fields: dict[str, Any] = {}


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run as people see it. ``state``: running | interrupted | stopped | aborted | done."""

    entry: Entry
    state: str
    holder: str = ""  #: who is at it now


def successor_tail(run_id: str, task_id: str) -> str:
    """How the id of the new task ends that a run makes of a letter."""
    return hashlib.sha256(f"{run_id}\n{task_id}".encode()).hexdigest()[:_TAIL]


class Book:
    """The hand that writes one run down while it goes on."""

    def __init__(self, store: Store, clock: Clock, entry: Entry, holder: str, *, resumed: bool = False) -> None:
        self.entry, self.resumed = entry, resumed
        self._store, self._clock, self._holder = store, clock, holder
        self._beat_at = clock.monotonic()

    def made(self, task_id: str, successor: str) -> bool:
        """Whether a closed letter was closed by this run."""
        return successor.endswith(f"_{successor_tail(self.entry.run_id, task_id)}")

    def beat(self, progress: Progress) -> bool:
        """Write down how far it is, now and then; False when somebody else has taken it over."""
        if self._clock.monotonic() - self._beat_at < BEAT_S:
            return True
        self._beat_at = self._clock.monotonic()
        try:
            if not self._store.lead(_role(self.entry.run_id), self._holder, LEASE_MS):
                return False
            self._write(done=progress.done, skipped=progress.skipped)
        except StoreError as exc:
            log.info("run %s is not written down: %s", self.entry.run_id, exc)
        return True

    def probed(self) -> None:
        """Those tried first have succeeded: whoever takes it up need not wait for them again."""
        self._write(probed=True)

    def close(self, ended: Ended) -> None:
        """It is over, or left to somebody else."""
        done, skipped = len(ended.outcome.done), len(ended.outcome.skipped)
        why = ended.why.code if ended.why is not None else ""
        try:
            if why != "bulk.taken":
                self._write(done=done, skipped=skipped, left=len(ended.left), ended=True, why=why)
            self._store.resign(_role(self.entry.run_id), self._holder)
        except StoreError as exc:
            log.warning("the end of run %s is not written down: %s", self.entry.run_id, exc)

    def _write(self, **changes: Any) -> None:
        self.entry = msgspec.structs.replace(self.entry, at=self._store.now_ms(), **changes)
        self._store.put_document(KIND, self.entry.run_id, msgspec.json.encode(self.entry).decode())


class Shelf:
    """All runs."""

    def __init__(self, store: Store, clock: Clock, who: str) -> None:
        self._store, self._clock, self._who = store, clock, who

    def begin(self, plan: Plan, options: Options) -> Book:
        """A new run, held by this person."""
        now = self._store.now_ms()
        entry = Entry(
            run_id=secrets.token_hex(4),
            who=self._who,
            begun_at=now,
            at=now,
            total=len(plan.items),
            options=options,
            fields=dict(plan.fields),
        )
        self._forget_old()
        holder = self._take(entry)  # before it is there to be seen: one without a holder counts as interrupted
        ids = json.dumps([item.task_id for item in plan.items])
        self._store.put_document(IDS + entry.run_id, "ids", ids)
        self._store.put_document(KIND, entry.run_id, msgspec.json.encode(entry).decode())
        return Book(self._store, self._clock, entry, holder)

    def resume(self, run_id: str, wait: Callable[[float], bool] = lambda _: True) -> Book:
        """A run that ended early, held by this person from now on. Where somebody is at it, ``wait`` lets seconds pass
        and says whether to give up.

        Raises:
            UsageError: it is unknown, done, or somebody is at it.
        """
        entry = self.unfinished(run_id)
        held = self._try(entry)
        end = self._clock.monotonic() + LEASE_MS / 1000 + 1
        while not held and self._clock.monotonic() < end and not wait(0.5):
            held = self._try(entry)
        held = held or self._take(entry)
        entry = self._still_unfinished(run_id, held)
        resumed = not entry.ended
        # it goes on: what ended it before is told no more
        entry = msgspec.structs.replace(entry, at=self._store.now_ms(), ended=False, left=0, why="")
        self._store.put_document(KIND, run_id, msgspec.json.encode(entry).decode())
        return Book(self._store, self._clock, entry, held, resumed=resumed)

    def abort(self, run_id: str) -> Entry:
        """Nobody shall go on with a run that ended early; what it has not sent stays a dead letter.

        Raises:
            UsageError: it is unknown, done, or somebody is at it.
        """
        holder = self._take(self.unfinished(run_id))
        entry = self._still_unfinished(run_id, holder)
        left = entry.left if entry.ended else max(0, entry.total - entry.done - entry.skipped)
        entry = msgspec.structs.replace(entry, at=self._store.now_ms(), ended=True, left=left, why=ABORTED)
        self._store.put_document(KIND, run_id, msgspec.json.encode(entry).decode())
        self._store.resign(_role(run_id), holder)
        return entry

    def unfinished(self, run_id: str) -> Entry:
        """A run that somebody may go on with.

        Raises:
            UsageError: it is unknown, or done.
        """
        entry = self.entry(run_id)
        if entry.why == ABORTED:
            raise UsageError(said("bulk.was_aborted", id=run_id), field="run")
        if entry.ended and not entry.left:
            raise UsageError(said("bulk.is_done", id=run_id, done=entry.done, total=entry.total), field="run")
        return entry

    def _still_unfinished(self, run_id: str, holder: str) -> Entry:
        """The same, now that nobody else writes it: somebody may have ended or aborted it until it was held."""
        try:
            return self.unfinished(run_id)
        except UsageError:
            self._store.resign(_role(run_id), holder)
            raise

    def entry(self, run_id: str) -> Entry:
        """One run.

        Raises:
            UsageError: there is none of this name.
        """
        for entry in self._entries():
            if entry.run_id == run_id:
                return entry
        raise NotFound(said("bulk.unknown", id=repr(run_id)[:60]), field="run")

    def ids(self, run_id: str) -> list[str]:
        """The frozen set of a run, in its order."""
        body = self._store.documents(IDS + run_id).get("ids", "[]")
        try:
            return msgspec.json.decode(body, type=list[str])
        except (msgspec.DecodeError, RecursionError) as exc:
            raise UsageError(said("bulk.unreadable", id=repr(run_id)[:60], error=str(exc)[:200]), field="run") from exc

    def views(self) -> list[RunView]:
        """The remembered runs, the newest first."""
        return [self._view(entry) for entry in self._entries()]

    def _view(self, entry: Entry) -> RunView:
        if entry.ended:
            if entry.why and entry.left and entry.why != ABORTED:
                return RunView(entry=entry, state="interrupted" if entry.why == LEFT else "stopped")
            return RunView(entry=entry, state="aborted" if entry.why == ABORTED else "done")
        holder = self._store.leader(_role(entry.run_id)).partition("#")[0]
        return RunView(entry=entry, state="running" if holder else "interrupted", holder=holder)

    def _entries(self) -> list[Entry]:
        found: list[Entry] = []
        for name, body in self._store.documents(KIND).items():
            try:
                found.append(msgspec.json.decode(body, type=Entry, strict=False))
            except (msgspec.DecodeError, RecursionError) as exc:
                log.warning("run %s cannot be read: %s", name, exc)
        return sorted(found, key=lambda entry: (entry.begun_at, entry.run_id), reverse=True)

    def _try(self, entry: Entry) -> str:
        holder = f"{self._who}#{secrets.token_hex(4)}"
        return holder if self._store.lead(_role(entry.run_id), holder, LEASE_MS) else ""

    def _take(self, entry: Entry) -> str:
        holder = self._try(entry)
        if not holder:
            who = self._store.leader(_role(entry.run_id)).partition("#")[0]
            raise UsageError(said("bulk.under_way", id=entry.run_id, who=who), field="run")
        return holder

    def _forget_old(self) -> None:
        for view in self.views()[KEPT - 1 :]:
            if view.state != "running":
                self._store.remove_document(KIND, view.entry.run_id)
                self._store.remove_document(IDS + view.entry.run_id, "ids")


def _role(run_id: str) -> str:
    return f"{KIND}:{run_id}"


def interrupted(views: Sequence[RunView]) -> RunView | None:
    """The newest run that nobody is at and that has something left."""
    return next((view for view in views if view.state in ("interrupted", "stopped")), None)
