"""Calls limited in time: a throttle keeps a pace, a debounce waits for quiet."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


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
