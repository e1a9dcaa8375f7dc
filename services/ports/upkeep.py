"""What the engine must look after, as lists of what is left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from services.domain.task.query import Page
from services.domain.task.record import Task
from services.domain.task.tombstone import Tombstone

#: of tasks that workers fetch: lane and type, and the node that they wait for
Parked = tuple[str, str] | tuple[str, str, str]


class Upkeep(Protocol):
    """Records whose message, lease, instant, lot or dependants need a look."""

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

    def homebound(self) -> Mapping[tuple[str, str, str], int]:
        """How many tasks wait for the home of their shop, by (lane, type, node)."""

    def unserved_tasks(self, kinds: Sequence[Parked], limit: int) -> list[Task]:
        """The best of those parked tasks of these (lane, type), or (lane, type, node) for those that wait for their
        home: higher priority first, then older, then by id.
        """

    def overdue(self, limit: int) -> list[str]:
        """Ids of tasks whose ``deadline`` has passed and that nobody has looked at since, the earliest first."""

    def forget_deadlines(self, task_ids: Sequence[str]) -> None:
        """They have been looked at: ``overdue`` names them no more. Safe to repeat."""

    def needs(self, task_ids: Sequence[str]) -> list[list[str]]:
        """Ids, as named in ``depends_on``, that each of these tasks still waits for, sorted, at their places."""

    def ended(self, status: str, triage: str, before: int, limit: int, cursor: str = "") -> Page:
        """Ended tasks of a status (``triage``: of dead ones, else "") that have not changed since ``before`` (UTC ms),
        about the oldest first. A page may be short or empty with ``next`` set: go on from there. No total.
        """

    def tombstones(self, task_ids: Iterable[str]) -> list[Tombstone | None]:
        """What is left of removed records (``Forget``), at the places of their ids."""

    def tidy(self) -> bool:
        """Give some room back to the machine, a few milliseconds' worth; tell whether there may be more."""

    def untold(self, limit: int) -> list[str]:
        """Ended tasks whose dependants were too many to be told in one step (see ``TellDependants``)."""
