"""Whether this process can do what a leader does: it reaches the broker, and its disk takes what it writes."""

from __future__ import annotations

from collections.abc import Callable

from services.domain.errors import ConsoleError
from services.ports import Broker, Clock

#: between two tries of what went well the last time
AGAIN_S = 10.0


class Fitness:
    """Asked with every round; what went wrong is tried each time until it goes well. The store is asked by the lease
    itself.
    """

    def __init__(self, broker: Broker, clock: Clock, disk: Callable[[], str] = lambda: "") -> None:
        """``disk``: writes something and says why that failed, "" where it did not."""
        self._broker, self._clock, self._disk = broker, clock, disk
        self._tried_at = float("-inf")

    def look(self) -> str:
        """Why nothing can be done from here now, "" where all is well. May wait as long as a broker is waited for."""
        now = self._clock.monotonic()
        if now - self._tried_at < AGAIN_S and self._broker.health().connected:
            return ""
        why = self._try()
        self._tried_at = float("-inf") if why else now
        return why

    def doubt(self) -> None:
        """Something failed: try it with the next look."""
        self._tried_at = float("-inf")

    def _try(self) -> str:
        try:
            self._broker.depths()
        except ConsoleError as exc:
            return str(exc)
        return self._disk()
