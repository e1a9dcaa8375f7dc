"""The only place that asks what time it is."""

from __future__ import annotations

import copy
import math
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from services.ports import Clock

#: a wall clock that is off by less is left as it is
AGREED_MS = 2_000
_NEVER = -(1 << 62)
#: waits of this length and more end in common steps: threads that wake each second do next to nothing then, and most
#: of what that takes is to bring back into the processor what all of them run through
LONG_S, STEP_S = 0.5, 0.2
#: a wait may be so much of a step longer than was asked for, else it is shorter
LATER = 0.05
#: so long after the window's second the others come, and what is so near to it is not put right
BEHIND_S, NEAR_S = 0.012, 0.005


class Onward:
    """Instants that never run backwards. Behind one that was told already, as after a clock was set back, they go on at
    half speed until the clock is there: if they stood still, nothing that is delayed would become due for hours.
    """

    def __init__(self) -> None:
        self._told = (_NEVER, 0.0)  # an instant, and when it was told by the monotonic clock

    def tell(self, now_ms: int, monotonic: float) -> int:
        """The instant to go by where the clock shows ``now_ms``."""
        at_ms, since = self._told
        at_least = at_ms + int((monotonic - since) * 500)
        if now_ms < at_least:
            return at_least
        self._told = (now_ms, monotonic)
        return now_ms

    def forget(self) -> None:
        """What was told binds nobody any more."""
        self._told = (_NEVER, 0.0)


class SystemClock:
    """Wall clock in UTC milliseconds that never runs backwards, and the monotonic clock in seconds."""

    def __init__(self) -> None:
        self._ahead = 0
        self._onward = Onward()

    def now_ms(self) -> int:
        """UTC milliseconds, never less than the last answer, unless it was told another time meanwhile."""
        return self._onward.tell(self.wall_ms(), time.monotonic())

    def wall_ms(self) -> int:
        """What the clock of this machine shows, as far as it agrees."""
        return time.time_ns() // 1_000_000 + self._ahead

    def apart(self) -> Self:
        """Another one, which may agree by itself: what this one tells is not moved by that."""
        return copy.deepcopy(self)

    def agree(self, now_ms: int) -> None:
        """It is this time now: of the fleet, whose instants all others compare with those of this process."""
        if abs(now_ms - self.now_ms()) > AGREED_MS:
            self._onward.forget()  # it may be ahead of the clock of this machine, which was set back
            self._ahead += now_ms - self.now_ms()
            self._onward.forget()

    #: seconds for durations
    monotonic = staticmethod(time.monotonic)

    def suspended(self) -> float:
        """Seconds for which this machine has slept since it was started; 0 where the system does not tell."""
        asleep = 0.0
        if sys.platform == "linux":
            asleep = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
        return asleep

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for ``event`` about ``seconds``; tell whether it is set."""
        return event.wait(together(seconds))


def together(seconds: float) -> float:
    """How long to wait so that this ends with the other waits of this process: at most a little longer; as long as it
    says where that is no long one.
    """
    if seconds < LONG_S:
        return seconds
    now = time.monotonic()
    steps = math.floor((now + seconds - _beat.phase) / STEP_S + LATER)
    return max(0.0, steps * STEP_S + _beat.phase - now)


def beat() -> None:
    """A second of the window has begun: let waits end right after what it does then."""
    phase = (time.monotonic() + BEHIND_S) % STEP_S
    if abs(phase - _beat.phase) > NEAR_S:
        _beat.phase = phase


class _Beat:
    """When waits end, of each process for itself: those of a machine shall not all ask at one moment."""

    def __init__(self) -> None:
        self.phase = random.uniform(0.0, STEP_S)


_beat = _Beat()


class ClockOf:
    """The durations of one clock, and what time it is from elsewhere: from the store whose instants are compared."""

    def __init__(self, clock: Clock, now_ms: Callable[[], int]) -> None:
        self._clock, self.now_ms = clock, now_ms
        self.monotonic, self.wait, self.wall_ms = clock.monotonic, clock.wait, clock.wall_ms

    def apart(self) -> Self:
        """The same: what time it is tells one alone."""
        return self

    def agree(self, now_ms: int) -> None:
        """It has agreed."""


class ManualClock:
    """A clock that tests turn by hand; waiting turns it."""

    def __init__(self, now_ms: int = 1_795_000_000_000) -> None:
        self._now = now_ms
        self._mono = 0.0
        self.behind_ms = 0  #: by how much what the clock on the wall shows is behind what was told already

    def now_ms(self) -> int:
        """UTC milliseconds as set."""
        return self._now

    def wall_ms(self) -> int:
        """The same, or less where it was set back."""
        return self._now - self.behind_ms

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
    if found == "Etc/UTC":  # a fleet where nobody has set one keeps the same hours, and they are called by one name
        return "UTC"
    return found if "/" in found or found == "UTC" else ""
