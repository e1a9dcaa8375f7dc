"""Nodes that tasks wait for because browser profiles live there, and where no worker runs: nobody else takes them."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.gates import ability, home
from services.domain.task.status import Status
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.home_silent": Words(
        N_("No worker runs on the machine {node}"),
        N_("{tasks_n} waiting for it: the browser profiles of their shops live there"),
    ),
}


def items(look: Look) -> Iterable[Attention]:
    """One item a node."""
    if not look.number(Status.BLOCKED):
        return
    for node, tasks, seen_at in ability.absent_homes(look.store.homebound(), look.snapshot.workers, look.now_ms):
        yield Attention(
            key=f"home:{node}",
            severity="blocked",
            code="attention.home_silent",
            params={"node": node, "tasks": tasks},
            since_ms=seen_at,
            verbs=(("open_tasks", f"gate:{home.gate_of(node)}"), ("open_workers", "")),
        )
