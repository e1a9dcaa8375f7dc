"""Workers that are missing: silent ones, none at all, none for a lane, none that can run a type, nobody who leads."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain import ability
from services.domain.query import Query, equals
from services.domain.status import Status
from services.domain.worker import SILENT_AFTER_MS
from services.monitor.attention.look import Look
from services.monitor.overview import Attention


def silent(look: Look) -> Iterable[Attention]:
    """Workers that stopped speaking, with what they held."""
    for info in look.snapshot.workers:
        if look.now_ms - info.seen_at <= SILENT_AFTER_MS or info.state == "stopped":
            continue
        lost = look.store.query(
            Query(terms=(equals("worker", info.worker), equals("status", Status.RUNNING)), limit=200)
        ).tasks
        until = max((task.lease_until for task in lost), default=0)
        yield Attention(
            key=f"silent:{info.worker}",
            severity="warning",
            code="attention.worker_silent" if lost else "attention.worker_silent_idle",
            params={"worker": info.worker, "tasks": len(lost), "left_ms": max(0, until - look.now_ms)},
            since_ms=info.seen_at,
            verbs=(("open_worker", info.worker),),
        )


def missing(look: Look) -> Iterable[Attention]:
    """Nobody works, or nobody works on a lane in which tasks wait."""
    alive, waiting = look.alive(), look.waiting()
    if waiting and not alive:
        yield Attention(
            key="no_workers",
            severity="dead",
            code="attention.no_workers",
            params={"tasks": waiting},
            since_ms=look.oldest.created_at if look.oldest is not None else look.now_ms,
            verbs=(("start_worker", ""), ("open_workers", "")),
        )
        return
    served = {lane for info in alive for lane in info.lanes}
    for lane in ("high", "normal", "low") if alive else ():
        stands = look.snapshot.counts.lanes.get(lane, {}).get(Status.QUEUED, 0)
        if stands and lane not in served:
            yield Attention(
                key=f"unserved:{lane}",
                severity="dead",
                code="attention.lane_unserved",
                params={"lane": lane, "tasks": stands},
                verbs=(("open_workers", ""), ("open_tasks", f"status:queued lane:{lane}")),
            )


def unable(look: Look) -> Iterable[Attention]:
    """Types that no living worker of their lane can run; where one can, it fetches them by itself."""
    if not look.number(Status.BLOCKED):
        return
    waiting: dict[str, list[str]] = {}
    found = look.store.unserved()
    for lane, name in found:
        waiting.setdefault(name, []).append(lane)
    for name, lanes in waiting.items():
        offers = [ability.supply(look.kind(name), lane, look.snapshot.workers, look.now_ms) for lane in lanes]
        if any(offer.able or not offer.serving for offer in offers):
            continue
        best = look.store.unserved_tasks([(lane, name) for lane in lanes], 1)
        yield Attention(
            key=f"needs:{name}",
            severity="blocked",
            code=f"attention.needs_{offers[0].needs}",
            params={"type": name, "need": offers[0].need, "tasks": sum(found[lane, name] for lane in lanes)},
            since_ms=best[0].updated_at if best else 0,
            verbs=(("open_tasks", f"gate:no_worker type:{name}"), ("open_workers", "")),
        )


def leaderless(look: Look) -> Iterable[Attention]:
    """Nobody reconciles although workers live."""
    if not look.snapshot.leader and look.alive():
        yield Attention(key="no_leader", severity="warning", code="attention.no_leader", verbs=(("open_workers", ""),))
