"""Calls limited in time: a throttle keeps a pace, a debounce waits for quiet, turns lie apart."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

#: what is computed between two looks whether somebody clicked, at most, but for a call that cannot be cut
LONG_S = 0.004


class Throttle(QObject):
    """Calls `function` at once, then at most every `delay_ms` with the newest arguments."""

    def __init__(self, function: Callable[..., object], delay_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._function = function
        self._waiting: tuple[object, ...] | None = None
        self._delay_ms = delay_ms
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_timeout)

    def __call__(self, *args: object) -> None:
        """Call now, or as soon as the pace allows."""
        if self._timer.isActive():
            self._waiting = args
            return
        self._timer.start(self._delay_ms)
        self._function(*args)

    def set_delay(self, delay_ms: int) -> None:
        """Keep another pace from the next call on."""
        self._delay_ms = delay_ms

    def cancel(self) -> None:
        """Forget a waiting call."""
        self._waiting = None
        self._timer.stop()

    def flush(self) -> None:
        """Make a waiting call now."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._function(*waiting)

    def _on_timeout(self) -> None:
        if self._waiting is not None:
            self._timer.start(self._delay_ms)
            self.flush()


class Debounce(QObject):
    """Calls `function` once `delay_ms` passed without another call."""

    def __init__(self, function: Callable[..., object], delay_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._function = function
        self._waiting: tuple[object, ...] | None = None
        self._timer = QTimer(self, singleShot=True, interval=delay_ms)
        self._timer.timeout.connect(self.flush)

    def __call__(self, *args: object) -> None:
        """Start waiting again."""
        self._waiting = args
        self._timer.start()

    def cancel(self) -> None:
        """Forget a waiting call."""
        self._waiting = None
        self._timer.stop()

    def flush(self) -> None:
        """Make a waiting call now."""
        self._timer.stop()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._function(*waiting)


class Turns(QObject):
    """Makes calls one after the other, each in a turn of the loop of its own: between two of them a click is heard."""

    def __init__(self) -> None:
        super().__init__()
        #: what a painting shall show, paintings, all else
        self._waiting: tuple[deque[Callable[[], object]], ...] = (deque(), deque(), deque())
        self._due = 0.0  #: processor time of this thread when the next one became due
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._make_next)

    def soon(self, call: Callable[[], object]) -> None:
        """Make a call before anything is painted: it goes on with what was begun in this turn."""
        self._wait(0, call)

    def paint(self, call: Callable[[], object]) -> None:
        """Make a call that paints."""
        self._wait(1, call)

    def later(self, call: Callable[[], object]) -> None:
        """Make a call once all before it is painted."""
        self._wait(2, call)

    def _wait(self, rank: int, call: Callable[[], object]) -> None:
        self._waiting[rank].append(call)
        if not self._timer.isActive():
            self._start()

    def _start(self) -> None:
        self._due = time.thread_time()
        self._timer.start()

    def _make_next(self) -> None:
        # Qt makes all that is due in one turn: where something long came before, a click comes between
        if time.thread_time() - self._due > LONG_S:
            self._due = math.inf  # only once: what is always busy must paint, too
            self._timer.start()
            return
        call = next(waiting for waiting in self._waiting if waiting).popleft()
        if any(self._waiting):
            self._start()  # now: the call may ask a person and wait for that
        try:
            call()
        finally:
            if self._timer.isActive():
                self._start()  # anew: what fell due meanwhile comes in between


_made: Turns | None = None


def turns() -> Turns:
    """Those of this process; call it in the GUI thread."""
    global _made
    if _made is None or not isValid(_made):
        _made = Turns()
    return _made
