"""A fleet played by numbers: tasks arrive, wait for slot and shop, run and end; nothing but a seed decides."""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.insight.forecast import flow
from services.domain.insight.forecast.flow import Flow
from services.domain.task.event import Event
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Task
from services.domain.task.search.query import Counts, Page
from services.domain.task.status import Status
from services.monitor.forecast.flow import Gates, facts_of
from services.monitor.live import Rates, Snapshot
from services.monitor.numbers.meter import PRIMED, Meter
from services.ports import Store

EPOCH_MS = 1_795_000_000_000


def counting_since(at_ms: int) -> Meter:
    """A meter that learns of all from this instant on, and of nothing before: so many plans were just made."""
    plan = Task(
        task_id="plan", shop_id="s1", platform="pdd", task_type="work", status=Status.SCHEDULED, created_at=at_ms
    )
    asked = SimpleNamespace(
        now_ms=lambda: at_ms, query=lambda query: Page(tasks=() if query.terms else (plan,) * PRIMED)
    )
    meter = Meter()
    meter.prime(cast(Store, asked))
    return meter


@dataclass(frozen=True)
class Load:
    """What a shop gets to do. ``bursts``: instant (s) and how many at once."""

    shop: str
    rate: float = 0.0
    mean_s: float = 3.0
    spread: float = 0.5  #: deviation of the logarithm
    concurrency: int = 2
    bursts: tuple[tuple[float, int], ...] = ()
    closed: bool = False  #: its tasks wait for a person


@dataclass
class Seen:
    """One look, and what came of it."""

    at: float
    flow: Flow
    waiting: frozenset[int]
    all_started_s: float = math.inf
    empty_s: float = math.inf

    @property
    def truth(self) -> float:
        """What the estimate was about."""
        return self.all_started_s if self.flow.state == flow.STEADY else self.empty_s


@dataclass
class Replay:
    """Plays ``loads`` on ``slots`` and looks every ``every`` seconds from ``since`` on."""

    loads: tuple[Load, ...]
    slots: int
    seed: int = 1
    length: float = 600.0
    since: float = 90.0
    every: float = 7.0
    seen: list[Seen] = field(default_factory=list)

    def play(self) -> list[Seen]:
        """All looks, each with what happened afterwards."""
        self._dice = random.Random(self.seed)
        self._meter = counting_since(EPOCH_MS)
        self._loads = {load.shop: load for load in self.loads}
        self._waiting: dict[int, str] = {}
        self._running: Counter[str] = Counter()
        self._begun: dict[int, float] = {}
        self._empty: list[float] = []
        ends: list[tuple[float, int, str]] = []
        arrivals = sorted(self._arrivals())
        looks = [self.since + n * self.every for n in range(int((self.length - self.since) / self.every))]
        # what is begun may take longer than the looks: nobody arrives later than ``length`` but all is played out
        number = 0
        while arrivals or ends or looks:
            at = min([one[0][0] if one is not looks else looks[0] for one in (arrivals, ends, looks) if one])  # type: ignore[index]
            if ends and ends[0][0] == at:
                _, task, shop = heapq.heappop(ends)
                self._running[shop] -= 1
                self._event(task, shop, "running", "succeeded", at)
            elif arrivals and arrivals[0][0] == at:
                _, shop = arrivals.pop(0)
                number += 1
                self._waiting[number] = shop
                self._event(number, shop, "", "queued", at)
            else:
                looks.pop(0)
                self._look(at)
            for task, shop in self._startable():
                del self._waiting[task]
                self._running[shop] += 1
                self._begun[task] = at
                load = self._loads[shop]
                took = load.mean_s * math.exp(self._dice.gauss(-(load.spread**2) / 2, load.spread))
                heapq.heappush(ends, (at + took, task, shop))
                self._event(task, shop, "queued", "running", at)
            if not self._open():
                self._empty.append(at)
        for one in self.seen:
            one.all_started_s = max((self._begun[task] - one.at for task in one.waiting), default=0.0)
            one.empty_s = next((at - one.at for at in self._empty if at >= one.at), math.inf)
        return self.seen

    def _open(self) -> list[int]:
        return [task for task, shop in self._waiting.items() if not self._loads[shop].closed]

    def _arrivals(self) -> Iterator[tuple[float, str]]:
        for load in self.loads:
            for at, count in load.bursts:
                yield from ((at, load.shop) for _ in range(count))
            at = 0.0
            while load.rate and (at := at + self._dice.expovariate(load.rate)) < self.length:
                yield at, load.shop

    def _startable(self) -> Iterator[tuple[int, str]]:
        for task, shop in list(self._waiting.items()):
            if self._running.total() >= self.slots:
                return
            load = self._loads[shop]
            if not load.closed and self._running[shop] < load.concurrency:
                yield task, shop

    def _event(self, task: int, shop: str, from_: str, to: str, at: float) -> None:
        event = Event(
            cursor="", task_id=str(task), shop_id=shop, platform="pdd", task_type="work", from_=from_, to=to,
            at=EPOCH_MS + round(at * 1000), worker="", gen=0, attempt=1,
        )  # fmt: skip
        self._meter.note([event])

    def _look(self, at: float) -> None:
        now = EPOCH_MS + round(at * 1000)
        shops: dict[str, dict[str, int]] = defaultdict(dict)
        for shop, count in Counter(self._waiting.values()).items():
            shops[f"pdd:{shop}"]["queued"] = count
        for shop, count in self._running.items():
            shops[f"pdd:{shop}"]["running"] = count
        gates = Gates()
        for shop, load in self._loads.items():
            if load.closed:
                gates.persons["login"][f"pdd:{shop}"] = shops[f"pdd:{shop}"].get("queued", 0)
        busy = self._running.total()
        slots = tuple(SlotState(task_id="t" if n < busy else "") for n in range(self.slots))
        snapshot = Snapshot(
            at_ms=now,
            taken=at,
            counts=Counts(status={"queued": len(self._waiting), "running": busy}, shops=dict(shops)),
            workers=(WorkerInfo(worker="w", host="h", pid=1, slots=slots, seen_at=now),),
            broker=BrokerHealth(connected=True),
            rates=Rates(flow=self._meter.rates(now)),
        )
        known = {
            f"pdd:{load.shop}": Shop(platform="pdd", shop_id=load.shop, concurrency=load.concurrency)
            for load in self.loads
        }
        judged = flow.judge(facts_of(snapshot, gates, self._meter, known))
        self.seen.append(Seen(at, judged, frozenset(self._open())))
