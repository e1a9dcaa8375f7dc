"""A dead letter beside the last success of the same work: pictures, steps and logs of both, and where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from services.domain.errors import ArtifactError
from services.domain.fleet.shop import Shop
from services.domain.task import ledger
from services.domain.task.artifact import Artifact
from services.domain.task.ledger import Done
from services.domain.task.record import Attempt, Task
from services.domain.task.search import filter
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status
from services.domain.types import flow_apart, flow_trace
from services.domain.types.flow_apart import Pair, Parting
from services.domain.types.flow_trace import Trace
from services.engine.registry import Registry
from services.monitor.artifacts import ArtifactQueries, Found
from services.ports import LogLine, Store

#: successes that are looked through for one with the same steps; lines of a log that are kept; tasks of a chain
LOOKED, LINES, CHAIN = 30, 200, 20


class Kin(StrEnum):
    """How near the success is to the letter."""

    WORK = "work"  #: the very same work, by the ledger
    SHOP = "shop"  #: the same flow for the same shop
    PLATFORM = "platform"  #: the same flow for another shop of the platform
    ANY = "any"  #: the same flow for a shop of another platform


class Blank(StrEnum):
    """Why a run has no picture here."""

    NO = ""  #: it has one
    NONE = "none"  #: it left none
    AWAY = "away"  #: its record names one, which is not at the place that this machine reads
    OFF = "off"  #: this machine keeps and reads no files
    SILENT = "silent"  #: the place does not answer


class ComparedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One of both."""

    task: Task
    shop: Shop | None = None
    attempt: Attempt | None = None  #: the one that counts: of a letter the last, of a success the one that succeeded
    trace: Trace | None = None
    picture: Artifact | None = None
    blank: Blank = Blank.NO
    log: tuple[LogLine, ...] = ()  #: its last lines


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """What is known. Without ``success``: ``gone`` tells of one whose record is gone, and None that there is none."""

    letter: ComparedAttempt
    success: ComparedAttempt | None = None
    kin: Kin = Kin.WORK
    gone: Done | None = None  #: the last success by the ledger, where its record was removed
    pairs: tuple[Pair, ...] = ()
    parting: Parting | None = None
    before: tuple[Task, ...] = ()  #: the dead letters that it was republished from, the newest first


class LetterQueries:
    """Blocking questions, which read files too; call them off the GUI thread."""

    def __init__(self, store: Store, registry: Registry, files: ArtifactQueries) -> None:
        self._store, self._registry, self._files = store, registry, files

    def beside(self, task_id: str) -> Beside | None:
        """A dead letter with its last success; None where there is no such task.

        Raises:
            StoreUnavailable: the store does not answer. A place of files that does not is told in the answer.
        """
        task = self._store.get([task_id])[0]
        if task is None:
            return None
        found, kin, gone = self._success(task)
        letter = self._run(task, _last(task))
        if found is None:
            return Beside(letter=letter, gone=gone, before=self._before(task))
        failed = letter.trace.failure.title if letter.trace is not None and letter.trace.failure is not None else ""
        success = self._run(found, _well(found), step=failed)
        pairs = flow_apart.pairs(
            flow_apart.lines(letter.trace, letter.attempt), flow_apart.lines(success.trace, success.attempt)
        )
        comparable = letter.trace is not None or bool(letter.attempt and letter.attempt.took)
        return Beside(
            letter=letter,
            success=success,
            kin=kin,
            gone=gone,
            pairs=pairs,
            parting=flow_apart.parting(pairs) if comparable else None,
            before=self._before(task),
        )

    def first(self, scope: str) -> Beside | None:
        """The same of the oldest of the letters that a filter names; None where there is none."""
        terms = filter.parse(scope, now_ms=self._store.now_ms())
        found = self._store.query(Query(terms=terms, sort="updated", descending=False, limit=1, want_total=False)).tasks
        return self.beside(found[0].task_id) if found else None

    # the success

    def _success(self, task: Task) -> tuple[Task | None, Kin, Done | None]:
        done = self._store.last_done([task.work])[0] if task.work else None
        if ledger.unread(done):
            done = None
        record = self._store.get([done.task_id])[0] if done is not None else None
        if record is not None and record.status == Status.SUCCEEDED and _shape(record) == _shape(task):
            return record, Kin.WORK, None
        gone = done if record is None else None
        kind = equals("type", task.task_type)
        wider: tuple[tuple[Kin, tuple[Term, ...]], ...] = (
            (Kin.SHOP, (equals("shop", task.shop), kind)),
            (Kin.PLATFORM, (equals("platform", task.platform), kind)),
            (Kin.ANY, (kind,)),
        )
        shape = _shape(task)
        for kin, terms in wider:
            for one in self._newest(terms):
                if _shape(one) == shape:
                    return one, kin, gone
        return None, Kin.WORK, gone

    def _newest(self, terms: tuple[Term, ...]) -> Sequence[Task]:
        wanted = (equals("status", Status.SUCCEEDED), *terms)
        return self._store.query(Query(terms=wanted, sort="updated", limit=LOOKED, want_total=False)).tasks

    def _before(self, task: Task) -> tuple[Task, ...]:
        return tuple(self._parents(task))

    def _parents(self, task: Task) -> Iterator[Task]:
        parent = task.parent
        for _number in range(CHAIN):
            found = self._store.get([parent])[0] if parent else None
            if found is None or found.status != Status.DEAD:
                return
            yield found
            parent = found.parent

    # what each left

    def _run(self, task: Task, attempt: Attempt | None, step: str = "") -> ComparedAttempt:
        picture, blank = self._picture(task, attempt, step)
        lines = self._store.read_log(task.task_id, attempt.number)[0] if attempt is not None else []
        return ComparedAttempt(
            task=task,
            shop=self._registry.shops().get(task.shop),
            attempt=attempt,
            trace=flow_trace.trace(task, self._registry.task_type(task.task_type).executor),
            picture=picture,
            blank=blank,
            log=tuple(lines[-LINES:]),
        )

    def _picture(self, task: Task, attempt: Attempt | None, step: str) -> tuple[Artifact | None, Blank]:
        try:
            found = self._files.of(task.task_id, task)
        except ArtifactError:
            return None, Blank.SILENT
        pictures = [one for one in found if one.artifact.kind == "image"]
        here = [one for one in pictures if one.here]
        chosen = _chosen(here, attempt.number if attempt is not None else 0, step)
        if chosen is not None:
            return chosen, Blank.NO
        if not self._files.where():
            return None, Blank.OFF
        return None, Blank.AWAY if pictures else Blank.NONE


def _chosen(here: Sequence[Found], attempt: int, step: str) -> Artifact | None:
    """The picture of the step, else the last one of the attempt, else the last of all."""
    own = [one.artifact for one in here if one.artifact.attempt == attempt]
    of_step = [one for one in own if step and one.step == step]
    every = of_step or own or [one.artifact for one in here]
    return every[-1] if every else None


def _last(task: Task) -> Attempt | None:
    return next((one for one in reversed(task.attempts) if one.outcome != "fenced"), None)


def _well(task: Task) -> Attempt | None:
    return next((one for one in reversed(task.attempts) if one.outcome == "succeeded"), None)


def _shape(task: Task) -> tuple[tuple[str, str], ...]:
    """What makes two tasks of a type the same flow: the words and names of the steps in their payloads, () for none."""
    try:
        payload = msgspec.json.decode(task.payload)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ()
    steps = payload.get("steps") if isinstance(payload, dict) else None
    if not isinstance(steps, list):
        return ()
    return tuple((str(one.get("do", "")), str(one.get("name", ""))) for one in steps if isinstance(one, dict))
