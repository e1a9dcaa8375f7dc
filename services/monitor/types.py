"""Task types as the store keeps them: their versions, who changed what, and what a change would refuse of late work."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.task.search.query import Query, equals
from services.domain.task.status import ACTIVE
from services.domain.types import strict_json, task_type
from services.domain.types.schema import Problem
from services.domain.types.task_type import HISTORY, TaskType
from services.domain.upkeep.stored import version_name, versions
from services.engine.registry import Registry
from services.monitor.forecast import drift
from services.monitor.forecast.drift import DriftNow
from services.ports import AuditEntry, Store

#: payloads that a changed schema is tried on, the newest
TRIED = 500
#: kinds of faults that are told
TOLD = 5
#: entries of the audit that are read at a time, and so many that one question looks further back
PAGE, FURTHER = 200, 50_000


class TypeVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A type as it was from one change to the next; None where nobody can read it any more."""

    number: int
    kind: TaskType | None
    fields: tuple[str, ...] = ()  #: that differ from the version before
    at: int = 0  #: UTC ms, 0 where the audit does not tell
    who: str = ""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with some payloads: one of the faults, and how many have it."""

    problem: Problem
    tasks: int


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a schema would say of the newest payloads of its type."""

    looked: int = 0
    refused: int = 0
    before: int = 0  #: of those, refused by the schema of the store as well
    active: int = 0  #: of those, of tasks that have not ended
    faults: tuple[Fault, ...] = ()  #: the most frequent first


class TypeQueries:
    """Blocking questions; call them off the GUI thread."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry
        self._imports = _Imports(store)

    def all(self) -> tuple[TaskType, ...]:
        """Every type that somebody has defined, by name."""
        return tuple(sorted(self._registry.types().values(), key=lambda kind: kind.name))

    def drifted(self) -> Mapping[str, tuple[DriftNow, ...]]:
        """What of a type is not as it was, by its name."""
        return drift.by_type(self._store)

    def versions(self, name: str) -> tuple[TypeVersion, ...]:
        """All that is kept of a type, the newest first."""
        current = self._registry.types().get(name)
        found: dict[int, TaskType | None] = {}
        bodies = self._store.documents(HISTORY)
        for number in versions(bodies, name):
            found[number] = _readable(bodies[version_name(name, number)])
        if current is not None:
            found[current.version] = current
        numbers = sorted(found)
        told = self._imports.of(name, numbers)
        earlier = dict(zip(numbers[1:], numbers, strict=False))
        return tuple(
            TypeVersion(
                number=number,
                kind=found[number],
                fields=changed(found.get(earlier.get(number, -1)), found[number]),
                at=told.get(number, (0, ""))[0],
                who=told.get(number, (0, ""))[1],
            )
            for number in reversed(numbers)
        )

    def dry_run(self, kind: TaskType, most: int = TRIED) -> DryRun:
        """Try a type on the newest payloads that tasks of its name were given; changes nothing."""
        page = self._store.query(Query(terms=(equals("type", kind.name),), limit=most, want_total=False))
        stored = self._registry.types().get(kind.name, TaskType.default(kind.name))
        refused = before = active = 0
        seen: dict[tuple[str, str, str], Problem] = {}
        numbers: Counter[tuple[str, str, str]] = Counter()
        for task in page.tasks:
            payload = _payload(task.payload)
            problems = task_type.validate_payload(kind, payload)
            if not problems:
                continue
            refused += 1
            before += bool(task_type.validate_payload(stored, payload))
            active += task.status in ACTIVE
            for problem in problems[:TOLD]:
                key = (problem.code, problem.path, json.dumps(problem.params, default=str, sort_keys=True))
                seen.setdefault(key, problem)
                numbers[key] += 1
        faults = tuple(Fault(problem=seen[key], tasks=tasks) for key, tasks in numbers.most_common(TOLD))
        return DryRun(looked=len(page.tasks), refused=refused, before=before, active=active, faults=faults)


class _Imports:
    """Who made which version of a type, as far as the audit was read: what was read is not read again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reading = threading.Lock()
        self._made: dict[str, dict[int, tuple[int, str]]] = {}  #: by type and version: when (UTC ms) and by whom
        self._newest: tuple[str, ...] = ()  #: the last entries that were read
        self._oldest: str | None = ""  #: the entry to go further back from, None at the end

    def of(self, name: str, numbers: Sequence[int]) -> Mapping[int, tuple[int, str]]:
        """By version: when it was made (UTC ms) and by whom, where the audit tells."""
        with self._reading:
            if self._newest:
                self._later()
            else:
                self._oldest = ""
            looked = 0
            while self._oldest is not None and looked < FURTHER and not self._made.get(name, {}).keys() >= set(numbers):
                page = self._store.audit(PAGE, self._oldest)
                self._newest = self._newest or tuple(entry.entry_id for entry in page)
                self._note(page)
                self._oldest, looked = page[-1].entry_id if page else None, looked + len(page)
            return dict(self._made.get(name, {}))

    def _later(self) -> None:
        """What was written since, the newest first."""
        found: list[AuditEntry] = []
        before = ""
        while page := self._store.audit(PAGE, before):
            known = next((n for n, entry in enumerate(page) if entry.entry_id in self._newest), None)
            found += page[:known]
            if known is not None:
                break
            before = page[-1].entry_id
        else:  # it is another trail
            self._made, self._newest, self._oldest = {}, (), None
        self._newest = (*(entry.entry_id for entry in found[:PAGE]), *self._newest)[:PAGE]
        self._note(found[::-1], again=True)

    def _note(self, entries: Iterable[AuditEntry], *, again: bool = False) -> None:
        """``again``: they are later than those before."""
        for entry in entries:
            if entry.action != "type.import":
                continue
            try:
                versions = json.loads(entry.detail or "{}").get("versions", {}).items()
            except (ValueError, AttributeError):  # a line that somebody has spoiled
                continue
            for name, version in versions:
                made = self._made.setdefault(name, {})
                if isinstance(version, int) and (again or version not in made):
                    made[version] = entry.at, entry.who


def changed(old: TaskType | None, new: TaskType | None) -> tuple[str, ...]:
    """The fields in which two versions differ; none where one of them is not known."""
    if old is None or new is None:
        return ()
    names = [name for name in TaskType.__struct_fields__ if name != "version"]
    return tuple(name for name in names if getattr(old, name) != getattr(new, name))


def _readable(body: str) -> TaskType | None:
    try:
        return task_type.stored(body)
    except UsageError:  # somebody wrote it by hand
        return None


def _payload(text: str) -> Any:
    try:
        return strict_json.loads(text)
    except (ValueError, RecursionError):
        return None
