"""How long tasks take: what was measured of late as a distribution, for a task that somebody waits for, and as its mean
with a deviation, for a fleet that is followed with thousands of them; what is left of one that runs. Pure: who has the
records hands in seconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.domain.task.record import Task
from services.domain.task.status import Status

MEASURED, PROGRESS, DECLARED, UNKNOWN = "measured", "progress", "declared", "unknown"
#: so many attempts of a shop say more about it than those of all shops
ENOUGH = 5
#: so many of the newest tell how long tasks take of late, also where that has changed
LATE = 10
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
#: what ran so many times as long as nearly all before it, and at least so long, hangs as far as one can tell
HANGS, HANGS_S, HANGS_SEEN = 5.0, 30.0, 3
#: the rest by progress is as uneven as the steps of a flow
_UNEVEN = (0.6, 0.75, 0.87, 1.0, 1.15, 1.35, 1.7)


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


NOT_MEASURED = Measured()


@dataclass(frozen=True, slots=True)
class Runs:
    """Seconds in ascending order and where they come from; ``overdue``: something runs longer than all of them."""

    seconds: tuple[float, ...] = ()
    basis: str = UNKNOWN
    overdue: bool = False

    @property
    def known(self) -> bool:
        """Whether anything can be told."""
        return bool(self.seconds)

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
        return ran_s >= max(HANGS_S, HANGS * self.at(HIGH))

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
            return Runs(tuple(one - ran_s for one in longer), self.basis)
        return Runs(tuple(ran_s * share for share in _OVERDUE), self.basis, overdue=True)


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


def of_late(ended: Sequence[float], running: Iterable[float] = ()) -> Runs:
    """How long tasks take now: seconds of those that ended, newest first, and of those that run so far. One that runs
    longer than nearly all of them counts too, as one that lasts at least so long (``overdue``): else a page that has
    become slow would be as fast as ever until the first of its tasks has ended.
    """
    newest = ended[:LATE]
    if not newest:
        return NOTHING
    nearly_all = measured(newest).at(HIGH)
    longer = sorted((one for one in running if one > nearly_all), reverse=True)[:LATE]
    found = measured([*longer, *newest[: LATE - len(longer)]])
    return replace(found, overdue=bool(longer))


def filled(newest: Sequence[float], says_s: float) -> Sequence[float]:
    """Too few that were measured, with as many more by what the type says: what other platforms take says little."""
    missing = max(0, ENOUGH - len(newest))
    says = declared(says_s)
    return [*newest, *(says.at((place + 0.5) / missing) for place in range(missing))] if says.known else newest


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
