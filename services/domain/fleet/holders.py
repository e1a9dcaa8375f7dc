"""Who holds which message that is not settled, and since when: what workers report beside the records and beside what
the broker counts. Pure.

A message belongs to its queue until whoever took it settles it. Of ours a worker says which it has in its slots and how
many it fetched ahead; a record says to which worker a task is given and until when. What the broker counts beyond that
is told as such, for nobody can know whose it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services.domain.fleet.worker import UNTOLD_QUEUE, WorkerInfo
from services.domain.task.lane import LANE_QUEUE, shop_queue
from services.domain.task.order import QueueDepth
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.domain.text.sentences import NN_

#: it runs there; claimed there and in no slot (just taken, or just done); its worker is not heard of; its worker still
#: has it, and the record was given to somebody else since
RUNS, TAKEN, UNHEARD, GIVEN_ON = "runs", "taken", "unheard", "given_on"
#: queues of which only whoever leads takes, and no slot
_OF_LEADER = frozenset({"dead", "notice", "foreign"})

SENTENCES: dict[str, str] = {
    "held.ahead": NN_(
        "{worker} has fetched {n} ahead and not begun it; heard {span} ago",
        "{worker} has fetched {n} ahead and not begun them; heard {span} ago",
    ),
    "held.leader": NN_("{worker} leads and writes {n} down", "{worker} leads and writes {n} down"),
    "held.beyond_since": NN_(
        "{n} more is held by another program, or was taken since workers reported last, {span} ago",
        "{n} more are held by other programs, or were taken since workers reported last, {span} ago",
    ),
    "held.beyond": NN_(
        "{n} more is held by another program, or not explained by records and what workers report",
        "{n} more are held by other programs, or not explained by records and what workers report",
    ),
}


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """One message in somebody's hands. Instants are UTC ms, 0 for not known."""

    queue: str
    worker: str
    slot: int = 0  #: from 1 on, 0 for none
    task_id: str = ""
    task_type: str = ""
    shop: str = ""  #: ``platform:shop_id``
    attempt: int = 0
    since: int = 0
    lease_until: int = 0  #: until then nobody else gets the task; 0: it is not given to this worker any more
    seen_at: int = 0  #: when the worker was heard last
    state: str = RUNS  #: runs | taken | unheard | given_on


