"""Who holds what of the queues, by the records, what workers report and what the broker counts."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from services.domain.fleet import holders
from services.domain.fleet.holders import QueueHolders
from services.domain.insight import worker as insight
from services.domain.task.lane import LANE_QUEUE, LANES
from services.domain.task.order import QueueDepth
from services.domain.task.record import Task
from services.domain.task.search.query import Query, equals
from services.domain.task.status import Status
from services.engine.lead import leader
from services.monitor.queues.queries import QueueQueries

#: running records that are looked at beside those in slots, what was touched longest ago first
MOST = 500


class HoldersNow(msgspec.Struct, frozen=True, kw_only=True):
    """All queues of which something is held, at one moment (UTC ms of the store's clock). ``told``: whether the broker
    counts what consumers hold; ``more``: records that run and were not looked at.
    """

    queues: tuple[QueueHolders, ...]
    at_ms: int
    told: bool
    more: bool = False


def look(questions: QueueQueries, depths: Iterable[QueueDepth], name: str = "") -> HoldersNow:
    """Of all queues, or of the one called ``name`` (of a lane its word will do). Blocking.

    Raises:
        StoreUnavailable: nothing can be read now.
    """
    store, counted = questions.store, tuple(depths)
    wanted = LANE_QUEUE + name if name in LANES else name
    now, workers = store.now_ms(), store.workers()
    page = store.query(
        Query(terms=(equals("status", Status.RUNNING),), sort="updated", descending=False, limit=MOST, want_total=False)
    )
    records: dict[str, Task] = {task.task_id: task for task in page.tasks}
    missing = [slot.task_id for info in workers for slot in info.slots if slot.task_id and slot.task_id not in records]
    records |= {task.task_id: task for task in store.get(missing) if task is not None}
    found = holders.look(
        counted, workers, records, unheard=insight.look(workers, now).late, leader=store.leader(leader.ROLE)
    )
    return HoldersNow(
        queues=tuple(one for one in found if not wanted or one.name == wanted),
        at_ms=now,
        told=bool(counted) and any(one.unacked is not None for one in counted),
        more=page.next is not None,
    )
