"""Places at which tasks run, and when they are free: drawn once for all the tasks that wait for the same ones. Pure."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from functools import cached_property

import msgspec

from services.domain.fleet.worker import SlotState
from services.domain.insight.forecast.durations import Runs

#: courses that are played through, and how many tasks ahead are drawn one by one; more are drawn as their sum
DRAWS, ONE_BY_ONE = 96, 12
#: arrivals that go first are played through up to here
ARRIVALS = 60
#: so many of the places that are free first can matter to a task: each that goes first takes one
FIRST = ONE_BY_ONE + ARRIVALS + 1
SEED = 20261122


class Bench(msgspec.Struct, frozen=True, dict=True):
    """Places at which tasks run: what is left of the ones that run there, and how many are free.

    One bench may serve many tasks: what is drawn of its places is drawn once.
    """

    left: tuple[Runs, ...] = ()
    free: int = 0

    @cached_property
    def courses(self) -> tuple[tuple[tuple[float, ...], float], ...]:
        """For each course that is played through: when the first places are free, ascending, and the sum of all."""
        chance = random.Random(SEED)
        free = [0.0] * min(self.free, FIRST)
        found = []
        for _ in range(DRAWS):
            ends = [left.at(chance.random()) for left in self.left]
            found.append((tuple(free + heapq.nsmallest(FIRST - len(free), ends)), sum(ends)))
        return tuple(found)

    @property
    def places(self) -> int:
        """All of them."""
        return len(self.left) + self.free


def bench_of(slots: Sequence[SlotState], now_ms: int, lasts: Callable[[str, str], Runs]) -> Bench:
    """The slots of workers as places; ``lasts``: how long tasks of a type in a shop run."""
    left = tuple(
        lasts(slot.task_type, slot.shop).left(max(0, now_ms - slot.since) / 1000, slot.progress)
        for slot in slots
        if slot.task_id
    )
    return Bench(left=left, free=len(slots) - len(left))
