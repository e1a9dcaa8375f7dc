"""Follows the events of the fleet for this server: wakes the streams, and times attempts for the metrics."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from services.domain.errors import ConsoleError
from services.monitor.stopwatch import Stopwatch
from services.ports import Store

log = logging.getLogger(__name__)
#: events asked for at once, seconds that a question waits for one, and those after a question that was not answered
BATCH, WAIT_S, AGAIN_S = 2000, 1.0, 2.0


class Follower:
    """A thread of its own. Streams read for themselves from where they are; this only says that there is something."""

    def __init__(self, store: Store) -> None:
        self.stopwatch = Stopwatch()
        self.leaving = threading.Event()
        self._store = store
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._follow, name="api-events", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def leave(self) -> None:
        """Tell the streams to end."""
        self.leaving.set()
        self._wake()

    def close(self) -> None:
        """Follow no more."""
        self.leave()
        self._thread.join()

    @property
    def streams(self) -> int:
        """How many listen."""
        with self._lock:
            return len(self._listeners)

    @contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """Set whenever something happened; for a coroutine."""
        listener = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._listeners.add(listener)
        try:
            yield listener[1]
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def _follow(self) -> None:
        cursor = ""
        while not self.leaving.is_set():
            try:
                batch = self._store.events(cursor, BATCH, WAIT_S)
            except ConsoleError as exc:
                log.info("events are not told: %s", exc)
                self.leaving.wait(AGAIN_S)
                continue
            cursor = batch.cursor
            if batch.gap:
                self.stopwatch.forget()
            self.stopwatch.note(batch.events)
            if batch.events or batch.gap:
                self._wake()

    def _wake(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for loop, event in listeners:
            with suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(event.set)
