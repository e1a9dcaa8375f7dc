"""Where a task came from, and who asked for it, in words. Pure but for the language."""

from __future__ import annotations

from collections.abc import Mapping

from services import messages
from services.i18n import N_, _
from views.support import safe

#: by what a task was made
_ORIGINS: Mapping[str, str] = {
    "console": N_("this program"),
    "cli": N_("command line"),
    "rest": N_("REST"),
    "file": N_("a file"),
    "import": N_("import"),
    "schedule": N_("a schedule"),
    "foreign": N_("another program"),
    "again": N_("created again"),
    "demo": N_("sample"),
    "sample fleet": N_("the sample fleet"),
}


def name(origin: str) -> str:
    """By what a task was made."""
    return _(_ORIGINS[origin]) if origin in _ORIGINS else origin


def who(by: str) -> str:
    """Who asked for it: a person, else what made it."""
    return safe.one_line(name(by) if by in _ORIGINS else messages.noted(by), 60)
