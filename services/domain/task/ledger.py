"""What is known of a work, whichever task did it: the work is what the uniqueness key of its type names."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import msgspec

from services.domain.task.record import Task
from services.domain.task.search import filter_time
from services.domain.task.status import DEAD, HELD, SUCCEEDED, Triage
from services.domain.upkeep.stored import Count, Instant

#: what programs of this version write down. 1: last success and failure, days. 2: a letter that never ran is no failure
FORM = 2
#: runs are told apart by days for so long: thirty whole days and the one that goes on
KEPT_MS = 31 * 86_400_000
DAY_MS = 86_400_000
QUARTER_MS = 900_000  #: zones are apart by quarters of an hour


class Done(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last success of a work. Kept at least as long as the record of that task or its tombstone."""

    task_id: str
    at: Instant  #: when it ended, UTC milliseconds
    by: str = ""  #: who created it; where nobody said so, where it came from (``Task.origin``)
    worker: str = ""


#: in place of a last success that cannot be read: whether there is one is not known
UNREADABLE = Done("", 0)
WHAT = "work"  #: what an entry is called where one cannot be read


class Failure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last run of a work that became a dead letter. Kept at least as long as its record or its tombstone."""

    task_id: str
    at: Instant
    kind: str = ""  #: ``Task.error_kind``
    by: str = ""
    worker: str = ""


class Day(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What ended on one day: tasks that succeeded, and tasks that had begun and became dead letters.

    Days begin at midnight of the fleet's time zone as it was then; whoever reads them has the instants.
    """

    first_at: Instant  #: UTC milliseconds
    last_at: Instant
    succeeded: Count
    failed: Count
    first_id: str
    last_id: str

    @property
    def count(self) -> int:
        """Ends in all."""
        return self.succeeded + self.failed


class Ran(msgspec.Struct, frozen=True):
    """All that is known of a work."""

    done: Done | None = None
    failed: Failure | None = None
    days: tuple[Day, ...] = ()  #: of the last 30 days, the oldest first; days on which nothing ended are left out


class Entry(msgspec.Struct, frozen=True):
    """What changes with every end: the last ones, and the ends of the day of the last one of all.

    What ends that day had last is not kept twice: it is the later of success and failure.
    """

    done: Done | None = None
    failed: Failure | None = None
    succeeded: Count = 0
    failures: Count = 0
    first_at: Instant = 0
    first_id: str = ""

    @property
    def alone(self) -> bool:
        """Whether it knows of one success and nothing else."""
        return self.done is not None and self.failed is None and self.succeeded == 1 and not self.failures

    @property
    def day(self) -> Day | None:
        """The last day on which anything ended."""
        last: Done | Failure | None = self.done
        if self.failed is not None and (self.done is None or self.failed.at >= self.done.at):
            last = self.failed
        if last is None or not self.succeeded + self.failures:
            return None
        first_at, first_id = (self.first_at, self.first_id) if self.first_id else (last.at, last.task_id)
        return Day(first_at, last.at, self.succeeded, self.failures, first_id, last.task_id)


def unread(done: Done | None) -> bool:
    """Whether nobody can read if that work was done."""
    return done is not None and not done.task_id


def done_by(task: Task) -> Done:
    """What a task that has succeeded leaves in the ledger."""
    return Done(task.task_id, task.ended_at, task.created_by or task.origin, task.worker)


def failed_by(task: Task) -> Failure:
    """What a dead letter leaves in the ledger."""
    return Failure(task.task_id, task.ended_at, task.error_kind, task.created_by or task.origin, task.worker)


def counts(task: Task) -> bool:
    """Whether its end stands in the ledger: a success, or a run that failed.

    A run is what a worker began, here or, as its message says, elsewhere; a letter that never came so far is none.
    """
    return bool(task.work) and (task.status == SUCCEEDED or (task.status == DEAD and task.attempt > 0))


def never_ran(task: Task) -> bool:
    """Whether it is a dead letter that no worker ever began: programs of before counted its end as a failure."""
    return bool(task.work) and task.status == DEAD and task.attempt == 0


def is_red(status: str, triage: str) -> bool:
    """Whether a person has still to decide about a task of this status: held, or dead and open."""
    return status == HELD or (status == DEAD and triage == Triage.OPEN)


