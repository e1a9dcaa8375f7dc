"""Reads what other programs send, their notices or a queue of their own, while this process leads or nobody does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from services.domain.errors import ConsoleError
from services.engine.lead.duty import DutyThread, OnDuty
from services.ports import Clock, Consumer

log = logging.getLogger(__name__)
TAKE_S, AWAY_S, PAUSE_S = 1.0, 1.0, 2.0
#: how long who stops waits for a question to a broker that does not answer; what was not recorded is still there
LEAVE_S = 2.0


class Source(Protocol):
    """Where it comes from, and what is done with a batch."""

    def consumer(self) -> Consumer | None:
        """None where there is nothing to be read."""

    def round(self, consumer: Consumer, wait_s: float) -> int:
        """Take up a batch; raises a ConsoleError where it went back."""


class NoticeReader(OnDuty):
    """A thread of its own; ``wanted`` tells whether it is this process's turn."""

    def __init__(
        self,
        notices: Source,
        clock: Clock,
        name: str,
        wanted: Callable[[], bool] = lambda: True,
        *,
        beside: Callable[[], None] = lambda: None,
    ) -> None:
        """``wanted`` may raise what a silent store raises. ``beside``: what is done when there was nothing to read."""
        self._notices, self._clock, self._wanted, self._beside = notices, clock, wanted, beside
        self._duty = DutyThread(self._loop, f"{name}-notices", leave_s=LEAVE_S)

    def _loop(self, stop: threading.Event) -> None:
        consumers: list[Consumer] = []
        failed = False
        try:
            while not stop.is_set():
                try:
                    self._turn(stop, consumers)
                    failed = False
                except ConsoleError as exc:
                    if not failed:
                        log.warning("messages of other programs are recorded later: %s", exc)
                    failed = True
                    self._clock.wait(stop, PAUSE_S)
                except Exception:  # whatever one batch does to us, the lanes have its messages
                    log.exception("messages of other programs are recorded later")
                    self._clock.wait(stop, PAUSE_S)
        finally:
            _close(consumers)

    def _turn(self, stop: threading.Event, consumers: list[Consumer]) -> None:
        """Read one batch, or leave it to whoever leads; ``held``: the consumer, while there is one."""
        wanted = self._wanted()
        if wanted and not consumers and (fresh := self._notices.consumer()) is not None:
            consumers.append(fresh)
        if not wanted:
            _close(consumers)
        if consumers:
            read = self._notices.round(consumers[0], TAKE_S)
        else:
            read = 0
            self._clock.wait(stop, AWAY_S)
        if wanted and not read:
            self._beside()


def _close(consumers: list[Consumer]) -> None:
    while consumers:
        consumers.pop().close()
