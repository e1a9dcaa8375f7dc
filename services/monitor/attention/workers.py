"""Workers that are missing: silent ones, none at all, none for a lane, none that can run a type."""

from __future__ import annotations

from collections.abc import Iterable

from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import ability
from services.domain.insight.worker import CUT_OFF, kept, last, lost_at, remedy
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.monitor.attention.look import NAMED, Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

#: so many tasks are named by the filter behind an item
DOOR_TASKS = 50
#: so many silent workers have an item of their own
SILENT_EACH = 5
WORDS = {
    "attention.worker_late": Words(N_("Worker {worker} is late")),
    "attention.worker_silent": Words(N_("Worker {worker} is silent")),
    "attention.worker_gone": Words(N_("Worker {worker} is gone")),
    "attention.workers_silent": Words(N_("{workers_n} besides not heard of"), "{names}"),
    "attention.workers_silent_more": Words(N_("{workers_n} besides not heard of"), N_("{names} and {more} more")),
    "attention.no_takers": Words(
        N_("No worker takes tasks"), N_("{tasks_n} waiting; every worker is draining, stopping or not heard of")
    ),
    "attention.no_way": Words(
        N_("No worker takes tasks"), N_("{tasks_n} waiting; {workers_n} cannot reach the broker")
    ),
    "attention.cut_off": Words(N_("{workers_n} cannot reach the broker"), "{names}"),
    "attention.cut_off_more": Words(N_("{workers_n} cannot reach the broker"), N_("{names} and {more} more")),
    "attention.no_workers": Words(N_("No worker is running"), N_("{tasks_n} waiting for one")),
    "attention.lane_unserved": Words(
        N_("No worker takes the {lane} lane"), N_("{tasks_n} waiting there until a worker serves it")
    ),
    "attention.needs_handler": Words(
        N_("No worker can run {type}"), N_("{tasks_n} waiting for a worker with the handler {need}")
    ),
    "attention.needs_program": Words(
        N_("No worker can run {type}"), N_("{tasks_n} waiting for a worker that has the program {need}")
    ),
    "attention.needs_setting": Words(
        N_("No worker can run {type}"), N_("{tasks_n} waiting for a worker with {need} in its config.toml")
    ),
    "attention.needs_executor": Words(
        N_("No worker can run {type}"), N_("{tasks_n} waiting for a worker with the executor {need}")
    ),
    "attention.needs_willing": Words(
        N_("No worker takes {type}"), N_("{tasks_n} waiting; the workers that could run it were told to refuse it")
    ),
}


def silent(look: Look) -> Iterable[Attention]:
    """Workers that are not heard of, with what becomes of what they held; one that is gone until it is forgotten or
    has a successor. Of many the first few, those with tasks before those without, and the others in one.
    """
    missing = (one for one in look.fleet.workers if one.missing and (one.fates or not one.instead))
    found = sorted(missing, key=lambda one: not one.unconfirmed)
    each = found if len(found) <= SILENT_EACH + 1 else found[:SILENT_EACH]
    for one in each:
        held = tuple(task for fact in one.facts for task in fact.tasks)[:DOOR_TASKS]
        doors = (("open_tasks", filter.format_terms((equals("id", *held),))),) if held else ()
        forgets = (("forget_worker", one.name),) if kept(one, look.now_ms) is None else ()
        yield Attention(
            key=f"silent:{one.name}",
            severity="warning",
            code=f"attention.worker_{one.state}",
            params={"worker": one.name, "tasks": len(one.unconfirmed), "left_ms": one.left_ms, "until": one.ends_ms},
            facts=(*(fact.message for fact in one.facts), *((do,) if (do := remedy(one)) is not None else ())),
            since_ms=one.info.seen_at,
            verbs=(("open_worker", one.name), *doors, *(() if one.instead else (("start_worker", ""),)), *forgets),
        )
    if others := found[len(each) :]:
        more = max(0, len(others) - NAMED)
        yield Attention(
            key="silent:others",
            covers="silent:",
            severity="warning",
            code="attention.workers_silent_more" if more else "attention.workers_silent",
            params={"workers": len(others), "names": "\n".join(one.name for one in others[:NAMED]), "more": more},
            since_ms=min(one.info.seen_at for one in others),
            verbs=(("open_workers", ""),),
        )


def missing(look: Look) -> Iterable[Attention]:
    """Nobody works, or nobody works on a lane in which tasks wait."""
    alive, waiting = look.alive(), look.waiting()
    apart = look.fleet.number(CUT_OFF)
    if apart and not look.snapshot.broker.connected:  # nobody reaches the broker, which is told by itself
        return
    if waiting and apart and not alive:
        yield Attention(
            key="no_workers",
            severity="dead",
            code="attention.no_way",
            params={"tasks": waiting, "workers": apart},
            since_ms=_lost_at(look),
            verbs=(("open_workers", ""), ("start_worker", "")),
        )
        return
    if waiting and not alive:
        yield Attention(
            key="no_workers",
            severity="dead",
            code="attention.no_takers" if look.fleet.living else "attention.no_workers",
            params={"tasks": waiting},
            facts=(ended,) if (ended := last(look.fleet, look.now_ms)) is not None else (),
            since_ms=_begun(look, look.oldest, look.snapshot.workers),
            verbs=(("start_worker", ""), ("open_workers", "")),
        )
        return
    taken = {lane for info in alive for lane in info.open_lanes}
    for lane in ("high", "normal", "low") if alive else ():
        stands = look.queued(lane)
        if stands and lane not in taken:
            terms = (equals("status", Status.QUEUED), equals("lane", lane))
            oldest = look.store.query(Query(terms=terms, descending=False, limit=1, want_total=False)).tasks
            gone = [info for info in look.snapshot.workers if lane in info.lanes]
            yield Attention(
                key=f"unserved:{lane}",
                severity="dead",
                code="attention.lane_unserved",
                params={"lane": lane, "tasks": stands},
                since_ms=_begun(look, oldest[0] if oldest else None, gone),
                verbs=(("open_workers", ""), ("open_tasks", f"status:queued lane:{lane}")),
            )


def cut_off(look: Look) -> Iterable[Attention]:
    """One for all workers that are heard of and cannot reach the broker, while others do; where none does, ``missing``
    says it, and where the broker answers nobody, its own item.
    """
    found = [one for one in look.fleet.workers if one.state == CUT_OFF]
    if not found or not look.snapshot.broker.connected or (look.waiting() and not look.alive()):
        return
    more = max(0, len(found) - NAMED)
    yield Attention(
        key="cut_off",
        severity="warning",
        code="attention.cut_off_more" if more else "attention.cut_off",
        params={"workers": len(found), "names": "\n".join(one.name for one in found[:NAMED]), "more": more},
        since_ms=_lost_at(look),
        verbs=(("open_worker", found[0].name) if len(found) == 1 else ("open_workers", ""),),
    )


def _lost_at(look: Look) -> int:
    """Since when the first of those that cannot reach the broker cannot."""
    return min(lost_at(one.info) for one in look.fleet.workers if one.state == CUT_OFF)


def _begun(look: Look, oldest: Task | None, gone: Iterable[WorkerInfo]) -> int:
    """Since when a task waits in vain: since it could run, or since the last of those that are gone was heard of."""
    left = max((info.seen_at for info in gone), default=0)
    due_at = oldest.due_at if oldest is not None and oldest.due_at <= look.now_ms else 0
    return max(left, due_at, oldest.created_at if oldest is not None else 0)


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
