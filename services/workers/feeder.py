"""Keeps the slots of a worker busy: claims what is delivered, fetches what other workers could not run."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable

from services.domain.errors import StoreError
from services.domain.gates.lane_share import Sharing
from services.ports import Clock, Consumer
from services.ports.upkeep import Parked
from services.workers.burst import Burst, Room
from services.workers.intake import Intake
from services.workers.preempt import Preemptor
from services.workers.prefetch import WINDOWS, PrefetchWindow
from services.workers.slots import ClaimedTask, SlotPool

log = logging.getLogger(__name__)
CLAIM_BATCH = 128
#: between two looks whether a store that kept silent answers again
STORE_PAUSE_S = 1.0
#: seconds: what was claimed ahead and has not begun after so long goes back, for others to start
UNSTARTED_S = 1.0
#: messages of a lane that may be held for each slot: when tasks have ended and are not yet acknowledged, the next ones
#: must be at hand, or their slots would go to a less urgent lane
FOR_EACH_SLOT = 2
#: seconds for which the window stays wide after a burst: each change costs two consumers a lane
WIDE_S = 5.0
LOOK_S = 0.2
FeedPlan = list[tuple[str, int]]


class Feeder:
    """One thread; nothing else claims for the worker."""

    def __init__(
        self,
        pool: SlotPool,
        consumer: Consumer,
        intake: Intake,
        clock: Clock,
        *,
        prefetch: PrefetchWindow,
        burst: Burst,
        sharing: Callable[[], Sharing],
        takes: Callable[[], bool],
        give_back: Callable[[ClaimedTask], None],
        preemptor: Preemptor,
        stopping: threading.Event,
        name: str,
    ) -> None:
        self._pool, self._consumer, self._intake, self._clock = pool, consumer, intake, clock
        self._prefetch, self._burst, self._sharing = prefetch, burst, sharing
        self._wide_until = 0.0
        self._takes, self._give_back, self._stopping = takes, give_back, stopping
        self._preemptor = preemptor
        self._wanted: tuple[Parked, ...] = ()
        self._window = 0
        self._floor = 0  #: fetched tasks may not be less urgent than the messages that keep all slots busy
        self._messages_first = False  #: fetched tasks had the last turn
        self._thread = threading.Thread(target=self._loop, name=f"{name}-intake", daemon=True)

    def start(self) -> None:
        """Begin to take work."""
        self._thread.start()

    def join(self, timeout: float) -> None:
        """Wait for the end, which ``stopping`` brings about."""
        self._thread.join(timeout)

    def want(self, kinds: tuple[Parked, ...]) -> None:
        """Fetch parked tasks of these (lane, type), or (lane, type, node), when there is room."""
        self._wanted = kinds

    def _loop(self) -> None:
        while not self._stopping.is_set():
            if not self._takes():
                self.let_all_go()
                self._clock.wait(self._stopping, LOOK_S)
                continue
            ahead = self._prefetch.ahead()
            self._widen(ahead)
            free, plan = self._pool.wait_plan(self._sharing(), ahead, LOOK_S)
            if plan:
                self._feed(free, ahead, plan)
            elif ahead == 0:
                self._let_go()
                self._make_room()

    def _widen(self, ahead: int) -> None:
        """As many messages as can be dealt with in a moment; of a burst those are many, whatever tasks take."""
        now = self._clock.monotonic()
        if self._burst.there:
            self._wide_until = now + WIDE_S
        window = self._pool.slots * FOR_EACH_SLOT + (WINDOWS[-1] if now < self._wide_until else ahead) * 4
        if window != self._window:
            self._window = window
            self._consumer.set_window(window)

    def _let_go(self) -> None:
        """Give back what was claimed for a slot that did not become free: tasks of its type used to be short."""
        for claimed in self._pool.waiting(self._clock.monotonic() - UNSTARTED_S):
            if not self._preemptor.waits(claimed) and self._pool.withdraw(claimed):
                self._give_back(claimed)

    def let_all_go(self) -> None:
        """Give back whatever was claimed and has not begun: this worker begins nothing more."""
        for claimed in self._pool.waiting(math.inf):
            if self._pool.withdraw(claimed):
                self._give_back(claimed)

    def _make_room(self) -> None:
        try:
            self._preemptor.look()
        except Exception:  # a worker that is alive and takes nothing must be impossible
            log.exception("urgent tasks wait for a free slot")

    def _feed(self, free: int, ahead: int, plan: FeedPlan) -> None:
        """Fetch, then claim what was delivered; in turns, or many parked tasks would keep urgent messages out."""
        first, self._messages_first = self._messages_first, False
        if not first and self._fetch(plan, free + ahead):
            free, plan = self._pool.wait_plan(self._sharing(), ahead, 0.0)
        if plan:
            self._accept(Room(free, free + ahead, _rooms(plan)), plan, 0.0 if self._wanted else LOOK_S)
        if first:
            free, plan = self._pool.wait_plan(self._sharing(), ahead, 0.0)
            self._fetch(plan, free + ahead)

    def _fetch(self, plan: FeedPlan, room: int) -> int:
        """Fill the room with tasks that others could not run; the next heartbeat tells whether any are left."""
        wanted, room = self._wanted, min(room, CLAIM_BATCH)
        if not wanted or room <= 0 or not plan:
            return 0
        try:
            found = self._intake.fetch(wanted, room, self._floor, _rooms(plan))
        except StoreError as exc:
            log.warning("parked tasks are fetched later: %s", exc)
            found = 0
        except Exception:  # a worker that is alive and takes nothing must be impossible
            log.exception("parked tasks are fetched later")
            found = 0
        self._messages_first = found >= room
        if found < room:
            self._wanted = ()
        return found

    def _accept(self, room: Room, plan: FeedPlan, patience_s: float) -> None:
        limit = min(room.total, CLAIM_BATCH)
        if self._burst.there:
            limit, last = CLAIM_BATCH, {lane: place for place, (lane, _) in enumerate(plan)}
            plan = [(lane, limit if last[lane] == place else most) for place, (lane, most) in enumerate(plan)]
        deliveries = self._consumer.take(limit, patience_s, plan)
        if not deliveries:
            self._floor = 0
            return
        try:
            accepted = self._intake.accept(deliveries, room)
            self._floor = accepted.lowest if len(deliveries) == limit else 0
            if accepted.met_long:
                self._prefetch.met_long()
            return
        except StoreError as exc:
            log.warning("%d deliveries go back to their queues: %s", len(deliveries), exc)
            self._consumer.requeue(deliveries)
            self._wait_for_store()
        except Exception:  # a worker that is alive and takes nothing must be impossible
            log.exception("%d deliveries go back to their queues", len(deliveries))
            self._consumer.requeue(deliveries)
            self._clock.wait(self._stopping, 0.5)

    def _wait_for_store(self) -> None:
        """Take nothing until the store answers: whoever reaches it would wait for what this worker hoards."""
        self._consumer.pause()
        while not self._clock.wait(self._stopping, STORE_PAUSE_S):
            if self._intake.can_claim():
                break
        if self._takes():
            self._consumer.resume()


def _rooms(plan: FeedPlan) -> dict[str, int]:
    """How many of each lane."""
    rooms: dict[str, int] = {}
    for lane, most in plan:
        rooms[lane] = rooms.get(lane, 0) + most
    return rooms
