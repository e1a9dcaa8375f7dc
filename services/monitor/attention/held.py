"""Tasks of which nobody knows how they ended: only a person can say whether they run again."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.status import Status
from services.monitor.attention.look import Look
from services.monitor.overview import Attention


def items(look: Look) -> Iterable[Attention]:
    """At most one."""
    if held := look.number(Status.HELD):
        yield Attention(
            key="held",
            severity="warning",
            code="attention.held",
            params={"tasks": held},
            verbs=(("open_tasks", f"status:{Status.HELD}"),),
        )
