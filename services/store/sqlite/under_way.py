"""Of a shop's tasks that a message is under way for, how many are how urgent."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection

from services.domain.task.record import Task
from services.domain.task.status import UNDER_WAY
from services.store.sqlite import write

_BY_PRIORITY = f"""SELECT platform, shop_id, priority, count(*) FROM tasks INDEXED BY tasks_under_way
    WHERE shop_id {write.IN_LIST} AND status IN ('pending', 'queued') GROUP BY 1, 2, 3"""


class UnderWay:
    """Read when somebody asks, then kept up to date; ``before_reading`` writes down what has changed so far."""

    def __init__(self, conn: sqlite3.Connection, before_reading: Callable[[], None]) -> None:
        self._conn, self._before_reading = conn, before_reading
        self._known: dict[str, Counter[int]] = {}

    def count(self, shop: str, priority: int, others: Collection[str]) -> int:
        """Those of a shop that are at least so urgent. ``others``: shops to be asked about in one go."""
        if shop not in self._known:
            self._read({shop, *others} - self._known.keys())
        return sum(n for urgency, n in self._known[shop].items() if urgency >= priority)

    def _read(self, wanted: Collection[str]) -> None:
        self._before_reading()
        self._known.update({shop: Counter() for shop in wanted})
        names = write.text_list({shop.partition(":")[2] for shop in wanted})
        for platform, shop_id, priority, n in self._conn.execute(_BY_PRIORITY, (names,)):
            if (shop := f"{platform}:{shop_id}") in wanted:
                self._known[shop][priority] = n

    def follow(self, old: Task | None, task: Task) -> None:
        """Count what a change does to a shop that somebody has asked about."""
        known = self._known.get(task.shop)
        if known is None:
            return
        if old is not None and old.status in UNDER_WAY:
            known[old.priority] -= 1
        if task.status in UNDER_WAY:
            known[task.priority] += 1
