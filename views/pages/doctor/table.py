"""Findings as rows of a table."""

from __future__ import annotations

from services.domain.upkeep.health import LEVELS, OK
from services.i18n import N_
from views.pages.doctor import words
from views.pages.doctor.verbs import step
from views.pages.doctor.words import FindingRow
from views.support import safe
from views.tables.column import Column

FINDINGS: tuple[Column[FindingRow], ...] = (
    Column(
        key="level",
        title=N_("Severity"),
        value=lambda row: words.glyph(row.finding.level),
        text=lambda row: words.level(row.finding.level),
        kind="status",
        width=104,
        speech=words.sentence,
    ),
    Column(
        key="check",
        title=N_("Looked at"),
        value=lambda row: words.check(row.finding.check),
        tone="text2",
        width=110,
        hide_rank=2,
        sortable=True,
    ),
    Column(
        key="finding",
        title=N_("Finding"),
        value=lambda row: (LEVELS.index(row.finding.level), row.code),
        text=lambda row: safe.one_line(words.said(row), 300),
        tone=lambda row: "text2" if row.finding.level == OK else "text",
        width=420,
        stretch=True,
        tooltip=lambda row: words.said(row),
    ),
    Column(
        key="remedy",
        title=N_("What helps"),
        value=lambda row: safe.one_line(words.remedy(row), 300),
        tone="text2",
        width=240,
        stretch=True,
        hide_rank=1,
        tooltip=lambda row: words.remedy(row),
    ),
    Column(key="next", title=N_("Next step"), value=step, kind="link", width=136, hide_rank=3),
)
