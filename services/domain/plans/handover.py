"""When the page for who takes over is sent, and to whom: one document of the fleet. Pure."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

import msgspec

from services.domain.alerts import rule as rules
from services.domain.errors import UsageError
from services.domain.plans import recurrence
from services.domain.text.said import said
from services.domain.upkeep.stored import Document, Instant

KIND, PLAN, SENT = "handover", "plan", "sent"
MOST_TIMES, MOST_TO = 12, 20
#: so late a page is still sent that nobody was there to send
LATE_MS = 2 * 3_600_000
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d\Z", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class HandoverPlan(msgspec.Struct, frozen=True, kw_only=True):
    """``times``: of each day on the fleet's clocks, ``HH:MM`` in order; ``to``: channels of alerts, or their groups."""

    times: tuple[str, ...]
    to: tuple[str, ...] = (rules.DUTY,)
    by: str = ""
    at: Instant = 0  #: since when it holds: what was due before is not sent


class HandoverSent(msgspec.Struct, frozen=True, kw_only=True):
    """The page that was sent last: the time it was due."""

    due: Instant = 0


def check(plan: HandoverPlan) -> None:
    """Look at every field.

    Raises:
        UsageError: no time, too many, none that is one; or nobody to send it to. ``field`` is at or to.
    """
    wrong = next((time for time in plan.times if not _TIME.match(time)), None)
    if wrong is not None:
        raise UsageError(said("handover.bad_time", value=f"{wrong!r:.40}"), field="at")
    if not 1 <= len(plan.times) <= MOST_TIMES or len(set(plan.times)) < len(plan.times):
        raise UsageError(said("handover.bad_times", most=MOST_TIMES), field="at")
    bad = next((name for name in plan.to if not _NAME.match(name)), None)
    if bad is not None or not 1 <= len(plan.to) <= MOST_TO:
        raise UsageError(said("handover.bad_to", value=f"{bad or ''!r:.80}"), field="to")


DOCUMENT, LAST = Document(HandoverPlan, check), Document(HandoverSent)


def times(plan: HandoverPlan, zone: str, around: int) -> list[int]:
    """The set instants from two days before an instant to two days after it, UTC ms in order."""
    where = recurrence.zone_named(zone)
    middle = datetime.fromtimestamp(around / 1000, where).date()
    days = [middle + timedelta(days=shift) for shift in range(-2, 3)]
    found = {_at(day, time, zone) for day in days for time in plan.times}
    return sorted(found)


def due(plan: HandoverPlan, zone: str, now_ms: int) -> tuple[int, int] | None:
    """The newest set instant that is not after now and after the plan was made, and the one before it; None where none
    is, or it is too late for it.
    """
    past = [at for at in times(plan, zone, now_ms) if at <= now_ms]
    at, before = past[-1], past[-2]
    return (at, before) if at > plan.at and now_ms - at <= LATE_MS else None


def following(plan: HandoverPlan, zone: str, now_ms: int) -> int:
    """The next set instant after now."""
    return next(at for at in times(plan, zone, now_ms) if at > now_ms)


def _at(day: date, time: str, zone: str) -> int:
    """A time that a change of the clocks leaves out is as much later as they were put on."""
    hours, minutes = int(time[:2]), int(time[3:])
    local = datetime(day.year, day.month, day.day, hours, minutes, tzinfo=recurrence.zone_named(zone))
    return round(local.timestamp() * 1000)
