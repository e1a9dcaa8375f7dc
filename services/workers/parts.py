"""What a worker is made of and how it behaves: two values that host, assembly and tests fill in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from services.domain.fleet.autoscale import Range
from services.domain.gates.lane_share import Share
from services.domain.task import retry
from services.engine.registry import Registry
from services.engine.steps import Steps
from services.executors.base import Executor, ProfileControl
from services.ports import ArtifactStore, Broker, Clock, Store


class WorkerParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is made of; one value so that host and tests build it the same way."""

    store: Store
    broker: Broker
    clock: Clock
    registry: Registry
    steps: Steps
    executors: Mapping[str, Executor]
    policy: retry.RetryPolicy
    handlers: frozenset[str] = frozenset()
    artifacts: ArtifactStore | None = None  #: takes the files of attempts; None keeps none
    profiles: ProfileControl | None = None  #: the browsers of shops on this machine; None: there are none


class WorkerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a worker behaves."""

    slots: int = 5
    lanes: tuple[str, ...] = ("high", "normal", "low")
    shares: Mapping[str, Share] = msgspec.field(default_factory=dict)  #: of the slots, by lane; beside the usual ones
    auto: Range | None = None  #: it sets the number of its slots itself, within these
    declines: tuple[str, ...] = ()  #: task types that it refuses
    preemptions: int = 3  #: how often a task may be stopped for a more urgent one
    name: str = ""
    node: str = ""  #: where browser profiles live (``services.domain.gates.home``); "": no shop is at home here
    kind: str = "headless"
    lease_s: float = 60.0
    grace_s: float = 30.0
    strict_types: bool = False
    strict_shops: bool = False
    hold_foreign: bool = False  #: a foreign message whose work waits or runs already is held for a person
    proxies: Mapping[str, str] = msgspec.field(default_factory=dict)  #: ``host:port`` by shop, "" for all others
    spool: Path | None = None  #: folder for outcomes that a silent store has not taken; it belongs to one store
