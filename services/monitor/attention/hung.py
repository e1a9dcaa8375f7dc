"""Running tasks that seem to hang: they run well past the 95th percentile of such tasks and say nothing of themselves;
and types of which several are past it at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.fleet.worker import SlotState
from services.domain.insight.forecast.durations import Runs
from services.domain.text.message import Message
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention
from services.monitor.waits import hung
from services.monitor.waits.hung import Slow

#: so many are told, the longest first, and so many ids in a filter
MOST, ASKED = 3, 50
WORDS = {
    "attention.hung": Words(N_("{type} of {shop} seems to hang")),
    "attention.hung_before": Words(N_("{type} of {shop} seems to hang"), N_("{waiting_n} waiting in its shop")),
    "attention.slow": Words(N_("{n} of {of} running {type} on {platform} take longer than 95 of 100 did")),
}


def items(look: Look) -> Iterable[Attention]:
    """One item a task that hangs, of workers that are heard of: of the others nobody knows whether they still run; and
    one for a type on a platform where those that are slow are too many for chance.
    """
    for slot in hung.slots(look.fleet, look.usual, look.now_ms)[:MOST]:
        yield _item(slot, look.usual(slot.task_type, slot.shop), look)
    for slow in hung.together(look.fleet, look.usual_there, look.now_ms)[:MOST]:
        yield _slow(slow, look)


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
        end_open=True,
    )


def _slow(slow: Slow, look: Look) -> Attention:
    oldest = slow.slots[0]
    ids = f"id:{','.join(one.task_id for one in slow.slots[:ASKED])}"
    return Attention(
        key=f"slow:{slow.task_type}:{slow.platform}",
        severity="stuck",
        code="attention.slow",
        params={
            "n": len(slow.slots), "of": slow.running, "type": slow.task_type, "platform": slow.platform,
        },
        facts=(hung.sentence(oldest, slow.usual, look.now_ms),),
        since_ms=oldest.since,
        verbs=(("open_tasks", ids),),
        end_open=True,
    )  # fmt: skip
