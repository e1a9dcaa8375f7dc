"""Moves shops to another home: the wish is written down first, so that a move that was broken off is finished."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec

from services.domain.change import Rehome
from services.domain.errors import ConsoleError
from services.domain.gates import home
from services.domain.task.status import Status
from services.domain.upkeep.stored import Document
from services.engine.lead.duty import Seldom
from services.engine.paged_tasks import BATCH, tasks_of
from services.engine.steps import Steps
from services.ports import Clock, Store

log = logging.getLogger(__name__)
#: kind of the documents, by shop
KIND = "move"
LOOK_S = 5.0


class Move(msgspec.Struct, frozen=True):
    """Where a shop shall be at home."""

    node: str
    by: str


DOCUMENT = Document(Move)


class Homes:
    """Every step may be repeated."""

    def __init__(self, store: Store, steps: Steps, clock: Clock) -> None:
        self._store, self._steps = store, steps
        self._seldom = Seldom(clock, LOOK_S)

    def move(self, shop: str, node: str, by: str) -> int:
        """Let a shop be at home on a node; how many tasks that waited for another one were let go."""
        self._store.put_document(KIND, shop, DOCUMENT.dump(Move(node, by)))
        return self._finish(shop, Move(node, by))

    def tick(self) -> None:
        """Finish what somebody began, about every five seconds."""
        if not self._seldom.due():
            return
        for shop, body in self._store.documents(KIND).items():
            try:
                moved = self._finish(shop, DOCUMENT.load(body))
                log.info("the move of shop %s is finished; %d tasks moved", shop, moved)
            except (ConsoleError, msgspec.MsgspecError, RecursionError) as exc:
                log.warning("shop %s is not moved yet: %s", shop, exc)

    def _finish(self, shop: str, move: Move) -> int:
        known = self._store.homes([shop]).get(shop)
        if known is None or known.node != move.node:
            self._store.put_home(shop, move.node)
        waiting = tasks_of(self._store, shop, [Status.BLOCKED])
        elsewhere = [task.task_id for task in waiting if home.node_of(task.gate) not in ("", move.node)]
        count = sum(
            self._let_go(elsewhere[start : start + BATCH], move.by) for start in range(0, len(elsewhere), BATCH)
        )
        self._store.remove_document(KIND, shop)
        return count

    def _let_go(self, task_ids: Sequence[str], by: str) -> int:
        answers = self._steps.apply([Rehome(task_id=task_id, by=by) for task_id in task_ids])
        return sum(answer.code == "ok" for answer in answers)
