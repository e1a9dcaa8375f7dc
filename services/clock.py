"""The only place that asks what time it is."""

from __future__ import annotations

import copy
import sys
import threading
import time
from typing import Self

#: a wall clock that is off by less is left as it is
AGREED_MS = 2_000


class SystemClock:
    """Wall clock in UTC milliseconds that never runs backwards, and the monotonic clock in seconds."""

    def __init__(self) -> None:
        self._last = self._ahead = 0

    def now_ms(self) -> int:
        """UTC milliseconds, never less than the last answer, unless it was told another time meanwhile."""
        self._last = max(self._last, time.time_ns() // 1_000_000 + self._ahead)
        return self._last

    def apart(self) -> Self:
        """Another one, which may agree by itself: what this one tells is not moved by that."""
        return copy.copy(self)

    def agree(self, now_ms: int) -> None:
        """It is this time now: of the fleet, whose instants all others compare with those of this process."""
        if abs(now_ms - self.now_ms()) > AGREED_MS:
            self._last = 0  # it may stand still since the clock of this machine was set back, which is what it goes by
            self._ahead += now_ms - self.now_ms()
            self._last = 0

    #: seconds for durations
    monotonic = staticmethod(time.monotonic)

    def suspended(self) -> float:
        """Seconds for which this machine has slept since it was started; 0 where the system does not tell."""
        asleep = 0.0
        if sys.platform == "linux":
            asleep = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
        return asleep

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for ``event`` at most ``seconds``; tell whether it is set."""
        return event.wait(seconds)


class ManualClock:
    """A clock that tests turn by hand; waiting turns it."""

    def __init__(self, now_ms: int = 1_795_000_000_000) -> None:
        self._now = now_ms
        self._mono = 0.0

    def now_ms(self) -> int:
        """UTC milliseconds as set."""
        return self._now

    def apart(self) -> Self:
        """The same: it is turned by nobody else."""
        return self

    def agree(self, now_ms: int) -> None:
        """It is turned by nobody else."""

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._mono

    def advance(self, seconds: float) -> None:
        """Turn the clock forward."""
        self._now += round(seconds * 1000)
        self._mono += seconds

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Do not wait: turn the clock and look."""
        self.advance(seconds)
        return event.is_set()


def machine_zone() -> str:
    """Name of this machine's time zone, "" where it does not tell."""
    from babel.localtime import get_localzone  # imported here: hardly anybody asks

    found = str(getattr(get_localzone(), "key", ""))
    return found if "/" in found or found == "UTC" else ""
