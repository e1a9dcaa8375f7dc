"""Workers that are missing: silent ones, none at all, none for a lane, none that can run a type."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain import ability, filter
from services.domain.insight.worker import kept
from services.domain.query import equals
from services.domain.status import Status
from services.monitor.attention.look import Look
from services.monitor.overview import Attention

#: so many tasks are named by the filter behind an item
DOOR_TASKS = 50


def silent(look: Look) -> Iterable[Attention]:
    """Workers that are not heard of, with what becomes of what they held; one that is gone until it is forgotten."""
    for one in look.fleet.workers:
        if not one.missing:
            continue
        held = tuple(task for fact in one.facts for task in fact.tasks)[:DOOR_TASKS]
        doors = (("open_tasks", filter.format_terms((equals("id", *held),))),) if held else ()
        forgets = (("forget_worker", one.name),) if kept(one, look.now_ms) is None else ()
        yield Attention(
            key=f"silent:{one.name}",
            severity="warning",
            code=f"attention.worker_{one.state}",
            params={"worker": one.name, "tasks": len(one.unconfirmed), "left_ms": one.left_ms},
            facts=tuple(fact.message for fact in one.facts),
            since_ms=one.info.seen_at,
            verbs=(("open_worker", one.name), *doors, *forgets),
        )


def missing(look: Look) -> Iterable[Attention]:
    """Nobody works, or nobody works on a lane in which tasks wait."""
    alive, waiting = look.alive(), look.waiting()
    if waiting and not alive:
        yield Attention(
            key="no_workers",
            severity="dead",
            code="attention.no_takers" if look.fleet.living else "attention.no_workers",
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
