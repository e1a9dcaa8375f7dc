"""How long tasks take, as measured: a mean with its deviation, and which measurement speaks for whom. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from services.domain.task import Task

#: so many measurements make a shop or a type speak for itself
ENOUGH = 5
#: runs of its own that weigh as much as all that is known of others
DOUBT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """``count`` attempts that were timed; seconds. ``deviation_s`` is the standard deviation of one of them."""

    count: int = 0
    mean_s: float = 0.0
    deviation_s: float = 0.0

    @property
    def known(self) -> bool:
        """Whether anything was measured."""
        return self.count > 0


UNKNOWN = Measured()


def of(seconds: Iterable[float]) -> Measured:
    """What these runs say together; of fewer than ``ENOUGH`` the deviation is at least half the mean."""
    took = [max(0.0, one) for one in seconds]
    if not took:
        return UNKNOWN
    mean = math.fsum(took) / len(took)
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in took) / max(1, len(took) - 1))
    return Measured(count=len(took), mean_s=mean, deviation_s=max(spread, mean / 2 if len(took) < ENOUGH else 0.0))


def of_tasks(tasks: Iterable[Task]) -> Measured:
    """The last attempt of each ended task."""
    return of((task.ended_at - task.started_at) / 1000 for task in tasks if task.started_at and task.ended_at)


def best(own: Measured, *wider: Measured) -> Measured:
    """Its own where it was measured often enough; fewer runs of its own move what the wider ones say."""
    if own.count >= ENOUGH or not wider:
        return own
    pool = best(*wider)
    if not own.count or not pool.count:
        return pool if pool.count else own
    share = own.count / (own.count + DOUBT)
    mean = share * own.mean_s + (1 - share) * pool.mean_s
    apart = abs(own.mean_s - pool.mean_s) / 2
    return Measured(count=own.count, mean_s=mean, deviation_s=max(own.deviation_s, apart, mean / 2))
