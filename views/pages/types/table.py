"""Task types as rows of a table."""

from __future__ import annotations

from services.i18n import N_
from views.pages.types import words
from views.pages.types.words import TypeRow
from views.support import text
from views.tables.column import Column, measured

TYPES: tuple[Column[TypeRow], ...] = (
    Column(
        key="name",
        title=N_("Task type"),
        value=lambda row: row.kind.name,
        kind="strong",
        names=True,
        width=150,
        sortable=True,
        speech=words.row,
        tooltip=lambda row: words.description(row.kind),
    ),
    Column(
        key="title", title=N_("Title"), value=lambda row: words.title(row.kind), tone="text2", width=150, stretch=True,
        sortable=True,
    ),
    Column(
        key="drift",
        title=N_("Drift"),
        value=lambda row: -row.drifts[0].since if row.drifts else None,
        text=lambda row: words.drift(row),
        tone="retrying",
        width=150,
        sortable=True,
        tooltip=lambda row: words.drifts(row),
        title_tip=N_("What is not as it was: its time, its steps, its rows, the size of its results."),
    ),
    measured(
        "version",
        N_("Version"),
        lambda row: row.kind.version,
        lambda row: text.count(row.kind.version),
        width=72,
        hide_rank=6,
    ),
    Column(
        key="executor",
        title=N_("Executor"),
        value=lambda row: row.kind.executor,
        tone="text2",
        width=86,
        sortable=True,
        hide_rank=3,
    ),
    Column(key="lane", title=N_("Lane"), value=lambda row: row.kind.lane, kind="lane", width=92, hide_rank=4),
    measured(
        "timeout",
        N_("Time-out"),
        lambda row: row.kind.timeout_s,
        lambda row: words.span(row.kind.timeout_s),
        width=88,
        hide_rank=7,
    ),
    Column(
        key="retries",
        title=N_("Retries"),
        value=lambda row: row.kind.max_retries,
        text=lambda row: text.count(row.kind.max_retries),
        kind="number",
        width=72,
        sortable=True,
        hide_rank=2,
    ),
    Column(
        key="repeatable",
        title=N_("Repeatable"),
        value=lambda row: row.kind.idempotent,
        text=lambda row: words.yes(row.kind.idempotent),
        tone=lambda row: "text2" if row.kind.idempotent else "retrying",
        width=92,
        sortable=True,
        title_tip=N_("Whether a task whose outcome nobody knows is run again by itself"),
        hide_rank=8,
    ),
    Column(
        key="unique",
        title=N_("Active at once"),
        value=lambda row: row.kind.uniqueness,
        text=lambda row: words.unique(row.kind),
        tone="text2",
        width=300,
        stretch=True,
        hide_rank=1,
    ),
    Column(
        key="limits", title=N_("Limits"), value=lambda row: words.limits(row.kind), tone="text2", width=110,
        hide_rank=5,
        title_tip=N_("How many of it may run at once, and start within a minute, in the whole fleet"),
    ),
)  # fmt: skip
