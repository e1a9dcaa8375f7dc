"""Reads the notices of what other programs send while this process leads, or while nobody does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from services.domain.errors import ConsoleError
from services.engine.lead.duty import DutyThread
from services.engine.notices import Notices
from services.ports import Clock, Consumer

log = logging.getLogger(__name__)
TAKE_S, AWAY_S, PAUSE_S = 0.5, 1.0, 2.0


class NoticeReader:
    """A thread of its own; ``wanted`` tells whether it is this process's turn."""

    def __init__(self, notices: Notices, clock: Clock, name: str, wanted: Callable[[], bool] = lambda: True) -> None:
        """``wanted`` may raise what a silent store raises."""
        self._notices, self._clock, self._wanted = notices, clock, wanted
        self._duty = DutyThread(self._loop, f"{name}-notices")

    def start(self) -> None:
        """Begin to read."""
        self._duty.start()

    def stop(self) -> None:
        """Stop after the present batch."""
        self._duty.stop()

    def _loop(self, stop: threading.Event) -> None:
        consumer: Consumer | None = None
        try:
            while not stop.is_set():
                try:
                    wanted = self._wanted()
                    if wanted and consumer is None:
                        consumer = self._notices.consumer()
                    if not wanted and consumer is not None:
                        consumer.close()
                        consumer = None
                    if consumer is None:
                        self._clock.wait(stop, AWAY_S)
                    else:
                        self._notices.round(consumer, TAKE_S)
                except ConsoleError as exc:
                    log.warning("messages of other programs are recorded later: %s", exc)
                    self._clock.wait(stop, PAUSE_S)
                except Exception:  # whatever one batch does to us, the lanes have its messages
                    log.exception("messages of other programs are recorded later")
                    self._clock.wait(stop, PAUSE_S)
        finally:
            if consumer is not None:
                consumer.close()
