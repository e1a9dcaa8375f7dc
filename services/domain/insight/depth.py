"""How much of each lane is where: what the broker holds, what is parked, what is recorded and not sent. Pure.

Three numbers that are never added up under one name. **Depth**: messages that the broker has and nobody holds, and
tasks parked at a gate, which have none. **Unsent**: recorded tasks whose message the broker does not have (yet).
**Held**: messages that consumers hold and have not settled, as the broker counts them: of tasks that run, of those that
were fetched ahead, and of foreign programs. Where the broker does not tell, the workers' own numbers stand for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from services.domain.fleet.worker import WorkerInfo
from services.domain.task.lane import LANE_QUEUE
from services.domain.task.order import QueueDepth
from services.domain.task.search.query import Counts
from services.domain.task.status import Status

#: from the chart's baseline: the most urgent lane has the straight base; dedicated: all queues of single shops
LANES = ("high", "dedicated", "normal", "low")
_DEDICATED = "dedicated"


class LaneDepth(msgspec.Struct, frozen=True, kw_only=True):
    """One lane. What is parked, unsent, running or retrying counts in the lane of its record, not in ``dedicated``."""

    lane: str
    ready: int = 0  #: messages that the broker has and nobody holds
    blocked: int = 0  #: parked at gates
    unsent: int = 0  #: recorded, not sent
    unacked: int = 0  #: messages held by consumers
    running: int = 0
    retrying: int = 0

    @property
    def depth(self) -> int:
        """What the broker holds for later, and what is parked."""
        return self.ready + self.blocked


def lanes(counts: Counts, depths: Iterable[QueueDepth]) -> tuple[LaneDepth, ...]:
    """Every lane, from the counters of the records and the broker's own numbers."""
    known = list(depths)
    by_name = {depth.name.removeprefix(LANE_QUEUE): depth for depth in known if depth.kind == "lane"}
    return tuple(
        _dedicated([depth for depth in known if depth.kind == "shop"])
        if lane == _DEDICATED
        else _lane(lane, counts.lanes.get(lane, {}), by_name.get(lane))
        for lane in LANES
    )


def unrecorded(counts: Counts, depths: Iterable[QueueDepth]) -> int:
    """Messages of other programs that wait and have no record yet, as far as notices of them wait, too.

    Not all that the broker has beyond the records: the old message of a task that was moved waits there as well.
    """
    known = list(depths)
    noticed = sum(depth.ready + (depth.unacked or 0) for depth in known if depth.kind == "notice")
    waiting = sum(depth.ready for depth in known if depth.kind in ("lane", "shop"))
    return min(noticed, max(0, waiting - counts.status.get(Status.QUEUED, 0)))


def beyond(counts: Counts, depths: Iterable[QueueDepth]) -> int:
    """Messages that wait in queues of work and of which neither records nor notices tell: another program sent them
    before there were notices, or theirs were dropped. Old messages of tasks that were moved or cancelled count, too.
    """
    known = list(depths)
    noticed = sum(depth.ready + (depth.unacked or 0) for depth in known if depth.kind == "notice")
    waiting = sum(depth.ready for depth in known if depth.kind in ("lane", "shop"))
    recorded = sum(counts.status.get(one, 0) for one in (Status.QUEUED, Status.PENDING))
    return max(0, waiting - recorded - noticed)


def skipped(counts: Counts, depths: Iterable[QueueDepth]) -> int:
    """At least so many messages wait of which no record tells that it does, such as those of a queue that was purged:
    whoever takes one skips it. 0 where somebody takes messages, for there they are gone soon.
    """
    known = list(depths)
    if any(depth.consumers for depth in known if depth.kind in ("lane", "shop")):
        return 0
    # messages of these may be there again, and nobody has taken them out
    others = sum(counts.status.get(one, 0) for one in (Status.RETRYING, Status.RUNNING))
    return max(0, beyond(counts, known) - others)


def moved_on(depths: Iterable[QueueDepth], before: Counts, now: Counts) -> tuple[QueueDepth, ...]:
    """What the broker told when the records were ``before``, as it stands with them now: whoever has begun a task since
    holds its message, whoever has ended one has settled it.
    """

    def running(counts: Counts, lane: str) -> int:
        return counts.lanes.get(lane, {}).get(Status.RUNNING, 0)

    found = []
    for depth in depths:
        lane = depth.name.removeprefix(LANE_QUEUE)
        begun = running(now, lane) - running(before, lane) if depth.kind == "lane" else 0
        if begun and depth.unacked is not None:
            depth = msgspec.structs.replace(depth, unacked=max(0, depth.unacked + begun))
        found.append(depth)
    return tuple(found)


def unacked_told(depths: Iterable[QueueDepth]) -> bool:
    """Whether the broker tells what consumers hold."""
    asked = [depth for depth in depths if depth.kind in ("lane", "shop")]
    return bool(asked) and all(depth.unacked is not None for depth in asked)


def ahead(rows: Sequence[LaneDepth], workers: Iterable[WorkerInfo], *, told: bool) -> int:
    """Messages fetched ahead: held, and of no task that runs."""
    if told:
        return max(0, sum(row.unacked for row in rows) - sum(row.running for row in rows))
    return sum(info.prefetched for info in workers)


def _lane(lane: str, own: dict[str, int], depth: QueueDepth | None) -> LaneDepth:
    running = own.get(Status.RUNNING, 0)
    return LaneDepth(
        lane=lane,
        ready=own.get(Status.QUEUED, 0) if depth is None else depth.ready,
        blocked=own.get(Status.BLOCKED, 0),
        unsent=own.get(Status.PENDING, 0),
        unacked=running if depth is None or depth.unacked is None else depth.unacked,
        running=running,
        retrying=own.get(Status.RETRYING, 0),
    )


def _dedicated(shops: Sequence[QueueDepth]) -> LaneDepth:
    held = sum(depth.unacked or 0 for depth in shops)
    return LaneDepth(lane=_DEDICATED, ready=sum(depth.ready for depth in shops), unacked=held)
