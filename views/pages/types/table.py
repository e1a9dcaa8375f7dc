"""Task types as rows of a table."""

from __future__ import annotations

from services.domain.types.task_type import TaskType
from services.i18n import N_
from views.pages.types import words
from views.support import safe, text
from views.tables.column import Column

TYPES: tuple[Column[TaskType], ...] = (
    Column(
        key="name",
        title=N_("Task type"),
        value=lambda kind: kind.name,
        kind="strong",
        names=True,
        width=150,
        sortable=True,
        speech=words.sentence,
        tooltip=lambda kind: safe.tooltip(words.description(kind)),
    ),
    Column(key="title", title=N_("Title"), value=words.title, tone="text2", width=150, stretch=True, sortable=True),
    Column(
        key="version",
        title=N_("Version"),
        value=lambda kind: kind.version,
        text=lambda kind: text.count(kind.version),
        kind="number",
        width=72,
        sortable=True,
        descending_first=True,
    ),
    Column(
        key="executor",
        title=N_("Executor"),
        value=lambda kind: kind.executor,
        tone="text2",
        width=86,
        sortable=True,
        hide_rank=3,
    ),
    Column(key="lane", title=N_("Lane"), value=lambda kind: kind.lane, kind="lane", width=92, hide_rank=4),
    Column(
        key="timeout",
        title=N_("Time-out"),
        value=lambda kind: kind.timeout_s,
        text=lambda kind: words.span(kind.timeout_s),
        kind="number",
        width=88,
        sortable=True,
        descending_first=True,
    ),
    Column(
        key="retries",
        title=N_("Retries"),
        value=lambda kind: kind.max_retries,
        text=lambda kind: text.count(kind.max_retries),
        kind="number",
        width=72,
        sortable=True,
        hide_rank=2,
    ),
    Column(
        key="repeatable",
        title=N_("Repeatable"),
        value=lambda kind: kind.idempotent,
        text=lambda kind: words.yes(kind.idempotent),
        tone=lambda kind: "text2" if kind.idempotent else "retrying",
        width=92,
        sortable=True,
        title_tip=N_("Whether a task whose outcome nobody knows is run again by itself"),
    ),
    Column(
        key="unique",
        title=N_("Active at once"),
        value=lambda kind: kind.uniqueness,
        text=words.unique,
        tone="text2",
        width=190,
        stretch=True,
        hide_rank=1,
    ),
    Column(
        key="limits", title=N_("Limits"), value=words.limits, tone="text2", width=110, hide_rank=5,
        title_tip=N_("How many of it may run at once, and start within a minute, in the whole fleet"),
    ),
)  # fmt: skip
