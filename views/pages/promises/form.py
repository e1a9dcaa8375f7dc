"""What the fields of a promise say, and the promise that follows from it. Pure: texts in, values out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from services.domain.errors import UsageError
from services.domain.gates.quiet_hours import Weekly
from services.domain.promises import promise as promises
from services.domain.promises.promise import AGE, BY, Promise
from services.domain.task.search import filter_time
from services.i18n import _

ALL, SOME, NAMED = "all", "some", "named"
EVERY_DAY = tuple(range(7))
_DAY_MIN = 1440
_BETWEEN = re.compile(r"[\s,;，；、]+")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The fields as they stand."""

    name: str = ""
    task_type: str = ""
    kind: str = AGE
    limit: str = "60m"
    hours: str = ""  #: "" for always
    by: str = "08:00"
    begins: str = ""  #: "" for midnight
    days: tuple[int, ...] = EVERY_DAY
    choice: str = ALL
    platforms: str = ""
    groups: str = ""
    shops: str = ""
    owner: str = ""
    note: str = ""


def filled(promise: Promise) -> Filled:
    """The fields for a promise."""
    window, start, end = promise.window, promises.clock(promise.window.start), promises.clock(promise.window.end)
    ages = promise.kind == AGE
    whole = (window.start, window.end) == (0, _DAY_MIN)
    return Filled(
        name=promise.name,
        task_type=promise.task_type,
        kind=promise.kind,
        limit=short(promise.limit_s) if ages else Filled().limit,
        hours=f"{start}-{end}" if ages and not whole else "",
        by=Filled().by if ages else end,
        begins=start if not ages and window.start else "",
        days=window.days,
        choice=ALL if promise.all_shops else NAMED if promise.shops else SOME,
        platforms=", ".join(promise.platforms),
        groups=", ".join(promise.groups),
        shops=", ".join(promise.shops),
        owner=promise.owner,
        note=promise.note,
    )


def promise_of(fields: Filled, base: Promise | None = None) -> Promise:
    """The promise that the fields describe; what they do not show is that of ``base``.

    Raises:
        UsageError: a field is not readable.
    """
    ages = fields.kind == AGE
    start, end = 0, _DAY_MIN
    if ages and fields.hours.strip():
        start, end = promises.hours(_plain(fields.hours))
    elif not ages:
        start = promises.hour(_plain(fields.begins), "from") if fields.begins.strip() else 0
        end = promises.hour(_plain(fields.by), "by")
    old = base or Promise(name=fields.name, task_type=fields.task_type)
    return msgspec.structs.replace(
        old,
        name=fields.name.strip(),
        task_type=fields.task_type.strip(),
        kind=AGE if ages else BY,
        limit_s=seconds(fields.limit) if ages else 0,
        window=Weekly(days=tuple(sorted(fields.days)), start=start, end=end),
        all_shops=fields.choice == ALL,
        platforms=_words(fields.platforms) if fields.choice == SOME else (),
        groups=_words(fields.groups) if fields.choice == SOME else (),
        shops=_words(fields.shops) if fields.choice == NAMED else (),
        owner=fields.owner.strip(),
        note=fields.note.strip(),
    )


def seconds(text: str) -> int:
    """Seconds of ``60m``.

    Raises:
        UsageError: it is no duration.
    """
    found = filter_time.duration_ms("".join(text.split()))
    if found is None or found % 1000:
        raise UsageError(_("Write a duration such as 90s, 30m or 2h."), field="limit")
    return found // 1000


def short(number: int) -> str:
    """Seconds as they are typed: ``60m``; hours only where they are whole days or more than two."""
    size, unit = next((size, unit) for size, unit in _UNITS if number % size == 0 and (number > size or size == 1))
    return f"{number // size}{unit}"


def _plain(text: str) -> str:
    """Hours as they are also typed in Chinese."""
    return "".join(text.split()).replace("：", ":").replace("–", "-").replace("至", "-")


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(text) if word))
