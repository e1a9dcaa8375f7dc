"""Entries of the audit as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

from services.domain import audit
from services.domain.audit import AuditEntry
from services.domain.text.mask import masked_text
from services.i18n import N_, _
from views.pages.audit import words
from views.support import instant, safe, shown, text
from views.tables.column import Column
from views.widgets.filter.bar import FilterField, FilterValue


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One act. Secrets are dots here already: what this machine knows as one may have been none to who wrote it."""

    entry: AuditEntry
    state: str
    target: tuple[str, ...]
    outcome: str
    faults: tuple[str, ...] = ()  #: what a check found wrong with it, in sentences

    @property
    def key(self) -> str:
        """The entry's name."""
        return self.entry.entry_id


def line_of(entry: AuditEntry, now_ms: int) -> AuditLine:
    """An entry as it is shown."""
    return AuditLine(
        entry=entry,
        state=audit.state(entry, now_ms),
        target=tuple(map(masked_text, entry.target)),
        outcome=masked_text(entry.outcome),
    )


def sentence(row: AuditLine) -> str:
    """The row for a screen reader."""
    told = {
        "who": safe.one_line(row.entry.who, 80),
        "act": words.act(row.entry.action),
        "state": words.state(row.state),
    }
    when = shown.clock(row.entry.at, instant.now_ms())
    return _("{time}, {who}, {act}, {target}, {state}").format(time=when, target=words.about(row.target), **told)


COLUMNS: tuple[Column[AuditLine], ...] = (
    Column(
        key="at",
        title=N_("Time"),
        value=lambda row: row.entry.at,
        text=lambda row: shown.clock(row.entry.at, instant.now_ms()),
        width=104,
        tooltip=lambda row: text.iso(shown.moment(row.entry.at), shown.zone()),
    ),
    Column(key="who", title=N_("Person"), value=lambda row: safe.one_line(row.entry.who, 80), width=140),
    Column(
        key="action",
        title=N_("Act"),
        value=lambda row: row.entry.action,
        text=lambda row: words.act(row.entry.action),
        kind="strong",
        width=170,
        tooltip=lambda row: safe.tooltip(row.entry.action),
    ),
    Column(
        key="target",
        title=N_("Object"),
        value=lambda row: words.about(row.target),
        width=150,
        stretch=True,
        tooltip=lambda row: safe.tooltip("\n".join(row.target[:20])) if row.target else "",
    ),
    Column(
        key="glyph",
        title="",
        value=lambda row: "warning" if row.faults else words.glyph(row.state),
        kind="glyph",
        width=30,
        speech=lambda row: words.state(row.state),
    ),
    Column(
        key="state",
        title=N_("Outcome"),
        value=lambda row: row.state,
        text=lambda row: words.state(row.state),
        tone=lambda row: "dead" if row.state == "failed" else "text",
        width=108,
    ),
    Column(
        key="why",
        title=N_("Why"),
        value=lambda row: row.faults[0] if row.faults else words.why(row.outcome),
        tone=lambda row: "dead" if row.faults else "text2",
        width=180,
        hide_rank=1,
        tooltip=lambda row: safe.tooltip("\n".join((*row.faults, row.outcome))),
    ),
)
_SPANS = (
    ("1h", N_("the last hour")),
    ("today", N_("today")),
    ("yesterday", N_("yesterday")),
    ("7d", N_("the last 7 days")),
)
_UNTIL = (("yesterday", N_("yesterday")), ("7d", N_("7 days ago")), ("30d", N_("30 days ago")))
FIELDS = (
    FilterField("who", N_("Person")),
    FilterField(
        "action",
        N_("Act"),
        tuple(FilterValue(code, word) for code, word in words.ACTS.items()),
        free=True,
    ),
    FilterField("target", N_("Object")),
    FilterField(
        "state", N_("Outcome"), tuple(FilterValue(name, word) for name, (_glyph, word) in words.STATES.items())
    ),
    FilterField("since", N_("Since"), tuple(FilterValue(*span) for span in _SPANS), free=True, single=True),
    FilterField("until", N_("Until"), tuple(FilterValue(*span) for span in _UNTIL), free=True, single=True),
)


def condition(row: AuditLine, column: str) -> tuple[str, str]:
    """Filter field and value of a cell, "" where the cell is no condition."""
    first = row.entry.target[0] if row.entry.target else ""
    values = {"who": row.entry.who, "action": row.entry.action, "target": first, "state": row.state}
    return ("state", row.state) if column == "glyph" else (column, values[column]) if column in values else ("", "")
