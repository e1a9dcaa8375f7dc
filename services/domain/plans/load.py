"""What a run of a schedule does to the line of the workers, minute by minute, beside the runs of others. Pure.

Each shop of a run is one task; all share the slots, in the order in which they come. Durations are those that were
measured; what waits already when the run begins is not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate

import msgspec

from services.domain.text.sentences import N_, NN_

MINUTE_MS = 60_000
#: minutes before the run that are shown, and at most after it
LEAD, LONGEST = 10, 24 * 60
#: minutes that one bar of the day to come stands for; its first begins with such a stretch of the clock
DAY_STEP = 5
#: until when a pause holds: nobody knows, so beyond all that is followed
NEVER = 1 << 62
#: as many tasks a slot are a line worth spreading
LONG_LINE = 3

SENTENCES: dict[str, str] = {
    "load.through": NN_(
        "The run of {clock} makes {tasks:,} task; with {slots:,} slots it is through by {end}.",
        "The run of {clock} makes {tasks:,} tasks; with {slots:,} slots they are through by {end}.",
        by="tasks",
    ),
    "load.through_rest": N_(
        "The run of {clock} makes {tasks:,} tasks; with {slots:,} slots those that no pause holds are through by {end}."
    ),
    "load.held": NN_(
        "The run of {clock} makes {tasks:,} task, which does not start while it is paused.",
        "The run of {clock} makes {tasks:,} tasks; none of them starts while it is paused.",
        by="tasks",
    ),
    "load.never": NN_(
        "The run of {clock} makes {tasks:,} task; with {slots:,} slots it is not through in a day.",
        "The run of {clock} makes {tasks:,} tasks; with {slots:,} slots they are not through in a day.",
        by="tasks",
    ),
    "load.nobody": NN_(
        "The run of {clock} makes {tasks:,} task; no worker runs now that would take it.",
        "The run of {clock} makes {tasks:,} tasks; no worker runs now that would take them.",
        by="tasks",
    ),
    "load.unmeasured": NN_(
        "The run of {clock} makes {tasks:,} task; how long one takes was not measured yet.",
        "The run of {clock} makes {tasks:,} tasks; how long one takes was not measured yet.",
        by="tasks",
    ),
    "load.peak": N_("The line is longest at {clock}: {tasks:,} tasks wait or run."),
    "load.beside": N_("Running beside it: {names}."),
    "load.quiet": N_("Quiet hours hold {tasks:,} of them back until {clock}."),
    "load.breaks": NN_(
        "The promise {name} is for {clock}: {left:,} shop would not be done by then.",
        "The promise {name} is for {clock}: {left:,} shops would not be done by then.",
        by="left",
    ),
    "load.keeps": N_("In time for the promise {name} ({clock})."),
    "load.paused": N_("A pause holds {tasks:,} of them back."),
    "load.ahead": NN_(
        "{tasks:,} task is planned in these {hours} h; slots for it: {slots:,}.",
        "{tasks:,} tasks are planned in these {hours} h; slots for them: {slots:,}.",
        by="tasks",
    ),
    "load.ahead_nobody": NN_(
        "{tasks:,} task is planned in these {hours} h; no worker runs now that would take it.",
        "{tasks:,} tasks are planned in these {hours} h; no worker runs now that would take them.",
        by="tasks",
    ),
    "load.ahead_nobody_many": N_(
        "More than {tasks:,} tasks are planned in these {hours} h; no worker runs now that would take them."
    ),
    "load.ahead_nothing": N_("No run is planned in these {hours} h."),
    "load.ahead_held": N_("No task is planned in these {hours} h: those of the last runs are still held."),
    "load.left_out": NN_(
        "{n:,} more is left out: a pause or quiet hours still hold that of the run before.",
        "{n:,} more are left out: a pause or quiet hours still hold those of the run before.",
    ),
    "load.own_held": N_(
        "The run at {clock} makes nothing: a pause or quiet hours still hold what the one before has made."
    ),
    "load.ahead_many": N_("More than {tasks:,} tasks are planned in these {hours} h: too many to follow one by one."),
    "load.ahead_unknown": N_("Not in it, since how long one takes was not measured yet: {names}."),
    "load.ahead_cut": N_("Shown is what comes up to {clock}."),
    "load.cut": N_(
        "Of other schedules what runs up to {clock} is in it; beyond that there are too many tasks to follow."
    ),
    "load.cut_before": N_(
        "Of other schedules not all that runs up to {clock} is in it: there are too many tasks to follow."
    ),
    "load.spread": N_("Spread over {span}, hardly any of them would wait."),
}


class Burst(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a schedule on one platform. Instants are UTC ms; ``quiet``: when none of its tasks may start, up to
    ``NEVER`` where a pause holds them.
    """

    name: str
    at: int
    tasks: int
    mean_s: float
    spread_s: int = 0
    quiet: tuple[tuple[int, int], ...] = ()
    own: bool = False  #: of the schedule that is asked about

    @property
    def paused(self) -> bool:
        """Whether a pause holds all of it."""
        return any(end == NEVER for _start, end in self.quiet)


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What waits or runs at the end of each minute from ``begins`` on, of the run itself and of others."""

    begins: int
    own: tuple[int, ...] = ()
    others: tuple[int, ...] = ()
    end: int = 0  #: when the run is through; 0: not within what was followed
    beside: tuple[str, ...] = ()  #: whose tasks are there as well while those of the run are
    most: tuple[int, int] | None = None  #: the most tasks at once and when, where that is known more exactly

    @property
    def peak(self) -> tuple[int, int]:
        """The most tasks at once, and when."""
        if self.most is not None:
            return self.most
        sums = [mine + other for mine, other in zip(self.own, self.others, strict=True)]
        place = max(range(len(sums)), key=sums.__getitem__, default=0)
        return (sums[place], self.begins + place * MINUTE_MS) if sums else (0, self.begins)

    def left(self, at: int) -> int:
        """How many of the run itself are not through at an instant."""
        place = (at - self.begins) // MINUTE_MS
        return self.own[min(place, len(self.own) - 1)] if self.own and place >= 0 else 0


def follow(bursts: Sequence[Burst], slots: int, *, passing: bool = False) -> Load:
    """Follow the line until the run is through, for a day at most: whoever comes first goes to the first free slot.
    ``passing``: all are of the run, and each minute counts what is there at any moment of it, in place of what is left
    at its end.
    """
    mine = [burst for burst in bursts if passing or burst.own]
    if not mine or slots <= 0:
        return Load(begins=min((burst.at for burst in mine), default=0))
    first = min(burst.at for burst in mine)
    last = first + LONGEST * MINUTE_MS
    ended: list[tuple[Burst, int, int, int]] = []
    parts = list(_parts(bursts))
    # those of a burst that come together are followed as one, and so are slots that are free at the same time
    line = [(at, n, burst, count) for n, (burst, at, count) in enumerate(parts)]
    heapify(line)
    free = [(0, slots)]
    open_ones, through = sum(burst.tasks for burst in mine), first
    while line and (open_ones or line[0][0] <= through):
        served = _serve(line, free)
        if served is None:
            continue
        burst, n, begins, taken = served
        ends = begins + _lasts(burst)
        ended.append((burst, parts[n][1], ends, taken))
        if passing or burst.own:
            open_ones, through = open_ones - taken, max(through, ends)
        if begins > last:
            break
    begins = first // MINUTE_MS * MINUTE_MS - LEAD * MINUTE_MS
    end = through if through <= last and not open_ones else 0
    minutes = ((end or last) - begins) // MINUTE_MS + 2
    own, others = [0] * (minutes + 2), [0] * (minutes + 2)
    ended += [(burst, parts[n][1], last + LONGEST * MINUTE_MS, count) for _at, n, burst, count in line]
    beside: set[str] = set()
    for burst, came, ends, number in ended:
        mine_too = passing or burst.own
        count_of = own if mine_too else others
        count_of[_place(came, begins, minutes)] += number
        count_of[_place(ends - passing, begins, minutes) + passing] -= number
        if not mine_too and not burst.paused and came < through and ends > first:
            beside.add(burst.name)
    return Load(
        begins=begins,
        own=tuple(accumulate(own[:minutes])),
        others=tuple(accumulate(others[:minutes])),
        end=end,
        beside=tuple(sorted(beside)),
        most=_most([(came, ends, number) for _burst, came, ends, number in ended], first, end or last),
    )


def _most(spans: Sequence[tuple[int, int, int]], first: int, last: int) -> tuple[int, int]:
    """The most of what comes and goes between two instants, and when: a minute ends with fewer than were there."""
    steps: Counter[int] = Counter()
    for came, ends, number in spans:
        steps[came] += number
        steps[ends] -= number
    most, when, there = 0, first, 0
    for moment in sorted(steps):
        there += steps[moment]
        if first <= moment <= last and there > most:
            most, when = there, moment
    return most, when


def ahead(bursts: Sequence[Burst], slots: int, begins: int, minutes: int) -> Load:
    """What is there in each of so many minutes from an instant on, of all these runs, as ``own``."""
    found = follow(bursts, slots, passing=True)
    begins -= begins % MINUTE_MS
    skip = (begins - found.begins) // MINUTE_MS
    line = (0,) * -skip + found.own[max(0, skip) :] if found.own else ()
    line = line[:minutes] + (0,) * (minutes - len(line))
    return Load(begins=begins, own=line, others=(0,) * minutes, end=found.end)


def _parts(bursts: Sequence[Burst]) -> Iterator[tuple[Burst, int, int]]:
    """Of each burst when tasks come, and how many together."""
    for burst in bursts:
        if burst.spread_s:
            for n in range(burst.tasks):
                yield burst, burst.at + burst.spread_s * 1000 * n // burst.tasks, 1
        elif burst.tasks:
            yield burst, burst.at, burst.tasks


#: when they may begin at the earliest, their place among those that come then, whose they are, how many
_Waiting = tuple[int, int, Burst, int]


def _serve(line: list[_Waiting], free: list[tuple[int, int]]) -> tuple[Burst, int, int, int] | None:
    """Let as many as can of those that are first begin: whose they are, their place, when, how many; None where they
    wait for their quiet hours to end. ``free``: when slots are free, and how many.
    """
    at, n, burst, count = line[0]
    since, idle = free[0]
    begins = max(at, since)
    if (opens := _opens(burst, begins)) > begins:
        heapreplace(line, (opens, n, burst, count))
        return None
    taken = min(count, idle)
    if taken == idle:
        heapreplace(free, (begins + _lasts(burst), taken))
    else:
        free[0] = (since, idle - taken)
        heappush(free, (begins + _lasts(burst), taken))
    if taken == count:
        heappop(line)
    else:
        line[0] = (at, n, burst, count - taken)
    return burst, n, begins, taken


def _lasts(burst: Burst) -> int:
    """How long one of its tasks takes, ms."""
    return max(1, round(burst.mean_s * 1000))


def _place(at: int, begins: int, minutes: int) -> int:
    return min(minutes, max(0, (at - begins) // MINUTE_MS))


def _opens(burst: Burst, at: int) -> int:
    """When it may start, at or after an instant."""
    for start, end in burst.quiet:
        if start <= at < end:
            at = end
    return at


def spread(load: Load, mine: Sequence[Burst], slots: int) -> int:
    """Over how many seconds the run should be spread so that hardly anything waits; 0 where it is well as it is."""
    tasks = sum(burst.tasks for burst in mine)
    if not slots or tasks < LONG_LINE * slots or any(burst.spread_s for burst in mine) or not load.end:
        return 0
    if load.end - min(burst.at for burst in mine) < MINUTE_MS:  # nobody waits for long
        return 0
    seconds = sum(burst.tasks * burst.mean_s for burst in mine) / slots
    return max(300, round(seconds / 300) * 300)
