"""Whom the tasks of one bulk wait for: rows of the same bulk by their names, and tasks by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.gates import dependency
from services.domain.task.status import Status
from services.domain.task.tombstone import Tombstone
from services.domain.text.said import said
from services.engine.spec import TaskSpec
from services.ports import Store

#: ids asked for at once
SLICE = 500
SHOWN = 12  #: names of a circle that a sentence holds
_FAILED = (Status.DEAD, Status.CANCELLED)
Fault = tuple[TaskSpec, str, str]  #: spec, field, sentence


class Links:
    """Puts the specs of a bulk into an order in which each comes behind those that it waits for."""

    def __init__(self, store: Store, specs: Sequence[TaskSpec]) -> None:
        """Look at the whole bulk: its ``faults`` are found before anything is created.

        Raises:
            StoreUnavailable: it cannot be asked whether a task exists.
        """
        self.faults: list[Fault] = []
        self._made: dict[str, str] = {}
        self._linked = any(spec.depends_on or spec.key for spec in specs)
        self.specs = self._arrange(store, specs) if self._linked else list(specs)

    def resolve(self, spec: TaskSpec) -> TaskSpec:
        """The spec with ids instead of names.

        Raises:
            UsageError: a row that it waits for was refused.
        """
        if not spec.depends_on:
            return spec
        self.unbroken(spec, self._names - self._made.keys())
        return replace(spec, depends_on=tuple(dict.fromkeys(self._made.get(name, name) for name in spec.depends_on)))

    @staticmethod
    def unbroken(spec: TaskSpec, lost: Set[str]) -> TaskSpec:
        """The spec itself.

        Raises:
            UsageError: a row that it waits for is one of the ``lost`` ones.
        """
        for name in spec.depends_on:
            if name in lost:
                raise UsageError(said("links.broken", name=name), field="depends_on")
        return spec

    def made(self, spec: TaskSpec, task_id: str) -> None:
        """Remember the id of a named row."""
        if spec.key:
            self._made[spec.key] = task_id

    def shown(self, task_id: str) -> str:
        """The name of a row of this bulk by the id that it was to have, else the id."""
        return next((key for key, made in self._made.items() if made == task_id), task_id)

    def _arrange(self, store: Store, specs: Sequence[TaskSpec]) -> list[TaskSpec]:
        by_name: dict[str, TaskSpec] = {}
        for place, spec in enumerate(specs):
            if spec.key in by_name:
                self.faults.append((spec, "key", said("links.twice", name=f"{spec.key!r:.80}")))
                continue
            by_name[spec.key or f"\n{place}"] = spec  # no name has a line break in it
        self._names = frozenset(by_name)
        self._refuse_unknown(store, by_name)
        self._refuse_circles(by_name)
        return [by_name[name] for name in dependency.in_order(_graph(by_name))]

    def _refuse_unknown(self, store: Store, by_name: dict[str, TaskSpec]) -> None:
        asked = {name for spec in by_name.values() for name in spec.depends_on} - by_name.keys()
        unknown = asked - _known(store, sorted(asked))
        removed = _ends_of_removed(store, sorted(unknown))
        unknown -= {name for name, ended in removed.items() if ended not in _FAILED}
        for label, spec in list(by_name.items()):
            missing = next((name for name in spec.depends_on if name in unknown), None)
            if missing is not None:
                text = said("links.unknown", name=f"{missing!r:.220}")
                if missing in removed:
                    text = said("links.removed", name=missing, status=removed[missing])
                self.faults.append((by_name.pop(label), "depends_on", text))

    def _refuse_circles(self, by_name: dict[str, TaskSpec]) -> None:
        while circle := dependency.find_circle(_graph(by_name)):
            way = " → ".join(circle if len(circle) <= SHOWN else (*circle[: SHOWN - 2], "…", circle[-1]))
            text = said("links.circle", way=way)
            self.faults += [(by_name.pop(name), "depends_on", text) for name in circle[:-1]]


def check(spec: TaskSpec) -> None:
    """Refuse what no bulk can mend.

    Raises:
        UsageError: too many dependencies, or an unknown word.
    """
    if len(spec.depends_on) > dependency.MOST:
        raise UsageError(said("links.many", most=dependency.MOST, count=len(spec.depends_on)), field="depends_on")
    if spec.on_dependency_failure not in dependency.POLICIES:
        raise UsageError(said("links.failure"), field="on_dependency_failure")


def _graph(by_name: dict[str, TaskSpec]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(spec.depends_on) for name, spec in by_name.items()}


def _known(store: Store, ids: Sequence[str]) -> set[str]:
    return {task.task_id for part in _slices(ids) for task in store.get(part) if task is not None}


def _ends_of_removed(store: Store, ids: Sequence[str]) -> dict[str, str]:
    """How those stand whose record was removed; a republished one as what it became."""
    found: dict[str, str] = {}
    for part in _slices(ids):
        for name, stone in zip(part, store.tombstones(part), strict=True):
            if stone is not None:
                found[name] = _end_of(store, stone)
    return found


def _end_of(store: Store, stone: Tombstone) -> str:
    while stone.successor:
        (record,) = store.get([stone.successor])
        (later,) = store.tombstones([stone.successor])
        if record is not None:
            return ""  # the store looks where that one stands
        if later is None:
            break
        stone = later
    return stone.status


def _slices(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + SLICE] for start in range(0, len(ids), SLICE))
