"""When what waits will have run, by lane and platform, and what is left at an instant that matters. Pure.

Shops are followed one by one: each runs so many at once, and all of them share the slots of the workers; a lane that
goes first takes what it can use before the next. Durations and arrivals are those that were measured.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from services.domain.text.message import Message, Param
from services.domain.text.sentences import N_, NN_

#: parts that a drain is followed in, and how far
STEPS, LONGEST_S = 120, 7 * 86_400.0
#: so many slots more are asked for at most
MOST_SLOTS = 512

SENTENCES: dict[str, str] = {
    "drain.clear": N_("clear in about {span}"),
    "drain.clear_held": N_("{waiting:,} clear in about {span}; held up: {held:,}"),
    "drain.clear_held.one": N_("1 clears in about {span}; held up: {held:,}"),
    "drain.never": N_("never at this pace: more comes than goes"),
    "drain.unknown": N_("how long its tasks take was not measured yet"),
    "drain.nobody": N_("no worker takes them"),
    "drain.lost": N_("the broker cannot be reached: none starts until it is back"),
    "drain.keeps": N_("done by {clock}"),
    "drain.keeps_held": N_("done by {clock} but for {held:,} held up"),
    "drain.misses": NN_("misses {clock} by {left:,} task", "misses {clock} by {left:,} tasks", by="left"),
    "drain.misses_slots": NN_(
        "misses {clock} by {left:,} tasks; {more:,} more slot would do",
        "misses {clock} by {left:,} tasks; {more:,} more slots would do",
        by="more",
    ),
    "drain.misses_slots.one": N_("misses {clock} by {left:,} task; {more:,} more slot would do"),
    "drain.misses_shop": NN_(
        "misses {clock} by {left:,} task; more slots do not help, a shop runs {limit:,} at a time",
        "misses {clock} by {left:,} tasks; more slots do not help, a shop runs {limit:,} at a time",
        by="left",
    ),
}


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What waits of a shop in a lane. ``mean_s``: seconds of one task; ``arrivals``: new ones a second."""

    lane: str
    platform: str
    shop: str
    waiting: float
    mean_s: float
    concurrency: int = 1
    arrivals: float = 0.0
    also: tuple[str, ...] = ()  #: what else it counts to: a promise, a deadline
    pool: str = ""  #: names the workers that can run it, where not all of them can
    barred: int = 0  #: slots of the others


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """How it goes. Seconds from now; by what is asked about: a lane, a platform, or "" for all."""

    seconds: Mapping[str, float | None] = {}  #: until it is clear, None for never
    curve: Mapping[str, tuple[tuple[float, float], ...]] = {}  #: (seconds, left)

    def left(self, name: str, after_s: float) -> float:
        """How many are left of it then."""
        points = self.curve.get(name, ())
        before = (0.0, points[0][1]) if points else (0.0, 0.0)
        for at, left in points:
            if at >= after_s:
                share = (after_s - before[0]) / (at - before[0]) if at > before[0] else 1.0
                return before[1] + (left - before[1]) * share
            before = (at, left)
        return before[1]


def names(line: Line) -> tuple[str, ...]:
    """What a line counts to."""
    return "", f"lane:{line.lane}", f"platform:{line.platform}", *line.also


