"""The store, whole: what a driver of it must offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from services.domain.change import Answer, Op
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import Heard, WorkerInfo
from services.domain.gates.breaker import Breaker
from services.domain.gates.closed import Closed
from services.domain.gates.home import Home
from services.domain.gates.limit import Limit, LimitNow
from services.domain.gates.session import ClosedSession, Login
from services.domain.task.event import EventBatch
from services.domain.task.ledger import Done, Ran
from services.domain.task.record import Task
from services.domain.task.search.query import Counts, Groups, Page, Query, Term
from services.ports.journals import Journals
from services.ports.timetable import Timetable
from services.ports.upkeep import Care, PayloadIndex, Recount, Upkeep


class Records(Protocol):
    """Changes of the records, pages and counts of them, and the events that tell of changes."""

    def now_ms(self) -> int:
        """The store's clock, UTC ms."""

    def apply(self, ops: Sequence[Op]) -> list[Answer]:
        """Apply a batch, each operation atomically, in order. Answers stand at the operations' places.

        Raises:
            StoreUnavailable: repeat the same batch later; operations are safe to repeat.
        """

    def apply_soon(self, ops: Sequence[Op]) -> None:
        """Apply operations for whose answers nobody waits: now, or some milliseconds later. Whoever asks this store
        anything afterwards finds them applied, and so does who closes it.

        What the store does not take is lost: only for what somebody finds and repeats.

        Raises:
            StoreUnavailable: where it is tried at once.
        """

    def get(self, task_ids: Sequence[str]) -> list[Task | None]:
        """Records at the places of their ids."""

    def unread(self, task_id: str) -> Literal["", "there", "aside"]:
        """Where there is no record to ``get``: whether something stands in its place that nobody can read (``there``),
        or was set aside from there (``aside``).
        """

    def query(self, query: Query) -> Page:
        """One page. Sort key and task id run in the same direction.

        ``=`` is case-sensitive; ``attempts`` is the number of the last one. Fields of the open moment are plain record
        fields: ``gate`` is "" unless blocked, ``triage`` is "" unless dead. A scan (``~`` or ``text``) has no total and
        may give a short or even empty page with ``next`` set: go on from there.

        Raises:
            UsageError: unknown field, operator, sort or cursor.
        """

    def grouped(self, terms: Sequence[Term], by: str, most: int) -> Groups:
        """The tasks that match by one of ``GROUPED`` and by status, at most ``most`` of them looked at.

        Raises:
            UsageError: a field, operator or ``by`` that is none.
        """

    def counts(self) -> Counts:
        """The counters; entries of zero are left out."""

    def batch_counts(self, batches: Sequence[str]) -> list[dict[str, int]]:
        """At the place of each batch: how many of its tasks stand in each status, at one instant; statuses of none are
        left out. Those whose record was removed count as long as a tombstone of the batch is left.
        """

    def batches(self, limit: int, cursor: str = "") -> tuple[list[tuple[str, int]], str]:
        """Batches that have records, those that began last first: name and creation (UTC ms) of the first task. What to
        go on from, "" at the end.
        """

    def waiting_ahead(self, tasks: Sequence[Task]) -> list[int]:
        """At the place of each: queued tasks of its lane that go first (higher priority, then older, then lower id)."""

    def holders(self, uniqs: Sequence[str]) -> list[Task | None]:
        """The active task of each uniqueness key that goes first (started or held ones before waiting ones), at the
        places of the keys; "" is held by nobody.
        """

    def last_done(self, works: Sequence[str]) -> list[Done | None]:
        """At the place of each work (``Task.work``) its last success, forced ones included; None where none is known,
        ``ledger.UNREADABLE`` where its entry cannot be read, as steps see it (answer ``unsure``).

        It is written in the step that ends the task, and kept as long as the record of that task or its tombstone.
        """

    def ran(self, works: Sequence[str]) -> list[Ran | None]:
        """At the place of each work all that is known of it; None where nothing is.

        Last success and failure, and the ends of the last 30 days by day, written in the step that ends a task. Success
        and failure are kept at least as long as the record of that task or its tombstone, the days as long as one of
        both, and for 31 days.
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


class Limits(Protocol):
    """What many shops share: slots and starts a minute."""

    def put_limit(self, limit: Limit) -> None:
        """Set the limit of a scope, or take it away. Who waits there is released by ``OpenLimit``."""

    def limits(self) -> list[LimitNow]:
        """All limits with their numbers, by scope."""

    def recount_limits(self) -> None:
        """Count the running tasks of every limit anew from the records' counters."""

    def waiting_limits(self) -> list[str]:
        """Scopes at whose limit somebody waits, also where the limit was taken away meanwhile."""

    def breakers(self) -> list[Breaker]:
        """The breakers of shops that are open, by shop."""

    def sessions(self) -> list[ClosedSession]:
        """Shops whose session gate is closed, and what closed it, by shop."""

    def logins(self) -> Mapping[str, Login]:
        """When and by whom each shop was logged in last (``OpenSession``), by shop."""

    def successes(self) -> Mapping[str, int]:
        """The instant (UTC ms) at which a task of each shop succeeded last, by shop; those where it is known."""

    def successes_of(self, task_type: str) -> Mapping[str, int]:
        """The end (UTC ms) of the last success of a type in each shop, whatever its payload; those where it is known,
        also when the record is gone.
        """

    def last_runs(self) -> Mapping[str, tuple[int, str]]:
        """When (UTC ms) and by which worker a task of each shop was begun last, by shop; those where it is known.

        The step that begins a task notes it; programs of before do not (``engine.lead.run_keeper``).
        """

    def closed(self, begun: int = 0) -> Closed:
        """All that closes gates, in one question. ``begun``: so many of the tasks that run, and of those that are
        held, about the newest where there are more, are looked at for their uniqueness keys.
        """

    def promised(self) -> int:
        """Released tasks whose slot is kept for them and that have not started yet, of all shops."""


