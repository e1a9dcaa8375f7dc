"""A fleet whose promises a test judges by hand, and the past that they are judged by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from services.domain.change import Create
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.domain.promises import promise as promises
from services.domain.promises import standing
from services.domain.promises.promise import BY, STATE, Promise
from services.domain.promises.standing import Row, Standing
from services.domain.task.record import Step, Task
from services.domain.task.status import Status
from services.ports import ScheduleEntry
from services.watch.promises.keeper import PromiseKeeper
from tests.integration.fleet_rig import Fleet

MINUTE = 60_000


@dataclass
class Desk:
    """A fleet with a worker that is heard of and does nothing by itself, and a judge whose rounds a test turns."""

    fleet: Fleet
    keeper: PromiseKeeper = field(init=False)

    def __post_init__(self) -> None:
        self.beat()
        self.keeper = self.judge("first")

    def judge(self, name: str) -> PromiseKeeper:
        engine = self.fleet.open()
        return PromiseKeeper(engine.store, engine.registry, engine.clock, name, engine.broker.health)

    def beat(self, **fields: Any) -> None:
        usual = {"slots": (SlotState(), SlotState()), "executors": ("rpa",), "node": "desk"}
        self.fleet.engine.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, **(usual | fields)))

    @property
    def now(self) -> int:
        return self.fleet.engine.store.now_ms()

    def shops(self, *names: str) -> None:
        for name in names:
            self.fleet.shop(name)

    def promise(self, *, ago: int = 600, **fields: Any) -> Promise:
        """One that holds for so many minutes already."""
        words = {"name": "orders", "task_type": "work", "all_shops": True, "version": 1, **fields}
        if words.get("kind") != BY:
            words.setdefault("limit_s", 3600)
        made = Promise(since=self.now - ago * MINUTE, **words)
        self.fleet.engine.store.put_document(promises.KIND, made.name, promises.DOCUMENT.dump(made))
        return made

    def done(self, shop: str, ago: float, kind: str = "work", **fields: Any) -> None:
        """A success so many minutes ago, as an import brings it."""
        at = self.now - round(ago * MINUTE)
        words = {"status": Status.SUCCEEDED, "started_at": at - 20_000, "ended_at": at, **fields}
        self.record(shop, at, kind, **words)

    def dead(self, shop: str, ago: float, kind: str = "work", **fields: Any) -> None:
        at = self.now - round(ago * MINUTE)
        words = {"status": Status.DEAD, "triage": "open", "started_at": at - 20_000, "ended_at": at, **fields}
        self.record(shop, at, kind, error="the list is gone", error_kind="page_changed", **words)

    def record(self, shop: str, at: int, kind: str, **fields: Any) -> None:
        task = Task(
            task_id=f"{shop}-{at}", shop_id=shop, platform="pdd", task_type=kind, created_at=at - 30_000,
            updated_at=at, uniq=f"{shop}-{at}", steps=(Step(at, "", fields["status"]),), **fields,
        )  # fmt: skip
        self.fleet.apply(Create(task=task, on_duplicate="force"))

    def plan(self, minutes: float, kind: str = "work", name: str = "hourly") -> None:
        """A schedule whose next run is due in so many minutes."""
        at = self.now + round(minutes * MINUTE)
        made = Schedule(name=name, uid=name, task_type=kind, every_s=3600, first_at=at, all_shops=True)
        body = schedules.dump(Planned(schedule=made))
        store = self.fleet.engine.store
        for one in store.schedules():
            store.remove_schedule(one.name, one.version)
        store.put_schedule(ScheduleEntry(name=name, body=body, next_at=at), 0)

    def stands(self, name: str = "orders", keeper: PromiseKeeper | None = None) -> Standing:
        """After one more round."""
        (keeper or self.keeper).tick()
        return standing.DOCUMENT.load(self.fleet.engine.store.documents(STATE)[name])

    def row(self, shop: str = "s1", **words: Any) -> Row:
        (found,) = [one for one in self.stands(**words).rows if one.shop == f"pdd:{shop}"]
        return found
