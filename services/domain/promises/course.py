"""How the worst of a promise goes on from now: if nothing changes, and if what holds its shops is done away with. Pure.

Of a promise of an age that is the age of the oldest success, of one that is to be done by an hour the shops in which it
is still to be done. Each shop is followed to its next success, which the forecast tells, and from there on by how often
one came so far; where that is not known, by its age.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

import msgspec

from services.domain.promises import judge as judging
from services.domain.promises.judge import AT_RISK, BROKEN, KEPT, Due, Forecast, Judged
from services.domain.promises.promise import AGE, Promise
from services.domain.upkeep.stored import Count, Instant

#: parts of the time ahead
POINTS = 48
#: so far it is followed at least and at most; further than to its break by this share
LEAST_MS, MOST_MS, BEYOND = 10 * 60_000, 6 * 3_600_000, 0.25
_NEVER = math.inf

#: the least, the usual and the most from one success to the next, ms; empty where too few were seen
Pace = tuple[int, int, int] | tuple[()]
#: at each instant the least, the likely and the most
Span = tuple[Count, Count, Count]


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """From ``begins`` on, at equal steps up to ``ends``: seconds of age, or shops."""

    begins: Instant
    ends: Instant
    stays: tuple[Span, ...]  #: if nothing changes
    helped: tuple[Span, ...] = ()  #: with what helps done now; empty where nothing of it changes the forecast
    kept_at: Instant = 0  #: then all shops that are not kept have their success, UTC ms; 0: not all of them
    breaks: Count = 0  #: shops that break even so, and are not broken yet
    breaks_at: Instant = 0  #: the first of these
    untold: Count = 0  #: shops of which nobody can tell what comes then
    beyond: bool = False  #: of an age: it is drawn beyond the next success of every shop
    every_s: Count = 0  #: and then so often; 0 where nobody can tell yet


def oldest(promise: Promise, found: Iterable[Judged], now: int) -> int | None:
    """The worst at this moment: seconds of age, or shops; None where it is open in no shop."""
    open_ = _open(found)
    if promise.kind != AGE:
        return len(open_)
    first = min((one.break_at for one in open_), default=0)
    return max(0, (now - first) // 1000 + promise.limit_s) if first else None


def _open(found: Iterable[Judged]) -> list[Judged]:
    return [one for one in found if one.break_at and one.state in (AT_RISK, BROKEN, KEPT)]


def course(promise: Promise, window: Due, found: Sequence[Judged], now: int, pace: Pace = ()) -> Course | None:
    """Of all shops in which it is open; None where none is at risk or broken."""
    bad = [one for one in found if one.state in (AT_RISK, BROKEN)]
    if not bad:
        return None
    open_ = _open(found)
    ends = _ends(promise, window, bad, now)
    instants = [now + round((ends - now) * place / POINTS) for place in range(POINTS + 1)]
    follow = _oldest(promise, open_, pace) if promise.kind == AGE else _left(open_)
    # a help whose success lies behind the end draws the same, and yet brings it sooner
    helps = any(_helped(one) not in (None, one.forecast) for one in bad)
    untold = sum(1 for one in bad if _helped(one) is None)
    late = [one for one in bad if one.state == AT_RISK and _breaks(one)]
    told = [one.mid for one in map(_helped, bad) if one is not None]
    last = max((one.mid if one is not None else _NEVER for one in map(_helped, open_)), default=_NEVER)
    beyond = promise.kind == AGE and last < ends
    return Course(
        begins=now,
        ends=ends,
        stays=follow(lambda one: one.forecast, instants),
        helped=follow(_helped, instants) if helps else (),
        kept_at=0 if untold else max(told),
        breaks=len(late),
        breaks_at=min((one.break_at for one in late), default=0),
        untold=untold,
        beyond=beyond,
        every_s=pace[1] // 1000 if beyond and pace else 0,
    )


def _helped(one: Judged) -> Forecast | None:
    """What comes once it is helped; where nothing helps, what comes anyway."""
    return one.helped if one.state in (AT_RISK, BROKEN) else one.forecast


def _breaks(one: Judged) -> bool:
    then = one.helped
    return then is not None and then.later_than(one.break_at) >= judging.LIKELIER


def _ends(promise: Promise, window: Due, bad: Iterable[Judged], now: int) -> int:
    """Far enough to see the break, and what comes of the help."""
    least, most = LEAST_MS, MOST_MS
    if promise.kind == AGE:
        limit = promise.limit_s * 1000
        least, most = min(least, limit), min(most, limit)
    seen = [at for one in bad for at in (one.break_at, one.helped.high if one.helped is not None else 0) if at > now]
    far = max([*seen, window.ends]) - now if seen else 0
    return now + round(min(most, max(least, far * (1 + BEYOND))))


Of = Callable[[Judged], Forecast | None]
Follow = Callable[[Of, Sequence[int]], tuple[Span, ...]]


def _oldest(promise: Promise, open_: Iterable[Judged], pace: Pace) -> Follow:
    """Seconds of age of the oldest success: of the first in line whose next one is still to come, which is older than
    all that came since; once there is none, of what came since.
    """
    limit = promise.limit_s * 1000
    line = sorted(open_, key=lambda one: one.break_at)

    def edge(ends: Sequence[float], instants: Sequence[int], every: int) -> list[int]:
        ages, place, first = [], 0, _NEVER
        turns = sorted(end % every for end in ends) if every and _NEVER not in ends else []
        for at in instants:
            while place < len(line) and ends[place] <= at:
                first = min(first, ends[place])
                place += 1
            if place < len(line):
                age: float = at - (line[place].break_at - limit)
            elif turns:  # whose turn comes next has waited longest
                phase = at % every
                behind = bisect_right(turns, phase)
                age = phase + every - turns[behind] if behind < len(turns) else phase - turns[0]
            else:
                age = at - first
            ages.append(max(0, round(age / 1000)))
        return ages

    def follow(of: Of, instants: Sequence[int]) -> tuple[Span, ...]:
        paces = iter(pace or (0, 0, 0))
        spans = _spans(line, of, instants, lambda ends, at: edge(ends, at, next(paces)))
        # turns of another length come at other times
        return tuple((low, mid, high) for low, mid, high in map(sorted, spans)) if pace else spans

    return follow


def _left(open_: Iterable[Judged]) -> Follow:
    """Shops in which it is still to be done."""
    line = list(open_)

    def edge(ends: Sequence[float], instants: Sequence[int]) -> list[int]:
        ordered = sorted(ends)
        return [len(line) - bisect_right(ordered, at) for at in instants]

    return lambda of, instants: _spans(line, of, instants, edge)


def _spans(
    line: Sequence[Judged],
    of: Of,
    instants: Sequence[int],
    edge: Callable[[Sequence[float], Sequence[int]], list[int]],
) -> tuple[Span, ...]:
    found = [of(one) for one in line]
    edges = (
        edge([_NEVER if one is None else getattr(one, name) for one in found], instants)
        for name in ("low", "mid", "high")
    )
    return tuple(zip(*edges, strict=True))
