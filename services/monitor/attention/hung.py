"""Running tasks that seem to hang: they have run many times as long as such tasks do, and say nothing of themselves."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.fleet.worker import SlotState
from services.domain.insight.forecast.durations import Runs
from services.domain.text.message import Message
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention
from services.monitor.waits import hung

#: so many are told, the longest first
MOST = 3
WORDS = {
    "attention.hung": Words(N_("{type} of {shop} seems to hang")),
    "attention.hung_before": Words(N_("{type} of {shop} seems to hang"), N_("{waiting_n} waiting in its shop")),
}


def items(look: Look) -> Iterable[Attention]:
    """One item a task, of workers that are heard of: of the others nobody knows whether they still run."""
    for slot in hung.slots(look.fleet, look.usual, look.now_ms)[:MOST]:
        yield _item(slot, look.usual(slot.task_type, slot.shop), look)


def _item(slot: SlotState, usual: Runs, look: Look) -> Attention:
    waiting = next((shop.waiting for shop in look.shops if shop.key == slot.shop), 0)
    ran = {"seconds": (look.now_ms - slot.since) // 1000, "since": slot.since, "usual_s": round(usual.usual_s, 1)}
    return Attention(
        key=f"hung:{slot.task_id}",
        severity="stuck",
        code="attention.hung_before" if waiting else "attention.hung",
        params={"type": slot.task_type, "shop": look.name(slot.shop), "waiting": waiting},
        facts=(Message("task.hung", ran),),
        since_ms=slot.since,
        verbs=(("stop_task", slot.task_id), ("open_task", f"id:{slot.task_id}"), ("open_shop", slot.shop)),
    )