class Several(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that somebody holds without a task in a slot. ``leads``: whoever leads, who writes them down."""

    worker: str
    number: int
    seen_at: int = 0
    leads: bool = False


class QueueHolders(msgspec.Struct, frozen=True, kw_only=True):
    """What is held of one queue."""

    name: str
    counted: int | None = None  #: as the broker counts it; None: it does not tell
    consumers: int | None = None
    holds: tuple[Hold, ...] = ()  #: the longest first
    several: tuple[Several, ...] = ()
    beyond: int | None = None  #: counted and not explained; None where the broker does not tell
    heard_at: int = 0  #: the oldest report of a worker that is heard of, UTC ms; 0 where there is none

    @property
    def explained(self) -> int:
        """Messages whose holder is known."""
        return len(self.holds) + sum(one.number for one in self.several)


def look(
    depths: Iterable[QueueDepth],
    workers: Sequence[WorkerInfo],
    records: Mapping[str, Task],
    *,
    unheard: Collection[str] = (),
    leader: str = "",
) -> tuple[QueueHolders, ...]:
    """Every queue of which something is held, or of which the broker counts something. ``records``: of what stands in
    slots, and others that run; ``unheard``: workers that are late or silent.
    """
    holds = [*_in_slots(workers, records, unheard), *_in_no_slot(workers, records, unheard)]
    by_queue: dict[str, list[Hold]] = defaultdict(list)
    for one in holds:
        by_queue[one.queue].append(one)
    ahead: dict[str, list[Several]] = defaultdict(list)
    for info in workers:
        for queue, number in info.ahead.items():
            if number > 0:
                ahead[queue].append(Several(worker=info.worker, number=number, seen_at=info.seen_at))
    known = {one.name: one for one in depths}
    heard_at = min((info.seen_at for info in workers if info.worker not in unheard), default=0)
    found = [
        replace(_of(name, known.get(name), by_queue[name], ahead[name], leader), heard_at=heard_at)
        for name in _names(known, by_queue, ahead)
    ]
    return tuple(one for one in found if one.explained or one.counted)


def _names(*several: Mapping[str, object]) -> list[str]:
    return list(dict.fromkeys(name for some in several for name in some))


def _of(
    name: str, depth: QueueDepth | None, holds: Sequence[Hold], ahead: Sequence[Several], leader: str
) -> QueueHolders:
    counted = depth.unacked if depth is not None else None
    several = list(ahead)
    if depth is not None and depth.kind in _OF_LEADER and counted and leader and depth.consumers == 1:
        several.append(Several(worker=leader, number=counted, leads=True))
    explained = len(holds) + sum(one.number for one in several)
    return QueueHolders(
        name=name,
        counted=counted,
        consumers=depth.consumers if depth is not None else None,
        holds=tuple(sorted(holds, key=lambda one: (one.since or one.seen_at, one.task_id))),
        several=tuple(sorted(several, key=lambda one: (-one.number, one.worker))),
        beyond=None if counted is None else max(0, counted - explained),
    )


def _in_slots(workers: Sequence[WorkerInfo], records: Mapping[str, Task], unheard: Collection[str]) -> Iterable[Hold]:
    """What workers say that they run by a message."""
    for info in workers:
        for number, slot in enumerate(info.slots, 1):
            if not slot.task_id or not slot.queue:  # a parked task that was fetched has no message
                continue
            record = records.get(slot.task_id)
            own = record is not None and record.status == Status.RUNNING and record.worker == info.worker
            if slot.queue != UNTOLD_QUEUE:
                queue = slot.queue
            else:
                queue = queue_of(record) if record is not None else LANE_QUEUE + slot.lane
            yield Hold(
                queue=queue,
                worker=info.worker,
                slot=number,
                task_id=slot.task_id,
                task_type=slot.task_type,
                shop=slot.shop,
                attempt=slot.attempt,
                since=slot.since,
                lease_until=record.lease_until if own and record is not None else 0,
                seen_at=info.seen_at,
                state=GIVEN_ON if record is not None and not own else UNHEARD if info.worker in unheard else RUNS,
            )


def _in_no_slot(workers: Sequence[WorkerInfo], records: Mapping[str, Task], unheard: Collection[str]) -> Iterable[Hold]:
    """What records give to a worker that does not show it; one that is gone holds no message any more."""
    seen = {info.worker: info.seen_at for info in workers}
    shown = Counter((info.worker, slot.task_id) for info in workers for slot in info.slots)
    for task in records.values():
        if task.status == Status.RUNNING and task.worker in seen and not shown[task.worker, task.task_id]:
            yield Hold(
                queue=queue_of(task),
                worker=task.worker,
                task_id=task.task_id,
                task_type=task.task_type,
                shop=task.shop,
                attempt=task.attempt,
                since=task.started_at,
                lease_until=task.lease_until,
                seen_at=seen[task.worker],
                state=UNHEARD if task.worker in unheard else TAKEN,
            )


def queue_of(task: Task) -> str:
    """Where its message comes from, by its record."""
    return shop_queue(task.shop_id) if task.queue else LANE_QUEUE + task.lane


def notes(found: QueueHolders, now_ms: int) -> tuple[Message, ...]:
    """What is held beside the tasks, a sentence each; what nobody explains comes last."""
    said = [
        Message("held.leader", {"worker": one.worker, "n": one.number})
        if one.leads
        else Message(
            "held.ahead",
            {"worker": one.worker, "n": one.number, "seconds": max(0, now_ms - one.seen_at) // 1000},
        )
        for one in found.several
    ]
    if found.beyond and found.heard_at:
        ago = max(0, now_ms - found.heard_at) // 1000
        said.append(Message("held.beyond_since", {"n": found.beyond, "seconds": ago}))
    elif found.beyond:
        said.append(Message("held.beyond", {"n": found.beyond}))
    return tuple(said)
