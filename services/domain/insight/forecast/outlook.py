"""What a bulk of new tasks would do to the queue: a model of one number, good enough to choose a speed by. Pure."""

from __future__ import annotations

import math

import msgspec

from services.domain.insight.forecast.flow import ABOVE, BELOW, MODEL

POINTS = 60


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet as it stands. ``waiting``: tasks that could run and go first; ``mean_s``: one task on one slot."""

    slots: int = 0
    busy: int = 0
    waiting: int = 0
    mean_s: float = 10.0
    inflow: float = 0.0  #: new tasks a second from elsewhere
    deviation_s: float = 0.0  #: of one task
    measured: int = 0  #: tasks that ``mean_s`` was measured by; 0: nobody measured

    @property
    def per_s(self) -> float:
        """Tasks a second with every slot at work."""
        return self.slots / max(0.001, self.mean_s)


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds from now; None where no worker would ever get there. The curves have ``POINTS`` + 1 points."""

    first_s: float | None  #: until the first of them starts
    published_s: float  #: until the last of them is in the queue
    done_s: float | None  #: until the last of them has run
    delay_s: float | None  #: how much longer other tasks wait at the worst moment
    horizon_s: float
    without: tuple[float, ...]  #: waiting tasks without them
    with_them: tuple[float, ...]
    done_low_s: float | None = None  #: what ``done_s`` may be off by: four times out of five it lies between these
    done_high_s: float | None = None


def forecast(load: Load, tasks: int, *, per_minute: float = 0.0, most_per_shop: int = 1) -> Outlook:
    """What ``tasks`` more would do, published at a pace (0: all at once); a shop runs ``most_per_shop`` one by one."""
    published = (tasks - 1) * 60 / per_minute if per_minute > 0 and tasks > 1 else 0.0
    horizon = _horizon(load, tasks, published)
    step = horizon / POINTS
    without = _curve(load, step, [0.0] * POINTS, 0.0)
    at_once = float(tasks) if not published else 0.0
    with_them = _curve(load, step, _arrivals(tasks, published, step), at_once)
    if not load.slots:
        return Outlook(
            first_s=None, published_s=published, done_s=None, delay_s=None,
            horizon_s=horizon, without=without, with_them=with_them,
        )  # fmt: skip
    queue = with_them[min(POINTS, round(published / step))] if published else load.waiting + tasks
    done = max(published + queue / load.per_s + load.mean_s, most_per_shop * load.mean_s)
    off = _off(load, queue, most_per_shop, done - published) if tasks else 0.0
    worst = max(more - less for more, less in zip(with_them, without, strict=True))
    return Outlook(
        first_s=_first(load), published_s=published, done_s=done if tasks else 0.0,
        delay_s=max(0.0, worst / load.per_s),
        horizon_s=horizon, without=without, with_them=with_them,
        done_low_s=max(published, done - BELOW * off) if tasks else 0.0,
        done_high_s=done + ABOVE * off if tasks else 0.0,
    )  # fmt: skip


def _off(load: Load, queue: float, most_per_shop: int, span: float) -> float:
    """Seconds that the end may be off by: the tasks' own deviation, how well their mean is known, and the last one."""
    deviation = load.deviation_s if load.measured else load.mean_s
    alone = most_per_shop * load.mean_s > queue / load.per_s
    number, room = (most_per_shop, 1) if alone else (max(1.0, queue), max(1, load.slots))
    known = max(1, load.measured)
    return math.sqrt(number * deviation**2 + (number * deviation) ** 2 / known) / room + deviation / 2 + MODEL * span


def _first(load: Load) -> float:
    free = max(0, load.slots - load.busy)
    if load.waiting < free:
        return 0.0
    return (load.waiting - free + 1) / load.per_s


def _horizon(load: Load, tasks: int, published: float) -> float:
    """Far enough to see the end of it, in steps that people count in."""
    drain = (load.waiting + tasks) / max(0.001, load.per_s - load.inflow) if load.per_s > load.inflow else 0.0
    wanted = max(60.0, published * 1.2, min(drain * 1.1, 4 * 3600.0))
    return next((float(step) for step in _STEPS if step >= wanted), wanted)


_STEPS = (60, 300, 600, 1200, 3600, 7200, 4 * 3600, 8 * 3600, 24 * 3600, 3 * 24 * 3600)


def _arrivals(tasks: int, published: float, step: float) -> list[float]:
    """How many of them arrive in each step."""
    if not published:
        return [0.0] * POINTS
    shares, left = [], float(tasks)
    for _number in range(POINTS):
        share = min(left, tasks * step / published)
        shares.append(share)
        left -= share
    return shares


def _curve(load: Load, step: float, arrivals: list[float], at_once: float) -> tuple[float, ...]:
    waiting = float(load.waiting) + at_once
    points = [waiting]
    for arriving in arrivals:
        waiting = max(0.0, waiting + arriving + (load.inflow - load.per_s) * step)
        points.append(waiting)
    return tuple(points)
