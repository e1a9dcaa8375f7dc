"""What the fields of a schedule say, and the schedule that follows from it. Pure: texts in, values out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from services.domain.errors import UsageError
from services.domain.plans.schedule import Schedule
from services.domain.task.search import filter_time
from services.i18n import _

CRON, EVERY = "cron", "every"
ALL, SOME, NAMED = "all", "some", "named"
_BETWEEN = re.compile(r"[\s,;，；、]+")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The fields as they stand."""

    name: str = ""
    task_type: str = ""
    repeats: str = CRON
    cron: str = "30 2 * * *"
    every: str = "1h"
    zone: str = ""
    choice: str = ALL
    platforms: str = ""
    groups: str = ""
    shops: str = ""
    spread: str = "0s"
    missed: str = "once"
    overlap: str = "skip"
    note: str = ""
    payload: Any = field(default_factory=dict)  #: None while it is not JSON


def filled(schedule: Schedule) -> Filled:
    """The fields for a schedule."""
    return Filled(
        name=schedule.name,
        task_type=schedule.task_type,
        repeats=EVERY if schedule.every_s else CRON,
        cron=schedule.cron or Filled().cron,
        every=short(schedule.every_s) if schedule.every_s else Filled().every,
        zone=schedule.zone,
        choice=ALL if schedule.all_shops else NAMED if schedule.shops else SOME,
        platforms=", ".join(schedule.platforms),
        groups=", ".join(schedule.groups),
        shops=", ".join(schedule.shops),
        spread=short(schedule.spread_s),
        missed=schedule.missed,
        overlap=schedule.overlap,
        note=schedule.note,
        payload=schedule.payload,
    )


def schedule_of(fields: Filled, base: Schedule | None = None) -> Schedule:
    """The schedule that the fields describe; what they do not show is that of ``base``.

    Raises:
        UsageError: a field is not readable.
    """
    if not isinstance(fields.payload, dict):
        raise UsageError(_("The payload is not a JSON object."), field="payload")
    old = base or Schedule(name=fields.name, task_type=fields.task_type)
    return msgspec.structs.replace(
        old,
        name=fields.name.strip(),
        task_type=fields.task_type.strip(),
        payload=fields.payload,
        cron=" ".join(fields.cron.split()) if fields.repeats == CRON else "",
        every_s=seconds(fields.every, "every") if fields.repeats == EVERY else 0,
        first_at=0,
        zone=fields.zone.strip(),
        all_shops=fields.choice == ALL,
        platforms=_words(fields.platforms) if fields.choice == SOME else (),
        groups=_words(fields.groups) if fields.choice == SOME else (),
        shops=_words(fields.shops) if fields.choice == NAMED else (),
        spread_s=seconds(fields.spread, "spread"),
        missed=fields.missed,
        overlap=fields.overlap,
        note=fields.note.strip(),
    )


def seconds(text: str, name: str) -> int:
    """Seconds of ``30m``; "" is none.

    Raises:
        UsageError: it is no duration.
    """
    if not text.strip():
        return 0
    found = filter_time.duration_ms("".join(text.split()))
    if found is None or found % 1000:
        raise UsageError(_("Write a duration such as 90s, 30m or 2h."), field=name)
    return found // 1000


def short(number: int) -> str:
    """Seconds as they are typed: ``20m``."""
    size, unit = next((size, unit) for size, unit in _UNITS if number % size == 0 and (number or size == 1))
    return f"{number // size}{unit}"


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(text) if word))
