"""How often something repeats, as people write it: ``30m``, ``daily 02:30``, ``工作日 9:00``, or cron."""

from __future__ import annotations

import re

from services.domain.errors import UsageError
from services.domain.plans.recurrence import ALIASES
from services.domain.task.search import filter_time
from services.domain.text.said import said

_EVERY = re.compile(r"(?:every|每隔|每)\s*(.+)\Z", re.IGNORECASE)
_CLOCK = re.compile(r"(.*?)\s*(?:at\s+)?(\d{1,2})[:：](\d{2})\Z", re.IGNORECASE)
_DAYS = {
    **dict.fromkeys(("", "daily", "every day", "每天", "每日"), "*"),
    **dict.fromkeys(("weekdays", "workdays", "monday to friday", "工作日", "周一到周五", "周一至周五"), "1-5"),
    **dict.fromkeys(("weekends", "周末"), "0,6"),
}
_NAMES = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_CHINESE = "日一二三四五六"
_DAYS |= {word: str(day) for day, name in enumerate(_NAMES) for word in (name, f"{name}s", name[:3], f"every {name}")}
_DAYS |= {f"{lead}{sign}": str(day) for day, sign in enumerate(_CHINESE) for lead in ("周", "每周", "星期")}


def read(text: str) -> tuple[str, int]:
    """A cron expression and "" seconds, or "" and the seconds of an interval: one of both.

    Raises:
        UsageError: it is neither; the sentence shows how it is written.
    """
    words = " ".join(text.split())
    if words.lower() in ALIASES or (len(words.split()) == 5 and not _CLOCK.match(words)):
        return words, 0
    match = _EVERY.match(words)
    span = filter_time.duration_ms((match[1] if match else words).replace(" ", ""))
    if span and not span % 1000:
        return "", span // 1000
    clock = _CLOCK.match(words)
    weekday = _DAYS.get(clock[1].strip().lower()) if clock else None
    if clock is None or weekday is None or int(clock[2]) > 23 or int(clock[3]) > 59:
        raise UsageError(said("schedule.repeats", words=words[:60]), field="repeat")
    return f"{int(clock[3])} {int(clock[2])} * * {weekday}", 0
