"""When the next ones may be sent, and the hand that pauses and stops."""

from __future__ import annotations

import threading

from services.ports import Clock

BATCH = 200
#: how often somebody who waits looks whether he may go on, in seconds
LOOK_S = 0.2


class Control:
    """Pause, resume and stop of one run; any thread may call any method."""

    def __init__(self) -> None:
        self._paused, self._stopped = threading.Event(), threading.Event()

    def pause(self) -> None:
        """Send nothing more for now."""
        self._paused.set()

    def resume(self) -> None:
        """Go on."""
        self._paused.clear()

    def stop(self) -> None:
        """Send nothing more at all."""
        self._stopped.set()

    @property
    def paused(self) -> bool:
        """Whether it shall wait."""
        return self._paused.is_set()

    @property
    def stopped(self) -> bool:
        """Whether it shall end."""
        return self._stopped.is_set()

    def wait(self, clock: Clock, seconds: float) -> bool:
        """Let time pass; tell whether it shall end."""
        return clock.wait(self._stopped, seconds)


class Pace:
    """At most ``rate`` a minute in any minute, 0 for no limit; what was not sent in time is not made up for."""

    def __init__(self, clock: Clock, rate: int) -> None:
        self._clock = clock
        self._gap = 60.0 / rate if rate else 0.0
        #: how many go at once; a fast pace goes ten times a second
        self.batch = max(1, rate // 600) if rate else BATCH
        self._free_at = clock.monotonic()

    def left_s(self) -> float:
        """Seconds until the next ones may go, 0 for now."""
        return max(0.0, self._free_at - self._clock.monotonic())

    def sent(self, count: int) -> None:
        """Take note of what went just now."""
        self._free_at = self._clock.monotonic() + self._gap * count
