"""How this process keeps its memory: cycles are collected in the GUI thread alone, and threads share what they free."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress

from PySide6.QtCore import QObject, QTimer

COLLECT_MS = 250
#: and this often where nothing was due the last time: at rest each look wakes a processor for nothing
COLLECT_REST_MS = 1000
#: glibc's name for how many arenas there may be, and so many there are
_M_ARENA_MAX, ARENAS = -8, 2


def few_arenas() -> None:
    """Let the threads of this process share what they give back, where glibc would keep it for each of them apart: a
    dozen threads that read pages of records in turns leave much of it unused. Elsewhere nothing.
    """
    if sys.platform != "linux":
        return
    import ctypes  # other systems start without it

    with suppress(AttributeError, OSError):  # another library of C
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)


class GuiCollector(QObject):
    """Collects Python's cycles in the GUI thread only: takes collection over at once; ``stop`` gives it back.

    The cyclic collector runs in whichever thread happens to allocate. When that is a worker thread, widgets that hang
    in a cycle are destroyed there, and Qt crashes at some later painting. So automatic collection is off while the
    console runs, and a timer of the GUI thread does the same work at the same thresholds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._thresholds = gc.get_threshold()
        self._settled = False
        self._passed = 0  #: turns of the middle generation that Python's counts know no more
        self._early = 0  #: and those they know of that were none of its turns
        if gc.isenabled():
            gc.collect()  # else nothing was collected yet, and there is but what was loaded
        # what was loaded until now lives as long as the program; not looking at it again keeps full collections short
        gc.freeze()
        gc.disable()
        self._timer = QTimer(self, interval=COLLECT_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        """Collect the oldest generation that is due. When a full collection is due for the first time, half a minute
        after the start, what is alive is the window with its pages: to go through that would hold it up for 50 ms, so
        it is put aside instead. Only once: it sets Python's counts to 0, so that no full collection would fall due.
        """
        young, middle, _old = gc.get_count()
        due = self._due()
        pace = COLLECT_REST_MS if due is None else COLLECT_MS
        if pace != self._timer.interval():
            self._timer.setInterval(pace)
        if due is None:
            return
        if due == 0 and young > self._thresholds[0] * self._thresholds[1]:
            # as many as Python itself would wait for: by its turns alone a dozen pages would be looked through at once
            gc.collect(1)
            self._passed, self._early = self._passed + middle + 1, self._early + 1
            return
        settles = due == 2 and not self._settled
        gc.collect(1 if settles else due)
        if settles:
            self._settled = True
            gc.freeze()
        self._passed = 0 if due else self._passed
        self._early = 0 if due == 2 else self._early

    def _due(self) -> int | None:
        """The oldest generation whose turn it is."""
        young, middle, old = gc.get_count()
        counts = (young, middle + self._passed, old - self._early)
        return next((place for place in (2, 1, 0) if counts[place] > self._thresholds[place]), None)

    def stop(self) -> None:
        """Leave collection to Python again."""
        self._timer.stop()
        gc.enable()
        gc.unfreeze()
