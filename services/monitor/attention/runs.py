"""A bulk republish whose program ended in the middle: part of it was sent, and somebody has to say what of the rest."""

from __future__ import annotations

from collections.abc import Iterable

from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.run_broken": Words(
        N_("A republish stopped half way: {sent} of {of} sent"),
        N_(
            "by {who}; it does not go on by itself, the rest are still dead letters. See how those that were sent do,"
            " then let it go on or end it"
        ),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one, the newest, until somebody goes on with it or ends it."""
    found = look.broken_run()
    if found is not None:
        yield Attention(
            key=f"run:{found.run_id}",
            severity="warning",
            code="attention.run_broken",
            params={"sent": found.sent, "of": found.of, "who": found.who},
            since_ms=found.at_ms,
            verbs=(("triage_run", ""),),
        )
