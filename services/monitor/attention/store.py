"""A store that answers and takes no writes, so that nothing starts and nobody can show that he lives; one that is not
the one that was known.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.fleet.shop import SCOPE_ALL
from services.domain.insight.gates import PAUSED
from services.domain.task import own_words
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.text.message import Message
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.store_refuses": Words(
        N_("The store takes no writes: nothing new starts, and nothing can be changed"),
        N_("What is shown is true; everything goes on by itself once something is written again"),
    ),
    "attention.store_lost": Words(
        N_("The store has lost its records, or is another one than before: everything is paused"),
        N_(
            "Put its backup back, or what was planned, paused and limited; decide what is held; then resume."
            " {waiting_n} waiting"
        ),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """Why it takes none; that it is held for a person, until one lets everything go on."""
    if why := look.snapshot.no_writes:
        yield Attention(
            key="store_refuses",
            severity="dead",
            code="attention.store_refuses",
            facts=(Message("publisher.lost", {"why": why}),),
            verbs=(("copy_server", ""),),
        )
    for pause in look.snapshot.pauses:
        if pause.scope == SCOPE_ALL and pause.by == own_words.KEEPER:
            waiting = look.at_gate(PAUSED)
            yield Attention(
                key="store_lost",
                severity="dead",
                code="attention.store_lost",
                params={"waiting": waiting.number},
                facts=look.counted(waiting),
                since_ms=pause.at,
                verbs=(("resume", SCOPE_ALL), ("open_tasks", filter.format_terms((equals("gate", PAUSED),)))),
            )