# ----------------------------------------------------------------------------------------------------------------- days
def day_begins(at: int, zone: str) -> tuple[int, int]:
    """First instant of the day of an instant in the fleet's zone ("" for none yet), and the one behind it."""
    span = filter_time.Times(at, zone or "UTC").span("today")
    return span if span is not None else (at - at % DAY_MS, at - at % DAY_MS + DAY_MS)


def of_first(task: Task) -> Entry:
    """The entry after the first end of a work."""
    if task.status == SUCCEEDED:
        return Entry(done_by(task), None, 1, 0, task.ended_at, task.task_id)
    return Entry(None, failed_by(task), 0, 1, task.ended_at, task.task_id)


def with_end(entry: Entry, task: Task, begins: int) -> tuple[Entry, Day | None]:
    """The entry after the end of a task, and a day that is over by that.

    ``begins``: first instant of the fleet's day that is now. The same decision stands in
    ``store/redis/scripts/ledger.lua``.
    """
    alone, day, over = of_task(task), entry.day, None
    if day is None:
        return with_day(with_last(entry, task), alone), None
    apart = _days_ahead(alone.last_at, begins) - _days_ahead(day.last_at, begins)
    kept = day
    if apart > 0:
        kept, over = alone, day
    elif apart < 0:  # one that was imported
        over = alone
    else:
        kept = joined(day, alone)
    return with_day(with_last(entry, task), kept), over


