"""Whether a flow has changed against its own past before anything dies of it: how long it runs and each of its steps,
how many rows it brings, how large its results are. Pure: runs are handed in as they end, in their order.

Every run is compared with the runs of its own shop before, so large and small shops may stand side by side, and how far
that one may be off is learned from what was usual of late and at this time of day. A change is told where it is large,
came at once and stays; what comes slowly, or comes every night, becomes what is usual.
"""

from __future__ import annotations

import json
from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec

from services.domain.task.record import Task
from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_
from services.domain.upkeep.stored import Document, Instant, Measure

KIND = "drift"  #: of the store's documents; the name is ``type:platform``
SECONDS, SIZE, ROWS, STEP = "seconds", "size", "rows", "step"
#: so many of the last ``LAST`` runs must be off
OFF, LAST = 4, 5
#: a change is at least so large
SLOWER, FEWER, SMALLER = 2.5, 4.0, 8.0
#: and what went before it was no further from the usual than this
CALM = 1.5
#: runs of a shop before it is compared, as many of them as say what is usual there, and runs that were compared before
#: anything is said
OWN, OF_OWN, PAST = 3, 48, 4
#: compared runs that say what is usual of late; and of one hour of the day
OF_LATE, OF_HOUR = 60, 30
#: what nearly all are below, how far beyond that is more than usual, and how many of an hour of the day say something
NEARLY_ALL, BEYOND, HOURLY = 0.98, 1.15, 10
#: with less than this known of a day, a change counts only where it came within so short a time
DAY_MS, SOON_MS = 36 * 3_600_000, 2 * 3_600_000
HOUR_MS, HALF_DAY_MS = 3_600_000, 12 * 3_600_000
#: what stays for so long and so many runs is what is usual now
SETTLED_MS, SETTLED = 24 * 3_600_000, 400
#: runs shorter than this are not slower by what a machine does beside; rows and bytes below this are as good as none
LEAST_S, LEAST_ROWS, LEAST_BYTES = 0.3, 1.5, 64.0
#: numbers of a result, and steps of a run, that are followed
FIELDS, STEPS = 8, 12

SENTENCES: dict[str, str] = {
    "drift.seconds": N_("{work} on {platform} became {factor}× slower at {from_at}: {after} s, usually {before} s"),
    "drift.step": N_(
        "Step {name} of {work} on {platform} became {factor}× slower at {from_at}: {after} s, usually {before} s"
    ),
    "drift.rows": N_("{work} on {platform}: {name} per run fell to {after} at {from_at}, usually {before}"),
    "drift.size": N_("{work} on {platform}: its results fell to {after} bytes at {from_at}, usually {before}"),
    "drift.shops": N_("{off} of the last {of} runs, shops: {shops}"),
    "drift.next": N_("Run one with a picture of the page and look whether the page has changed, before more run."),
}


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A run that went well. ``figures``: what was measured of it by name (``rows:orders``); ``at``: its end, UTC ms."""

    shop: str
    at: int
    figures: Mapping[str, float]


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a type on a platform that is another than it was."""

    figure: str  #: seconds | size | rows:NAME | step:NAME
    since: Instant  #: end of the first run that was off, UTC ms
    factor: Measure  #: so many times as long, or so many times as few
    before: Measure  #: what was usual in these shops, in seconds, rows or bytes
    after: Measure
    shops: tuple[str, ...] = ()
    off: int = 0  #: of the last runs
    of: int = 0


class Drifts(msgspec.Struct, frozen=True, kw_only=True):
    """What has drifted of one type on one platform, as it was seen last; ``at``: UTC ms."""

    task_type: str
    platform: str
    at: Instant
    found: tuple[Drift, ...] = ()


DOCUMENT = Document(Drifts)


def run_of(task: Task) -> RunFigures | None:
    """What was measured of a task that succeeded, None for any other."""
    last = task.attempts[-1] if task.attempts else None
    if last is None or last.outcome != "succeeded" or last.ended_at < last.started_at:
        return None
    figures = {SECONDS: (last.ended_at - last.started_at) / 1000, **_of_result(task.result)}
    for name, seconds in last.took[:STEPS]:
        key = f"{STEP}:{name}"
        figures[key] = figures.get(key, 0.0) + seconds
    return RunFigures(shop=task.shop, at=last.ended_at, figures=figures)


def _of_result(result: str) -> dict[str, float]:
    if not result:
        return {}
    found = {SIZE: float(len(result))}
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return found
    rows = {"": value} if isinstance(value, list) else value if isinstance(value, dict) else {}
    for name, one in list(rows.items())[:FIELDS]:
        if isinstance(one, list | dict):
            found[f"{ROWS}:{name}"[:60]] = float(len(one))
        elif isinstance(one, int) and not isinstance(one, bool) and one >= 0:
            found[f"{ROWS}:{name}"[:60]] = float(one)
    return found


