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

    task_id: str
    ended_at: int
    task_type: str
    type_version: int
    payload: str
    error_kind: str
    error: str
    shop: str  #: ``platform:shop_id``


class Line(msgspec.Struct, frozen=True, gc=False):
    """What is kept of each of tens of thousands."""

    task_id: str
    created_at: int  #: UTC ms
    ended_at: int  #: UTC ms
    task_type: str
    shop: str  #: ``platform:shop_id``
    platform: str
    worker: str
    key: str  #: what names its cause, see ``key_of``
    pattern: str  #: what its error names


def line_of(task: Task, texts: dict[str, str] | None = None) -> Line:
    """What is kept of a letter; of equal names one is kept in ``texts``."""
    same = ({} if texts is None else texts).setdefault
    shop, key = task.shop, key_of(task)
    pattern = cause.pattern(task.error_kind, task.error)
    return Line(
        task.task_id,
        task.created_at,
        task.ended_at,
        same(task.task_type, task.task_type),
        same(shop, shop),
        same(task.platform, task.platform),
        same(task.worker, task.worker),
        same(key, key),
        same(pattern, pattern),
    )


def letter_of(task: Task) -> Letter:
    """What is kept of one of the newest."""
    return Letter(
        task.task_id,
        task.ended_at,
        task.task_type,
        task.type_version,
        task.payload,
        task.error_kind,
        task.error,
        task.shop,
    )


def key_of(task: Task) -> str:
    """What names the cause of a dead letter: its fingerprint, or its kind where it never was a readable task."""
    return task.fingerprint or task.error_kind or "unknown"


class Few:
    """The newest of letters that are added one by one."""

    __slots__ = ("_some",)

    def __init__(self, letters: Iterable[Letter] = ()) -> None:
        self._some = list(letters)

    def add(self, letter: Letter) -> None:
        """Keep it while it is one of the newest."""
        self._some.append(letter)
        if len(self._some) >= _GATHERED:
            self._leave_out()

    @property
    def all(self) -> list[Letter]:
        """They, newest first."""
        self._leave_out()
        return self._some

    def _leave_out(self) -> None:
        self._some = sorted(self._some, key=lambda one: -one.ended_at)[:KEPT]


class Alike:
    """Letters are added one by one and not kept: tens of thousands of records would take more than the whole window."""

    __slots__ = ("_few", "ended", "last", "patterns", "places", "platforms", "shops", "types", "work")

    def __init__(self, letters: Iterable[Task] = ()) -> None:
        self.ended = array("q")  #: when each of them died, UTC ms
        self.last = 0  #: when the newest of them died, UTC ms
        self.shops: set[str] = set()  #: ``platform:shop_id``
        self.platforms: set[str] = set()
        self.types: Counter[str] = Counter()
        self.work: set[tuple[str, str]] = set()  #: platform and type
        self.places: Counter[str] = Counter()  #: ``shop:pdd:s1``, ``platform:pdd``, ``worker:w1``
        self.patterns: Counter[str] = Counter()  #: what their errors name
        self._few = Few()
        for task in letters:
            self.add(task)

    @classmethod
    def of(cls, lines: Iterable[Line], few: Iterable[Letter]) -> Alike:
        """The same of what was kept of letters, and of the newest ``KEPT`` of them."""
        found = cls()
        found._few = Few(few)
        found._count(list(lines))
        return found

    def add(self, task: Task) -> None:
        """Count one."""
        self._count([line_of(task)])
        self._few.add(letter_of(task))

    def __len__(self) -> int:
        return len(self.ended)

    @property
    def headline(self) -> str:
        """What went wrong with the newest."""
        return classify.headline(self.newest.error)

    @property
    def few(self) -> list[Letter]:
        """The newest few, newest first."""
        return self._few.all

    @property
    def newest(self) -> Letter:
        """The one that died last; there must be one."""
        return self.few[0]

    def _count(self, lines: list[Line]) -> None:
        self.ended.extend([one.ended_at for one in lines])
        self.last = max(self.last, max((one.ended_at for one in lines), default=0))
        shops = Counter(one.shop for one in lines)
        platforms = Counter(one.platform for one in lines)
        self.shops |= shops.keys()
        self.platforms |= platforms.keys()
        self.types.update([one.task_type for one in lines])
        self.work.update({(one.platform, one.task_type) for one in lines})
        workers = Counter(one.worker for one in lines if one.worker)
        for head, found in (("shop", shops), ("platform", platforms), ("worker", workers)):
            for name, number in found.items():
                self.places[f"{head}:{name}"] += number
        self.patterns.update([one.pattern for one in lines if one.pattern])
