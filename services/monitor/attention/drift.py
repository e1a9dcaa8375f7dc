"""Flows that have changed against their own past, before anything dies of it."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.insight import drift
from services.domain.text.message import Message
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.forecast import drift as queries
from services.monitor.overview import Attention

WORDS = {"attention.drift": Words(N_("{type} on {platform} is not as it was"))}


def items(look: Look) -> Iterable[Attention]:
    """One item a type and platform, all its figures in one. Of what nobody has looked at of late nothing is said."""
    for one in queries.rows(look.store):
        if look.now_ms - one.at > queries.STALE_MS:
            continue
        worst = one.found[0]
        yield Attention(
            key=f"drift:{one.task_type}:{one.platform}",
            severity="warning",
            code="attention.drift",
            params={"type": one.task_type, "platform": one.platform},
            facts=(*queries.sentences(look.store, one, look.now_ms)[:3], drift.extent(worst), Message("drift.next")),
            since_ms=queries.since(one),
            verbs=(("open_tasks", f"type:{one.task_type} platform:{one.platform} status:succeeded"),),
        )
