"""Whether durations grow from run to run, how fast, and for how much longer that may go on: the rank test of Mann and
Kendall says whether, the median slope of Theil and Sen how fast. A step is no trend: what became slower at once does
not go on becoming slower. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import median

import msgspec

#: fewer runs show none, and so many standard deviations the ranks have to be from chance
LEAST, SURE = 8, 2.4


class Trend(msgspec.Struct, frozen=True):
    """How a duration grows: by ``per_s`` of what it is now with each second, give or take ``doubt`` (a standard
    deviation); it has done so for ``lasted_s``.
    """

    per_s: float
    doubt: float
    lasted_s: float

    def then(self, seconds: float, slope: float, stays: float) -> float:
        """How many times as long as now one lasts that begins so many seconds from now. ``slope``: by how many standard
        deviations it is off; ``stays``: for how many times as long as it has lasted it goes on.
        """
        grows = max(0.0, self.per_s + slope * self.doubt)
        return 1 + grows * min(seconds, stays * self.lasted_s)


def of(runs: Sequence[tuple[float, float]]) -> Trend | None:
    """The trend of durations (both in seconds: when it began, how long it took); None where they do not grow, or where
    it was a step.
    """
    known = sorted((at, math.log(took)) for at, took in runs if took > 0)
    if len(known) < LEAST or _ranks(known) < SURE:
        return None
    pairs = combinations(known, 2)
    slopes = [(late - early) / (after - before) for (before, early), (after, late) in pairs if after > before]
    slope = median(slopes) if slopes else 0.0
    if slope <= 0:
        return None
    offset = median(one - slope * at for at, one in known)
    rest = sum((one - offset - slope * at) ** 2 for at, one in known)
    count = len(known)
    if rest > _step(known) * count ** (1 / count):  # a step has one number more to fit by (Schwarz)
        return None
    middle = sum(at for at, _ in known) / count
    wide = sum((at - middle) ** 2 for at, _ in known)
    doubt = math.sqrt(rest / (count - 2) / wide) if wide else slope
    return Trend(slope, doubt, known[-1][0] - known[0][0])


def _ranks(known: Sequence[tuple[float, float]]) -> float:
    """How many standard deviations there are more rises than falls (Mann and Kendall)."""
    apart = sum((late > early) - (late < early) for (_, early), (_, late) in combinations(known, 2))
    count = len(known)
    return apart / math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


def _step(known: Sequence[tuple[float, float]]) -> float:
    """What is left, squared, of the best step from one level to another."""
    values = [one for _, one in known]
    return min(_spread(values[:place]) + _spread(values[place:]) for place in range(2, len(values) - 1))


def _spread(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((one - mean) ** 2 for one in values)
