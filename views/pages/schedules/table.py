"""Schedules as rows of a table."""

from __future__ import annotations

from services import messages
from services.i18n import N_, _
from services.monitor.schedules import SHOWN_RUNS, ScheduleRow
from views.pages.schedules import runs, words
from views.support import instant, text
from views.support.words import type_names
from views.tables.column import Column, measured


def sentence(row: ScheduleRow) -> str:
    """The row for a screen reader."""
    told = {"name": row.schedule.name, "when": words.when(row), "next": words.next_run(row, instant.now_ms())}
    return _("{name}, {when}, {next}").format(**told)


COLUMNS: tuple[Column[ScheduleRow], ...] = (
    Column(key="state", title="", value=words.glyph, kind="glyph", width=30, speech=sentence),
    Column(key="name", title=N_("Name"), value=lambda row: row.schedule.name, kind="strong", width=150, sortable=True),
    Column(
        key="type",
        title=N_("Task type"),
        value=lambda row: row.schedule.task_type,
        text=lambda row: type_names.name(row.schedule.task_type),
        width=112,
        sortable=True,
        tooltip=lambda row: row.schedule.task_type,
        hide_rank=4,
    ),
    Column(
        key="when",
        title=N_("When"),
        value=words.when,
        width=176,
        tooltip=lambda row: " ".join(part for part in (row.schedule.cron, row.zone) if part),
    ),
    measured(
        "shops",
        N_("Shops"),
        lambda row: row.shops,
        lambda row: text.count(row.shops),
        width=62,
        tooltip=lambda row: words.shops(row.schedule),
    ),
    Column(
        key="next",
        title=N_("Next run"),
        value=lambda row: row.upcoming[0] if row.upcoming else 2**53,
        text=lambda row: words.next_run(row, instant.now_ms()),
        tone=words.next_tone,
        width=136,  # "延误 23 小时 59 分"
        sortable=True,
        live=True,
        tooltip=lambda row: words.next_runs(row, instant.now_ms()),
    ),
    Column(
        key="planned",
        title=N_("Planned for"),
        value=lambda row: row.now.due_ms,
        text=lambda row: words.planned(row, instant.now_ms()),
        width=116,
        hide_rank=2,
    ),
    Column(
        key="last",
        title=N_("Last run"),
        value=lambda row: row.planned.last.at if row.planned.last is not None else 0,
        text=lambda row: words.last_run(row, instant.now_ms()),
        tone=lambda row: "retrying" if row.now.ran_late_ms else "text2",
        width=130,
        sortable=True,
        descending_first=True,
        hide_rank=3,
    ),
    Column(
        key="runs",
        title=N_("History"),
        value=lambda row: row.runs,
        text=runs.summary,
        kind="runs",
        width=runs.STEP * SHOWN_RUNS + 12,
        tooltip=lambda row: runs.lines(row, instant.now_ms()),
        speech=runs.summary,
    ),
    Column(
        key="outcome",
        title=N_("What came of it"),
        value=lambda row: words.outcome(row.planned.last),
        tone=lambda row: "retrying" if row.planned.last is not None and row.planned.last.failed else "text2",
        width=190,
        tooltip=lambda row: messages.own(row.planned.last.error) if row.planned.last is not None else "",
        hide_rank=1,
    ),
    Column(
        key="note",
        title=N_("Note"),
        value=words.remark,
        tone=lambda row: {"warning": "retrying", "dead": "dead"}.get(words.glyph(row), "text2"),
        width=230,
        stretch=True,
        tooltip=lambda row: words.remark(row, "\n"),
    ),
)
