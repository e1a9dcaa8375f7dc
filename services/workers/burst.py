"""A row of messages of shops that may run nothing now must not keep the slots from those of others.

Each such message is claimed, parked and acknowledged; it takes no slot. While many of them come, batches are larger
than the slots would allow: what is known to park goes along, and of the rest no more is claimed than there is room for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from services.domain.change import Answer
from services.domain.task.record import Task
from services.ports import Clock
from services.workers.prefetch import PrefetchWindow

#: seconds for which a shop that may run nothing is believed to stay so
BELIEVED_S = 1.0
#: of so many claims so many were parked: then it is a burst
LAST, MANY = 16, 8
KNOWN_SHOPS = 2_000


class Room(NamedTuple):
    """How much may be claimed."""

    free: int  #: slots with nothing to do
    total: int  #: with what may wait claimed beyond the slots
    lanes: Mapping[str, int]  #: of each lane


class Choice(NamedTuple):
    """Which of a batch to claim, by place, and whether something was left that takes long."""

    claim: list[int]
    met_long: bool


class Burst:
    """What the last claims were answered; used by the intake thread only."""

    def __init__(self, clock: Clock, prefetch: PrefetchWindow) -> None:
        self._clock, self._prefetch = clock, prefetch
        self._parked: deque[bool] = deque(maxlen=LAST)
        self._shops: dict[str, float] = {}

    @property
    def there(self) -> bool:
        """Whether most of what comes is parked."""
        return sum(self._parked) >= MANY

    def note(self, answers: Iterable[tuple[str, Answer]]) -> None:
        """What became of claims, with the shop of each."""
        now = self._clock.monotonic()
        for shop, answer in answers:
            parked = answer.code == "blocked"
            self._parked.append(parked)
            if parked:
                self._shops[shop] = now + BELIEVED_S
        if len(self._shops) > KNOWN_SHOPS:
            self._shops = {shop: until for shop, until in self._shops.items() if until > now}

    def choose(self, tasks: Sequence[Task], room: Room) -> Choice:
        """Claim what will be parked, what a slot is free for, and, as far as there is room, what takes no time."""
        now = self._clock.monotonic()
        lanes = dict(room.lanes)
        claim: list[int] = []
        taken, met_long = 0, False
        for place, task in enumerate(tasks):
            if self._shops and self._shops.get(task.shop, 0.0) > now:
                claim.append(place)
                continue
            fits = taken < room.total and lanes.get(task.lane, room.total) > 0
            if fits and (taken < room.free or self._prefetch.short(task)):
                claim.append(place)
                taken += 1
                lanes[task.lane] = lanes.get(task.lane, room.total) - 1
            else:
                met_long |= fits
        return Choice(claim, met_long)
