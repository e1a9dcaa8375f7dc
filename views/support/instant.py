"""The instant that every count-down and every age on screen is told of.

It moves once a second, in one step, and whatever shows it is told to say itself again in that very step. So two places
never name different times for one event, however late either was asked or painted. Where the thread was held up, the
first who reads the instant moves it for all.

A window that stands still keeps the instant it began to: what is painted or told in it is of then, while other windows
go on. Where all stand still, so does the instant.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from services.clock import SystemClock, beat

STEP_MS = 1000
#: what is painted may be told of an instant so far back; the step that comes right after it paints it again
PAINTED_MS = 10_000


class Watch(Protocol):
    """Who knows the time of the fleet."""

    def now_ms(self) -> int: ...


class Ticks(QObject):
    """Signals:
    ticked: the instant has moved.
    passed: a second has passed, whatever stands still: for what is painted together with all that counts.
    """

    ticked = Signal()
    passed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._own = SystemClock()
        self._fleet: Callable[[], Watch | None] = lambda: None
        self._at = 0  #: the instant (UTC ms, by the time of the fleet)
        self._painting = False
        self._of = 0  #: the instant of the window that is painted, 0 unless it stands still
        self._painted = 0  #: the instant of what is painted now, asked for by hundreds of cells; 0 between paintings
        self._timer: QTimer | None = None
        self._windows: weakref.WeakSet[QWidget] = weakref.WeakSet()
        self._holders: weakref.WeakKeyDictionary[QObject, int] = weakref.WeakKeyDictionary()

    def serve(self, window: QWidget) -> None:
        """While this window is seen and does not stand still, the instant moves."""
        self._windows.add(window)

    def hold(self, window: QObject, *, on: bool) -> None:
        """Let all in a window stand still with what it shows, or go on."""
        if on:
            self._holders.setdefault(window, self.now_ms())
        elif self._holders.pop(window, 0):
            self.tick()

    def tell(self, owner: QObject, say: Callable[[], None]) -> None:
        """Call a method of the owner whenever the instant has moved, unless the window it is in stands still."""
        Told(owner, say, self).listen(True)

    @contextmanager
    def painting(self, inside: QObject) -> Iterator[None]:
        """While something is painted, or its words are compared, the instant stays: what was painted a moment ago, or
        only changes its words when it has moved, stands in the same picture.
        """
        before = self._painting, self._of, self._painted
        self._painting, self._of, self._painted = True, self.since(inside), 0
        try:
            self._painted = self.now_ms()
            yield
        finally:
            self._painting, self._of, self._painted = before

    def since(self, inside: QObject) -> int:
        """The instant at which the window began to stand still that something is in; 0: it does not."""
        since, one = self._holders, inside if self._holders else None
        while one is not None:
            if one in since:
                return since[one]
            one = one.parent()
        return 0

    @property
    def standing(self) -> bool:
        """Whether all stands still that is seen."""
        if not self._holders:
            return False
        still = {owner for owner in self._holders if isValid(owner)}
        return bool(still) and all(one in still for one in self._windows if isValid(one) and one.isVisible())

    def follow(self, watch: Watch) -> None:
        """Go by this time from now on, for as long as its owner keeps it."""
        self._fleet = weakref.ref(watch)

    def leave(self, watch: Watch) -> None:
        """Go by this machine's time again, if it is this one that is gone by: it is kept right no more."""
        if self._fleet() is watch:
            self._fleet = lambda: None

    def now_ms(self) -> int:
        """The instant (UTC ms). Any thread may ask; only that of the window moves it."""
        of_window = threading.get_ident() == threading.main_thread().ident
        if self._painted and of_window:
            return self._painted
        clock = self._clock()
        app = QCoreApplication.instance()
        if app is None or not of_window:
            return clock
        if self._timer is None:
            self._timer = QTimer(self, interval=STEP_MS)
            self._timer.timeout.connect(self._on_second)
            self._timer.timeout.connect(self.passed)
            app.aboutToQuit.connect(self._timer.stop)
        if not self._timer.isActive():
            self._timer.start()
        if self._of:
            return self._of
        still = self.standing or (self._painting and 0 <= clock - self._at < PAINTED_MS)
        if not self._at or (not 0 <= clock - self._at < STEP_MS and not still):
            self._move()
        return self._at

    def present_ms(self) -> int:
        """What time it is (UTC ms), whatever stands still."""
        return self._clock()

    def tick(self) -> None:
        """Move on to the present, and tell everybody."""
        if not self.standing:
            self._move()

    def _on_second(self) -> None:
        beat()
        # whoever read the instant a moment ago has moved it, and all have said themselves again
        if not 0 <= self._clock() - self._at < STEP_MS // 2:
            self.tick()

    def _move(self) -> None:
        self._at = self._clock()
        self.ticked.emit()

    def _clock(self) -> int:
        watch = self._fleet()
        # where no fleet is, nobody compares instants: a clock that was set back counts at once
        return self._own.wall_ms() if watch is None else watch.now_ms()


class Told(QObject):
    """One who is told while it listens, for as long as its owner lives."""

    def __init__(self, owner: QObject, say: Callable[[], None], ticks: Ticks) -> None:
        super().__init__(owner)
        self._say, self._ticks, self._listens = weakref.WeakMethod(say), ticks, False

    def listen(self, on: bool) -> None:
        """Be told, or not: who has nothing to say costs nothing then."""
        if on and not self._listens:
            self._ticks.ticked.connect(self._on_tick)
        elif self._listens and not on:
            self._ticks.ticked.disconnect(self._on_tick)
        self._listens = on

    def _on_tick(self) -> None:
        say = self._say()
        if say is not None and not self._ticks.since(self):
            say()


_TICKS = Ticks()


def ticks() -> Ticks:
    """The one of this program."""
    return _TICKS


def now_ms() -> int:
    """The instant of everything on screen (UTC ms)."""
    return _TICKS.now_ms()
