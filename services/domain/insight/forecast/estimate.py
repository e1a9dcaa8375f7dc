"""When a waiting task starts, as far as one can tell: from its gates, what runs and goes first, and how long such tasks
ran of late. Pure: the same facts always give the same numbers.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.gates import listed
from services.domain.insight.forecast import durations
from services.domain.insight.forecast.durations import Runs
from services.domain.insight.places import ARRIVALS, DRAWS, ONE_BY_ONE, SEED, Bench, bench_of
from services.domain.insight.wait import OK, Facts, GateView, others, why_waiting
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.message import Message, Param

INSTANT = "instant"
#: a heartbeat, by which a worker fetches what waits for it
_HEARTBEAT_S = (0.0, 3.0)
_AT_ONCE_S = 1.0
#: a broker that has not confirmed a message for so long may be taking none
_CONFIRM_S = 5.0
_SENTENCES = {
    durations.MEASURED: "gate.estimate_measured",
    durations.PROGRESS: "gate.estimate_progress",
    durations.DECLARED: "gate.estimate_declared",
}

Draws = Sequence[float]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds from now: eight of ten start between ``low_s`` and ``high_s``, half of them before ``mid_s``.

    ``basis``: instant (nothing but a time is waited for) | measured | progress (how far what runs says it is) |
    declared (what the type says; nothing was measured). ``at_ms``: the instant from which they are counted (UTC ms).
    """

    low_s: float
    mid_s: float
    high_s: float
    basis: str
    at_ms: int = 0

    def left_s(self, now_ms: int) -> tuple[float, float]:
        """Least and most seconds that are left at this instant (UTC ms)."""
        gone = max(0, now_ms - self.at_ms) / 1000 if self.at_ms else 0.0
        return max(0.0, self.low_s - gone), max(0.0, self.high_s - gone)

    @property
    def at_once(self) -> bool:
        """Whether nothing is in its way, not even something that usually ends at once."""
        return self.basis == INSTANT and self.high_s < _AT_ONCE_S


def starts(task: Task, facts: Facts, views: Sequence[GateView] | None = None) -> Estimate | None:
    """When it starts, None where nobody can tell: a person or a worker must do something first, or nothing is known.
    ``views``: its gates, if they were judged already.
    """
    views = why_waiting(task, facts) if views is None else views
    if not views:
        return None
    courses = [_course(view, task, facts) for view in views if view.state != OK]
    courses.append(_in_lane(task, facts))
    if any(course is None for course in courses):
        return None
    known = [course for course in courses if course is not None]
    if all(basis == INSTANT for _, basis in known):
        until = max((max(draws) for draws, _ in known), default=0.0)
        return Estimate(low_s=until, mid_s=until, high_s=until, basis=INSTANT, at_ms=facts.now_ms)
    longest = sorted(map(max, *(draws for draws, _ in known)) if len(known) > 1 else known[0][0])
    basis = _weakest(basis for _, basis in known if basis != INSTANT)
    low, mid, high = (longest[min(DRAWS - 1, int(share * DRAWS))] for share in (durations.LOW, 0.5, durations.HIGH))
    return Estimate(low_s=low, mid_s=mid, high_s=high, basis=basis, at_ms=facts.now_ms)


def _weakest(bases: Iterable[str]) -> str:
    """What an answer that leans on all of these leans on."""
    found = set(bases)
    return next(
        (one for one in (durations.DECLARED, durations.MEASURED, durations.PROGRESS) if one in found),
        durations.MEASURED,
    )


def sentence(found: Estimate) -> Message:
    """The estimate in words."""
    if found.at_once:
        return Message("gate.estimate_now", {})
    if found.basis == INSTANT:
        until = {"until": found.at_ms + round(found.mid_s * 1000)} if found.at_ms else {}
        return Message("gate.estimate_instant", {"seconds": math.ceil(found.mid_s), **until})
    params: dict[str, Param] = {"low_s": found.low_s, "mid_s": found.mid_s, "high_s": found.high_s}
    if found.at_ms:
        params["asked_at"] = found.at_ms
    return Message(_SENTENCES[found.basis], params)


def after(bench: Bench, ahead: Sequence[tuple[Runs, int]], arrivals: float = 0.0) -> Draws:
    """Seconds until a place is free for the task behind all of ``ahead`` (how long each lasts, how many there are), in
    as many courses as are played through; ``arrivals``: more a second that go first. Everything in it must be known.
    """
    if len(bench.left) == 1 and not bench.free and not ahead and not arrivals:
        return [bench.left[0].at((step + 0.5) / DRAWS) for step in range(DRAWS)]
    chance = random.Random(SEED + 5)  # not the same chances as those of the places
    line = [_Line(lasts, number, lasts.mean_s, lasts.spread_s, lasts.doubt) for lasts, number in ahead]
    like = [one.lasts for one in line if one.number] or bench.left
    return sorted(
        _played(chance, list(first), total / bench.places, bench.places, line, like, arrivals)
        for first, total in bench.courses
    )


