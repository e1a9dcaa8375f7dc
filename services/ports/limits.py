"""Limits of platforms and task types, and the breakers and sessions of shops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from services.domain.gates.breaker import Breaker
from services.domain.gates.closed import Closed
from services.domain.gates.limit import Limit, LimitNow
from services.domain.gates.session import ClosedSession, Login


class Limits(Protocol):
    """What many shops share: slots and starts a minute."""

    def put_limit(self, limit: Limit) -> None:
        """Set the limit of a scope, or take it away. Who waits there is released by ``OpenLimit``."""

    def limits(self) -> list[LimitNow]:
        """All limits with their numbers, by scope."""

    def recount_limits(self) -> None:
        """Count the running tasks of every limit anew from the records' counters."""

    def waiting_limits(self) -> list[str]:
        """Scopes at whose limit somebody waits, also where the limit was taken away meanwhile."""

    def breakers(self) -> list[Breaker]:
        """The breakers of shops that are open, by shop."""

    def sessions(self) -> list[ClosedSession]:
        """Shops whose session gate is closed, and what closed it, by shop."""

    def logins(self) -> Mapping[str, Login]:
        """When and by whom each shop was logged in last (``OpenSession``), by shop."""

    def successes(self) -> Mapping[str, int]:
        """The instant (UTC ms) at which a task of each shop succeeded last, by shop; those where it is known."""

    def successes_of(self, task_type: str) -> Mapping[str, int]:
        """The end (UTC ms) of the last success of a type in each shop, whatever its payload; those where it is known,
        also when the record is gone.
        """

    def closed(self, begun: int = 0) -> Closed:
        """All that closes gates, in one question. ``begun``: so many of the tasks that run, and of those that are
        held, about the newest where there are more, are looked at for their uniqueness keys.
        """

    def promised(self) -> int:
        """Released tasks whose slot is kept for them and that have not started yet, of all shops."""
