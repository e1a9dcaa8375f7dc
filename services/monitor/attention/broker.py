"""A broker that takes no new messages: what is created is recorded and not sent."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.status import Status
from services.monitor.attention.look import NAMED, Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.publisher_blocked": Words(N_("Nothing is sent: {tasks_n} recorded, none lost")),
    "attention.publisher_silent": Words(N_("The broker does not confirm what is sent")),
}


def items(look: Look) -> Iterable[Attention]:
    """At most one: what it is, who meets it, and what helps."""
    way = look.snapshot.publisher()
    if way.kind:
        yield Attention(
            key="blocked",
            severity="blocked",
            code=f"attention.publisher_{'blocked' if way.held else 'silent'}",
            params={
                "tasks": way.unsent if way.held else way.unanswered,
                "names": "\n".join(way.who[:NAMED]),
                "more": max(0, len(way.who) - NAMED),
            },
            facts=(way.message, way.remedy),
            since_ms=way.since_ms,
            verbs=(("open_tasks", f"status:{Status.PENDING}"),),
        )