class _Line(msgspec.Struct, frozen=True):
    """Tasks of one kind that go first, with what is asked of their runs again and again."""

    lasts: Runs
    number: int
    mean_s: float
    spread_s: float
    doubt: float


def _played(
    chance: random.Random,
    ends: list[float],
    mean_end: float,
    places: int,
    line: Sequence[_Line],
    like: Sequence[Runs],
    arrivals: float,
) -> float:
    """``ends``: of the places that are free first, ascending, as many as can matter; ``mean_end``: of all."""
    # the next ones may be longer or shorter on the whole than the few that were measured
    tilts = [max(0.3, chance.gauss(1.0, one.doubt)) for one in line]
    if sum(one.number for one in line) > ONE_BY_ONE:
        # many tasks over all places as one normal sum: every place is busy until the last of them begin
        mean = sum(one.mean_s * one.number * tilt for one, tilt in zip(line, tilts, strict=True))
        spread = sum(one.spread_s**2 * one.number for one in line) ** 0.5
        until = mean_end + max(0.0, chance.gauss(mean, spread)) / places
        longest = max(one.lasts.at(chance.random()) for one in line)
        # the places end apart from each other: the first of them earlier than their mean by a share of one task
        early = longest / 2 * (places - 1) / (places + 1)
        ends[:] = [max(0.0, until - early)] + [until] * (len(ends) - 1)
    else:
        for one, tilt in zip(line, tilts, strict=True):
            for _ in range(one.number):
                heapq.heapreplace(ends, ends[0] + one.lasts.at(chance.random()) * tilt)
    if arrivals > 0 and like:
        at = chance.expovariate(arrivals)
        for _ in range(ARRIVALS):
            if at >= ends[0]:
                break
            heapq.heapreplace(ends, ends[0] + chance.choice(like).at(chance.random()))
            at += chance.expovariate(arrivals)
    return ends[0]


_Course = tuple[Draws, str] | None


def _course(view: GateView, task: Task, facts: Facts) -> _Course:
    opens = view.name in listed.SWITCHES and bool(view.params.get("until"))
    make = _instant if opens else _COURSES.get(view.code)
    return make(view, task, facts) if make is not None else None


def _instant(view: GateView, _task: Task, facts: Facts) -> _Course:
    return [_ahead_s(view, facts)] * DRAWS, INSTANT


def _ahead_s(view: GateView, facts: Facts) -> float:
    """How far ahead the instant is that a gate waits for; the number in its sentence is rounded."""
    until = int(view.params.get("until", 0))
    return max(0, until - facts.now_ms) / 1000 if until else float(view.params["seconds"])


def _next_starts(view: GateView, _task: Task, facts: Facts) -> _Course:
    seconds = _ahead_s(view, facts) + 60.0 * int(view.params["ahead"]) / int(view.params["limit"])
    return [seconds] * DRAWS, INSTANT


def _breaker(view: GateView, task: Task, facts: Facts) -> _Course:
    """The first may try at that time; who stands behind others follows them, if the try succeeds."""
    seconds = _ahead_s(view, facts)
    if not facts.shop_ahead:
        return [seconds] * DRAWS, INSTANT
    behind = _behind(Bench(free=facts.concurrency), _shop_line(task, facts))
    return None if behind is None else ([seconds + one for one in behind[0]], behind[1])


def _shop(_view: GateView, task: Task, facts: Facts) -> _Course:
    bench = _bench(others(task, facts), facts.concurrency, facts)
    line = _shop_line(task, facts)
    return _behind(bench, line, facts.shop_arrivals) if bench is not None else None


def _quota(view: GateView, _task: Task, facts: Facts) -> _Course:
    bench = _bench(facts.limit_holders, int(view.params["limit"]), facts)
    return _behind(bench, [(facts.usual, facts.limit_ahead)]) if bench is not None else None


def _twin(_view: GateView, _task: Task, facts: Facts) -> _Course:
    bench = _bench([facts.twin] if facts.twin is not None else [], 1, facts)
    return _behind(bench, []) if bench is not None else None


def _needs(_view: GateView, _task: Task, facts: Facts) -> _Course:
    """What it depends on runs: it goes on with the last of them."""
    if not all(one.task is not None and one.task.status == Status.RUNNING for one in facts.needs):
        return None
    courses = [_behind(bench, []) for one in facts.needs if one.task and (bench := _bench([one.task], 1, facts))]
    if len(courses) < len(facts.needs) or any(course is None for course in courses):
        return None
    known = [course for course in courses if course is not None]
    return [max(draws) for draws in zip(*(draws for draws, _ in known), strict=True)], known[0][1]


def _fetched(_view: GateView, _task: Task, facts: Facts) -> _Course:
    if facts.home is not None and facts.home.free > 0:
        low, high = _HEARTBEAT_S
        return [low + (high - low) * step / DRAWS for step in range(DRAWS)], durations.MEASURED
    return _behind(Bench(left=(facts.usual,)), []) if facts.usual.known else None


