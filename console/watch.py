"""Something that is asked for every so often wherever a person is in the window, off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from console.main_window import MainWindow
from views.support.operation import Operation

V = TypeVar("V")


class Watch(QObject, Generic[V]):
    """Ends with the window. The window itself tells a lost store, above all pages; the next look comes by itself.

    Signals:
        looked: an answer is shown.
    """

    looked = Signal()

    def __init__(self, window: MainWindow, every_ms: int, ask: Callable[[], V], show: Callable[[V], None]) -> None:
        """``ask`` blocks; ``show`` gets its answers, in the GUI thread."""
        super().__init__(window)
        self._ask, self._show = ask, show
        self._asking = Operation(self, latest=True)
        self._timer = QTimer(self, interval=every_ms)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        window.closing.connect(self._timer.stop)

    def look(self) -> None:
        """Ask now, unless an answer is under way."""
        if not self._asking.busy:
            self._asking.start(self._ask, self._take, lambda _error: None)

    def _take(self, answer: V) -> None:
        self._show(answer)
        self.looked.emit()
