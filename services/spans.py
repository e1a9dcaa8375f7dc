"""Spans of time, rates and shares as people read them, in English and Chinese. Pure but for the language.

    duration(timedelta(seconds=372))        "6 m 12 s"      "6 分 12 秒"
    seconds(timedelta(seconds=41))          "41 s"          "41 秒"
    coarse(timedelta(hours=2))              "2 h"           "2 小时"
    exact(timedelta(hours=36))              "1 d 12 h"      "1 天 12 小时"
    of_seconds(1800)                        "30 min"        "30 分钟"
    english(372)                            "6 m 12 s", whatever the language is
    between(130, 170)                       "2–3 min"       "2–3 分钟"
    rate(4.8)                               "4.8/s"         "4.8 条/秒"
    percent(0.982)                          "98.2 %"        "98.2 %"

A number and its unit are joined by U+202F, which never breaks at the end of a line; ``english`` has plain spaces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache

from services.domain.text import shares
from services.i18n import NP_, _, is_chinese, language, pgettext

THIN = "\u202f"
MINUTE, HOUR, DAY = 60, 3_600, 86_400
_KEPT = 4_096  #: spans that were said
#: what ``_unit`` looks up; only the one that is wanted, for a table says hundreds of them at once
_UNITS = (
    NP_("unit", "ms"),
    NP_("unit", "s"),
    NP_("unit", "m"),
    NP_("unit", "min"),
    NP_("unit", "h"),
    NP_("unit", "d"),
)
_Parts = list[tuple[str, str]]  #: number and unit, the larger one first


def join(number: str, unit: str) -> str:
    """Join a number and its unit so that they stay together."""
    return f"{number}{THIN}{unit}" if unit else number


def percent(share: float) -> str:
    """Return a share (0.982) as ``98.2 %``."""
    return join(f"{shares.percent(share):,.1f}", "%")


def english_percent(share: float) -> str:
    """The same with a plain space."""
    return percent(share).replace(THIN, " ")


def duration(span: timedelta, *, precise: bool = False) -> str:
    """Return a span: one decimal under 10 s, then s, m s, h m, days.

    `precise` keeps the decimal up to one minute, for durations that are over.
    """
    below, number = MINUTE if precise else 10, max(0.0, span.total_seconds())
    return _lasting(int(number) if number >= below else math.floor(number * 10 + 1e-6) / 10, below, language())


def seconds(span: timedelta) -> str:
    """Return a span in whole steps for count-downs: ``41 s``, ``1 m 17 s``; never a decimal."""
    return _say(_parts(math.ceil(span.total_seconds()), 0))


def coarse(span: timedelta) -> str:
    """Return a span in one unit: ``34 min``, ``2 h``, ``3 d``."""
    whole = max(0, int(span.total_seconds()))
    if whole < MINUTE:
        return _say([(str(whole), "s")])
    if whole < HOUR:
        return _say([(str(whole // MINUTE), "min")])
    if whole < DAY:
        return _say([(str(whole // HOUR), "h")])
    return _say([(f"{whole // DAY:,}", "d")])


def exact(span: timedelta) -> str:
    """Return a span that somebody chose, with every unit that is not zero and no other: ``2 h``, ``1 d 12 h``."""
    left, parts = max(0, int(span.total_seconds())), []
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (1, "s")):
        amount, left = divmod(left, size)
        if amount:
            parts.append((f"{amount:,}", unit))
    return _say(_alone(parts) or [("0", "s")])


def milliseconds(span: timedelta) -> str:
    """Return a latency: ``3 ms`` below one second, else a duration."""
    total = max(0.0, span.total_seconds() * 1000)
    if total >= 1000:
        return duration(span)
    return _say([(f"{round(total):,}", "ms")])


def of_seconds(number: float) -> str:
    """Return so many seconds, which may be below zero, as a sentence says them: whole ones as ``seconds``, others as
    ``duration``, none with a part that is zero: ``30 min``.
    """
    return _sign(number) + _say(_told(number))


def english(number: float) -> str:
    """Return the same for machines, logs and the command line, which speak English in any language."""
    return _sign(number) + " ".join(f"{amount} {unit}" for amount, unit in _told(number))


def between(low: float, high: float) -> str:
    """Return what lies between two numbers of seconds, no finer than it can be known: ``2–3 min``."""
    amount, unit = _between(low, high)
    return join(amount, _unit(unit))


def english_between(low: float, high: float) -> str:
    """Return the same for the command line."""
    return " ".join(_between(low, high))


def _between(low: float, high: float) -> tuple[str, str]:
    high = max(low, high)
    size, unit, step = next((size, unit, step) for most, size, unit, step in _STEPS if high < most)
    first = math.floor(max(0.0, low) / size / step + 0.3) * step
    last = max(step, math.ceil(high / size / step) * step)
    return f"{last:,g}" if first >= last else f"{first:,g}–{last:,g}", unit


#: below so many seconds: size and name of the unit, and the step in which it is told
_STEPS = (
    (20, 1, "s", 1),
    (100, 1, "s", 5),
    (10 * MINUTE, MINUTE, "min", 1),
    (100 * MINUTE, MINUTE, "min", 5),
    (10 * HOUR, HOUR, "h", 0.5),
    (2 * DAY, HOUR, "h", 1),
    (math.inf, DAY, "d", 1),
)


def rate(per_second: float) -> str:
    """Return a rate: ``4.8/s`` under 10, ``12/s`` above, per minute below 0.1."""
    return rates(per_second)[0]


def rates(*per_second: float) -> tuple[str, ...]:
    """Return rates that are compared, in one unit: per minute as soon as one of them is below 0.1 a second."""
    numbers, per = _rates(per_second)
    return tuple((_("{n}/s") if per == "s" else _("{n}/min")).format(n=number) for number in numbers)


def english_rates(*per_second: float) -> tuple[str, ...]:
    """Return the same for the command line."""
    numbers, per = _rates(per_second)
    return tuple(f"{number}/{per}" for number in numbers)


def _rates(per_second: Sequence[float]) -> tuple[list[str], str]:
    low = min((one for one in per_second if one > 0), default=1.0) < 0.1
    times = 60.0 if low else 1.0
    return [_amount(one * times) for one in per_second], "min" if low else "s"


def _amount(number: float) -> str:
    return "0" if number <= 0 else f"{number:.1f}" if number < 9.95 else f"{round(number):,}"


def _sign(number: float) -> str:
    return "-" if number < 0 else ""


def _decimals_below(number: float) -> int:
    return 0 if isinstance(number, int) else 10


def _told(number: float) -> _Parts:
    parts = _parts(abs(number), _decimals_below(number))
    return _alone(parts[:1] if len(parts) == 2 and not int(parts[1][0]) else parts)


def _alone(parts: _Parts) -> _Parts:
    """Minutes alone are no part of a clock."""
    return [(parts[0][0], "min")] if len(parts) == 1 and parts[0][1] == "m" else parts


def _parts(number: float, decimals_below: int) -> _Parts:
    number = max(0.0, number)
    if number < decimals_below:
        return [(f"{math.floor(number * 10 + 1e-6) / 10:.1f}", "s")]
    whole = int(number)
    if whole < MINUTE:
        return [(str(whole), "s")]
    if whole < HOUR:
        return [(str(whole // MINUTE), "m"), (f"{whole % MINUTE:02d}", "s")]
    if whole < DAY:
        return [(str(whole // HOUR), "h"), (f"{whole % HOUR // MINUTE:02d}", "m")]
    return [(f"{whole // DAY:,}", "d"), (str(whole % DAY // HOUR), "h")]


@lru_cache(maxsize=_KEPT)
def _lasting(number: float, decimals_below: int, _language: str) -> str:
    """Of a number that has no more places than are said: the rows of a table that came together say the same."""
    return _say(_parts(number, decimals_below))


def _say(parts: _Parts) -> str:
    return _said(tuple(parts), language())


@lru_cache(maxsize=_KEPT)
def _said(parts: tuple[tuple[str, str], ...], _language: str) -> str:
    """A table says the same spans every second, of each row once to compare it and once to paint it."""
    space = " " if is_chinese() else THIN
    return space.join(join(amount, _unit(unit)) for amount, unit in parts)


def _unit(name: str) -> str:
    return pgettext("unit", name)
