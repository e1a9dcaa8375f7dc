"""Keeps the slots of a worker busy: claims what is delivered, fetches what other workers could not run."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from services.domain.errors import StoreError
from services.ports import Clock, Consumer
from services.workers.intake import Intake
from services.workers.slots import SlotPool

log = logging.getLogger(__name__)
CLAIM_BATCH = 128
FULL_PATIENCE_S = 1.0
#: between two looks whether a store that kept silent answers again
STORE_PAUSE_S = 1.0
WINDOWS = (0, 8, 64)
#: work that may wait claimed beyond the slots, in seconds (DESIGN 2.10)
AHEAD_S = 0.2


class Feeder:
    """One thread; nothing else claims for the worker."""

    def __init__(
        self,
        pool: SlotPool,
        consumer: Consumer,
        intake: Intake,
        clock: Clock,
        *,
        takes: Callable[[], bool],
        stopping: threading.Event,
        name: str,
    ) -> None:
        self._pool, self._consumer, self._intake, self._clock = pool, consumer, intake, clock
        self._takes, self._stopping = takes, stopping
        self._recent: deque[float] = deque(maxlen=32)
        self._wanted: tuple[tuple[str, str], ...] = ()
        self._floor = 0  #: fetched tasks may not be less urgent than the messages that keep all slots busy
        self._messages_first = False  #: fetched tasks had the last turn
        self._thread = threading.Thread(target=self._loop, name=f"{name}-intake", daemon=True)

    def start(self) -> None:
        """Begin to take work."""
        self._thread.start()

    def join(self, timeout: float) -> None:
        """Wait for the end, which ``stopping`` brings about."""
        self._thread.join(timeout)

    def want(self, kinds: tuple[tuple[str, str], ...]) -> None:
        """Fetch parked tasks of these (lane, type) when there is room."""
        self._wanted = kinds

    def took(self, seconds: float) -> None:
        """A task took so long."""
        self._recent.append(seconds)

    def _loop(self) -> None:
        full_since: float | None = None
        paused = False
        while not self._stopping.is_set():
            ahead = self._ahead()
            if not self._takes() or not self._pool.wait_room(ahead, 0.2):
                now = self._clock.monotonic()
                full_since = now if full_since is None else full_since
                if ahead == 0 and not paused and now - full_since >= FULL_PATIENCE_S:
                    paused = True
                    self._consumer.pause()
                continue
            full_since = None
            resumed = paused and self._takes()
            if resumed:
                paused = False
                self._consumer.resume()
            self._feed(ahead, resumed=resumed)

    def _feed(self, ahead: int, *, resumed: bool) -> None:
        """Fetch, then claim what was delivered; in turns, or a long row of parked tasks would keep urgent messages out.

        ``resumed``: nothing can have been delivered yet, so what the broker has must be waited for.
        """
        first, self._messages_first = self._messages_first, False
        if not first:
            self._fetch(ahead)
        room = min(self._pool.room() + ahead, CLAIM_BATCH)
        if room > 0:
            self._accept(room, 0.0 if self._wanted and not resumed else 0.2)
        if first:
            self._fetch(ahead)

    def _fetch(self, ahead: int) -> None:
        """Fill the room with tasks that others could not run; the next heartbeat tells whether any are left."""
        wanted, room = self._wanted, min(self._pool.room() + ahead, CLAIM_BATCH)
        if not wanted or room <= 0:
            return
        try:
            found = self._intake.fetch(wanted, room, self._floor)
        except StoreError as exc:
            log.warning("parked tasks are fetched later: %s", exc)
            found = 0
        except Exception:  # a worker that is alive and takes nothing must be impossible
            log.exception("parked tasks are fetched later")
            found = 0
        self._messages_first = found >= room
        if found < room:
            self._wanted = ()

    def _accept(self, limit: int, patience_s: float) -> None:
        deliveries = self._consumer.take(limit, patience_s)
        if not deliveries:
            self._floor = 0
            return
        try:
            lowest = self._intake.accept(deliveries)
            self._floor = lowest if len(deliveries) == limit else 0
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

    def _ahead(self) -> int:
        """Jobs that may wait claimed beyond the slots: 0.2 s of recent work, judged by the longest recent task."""
        if len(self._recent) < 8 or self._longest_now() > AHEAD_S:
            level = 0
        else:
            room = AHEAD_S / max(max(self._recent), 1e-4) * self._pool.slots
            level = max(window for window in WINDOWS if window <= room)
        self._consumer.set_window(self._pool.slots + level * 4)
        return level

    def _longest_now(self) -> float:
        now = self._clock.monotonic()
        return max((now - held.started for held in self._pool.running() if held.started), default=0.0)
