"""Times as people write them into a filter: dates, moments, ``today``, and durations such as ``90m``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_UNITS |= {"秒": 1_000, "分": 60_000, "分钟": 60_000, "小时": 3_600_000, "天": 86_400_000, "周": 604_800_000}
_WORDS = {"s": "sec secs second seconds", "m": "mins minute minutes", "h": "hr hrs hour hours", "d": "day days"}
_UNITS |= {word: _UNITS[unit] for unit, words in (_WORDS | {"w": "week weeks"}).items() for word in words.split()}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([a-z]+|[秒分钟小时天周]+)", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt_ ]\d{2}:\d{2}", re.ASCII)
#: what people put around a duration that counts from now, and days to come
_FROM_NOW = re.compile(r"(?:in\s+)?(.+?)\s*(?:from now|后|之后|以后)?\Z", re.IGNORECASE)
_COMING = {"today": 0, "今天": 0, "今晚": 0, "tonight": 0, "tomorrow": 1, "明天": 1, "后天": 2}
#: of tonight 5 to 11 are hours of the evening; of those below, and of 12, it does not say which night is meant
_TONIGHT, _EVENING, _NOON = frozenset({"今晚", "tonight"}), range(5, 12), 12
_CLOCK = re.compile(r"(?:at\s+)?(\d{1,2})(?:[:：](\d{2})|[点时](\d{1,2})?分?)\Z", re.IGNORECASE)
_DAYS = {"today": 0, "今天": 0, "yesterday": -1, "昨天": -1, "前天": -2}
#: what people put around a time that is over, and how many days ago that was
_AGO = re.compile(r"\s*(?:ago|之前|以前|前)\Z", re.IGNORECASE)
_LAST_NIGHT = "昨晚"
_GONE = {name: -shift for name, shift in _DAYS.items()} | {_LAST_NIGHT: 1}
_CLOCK_GONE = re.compile(
    r"(?:at\s+)?(\d{1,2})(?::(\d{2})(?::(\d{2}))?|[点时](\d{1,2})?分?)\Z", re.IGNORECASE | re.ASCII
)
_LONGEST_MS = 100 * 366 * 86_400_000


def duration_ms(text: str) -> int | None:
    """Milliseconds of ``1h``, ``2d12h``, ``30分钟``; None if it is no duration."""
    at = total = 0.0
    while at < len(text):
        match = _PART.match(text, int(at))
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            return None
        total += float(match[1]) * unit
        at = match.end()
    return round(total) if text and total <= _LONGEST_MS else None


def ago_ms(text: str) -> int | None:
    """Milliseconds of a duration that is over: ``90m``, ``2 h ago``, ``30分钟前``; None if it is none."""
    return duration_ms(_AGO.sub("", text.strip()).replace(" ", ""))


def clock_gone(text: str) -> tuple[int | None, str] | None:
    """How many days ago (None: it is not said) and what time of that day: ``03:12``, ``yesterday 18:00``, ``昨晚 8点``;
    None if it is no such words.
    """
    lead = next((name for name in _GONE if text.lower().startswith(name)), "")
    clock = _CLOCK_GONE.match(text[len(lead) :].strip())
    if clock is None:
        return None
    hour = int(clock[1])
    if lead == _LAST_NIGHT and hour <= _NOON:
        if hour not in _EVENING:
            return None
        hour += _NOON
    return _GONE.get(lead), f"{hour:02}:{int(clock[2] or clock[4] or 0):02}:{int(clock[3] or 0):02}"


def iso(instant: int, time_zone: str = "") -> str:
    """A moment with milliseconds and offset, readable again in any zone."""
    return _at(instant, _zone(time_zone)).isoformat(timespec="milliseconds")


def is_day(text: str) -> bool:
    """Whether these are the words of a day alone, as ``tomorrow`` or ``明天``."""
    return text.strip().lower() in _COMING | _DAYS


class Times(msgspec.Struct, frozen=True):
    """What the words mean now, in one time zone."""

    now_ms: int
    time_zone: str | tzinfo = ""  #: its name or itself; "" is the machine's own

    def coming(self, text: str) -> int | None:
        """The instant to come of ``in 2 h``, ``2小时后``, ``18:00``, ``today 18:00``, ``明天 9点``,
        ``今晚 8点``, ``2026-11-27 08:00``; a bare clock time is the next one.

        None if it is none of them; one that is past is told as it is.
        """
        words = " ".join(text.split())
        match = _FROM_NOW.match(words)
        span = duration_ms(match[1].replace(" ", "")) if match else None
        if span is not None:
            return self.now_ms + span
        try:
            return self._coming(words)
        except (ValueError, OverflowError, OSError):
            return None

    def _coming(self, words: str) -> int | None:
        zone = _zone(self.time_zone)
        lead = next((name for name in _COMING if words.lower().startswith(name)), "")
        clock = _CLOCK.match(words[len(lead) :].strip())
        if clock is None:
            found = self._span(words) if not lead else None
            return found[0] if found is not None and found[0] == found[1] else None
        hour, minute = int(clock[1]), int(clock[2] or clock[3] or 0)
        if lead in _TONIGHT and hour <= _NOON:
            if hour not in _EVENING:
                return None
            hour += _NOON
        day = _at(self.now_ms, zone) + timedelta(days=_COMING.get(lead, 0))
        moment = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - as above
        instant = _instant(moment, zone)
        if lead or instant > self.now_ms:
            return instant
        return _instant(moment + timedelta(days=1), zone)

    def span(self, text: str) -> tuple[int, int] | None:
        """First instant meant and the one after the last; the same twice for a moment, None if it is no time."""
        try:
            return self._span(text.strip())
        except (ValueError, OverflowError, OSError):
            return None

    def bound(self, name: str, text: str) -> Callable[[int], bool] | None:
        """Whether an instant is ``since`` or ``until`` what is meant: a time, or so long ago; None if it is neither."""
        ago = duration_ms(text)
        span = (self.now_ms - ago, self.now_ms - ago) if ago is not None else self.span(text)
        if span is None:
            return None
        first, end = span
        return (lambda at: at >= first) if name == "since" else (lambda at: at < max(end, first + 1))

    def _span(self, word: str) -> tuple[int, int] | None:
        zone = _zone(self.time_zone)
        if word.lower() == "now":
            return self.now_ms, self.now_ms
        shift = _DAYS.get(word.lower())
        if shift is not None or _DATE.match(word):
            day = datetime.fromisoformat(word) if shift is None else _at(self.now_ms, zone) + timedelta(days=shift)
            midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - the zone is given to it in _instant
            return _instant(midnight, zone), _instant(midnight + timedelta(days=1), zone)
        if not _MOMENT.match(word):
            return None
        moment = datetime.fromisoformat(word.replace("_", "T"))
        instant = _instant(moment, zone)
        return instant, instant


def _instant(moment: datetime, zone: tzinfo | None) -> int:
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return round(moment.timestamp() * 1000)


def _at(instant: int, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(instant / 1000, UTC).astimezone(zone)


def _zone(name: str | tzinfo) -> tzinfo | None:
    if isinstance(name, tzinfo):
        return name
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError):
        return None
