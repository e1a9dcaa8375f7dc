"""When something repeats: cron expressions in a time zone, and intervals; every answer is an instant in UTC ms.

A cron expression that names hours follows the wall clock: a time that the clock skips runs once, right after the gap,
and one that comes twice runs once, the first time. One that runs in every hour (``*/15 * * * *``) follows elapsed time:
the doubled hour is an hour like any other.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import MAXYEAR, UTC, datetime, time, timedelta
from functools import lru_cache
from itertools import islice, pairwise
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError

from services.domain.errors import UsageError
from services.domain.text.refusals import REFUSALS
from services.domain.text.said import said

MIN_EVERY_S, MAX_EVERY_S = 10, 366 * 86_400
ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_CRON_LENGTH = 200
_EVERY_HOUR = set(range(24))
_DAY_MS = 86_400_000
#: the longest jump of a clock on record skips a day
_LONGEST_GAP = timedelta(days=2)
#: the most that a clock is set back
_LONGEST_FOLD, _NOTHING = timedelta(hours=3), timedelta()
#: how far back to look for the latest instant before a moment, the near ones first
_LOOK_BACK_MS = (3_600_000, _DAY_MS, 32 * _DAY_MS, 400 * _DAY_MS, 9 * 366 * _DAY_MS)
_GAPS_LOOKED_AT = 64
#: an expression that names no day of so many years ends
_YEARS = 50
_DAY, _MONTH = timedelta(days=1), timedelta(days=32)


class Rule(Protocol):
    """Something that repeats."""

    def after(self, instant: int) -> Iterator[int]:
        """The instants after ``instant``, ascending; they may end."""


class _Fields:
    """What an expression says, read once for all who have the same: thousands of schedules share a few hundred."""

    def __init__(self, expression: str) -> None:
        self.days = CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC))
        self._clock = [time(hour, minute) for hour in sorted(self.days.hours) for minute in sorted(self.days.minutes)]
        self.never = next(self.days, None) is None

    def after(self, start: datetime) -> Iterator[datetime]:
        """What clocks show at its moments after ``start``, ascending, until none comes for 50 years."""
        day, year, place = start.date(), start.year, bisect_right(self._clock, start.time())
        while day.year <= min(year + _YEARS, MAXYEAR - 1):
            if day.month not in self.days.months:
                day, place = (day.replace(day=1) + _MONTH).replace(day=1), 0
                continue
            if self.days.match_day(day):
                year = day.year
                yield from (datetime.combine(day, clock) for clock in self._clock[place:])
            day, place = day + _DAY, 0


_known = lru_cache(maxsize=4_096)(_Fields)


class Cron:
    """Five fields (minute hour day month weekday) or an alias such as ``@daily``, in a time zone."""

    def __init__(self, expression: str, zone: str) -> None:
        """Read the expression.

        Raises:
            UsageError: ``field`` is cron or zone.
        """
        self._zone = zone_named(zone)
        self._fields = _read(_parts(expression), expression)
        self._elapsed = self._fields.days.hours == _EVERY_HOUR

    def after(self, instant: int) -> Iterator[int]:
        """The instants after ``instant``."""
        start = _local(instant, self._zone).replace(tzinfo=None) - (_LONGEST_FOLD if self._elapsed else _NOTHING)
        moments = self._fields.after(start)
        last = instant
        for found in self._both(moments) if self._elapsed else self._once(moments):
            if found > last:
                yield found
                last = found

    def _once(self, moments: Iterable[datetime]) -> Iterator[int]:
        """The first of two; for those that one gap swallows its end, again and again."""
        for moment in moments:
            yield _instant(_existing(moment, self._zone))

    def _both(self, moments: Iterable[datetime]) -> Iterator[int]:
        """Both of two, in their order; nothing for what a gap swallows."""
        second: deque[int] = deque()
        for moment in moments:
            there = moment.replace(tzinfo=self._zone, fold=0)
            if not _exists(there):
                continue
            first, again = _instant(there), _instant(there.replace(fold=1))
            while second and second[0] < first:
                yield second.popleft()
            yield first
            if again > first:
                second.append(again)
        yield from second


class Interval:
    """Every so many seconds of elapsed time, counted from ``first``, the first instant."""

    def __init__(self, every_s: int, first: int) -> None:
        """Check the length.

        Raises:
            UsageError: it is out of range.
        """
        if not MIN_EVERY_S <= every_s <= MAX_EVERY_S:
            raise UsageError(said("schedule.every", least=MIN_EVERY_S, value=every_s), field="every")
        self._step, self._first = every_s * 1000, first

    def after(self, instant: int) -> Iterator[int]:
        """The instants after ``instant``."""
        number = max(0, (instant - self._first) // self._step + 1)
        while True:
            yield self._first + number * self._step
            number += 1


def upcoming(rule: Rule, after: int, count: int) -> list[int]:
    """The next instants after a moment, at most ``count``."""
    return list(islice(rule.after(after), count))


def next_after(rule: Rule, after: int) -> int:
    """The next instant after a moment, 0 when there is none."""
    return next(iter(rule.after(after)), 0)


def latest(rule: Rule, first: int, until: int) -> int:
    """The last instant from ``first`` to ``until``, both included; 0 when there is none."""
    for back in _LOOK_BACK_MS:
        start = max(first - 1, until - back)
        found = 0
        for instant in rule.after(start):
            if instant > until:
                break
            found = instant
        if found or start == first - 1:
            return found
    return 0


def shortest_gap(rule: Rule, after: int) -> int:
    """The least distance in ms between neighbours among the next instants, 0 when there is at most one."""
    found = upcoming(rule, after, _GAPS_LOOKED_AT)
    return min((later - earlier for earlier, later in pairwise(found)), default=0)


def zone_named(name: str) -> ZoneInfo:
    """The time zone of an IANA name.

    Raises:
        UsageError: there is none; the sentence says what was probably meant.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    near = difflib.get_close_matches(name[:64], available_timezones(), n=1, cutoff=0.6)
    shown = f"{name!r:.80}"
    raise UsageError(
        said("schedule.zone_near", name=shown, near=near[0]) if near else said("schedule.zone", name=shown), "zone"
    )


