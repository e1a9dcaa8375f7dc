"""Who reconciles: one leader by lease; the others wait for theirs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from services.domain.errors import BrokerUnavailable, ConsoleError, StoreUnavailable
from services.engine.lead.duty import LEAVE_S, together
from services.engine.lead.fitness import Fitness
from services.ports import Clock, Store

log = logging.getLogger(__name__)
ROLE = "engine"
TTL_MS = 10_000
RENEW_S = 3.0
#: rounds that must fail one after the other, and for how long at least, before the lead is given up; for how long is
#: enough however few they were
FAILURES, LEAST_S, ENOUGH_S = 3, 4.0, 15.0
#: who gave the lead up stands again after so long, twice as long each time; he who led well for a while starts anew
PAUSE_S, LONGEST_PAUSE_S, STEADY_S = 5.0, 60.0, 60.0


class Leader:
    """Runs ``tick`` every ``tick_s`` seconds while this process leads; ``lead`` and ``follow`` mark the changes.

    The lease is renewed in a thread of its own: a tick that waits for a frozen broker must not cost the leadership.
    Who cannot do what a leader does gives the lead up after a few rounds, and does not stand again until he can.
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
        fitness: Fitness | None = None,
        told: Callable[[str], None] = lambda _why: None,
        tick_s: float = 1.0,
    ) -> None:
        """``told`` hears why this process gives the lead up, while it still has it."""
        self._store, self._clock, self._holder = store, clock, holder
        self._tick, self._lead, self._follow, self._tick_s = tick, lead, follow, tick_s
        self._fitness, self._told = fitness, told
        self._stop = threading.Event()
        self._leading = False
        self._asked: float | None = None
        self._held_at = self._failed_at = 0.0  #: when the lease was renewed last; when the first of the rounds failed
        self._failures = 0  #: rounds that failed one after the other
        self._unfit = ""  #: why the lead is to be given up
        self._stays = ""  #: why it did not stand the last time
        self._stands_at = float("-inf")  #: not before this does it stand again
        self._pause = PAUSE_S
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

    def ask(self) -> None:
        """Ask the round under way to be the last; the lease stays until ``close``."""
        self._stop.set()

    def close(self, grace_s: float = LEAVE_S) -> None:
        """Give the lease up and leave; the round under way gets so long to end."""
        self.ask()
        together([thread.join for thread in (self._thread, self._ticker) if thread.is_alive()], grace_s)
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
                self._lose()
            if self._clock.wait(self._stop, min(self._tick_s, RENEW_S)):
                return

    def _step(self) -> None:
        if self._leading and self._unfit:
            self._resign()
        now = self._clock.monotonic()
        if self._asked is not None and now - self._asked < RENEW_S:
            return
        if not self._leading and not self._may_stand(now):
            self._asked = now
            return
        leads = self._store.lead(ROLE, self._holder, TTL_MS)
        self._asked = self._held_at = self._clock.monotonic()
        if self._stop.is_set() and not self._leading:
            if leads:  # the answer came late: whoever closes may be gone by now
                self._store.resign(ROLE, self._holder)
            return
        if leads != self._leading:
            self._become(leading=leads)

    def _may_stand(self, now: float) -> bool:
        """Whether the place is free, and this process could fill it."""
        if self._fitness is None:
            return True
        if now < self._stands_at or self._store.leader(ROLE) not in ("", self._holder):
            return False
        self._fitness.doubt()
        why = self._fitness.look()
        if why:
            if why != self._stays:  # said once, and not every few seconds for as long as it lasts
                log.info("%s does not stand for leader: %s", self._holder, why)
            self._stands_at = self._clock.monotonic() + PAUSE_S
        self._stays = why
        return not why

    def _resign(self) -> None:
        """Let somebody lead who can, and come back later than the others."""
        why, self._unfit, self._failures = self._unfit, "", 0
        log.warning("%s gives the lead up, for it cannot work: %s", self._holder, why)
        self._stands_at = self._clock.monotonic() + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE_S)
        try:
            self._told(why)
            self._store.resign(ROLE, self._holder)
        except ConsoleError as exc:
            log.warning("the leader lease runs out by itself: %s", exc)
        self._become(leading=False)

    def _lose(self) -> None:
        """Without the store the lease runs out, and somebody else may have it by now."""
        if self._leading and self._clock.monotonic() - self._held_at >= TTL_MS / 1000:
            self._become(leading=False)

    def _tick_on(self) -> None:
        while True:
            if self._leading:
                self._round()
            if self._clock.wait(self._stop, self._tick_s):
                return

    def _round(self) -> None:
        failed = ""
        try:
            self._tick()
        except (BrokerUnavailable, StoreUnavailable) as exc:
            log.warning("reconciler: %s", exc)
            failed = str(exc)
            if self._fitness is not None:
                self._fitness.doubt()
        except ConsoleError as exc:
            log.warning("reconciler: %s", exc)
        except Exception:  # the next round may go well, and nobody else reconciles while this process leads
            log.exception("reconciler")
        if self._fitness is not None:
            self._judge(failed or self._fitness.look())

    def _judge(self, failed: str) -> None:
        """Count the rounds that failed one after the other; a pause of a broker or a store is over sooner."""
        now = self._clock.monotonic()
        if not failed:
            if self._failures == 0 and now - self._failed_at > STEADY_S:
                self._pause = PAUSE_S
            self._failures = 0
            return
        self._failures += 1
        if self._failures == 1:
            self._failed_at = now
        lasted = now - self._failed_at
        if lasted >= ENOUGH_S or (self._failures >= FAILURES and lasted >= LEAST_S):
            self._unfit = failed

    def _become(self, *, leading: bool) -> None:
        self._leading = leading
        self._unfit, self._failures, self._failed_at = "", 0, self._clock.monotonic()
        log.info("%s %s", self._holder, "leads" if leading else "follows")
        if leading:
            self._lead()
        else:
            self._follow()
