"""Walks several sorted sets as if they were one, in pages, from a place on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.store.redis_client import Link

#: score and task id: the order of a sorted set, and of the pages
Place = tuple[int, bytes]
MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which scores to walk and which way; ``after`` is the place to go on from."""

    low: str = "-inf"
    high: str = "+inf"
    descending: bool = True
    after: Place | None = None


@dataclass(slots=True)
class _Source:
    name: str
    ready: list[Place] = field(default_factory=list)
    last: Place | None = None
    ended: bool = False
    wanted: int = 0


class Walk:
    """Members of all ``names`` in one order."""

    def __init__(self, link: Link, names: Sequence[str], window: Window) -> None:
        self._link, self._window = link, window
        self._sources = [_Source(name, last=window.after) for name in names]

    def take(self, count: int) -> list[Place]:
        """At least one and about ``count`` places further on; none at the end."""
        found: list[Place] = []
        while not found:
            open_ = [source for source in self._sources if not source.ended or source.ready]
            if not open_:
                return []
            self._fill([source for source in open_ if not source.ready and not source.ended], count)
            found = self._merge()
        return found

    def _fill(self, sources: Sequence[_Source], count: int) -> None:
        commands = []
        for source in sources:
            source.wanted = min(max(source.wanted, count), MOST) if source.wanted <= MOST else source.wanted
            commands.append(self._command(source))
        for source, reply in zip(sources, self._link.many(commands), strict=True):
            places = [(int(float(score)), member) for member, score in zip(reply[::2], reply[1::2], strict=True)]
            source.ended = len(places) < source.wanted
            source.ready = [place for place in places if self._is_behind(place, source.last)]
            if source.ready:
                source.last = source.ready[-1]
            elif not source.ended:  # all of them are ties of the last place: look further
                source.wanted *= 4

    def _command(self, source: _Source) -> tuple[str | int, ...]:
        low, high = self._window.low, self._window.high
        limit = ("WITHSCORES", "LIMIT", 0, source.wanted)
        if self._window.descending:
            return ("ZREVRANGEBYSCORE", source.name, str(source.last[0]) if source.last else high, low, *limit)
        return ("ZRANGEBYSCORE", source.name, str(source.last[0]) if source.last else low, high, *limit)

    def _is_behind(self, place: Place, last: Place | None) -> bool:
        if last is None:
            return True
        return place < last if self._window.descending else place > last

    def _merge(self) -> list[Place]:
        """What is surely next: nothing that an unfinished set could still have something before."""
        open_ = [source.ready[-1] if source.ready else None for source in self._sources if not source.ended]
        if None in open_:
            return []
        edges = [edge for edge in open_ if edge is not None]
        found: list[Place] = []
        for source in self._sources:
            if not edges:
                found += source.ready
                source.ready = []
            elif source.ready:
                edge = max(edges) if self._window.descending else min(edges)
                sure = [place for place in source.ready if not self._is_behind(place, edge)]
                found += sure
                source.ready = source.ready[len(sure) :]
        return sorted(found, reverse=self._window.descending)
