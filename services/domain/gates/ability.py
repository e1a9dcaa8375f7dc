"""What a worker can run, as it says in its heartbeat; the same rule for itself and for those who look at it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.fleet.worker import SILENT_AFTER_MS, WorkerInfo
from services.domain.gates.home import HomeNow
from services.domain.insight import worker as insight
from services.domain.types.task_type import TaskType

PYTHON, RPA, BROWSER = "python", "rpa", "browser"
SANDBOX = "chromium-sandbox"  #: what a worker lacks whose Chromium may not wall its pages in
SETTINGS = "executors."  #: what a worker lacks that begins so is a table of its config.toml
PROFILE = "profile"  #: isolation of types that work in the profile of their shop


class Ability(msgspec.Struct, frozen=True, kw_only=True):
    """``executors`` run whatever names them; ``python`` only the types of ``handlers``. ``commands``: types with a
    command of their own for ``rpa``. ``lacks``: what is configured and not to be found there, by executor or by
    ``rpa:type``.
    """

    executors: Collection[str] = ()
    handlers: Collection[str] = ()
    commands: Collection[str] = ()
    lends: Collection[str] = ()  #: types whose flows get the browser of their shop
    lacks: Mapping[str, str] = msgspec.field(default_factory=dict)
    declines: Collection[str] = ()  #: types that an operator told it to refuse

    def executor_for(self, kind: TaskType) -> str:
        """The executor that would run this type here, "" where none can. A handler goes before what the type names."""
        if kind.name in self.declines:
            return ""
        if kind.name in self.handlers and PYTHON in self.executors:
            return PYTHON
        own = kind.name in self.commands
        if kind.executor in (RPA, BROWSER) and own:  # a command of its own goes before the browser too
            return RPA
        if f"{kind.executor}:{kind.name}" in self.lacks:
            return ""
        return kind.executor if kind.executor != PYTHON and kind.executor in self.executors else ""

    def needs_profile(self, kind: TaskType) -> bool:
        """Whether this worker would run the type with the browser profile of its shop."""
        executor = self.executor_for(kind)
        return (executor == BROWSER and kind.isolation == PROFILE) or (executor == RPA and kind.name in self.lends)

    def need_of(self, kind: TaskType) -> str:
        """What this worker would have to find to run the type with its executor, "" if it was not set up for it."""
        return self.lacks.get(f"{kind.executor}:{kind.name}", self.lacks.get(kind.executor, ""))


class Supply(msgspec.Struct, frozen=True, kw_only=True):
    """Who is there for a type in a lane. ``needs``: handler | program | setting | executor, and ``need`` its name; or
    willing: those that could run it were told to refuse it.
    """

    serving: int = 0  #: running workers of the lane
    able: int = 0  #: those of them that can run it
    seen: tuple[str, ...] = ()  #: all workers that take tasks
    cut_off: int = 0  #: workers of the lane that are heard of and cannot reach the broker
    lost_at: int = 0  #: since when the first of these cannot, UTC ms, 0 for none
    needs: str = ""
    need: str = ""


NOBODY = Supply()


def of(info: WorkerInfo) -> Ability:
    """What a worker has said of itself."""
    return Ability(
        executors=info.executors,
        handlers=info.handlers,
        commands=info.commands,
        lends=info.lends,
        lacks=info.lacks,
        declines=info.declines,
    )


def is_alive(info: WorkerInfo, now_ms: int) -> bool:
    """Whether it takes tasks, until its claims have run out: engine and homes do not count it out before. What a person
    may rely on now is ``insight.worker.takes_work``.
    """
    return info.state == "running" and now_ms - info.seen_at <= SILENT_AFTER_MS


def supply(kind: TaskType, lane: str, workers: Iterable[WorkerInfo], now_ms: int) -> Supply:
    """Look through the heartbeats for those who can run tasks of a type in a lane."""
    known = list(workers)
    alive = [info for info in known if insight.takes_work(info, now_ms)]
    serving = [of(info) for info in alive if lane in info.open_lanes]
    needs, need = _need(kind, serving)
    apart = [info for info in known if lane in info.open_lanes and insight.cut_off(info, now_ms)]
    return Supply(
        serving=len(serving),
        able=sum(1 for ability in serving if ability.executor_for(kind)),
        seen=tuple(sorted(info.worker for info in alive)),
        cut_off=len(apart),
        lost_at=min(map(insight.lost_at, apart), default=0),
        needs=needs,
        need=need,
    )


def works_at_home(kind: TaskType, workers: Iterable[WorkerInfo]) -> bool:
    """Whether tasks of a type need the profile of their shop: as those workers would run it that can, if any can."""
    able = [ability for info in workers if (ability := of(info)).executor_for(kind)]
    if able:
        return any(ability.needs_profile(kind) for ability in able)
    return kind.executor == BROWSER and kind.isolation == PROFILE


def at_home(node: str, kind: TaskType, lane: str, workers: Iterable[WorkerInfo], now_ms: int) -> HomeNow:
    """What the workers of a node tell of it."""
    there = [info for info in workers if info.node == node]
    alive = [info for info in there if is_alive(info, now_ms)]
    able = [info for info in alive if lane in info.open_lanes and of(info).executor_for(kind)]
    return HomeNow(
        node=node,
        alive=len(alive),
        able=len(able),
        free=sum(len(info.slots) - info.busy for info in able),
        seen_at=max((info.seen_at for info in there), default=0),
    )


def absent_homes(
    homebound: Mapping[tuple[str, str, str], int], workers: Iterable[WorkerInfo], now_ms: int
) -> Iterator[tuple[str, int, int]]:
    """Nodes that tasks wait for (by lane, type and node) and where no worker runs: name, how many tasks, and when one
    was heard of last (UTC ms, 0 for never).
    """
    known = list(workers)
    alive = {info.node for info in known if is_alive(info, now_ms)}
    for node in sorted({node for _, _, node in homebound} - alive):
        seen_at = max((info.seen_at for info in known if info.node == node), default=0)
        yield node, sum(count for (_, _, one), count in homebound.items() if one == node), seen_at


def _need(kind: TaskType, seen: Sequence[Ability]) -> tuple[str, str]:
    if any(kind.name in ability.declines and replace(ability, declines=()).executor_for(kind) for ability in seen):
        return "willing", kind.name
    if kind.executor == PYTHON:
        return "handler", kind.name
    lacking = next((what for ability in seen if (what := ability.need_of(kind))), "")
    if not lacking:
        return "executor", kind.executor
    return ("setting" if lacking.startswith(SETTINGS) else "program"), lacking
