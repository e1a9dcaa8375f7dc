"""The line before the slots played through, task by task, as engine and workers serve it: when each of those that wait,
or are planned, has run. Pure: the same facts always give the same courses.

Who reaches the head of its lane while its shop is busy stands aside, and joins the end of the lane, with a place kept
for it, when its shop has room again. That is why work of a slow shop comes much later than the length of its lane says,
and other work earlier. The same at the limit of its platform or type, and in quiet hours, those that are planned too.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence

import msgspec

from services.domain.gates import limit
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.forecast.trend import Trend
from services.domain.task.lane import LANES, Lane

#: courses that are played through; fewer of a long line, so that a look stays short
MOST_DRAWS, LEAST_DRAWS, STEPS = 20, 4, 8_000
#: so far it is played through: what has not run then is expected at the end of it
FAR_S = 3 * 3600.0
SEED = 20261126
_LEAST_S = 0.05
#: what runs longer than any before lasts at most so many times what it ran
_MOST_LONGER = 6.0


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A slot. ``lanes``: those that it takes, the one that goes first in front; ``lasts``: of what runs there, None for
    nothing.
    """

    lanes: tuple[str, ...]
    lasts: Runs | None = None
    ran_s: float = 0.0
    progress: int = -1
    task_type: str = ""
    shop: str = ""
    name: Hashable = None  #: of what runs there, for its end


class Cap(msgspec.Struct, frozen=True, kw_only=True):
    """A limit of a platform or a type, 0 for none, and the starts of the last minute: seconds from now on at which the
    first of ``started`` stops to count.
    """

    slots: int = 0
    per_minute: int = 0
    started: int = 0
    resets_s: float = 0.0


class Waiter(msgspec.Struct, frozen=True, kw_only=True):
    """A task that waits, or one that will be created. ``name``: of the question for its end; None: nobody asks."""

    name: Hashable
    task_type: str
    shop: str
    lane: str
    lasts: Runs
    rank: int = 0  #: of those that stand aside the one with the least goes first
    enters_s: float = 0.0  #: seconds from now, 0: it stands in line, in the order given
    aside: bool = False  #: it waits until its shop has room
    once: bool = False  #: nobody creates it while the shop has another of its type
    shut: tuple[tuple[float, float], ...] = ()  #: seconds from now between which it may not start, ascending


class Ends(msgspec.Struct, frozen=True):
    """Seconds from now: eight of ten courses end between ``low_s`` and ``high_s``, half of them before ``mid_s``."""

    low_s: float
    mid_s: float
    high_s: float


