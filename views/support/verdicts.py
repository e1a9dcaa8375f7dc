"""Whether a task may run again, in words and colour; every page says it alike."""

from __future__ import annotations

from typing import NamedTuple

from services.domain.insight.verdict import Verdict
from services.i18n import N_, _
from views.support import shown

_LEVELS: dict[str, tuple[str, str]] = {
    "safe": ("healthy", N_("Safe to run again")),
    "check": ("warning", N_("Check first")),
    "would_duplicate": ("dead", N_("Would duplicate")),
}


class Said(NamedTuple):
    """A verdict as a page shows it."""

    status: str  #: for the tint
    lead: str  #: in two words
    evidence: str


def say(verdict: Verdict) -> Said:
    """The verdict with its evidence; a level that is not known here is a warning by its own name."""
    status, lead = _LEVELS.get(verdict.level, ("warning", verdict.level))
    return Said(status, _(lead), shown.say(verdict.message))
