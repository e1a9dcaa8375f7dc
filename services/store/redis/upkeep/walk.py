"""Walks several sorted sets as if they were one, in pages, from a place on."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from services.domain.upkeep.stored import LARGEST
from services.store.redis.client import Link

#: score and task id: the order of a sorted set, and of the pages
Place = tuple[int, bytes]
MOST = 1000
#: members of each of many sets that are fetched at first
LEAST = 8
#: members that are fetched at once where all of them are needed
ALL_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which scores to walk and which way; ``after`` is the place to go on from."""

    low: str = "-inf"
    high: str = "+inf"
    descending: bool = True
    after: Place | None = None


def behind(place: Place, other: Place | None, *, descending: bool) -> bool:
    """Whether a place comes after another one in the order."""
    if other is None:
        return True
    return place < other if descending else place > other


def by_id(link: Link, names: Sequence[str], rank: int, window: Window) -> Iterator[list[Place]]:
    """All members of the sets in the order of their ids, each at the place that ``rank`` and its id make."""
    ids = [
        member for member in _members(link, names) if behind((rank, member), window.after, descending=window.descending)
    ]
    pick = heapq.nlargest if window.descending else heapq.nsmallest
    yield [(rank, member) for member in pick(MOST, ids)]
    if len(ids) <= MOST:
        return
    ids.sort(reverse=window.descending)
    for start in range(MOST, len(ids), MOST):
        yield [(rank, member) for member in ids[start : start + MOST]]


def _members(link: Link, names: Sequence[str]) -> Iterator[bytes]:
    for name in names:
        start = 0
        while found := link.call("ZRANGE", name, start, start + ALL_AT_ONCE - 1):
            yield from found
            start += ALL_AT_ONCE
            if len(found) < ALL_AT_ONCE:
                break


@dataclass(slots=True)
class _Set:
    name: str
    ready: list[Place] = field(default_factory=list)
    last: Place | None = None
    ended: bool = False
    wanted: int = 0
    asked: int = 0


def walk(link: Link, names: Sequence[str], window: Window, first: int) -> Iterator[list[Place]]:
    """Members of all sets in the order of their scores, some ``first`` of them at first, then more at a time."""
    start = min(first if len(names) == 1 else max(LEAST, 2 * first // max(1, len(names))), MOST)
    sets = [_Set(name, last=window.after, asked=start) for name in names]
    while True:
        rest = [one for one in sets if one.ready or not one.ended]
        if not rest:
            return
        _fill(link, [one for one in rest if not one.ready and not one.ended], window)
        places = _merge(sets, window)
        if places:
            yield places


def _fill(link: Link, sets: Sequence[_Set], window: Window) -> None:
    for one in sets:
        one.wanted = max(one.wanted, one.asked)
        one.asked = min(2 * one.asked, MOST)
    for one, reply in zip(sets, link.many([_command(one, window) for one in sets]), strict=True):
        places = [(_whole(score), member) for member, score in zip(reply[::2], reply[1::2], strict=True)]
        one.ended = len(places) < one.wanted
        one.ready = [place for place in places if behind(place, one.last, descending=window.descending)]
        if one.ready:
            one.last, one.wanted = one.ready[-1], 0
        else:  # all of them are ties of the last place: look further
            one.wanted *= 4


def _whole(score: bytes) -> int:
    """A score as a number; one that is endless stands as far out as numbers are exact."""
    found = float(score)
    return int(max(-LARGEST, min(found, LARGEST)))


def _command(one: _Set, window: Window) -> tuple[str | int, ...]:
    limit = ("WITHSCORES", "LIMIT", 0, one.wanted)
    if window.descending:
        return ("ZREVRANGEBYSCORE", one.name, str(one.last[0]) if one.last else window.high, window.low, *limit)
    return ("ZRANGEBYSCORE", one.name, str(one.last[0]) if one.last else window.low, window.high, *limit)


def _merge(sets: Sequence[_Set], window: Window) -> list[Place]:
    """What is surely next: nothing that an unfinished set could still have something before."""
    unfinished = [one for one in sets if not one.ended]
    if any(not one.ready for one in unfinished):
        return []
    edges = [one.ready[-1] for one in unfinished]
    edge = None if not edges else max(edges) if window.descending else min(edges)
    found: list[Place] = []
    for one in sets:
        end = len(one.ready) if edge is None else _up_to(one.ready, edge, window)
        found += one.ready[:end]
        one.ready = one.ready[end:]
    return sorted(found, reverse=window.descending)


def _up_to(places: Sequence[Place], edge: Place, window: Window) -> int:
    """How many places, which stand in order, do not come after the edge."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if behind(places[middle], edge, descending=window.descending):
            high = middle
        else:
            low = middle + 1
    return low
