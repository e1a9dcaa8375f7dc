"""What is kept of dead letters of one cause while all of them are read: numbers, and the few that are looked at."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable

import msgspec

from services.domain.insight import cause
from services.domain.task import classify
from services.domain.task.record import Task

#: letters of which more is kept, the newest
KEPT = 8
#: so many are gathered before the older ones of them are left out
_GATHERED = 2 * KEPT


class Letter(msgspec.Struct, frozen=True, gc=False):
    """What is kept of one of the newest."""

    ended_at: int
    task_type: str
    type_version: int
    payload: str
    error_kind: str


class Alike:
    """Letters are added one by one and not kept: tens of thousands of records would take more than the whole window."""

    __slots__ = ("_error", "_some", "ended", "last", "patterns", "places", "platforms", "shops", "types", "work")

    def __init__(self, letters: Iterable[Task] = ()) -> None:
        self.ended = array("q")  #: when each of them died, UTC ms
        self.last = 0  #: when the newest of them died, UTC ms
        self.shops: set[str] = set()  #: ``platform:shop_id``
        self.platforms: set[str] = set()
        self.types: Counter[str] = Counter()
        self.work: set[tuple[str, str]] = set()  #: platform and type
        self.places: Counter[str] = Counter()  #: ``shop:pdd:s1``, ``platform:pdd``, ``worker:w1``
        self.patterns: Counter[str] = Counter()  #: what their errors name
        self._some: list[Letter] = []
        self._error = ""
        for task in letters:
            self.add(task)

    def add(self, task: Task) -> None:
        """Count one."""
        shop = task.shop
        self.ended.append(task.ended_at)
        if task.ended_at > self.last or len(self.ended) == 1:
            self.last, self._error = task.ended_at, task.error
        self.shops.add(shop)
        self.platforms.add(task.platform)
        self.types[task.task_type] += 1
        self.work.add((task.platform, task.task_type))
        self.places[f"shop:{shop}"] += 1
        self.places[f"platform:{task.platform}"] += 1
        if task.worker:
            self.places[f"worker:{task.worker}"] += 1
        if named := cause.pattern(task.error_kind, task.error):
            self.patterns[named] += 1
        self._some.append(Letter(task.ended_at, task.task_type, task.type_version, task.payload, task.error_kind))
        if len(self._some) == _GATHERED:
            self._leave_out()

    def __len__(self) -> int:
        return len(self.ended)

    @property
    def headline(self) -> str:
        """What went wrong with the newest."""
        return classify.headline(self._error)

    @property
    def few(self) -> list[Letter]:
        """The newest few, newest first."""
        self._leave_out()
        return self._some

    @property
    def newest(self) -> Letter:
        """The one that died last; there must be one."""
        return self.few[0]

    def _leave_out(self) -> None:
        self._some = sorted(self._some, key=lambda one: -one.ended_at)[:KEPT]