def iso(instant: int, zone: str, to: str = "seconds") -> str:
    """A moment with the offset of a zone; ``to``: how fine."""
    return _local(instant, zone_named(zone)).replace(microsecond=instant % 1000 * 1000).isoformat(timespec=to)


def _parts(expression: str) -> list[str]:
    text = " ".join(expression.split())
    if text.startswith("@"):
        if text.lower() not in ALIASES:
            raise UsageError(said("cron.alias", known=", ".join(ALIASES), text=f"{text!r:.40}"), field="cron")
        text = ALIASES[text.lower()]
    parts = text.split(" ")
    if len(text) > _CRON_LENGTH or len(parts) != 5:
        raise UsageError(said("cron.fields", text=f"{text!r:.80}"), field="cron")
    return parts


def _read(parts: list[str], expression: str) -> _Fields:
    try:
        found = _known(" ".join(parts))
    except (CronSimError, AssertionError, ValueError, TypeError) as exc:
        part = f"cron.part.{str(exc).removeprefix('Bad ')}"
        what = said(part if part in REFUSALS else "cron.part.expression")
        raise UsageError(said("cron.part", what=what, text=f"{expression!r:.80}"), field="cron") from exc
    if found.never:
        raise UsageError(said("cron.never", text=f"{expression!r:.80}"), field="cron")
    return found


def _existing(moment: datetime, zone: ZoneInfo) -> datetime:
    """That wall-clock time in the zone: the first of two, or the first one after the gap that swallows it."""
    found = moment.replace(tzinfo=zone, fold=0)
    end = moment + _LONGEST_GAP
    while not _exists(found) and moment < end:
        moment += timedelta(minutes=1)
        found = moment.replace(tzinfo=zone, fold=0)
    return found


def _exists(moment: datetime) -> bool:
    """Whether a clock ever shows this; aware times of one zone compare by what they show."""
    return moment.astimezone(UTC).astimezone(moment.tzinfo).replace(fold=0) == moment


def _local(instant: int, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(instant // 1000, UTC).astimezone(zone)


def _instant(moment: datetime) -> int:
    return round(moment.timestamp()) * 1000
