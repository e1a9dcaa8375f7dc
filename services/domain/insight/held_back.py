"""What would hold a new task back now, asked of the list of gates once for a shop and a type: for previews of many."""

from __future__ import annotations

from collections.abc import Sequence

from services.domain.fleet.shop import Pause
from services.domain.gates import standing
from services.domain.gates.ability import Supply
from services.domain.gates.breaker import Breaker
from services.domain.gates.session import ClosedSession
from services.domain.insight import wait
from services.domain.insight.wait import Facts, GateView
from services.domain.task.record import Task

#: whether anybody can run it is another question
_SOMEBODY = Supply(serving=1, able=1)


class HeldBack:
    """Of the gates that are closed for a whole scope; a busy shop, a limit or a lane is no reason against sending."""

    def __init__(
        self, now_ms: int, switches: Sequence[Pause], sessions: Sequence[ClosedSession], breakers: Sequence[Breaker]
    ) -> None:
        self._now, self._switches = now_ms, tuple(switches)
        self._sessions = {one.shop: one for one in sessions}
        self._breakers = {one.shop: one for one in breakers}
        self._known: dict[tuple[str, str], GateView | None] = {}

    def at(self, shop: str, task_type: str) -> GateView | None:
        """The first that is closed for tasks of this type in this shop (``platform:shop_id``), None for none."""
        key = (shop, task_type)
        if key not in self._known:
            self._known[key] = self._look(shop, task_type)
        return self._known[key]

    def _look(self, shop: str, task_type: str) -> GateView | None:
        platform, _, shop_id = shop.partition(":")
        task = Task(task_id="", shop_id=shop_id, platform=platform, task_type=task_type)
        facts = Facts(
            now_ms=self._now,
            pauses=self._switches,
            session=self._sessions.get(shop),
            breaker=self._breakers.get(shop),
            supply=_SOMEBODY,
        )
        gate = wait.closed(wait.why_waiting(task, facts))
        return gate if gate is not None and gate.name in standing.GATES else None
