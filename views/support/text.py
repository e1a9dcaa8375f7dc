"""Numbers and times as people read them, in English and Chinese (UX.md 6); spans come from ``services.spans``. Pure.

    duration(timedelta(seconds=372))        "6 m 12 s"      "6 分 12 秒"
    age(timedelta(seconds=0.4))             "0.4 s ago"     "0.4 秒前"
    until(timedelta(seconds=41))            "in 41 s"       "41 秒后"
    compact(18_402)                         "18.4k"         "1.8 万"
    rate(4.8)                               "4.8/s"         "4.8 条/秒"
    clock(when, now, zone)                  "14:32:07", "11-20 09:15", "2025-11-20"
    listed(("a", "b"))                      "a, b"          "a，b"

A number and its unit are joined by U+202F, which never breaks at the end of a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from services.i18n import N_, _, is_chinese, listed
from services.spans import THIN, coarse, duration, exact, join, milliseconds, percent, rate, rates, seconds

__all__ = [
    "THIN",
    "age",
    "clock",
    "coarse",
    "compact",
    "count",
    "duration",
    "exact",
    "iso",
    "join",
    "listed",
    "log_time",
    "milliseconds",
    "minute",
    "moment",
    "percent",
    "rate",
    "rates",
    "seconds",
    "size",
    "until",
    "zone_name",
]

#: 0 is Monday
DAYS = (N_("Mon"), N_("Tue"), N_("Wed"), N_("Thu"), N_("Fri"), N_("Sat"), N_("Sun"))

_COMPACT_FROM = 10_000


def age(span: timedelta) -> str:
    """Return how long ago: ``6 m 12 s ago``."""
    return _("{span} ago").format(span=duration(span))


def until(span: timedelta) -> str:
    """Return how soon: ``in 41 s``; a time that has come is ``now``."""
    if span.total_seconds() <= 0:
        return _("now")
    return _("in {span}").format(span=seconds(span))


def sentences(parts: Iterable[str]) -> str:
    """Return parts as sentences of one text, each with its full stop; empty ones are left out."""
    stop, gap = ("。", "") if is_chinese() else (".", " ")
    return gap.join(f"{part.rstrip('.。')}{stop}" for part in parts if part)


def days(chosen: Sequence[int]) -> str:
    """Days of the week, 0 is Monday: ``Mon to Fri``."""
    if len(chosen) > 2 and list(chosen) == list(range(chosen[0], chosen[-1] + 1)):
        return _("{first} to {last}").format(first=_(DAYS[chosen[0]]), last=_(DAYS[chosen[-1]]))
    return listed(_(DAYS[day]) for day in chosen)


def weekly(chosen: Sequence[int], start: int, end: int) -> str:
    """Return hours of some days of the week, in minutes of the day."""
    begin, over = (f"{minutes // 60:02}:{minutes % 60:02}" for minutes in (start, end))
    named = _("daily") if len(chosen) == len(DAYS) else days(chosen)
    return f"{named} {begin}-{over}"


def first_up(words: str) -> str:
    """Return words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def run_on(parts: Iterable[str]) -> str:
    """Return whole sentences one after the other; Chinese has no space between them. Empty ones are left out."""
    return ("" if is_chinese() else " ").join(part for part in parts if part)


def runs(numbers: Iterable[int]) -> list[range]:
    """Rising numbers as the runs in which each follows the one before."""
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found


def count(number: int) -> str:
    """Return a whole number with thousands separators."""
    return f"{number:,}"


def compact(number: int) -> str:
    """Return a number for a badge: exact up to 9,999, then ``18.4k`` or ``1.8 万``."""
    if abs(number) < _COMPACT_FROM:
        return f"{number:,}"
    steps = ((100_000_000, "亿"), (10_000, "万")) if is_chinese() else _ENGLISH_STEPS
    for size, unit in steps:
        if abs(number) >= size:
            shown = math.floor(abs(number) / size * 10) / 10
            text = f"{shown:,.1f}".removesuffix(".0")
            sign = "-" if number < 0 else ""
            return f"{sign}{text} {unit}" if is_chinese() else f"{sign}{text}{unit}"
    return f"{number:,}"


_ENGLISH_STEPS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def size(octets: int) -> str:
    """Return a file size: ``412 kB``."""
    amount = float(max(0, octets))
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            digits = 0 if unit == "B" or amount >= 10 else 1
            return join(f"{amount:,.{digits}f}", unit)
        amount /= 1000
    raise AssertionError("unreachable")


def clock(when: datetime, now: datetime, zone: tzinfo) -> str:
    """Return a time of day today, day and minute this year, else the date."""
    local, today = when.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return f"{local:%H:%M:%S}"
    if local.year == today.year:
        return f"{local:%m-%d %H:%M}"
    return f"{local:%Y-%m-%d}"


def minute(when: datetime, now: datetime, zone: tzinfo) -> str:
    """Return like ``clock``, but without seconds: ``14:32``."""
    local, today = when.astimezone(zone), now.astimezone(zone)
    return f"{local:%H:%M}" if local.date() == today.date() else clock(when, now, zone)


def log_time(when: datetime, zone: tzinfo) -> str:
    """Return a time with milliseconds, for log lines."""
    local = when.astimezone(zone)
    return f"{local:%H:%M:%S}.{local.microsecond // 1000:03d}"


def iso(when: datetime, zone: tzinfo) -> str:
    """Return the form used in copies: ISO 8601 with offset."""
    return when.astimezone(zone).isoformat(timespec="milliseconds")


def full_time(when: datetime, zone: tzinfo) -> str:
    """Return day, time with milliseconds and zone, for people: ``2026-11-21 14:32:07.131 UTC+8``."""
    return f"{when.astimezone(zone):%Y-%m-%d} {log_time(when, zone)} {zone_name(when, zone)}"


def zone_name(when: datetime, zone: tzinfo) -> str:
    """Return the zone as ``UTC+8``."""
    offset = when.astimezone(zone).utcoffset() or timedelta()
    minutes = round(offset.total_seconds() / 60)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    tail = f":{rest:02d}" if rest else ""
    return f"UTC{'+' if minutes > 0 else '-'}{hours}{tail}"


def moment(when: datetime, now: datetime, zone: tzinfo) -> str:
    """Return local time, UTC and distance, one a line, for tool tips."""
    local = when.astimezone(zone)
    gap = now - when
    distance = age(gap) if gap >= timedelta() else until(-gap)
    return (
        f"{local:%Y-%m-%d %H:%M:%S} {zone_name(when, zone)}\n{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC\n{distance}"
    )
