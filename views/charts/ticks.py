"""Where the lines of an axis go: round numbers upwards, round times of day along. Pure."""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo

_STEPS_S: tuple[int, ...] = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
_STEPS_S += tuple(days * 86_400 for days in (1, 2, 5, 7))
HEADROOM = 1.16
#: A limit far above everything would press the curves flat; then only its words are shown.
LIMIT_IN_SIGHT = 0.25


def step_for(top: float, lines: int, *, whole: bool = True) -> float:
    """The round distance that gives at most ``lines`` lines above zero; ``whole``: of things that are counted."""
    rough = max(top, 1e-9) / max(1, lines)
    size = 10.0 ** math.floor(math.log10(rough))
    step: float = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.9999)
    return max(1.0, float(math.ceil(step))) if whole else step


def values(top: float, lines: int, *, whole: bool = True) -> list[float]:
    """Zero and the round values up to ``top``."""
    step = step_for(top, lines, whole=whole)
    return [step * n for n in range(int(top / step + 1e-9) + 1)]


def top_of(highest: float, limit: float | None, smallest: float) -> float:
    """Upper end of an axis that shows ``highest``, and ``limit`` when that is in sight."""
    seen = max(highest, smallest)
    if limit is not None and highest >= limit * LIMIT_IN_SIGHT:
        seen = max(seen, limit)
    return seen * HEADROOM


def keep_top(old: float, wanted: float) -> float:
    """Stay with the old upper end while it fits: an axis that breathes cannot be read."""
    return old if old * 0.6 <= wanted <= old else wanted


def times(start: float, end: float, room: int, zone: tzinfo) -> list[tuple[float, str]]:
    """Round times of day in ``zone`` between two instants in UTC seconds, at most ``room`` of them, with labels."""
    span = max(1.0, end - start)
    step = next((step for step in _STEPS_S if span / step <= max(1, room)), _STEPS_S[-1])
    # a step of hours goes by the clock on the wall, which a day of 23 or 25 hours puts forward or back
    found = (_by_clock if step >= 3600 else _by_seconds)(start, end, step, zone)
    return [(instant, label(instant, step, zone)) for instant in found if start <= instant <= end]


def _by_seconds(start: float, end: float, step: int, zone: tzinfo) -> list[float]:
    offset = _offset(end, zone)
    first = math.ceil((start + offset) / step) * step - offset
    return [first + n * step for n in range(int((end - first) / step + 1e-9) + 1)] if first <= end else []


def _by_clock(start: float, end: float, step: int, zone: tzinfo) -> list[float]:
    """Every so many hours or days of the clock, counted from the first day of 1970 there."""
    first, last = start + _offset(start, zone), end + _offset(end, zone)
    walls = range(math.floor(min(first, last) / step) * step, math.ceil(max(first, last)) + step, step)
    return sorted({_instant(wall, zone) for wall in walls})


def _instant(wall: int, zone: tzinfo) -> float:
    """When the clock says so: the first time where it does twice, and where it never does, as it goes on after."""
    return datetime.fromtimestamp(wall, UTC).replace(tzinfo=zone).timestamp()


def label(instant: float, step: float, zone: tzinfo) -> str:
    """``14:32``, with seconds on a fine axis, as a date at midnight on a coarse one."""
    local = datetime.fromtimestamp(round(instant), UTC).astimezone(zone)
    if step < 60:
        return f"{local:%H:%M:%S}"
    if step >= 3600 and (local.hour, local.minute) == (0, 0):
        return f"{local:%m-%d}"
    return f"{local:%H:%M}"


def _offset(instant: float, zone: tzinfo) -> float:
    gap = datetime.fromtimestamp(instant, UTC).astimezone(zone).utcoffset()
    return gap.total_seconds() if gap is not None else 0.0
