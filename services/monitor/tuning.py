"""The figures of a fleet by which its slots, lanes, time-outs, limits and prefetch are judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from services.domain.insight.forecast import durations
from services.domain.insight.worker import FleetNow, WorkerNow
from services.domain.task.lane import LANES
from services.domain.task.record import Task
from services.domain.task.search.query import Query, Term, equals
from services.domain.task.status import Status
from services.domain.upkeep import tuning
from services.domain.upkeep.tuning import FleetFacts, LaneFacts, TypeFacts, WorkerFacts
from services.engine.registry import Registry
from services.ports import Store

#: the newest tasks that ended, by which types are judged, a page of them at once
LOOKED, PAGE = 3000, 1000
ENDED = (Status.SUCCEEDED, Status.DEAD, Status.RETRYING, Status.HELD)
TIMEOUT = "timeout"


def look(store: Store, registry: Registry, fleet: FleetNow) -> FleetFacts:
    """What is measured now. Blocking."""
    ended = list(_ended(store))
    ran: dict[str, list[Task]] = defaultdict(list)
    lanes: dict[str, list[Task]] = defaultdict(list)
    for task in ended:
        ran[task.task_type].append(task)
        lanes[task.lane].append(task)
    now = store.now_ms()
    return FleetFacts(
        slots=fleet.slots,
        busy=fleet.busy,
        waiting=store.counts().status.get(Status.QUEUED, 0),
        lanes=[_lane(store, fleet, lane, lanes[lane], now) for lane in LANES],
        types=[_type(registry, name, tasks) for name, tasks in sorted(ran.items())],
        limits=store.limits(),
        workers=[_worker(one, ended) for one in fleet.workers if one.takes_work],
    )


def _ended(store: Store) -> Iterable[Task]:
    cursor: str | None = ""
    seen = 0
    while cursor is not None and seen < LOOKED:
        terms = (equals("status", *ENDED),)
        page = store.query(Query(terms=terms, sort="updated", limit=PAGE, cursor=cursor, want_total=False))
        yield from page.tasks
        seen += len(page.tasks)
        cursor = page.next


def _lane(store: Store, fleet: FleetNow, lane: str, ended: list[Task], now: int) -> LaneFacts:
    here = equals("lane", lane)
    since = Term(field="created", op=">", number=now - tuning.HOUR_S * 1000)
    came = store.query(Query(terms=(here, since), limit=1))
    queued = equals("status", Status.QUEUED)
    oldest = store.query(Query(terms=(here, queued), descending=False, limit=1))
    taking = [one for one in fleet.workers if one.takes_work]
    return LaneFacts(
        lane=lane,
        came=came.number.number,
        runs=durations.of_tasks(ended),
        waiting=oldest.number.number,
        waited_s=max((now - task.created_at) / 1000 for task in oldest.tasks) if oldest.tasks else 0.0,
        kept=sum(one.info.shares.get(lane, (0, 0))[0] for one in taking),
        busy=sum(1 for one in taking for slot in one.slots if slot.task_id and slot.lane == lane),
    )


def _type(registry: Registry, name: str, tasks: list[Task]) -> TypeFacts:
    attempts = [attempt for task in tasks for attempt in task.attempts]
    return TypeFacts(
        name=name,
        timeout_s=registry.task_type(name).timeout_s,
        runs=durations.of_tasks(tasks),
        ended=len(attempts),
        cut=sum(1 for attempt in attempts if attempt.error_kind == TIMEOUT),
    )


def _worker(one: WorkerNow, ended: list[Task]) -> WorkerFacts:
    own = durations.of_tasks(task for task in ended if task.worker == one.name)
    return WorkerFacts(name=one.name, slots=len(one.slots), ahead=one.info.prefetched, mean_s=own.mean_s)
