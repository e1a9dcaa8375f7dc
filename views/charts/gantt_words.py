"""The runs of one shop in words. Pure but for the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from services.i18n import N_, _, ngettext
from services.monitor.shops.day import (
    CANCELLED,
    DEAD,
    HELD,
    MISSED,
    OVERTAKEN,
    PERSON,
    PLANNED,
    PROGRAM,
    RETRIED,
    RUNNING,
    SCHEDULE,
    SKIPPED,
    SUCCEEDED,
    UNKNOWN,
    WAITS,
    DayAttempt,
    ShopDay,
)
from views.support import instant, safe, shown, text
from views.support.words import kinds, type_names

#: by state: the status whose glyph it has, and its word
LOOKS: Mapping[str, tuple[str, str]] = {
    SUCCEEDED: ("succeeded", N_("Succeeded")),
    RETRIED: ("retrying", N_("Failed, tried again")),
    DEAD: ("dead", N_("Dead")),
    HELD: ("held", N_("To confirm")),
    CANCELLED: ("cancelled", N_("Stopped")),
    RUNNING: ("running", N_("Running")),
    PLANNED: ("scheduled", N_("Planned")),
    OVERTAKEN: ("dead", N_("Overtaken")),
    WAITS: ("waiting", N_("Waiting")),
    MISSED: ("warning", N_("Due, did not come")),
    SKIPPED: ("cancelled", N_("Left this shop out")),
    UNKNOWN: ("unconfirmed", N_("Not known for this shop")),
}
#: glyphs in a cell, which is an edge of its own
CELLS: Mapping[str, str] = {SUCCEEDED: "ph.check-bold", DEAD: "ph.x-bold", OVERTAKEN: "ph.x-bold"}
#: by who asks: what a row is called
ASKERS: Mapping[str, str] = {
    SCHEDULE: N_("By schedule"),
    PERSON: N_("By a person"),
    PROGRAM: N_("Other programs"),
}
#: states in which nothing was run
_NO_RUN = frozenset({PLANNED, WAITS, MISSED, SKIPPED, UNKNOWN})


def state(name: str) -> str:
    """How it ended, or stands."""
    return _(LOOKS[name][1])


def duration(run: DayAttempt) -> str:
    """How long it took, or takes so far; "" for a planned one."""
    if run.state in _NO_RUN or run.ends <= run.begins:
        return ""
    ends = max(run.ends, instant.now_ms()) if run.state == RUNNING else run.ends
    return text.duration(shown.span(max(0, ends - run.begins)))


def note(run: DayAttempt) -> str:
    """Why it failed, where it waits, or who creates it."""
    if run.gate:
        return shown.gate_word(run.gate)
    if run.schedule:
        return _("by the schedule {name}").format(name=safe.one_line(run.schedule, 60))
    if run.error or run.error_kind:
        return kinds.title(run.error_kind) or kinds.telling(run.error)
    return ""


def told(run: DayAttempt) -> str:
    """All that is known of a run, a line each."""
    now = instant.now_ms()
    lead = _("{name}: {value}").format(name=type_names.name(run.task_type), value=state(run.state))
    when = shown.clock(run.begins, now)
    lines = [lead, text.listed([part for part in (when, duration(run)) if part])]
    if run.attempt and run.state not in _NO_RUN:
        where = _("attempt {n} on {worker}") if run.worker else _("attempt {n}")
        lines.append(where.format(n=run.attempt, worker=safe.one_line(run.worker, 60)))
    if note(run):
        lines.append(note(run))
    if run.error and run.error_kind:
        lines.append(kinds.telling(run.error))
    return "\n".join(lines)


def sentence(run: DayAttempt) -> str:
    """The row for a screen reader."""
    return told(run).replace("\n", "; ")


def runs(day: ShopDay) -> str:
    """How many there were."""
    number = sum(run.state not in _NO_RUN for run in day.runs)
    return ngettext("{n} run", "{n} runs", number).format(n=text.count(number))


def counts(day: ShopDay) -> list[tuple[str, str]]:
    """Each state that a run is in, with its word and number."""
    found = Counter(run.state for run in day.runs)
    return [(name, f"{state(name)} {text.count(found[name])}") for name in LOOKS if found[name]]


def summary(day: ShopDay) -> str:
    """How many runs of each kind."""
    parts = [runs(day), *(said for _name, said in counts(day))]
    return text.listed(parts if day.complete else [*parts, _("older ones are not shown")])
