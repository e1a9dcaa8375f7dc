"""Which tasks wait in a queue, by the records: a queue is looked at and emptied by them, never by its messages."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from services.domain.errors import NotFound, UsageError
from services.domain.task import envelope
from services.domain.task.lane import LANE_QUEUE, LANES, SHOP_QUEUE, shop_queue
from services.domain.task.record import Task
from services.domain.task.search.query import Term, equals
from services.domain.task.status import WAITING, Status
from services.domain.text.said import said

DELAY_QUEUE = "rpa_delay_"  #: before the seconds of a back-off queue, and an s
DEAD_QUEUE = "rpa_dead_queue"
LANE, SHOP, DELAY = "lane", "shop", "delay"


class QueueOf(msgspec.Struct, frozen=True, kw_only=True):
    """A queue of work, and how its tasks are told from others."""

    name: str
    kind: str  #: LANE | SHOP | DELAY
    lane: str = ""
    shop: str = ""  #: ``platform:shop_id``
    delay_s: int = 0
    levels: tuple[int, ...] = ()  #: seconds of all back-off queues

    def terms(self) -> tuple[Term, ...]:
        """What all of its tasks have, and few others."""
        if self.kind == DELAY:
            return (equals("status", Status.RETRYING),)
        waits = equals("status", *sorted(WAITING))
        return (waits, equals("lane", self.lane) if self.kind == LANE else equals("shop", self.shop))

    def holds(self, task: Task) -> bool:
        """Whether it waits there now, with its message or parked at a gate; what runs is not in a queue any more."""
        if self.kind == DELAY:
            return task.status == Status.RETRYING and self.delay_s == envelope.level(
                task.due_at - task.updated_at, self.levels
            )
        if task.status not in WAITING:
            return False
        if self.kind == LANE:
            return task.lane == self.lane and not task.queue
        return task.shop == self.shop and task.queue == task.shop_id


def delay_queue(seconds: int) -> str:
    """The back-off queue of a delay."""
    return f"{DELAY_QUEUE}{seconds}s"


def delay_of(queue: str) -> int:
    """The seconds of a back-off queue, 0 where it is none."""
    text = queue.removeprefix(DELAY_QUEUE).removesuffix("s") if queue.startswith(DELAY_QUEUE) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def queue_of(name: str, shops: Iterable[str], delays: Iterable[int]) -> QueueOf:
    """The queue of this name, as ``queue list`` shows it; of a lane its word will do, too.

    ``shops``: those that have a queue of their own, ``platform:shop_id``; ``delays``: seconds of the back-off queues.

    Raises:
        NotFound: there is no such queue.
        UsageError: its messages are no waiting tasks.
    """
    levels = tuple(sorted(delays))
    lane = next((one for one in LANES if name in (one, LANE_QUEUE + one)), None)
    if lane is not None:
        return QueueOf(name=LANE_QUEUE + lane, kind=LANE, lane=lane)
    if name == DEAD_QUEUE:
        raise UsageError(said("queue.dead"), field="name")
    if name.startswith(SHOP_QUEUE):
        for key in shops:
            if shop_queue(key.partition(":")[2]) == name:
                return QueueOf(name=name, kind=SHOP, shop=key)
    if (seconds := delay_of(name)) in levels:
        return QueueOf(name=name, kind=DELAY, delay_s=seconds, levels=levels)
    raise NotFound(said("queue.unknown", name=name[:80]), field="name")
