"""How long tasks take: what was measured of late as a distribution, for a task that somebody waits for, and as its mean
with a deviation, for a fleet that is followed with thousands of them; what is left of one that runs. Pure: who has the
records hands in seconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from math import exp

import msgspec
from msgspec.structs import replace

from services.domain.insight.forecast import trend
from services.domain.insight.forecast.trend import Trend
from services.domain.task.record import Task
from services.domain.task.status import Status

MEASURED, PROGRESS, DECLARED, UNKNOWN = "measured", "progress", "declared", "unknown"
#: so many attempts of a shop say more about it than those of all shops
ENOUGH = 5
#: so many of those that began last tell how long tasks take of late; one that began so many later says twice as much
LATE, HALF = 20, 8.0
#: that the newer of them last longer, or shorter, than the older ones is believed from so many standard deviations on
CHANGED = 2.4
#: runs of its own that weigh as much as all that is known of others
DOUBT = 1
#: what people are told is the middle eight of ten; drawn a little wider, for the next ones are not those that were seen
LOW, HIGH = 0.05, 0.95
#: a declared duration is a word, not a measurement: as likely half of it as twice
_DECLARED_SPREAD = 2.5
_GRID = tuple((step + 0.5) / 15 for step in range(15))
#: progress below this says nothing yet about the rest
_TELLING = 5
#: and so it does in the first seconds
_BEGUN_S = 3.0
#: what ran longer than any before: how much longer again, as shares of what it ran
_OVERDUE = (0.03, 0.06, 0.1, 0.15, 0.25, 0.4, 0.7)
#: their 95th percentile is believed from so many measured runs on; what ran shorter than this is long for nobody
NEARLY_SEEN, LONG_S = 20, 10.0
#: what ran longer than that by so many times what lies between it and the middle, at least so many times as long as it,
#: and at least so long, hangs as far as one can tell: one of some thousands does so that ends after all
APART, TIMES, HANGS_S = 4.0, 3.0, 30.0
#: of fewer runs, but so many, what ran so many times as long as nearly all of them
HANGS, HANGS_SEEN = 5.0, 3
#: the rest by progress is as uneven as the steps of a flow
_UNEVEN = (0.6, 0.75, 0.87, 1.0, 1.15, 1.35, 1.7)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """``count`` attempts that were timed; seconds. ``deviation_s`` is the standard deviation of one of them."""

    count: int = 0
    mean_s: float = 0.0
    deviation_s: float = 0.0

    @property
    def known(self) -> bool:
        """Whether anything was measured."""
        return self.count > 0


NOT_MEASURED = Measured()


class Runs(msgspec.Struct, frozen=True):
    """Seconds in ascending order and where they come from; the last ``open`` of them are of what still runs longer than
    any that ended: at least so long.
    """

    seconds: tuple[float, ...] = ()
    basis: str = UNKNOWN
    open: int = 0
    trend: Trend | None = None  #: how those to come differ from these

    @property
    def known(self) -> bool:
        """Whether anything can be told."""
        return bool(self.seconds)

    @property
    def overdue(self) -> bool:
        """Whether something runs longer than all that ended."""
        return self.open > 0

    @property
    def usual_s(self) -> float:
        """The middle one, 0 where nothing is known."""
        return self.at(0.5) if self.seconds else 0.0

    @property
    def mean_s(self) -> float:
        """The mean, 0 where nothing is known."""
        return sum(self.seconds) / len(self.seconds) if self.seconds else 0.0

    @property
    def span_s(self) -> tuple[float, float]:
        """What eight of ten lie between."""
        return (self.at(LOW), self.at(HIGH)) if self.seconds else (0.0, 0.0)

    @property
    def spread_s(self) -> float:
        """The standard deviation; of one alone half of it."""
        if len(self.seconds) < 2:
            return self.mean_s / 2
        mean = self.mean_s
        return float((sum((one - mean) ** 2 for one in self.seconds) / (len(self.seconds) - 1)) ** 0.5)

    @property
    def summary(self) -> Measured:
        """The same as a mean; of fewer than ``ENOUGH`` the deviation is at least half of it."""
        if not self.seconds:
            return NOT_MEASURED
        least = self.mean_s / 2 if len(self.seconds) < ENOUGH else 0.0
        return Measured(count=len(self.seconds), mean_s=self.mean_s, deviation_s=max(self.spread_s, least))

    @property
    def doubt(self) -> float:
        """How far, as a share of itself, the mean may be off because only so many were measured."""
        return self.spread_s / max(1e-9, self.mean_s) / len(self.seconds) ** 0.5 if self.seconds else 0.0

    def at(self, share: float) -> float:
        """The duration that this share of tasks stay below. Few measurements reach beyond what was seen."""
        count = len(self.seconds)
        place = share * count - 0.5
        if place < 0:
            return self.seconds[0] * (1 + place / count)
        if place > count - 1:
            return self.seconds[-1] * (1 + 2 * (place - count + 1) / count)
        low = int(place)
        high = min(low + 1, count - 1)
        return self.seconds[low] + (self.seconds[high] - self.seconds[low]) * (place - low)

    def hangs(self, ran_s: float, progress: int = -1) -> bool:
        """Whether one that has run so long seems to hang: others were measured, and it says nothing of its progress."""
        if self.basis != MEASURED or len(self.seconds) < HANGS_SEEN or 0 < progress < 100:
            return False
        return ran_s >= self.hangs_s

    @property
    def nearly_all_s(self) -> float:
        """What 95 of 100 stay below; 0 where too few were measured to say so."""
        return self.at(HIGH) if self.basis == MEASURED and len(self.seconds) >= NEARLY_SEEN else 0.0

    @property
    def hangs_s(self) -> float:
        """From how long on one seems to hang that says nothing of its progress."""
        nearly = self.at(HIGH)
        if not self.nearly_all_s:
            return max(HANGS_S, HANGS * nearly)
        return max(HANGS_S, TIMES * nearly, nearly + APART * (nearly - self.usual_s))

    def is_long(self, ran_s: float) -> bool:
        """Whether one that has run so long is past the 95th percentile; one of twenty is, and most of them end soon."""
        return self.nearly_all_s > 0 and ran_s > max(LONG_S, self.nearly_all_s)

    def moves(self, ran_s: float, quiet_s: float | None = None, patience_s: float = 0.0) -> bool:
        """Whether one that has run so long is on its way as others of its kind: no longer than nearly all of them, or
        further than it was ``patience_s`` ago; ``quiet_s``: since it got further, None where it says nothing.
        """
        return (self.known and ran_s <= self.at(HIGH)) or (quiet_s is not None and quiet_s <= patience_s)

    def left(self, ran_s: float, progress: int = -1) -> Runs:
        """What is left of a task that has run so long and says that so many per cent are done (-1: says nothing)."""
        if _TELLING <= progress < 100 and ran_s >= _BEGUN_S:
            rest = ran_s * (100 - progress) / progress
            return Runs(tuple(rest * share for share in _UNEVEN), PROGRESS)
        if not self.seconds:
            return self
        longer = self.seconds[bisect_right(self.seconds, ran_s) :]
        if longer:
            return Runs(tuple(one - ran_s for one in longer), self.basis, min(self.open, len(longer)))
        return Runs(tuple(ran_s * share for share in _OVERDUE), self.basis, len(_OVERDUE))


NOTHING = Runs()


def measured(seconds: Iterable[float]) -> Runs:
    """Of tasks that were measured."""
    found = tuple(sorted(seconds))
    return Runs(found, MEASURED) if found else NOTHING


def declared(seconds: float) -> Runs:
    """Of a type of which nothing was measured yet, as it says itself; 0: it says nothing."""
    if seconds <= 0:
        return NOTHING
    return Runs(tuple(seconds * _DECLARED_SPREAD ** (2 * share - 1) for share in _GRID), DECLARED)


def of_tasks(tasks: Iterable[Task]) -> Runs:
    """Of the last attempts of tasks that succeeded; others are passed over."""
    return measured(seconds_of(tasks))


def seconds_of(tasks: Iterable[Task]) -> Iterator[float]:
    """Of the last attempts of tasks that succeeded, in their order; others are passed over."""
    for task in tasks:
        if task.status == Status.SUCCEEDED and 0 < task.started_at <= task.ended_at:
            yield (task.ended_at - task.started_at) / 1000


class Ran(msgspec.Struct, frozen=True):
    """One run: when it began (UTC ms), how long it took, or has taken so far; ``failed``: attempts before it."""

    since: int
    seconds: float
    ended: bool = True
    failed: int = 0


def ran(tasks: Iterable[Task]) -> Iterator[Ran]:
    """The last attempts of tasks that succeeded; others are passed over."""
    for task in tasks:
        for seconds in seconds_of((task,)):
            yield Ran(task.started_at, seconds, failed=task.retries)


def of_late(runs: Iterable[Ran]) -> Runs:
    """How long tasks take now, by those that began last. What runs counts too, as one that lasts at least so long: by
    those alone that have ended a page that has become slow would be as fast as ever until the first of them ends, and
    by those that run beside them every task would seem longer than it is, for the long ones are seen running oftener.
    Where the newer ones differ from the older ones, they alone count; where they grow from run to run, all count, as
    long as they would be now.
    """
    newest = sorted(runs, key=lambda one: -one.since)[:LATE]
    grows = trend.of([(one.since / 1000, one.seconds) for one in newest if one.ended and one.since])
    if grows is None:
        return _product_limit(newest[: _like_now(newest)])
    last = newest[0].since
    now = [
        replace(one, seconds=one.seconds * exp(grows.per_s * (last - one.since) / 1000)) if one.ended else one
        for one in newest
        if one.since
    ]
    return replace(_product_limit(now), trend=grows)


def _like_now(newest: Sequence[Ran]) -> int:
    """How many of them, newest first, are of one kind, by the rank test of Mann and Whitney at each place where that
    may have changed.
    """
    count, found, most, apart = len(newest), len(newest), CHANGED, 0
    for new in range(1, count - 1):
        moved = newest[new - 1]
        apart -= sum(_longer(one, moved) for one in newest[: new - 1])
        apart += sum(_longer(moved, one) for one in newest[new:])
        if new < 2:
            continue
        sure = abs(apart) / (new * (count - new) * (count + 1) / 3) ** 0.5
        if sure >= most:
            found, most = new, sure
    return found


def _longer(one: Ran, other: Ran) -> int:
    """1: one lasts longer than the other, -1: shorter, 0: nobody can tell yet."""
    if other.ended and one.seconds >= other.seconds:
        return int(one.seconds > other.seconds or not one.ended)
    return -1 if one.ended and other.seconds >= one.seconds else 0


def _product_limit(newest: Sequence[Ran]) -> Runs:
    """The distribution of Kaplan and Meier: what still runs may last as long as any that lasted longer."""
    weighed = sorted((one.seconds, not one.ended, 0.5 ** (place / HALF)) for place, one in enumerate(newest))
    left, mass, shares, tells = sum(weight for _, _, weight in weighed), 1.0, [], 0
    for seconds, runs, weight in weighed:
        if not runs:
            shares.append((seconds, mass * weight / left))
            mass -= shares[-1][1]
            tells += 1
        left -= weight
    last = weighed[-1] if weighed else (0.0, False, 0.0)
    if mass > 1e-9 and last[1] and last[0] > 0:
        tells += sum(1 for seconds, runs, _ in weighed if runs and (not shares or seconds >= shares[-1][0]))
        shares.append((last[0], mass))
    elif not shares:
        return NOTHING
    ends, found, reached = iter(shares), [], 0.0
    seconds = 0.0
    for step in range(tells):
        while reached <= (step + 0.5) / tells and (one := next(ends, None)) is not None:
            seconds, reached = one[0], reached + one[1]
        found.append(seconds)
    longest = shares[-1][0] if last[1] else float("inf")
    return Runs(tuple(found), MEASURED, sum(1 for one in found if one >= longest))


def filled(newest: Sequence[Ran], says_s: float) -> Sequence[Ran]:
    """Too few that were measured, with as many more by what the type says: what other platforms take says little."""
    missing = max(0, ENOUGH - len(newest))
    says = declared(says_s)
    return [*newest, *(Ran(0, says.at((place + 0.5) / missing)) for place in range(missing))] if says.known else newest


def best(here: Runs, everywhere: Runs, says_s: float) -> Runs:
    """The best knowledge of a type in a shop: enough of that shop, else of all shops, else what the type says."""
    if len(here.seconds) >= ENOUGH:
        return here
    return everywhere if everywhere.known else here if here.known else declared(says_s)


def pooled(own: Measured, *wider: Measured) -> Measured:
    """Its own where it was measured often enough; fewer runs of its own move what the wider ones say."""
    if own.count >= ENOUGH or not wider:
        return own
    pool = pooled(*wider)
    if not own.count or not pool.count:
        return pool if pool.count else own
    share = own.count / (own.count + DOUBT)
    mean = share * own.mean_s + (1 - share) * pool.mean_s
    apart = abs(own.mean_s - pool.mean_s) / 2
    return Measured(count=own.count, mean_s=mean, deviation_s=max(own.deviation_s, apart, mean / 2))
