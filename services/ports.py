"""What the engine needs from the outside, as protocols; drivers implement them and nothing else names a driver."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from services.domain.change import Answer, Op
from services.domain.event import EventBatch
from services.domain.order import BrokerHealth, Delivery, Order, QueueDepth, Receipt
from services.domain.query import Counts, Page, Query
from services.domain.shop import Pause, Shop
from services.domain.task import Task
from services.domain.worker import Heard, WorkerInfo


class Clock(Protocol):
    """Time of this machine."""

    def now_ms(self) -> int: ...
    def monotonic(self) -> float: ...
    def wait(self, event: threading.Event, seconds: float) -> bool: ...


class Consumer(Protocol):
    """Deliveries from the lane queues (and dedicated ones) for one worker. Any thread may call any method."""

    def take(self, limit: int, timeout: float) -> list[Delivery]:
        """Up to ``limit`` deliveries, the most urgent lane first; waits up to ``timeout`` seconds for the first one.

        Empty after the time-out, while paused and while disconnected (recovery goes on by itself).
        """

    def ack(self, deliveries: Iterable[Delivery]) -> None:
        """Settle as done, without waiting. A delivery of a lost connection is skipped and counted in ``ack_lost``."""

    def requeue(self, deliveries: Iterable[Delivery]) -> None:
        """Give back unstarted, without waiting; the message keeps its place as far as the broker can."""

    def set_window(self, unacked: int) -> None:
        """Deliveries that may be held unsettled per queue (prefetch)."""

    def pause(self) -> None:
        """Take nothing more; what is buffered and not taken goes back to the queues."""

    def resume(self) -> None:
        """Consume again after ``pause``."""

    def held(self) -> int:
        """Deliveries received and not settled, taken or not."""

    @property
    def ack_lost(self) -> int: ...

    def close(self) -> None:
        """Give back what is unsettled and untaken, and leave."""


class Broker(Protocol):
    """Messages with confirm, manual ack, delay and depth."""

    def ensure(self, platforms: Iterable[str] = (), delays: Iterable[int] = ()) -> None:
        """Declare the topology, the known ``platforms``' dead-letter bindings and the delay queues (seconds);
        idempotent.

        Raises:
            TopologyMismatch: something exists with other arguments.
            BrokerUnavailable: no connection within the connect time-out.
        """

    def publish(self, orders: Sequence[Order]) -> list[Receipt]:
        """Publish a batch in a window of confirms and wait for all of them; thread-safe, concurrent callers share the
        window.

        Never raises for one order; each receipt answers the order at its place.
        """

    def consumer(self, lanes: Sequence[str], *, window: int, name: str) -> Consumer:
        """Start consuming these lanes (in this order of urgency)."""

    def dead_letters(self, *, name: str) -> Consumer:
        """Start consuming the dead-letter queue, for the archiver only (window 50)."""

    def depths(self) -> list[QueueDepth]:
        """Live depths of lanes, delay queues, dead queue and dedicated queues."""

    def health(self) -> BrokerHealth:
        """What is known without asking the broker again."""

    def facts(self) -> Mapping[str, str]:
        """What the server says about itself: ``kind``, ``version``; ``alarms`` that hold publishers back ("" for none)
        and ``management_error`` where that can be known.
        """

    def close(self) -> None: ...


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """The original message of a dead letter, whole."""

    task_id: str
    body: bytes
    headers: str = "{}"  #: JSON
    routing_key: str = ""
    queue: str = ""
    content_type: str = ""
    stored_at: int = 0
    error_kind: str = ""
    error: str = ""


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for: written before the act, closed after it."""

    entry_id: str
    at: int
    who: str  #: user@host
    action: str  #: e.g. task.cancel
    target: tuple[str, ...] = ()
    detail: str = ""  #: JSON
    outcome: str = ""  #: "" while open, then done | refused | failed: ...
    closed_at: int = 0
    previous: str = ""  #: SHA-256 of the writer's entry before
    digest: str = ""


class ScheduleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as it is kept. ``version`` rises with every change, so that of two who saw the same one changes it."""

    name: str
    body: str  #: JSON, see ``services.domain.schedule``
    next_at: int = 0  #: UTC ms of the next run, 0 for none
    version: int = 0  #: filled by the store


class LogLine(msgspec.Struct, frozen=True, array_like=True):
    """One line a running task printed."""

    at: int
    stream: str  #: out | err
    text: str


class Store(Protocol):
    """Records, compare-and-set transitions, indexes, queries, leases, gates, events, shops, audit."""

    def now_ms(self) -> int:
        """The store's clock, UTC ms."""

    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        """Apply a batch, each operation atomically, in order. Answers stand at the operations' places.

        Raises:
            StoreUnavailable: repeat the same batch later; operations are safe to repeat.
        """

    def get(self, task_ids: Sequence[str]) -> list[Task | None]:
        """Records at the places of their ids."""

    def query(self, query: Query) -> Page:
        """One page. Sort key and task id run in the same direction.

        ``=`` is case-sensitive; ``attempts`` is the number of the last one. Fields of the open moment are plain record
        fields: ``gate`` is "" unless blocked, ``triage`` is "" unless dead. A scan (``~`` or ``text``) has no total and
        may give a short or even empty page with ``next`` set: go on from there.

        Raises:
            UsageError: unknown field, operator, sort or cursor.
        """

    def counts(self) -> Counts:
        """The counters; entries of zero are left out."""

    def batch_counts(self, batch: str) -> dict[str, int]:
        """How many tasks of a batch stand in each status, at one instant; statuses of none are left out."""

    def outbox(self, older_than_ms: int, limit: int) -> list[Task]:
        """Records whose outbox mark is at least this many ms old, oldest first."""

    def expired(self, limit: int) -> list[Task]:
        """Running records whose lease has run out."""

    def due(self, limit: int, grace_ms: int = 0) -> list[Task]:
        """Scheduled records that are due, and retrying ones that are due since ``grace_ms``."""

    def oldest_queued(self, lane: str, limit: int) -> list[Task]:
        """Queued records of a lane, earliest ``queued_at`` first."""

    def delivered(self) -> Mapping[tuple[str, int], int]:
        """By queue (a lane, or the shop id of a dedicated one) and priority: the latest ``queued_at`` of the tasks
        whose message came to a worker; up to 1 s behind.
        """

    def queued_before(self, before: Mapping[tuple[str, int], int], limit: int) -> list[Task]:
        """Queued records by lane and priority that were created before an instant, ``limit`` of each, oldest first."""

    def parked_shops(self, limit: int) -> list[str]:
        """Shops (``platform:shop_id``) with tasks in their lot; where there are more than ``limit``, not always the
        same ones. Tasks that wait for a capable worker stand in no lot.
        """

    def unserved(self) -> Mapping[tuple[str, str], int]:
        """How many tasks are parked for want of a worker that can run them, by (lane, type)."""

    def unserved_tasks(self, kinds: Sequence[tuple[str, str]], limit: int) -> list[Task]:
        """The best of those parked tasks of these (lane, type): higher priority first, then older, then by id."""

    def needs(self, task_id: str) -> list[str]:
        """Ids, as named in ``depends_on``, that this task still waits for, sorted."""

    def untold(self, limit: int) -> list[str]:
        """Ended tasks whose dependants were too many to be told in one step (see ``TellDependants``)."""

    def waiting_ahead(self, task: Task) -> int:
        """Queued tasks of the same lane that go first (higher priority, then older, then lower id)."""

    def holders(self, uniqs: Sequence[str]) -> list[Task | None]:
        """The active task of each uniqueness key that goes first (started or held ones before waiting ones), at the
        places of the keys; "" is held by nobody.
        """

    def executed(self, task_ids: Sequence[str]) -> list[bool]:
        """Whether another program marked these as executed."""

    def mark_executed(self, task_ids: Sequence[str]) -> None:
        """Write the projection ``executed:{task_id}`` = 1 with 3,600 s."""

    def events(self, cursor: str, limit: int, wait_s: float) -> EventBatch:
        """Events after ``cursor`` ("" = from now on: answers at once with the newest cursor and no events); waits for
        the first.

        An empty answer keeps the place. With ``gap`` there are no events and the cursor is the newest.
        """

    def put_letter(self, letter: Letter) -> None:
        """Keep a letter, replacing an older one of the same task; ``stored_at`` 0 is filled."""

    def get_letter(self, task_id: str) -> Letter | None: ...

    def put_shops(self, shops: Iterable[Shop]) -> None:
        """Insert or replace by (platform, shop_id)."""

    def shops(self) -> list[Shop]: ...

    def set_pause(self, pause: Pause) -> None:
        """Close a switch (again: replace it); ``at`` 0 is filled."""

    def clear_pause(self, scope: str) -> bool:
        """Open a switch; tell whether it was closed."""

    def pauses(self) -> list[Pause]: ...

    def put_document(self, kind: str, name: str, body: str) -> None:
        """Keep a JSON document: task types (``type``), settings of the fleet (``fleet``), roles (``role``)."""

    def add_document(self, kind: str, name: str, body: str) -> bool:
        """Keep a JSON document unless there is one of this name; tell whether it was kept."""

    def documents(self, kind: str) -> Mapping[str, str]: ...

    def put_schedule(self, entry: ScheduleEntry, expect: int) -> int:
        """Write a schedule if its version still is ``expect`` (0: there is none of this name); its new version, 0 when
        somebody else was first. ``entry.version`` is not looked at. After a lost reply, read it again. No two schedules
        that had the same name one after the other share a version.
        """

    def remove_schedule(self, name: str, expect: int) -> bool:
        """Strike a schedule off if its version still is ``expect``; tell whether it was."""

    def schedules(self) -> list[ScheduleEntry]:
        """All schedules by name."""

    def due_schedules(self, limit: int) -> list[ScheduleEntry]:
        """Those whose next run is due by the store's clock, the earliest first."""

    def heartbeat(self, info: WorkerInfo) -> Heard:
        """Record a worker; fetch the orders left for it and the kinds of tasks that wait for a capable worker."""

    def workers(self) -> list[WorkerInfo]: ...
    def tell_worker(self, worker: str, order: str) -> None: ...
    def forget_worker(self, worker: str) -> None: ...

    def lead(self, role: str, holder: str, ttl_ms: int) -> bool:
        """Take or prolong the leader lease; tell whether ``holder`` leads."""

    def leader(self, role: str) -> str:
        """Who leads now, "" for nobody."""

    def resign(self, role: str, holder: str) -> None: ...

    def append_log(self, task_id: str, attempt: int, lines: Sequence[LogLine]) -> None:
        """Keep the log of an attempt, the last 5,000 lines of it."""

    def read_log(self, task_id: str, attempt: int, start: int = 0) -> tuple[list[LogLine], int]:
        """Lines from place ``start`` on and the place after the last one."""

    def append_audit(self, entry: AuditEntry) -> None:
        """Add an entry; the same id again changes nothing."""

    def close_audit(self, entry_id: str, outcome: str, at: int) -> None:
        """Write the outcome of an open entry; the first one stays."""

    def audit(self, limit: int, before: str = "") -> list[AuditEntry]:
        """Entries in reverse order of writing, those written before the entry ``before`` if it is given."""

    def health(self) -> tuple[bool, float, str]:
        """(answers, latency ms, error text) of a round trip made now."""

    def facts(self) -> Mapping[str, str]:
        """What the server says about itself: ``kind``, ``version``; on Redis also ``role``, ``maxmemory``,
        ``maxmemory_policy``, ``appendonly``, ``appendfsync`` ("" where it does not tell) and how its last writes went.
        """

    def close(self) -> None: ...
