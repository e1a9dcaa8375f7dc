"""How long tasks take here, and how much may therefore be claimed beyond the slots."""

from __future__ import annotations

from collections import deque

from services.domain.task.record import Task
from services.ports import Clock
from services.workers.slots import SlotPool

#: work that may wait claimed beyond the slots, in seconds (DESIGN 2.10)
AHEAD_S = 0.2
WINDOWS = (0, 8, 64)
#: so many tasks must have ended before any is claimed ahead
ENOUGH = 8


class PrefetchWindow:
    """Of the last tasks, all together and by type; any thread may note, one asks."""

    def __init__(self, pool: SlotPool, clock: Clock) -> None:
        self._pool, self._clock = pool, clock
        self._recent: deque[float] = deque(maxlen=32)
        self._types: dict[str, deque[float]] = {}
        self._patient_until = 0.0

    def took(self, task_type: str, seconds: float) -> None:
        """A task of this type took so long."""
        self._recent.append(seconds)
        times = self._types.get(task_type)
        if times is None:
            times = self._types.setdefault(task_type, deque(maxlen=ENOUGH))
        times.append(seconds)

    def short(self, task: Task) -> bool:
        """Whether it may be claimed before a slot is free: by measure, else by declaration; unknown is long."""
        times = self._types.get(task.task_type)
        return max(times) <= AHEAD_S if times else 0 < task.expected_s <= AHEAD_S

    def met_long(self) -> None:
        """Something that takes long is next in line: claim nothing ahead until it has had time to show."""
        self._patient_until = self._clock.monotonic() + AHEAD_S

    def ahead(self) -> int:
        """Jobs that may wait claimed beyond the slots: 0.2 s of recent work, judged by the longest recent task."""
        now = self._clock.monotonic()
        if len(self._recent) < ENOUGH or now < self._patient_until or self._longest(now) > AHEAD_S:
            return WINDOWS[0]
        room = AHEAD_S / max(max(self._recent), 1e-4) * self._pool.slots
        return max(window for window in WINDOWS if window <= room)

    def _longest(self, now: float) -> float:
        return max((now - claimed.started for claimed in self._pool.running() if claimed.started), default=0.0)
