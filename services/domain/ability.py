"""What a worker can run, as it says in its heartbeat; the same rule for itself and for those who look at it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from services.domain.task_type import TaskType
from services.domain.worker import WorkerInfo

PYTHON, RPA = "python", "rpa"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """``executors`` run whatever names them; ``python`` only the types of ``handlers``. ``commands``: types with a
    command of their own for ``rpa``. ``lacks``: what is configured and not to be found there, by executor or by
    ``rpa:type``.
    """

    executors: Collection[str] = ()
    handlers: Collection[str] = ()
    commands: Collection[str] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)

    def executor_for(self, kind: TaskType) -> str:
        """The executor that would run this type here, "" where none can. A handler goes before what the type names."""
        if kind.name in self.handlers and PYTHON in self.executors:
            return PYTHON
        if kind.executor == RPA and (kind.name in self.commands or f"{RPA}:{kind.name}" in self.lacks):
            return RPA if kind.name in self.commands else ""
        return kind.executor if kind.executor != PYTHON and kind.executor in self.executors else ""

    def need_of(self, kind: TaskType) -> str:
        """What this worker would have to find to run the type with its executor, "" if it was not set up for it."""
        return self.lacks.get(f"{kind.executor}:{kind.name}", self.lacks.get(kind.executor, ""))


def of(info: WorkerInfo) -> Ability:
    """What a worker has said of itself."""
    return Ability(executors=info.executors, handlers=info.handlers, commands=info.commands, lacks=info.lacks)
