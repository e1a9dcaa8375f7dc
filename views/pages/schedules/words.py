"""Schedules in words: when they repeat, what comes next, what came of the last run. Pure but for the language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import timedelta

from services import messages
from services.domain.insight import schedule as insight
from services.domain.plans.recurrence import ALIASES
from services.domain.plans.schedule import Schedule, Tally
from services.domain.text.message import Message
from services.i18n import N_, _, ngettext
from services.monitor.schedules import ScheduleRow
from views.support import instant, safe, shown, text

_DAYS = (
    N_("Sundays"),
    N_("Mondays"),
    N_("Tuesdays"),
    N_("Wednesdays"),
    N_("Thursdays"),
    N_("Fridays"),
    N_("Saturdays"),
    N_("Sundays"),
)
_DAY = (
    N_("Sunday"), N_("Monday"), N_("Tuesday"), N_("Wednesday"), N_("Thursday"), N_("Friday"), N_("Saturday"),
    N_("Sunday"),
)  # fmt: skip
#: which of such a day in a month, as it stands behind the # of a cron expression
_NTH = {
    "1": N_("on the first {day} of each month at {time}"),
    "2": N_("on the second {day} of each month at {time}"),
    "3": N_("on the third {day} of each month at {time}"),
    "4": N_("on the fourth {day} of each month at {time}"),
    "5": N_("on the fifth {day} of the months that have one at {time}"),
}
_BY_NAME = {name: str(number) for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
#: what may be chosen in a field of a schedule, by what is kept
CHOICES = {
    "missed": {"once": N_("make up for it once"), "skip": N_("leave it out")},
    "overlap": {"skip": N_("leave the shop out"), "queue": N_("queue behind it")},
}
#: what a schedule can be
STATES = {
    "on": N_("Enabled"),
    "off": N_("Disabled"),
    "overdue": N_("Late"),
    "paused": N_("Paused"),
    "collides": N_("Collides"),
    "failed": N_("Failed"),
}
#: one of a unit is said without a number
_ALONE = {
    timedelta(minutes=1): N_("every minute"),
    timedelta(hours=1): N_("every hour"),
    timedelta(days=1): N_("every day"),
}
#: minutes that divide the hour: their runs are evenly apart
_STEPS = frozenset(str(step) for step in range(1, 31) if 60 % step == 0)
#: and hours that divide the day
_HOUR_STEPS = frozenset(str(step) for step in range(2, 13) if 24 % step == 0)
#: times of a day that are said one by one
MOST_TIMES = 4
#: the last day that no month lacks
_IN_EVERY_MONTH = 28


def when(row: ScheduleRow) -> str:
    """When it repeats, with its zone where it has one of its own."""
    words = repeats(row.schedule)
    return f"{words} ({row.schedule.zone})" if row.schedule.zone else words


def repeats(schedule: Schedule) -> str:
    """The common rules in words, the others as they were written."""
    if schedule.every_s:
        return _every(timedelta(seconds=schedule.every_s))
    parts = ALIASES.get(schedule.cron.lower(), schedule.cron).split()
    if len(parts) != 5:
        return schedule.cron
    minute, hour, day, month, weekday = parts
    weekday = re.sub("[a-z]{3}", lambda name: _BY_NAME.get(name[0], name[0]), weekday.lower())
    if month != "*":
        return _yearly(minute, hour, day, month, weekday) or schedule.cron
    if hour.startswith("*/") and (day, weekday) == ("*", "*"):
        found = _some_hours(minute, hour.removeprefix("*/"))
    else:
        found = _hourly(minute, weekday) if (hour, day) == ("*", "*") else _at_a_time(minute, hour, day, weekday)
    return found or schedule.cron


def _yearly(minute: str, hour: str, day: str, month: str, weekday: str) -> str:
    if not all(one.isdigit() for one in (minute, hour, day, month)) or weekday != "*":
        return ""
    at = {"date": f"{int(month):02d}-{int(day):02d}", "time": f"{int(hour):02d}:{int(minute):02d}"}
    leap = (int(month), int(day)) == (2, 29)
    return (_("in leap years on {date} at {time}") if leap else _("yearly on {date} at {time}")).format(**at)


def _monthly(day: str, time: str) -> str:
    if day.upper() == "L":
        return _("on the last day of each month at {time}").format(time=time)
    if day.upper() == "LW":
        return _("on the last day from Monday to Friday of each month at {time}").format(time=time)
    days = day.split(",")
    if len(days) > 1 and all(one.isdigit() and int(one) <= _IN_EVERY_MONTH for one in days):
        return _("monthly on the days {days} at {time}").format(
            days=text.listed([str(int(one)) for one in days]), time=time
        )
    if not day.isdigit():
        return ""
    if int(day) > _IN_EVERY_MONTH:
        return _("on day {day} of the months that have one at {time}").format(day=int(day), time=time)
    return _("monthly on day {day} at {time}").format(day=int(day), time=time)


def _at_a_time(minute: str, hour: str, day: str, weekday: str) -> str:
    hours, minutes = hour.split(","), minute.split(",")
    if not all(one.isdigit() for one in (*hours, *minutes)) or len(hours) * len(minutes) > MOST_TIMES:
        return ""
    times = sorted({(int(one), int(part)) for one in hours for part in minutes})
    time = text.listed([f"{at:02d}:{past:02d}" for at, past in times])
    if day != "*":
        return _monthly(day, time) if weekday == "*" else ""
    if weekday == "*":
        return _("daily at {time}").format(time=time)
    if weekday == "1-5":
        return _("Monday to Friday at {time}").format(time=time)
    if all(len(one) == 1 and one in "01234567" for one in weekday.split(",")):
        return _("{days} at {time}").format(
            days=text.listed([_(_DAYS[int(one)]) for one in weekday.split(",")]), time=time
        )
    if re.fullmatch("[0-7]l", weekday):
        return _("on the last {day} of each month at {time}").format(day=_(_DAY[int(weekday[0])]), time=time)
    if re.fullmatch("[0-7]#[1-5]", weekday):
        return _(_NTH[weekday[2]]).format(day=_(_DAY[int(weekday[0])]), time=time)
    return ""


def _some_hours(minute: str, step: str) -> str:
    if not (minute.isdigit() and step in _HOUR_STEPS):
        return ""
    span = text.exact(timedelta(hours=int(step)))
    return _("every {span} at minute {minute}").format(span=span, minute=int(minute))


def _every(span: timedelta) -> str:
    if span in _ALONE:
        return _(_ALONE[span])
    return _("every {span}").format(span=text.exact(span))


def _hourly(minute: str, weekday: str) -> str:
    if weekday != "*":
        return ""
    if minute.isdigit():
        return _("hourly at minute {minute}").format(minute=int(minute))
    step = minute.removeprefix("*/")
    if minute.startswith("*/") and step in _STEPS:
        return _every(timedelta(minutes=int(step)))
    return ""


def glyph(row: ScheduleRow) -> str:
    """The status name of a schedule."""
    if row.now.late_ms:
        return "warning" if row.now.why is not None and row.now.why.code == "schedule.firing" else "dead"
    if row.problem or row.conflicts or (row.planned.last is not None and row.planned.last.failed):
        return "warning"
    return "scheduled" if row.schedule.enabled else "paused"


def next_run(row: ScheduleRow, now_ms: int) -> str:
    """How soon it runs."""
    if row.problem:
        return _("cannot run")
    if not row.schedule.enabled:
        return _("disabled")
    if not row.upcoming:
        return _("never again")
    if (late := row.now.late) is not None:
        return shown.told(late, now_ms)
    return text.until(shown.span(row.upcoming[0] - now_ms))


def next_tone(row: ScheduleRow) -> str:
    """The tone of that."""
    if row.now.late_ms:
        return "retrying" if row.now.why is not None and row.now.why.code == "schedule.firing" else "dead"
    return "text" if row.upcoming else "text3"


def planned(row: ScheduleRow, now_ms: int) -> str:
    """The time for which the next run is planned, also when that is over."""
    return shown.clock(row.now.due_ms, now_ms) if row.now.due_ms and not row.problem else ""


def last_run(row: ScheduleRow, now_ms: int) -> str:
    """When it ran last, and how late that was."""
    last = row.planned.last
    if last is None:
        return ""
    late = row.now.ran_late
    return text.listed((shown.clock(last.at, now_ms), *((shown.told(late, now_ms),) if late is not None else ())))


def next_runs(row: ScheduleRow, now_ms: int) -> str:
    """The next runs, one a line, for a tool tip."""
    late = (
        [_("planned for {time}, not fired").format(time=shown.clock(row.now.due_ms, now_ms))] if row.now.late_ms else []
    )
    late += [shown.told(row.now.why, now_ms)] if row.now.why is not None else []
    lines = late + [shown.minute(at, now_ms) for at in row.upcoming]
    return "\n".join([*lines, row.problem] if row.problem else lines)


def outcome(last: Tally | None) -> str:
    """What came of the last run."""
    if last is None:
        return ""
    parts = [ngettext("{n} task", "{n} tasks", last.created).format(n=text.count(last.created))]
    if last.active:
        parts.append(ngettext("{n} shop left out", "{n} shops left out", last.active).format(n=text.count(last.active)))
    if last.done:
        number = text.count(last.done)
        parts.append(ngettext("{n} shop done already", "{n} shops done already", last.done).format(n=number))
    if last.failed:
        parts.append(ngettext("{n} failed", "{n} failed", last.failed).format(n=text.count(last.failed)))
    return text.listed(parts)


def collisions(row: ScheduleRow, between: str = "") -> str:
    """With which other schedules, quiet hours and promises it collides; ``between`` them stands what parts a list."""
    return collided(row.conflicts, between)


def run_collisions(row: ScheduleRow, at: int) -> str:
    """The same of one of its next runs: quiet hours hold the runs that fall into them, all else is of the first."""
    own = (row.quieted[at],) if at in row.quieted else ()
    return collided((*row.others, *own) if at == row.upcoming[0] else own)


def collided(conflicts: Sequence[Message], between: str = "") -> str:
    """What was found, in the present language."""
    told = map(shown.say, conflicts) if between else messages.in_one(conflicts, shown.say)
    return _joined(told, between)


def _joined(parts: Iterable[str], between: str) -> str:
    """In one line no full stop stands before what follows."""
    return between.join(parts) if between else text.listed((one.rstrip(".。") for one in parts), ";")


def remark(row: ScheduleRow, between: str = "") -> str:
    """What the yellow glyph is for, then what somebody noted."""
    last, why = row.planned.last, row.now.why if row.now.late_ms else None
    failed = outcome(last) if last is not None and last.failed else ""
    late = shown.told(why, instant.now_ms()) if why is not None else ""
    paused = _paused(row) if row.schedule.enabled else ""
    parts = (late, row.problem, paused, collisions(row, between), failed, safe.one_line(row.schedule.note, 80))
    return _joined([part for part in parts if part], between)


def _paused(row: ScheduleRow) -> str:
    if row.paused:
        return _("paused: what it makes waits")
    if not row.halted:
        return ""
    told = ngettext("{n} of {shops} shops is paused", "{n} of {shops} shops are paused", row.halted)
    return told.format(n=text.count(row.halted), shops=text.count(row.shops))


def shops(schedule: Schedule) -> str:
    """Which shops were chosen."""
    if schedule.all_shops:
        return _("all shops")
    return text.listed((*schedule.platforms, *schedule.groups, *schedule.shops))


def why_late(rows: Sequence[ScheduleRow], now_ms: int) -> str:
    """Why the latest of them is late and what to do, "" while all are in time."""
    worst = max(rows, key=lambda row: row.now.late_ms, default=None)
    return shown.told(worst.now.why, now_ms) if worst is not None and worst.now.why is not None else ""


def summary(rows: Sequence[ScheduleRow], now_ms: int, fitting: Sequence[ScheduleRow] | None = None) -> str:
    """The page's line; ``fitting``: those that a filter means, None without one."""
    if not rows:
        return _("Nothing repeats.")
    number = ngettext("{n} schedule", "{n} schedules", len(rows)).format(n=text.count(len(rows)))
    late = insight.summary([row.now for row in rows])
    off = sum(1 for row in rows if not row.schedule.enabled)
    if fitting is not None:
        number = ngettext("{n} of {total} schedule matches", "{n} of {total} schedules match", len(rows)).format(
            n=text.count(len(fitting)), total=text.count(len(rows))
        )
        off, rows = 0, fitting  # how many are late is told of all of them
    parts = [number, *((shown.told(late, now_ms),) if late is not None else ())]
    if off:
        parts.append(ngettext("{n} disabled", "{n} disabled", off).format(n=text.count(off)))
    coming = min(
        (row for row in rows if row.upcoming and not row.now.late_ms), key=lambda row: row.upcoming[0], default=None
    )
    if coming is not None:
        words = _("next {name} {when}")
        parts.append(words.format(name=coming.schedule.name, when=next_run(coming, now_ms)))
    return text.listed(parts)