def _days_ahead(at: int, begins: int) -> int:
    """How many days after today; today goes on until the next one begins, 25 hours where clocks are set back."""
    return min(0, (at - begins) // DAY_MS)


def with_last(entry: Entry, task: Task) -> Entry:
    """The entry with the end of a task, if that counts and is the last of its kind."""
    done, failed = entry.done, entry.failed
    if not counts(task):
        return entry
    if task.status == SUCCEEDED and (done is None or done.at <= task.ended_at):
        done = done_by(task)
    if task.status == DEAD and (failed is None or failed.at <= task.ended_at):
        failed = failed_by(task)
    return replaced(entry, done=done, failed=failed)


def replaced(entry: Entry, **fields: Done | Failure | None) -> Entry:
    """The entry with another ``done`` or ``failed``."""
    return msgspec.structs.replace(entry, **fields)


def with_day(entry: Entry, day: Day | None) -> Entry:
    """The entry with another last day."""
    if day is None:
        return entry
    return Entry(entry.done, entry.failed, day.succeeded, day.failed, day.first_at, day.first_id)


def settled(done: Done | None, failed: Failure | None, days: Sequence[Day]) -> tuple[Entry, tuple[Day, ...]]:
    """The entry of these last ends with its day, and the days beside that one."""
    last: Done | Failure | None = done
    if failed is not None and (done is None or failed.at >= done.at):
        last = failed
    if last is None:
        return Entry(), tuple(days)
    own = next((day for day in days if day.first_at <= last.at <= day.last_at), None)
    alone = Day(last.at, last.at, int(last is done), int(last is failed), last.task_id, last.task_id)
    return with_day(Entry(done, failed), own or alone), tuple(day for day in days if day is not own)


def last_of(entry: Entry, past: Sequence[Day]) -> str:
    """The id of what ended last, "" where nothing is known."""
    days = (*past[-1:], entry.day) if entry.day is not None else past[-1:]
    return max(days, key=lambda day: day.last_at).last_id if days else ""


def of_task(task: Task) -> Day:
    """The day of one end."""
    won = task.status == SUCCEEDED
    return Day(task.ended_at, task.ended_at, int(won), int(not won), task.task_id, task.task_id)


def joined(day: Day, other: Day) -> Day:
    """Two as one."""
    first = other if other.first_at < day.first_at else day
    last = other if other.last_at >= day.last_at else day
    both = (day.succeeded + other.succeeded, day.failed + other.failed)
    return Day(first.first_at, last.last_at, *both, first.first_id, last.last_id)


class Proof:
    """What records prove of the days of works; it grows with the works and their days, not with the records."""

    def __init__(self, zone: str, since: int) -> None:
        """``zone``: the fleet's; ``since``: what ended before is not asked for."""
        self._zone, self._since = zone, since
        self._days: dict[str, dict[int, Day]] = {}
        self._begins: dict[int, int] = {}
        self._failed: dict[str, Failure] = {}
        self._never: dict[str, dict[str, int]] = {}  # by work: letters that no worker began, and when they ended

    def note(self, task: Task) -> None:
        """An ended task of a work; its day is told by ``add``."""
        if never_ran(task):
            self._never.setdefault(task.work, {})[task.task_id] = task.ended_at
        elif task.status == DEAD and counts(task):
            known = self._failed.get(task.work)
            if known is None or known.at <= task.ended_at:
                self._failed[task.work] = failed_by(task)

    def add(self, work: str, day: Day) -> None:
        """Ends of a work, all on one day."""
        if day.first_at < self._since:
            return
        begins, days = self._begin_of(day.first_at), self._days.setdefault(work, {})
        days[begins] = joined(days[begins], day) if begins in days else day

    def works(self) -> list[str]:
        """Those of which anything is proven, by name."""
        return sorted({*self._days, *self._never})

    def proves(self, work: str) -> bool:
        """Whether any end of it is proven."""
        return work in self._days

    def righted(
        self, work: str, entry: Entry, past: Sequence[Day], *, anew: bool
    ) -> tuple[Entry, tuple[Day, ...]] | None:
        """The entry and the days beside it as they should be, None where they are.

        ``anew``: programs of before have counted letters that never ran; those are taken out of each day of which every
        failure still has its record.
        """
        never, failed = self._never.get(work, {}), entry.failed
        days = tuple(sorted((*past, entry.day) if entry.day is not None else past, key=lambda one: one.first_at))
        if failed is not None and failed.task_id in never:
            failed = self._failed.get(work)
        right = self.mended(work, self._without(work, days) if anew and never else days)
        if right == days and failed == entry.failed:
            return None
        return settled(entry.done, failed, right)

    def _without(self, work: str, days: Sequence[Day]) -> list[Day]:
        never, found = self._never[work], []
        for day in days:
            begins = self._begin_of(day.first_at)
            there = sum(self._begin_of(at) == begins for at in never.values())
            proven = self._days.get(work, {}).get(begins)
            failed = proven.failed if proven is not None else 0
            if there and day.failed == failed + there:
                if not day.succeeded + failed:
                    continue
                first = proven if proven is not None and day.first_id in never else day
                last = proven if proven is not None and day.last_id in never else day
                day = Day(first.first_at, last.last_at, day.succeeded, failed, first.first_id, last.last_id)
            found.append(day)
        return found

    def mended(self, work: str, known: Sequence[Day]) -> tuple[Day, ...]:
        """The known days and what is proven beside them: no end is lost, and none that is known of taken away."""
        days = list(known)
        proven = dict(self._days.get(work, {}))
        if len(days) == 1 and days[0].count == 1 and not any(_within(days[0], day) for day in proven.values()):
            begins = self._begin_of(days[0].first_at)  # ``add`` was not told of an only end that is known
            proven[begins] = joined(proven[begins], days[0]) if begins in proven else days[0]
        for begins, day in sorted(proven.items()):
            same = [one for one in days if self._begin_of(one.first_at) == begins or _overlap(one, day)]
            if not same:
                days.append(day)
                continue
            kept = functools.reduce(joined, same)
            first, last = (day if day.first_at < kept.first_at else kept), (day if day.last_at > kept.last_at else kept)
            most = (max(kept.succeeded, day.succeeded), max(kept.failed, day.failed))
            whole = Day(first.first_at, last.last_at, *most, first.first_id, last.last_id)
            if whole != kept:
                days = [*(one for one in days if one not in same), whole]
        return tuple(sorted(days, key=lambda one: one.first_at))

    def _begin_of(self, at: int) -> int:
        part = at // QUARTER_MS
        if part not in self._begins:
            self._begins[part] = day_begins(at, self._zone)[0]
        return self._begins[part]


def _within(one: Day, day: Day) -> bool:
    return one.first_id in (day.first_id, day.last_id)


def _overlap(one: Day, day: Day) -> bool:
    return one.first_at <= day.last_at and day.first_at <= one.last_at
