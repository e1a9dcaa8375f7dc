"""Who stands in line before the slots and who will join it, for `services.domain.promises.line` to play it through."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import msgspec

from services.domain.fleet.shop import Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import limit, listed
from services.domain.gates.limit import LimitNow
from services.domain.insight import gates
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.plans import schedule as schedules
from services.domain.promises import forecast, line
from services.domain.promises.line import Cap, Place, Waiter
from services.domain.task.lane import DEFAULT_PRIORITY, LANES, Lane
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.monitor.schedules import ScheduleRow

#: runs of each schedule that are played through beside what waits, as far as they begin within so many seconds
RUNS, NEAR_S = 4, 90 * 60.0
WAITING = (Status.PENDING, Status.QUEUED, Status.BLOCKED, Status.RETRYING, Status.SCHEDULED)
#: gates at which a parked task waits for others of its shop that are on their way
_ASIDE = ("", gates.SHOP_BUSY, gates.TWIN)
#: and those that the line knows itself: it keeps back there who comes to its head
_KNOWN = (gates.QUOTA, gates.BREAKER, *listed.SWITCHES)
_LATER = (Status.RETRYING, Status.SCHEDULED)
_SOON_S = 1.0
#: of a type of which nothing is known, one run
_UNKNOWN = durations.declared(60.0)


Spans = tuple[tuple[int, int], ...]


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet at a moment (UTC ms). ``lasts``: how long a type runs in a shop; ``shut``: whether a type waits there
    for something that only a person opens; ``closes``: from when to when (UTC ms) nothing of it starts there.
    """

    now: int
    workers: Sequence[WorkerInfo]  #: that take work
    shops: Mapping[str, Shop]
    lasts: Callable[[str, str], Runs]
    lane_of: Callable[[str], str]
    shut: Callable[[str, str], bool]
    closes: Callable[[str, str], Spans]

    def places(self) -> list[Place]:
        """The slots; one that is kept for a lane takes that before the others."""
        found = []
        for info in self.workers:
            order = [str(lane) for lane in LANES if lane in info.open_lanes]
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
                        name=slot.task_id or None,
                    )
                )
        return found

    def waiting(self, tasks: Iterable[Task]) -> list[Waiter]:
        """Those that wait for nothing but a slot of the workers, one of their shop, or an instant; in their order."""
        found = []
        for one in sorted(tasks, key=lambda task: (task.queued_at or task.updated_at, task.created_at)):
            parked = one.status == Status.BLOCKED
            aside = parked and one.gate in _ASIDE
            enters_s = max(0.0, (one.due_at - self.now) / 1000) if one.status in _LATER else 0.0
            if (
                (parked and not aside and one.gate not in _KNOWN)
                or enters_s > line.FAR_S
                or self.shut(one.shop, one.task_type)
            ):
                continue
            found.append(
                self._waiter(
                    one.task_id, one.task_type, one.shop, str(one.lane), enters_s, rank=limit.rank(one), aside=aside
                )
            )
        return found

    def planned(self, rows: Sequence[ScheduleRow]) -> list[Waiter]:
        """What schedules are going to create; the next run is named by its schedule and the shop."""
        found = []
        for row in rows:
            if not row.schedule.enabled or not row.now.due_ms:
                continue
            soon = [at for at in row.upcoming if -forecast.MISSING_MS < at - self.now < NEAR_S * 1000]
            if not soon:
                continue  # to put thousands of shops in order is most of the work
            kind, chosen = row.schedule.task_type, schedules.choose(row.schedule, self.shops.values())
            for number, at in enumerate(soon):
                for place, shop in enumerate(chosen):
                    starts = at + schedules.offset_ms(row.schedule, place, len(chosen))
                    name = None if number else (row.schedule.name, shop.key)
                    found += self._coming(name, kind, shop.key, (starts - self.now) / 1000)
        return found

    def asked(self, kind: str, gap_s: float, last: Mapping[str, int]) -> list[Waiter]:
        """The same of those who ask as regularly: every so many seconds since the last one of a shop (UTC ms)."""
        found = []
        for shop, at in last.items():
            for number in range(RUNS):
                enters_s = max(_SOON_S, (at - self.now) / 1000 + gap_s) + number * gap_s
                found += self._coming(None if number else (kind, shop), kind, shop, enters_s)
        return found

    def _coming(self, name: Hashable, kind: str, shop: str, enters_s: float) -> list[Waiter]:
        if enters_s > NEAR_S or self.shut(shop, kind):
            return []
        lane = self.lane_of(kind)
        rank = limit.rank_of(DEFAULT_PRIORITY[Lane(lane)], self.now + round(enters_s * 1000))
        return [self._waiter(name, kind, shop, lane, max(_SOON_S, enters_s), rank=rank, once=True)]

    def _waiter(
        self,
        name: Hashable,
        kind: str,
        shop: str,
        lane: str,
        enters_s: float,
        *,
        rank: int,
        aside: bool = False,
        once: bool = False,
    ) -> Waiter:
        shut = tuple(
            (max(0.0, (begin - self.now) / 1000), (end - self.now) / 1000) for begin, end in self.closes(shop, kind)
        )
        return Waiter(
            name=name, task_type=kind, shop=shop, lane=lane, lasts=self._known(kind, shop), enters_s=enters_s,
            rank=rank, aside=aside, once=once, shut=shut,
        )  # fmt: skip

    def caps(self, limits: Iterable[LimitNow]) -> dict[str, Cap]:
        """Limits as they are used now, by scope."""
        return {
            one.limit.scope: Cap(
                slots=one.limit.concurrency,
                per_minute=one.limit.per_minute,
                started=one.started,
                resets_s=min(60.0, max(0.0, (one.resets_at - self.now) / 1000)),
            )
            for one in limits
        }

    def _known(self, kind: str, shop: str) -> Runs:
        found = self.lasts(kind, shop)
        return found if found.known else _UNKNOWN
