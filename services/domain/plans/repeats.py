"""How often something repeats, as people write it: ``30m``, ``daily 02:30``, ``工作日 9点``, ``每月1日 9:00``, cron."""

from __future__ import annotations

import re

from services.domain.errors import UsageError
from services.domain.plans.recurrence import ALIASES
from services.domain.task.search import filter_time
from services.domain.text.said import said

_EVERY = re.compile(r"(?:every|每隔|每)\s*(.+)\Z", re.IGNORECASE)
#: one of a unit is written without a number; of a day it would say no time
_ALONE = re.compile(r"(?:个)?(hour|minute|小时|分钟)\Z", re.IGNORECASE)
_TIME = r"\d{1,2}(?:\s*[:：]\s*\d{2}(?:\s*[ap]m)?|\s*[点时](?:半|\d{1,2}分?)?|\s*[ap]m)"
_AND = r"(?:\s*[,，、;；]\s*|\s+and\s+|\s*[和及]\s*|\s+)"
_CLOCK = re.compile(rf"(.*?)\s*(?:\bat\s+)?({_TIME}(?:{_AND}{_TIME})*)\Z", re.IGNORECASE)
_HOUR = re.compile(r"(\d{1,2})\s*(?:[:：点时]\s*(半|\d{1,2})?分?)?\s*([ap]m)?\Z", re.IGNORECASE)
_DAYS = {
    **dict.fromkeys(("", "daily", "every day", "each day", "每天", "每日"), "*"),
    **dict.fromkeys(("weekdays", "workdays", "monday to friday", "工作日", "周一到周五", "周一至周五"), "1-5"),
    **dict.fromkeys(("weekends", "周末"), "0,6"),
}
_NAMES = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_CHINESE = "日一二三四五六"
_DAYS |= {word: str(day) for day, name in enumerate(_NAMES) for word in (name, f"{name}s", name[:3], f"every {name}")}
_DAYS |= {
    f"{lead}{sign}": str(day) for day, sign in enumerate(_CHINESE) for lead in ("周", "每周", "星期", "每星期", "礼拜")
}
_DAYS |= dict.fromkeys(("周天", "每周天", "星期天"), "0")
_MONTHLY = re.compile(
    r"(?:monthly|every month|each month|每个?月的?)\s*(?:on\s+)?(?:the\s+)?(?:days?\s+)?(.+)\Z", re.IGNORECASE
)
_LAST = re.compile(
    r"(?:on\s+)?(?:the\s+)?(?:last(?: day)?|最后一[天日]|月?[底末])(?: of (?:each|every|the) month)?\Z", re.IGNORECASE
)
_MONTH_DAY = re.compile(r"(\d{1,2})\s*(?:st|nd|rd|th|日|号)?\Z", re.IGNORECASE)


def read(text: str) -> tuple[str, int]:
    """A cron expression and "" seconds, or "" and the seconds of an interval: one of both.

    Raises:
        UsageError: it is neither; the sentence shows how it is written.
    """
    words = " ".join(text.split())
    if words.lower() in ALIASES or (len(words.split()) == 5 and not _CLOCK.match(words)):
        return words, 0
    if span := _span(words):
        return "", span
    clock = _CLOCK.match(words)
    found = (_days(clock[1].strip().lower()), _times(clock[2])) if clock else None
    if found is None or not all(found):
        raise UsageError(said("schedule.repeats", words=words[:60]), field="repeat")
    return f"{found[1]} {found[0]}", 0


def cron(words: str) -> str:
    """An expression as it is written, or what people say instead of one: ``daily 9:00``."""
    found = " ".join(words.split())
    try:
        return read(found)[0] or found
    except UsageError:  # what is wrong with it as an expression is told by who reads that
        return found


def _span(words: str) -> int:
    """Seconds of an interval, 0 for none."""
    if words.lower() == "hourly":
        return 3600
    match = _EVERY.match(words)
    length = (match[1] if match else words).replace(" ", "")
    span = filter_time.duration_ms(
        f"1{_ALONE.sub(lambda one: one[1], length)}" if match and _ALONE.match(length) else length
    )
    return span // 1000 if span and not span % 1000 else 0


def _times(words: str) -> str:
    """Minute and hours of cron, "" where no clock shows them, or one expression cannot name them all."""
    found = [_time(part) for part in re.findall(_TIME, words, re.IGNORECASE)]
    minutes = {minute for _hour, minute in found}
    if len(minutes) != 1 or any(hour > 23 or minute > 59 for hour, minute in found):
        return ""
    hours = sorted({hour for hour, _minute in found})
    return f"{minutes.pop()} {','.join(map(str, hours))}"


def _time(word: str) -> tuple[int, int]:
    match = _HOUR.match(word)
    if match is None:
        return 24, 0
    hour, minute, half = int(match[1]), 30 if match[2] == "半" else int(match[2] or 0), (match[3] or "").lower()
    if half and not 1 <= hour <= 12:
        return 24, 0
    return (hour % 12 + (12 if half == "pm" else 0) if half else hour), minute


def _days(words: str) -> str:
    """Day of the month, month and weekday of cron, "" for what is none of them."""
    if (known := _DAYS.get(words)) is not None:
        return f"* * {known}"
    monthly = _MONTHLY.match(words)
    if _LAST.match(monthly[1] if monthly else words):
        return "L * *"
    parts = [part for part in re.split(_AND, monthly[1] if monthly else words) if part]
    found = [_month_day(part) if monthly else _weekday(part) for part in parts]
    if not found or not all(found):
        return ""
    days = ",".join(dict.fromkeys(sorted(found, key=int)))
    return f"{days} * *" if monthly else f"* * {days}"


def _weekday(word: str) -> str:
    """``0`` to ``6``; of several, Chinese names the week once: 周一、三."""
    if len(word) == 1 and word in _CHINESE:
        return str(_CHINESE.index(word))
    found = _DAYS.get(word, "")
    return found if found.isdigit() else ""


def _month_day(word: str) -> str:
    match = _MONTH_DAY.match(word)
    return str(int(match[1])) if match and 1 <= int(match[1]) <= 31 else ""
