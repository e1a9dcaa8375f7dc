"""What has ended long ago: records to remove, and what is left of removed ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from services.domain.task import tombstone
from services.domain.task.search.query import Page
from services.domain.task.tombstone import Tombstone
from services.store.redis import keys
from services.store.redis.reads import Reads
from services.store.redis.upkeep.walk import Place, Window, walk
from services.store.unreadable import name_of


class Forgetting(Reads):
    """The calls of ``services.ports.Store`` about it."""

    def ended(self, status: str, triage: str, before: int, limit: int, cursor: str = "") -> Page:
        """Those that were created before the instant, in that order; the records tell when they changed last."""
        names = [keys.status(status, priority, triage) for priority in keys.PRIORITIES]
        window = Window(high=str(before), descending=False, after=place_of(cursor))
        places = [place for place, _ in zip(self._each(names, window, limit), range(limit), strict=False)]
        tasks = self.get([name_of(member) for _, member in places])
        after = f"{places[-1][0]}/{name_of(places[-1][1])}" if len(places) == limit else None
        return Page(tasks=tuple(task for task in tasks if task is not None and task.updated_at <= before), next=after)

    def _each(self, names: list[str], window: Window, first: int) -> Iterator[Place]:
        for places in walk(self._link, names, window, first):
            yield from places

    def tombstones(self, task_ids: Iterable[str]) -> list[Tombstone | None]:
        """What is left of these."""
        wanted = list(task_ids)
        found = self._link.call("MGET", *(keys.TOMB + one for one in wanted)) if wanted else []
        return [
            None if stone is None else tombstone.read(task_id, name_of(stone))
            for task_id, stone in zip(wanted, found, strict=True)
        ]

    def tidy(self) -> bool:
        """Redis gives room back by itself, and tombstones go when their time is over."""
        return False


def place_of(cursor: str) -> Place | None:
    """A place as it is written in a cursor: score/name."""
    at, _, task_id = cursor.partition("/")
    return (int(at), task_id.encode()) if at else None
