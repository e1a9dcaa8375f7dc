"""What people and rules did to one shop, from the audit, the newest first."""

from __future__ import annotations

import json

from services import act_words
from services.domain.audit import AuditEntry
from services.domain.text.mask import masked
from services.i18n import N_, _
from services.monitor.trail import AuditQueries
from views.support import instant, safe, shown
from views.tables.column import Column

#: so many are shown, and so many entries of the trail are looked through for them
SHOWN, SCANNED = 100, 5_000

ACTS: tuple[Column[AuditEntry], ...] = (
    Column(
        key="at",
        title=N_("Time"),
        value=lambda entry: entry.at,
        text=lambda entry: shown.clock(entry.at, instant.now_ms()),
        width=120,
        tone="text2",
    ),
    Column(key="who", title=N_("Who"), value=lambda entry: safe.one_line(entry.who, 60), width=150, names=True),
    Column(key="act", title=N_("Act"), value=lambda entry: act_words.act(entry.action), kind="strong", width=190),
    Column(key="outcome", title=N_("Outcome"), value=lambda entry: outcome(entry), tone="text2", width=110),
    Column(
        key="detail", title=N_("Detail"), value=lambda entry: detail(entry), tone="text2", width=160, stretch=True,
        tooltip=lambda entry: detail(entry),
    ),
)  # fmt: skip


def outcome(entry: AuditEntry) -> str:
    """How it ended, and why where it was refused or failed; nothing is written while it goes on."""
    word, colon, why = entry.outcome.partition(":")
    said = {"done": _("done"), "partly": _("partly"), "refused": _("refused"), "failed": _("failed")}.get(word, word)
    return safe.one_line(f"{said}: {why.strip()}" if colon else said, 120) or _("not ended")


def detail(entry: AuditEntry) -> str:
    """What was set, name by name; secrets as dots."""
    try:
        found = masked(json.loads(entry.detail)) if entry.detail else {}
    except ValueError:
        return ""
    if not isinstance(found, dict):
        return ""
    said = (f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in found.items())
    return safe.one_line(", ".join(said), 300)


def sentence(entry: AuditEntry) -> str:
    """One act for a screen reader."""
    parts = (shown.clock(entry.at, instant.now_ms()), entry.who, act_words.act(entry.action), outcome(entry))
    return ", ".join(parts)


def of_shop(trail: AuditQueries, key: str) -> tuple[AuditEntry, ...]:
    """Acts on a shop (``platform:shop_id``) itself, not on its tasks. Blocking."""
    found = trail.entries(f'target:"{key}","shop:{key}"', limit=SHOWN, scan=SCANNED)
    return found.entries
