"""Whether a series grows: its trend over the second half of a run, when all that is kept has reached its level."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

Point = tuple[float, float]  #: hours since the begin, value

#: fewer points of the judged half say nothing
LEAST = 8
#: more are drawn together, so that all pairs of them can be looked at
MOST = 200
#: less says nothing of an hour
LEAST_HOURS = 0.5
#: stretches whose lowest values show what lies under a sawtooth
STRETCHES = 8
#: of a jump, what its two sides may rise by themselves
ALONE = 0.3
GLYPHS = "▁▂▃▄▅▆▇█"


class Kind(StrEnum):
    """What became of a series."""

    FLAT = "flat"
    GROWS = "grows"
    STEP = "stepped once"
    TOLD = "not judged"
    SHORT = "too short to tell"


@dataclass(frozen=True, slots=True)
class Bound:
    """What a series may rise in the judged half: the larger of ``floor`` (in its unit) and ``share`` of its level."""

    floor: float
    share: float = 0.05

    def allowed(self, level: float) -> float:
        """In the unit of the series."""
        return max(self.floor, self.share * abs(level))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Of one series."""

    kind: Kind
    level: float = 0.0  #: median of the judged half
    per_hour: float = 0.0  #: its trend
    hours: float = 0.0  #: of the judged half
    step: float = 0.0  #: of one that stepped once, by how much
    at: float = 0.0  #: and when, in hours since the begin

    @property
    def words(self) -> str:
        """For people."""
        if self.kind is Kind.GROWS:
            return f"GROWS by {self.per_hour:.3g} an hour"
        if self.kind is Kind.STEP:
            return f"stepped by {self.step:.3g} at {self.at:.2f} h, flat before and after"
        if self.kind is Kind.SHORT:
            return str(self.kind)
        if self.hours < LEAST_HOURS:
            return f"{self.kind} ({self.per_hour * self.hours:+.2g} in {60 * self.hours:.1f} min)"
        return f"{self.kind} ({self.per_hour:+.2g} an hour)"


def judge(points: Sequence[Point], bound: Bound | None) -> Verdict:
    """``points``: in the order of time; ``bound``: None for a series that is told and not judged.

    A rise counts where the middle of the values and the lowest ones both rise by more than the bound: noise moves
    neither for long, and what grows until it is cleared away returns to the same lowest values.
    """
    late = _late(points)
    if len(late) < LEAST:
        return Verdict(kind=Kind.SHORT, level=statistics.median(value for _, value in points) if points else 0.0)
    late = _drawn_together(late)
    level, span = statistics.median(value for _, value in late), late[-1][0] - late[0][0]
    rise = _rise(late)
    per_hour = rise / span if span else 0.0
    if bound is None:
        return Verdict(kind=Kind.TOLD, level=level, per_hour=per_hour, hours=span)
    if rise <= bound.allowed(level):
        return Verdict(kind=Kind.FLAT, level=level, per_hour=per_hour, hours=span)
    if (found := _step(late)) is not None:
        at, step = found
        return Verdict(kind=Kind.STEP, level=level, per_hour=per_hour, hours=span, step=step, at=at)
    return Verdict(kind=Kind.GROWS, level=level, per_hour=per_hour, hours=span)


def curve(points: Sequence[Point], width: int = 60) -> str:
    """The whole series as a line of text, its lowest value at the bottom and its highest at the top."""
    if not points:
        return ""
    values = [value for _, value in points]
    width = min(width, len(values))
    edges = [len(values) * place // width for place in range(width + 1)]
    shown = [statistics.median(values[begin:end]) for begin, end in itertools.pairwise(edges)]
    low, high = min(shown), max(shown)
    steps = (high - low) / (len(GLYPHS) - 1) or 1.0
    return "".join(GLYPHS[round((value - low) / steps)] for value in shown)


def _late(points: Sequence[Point]) -> list[Point]:
    if not points:
        return []
    middle = (points[0][0] + points[-1][0]) / 2
    return [point for point in points if point[0] >= middle]


def _drawn_together(points: list[Point]) -> list[Point]:
    if len(points) <= MOST:
        return points
    edges = [len(points) * place // MOST for place in range(MOST + 1)]
    return [
        (statistics.median(at for at, _ in points[begin:end]), statistics.median(one for _, one in points[begin:end]))
        for begin, end in itertools.pairwise(edges)
    ]


def _rise(points: Sequence[Point]) -> float:
    """By how much the middle and the lowest values both rise from first to last point; 0 where they disagree."""
    span = points[-1][0] - points[0][0]
    middle, low = _slope(points) * span, _slope(_troughs(points)) * span
    if middle > 0 and low > 0:
        return min(middle, low)
    return max(middle, low) if middle < 0 and low < 0 else 0.0


def _slope(points: Sequence[Point]) -> float:
    """The middle one of the slopes between all pairs (Theil and Sen): a few wild values do not move it."""
    slopes = [
        (value - before) / (at - then)
        for place, (then, before) in enumerate(points)
        for at, value in points[place + 1 :]
        if at > then
    ]
    return statistics.median(slopes) if slopes else 0.0


def _troughs(points: Sequence[Point]) -> list[Point]:
    """The lowest point of each stretch, at the middle of its stretch."""
    count = min(STRETCHES, max(2, len(points) // 3))
    edges = [len(points) * place // count for place in range(count + 1)]
    return [
        ((points[begin][0] + points[end - 1][0]) / 2, min(value for _, value in points[begin:end]))
        for begin, end in itertools.pairwise(edges)
    ]


def _step(points: Sequence[Point]) -> tuple[float, float] | None:
    """When and by how much it stepped, where that is all of its rise: both sides of the step are flat by themselves."""
    edge = max(3, len(points) // 8)
    best: tuple[float, int] | None = None
    for place in range(edge, len(points) - edge + 1):
        apart = _scatter(points[:place]) + _scatter(points[place:])
        if best is None or apart < best[0]:
            best = (apart, place)
    if best is None:
        return None
    before, after = points[: best[1]], points[best[1] :]
    step = statistics.median(one for _, one in after) - statistics.median(one for _, one in before)
    own = max(abs(_slope(side)) * (side[-1][0] - side[0][0]) for side in (before, after))
    return (after[0][0], step) if step > 0 and own <= ALONE * step else None


def _scatter(points: Sequence[Point]) -> float:
    middle = statistics.median(value for _, value in points)
    return sum(abs(value - middle) for _, value in points)