def few(lines: Sequence[Line], most: int) -> tuple[Line, ...]:
    """No more lines than can be followed: the shortest of a lane and platform are one, which runs as many at once."""
    if len(lines) <= most:
        return tuple(lines)
    ordered = sorted(lines, key=lambda line: -line.waiting * line.mean_s / max(1, line.concurrency))
    together: dict[tuple[str, str, tuple[str, ...], str, int], list[Line]] = {}
    for line in ordered[most // 2 :]:
        together.setdefault((line.lane, line.platform, line.also, line.pool, line.barred), []).append(line)
    joined: list[Line] = []
    for (lane, platform, also, pool, barred), some in together.items():
        waiting = sum(line.waiting for line in some)
        joined.append(
            Line(
                lane=lane,
                platform=platform,
                shop=f"{platform}:*{len(joined)}",
                waiting=waiting,
                mean_s=sum(line.waiting * line.mean_s for line in some) / max(1e-9, waiting),
                concurrency=sum(line.concurrency for line in some),
                arrivals=sum(line.arrivals for line in some),
                also=also,
                pool=pool,
                barred=barred,
            )
        )
    return (*ordered[: most // 2], *joined)


def follow(lines: Sequence[Line], slots: int, order: Sequence[str], until_s: float = 0.0) -> Course:
    """Follow it to its end, or to ``until_s`` where that is later. ``order``: lanes, the one that goes first before."""
    left = [line.waiting for line in lines]
    rank = sorted(range(len(lines)), key=lambda n: order.index(lines[n].lane) if lines[n].lane in order else 99)
    wanted = sorted({name for line in lines for name in names(line)})
    own = {name: [n for n, line in enumerate(lines) if name in names(line)] for name in wanted}
    slowest = {name: max(lines[n].mean_s for n in numbers) for name, numbers in own.items()}
    curve = {name: [(0.0, sum(left[n] for n in numbers))] for name, numbers in own.items()}
    at, step = 0.0, _step(lines, slots, until_s)
    clear: dict[str, float | None] = {name: 0.0 if not points[0][1] else None for name, points in curve.items()}
    for _number in range(4 * STEPS):
        if slots <= 0 or at >= LONGEST_S or (at >= until_s and all(one is not None for one in clear.values())):
            break
        _advance(lines, left, rank, slots, step)
        at += step
        for name, points in curve.items():
            points.append((at, sum(left[n] for n in own[name])))
            if clear[name] is None and points[-1][1] < 0.5:
                clear[name] = at + slowest[name] / 2  # the last of them still runs
            elif points[-1][1] >= 1.0:
                clear[name] = None
        if at >= max(until_s, step * STEPS) and any(one is None for one in clear.values()):
            step *= 1.5
    return Course(seconds=clear, curve={name: tuple(points) for name, points in curve.items()})


def later(before: Course, after: Course, name: str, until_s: float, others: int) -> float:
    """Seconds that each of the others waits longer on average where it goes after, by what is left of them until then:
    all of it but ``name``.
    """

    def waits(course: Course) -> float:
        step = until_s / STEPS
        return sum(course.left("", n * step) - course.left(name, n * step) for n in range(STEPS)) * step

    return max(0.0, waits(after) - waits(before)) / others if others else 0.0


def _step(lines: Sequence[Line], slots: int, until_s: float) -> float:
    work = sum(line.waiting * line.mean_s / max(1, slots - line.barred) for line in lines)
    alone = max((line.waiting * line.mean_s / max(1, line.concurrency) for line in lines), default=0.0)
    return max(0.05, max(work, alone, until_s) / STEPS)


def _advance(lines: Sequence[Line], left: list[float], rank: Sequence[int], slots: int, step: float) -> None:
    """One step: lanes in their order, within one the shops alike, each where a worker can run it."""
    free = float(slots)
    able = {line.pool: max(0.0, float(slots - line.barred)) for line in lines}
    room = {line.shop: float(line.concurrency) for line in lines}
    place = 0
    while place < len(rank):
        lane = lines[rank[place]].lane
        group = [n for n in rank[place:] if lines[n].lane == lane]
        place += len(group)
        use = {
            n: min(room[lines[n].shop], left[n] * lines[n].mean_s / step + lines[n].arrivals * lines[n].mean_s)
            for n in group
        }
        pools: dict[str, float] = defaultdict(float)
        for n in group:
            pools[lines[n].pool] += use[n]
        use = {n: wants * min(1.0, able[lines[n].pool] / (pools[lines[n].pool] or 1.0)) for n, wants in use.items()}
        total = sum(use.values())
        share = min(1.0, free / total) if total else 0.0
        for n in group:
            got = use[n] * share
            room[lines[n].shop] -= got
            able[lines[n].pool] -= got
            free -= got
            left[n] = max(0.0, left[n] + lines[n].arrivals * step - got * step / max(0.001, lines[n].mean_s))


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """What of it is not done in time. ``more``: slots that would do it, 0 where none would."""

    left: int = 0
    more: int = 0
    limit: int = 0  #: what a shop runs at a time, where that holds it


def by(lines: Sequence[Line], slots: int, order: Sequence[str], name: str, after_s: float) -> Miss:
    """What of ``name`` is not done after so many seconds, and how many more slots would do it."""

    def left(number: int) -> int:
        found = follow(lines, number, order, after_s).left(name, after_s)
        return math.ceil(found - 0.5)

    missing = left(slots)
    if missing <= 0:
        return Miss()
    if left(slots + MOST_SLOTS) > 0:
        own = [line for line in lines if name in names(line)]
        slowest = max(own, key=lambda line: line.waiting * line.mean_s / max(1, line.concurrency))
        return Miss(left=missing, limit=slowest.concurrency)
    low, high = 0, MOST_SLOTS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if left(slots + middle) <= 0 else (middle, high)
    return Miss(left=missing, more=high)


def sentence(miss: Miss, clock: str, held: int = 0) -> Message:
    """What becomes of an instant; ``held``: tasks that count to it and wait for something that no slot opens."""
    params: dict[str, Param] = {"clock": clock, "left": miss.left, "more": miss.more, "limit": miss.limit}
    if not miss.left:
        return Message("drain.keeps_held", {**params, "held": held}) if held else Message("drain.keeps", params)
    if miss.more:
        return Message("drain.misses_slots.one" if miss.left == miss.more == 1 else "drain.misses_slots", params)
    return Message("drain.misses_shop" if miss.limit else "drain.misses", params)


def clears(seconds: float | None, *, measured: bool, slots: int, waiting: int = 0, held: int = 0) -> Message:
    """When what waits for slots is clear, in words; ``held``: what waits there for something that no slot opens."""
    if not slots:
        return Message("drain.nobody")
    if not measured:
        return Message("drain.unknown")
    if seconds is None:
        return Message("drain.never")
    params: dict[str, Param] = {"seconds": round(seconds), "waiting": waiting, "held": held}
    if held:
        return Message("drain.clear_held.one" if waiting == 1 else "drain.clear_held", params)
    return Message("drain.clear", params)
