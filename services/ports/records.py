"""The records of the tasks and what is asked about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.domain.change import Answer, Op
from services.domain.task.event import EventBatch
from services.domain.task.ledger import Done, Ran
from services.domain.task.record import Task
from services.domain.task.search.query import Counts, Groups, Page, Query, Term


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
