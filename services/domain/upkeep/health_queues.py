"""What a doctor makes of queues: who serves them, and which nobody knows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from services.domain.task.lane import shop_queue
from services.domain.task.order import QueueDepth
from services.domain.upkeep.health import WARNING, Finding, finding
from services.domain.upkeep.miscount import some


def of_queues(depths: Sequence[QueueDepth], shops: Sequence[str], *, workers: int) -> list[Finding]:
    """``shops``: ids of those with a queue of their own; ``workers``: how many are alive."""
    found: list[Finding] = []
    by_name = {depth.name: depth for depth in depths}
    for shop in shops:
        depth = by_name.get(shop_queue(shop))
        if depth is None:
            found.append(finding(WARNING, "queues", "doctor.shop_queue_missing", queue=shop_queue(shop)))
        elif workers and depth.ready and not depth.consumers:
            found.append(finding(WARNING, "queues", "doctor.shop_queue_waits", queue=depth.name, messages=depth.ready))
    held = sum(depth.unacked or 0 for depth in depths if depth.kind in ("lane", "shop"))
    if held and not workers:
        found.append(finding(WARNING, "orphans", "doctor.unacked", messages=held))
    return found


def of_foreign(depths: Sequence[QueueDepth], names: Collection[str]) -> list[Finding]:
    """``names``: plain work queues of other programs that the settings name."""
    found: list[Finding] = []
    by_name = {depth.name: depth for depth in depths}
    for name in sorted(names):
        depth = by_name.get(name)
        if depth is None:
            found.append(finding(WARNING, "queues", "doctor.work_queue_missing", queue=name))
        elif depth.ready and not depth.consumers:
            found.append(finding(WARNING, "queues", "doctor.work_queue_waits", queue=name, messages=depth.ready))
    return found


def of_strays(depths: Sequence[QueueDepth], shops: Collection[str]) -> list[Finding]:
    """Dedicated queues that no document knows. ``shops``: ids of those that one knows, in whatever state."""
    known = {shop_queue(shop) for shop in shops}
    strays = sorted(one.name for one in depths if one.kind == "shop" and one.name not in known)
    return [finding(WARNING, "orphans", "doctor.stray_queue", count=len(strays), queues=some(strays))] if strays else []
