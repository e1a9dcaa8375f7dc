"""The past as it went on: a minute each second, up to the first change."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from services.monitor.past.queries import PastNow

STEP_MS = 60_000
EVERY_MS = 1000


class Player(QObject):
    """Says which moment comes next; one that is not answered yet is waited for, so that no change is passed over.

    Signals:
        moved: the moment to show next, UTC ms.
        turned: it began or ended.
    """

    moved = Signal(object)
    turned = Signal()

    def __init__(self, shown: Callable[[], PastNow | None], now_ms: Callable[[], int], parent: QObject) -> None:
        """``shown``: what is known of the moment that is seen, None before it is answered."""
        super().__init__(parent)
        self._shown, self._now_ms = shown, now_ms
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self._step)

    @property
    def plays(self) -> bool:
        """Whether it goes on."""
        return self._timer.isActive()

    def toggle(self) -> None:
        """Begin or end."""
        if self.plays:
            self.stop()
            return
        self._timer.start()
        self.turned.emit()
        self._step()

    def stop(self) -> None:
        """Stay at this moment."""
        if self.plays:
            self._timer.stop()
            self.turned.emit()

    def _step(self) -> None:
        found = self._shown()
        if found is None:
            return
        wanted, end = found.asked_ms + STEP_MS, self._now_ms()
        if 0 < found.after_ms <= wanted:
            wanted = end = found.after_ms
        self.moved.emit(min(wanted, end))
        if wanted >= end:
            self.stop()
