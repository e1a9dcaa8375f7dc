"""A broker that holds publishers back: what is created is recorded and not sent."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.status import Status
from services.monitor.attention.look import Look
from services.monitor.overview import Attention


def items(look: Look) -> Iterable[Attention]:
    """At most one."""
    if look.snapshot.broker.blocked:
        yield Attention(
            key="blocked",
            severity="blocked",
            code="attention.publisher_blocked",
            params={"tasks": look.number(Status.PENDING)},
            since_ms=look.snapshot.broker.since_ms,
            verbs=(("open_tasks", f"status:{Status.PENDING}"),),
        )