class Fleet(Protocol):
    """Shops, pauses, documents, workers and who leads."""

    def put_shops(self, shops: Iterable[Shop]) -> None:
        """Insert or replace by (platform, shop_id)."""

    def shops(self) -> list[Shop]: ...

    def set_pause(self, pause: Pause) -> None:
        """Close a switch (again: replace it); ``at`` 0 is filled."""

    def clear_pause(self, scope: str) -> bool:
        """Open a switch; tell whether it was closed."""

    def swap_pause(self, scope: str, by: str, pause: Pause | None) -> bool:
        """Close a switch (None: open it) that this one has closed ("": nobody); tell whether it was so. Nobody comes
        between the look and the change.
        """

    def pauses(self) -> list[Pause]: ...
    def switches(self) -> list[Pause]:
        """The closed switches of all gates now: the pauses, and what documents close (``gates.listed``); in the order
        of the gates.
        """

    def put_document(self, kind: str, name: str, body: str) -> None:
        """Keep a JSON document: task types (``type``), settings of the fleet (``fleet``), roles (``role``), dedicated
        queues (``queue``).
        """

    def add_document(self, kind: str, name: str, body: str) -> bool:
        """Keep a JSON document unless there is one of this name; tell whether it was kept."""

    def swap_document(self, kind: str, name: str, before: str, body: str) -> bool:
        """Keep a JSON document in place of the one that was read, "" strikes it off; tell whether it was there."""

    def remove_document(self, kind: str, name: str) -> bool:
        """Strike a document off; tell whether there was one."""

    def document(self, kind: str, name: str) -> str | None:
        """One of them, where the others may be many or large; None where there is none."""

    def documents(self, kind: str) -> Mapping[str, str]: ...

    def homes(self, shops: Iterable[str] | None = None) -> dict[str, Home]:
        """Where shops (``platform:shop_id``; None: all) are at home, those that are, by shop."""

    def put_home(self, shop: str, node: str) -> None:
        """Let a shop be at home on a node from now on; what waits for another one is let go by ``Rehome``."""

    def heartbeat(self, info: WorkerInfo) -> Heard:
        """Record a worker; fetch the orders left for it and the kinds of tasks that wait for a capable worker, or
        for its node.
        """

    def workers(self) -> list[WorkerInfo]: ...
    def tell_worker(self, worker: str, order: str) -> None: ...
    def forget_worker(self, worker: str) -> None:
        """A worker says goodbye: nobody will hear the orders that were left for it."""

    def strike_off(self, worker: str, seen_at: int) -> bool:
        """Take a worker off the list that was last heard of at ``seen_at`` (UTC ms); False when it was heard of since.
        Orders left for it stay: if it was only cut off, it hears them when it is back.
        """

    def lead(self, role: str, holder: str, ttl_ms: int) -> bool:
        """Take or prolong the leader lease; tell whether ``holder`` leads."""

    def leader(self, role: str) -> str:
        """Who leads now, "" for nobody."""

    def resign(self, role: str, holder: str) -> None: ...


class Store(Records, Upkeep, Journals, Timetable, Fleet, Limits, PayloadIndex, Recount, Care, Protocol):
    """Records, compare-and-set transitions, indexes, queries, leases, gates, events, shops, audit."""

    def health(self) -> tuple[bool, float, str]:
        """(answers, latency ms, error text) of a round trip made now; what answers with an error takes no writes."""

    def newer(self) -> str:
        """The sentence that a newer program wrote the data, so that this one only reads; "" where none did."""

    def facts(self) -> Mapping[str, str]:
        """What the server says about itself: ``kind``, ``version``; on Redis also ``role``, ``replicas``,
        ``primary_link`` (of a replica), ``used_memory``, ``maxmemory``, ``maxmemory_policy``, ``appendonly``,
        ``appendfsync`` ("" where it does not tell) and how its last writes went.
        """

    def close(self) -> None: ...
