"""What the families of attention items look at: one moment of the fleet, and the questions they may ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import depth
from services.domain.insight.cause import Worth
from services.domain.insight.forecast.durations import NOTHING, Runs
from services.domain.insight.forecast.flow import Flow
from services.domain.insight.shop import ShopNow
from services.domain.insight.worker import FleetNow
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, Total, equals
from services.domain.task.status import WAITING, Status
from services.domain.text.message import Message
from services.domain.types.task_type import TaskType
from services.monitor.letters.causes import Cause
from services.monitor.live import Snapshot
from services.ports import Store

NAMED = 3  #: as many shops are called by their names where one item is about many


class BrokenRun(msgspec.Struct, frozen=True, kw_only=True):
    """A bulk republish that nobody is at any more; ``at_ms``: when it was heard of last (UTC ms)."""

    run_id: str
    who: str
    sent: int
    of: int
    at_ms: int


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Asking ``store`` blocks; everything else is at hand."""

    snapshot: Snapshot
    store: Store
    causes: tuple[Cause, ...] = ()  #: of the open dead letters, grouped a moment ago
    ungrouped: int = 0  #: open dead letters of which nobody knows yet what they died of
    failed: bool = False  #: who looked last what they died of was not answered
    name: Callable[[str], str] = str  #: ``platform:shop_id`` to the name of the shop
    kind: Callable[[str], TaskType] = TaskType.default
    terms: Callable[[Sequence[Term]], tuple[Term, ...]] = tuple  #: those on ``gate`` by what is closed now
    letter: Callable[[Task], tuple[Worth, Message | None]] = lambda _task: (Worth(), None)  #: of a dead one; blocks
    shops: Sequence[ShopNow] = ()
    oldest: Task | None = None  #: of those that wait
    flow: Flow | None = None  #: whether work flows, None where nobody measured
    usual: Callable[[str, str], Runs] = lambda _type, _shop: NOTHING  #: how long a type runs in a shop; blocks
    usual_there: Callable[[str, str], Runs] = lambda _type, _platform: NOTHING  #: the same of a platform; blocks
    broken_run: Callable[[], BrokenRun | None] = lambda: None  #: a republish that ended in the middle; blocks

    @property
    def now_ms(self) -> int:
        """The moment, by the store's clock (UTC ms)."""
        return self.snapshot.at_ms

    def number(self, status: str) -> int:
        """How many tasks have this status."""
        return self.snapshot.counts.status.get(status, 0)

    def waiting(self) -> int:
        """How many tasks wait, for whatever."""
        return sum(self.number(status) for status in WAITING) + self.unrecorded

    @property
    def unrecorded(self) -> int:
        """How many messages of other programs wait that nobody has recorded yet."""
        if self.flow is not None:
            return self.flow.facts.unrecorded
        snapshot = self.snapshot
        return depth.unrecorded(snapshot.counts, snapshot.depths) if snapshot.told else 0

    def queued(self, lane: str) -> int:
        """How many tasks stand in the queue of a lane; those of other programs count before they are recorded."""
        snapshot = self.snapshot
        recorded = snapshot.counts.lanes.get(lane, {}).get(Status.QUEUED, 0)
        (row,) = [row for row in depth.lanes(snapshot.counts, snapshot.depths) if row.lane == lane]
        return max(recorded, min(row.ready, recorded + self.unrecorded))

    def at_gate(self, gate: str, *where: Term) -> Total:
        """How many tasks wait at a gate, as the list behind an item says it."""
        return self.store.query(Query(terms=self.terms((equals("gate", gate), *where)), limit=1)).number

    def counted(self, found: Total) -> tuple[Message, ...]:
        """What an item adds where its number is not all."""
        return () if found.exact else (Message("attention.at_least"),)

    def alive(self) -> list[WorkerInfo]:
        """The workers that take tasks."""
        return [one.info for one in self.fleet.workers if one.takes_work]

    @property
    def fleet(self) -> FleetNow:
        """What is true of the workers."""
        return self.snapshot.fleet()

    def named(self, shops: Sequence[str]) -> str:
        """The names of the first few of these, one a line."""
        return "\n".join(self.name(shop) for shop in shops[:NAMED])
