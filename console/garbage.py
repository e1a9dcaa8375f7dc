"""Collects Python's cycles in the GUI thread only.

The cyclic collector runs in whichever thread happens to allocate. When that is a worker thread, widgets that hang in a
cycle are destroyed there, and Qt crashes at some later painting. So automatic collection is off while the console runs,
and a timer of the GUI thread does the same work at the same thresholds.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 250


class GuiCollector(QObject):
    """Takes collection over at once; ``stop`` gives it back."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        self._settled = False
        gc.collect()
        # what was loaded until now lives as long as the program; not looking at it again keeps full collections short
        gc.freeze()
        gc.disable()
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        """Collect the oldest generation that is due; what is alive after the first full collection, half a minute after
        the start, is the window with all its pages: to go through that each time would hold it up for 50 ms.
        """
        counts = gc.get_count()
        due = [place for place in (0, 1, 2) if counts[place] > self._thresholds[place]]
        if due:
            gc.collect(due[-1])
        if due[-1:] == [2] and not self._settled:
            self._settled = True
            gc.freeze()

    def stop(self) -> None:
        """Leave collection to Python again."""
        self._timer.stop()
        gc.enable()
        gc.unfreeze()
