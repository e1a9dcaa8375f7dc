"""Walks several sorted sets as if they were one, in pages, from a place on."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import msgspec

from services.domain.upkeep.stored import LARGEST
from services.store.redis.client import Link
from services.store.redis.script import load

#: score and task id: the order of a sorted set, and of the pages
Place = tuple[int, bytes]
MOST = 1000
#: members that are fetched at once where all of them are needed
ALL_AT_ONCE = 10_000
_WALK = load("walk", reads=True)


class Window(msgspec.Struct, frozen=True, kw_only=True):
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
    """Of all sets, in no order, as ``walk``."""
    edge = b"-inf"
    while names and edge:
        edge, _, *found = link.run(_WALK, names, "ZRANGEBYSCORE", _beyond(edge), "+inf", "", ALL_AT_ONCE)
        for members in found:
            yield from members


def walk(link: Link, names: Sequence[str], window: Window, first: int, *, most: int = 0) -> Iterator[list[Place]]:
    """Members of all sets in the order of their scores, at least ``first`` of them at first, then more at a time, some
    ``most`` (0: ``MOST``).

    All sets are read at one instant, and at the next one again from where this one ended: a member that goes from one
    of them to another meanwhile, with its score, is met once.
    """
    after, down, most = window.after, window.descending, most or MOST
    command = "ZREVRANGEBYSCORE" if down else "ZRANGEBYSCORE"
    start, last = (window.high, window.low) if down else (window.low, window.high)
    start, met = (start, b"") if after is None else (str(after[0]), after[1])
    wanted = first
    while names:
        wanted = min(wanted, most)
        edge, tie, *replies = link.run(_WALK, names, command, start, last, met, wanted, "WITHSCORES")
        until = (_whole(edge), tie) if tie else None
        places = [
            place
            for reply in replies
            for member, score in zip(reply[::2], reply[1::2], strict=True)
            if behind(place := (_whole(score), member), after, descending=down)
            and (until is None or not behind(place, until, descending=down))
        ]
        if places:
            yield sorted(places, reverse=down)
        if not edge:
            return
        start, met, after = (edge.decode(), tie, until) if tie else (_beyond(edge), b"", after)
        wanted *= 2


def _beyond(edge: bytes) -> str:
    return edge.decode() if edge == b"-inf" else f"({edge.decode()}"


def _whole(score: bytes) -> int:
    """A score as a number; one that is endless stands as far out as numbers are exact."""
    found = float(score)
    return int(max(-LARGEST, min(found, LARGEST)))
