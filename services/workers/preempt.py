"""Urgent tasks that find no free slot take that of a running one whose type allows it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from services.domain.errors import StoreError
from services.domain.gates.lane_share import Sharing
from services.domain.task.lane import MAX_PRIORITY, MIN_PRIORITY, Lane
from services.domain.task.record import Task
from services.engine.lead.duty import Seldom
from services.engine.registry import Registry
from services.ports import Clock, Store
from services.workers.intake import Intake
from services.workers.slots import ClaimedTask, SlotPool

log = logging.getLogger(__name__)
LEVELS = tuple(range(MAX_PRIORITY, MIN_PRIORITY - 1, -1))
URGENT = LEVELS[:3]
#: seconds: how long an urgent task waits for a slot before it takes one, and how often a full worker looks
PATIENCE_S, LOOK_S = 1.0, 1.0
#: seconds after which the urgent task goes elsewhere, for what should make way does not end
STOP_S = 30.0
OUTCOME = "preempted"


class Preemptor:
    """Asked by a worker all of whose slots are taken; it asks the store only if it could make room.

    The urgent task is claimed first, so of several workers one makes room for it, and only for a task that no gate
    holds back. Its message, wherever it is, is a twin from then on.
    """

    def __init__(
        self,
        pool: SlotPool,
        intake: Intake,
        store: Store,
        registry: Registry,
        clock: Clock,
        *,
        lanes: tuple[str, ...],
        limit: int,
        fetches: Callable[[str], bool],
        sharing: Callable[[], Sharing],
    ) -> None:
        """``limit``: how often one task may be stopped."""
        self._pool, self._intake, self._store = pool, intake, store
        self._registry, self._clock = registry, clock
        self._lanes, self._limit, self._fetches, self._sharing = lanes, limit, fetches, sharing
        self._seldom = Seldom(clock, LOOK_S)
        self._made_way: dict[str, ClaimedTask] = {}  #: by the owner of the urgent one: who is being stopped for it

    def look(self) -> int:
        """Make room for urgent tasks that wait; returns for how many. At most once a second."""
        if not self._limit or not self._seldom.due():
            return 0
        victims = self._victims()
        if not victims:
            return 0
        try:
            return self._make_room(victims)
        except StoreError as exc:
            log.warning("urgent tasks wait for a free slot: %s", exc)
            return 0

    def waits(self, claimed: ClaimedTask) -> bool:
        """Whether this claimed task waits for a slot that is being made free for it, and may go on to do so."""
        victim = self._made_way.get(claimed.owner)
        late = claimed.put_at < self._clock.monotonic() - STOP_S
        if victim is not None and not late and victim in self._pool.running():
            return True
        self._made_way.pop(claimed.owner, None)
        return False

    def _make_room(self, victims: list[ClaimedTask]) -> int:
        made = 0
        for task in self._urgent(len(victims)):
            if not victims:
                break
            for urgent in self._intake.seize([task]):
                victim = victims.pop(0)
                log.info("%s makes way for %s", victim.task.task_id, task.task_id)
                self._made_way[urgent.owner] = victim
                victim.make_way(task.task_id)
                made += 1
        return made

    def _urgent(self, count: int) -> list[Task]:
        """Tasks that have waited in the queue for a while and could run here, the most urgent first."""
        before = self._store.now_ms() - round(PATIENCE_S * 1000)
        sharing, claimed = self._sharing(), self._pool.lanes()
        open_ = [lane for lane in self._lanes if sharing.admits(lane, claimed)]
        levels = {lane: LEVELS if lane == Lane.HIGH else URGENT for lane in open_}
        found = [
            task
            for task in self._store.queued_before({(lane, n): before for lane in open_ for n in levels[lane]}, count)
            if task.queued_at <= before and self._fetches(task.task_type)
        ]
        return sorted(found, key=lambda task: (-task.priority, task.created_at, task.task_id))

    def _victims(self) -> list[ClaimedTask]:
        """Running tasks that may be stopped, the least urgent first, of those the one that loses least."""
        able = [claimed for claimed in self._pool.running() if self._may_stop(claimed)]
        able.sort(key=lambda claimed: (claimed.task.priority, -claimed.started))
        sharing, stays = self._sharing(), Counter(self._pool.lanes())
        # who was asked to end may take its time about it: what is kept for a lane is counted without it
        stays.subtract(claimed.task.lane for claimed in self._pool.running() if claimed.cancelled.is_set())
        spare = {claimed.task.lane: sharing.spare(claimed.task.lane, stays) for claimed in able}
        chosen: list[ClaimedTask] = []
        for claimed in able:
            if spare[claimed.task.lane] > 0:
                spare[claimed.task.lane] -= 1
                chosen.append(claimed)
        return chosen

    def _may_stop(self, claimed: ClaimedTask) -> bool:
        task = claimed.task
        if task.lane != Lane.LOW or task.priority in URGENT or claimed.cancelled.is_set():
            return False
        if not self._registry.task_type(task.task_type).preemptible:
            return False
        return sum(1 for attempt in task.attempts if attempt.outcome == OUTCOME) < self._limit
