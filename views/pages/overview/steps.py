"""Work for the GUI thread in small pieces, with room for a frame between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QTimer

PAUSE_MS = 16


class Steps(QObject):
    """Runs calls one after the other; a newer list takes the place of what is left of the last one.

    Lists are of one kind: what was left, the newer list does first. On a machine so busy that each list is overtaken by
    the next, its end would never be reached otherwise, and the charts would stand still below numbers that move.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left: deque[tuple[int, Callable[[], None]]] = deque()
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self._next)

    def run(self, calls: Iterable[Callable[[], None]]) -> None:
        """Run the first call now and the others a moment apart."""
        first = self._left[0][0] if self._left else 0
        self._left = deque(enumerate(calls))
        self._left.rotate(-first)
        self._next()

    def finish(self) -> None:
        """Run what is left at once."""
        while self._left:
            self._next()

    def stop(self) -> None:
        """Forget what is left."""
        self._left.clear()
        self._timer.stop()

    def _next(self) -> None:
        if self._left:
            self._left.popleft()[1]()
        if self._left:
            self._timer.start()
