"""A loop in a thread of its own that comes and goes with the leadership of its process."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from services.domain.errors import ConsoleError
from services.ports import Clock

log = logging.getLogger(__name__)

LEAVE_S = 30.0


def together(calls: Iterable[Callable[[], object]], seconds: float) -> None:
    """Make calls that wait for something, all at once, and wait so long for all of them; what takes longer goes on by
    itself. One that fails is logged: what it asks may be closed by then.
    """
    threads = [threading.Thread(target=_logged, args=(call,), name="together", daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))


def _logged(call: Callable[[], object]) -> None:
    try:
        call()
    except ConsoleError as exc:
        log.warning("at the end of a duty: %s", exc)
    except Exception:
        log.exception("at the end of a duty")


class Seldom:
    """Tells whether it is time again: what is called every second looks only so often. The first time is at once."""

    def __init__(self, clock: Clock, every_s: float) -> None:
        self._clock, self._every_s, self._last = clock, every_s, float("-inf")

    def due(self) -> bool:
        """Whether so long has passed since this was true last; whoever asks then looks, and waits as long if that
        fails.
        """
        now = self._clock.monotonic()
        if now - self._last < self._every_s:
            return False
        self._last = now
        return True


class DutyThread:
    """Runs ``run(stop)`` until `stop` is set. Each start has a `stop` of its own: a thread that hangs in a frozen
    broker from the lead before must still find its end when the process leads again.
    """

    def __init__(self, run: Callable[[threading.Event], None], name: str, *, leave_s: float = LEAVE_S) -> None:
        self._run, self._name, self._leave_s = run, name, leave_s
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._turn = threading.Lock()  #: who closes stops what another thread may just begin, or stop as well

    @property
    def stopped(self) -> bool:
        """Whether the newest run shall end."""
        return self._stop.is_set()

    def start(self) -> None:
        with self._turn:
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(self._stop,), name=self._name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ask it to end and wait for that, though not for ever."""
        with self._turn:
            self._stop.set()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(self._leave_s)


class OnDuty:
    """What is done by a thread, ``_duty``: while its process leads, or as long as that is there."""

    _duty: DutyThread

    def start(self) -> None:
        self._duty.start()

    def stop(self) -> None:
        """End after the present round or batch."""
        self._duty.stop()


class Rounds(DutyThread):
    """Calls ``tick`` every so many seconds. A round that fails is logged: the next may go well, and nobody else does
    the work while this process leads.
    """

    def __init__(
        self,
        tick: Callable[[], object],
        every_s: float,
        clock: Clock,
        name: str,
        *,
        log: logging.Logger,
        waits: str,
        begin: Callable[[], None] = lambda: None,
        leave_s: float = LEAVE_S,
    ) -> None:
        """``waits``: what the log says of a round that failed; ``begin``: done before the first of each lead."""
        super().__init__(self.run, name, leave_s=leave_s)
        self._tick, self._every_s, self._clock = tick, every_s, clock
        self._log, self._waits, self._begin = log, waits, begin

    def run(self, stop: threading.Event) -> None:
        """Round after round until ``stop`` is set; a duty that begins when it must end already does nothing."""
        log = self._log
        if stop.is_set():
            return
        self._begin()
        while True:
            try:
                self._tick()
            except ConsoleError as exc:
                if stop.is_set():
                    return  # nobody waited for this round: what it asks may be closed by now
                log.warning("%s: %s", self._waits, exc)
            except Exception:
                log.exception("%s", self._waits)
            if self._clock.wait(stop, self._every_s):
                return
