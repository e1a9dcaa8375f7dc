"""A loop in a thread of its own that comes and goes with the leadership of its process."""

from __future__ import annotations

import threading
from collections.abc import Callable

LEAVE_S = 30.0


class DutyThread:
    """Runs ``run(stop)`` until `stop` is set. Each start has a `stop` of its own: a thread that hangs in a frozen
    broker from the lead before must still find its end when the process leads again.
    """

    def __init__(self, run: Callable[[threading.Event], None], name: str, *, leave_s: float = LEAVE_S) -> None:
        self._run, self._name, self._leave_s = run, name, leave_s
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether the newest run shall end."""
        return self._stop.is_set()

    def start(self) -> None:
        """Begin."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._stop,), name=self._name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end and wait for that, though not for ever."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(self._leave_s)
            self._thread = None