class _Compared(msgspec.Struct, frozen=True):
    """A run beside the usual of its shop; ``off``: how many times as bad, 1 as usual. ``there``: the same beside what
    the shop had around this time of day before.
    """

    shop: str
    at: int
    value: float
    usual: float
    off: float
    there: float


class Series:
    """One figure of one type on one platform."""

    __slots__ = (
        "_before",
        "_began",
        "_days",
        "_first",
        "_hours",
        "_late",
        "_least",
        "_limit",
        "_new",
        "_own",
        "_rises",
        "_wide",
    )

    def __init__(self, figure: str) -> None:
        head = figure.partition(":")[0]
        self._rises = head in (SECONDS, STEP)
        self._wide = SLOWER if self._rises else SMALLER if head == SIZE else FEWER
        self._least = LEAST_S if self._rises else LEAST_BYTES if head == SIZE else LEAST_ROWS
        self._own: dict[str, deque[float]] = {}
        #: of each shop the value of the last run of each hour of the day, and in which hour since 1970 that was
        self._days: dict[str, tuple[array[float], array[int]]] = {}
        self._late: deque[float] = deque(maxlen=OF_LATE)
        self._hours: dict[int, deque[tuple[int, float]]] = {}
        self._new: deque[_Compared] = deque()  #: the last runs, not yet part of what is usual
        self._before: _Compared | None = None  #: the last that is part of it
        self._first = 0  #: when the first run was compared
        self._limit = 0.0  #: what was more than usual when it began to be off; 0: it is not
        self._began: list[_Compared] = []  #: runs that were off since

    def add(self, shop: str, at: int, value: float) -> None:
        """A run has ended."""
        own = self._own.get(shop)
        if own is None or len(own) < OWN:
            self._admit(shop, at, value)
            return
        usual = median(own)
        limit = self._limit or self._more_than_usual(at)
        if not self._rises and usual + self._least < limit * self._least:
            self._admit(shop, at, value)  # so few that none at all says nothing
            return
        there = self._off(value, self._at_this_hour(shop, at, usual))
        one = _Compared(shop, at, value, usual, self._off(value, usual), there)
        self._first = self._first or at
        self._new.append(one)
        if self._limit:
            self._go_on(one)
        elif len(self._new) > LAST:
            self._settle(self._new.popleft())
        if not self._limit:
            self._look()

    def drift(self) -> tuple[float, int, Sequence[_Compared]] | None:
        """How far it is off, since when, and the runs that are; None where it is as usual."""
        if not self._limit or not self._began:
            return None
        return median(one.off for one in self._began[-LAST * 4 :]), self._began[0].at, self._began

    def last(self) -> tuple[int, int]:
        """How many of the last runs are off, and of how many."""
        return sum(one.off >= self._limit for one in self._new), len(self._new)

    # ------------------------------------------------------------------------------------------------------ usual
    def _admit(self, shop: str, at: int, value: float) -> None:
        self._own.setdefault(shop, deque(maxlen=OF_OWN)).append(value)
        values, hours = self._days.setdefault(shop, (array("d", bytes(8 * 24)), array("q", bytes(8 * 24))))
        values[_hour(at)], hours[_hour(at)] = value, at // HOUR_MS

    def _at_this_hour(self, shop: str, at: int, usual: float) -> float:
        """What a shop had around this time of day before, where that is known: its second night is no changed page."""
        values, hours = self._days[shop]
        near = ((_hour(at) + step) % 24 for step in (-1, 0, 1))
        before = [values[one] for one in near if hours[one] and (at // HOUR_MS - hours[one]) * HOUR_MS >= HALF_DAY_MS]
        return median(before) if len(before) > 1 else usual

    def _off(self, value: float, usual: float) -> float:
        low, high = (usual, value) if self._rises else (value, usual)
        return (high + self._least) / (low + self._least)

    def _settle(self, one: _Compared) -> None:
        """What is not off any more, or never was, is part of what is usual."""
        self._admit(one.shop, one.at, one.value)
        self._late.append(one.off)
        self._hours.setdefault(_hour(one.at), deque(maxlen=OF_HOUR)).append((one.at, one.off))
        self._before = one

    def _at_hour(self, at: int, *, until: int) -> Sequence[float]:
        """What was usual around this time of day, up to an instant."""
        near = ((_hour(at) + step) % 24 for step in (-1, 0, 1))
        return [off for hour in near for ended, off in self._hours.get(hour, ()) if ended <= until]

    def _more_than_usual(self, at: int) -> float:
        there = self._at_hour(at, until=at)
        limits = [self._wide, BEYOND * _nearly_all(self._late)]
        if len(there) >= HOURLY:
            limits.append(BEYOND * _nearly_all(there))
        return max(limits)

    # -------------------------------------------------------------------------------------------------------- off
    def _look(self) -> None:
        """Whether the last runs are off."""
        if len(self._late) < PAST or len(self._new) < OFF or self._before is None:
            return
        limit = self._more_than_usual(self._new[-1].at)
        off = [one for one in self._new if min(one.off, one.there) >= limit]
        if len(off) < OFF or (len({one.shop for one in off}) == 1 and len(self._own) > OFF):
            return
        there = self._at_hour(self._before.at, until=self._before.at - HALF_DAY_MS)
        usual = median(there) if len(there) >= HOURLY else 1.0
        if median(list(self._late)[-2 * OFF :]) >= CALM * max(1.0, usual):
            return  # it came step by step
        span = self._new[-1].at - self._first
        if span < DAY_MS and self._new[-1].at - self._before.at > SOON_MS:
            return  # too little is known of a day to tell this from its night
        self._limit, self._began = limit, off

    def _go_on(self, one: _Compared) -> None:
        """Another run while it is off: it may be over, or what is usual now."""
        if one.off >= self._limit:
            self._began.append(one)
        while len(self._new) > LAST:
            gone = self._new.popleft()
            if gone.off < self._limit:
                self._settle(gone)
        if len(self._new) >= OFF and sum(each.off < self._limit for each in self._new) >= OFF:
            for each in self._began:  # what ended by itself may come again at the same time of day
                self._hours.setdefault(_hour(each.at), deque(maxlen=OF_HOUR)).append((each.at, each.off))
            self._limit, self._began = 0.0, []
        elif len(self._began) >= SETTLED and one.at - self._began[0].at >= SETTLED_MS:
            self._own.clear()
            self._days.clear()
            self._late.clear()
            self._hours.clear()
            self._new.clear()
            self._before, self._first, self._limit, self._began = None, 0, 0.0, []
        elif len(self._began) > 2 * SETTLED:
            del self._began[1:SETTLED]


def _hour(at: int) -> int:
    return at // HOUR_MS % 24


def _nearly_all(offs: Iterable[float]) -> float:
    ordered = sorted(offs)
    return ordered[min(len(ordered) - 1, int(NEARLY_ALL * len(ordered)))] if ordered else 0.0


class Flow(msgspec.Struct):
    """One type on one platform, with all its figures."""

    task_type: str
    platform: str
    series: dict[str, Series] = msgspec.field(default_factory=dict)

    #: figures of one flow: what its results hold may be named by what it found
    MOST = FIELDS + STEPS + 2

    def add(self, run: RunFigures) -> None:
        """A run has ended well."""
        for figure, value in run.figures.items():
            if figure not in self.series and len(self.series) >= self.MOST:
                continue
            self.series.setdefault(figure, Series(figure)).add(run.shop, run.at, value)

    def found(self, now_ms: int) -> Drifts:
        """What has drifted, as far as was seen."""
        found = []
        for figure, series in self.series.items():
            if drift := series.drift():
                factor, since, runs = drift
                off, of = series.last()
                found.append(
                    Drift(
                        figure=figure,
                        since=since,
                        factor=round(factor, 1),
                        before=round(median(one.usual for one in runs), 2),
                        after=round(median(one.value for one in runs), 2),
                        shops=tuple(sorted({one.shop for one in runs}))[:50],
                        off=off,
                        of=of,
                    )
                )
        return Drifts(task_type=self.task_type, platform=self.platform, at=now_ms, found=tuple(_told_once(found)))


def _told_once(found: Sequence[Drift]) -> Sequence[Drift]:
    """The worst first. A result is smaller because it holds fewer rows; a run is longer because a step is."""
    rows = any(one.figure.startswith(ROWS) for one in found)
    kept = [one for one in found if not (rows and one.figure == SIZE)]
    return sorted(kept, key=lambda one: (not one.figure.startswith(ROWS), -one.factor, one.figure))


def sentence(drifts: Drifts, one: Drift, clock: str, platform: str = "", work: str = "") -> Message:
    """One drift in words; ``clock``: the time of day at which it began."""
    head, _, name = one.figure.partition(":")
    params: dict[str, Param] = {
        "work": work or drifts.task_type,
        "platform": platform or drifts.platform.upper(),
        "from_at": clock,
        "factor": f"{one.factor:.2g}" if one.factor < 10 else f"{one.factor:,.0f}",
        "before": f"{one.before:g}",
        "after": f"{one.after:g}",
        "name": name or ROWS,
    }
    return Message(f"drift.{head}", params)


def extent(one: Drift) -> Message:
    """In how many of the last runs, and in which shops."""
    return Message("drift.shops", {"off": one.off, "of": one.of, "shops": len(one.shops)})
