"""Who stands in line before the slots and who will join it, for `services.domain.promises.line` to play it through."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import gates
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.plans import schedule as schedules
from services.domain.promises import forecast, line
from services.domain.promises.line import Place, Waiter
from services.domain.task.lane import LANES
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.monitor.schedules import ScheduleRow

#: runs of each schedule that are played through beside what waits, as far as they begin within so many seconds
RUNS, NEAR_S = 4, 90 * 60.0
WAITING = (Status.PENDING, Status.QUEUED, Status.BLOCKED, Status.RETRYING, Status.SCHEDULED)
#: gates at which a task waits for others that are on their way
_ASIDE = ("", gates.SHOP_BUSY, gates.TWIN)
_LATER = (Status.RETRYING, Status.SCHEDULED)
_SOON_S = 1.0
#: of a type of which nothing is known, one run
_UNKNOWN = durations.declared(60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The fleet at a moment (UTC ms). ``lasts``: how long a type runs in a shop; ``shut``: whether a type waits there
    for something that no slot opens.
    """

    now: int
    workers: Sequence[WorkerInfo]  #: that take work
    shops: Mapping[str, Shop]
    lasts: Callable[[str, str], Runs]
    lane_of: Callable[[str], str]
    shut: Callable[[str, str], bool]

    def places(self) -> list[Place]:
        """The slots; one that is kept for a lane takes that before the others."""
        found = []
        for info in self.workers:
            order = [str(lane) for lane in LANES if lane in info.lanes]
            kept = [lane for lane in order for _ in range(info.shares.get(lane, (0, 0))[0])]
            for number, slot in enumerate(info.slots):
                own = kept[number : number + 1]
                found.append(
                    Place(
                        lanes=(*own, *(lane for lane in order if lane not in own)),
                        lasts=self._known(slot.task_type, slot.shop) if slot.task_id else None,
                        ran_s=max(0, self.now - slot.since) / 1000,
                        progress=slot.progress,
                        task_type=slot.task_type,
                        shop=slot.shop,
                    )
                )
        return found

    def waiting(self, tasks: Iterable[Task]) -> list[Waiter]:
        """Those that wait for nothing but a slot of the workers, one of their shop, or an instant; in their order."""
        found = []
        for one in sorted(tasks, key=lambda task: (task.queued_at or task.updated_at, task.created_at)):
            aside = one.status == Status.BLOCKED
            enters_s = max(0.0, (one.due_at - self.now) / 1000) if one.status in _LATER else 0.0
            if (aside and one.gate not in _ASIDE) or enters_s > line.FAR_S or self.shut(one.shop, one.task_type):
                continue
            found.append(self._waiter(one.task_id, one.task_type, one.shop, str(one.lane), enters_s, aside=aside))
        return found

    def planned(self, rows: Sequence[ScheduleRow]) -> list[Waiter]:
        """What schedules are going to create; a run is named by its schedule, its number from now on, and the shop."""
        found = []
        for row in rows:
            if not row.schedule.enabled or not row.now.due_ms:
                continue
            kind, chosen = row.schedule.task_type, schedules.choose(row.schedule, self.shops.values())
            soon = [at for at in row.upcoming if -forecast.MISSING_MS < at - self.now < NEAR_S * 1000]
            for number, at in enumerate(soon):
                for place, shop in enumerate(chosen):
                    starts = at + schedules.offset_ms(row.schedule, place, len(chosen))
                    name = (row.schedule.name, number, shop.key)
                    found += self._coming(name, kind, shop.key, (starts - self.now) / 1000)
        return found

    def asked(self, kind: str, gap_s: float, last: Mapping[str, int]) -> list[Waiter]:
        """The same of those who ask as regularly: every so many seconds since the last one of a shop (UTC ms)."""
        found = []
        for shop, at in last.items():
            for number in range(RUNS):
                enters_s = max(_SOON_S, (at - self.now) / 1000 + gap_s) + number * gap_s
                found += self._coming((kind, number, shop), kind, shop, enters_s)
        return found

    def _coming(self, name: Hashable, kind: str, shop: str, enters_s: float) -> list[Waiter]:
        if enters_s > NEAR_S or self.shut(shop, kind):
            return []
        return [self._waiter(name, kind, shop, self.lane_of(kind), max(_SOON_S, enters_s), once=True)]

    def _waiter(
        self,
        name: Hashable,
        kind: str,
        shop: str,
        lane: str,
        enters_s: float,
        *,
        aside: bool = False,
        once: bool = False,
    ) -> Waiter:
        return Waiter(
            name=name, task_type=kind, shop=shop, lane=lane, lasts=self._known(kind, shop), enters_s=enters_s,
            aside=aside, once=once,
        )  # fmt: skip

    def _known(self, kind: str, shop: str) -> Runs:
        found = self.lasts(kind, shop)
        return found if found.known else _UNKNOWN
