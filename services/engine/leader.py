"""Who reconciles: one leader by lease; the others wait for theirs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from services.domain.errors import ConsoleError
from services.ports import Clock, Store

log = logging.getLogger(__name__)
ROLE = "engine"
TTL_MS = 10_000
RENEW_S = 3.0


class Leader:
    """Runs ``tick`` every ``tick_s`` seconds while this process leads; ``lead`` and ``follow`` mark the changes.

    The lease is renewed in a thread of its own: a tick that waits for a frozen broker must not cost the leadership.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        holder: str,
        *,
        tick: Callable[[], None],
        lead: Callable[[], None] = lambda: None,
        follow: Callable[[], None] = lambda: None,
        tick_s: float = 1.0,
    ) -> None:
        self._store, self._clock, self._holder = store, clock, holder
        self._tick, self._lead, self._follow, self._tick_s = tick, lead, follow, tick_s
        self._stop = threading.Event()
        self._leading = False
        self._asked: float | None = None
        self._thread = threading.Thread(target=self._loop, name=f"{holder}-leader", daemon=True)
        self._ticker = threading.Thread(target=self._tick_on, name=f"{holder}-reconciler", daemon=True)

    def start(self) -> None:
        """Become a candidate."""
        self._thread.start()
        self._ticker.start()

    @property
    def leading(self) -> bool:
        """Whether this process leads."""
        return self._leading

    def close(self) -> None:
        """Give the lease up and leave."""
        self._stop.set()
        for thread in (self._thread, self._ticker):
            if thread.is_alive():
                thread.join(30.0)
        if self._leading:
            self._become(leading=False)
            try:
                self._store.resign(ROLE, self._holder)
            except ConsoleError as exc:
                log.warning("the leader lease runs out by itself: %s", exc)

    def _loop(self) -> None:
        while True:
            try:
                self._step()
            except ConsoleError as exc:
                log.warning("leader: %s", exc)
                self._asked = None
            if self._clock.wait(self._stop, min(self._tick_s, RENEW_S)):
                return

    def _step(self) -> None:
        now = self._clock.monotonic()
        if self._asked is not None and now - self._asked < RENEW_S:
            return
        leads = self._store.lead(ROLE, self._holder, TTL_MS)
        self._asked = now
        if leads != self._leading:
            self._become(leading=leads)

    def _tick_on(self) -> None:
        while True:
            try:
                if self._leading:
                    self._tick()
            except ConsoleError as exc:
                log.warning("reconciler: %s", exc)
            except Exception:  # the next round may go well, and nobody else reconciles while this process leads
                log.exception("reconciler")
            if self._clock.wait(self._stop, self._tick_s):
                return

    def _become(self, *, leading: bool) -> None:
        self._leading = leading
        log.info("%s %s", self._holder, "leads" if leading else "follows")
        if leading:
            self._lead()
        else:
            self._follow()
