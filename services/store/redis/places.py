"""Where a record stands in the indexes of Redis, as ``scripts/index.lua`` puts it there; for comparing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.domain.gates import home
from services.domain.gates.dependency import GATE
from services.domain.task.lane import MAX_PRIORITY
from services.domain.task.record import Task
from services.domain.task.search.payload_match import index_terms
from services.domain.task.status import ACTIVE, Status
from services.store.redis import keys

#: distance of two priorities in the order of parked tasks (``C.class`` of the scripts)
CLASS = 2**43
#: a score that only the scripts know (who goes first among twins, when a mark was made)
ANY = None
#: key of a sorted set, score
Place = tuple[str, int | None]


def part(task: Task) -> str:
    """What divides its status index beside the priority."""
    return task.lane if task.status == Status.QUEUED else task.triage if task.status == Status.DEAD else ""


def places(task: Task, *, marked: bool, fields: Sequence[str] = ()) -> Iterator[Place]:
    """Keys of sorted sets that hold it, with its score; ``fields``: of payloads that are indexed."""
    created = task.created_at
    yield keys.status(task.status, task.priority, part(task)), created
    yield keys.SHOP + task.shop, created
    yield keys.TYPE + task.task_type, created
    yield keys.UPDATED, task.updated_at
    for prefix, value in ((keys.BATCH, task.batch), (keys.WORKER, task.worker), (keys.FINGERPRINT, task.fingerprint)):
        if value:
            yield prefix + value, created
    yield from ((keys.PAYLOAD + term, created) for term in index_terms(task.payload, fields))
    yield from _timed(task)
    if marked:
        yield keys.OUTBOX, ANY
    if task.guard and task.status in ACTIVE:
        yield keys.UNIQUE + task.guard, ANY
    if task.status == Status.BLOCKED and task.gate != GATE:
        rank = (MAX_PRIORITY - task.priority) * CLASS + created
        apart = keys.unserved(task.lane, task.task_type, home.node_of(task.gate))
        yield (apart if home.is_fetched(task.gate) else lot_of(task)), rank


def _timed(task: Task) -> Iterator[tuple[str, int]]:
    known = {
        Status.RUNNING: (keys.LEASES, task.lease_until),
        Status.RETRYING: (keys.RETRIES, task.due_at),
        Status.SCHEDULED: (keys.PLANNED, task.due_at),
    }
    for status, place in known.items():
        if task.status == status:
            yield place
    if task.bound:
        yield keys.DEADLINES, task.deadline


def lot_of(task: Task) -> str:
    """The lot it is parked in."""
    return f"{keys.LOT}{task.shop}|{task.task_type}"


def companions(task: Task, key: str) -> list[tuple[str, str, str]]:
    """What goes with a place: the sets that tell which lots and shops there are."""
    if key == keys.SHOP + task.shop:
        return [("ZADD", keys.SHOP_NAMES, task.shop), ("ZADD", keys.PLATFORMS, task.platform)]
    if task.batch and key == keys.BATCH + task.batch:
        return [("ZADD", keys.BATCHES, task.batch)]
    if key == lot_of(task):
        return [("SADD", keys.LOT_TYPES + task.shop, task.task_type), ("SADD", keys.LOTS, task.shop)]
    if key.startswith(keys.UNSERVED_OF):
        return [("SADD", keys.UNSERVED, key.removeprefix(keys.UNSERVED_OF))]
    return []


def kind(task: Task) -> str:
    """Its field among the counters by kind."""
    triage = task.triage if task.status == Status.DEAD else ""
    return f"{task.platform}|{task.task_type}|{task.lane}|{task.status}|{triage}|{task.priority}"
