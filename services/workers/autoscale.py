"""Changes the slots of a worker that runs with ``--slots auto``."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence

import psutil

from services.domain.errors import ConsoleError
from services.domain.fleet.autoscale import Load, Range, Scaler
from services.domain.task.order import QueueDepth
from services.ports import Broker, Clock

log = logging.getLogger(__name__)
LOOK_S = 5.0


class Autoscaler:
    """A thread that looks every five seconds while there is a range to stay within."""

    def __init__(
        self,
        broker: Broker,
        clock: Clock,
        *,
        lanes: Sequence[str],
        state: Callable[[], tuple[int, int]],
        resize: Callable[[int], None],
        stopping: threading.Event,
        name: str,
    ) -> None:
        """``state``: slots and tasks in hand."""
        self._broker, self._clock, self._state, self._resize = broker, clock, state, resize
        self._queues = frozenset(f"rpa_tasks_{lane}" for lane in lanes)
        self._stopping, self._name = stopping, name
        self._bounds: Range | None = None
        self._scaler: Scaler | None = None
        self._thread: threading.Thread | None = None

    @property
    def words(self) -> str:
        """The range to stay within, as it is written; "" for none."""
        return str(self._bounds or "")

    def within(self, bounds: Range | None) -> None:
        """Stay within these from now on; None: leave the slots alone."""
        self._bounds = bounds
        self._scaler = Scaler(bounds, os.cpu_count() or 1) if bounds is not None else None
        if bounds is not None and self._thread is None:
            psutil.cpu_percent(None)  # what the first look compares with
            self._thread = threading.Thread(target=self._loop, name=f"{self._name}-autoscale", daemon=True)
            self._thread.start()

    def look(self) -> None:
        """Look once, and change the slots where it is time."""
        scaler = self._scaler
        if scaler is None:
            return
        slots, busy = self._state()
        load = Load(
            at=self._clock.monotonic(),
            slots=slots,
            busy=busy,
            waiting=waiting(self._broker.depths(), self._queues),
            cpu=psutil.cpu_percent(None),
            memory=psutil.virtual_memory().percent,
        )
        wanted = scaler.decide(load)
        if wanted != slots:
            log.info(
                "%s: %d slots become %d (%d busy, %d waiting, processor %.0f %%, memory %.0f %%)",
                self._name, slots, wanted, busy, load.waiting, load.cpu, load.memory,
            )  # fmt: skip
            self._resize(wanted)

    def _loop(self) -> None:
        while not self._clock.wait(self._stopping, LOOK_S):
            try:
                self.look()
            except ConsoleError as exc:
                log.warning("%s: the queues cannot be seen, the slots stay as they are: %s", self._name, exc)
            except Exception:  # the next look may go well, and the slots stay as they are
                log.exception("%s", self._name)


def waiting(depths: Sequence[QueueDepth], queues: frozenset[str]) -> int:
    """Messages in the lanes that nobody holds: what waits behind a gate could not start with more slots either."""
    return sum(depth.ready for depth in depths if depth.name in queues)
