"""What this worker can run now: asked for every delivery, looked up once a second."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.domain.fleet.worker import POOL_SHOWN, BrowserState
from services.domain.gates.ability import PYTHON, Ability
from services.domain.types.task_type import TaskType
from services.engine.registry import Registry
from services.executors.base import Executor


class Abilities:
    """``refresh`` looks at the machine (programs on the PATH); everything else answers from what it found."""

    def __init__(
        self,
        executors: Mapping[str, Executor],
        registry: Registry,
        *,
        handlers: frozenset[str] = frozenset(),
        strict_types: bool = False,
    ) -> None:
        self._executors, self._registry = executors, registry
        self._handlers, self._strict = handlers, strict_types
        self._declines: frozenset[str] = frozenset()
        self.browsers = 0
        self.pool: tuple[BrowserState, ...] = ()
        self.versions: dict[str, str] = {}
        self.ability = Ability()
        self._taken: dict[str, bool] = {}
        self._homed: dict[str, bool] = {}
        self.refresh()

    def refresh(self) -> Ability:
        found: set[str] = set()
        types: set[str] = set()
        lends: set[str] = set()
        lacks: dict[str, str] = {}
        browsers, pool = 0, list[BrowserState]()
        versions: dict[str, str] = {}
        for name, executor in self._executors.items():
            fitness = executor.fitness()
            browsers += fitness.browsers
            pool += fitness.pool
            versions |= fitness.versions
            lends |= fitness.lends
            types |= fitness.types if name != PYTHON else set()
            lacks |= {f"{name}:{kind}" if kind else name: what for kind, what in fitness.lacks.items()}
            if "" not in fitness.lacks:
                found.add(name)
        self.ability = Ability(
            executors=tuple(sorted(found)),
            handlers=tuple(sorted(self._handlers)),
            commands=tuple(sorted(types)),
            lends=tuple(sorted(lends)),
            lacks=lacks,
            declines=tuple(sorted(self._declines)),
        )
        self.browsers, self.pool = browsers, tuple(pool[:POOL_SHOWN])
        self.versions = versions
        self._taken, self._homed = {}, {}
        return self.ability

    def decline(self, types: Iterable[str]) -> None:
        """Refuse these types, and no others, from now on; what runs goes on."""
        self._declines = frozenset(types)
        self.refresh()

    def executor_for(self, kind: TaskType) -> str:
        """The executor that runs a type here, "" for none."""
        return self.ability.executor_for(kind)

    def refuses(self, kind: TaskType) -> bool:
        """Whether the setting ``strict_types`` makes tasks of this type dead letters."""
        return self._strict and kind.name not in self._handlers and not self._registry.knows(kind.name)

    def takes(self, name: str) -> bool:
        """Whether a delivered task of this type is this worker's own business: run or refused, not left to others.

        Asked for each delivery, so an answer is kept until the next look.
        """
        taken = self._taken
        if name not in taken:
            kind = self._registry.task_type(name)
            unread = bool(self._registry.unreadable(name))
            taken[name] = not unread and (bool(self.ability.executor_for(kind)) or self.refuses(kind))
        return taken[name]

    def needs_profile(self, name: str) -> bool:
        """Whether a task of this type would work here with the profile of its shop; as ``takes`` kept for a while."""
        homed = self._homed
        if name not in homed:
            homed[name] = self.ability.needs_profile(self._registry.task_type(name))
        return homed[name]

    def fetches(self, name: str) -> bool:
        """Whether parked tasks of this type are worth fetching."""
        kind = self._registry.task_type(name)
        known = not self._registry.unreadable(name)
        return known and bool(self.ability.executor_for(kind)) and not self.refuses(kind)
