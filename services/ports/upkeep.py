"""What the engine must look after, as lists of what is left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from services.domain.task.record import Task
from services.domain.task.search.query import Page
from services.domain.task.tombstone import Tombstone
from services.domain.upkeep.damage import Aside, Check, Damage
from services.domain.upkeep.miscount import Miscount

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

    def dependants(self, task_id: str, limit: int) -> list[str]:
        """Ids of tasks that still wait for this one, sorted, at most so many."""

    def untold(self, limit: int) -> list[str]:
        """Ended tasks whose dependants were too many to be told in one step (see ``TellDependants``)."""


class Care(Protocol):
    """For doctor and repair."""

    def damage(self, check: Check, *, deep: bool) -> list[Damage]:
        """Entries that no reader can read, keys of the wrong kind, names that are no text.

        ``check`` judges documents and schedules. ``deep``: also what there is one of for each task.
        """

    def set_aside(self, found: Sequence[Damage]) -> int:
        """Move these, with their bytes, where nobody reads them; how many were still as they were found.

        What closed a gate (a pause, a login) is replaced by an entry that keeps it closed. The trail of the audit is
        never shortened: a copy is made, and the entry is known from then on.
        """

    def aside(self, limit: int) -> list[Aside]:
        """What was set aside, the latest first, what nobody noted the time of last."""


class PayloadIndex(Protocol):
    """Fields of payloads whose whole values an index answers, of every task that has such a field, whatever its type.

    What is written, removed or counted anew is so in the step that does it to the record.
    """

    def indexed(self) -> Mapping[str, bool]:
        """The fields that the index knows, and whether it knows them of every record yet; one that is being forgotten
        is not among them.
        """

    def index_fields(self, names: Iterable[str]) -> None:
        """From now on it is these: what is created from here on is known, of what was there before ``index_more``
        learns. A field that is still being forgotten is taken once that is done: name it again.
        """

    def index_more(self) -> bool:
        """Learn, or forget, some milliseconds' worth of what ``index_fields`` has left; whether there is more."""


class Recount(Protocol):
    """For repair; a walk over everything, so minutes where there are millions of tasks."""

    def recount(self, *, mend: bool) -> list[Miscount]:
        """Compare indexes, counters and reservations with the records, and with ``mend`` set right what differs.

        Safe beside working programs: each record is set right only if it is still the one that was looked at. What
        cannot be told while tasks move is ``left``.
        """

    def recount_works(self, *, mend: bool, anew: bool = False) -> Miscount:
        """Only the ledger (``Records.ran``): the part of ``recount`` that a store of before needs once.

        ``anew``: programs of before have counted letters that never ran among the failures. They are taken out of each
        day of which every failure still has its record; of others nothing proves what they are.
        """
