"""The line before the slots played through, task by task, as engine and workers serve it: when each of those that wait,
or are planned, has run. Pure: the same facts always give the same courses.

Who reaches the head of its lane while its shop is busy stands aside, and joins the end of the lane when its shop has
room again. That is why work of a slow shop comes much later than the length of its lane says, and other work earlier.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs

#: courses that are played through; fewer of a long line, so that a look stays short
MOST_DRAWS, LEAST_DRAWS, STEPS = 20, 4, 8_000
#: so far it is played through: what has not run then is expected at the end of it
FAR_S = 3 * 3600.0
SEED = 20261126
_LEAST_S = 0.05
#: what runs longer than any before lasts at most so many times what it ran
_MOST_LONGER = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A slot. ``lanes``: those that it takes, the one that goes first in front; ``lasts``: of what runs there, None for
    nothing.
    """

    lanes: tuple[str, ...]
    lasts: Runs | None = None
    ran_s: float = 0.0
    progress: int = -1
    task_type: str = ""
    shop: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """A task that waits, or one that will be created. Those of one ``name`` are one question."""

    name: Hashable
    task_type: str
    shop: str
    lane: str
    lasts: Runs
    enters_s: float = 0.0  #: seconds from now, 0: it stands in line, in the order given
    aside: bool = False  #: it waits until its shop has room
    once: bool = False  #: nobody creates it while the shop has another of its type


@dataclass(frozen=True, slots=True)
class Ends:
    """Seconds from now: eight of ten courses end between ``low_s`` and ``high_s``, half of them before ``mid_s``."""

    low_s: float
    mid_s: float
    high_s: float


def play(places: Sequence[Place], waiters: Sequence[Waiter], rooms: Mapping[str, int]) -> dict[Hashable, Ends]:
    """When each of them has run. ``rooms``: what a shop runs at a time, 1 where it says nothing."""
    if not places:
        return {}
    draws = max(LEAST_DRAWS, min(MOST_DRAWS, STEPS // max(1, len(waiters))))
    found: dict[Hashable, list[float]] = {one.name: [] for one in waiters}
    for number in range(draws):
        ended = _Course(random.Random(SEED + number), places, waiters, rooms).run()
        for name, ends in found.items():
            ends.append(ended.get(name, FAR_S))
    return {name: _ends(sorted(ends)) for name, ends in found.items()}


def _ends(ends: Sequence[float]) -> Ends:
    last = len(ends) - 1
    low, mid, high = (ends[round(share * last)] for share in (0.1, 0.5, 0.9))
    return Ends(low, mid, high)


_END, _ENTER = 0, 1


@dataclass(slots=True)
class _Course:
    """One course of it."""

    chance: random.Random
    places: Sequence[Place]
    waiters: Sequence[Waiter]
    rooms: Mapping[str, int]
    now: float = 0.0
    events: list[tuple[float, int, int, int, int]] = field(default_factory=list)  #: at, number, what, waiter, place
    lines: dict[str, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    aside: dict[str, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    busy: Counter[str] = field(default_factory=Counter)
    there: Counter[tuple[str, str]] = field(default_factory=Counter)
    free: list[int] = field(default_factory=list)
    standing: int = 0  #: in all lines
    tilts: dict[int, float] = field(default_factory=dict)  #: by the identity of what lasts
    ended: dict[Hashable, float] = field(default_factory=dict)

    def run(self) -> dict[Hashable, float]:
        """When each has run, by name."""
        self._begin()
        while self.events and self.now < FAR_S:
            self.now, _, what, waiter, place = heapq.heappop(self.events)
            if what == _ENTER:
                self._enter(waiter)
                self._serve()
            else:
                self._end(waiter, place)
        return self.ended

    def _begin(self) -> None:
        for number, place in enumerate(self.places):
            if place.lasts is None:
                self.free.append(number)
                continue
            self.busy[place.shop] += 1
            self.there[place.task_type, place.shop] += 1
            self._push(self._left(place.lasts, place), _END, -1, number)
        for number, one in enumerate(self.waiters):
            if one.enters_s > 0:
                self._push(one.enters_s, _ENTER, number, -1)
                continue
            self.there[one.task_type, one.shop] += 1
            if one.aside:
                self.aside[one.shop].append(number)
            else:
                self._stand(number)
        for shop in list(self.aside):
            for _ in range(self._room(shop)):
                self._let_in(shop)
        self._serve()

    def _push(self, at: float, what: int, waiter: int, place: int) -> None:
        heapq.heappush(self.events, (at, len(self.events), what, waiter, place))

    def _room(self, shop: str) -> int:
        return max(0, self.rooms.get(shop, 1) - self.busy[shop])

    def _enter(self, number: int) -> None:
        one = self.waiters[number]
        if one.once and self.there[one.task_type, one.shop]:
            return
        self.there[one.task_type, one.shop] += 1
        self._stand(number)

    def _stand(self, number: int) -> None:
        self.lines[self.waiters[number].lane].append(number)
        self.standing += 1

    def _end(self, number: int, place: int) -> None:
        slot = self.places[place]
        one = self.waiters[number] if number >= 0 else None
        shop, task_type = (one.shop, one.task_type) if one is not None else (slot.shop, slot.task_type)
        if one is not None:
            self.ended.setdefault(one.name, self.now)
        self.busy[shop] -= 1
        self.there[task_type, shop] -= 1
        self.free.append(place)
        self._let_in(shop)
        self._serve()

    def _let_in(self, shop: str) -> None:
        if waits := self.aside.get(shop):
            self._stand(waits.popleft())

    def _serve(self) -> None:
        kept = []
        while self.free and self.standing:
            place = self.free.pop()
            number = self._next(place)
            if number is None:
                kept.append(place)
                continue
            one = self.waiters[number]
            self.busy[one.shop] += 1
            self._push(self.now + self._lasts(one.lasts), _END, number, place)
        self.free += kept

    def _next(self, place: int) -> int | None:
        """Who goes next there; those whose shop is busy stand aside."""
        for lane in self.places[place].lanes:
            line = self.lines[lane]
            while line:
                number = line.popleft()
                self.standing -= 1
                one = self.waiters[number]
                if self._room(one.shop):
                    return number
                self.aside[one.shop].append(number)
        return None

    def _left(self, lasts: Runs, place: Place) -> float:
        tilt = self._tilt(lasts)
        left = lasts.left(place.ran_s / tilt, place.progress)
        return max(_LEAST_S, left.at(self.chance.random()) * (1.0 if left.basis == durations.PROGRESS else tilt))

    def _lasts(self, lasts: Runs) -> float:
        return max(_LEAST_S, lasts.at(self.chance.random()) * self._tilt(lasts))

    def _tilt(self, lasts: Runs) -> float:
        """All of a kind may be longer or shorter than the few that were measured; those that run longer than any before
        may end at once or go on for as long again, and nobody can tell.
        """
        tilt = self.tilts.get(id(lasts))
        if tilt is None:
            share = self.chance.random()
            tilt = min(_MOST_LONGER, 1 / (1 - share)) if lasts.overdue else max(0.3, self.chance.gauss(1, lasts.doubt))
            self.tilts[id(lasts)] = tilt
        return tilt