def _no_wait(_view: GateView, _task: Task, _facts: Facts) -> _Course:
    return [0.0] * DRAWS, INSTANT


def _unsent(view: GateView, _task: Task, facts: Facts) -> _Course:
    """The broker confirms at once, or nobody knows when: it may take no messages."""
    waited_s = (facts.now_ms - int(view.params["since"])) / 1000
    return ([0.0] * DRAWS, INSTANT) if waited_s <= _CONFIRM_S else None


#: gates that open by themselves; any other needs a person, a worker or another task's end
_COURSES: dict[str, Callable[[GateView, Task, Facts], _Course]] = {
    "gate.retry_delay": _instant,
    "gate.retry_last": _instant,
    "gate.scheduled": _instant,
    "gate.dependency": _needs,
    "gate.dependencies": _needs,
    "gate.breaker": _breaker,
    "gate.shop_busy": _shop,
    "gate.shop_held": _shop,
    "gate.shop_held_done": _shop,
    "gate.shop_held_long": _shop,
    "gate.shop_busy_line": _shop,
    "gate.shop_busy_done": _shop,
    "gate.shop_busy_done_line": _shop,
    "gate.shop_held_line": _shop,
    "gate.shop_held_done_line": _shop,
    "gate.shop_held_long_line": _shop,
    "gate.shop_queue": _shop,
    "gate.shop_twin": _shop,
    "gate.quota_running": _quota,
    "gate.quota_starts": _next_starts,
    "gate.twin_running": _twin,
    "gate.twin_running_done": _twin,
    "gate.home_fetched": _fetched,
    "gate.fetched": _no_wait,
    "gate.unconfirmed": _unsent,
    "gate.in_lane": _no_wait,
    "gate.behind": _no_wait,
    "gate.behind_lanes": _no_wait,
    "gate.front": _no_wait,
    "gate.front_full": _no_wait,
    "gate.opened": _no_wait,
}


def _in_lane(task: Task, facts: Facts) -> _Course:
    """Until a living slot of its lane is free for it; the line of the lane is only known of a queued task."""
    if not facts.slots or facts.ahead < 0 or facts.cut_off:
        return None
    bench = facts.bench or bench_of(facts.slots, facts.now_ms, facts.lasts)
    if any(slot.task_id == task.task_id for slot in facts.slots):  # claimed a moment ago: its slot is free for it
        others_in = [slot for slot in facts.slots if slot.task_id != task.task_id]
        bench = bench_of(others_in, facts.now_ms, facts.lasts)
        bench = replace(bench, free=bench.free + len(facts.slots) - len(others_in))
    ahead = facts.ahead + facts.urgent
    if bench.free > ahead:
        return [0.0] * DRAWS, INSTANT
    if not all(one.known for one in bench.left):
        return None
    course = _behind(bench, [(facts.lane_usual, ahead)], facts.lane_arrivals)
    if not facts.kept or not facts.urgent or not facts.lane_usual.known:
        return course
    # what is kept for a lane goes to its own first, whatever else waits
    own = _behind(Bench(left=(facts.lane_usual.left(0),) * facts.kept), [(facts.lane_usual, facts.ahead)])
    return own if course is None or own is None else (list(map(min, course[0], own[0])), course[1])


def _bench(holders: Sequence[Task], places: int, facts: Facts) -> Bench | None:
    """What runs at these places; None where of one of them nobody knows whether it still runs, or how long it will: it
    hangs.
    """
    left = []
    for one in sorted(holders, key=lambda each: each.started_at)[: max(places, 1)]:
        if 0 < one.lease_until < facts.now_ms:
            return None
        ran = max(0, facts.now_ms - one.started_at) / 1000
        usual = facts.lasts(one.task_type, one.shop)
        if usual.hangs(ran, one.progress):
            return None
        left.append(usual.left(ran, one.progress))
    if not all(one.known for one in left):
        return None
    return Bench(left=tuple(left), free=max(0, places - len(left)))


def _shop_line(task: Task, facts: Facts) -> list[tuple[Runs, int]]:
    """Those of its shop that go first: by their types where these are known, else as if they were of its own."""
    count = facts.shop_ahead + facts.on_the_way
    if sum(facts.shop_line.values()) == count:
        return [(facts.lasts(kind, task.shop), number) for kind, number in facts.shop_line.items()]
    return [(facts.usual, count)]


def _behind(bench: Bench, ahead: Iterable[tuple[Runs, int]], arrivals: float = 0.0) -> _Course:
    line = [(lasts, number) for lasts, number in ahead if number]
    if not (bench.left or bench.free) or not all(lasts.known for lasts, _ in line):
        return None
    if bench.free and not line and not arrivals:
        return [0.0] * DRAWS, INSTANT
    used = [*bench.left, *(lasts for lasts, _ in line)]
    return after(bench, line, arrivals), _weakest(one.basis for one in used)
