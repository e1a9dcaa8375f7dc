"""A store that answers and takes no writes: nothing starts, and nobody can show that he lives."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.text.message import Message
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.store_refuses": Words(
        N_("The store takes no writes: nothing new starts, and nothing can be changed"),
        N_("What is shown is true; everything goes on by itself once something is written again"),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one: why."""
    if why := look.snapshot.no_writes:
        yield Attention(
            key="store_refuses",
            severity="dead",
            code="attention.store_refuses",
            facts=(Message("publisher.lost", {"why": why}),),
            verbs=(("copy_server", ""),),
        )