def play(
    places: Sequence[Place], waiters: Sequence[Waiter], rooms: Mapping[str, int], caps: Mapping[str, Cap] | None = None
) -> dict[Hashable, Ends]:
    """When each of them has run, and what runs already. ``rooms``: what a shop runs at a time, 1 where it says nothing;
    ``caps``: by the scope of the limit.
    """
    if not places:
        return {}
    draws = max(LEAST_DRAWS, min(MOST_DRAWS, STEPS // max(1, len(waiters))))
    names = [*(one.name for one in places), *(one.name for one in waiters)]
    found: dict[Hashable, list[float]] = {name: [] for name in names if name is not None}
    for number in range(draws):
        ended = _Course(random.Random(SEED + number), places, waiters, rooms, caps or {}).run(len(found))
        for name, ends in found.items():
            ends.append(ended.get(name, FAR_S))
    return {name: _ends(sorted(ends)) for name, ends in found.items()}


def _ends(ends: Sequence[float]) -> Ends:
    last = len(ends) - 1
    low, mid, high = (ends[round(share * last)] for share in (0.1, 0.5, 0.9))
    return Ends(low, mid, high)


_END, _ENTER, _OPEN = 0, 1, 2
_MINUTE_S = 60.0


class _Gate(msgspec.Struct):
    """A limit as it is used."""

    cap: Cap
    running: int = 0
    kept: int = 0  #: places kept for those that were let go and have not started yet
    starts: deque[float] = msgspec.field(default_factory=deque)  #: when each of those that count stops to count
    waits: list[tuple[int, int]] = msgspec.field(
        default_factory=list
    )  #: rank and number, the one that goes first in front

    def is_full(self, now: float) -> bool:
        """Whether nobody more may start."""
        while self.starts and self.starts[0] <= now:
            self.starts.popleft()
        taken = self.running + self.kept
        spent = len(self.starts) + self.kept
        return 0 < self.cap.slots <= taken or 0 < self.cap.per_minute <= spent


def _gate(cap: Cap) -> _Gate:
    """The starts that count stop to do so one after the other."""
    left = _MINUTE_S - cap.resets_s
    return _Gate(cap, starts=deque(cap.resets_s + left * number / cap.started for number in range(cap.started)))


class _Course(msgspec.Struct):
    """One course of it."""

    chance: random.Random
    places: Sequence[Place]
    waiters: Sequence[Waiter]
    rooms: Mapping[str, int]
    caps: Mapping[str, Cap]
    now: float = 0.0
    events: list[tuple[float, int, int, int, int]] = msgspec.field(
        default_factory=list
    )  #: at, number, what, waiter, place
    lines: dict[str, deque[int]] = msgspec.field(default_factory=lambda: defaultdict(deque))
    aside: dict[str, list[tuple[int, int]]] = msgspec.field(default_factory=lambda: defaultdict(list))  #: by rank
    gates: dict[str, _Gate] = msgspec.field(default_factory=dict)
    released: set[int] = msgspec.field(
        default_factory=set
    )  #: those that have a place kept in their shop and at their limits
    busy: Counter[str] = msgspec.field(default_factory=Counter)
    kept: Counter[str] = msgspec.field(default_factory=Counter)  #: places of a shop for those
    on_way: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)  #: those of a shop that stand in a lane
    there: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    free: list[int] = msgspec.field(default_factory=list)
    standing: int = 0  #: in all lines
    tilts: dict[int, Runs] = msgspec.field(default_factory=dict)  #: by the identity of what lasts
    trends: dict[int, tuple[float, float]] = msgspec.field(default_factory=dict)  #: the same of how they grow
    ended: dict[Hashable, float] = msgspec.field(default_factory=dict)

    def run(self, asked: int) -> dict[Hashable, float]:
        """When each has run, by name; until so many have."""
        self._begin()
        while self.events and self.now < FAR_S and len(self.ended) < asked:
            self.now, _, what, waiter, place = heapq.heappop(self.events)
            if what == _ENTER:
                self._enter(waiter)
            elif what == _OPEN:
                self._stand_again(waiter)
            else:
                self._end(waiter, place)
            self._serve()
        return self.ended

    def _begin(self) -> None:
        self.gates = {scope: _gate(cap) for scope, cap in self.caps.items() if cap.slots or cap.per_minute}
        for number, place in enumerate(self.places):
            if place.lasts is None:
                self.free.append(number)
            else:
                self._seat(number, place, place.lasts)
        for number, one in enumerate(self.waiters):
            if one.enters_s > 0:
                self._push(one.enters_s, _ENTER, number, -1)
                continue
            self.there[one.task_type, one.shop] += 1
            if one.aside:
                self._put_aside(number)
            else:
                self._stand(number)
        for shop in list(self.aside):
            self._let_in(shop)
        self._serve()

    def _seat(self, number: int, place: Place, lasts: Runs) -> None:
        """What runs already."""
        self.busy[place.shop] += 1
        self.there[place.task_type, place.shop] += 1
        for gate in self._gates_of(place.shop, place.task_type):
            gate.running += 1
        self._push(self._left(lasts, place), _END, -1, number)

    def _push(self, at: float, what: int, waiter: int, place: int) -> None:
        heapq.heappush(self.events, (at, len(self.events), what, waiter, place))

    def _room(self, shop: str) -> int:
        """Places that are neither taken nor kept."""
        return self.rooms.get(shop, 1) - self.busy[shop] - self.kept[shop]

    def _is_crowded(self, one: Waiter) -> bool:
        """Whether those of its shop that stand in line, and are as urgent, take all its places."""
        urgent = LANES[: LANES.index(Lane(one.lane)) + 1]
        before = sum(self.on_way[one.shop, lane] for lane in urgent)
        return self.rooms.get(one.shop, 1) - self.busy[one.shop] - before <= 0

    def _gates_of(self, shop: str, task_type: str) -> list[_Gate]:
        if not self.gates:
            return []
        scopes = (f"{limit.PLATFORM}:{shop.partition(':')[0]}", f"{limit.TYPE}:{task_type}")
        return [self.gates[scope] for scope in scopes if scope in self.gates]

    def _enter(self, number: int) -> None:
        one = self.waiters[number]
        if one.once and self.there[one.task_type, one.shop]:
            return
        self.there[one.task_type, one.shop] += 1
        if self.aside.get(one.shop) and self._is_crowded(one):  # it does not even get into the line
            self._put_aside(number)
        else:
            self._stand(number)

    def _stand(self, number: int) -> None:
        one = self.waiters[number]
        self.lines[one.lane].append(number)
        self.on_way[one.shop, one.lane] += 1
        self.standing += 1

    def _put_aside(self, number: int) -> None:
        one = self.waiters[number]
        heapq.heappush(self.aside[one.shop], (one.rank, number))

    def _stand_again(self, number: int) -> None:
        """Quiet hours, or the minute of a limit, are over for it."""
        if number >= 0:
            self._stand(number)
        else:
            for gate in self.gates.values():
                self._open(gate)

    def _end(self, number: int, place: int) -> None:
        slot = self.places[place]
        one = self.waiters[number] if number >= 0 else None
        shop, task_type = (one.shop, one.task_type) if one is not None else (slot.shop, slot.task_type)
        name = one.name if one is not None else slot.name
        if name is not None:
            self.ended.setdefault(name, self.now)
        self.busy[shop] -= 1
        self.there[task_type, shop] -= 1
        self.free.append(place)
        gates = self._gates_of(shop, task_type)
        for gate in gates:
            gate.running -= 1
        self._let_in(shop)
        for gate in gates:
            self._open(gate)

    def _let_in(self, shop: str) -> None:
        waits = self.aside.get(shop)
        while waits and self._room(shop) > 0:
            _, number = heapq.heappop(waits)
            if (full := self._full(number)) is not None:
                self._wait(full, number)
            else:
                self._release(number)

    def _release(self, number: int) -> None:
        """It goes to the end of its lane, with its places kept."""
        one = self.waiters[number]
        self.kept[one.shop] += 1
        for gate in self._gates_of(one.shop, one.task_type):
            gate.kept += 1
        self.released.add(number)
        self._stand(number)

    def _full(self, number: int) -> _Gate | None:
        """The limit that keeps it back."""
        if not self.gates:
            return None
        one = self.waiters[number]
        return next((gate for gate in self._gates_of(one.shop, one.task_type) if gate.is_full(self.now)), None)

    def _open(self, gate: _Gate) -> None:
        """Who waits there longest goes first, with a place kept for it at each of its limits."""
        while gate.waits and not gate.is_full(self.now):
            _, number = heapq.heappop(gate.waits)
            shop = self.waiters[number].shop
            if self._room(shop) <= 0:
                self._put_aside(number)
            elif (full := self._full(number)) is not None:
                self._wait(full, number)
            else:
                self._release(number)

    def _wait(self, gate: _Gate, number: int) -> None:
        heapq.heappush(gate.waits, (self.waiters[number].rank, number))
        if gate.starts and not 0 < gate.cap.slots <= gate.running + gate.kept:
            self._push(max(self.now, gate.starts[0]), _OPEN, -1, -1)

    def _serve(self) -> None:
        kept = []
        while self.free and self.standing:
            place = self.free.pop()
            number = self._next(place)
            if number is None:
                kept.append(place)
                continue
            one = self.waiters[number]
            self._give_back(number)
            self.busy[one.shop] += 1
            for gate in self._gates_of(one.shop, one.task_type):
                gate.running += 1
                if gate.cap.per_minute:
                    gate.starts.append(self.now + _MINUTE_S)
            self._push(self.now + self._lasts(one.lasts), _END, number, place)
        self.free += kept

    def _next(self, place: int) -> int | None:
        """Who goes next there; those whose shop is busy, or that a limit or quiet hours keep back, stand aside."""
        for lane in self.places[place].lanes:
            line = self.lines[lane]
            while line:
                number = line.popleft()
                self.standing -= 1
                self.on_way[self.waiters[number].shop, lane] -= 1
                if self._may_start(number):
                    return number
        return None

    def _may_start(self, number: int) -> bool:
        one, mine = self.waiters[number], number in self.released
        if one.shut and (opens := next((end for begin, end in one.shut if begin <= self.now < end), 0.0)):
            self._give_back(number)
            self._push(opens, _OPEN, number, -1)
        elif self._room(one.shop) + mine <= 0:
            self._give_back(number)
            self._put_aside(number)
        elif not mine and (full := self._full(number)) is not None:
            self._wait(full, number)
        else:
            return True
        return False

    def _give_back(self, number: int) -> None:
        """The places that are kept for it."""
        if number in self.released:
            self.released.discard(number)
            one = self.waiters[number]
            self.kept[one.shop] -= 1
            for gate in self._gates_of(one.shop, one.task_type):
                gate.kept -= 1

    def _left(self, lasts: Runs, place: Place) -> float:
        left = lasts.left(place.ran_s, place.progress)
        if left.basis == durations.PROGRESS:
            return max(_LEAST_S, left.at(self.chance.random()))
        drawn, left = self.chance.random(), self._tilted(lasts).left(place.ran_s)
        if left.overdue:  # nothing has run so long
            return max(_LEAST_S, place.ran_s * (min(_MOST_LONGER, 1 / (1 - drawn)) - 1))
        return max(_LEAST_S, left.at(drawn))

    def _lasts(self, lasts: Runs) -> float:
        seconds = self._tilted(lasts).at(self.chance.random())
        return max(_LEAST_S, seconds if lasts.trend is None else seconds * self._grown(lasts, lasts.trend))

    def _grown(self, lasts: Runs, trend: Trend) -> float:
        """How many times as long as now. How far a trend is off, and how much longer it goes on, each course says for
        itself: as often as not as long again as it has lasted.
        """
        found = self.trends.get(id(lasts))
        if found is None:
            found = self.trends[id(lasts)] = self.chance.gauss(0, 1), 1 / (1 - self.chance.random()) - 1
        return trend.then(self.now, *found)

    def _tilted(self, lasts: Runs) -> Runs:
        """All of a kind may be longer or shorter than the few that were measured; those that run longer than any before
        may end at once or go on for as long again, and nobody can tell.
        """
        found = self.tilts.get(id(lasts))
        if found is None:
            doubt = max(0.3, self.chance.gauss(1, lasts.doubt))
            further = min(_MOST_LONGER, 1 / (1 - self.chance.random()))
            closed = len(lasts.seconds) - lasts.open
            longer = (one * (doubt if place < closed else further) for place, one in enumerate(lasts.seconds))
            found = self.tilts[id(lasts)] = Runs(tuple(sorted(longer)), lasts.basis)
        return found
