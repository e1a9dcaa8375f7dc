"""The gate *paused*: somebody lets nothing of a scope start, until somebody resumes it."""

from __future__ import annotations

from services.domain.gates.gate import Gate, Switch
from services.domain.text.sentences import N_, NP_

GATE = "paused"

ENTRY = Gate(
    name=GATE,
    short=N_("paused"),
    no_help=N_("It is paused: resume first"),
    flow="paused",
    switch=Switch(
        verb="resume",
        state=NP_("shop", "Paused"),
        word=N_("Paused"),
        glyph="ph.pause-circle",
        fallback="mdi6.pause-circle-outline",
        cell="ph.pause-fill",
    ),
    sentences={
        "gate.not_paused": N_("Nobody has paused it."),
        "gate.paused": N_("{scope} is paused by {by}: {reason}"),
        "gate.paused_rule": N_(
            "{scope} is paused by {by}: {reason}. It goes on by itself in {span}, later if more such letters come."
        ),
        "gate.paused_rule_over": N_("{scope} is paused by {by}: {reason}. It goes on by itself in a moment."),
        "gate.paused_unsaid": N_("{scope} is paused by {by}, who gave no reason."),
    },
)
