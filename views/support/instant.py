"""The instant that every count-down and every age on screen is told of.

It moves once a second, in one step, and whatever shows it is told to say itself again in that very step. So two places
never name different times for one event, however late either was asked or painted. Where the thread was held up, the
first who reads the instant moves it for all.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal
from shiboken6 import isValid

from services.clock import SystemClock

STEP_MS = 1000
#: what is painted may be told of an instant so far back; the step that comes right after it paints it again
PAINTED_MS = 10_000


class Watch(Protocol):
    """Who knows the time of the fleet."""

    def now_ms(self) -> int: ...


class Ticks(QObject):
    """Signals:
    ticked: the instant has moved.
    """

    ticked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._own = SystemClock()
        self._fleet: Callable[[], Watch | None] = lambda: None
        self._at = 0  #: the instant (UTC ms, by the time of the fleet)
        self._painting = False
        self._timer: QTimer | None = None
        self._holders: weakref.WeakSet[QObject] = weakref.WeakSet()

    def hold(self, owner: QObject, *, on: bool) -> None:
        """Let it stand still while what a window shows does, until none of those that hold it is left."""
        held = self.held
        if on:
            self._holders.add(owner)
        else:
            self._holders.discard(owner)
        if held and not self.held:
            self.tick()

    @contextmanager
    def painting(self) -> Iterator[None]:
        """While something is painted the instant stays: what was painted a moment ago, or only changes its words when
        it has moved, stands in the same picture.
        """
        before, self._painting = self._painting, True
        try:
            yield
        finally:
            self._painting = before

    @property
    def held(self) -> bool:
        """Whether it stands still."""
        return any(isValid(owner) for owner in self._holders)

    def follow(self, watch: Watch) -> None:
        """Go by this time from now on, for as long as its owner keeps it."""
        self._fleet = weakref.ref(watch)

    def now_ms(self) -> int:
        """The instant (UTC ms). Any thread may ask; only that of the window moves it."""
        clock = self._clock()
        app = QCoreApplication.instance()
        if app is None or threading.current_thread() is not threading.main_thread():
            return clock
        if self._timer is None:
            self._timer = QTimer(self, interval=STEP_MS)
            self._timer.timeout.connect(self.tick)
            app.aboutToQuit.connect(self._timer.stop)
        if not self._timer.isActive():
            self._timer.start()
        still = self.held or (self._painting and 0 <= clock - self._at < PAINTED_MS)
        if not self._at or (not 0 <= clock - self._at < STEP_MS and not still):
            self._move()
        return self._at

    def tick(self) -> None:
        """Move on to the present, and tell everybody."""
        if not self.held:
            self._move()

    def _move(self) -> None:
        self._at = self._clock()
        self.ticked.emit()

    def _clock(self) -> int:
        watch = self._fleet()
        return self._own.now_ms() if watch is None else watch.now_ms()


_TICKS = Ticks()


def ticks() -> Ticks:
    """The one of this program."""
    return _TICKS


def now_ms() -> int:
    """The instant of everything on screen (UTC ms)."""
    return _TICKS.now_ms()
