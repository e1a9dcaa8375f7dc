"""One shop over some hours: every attempt of its tasks by type, what is planned, and when nothing was to start; of one
of its works over a day also by who asked, with what was planned and did not come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from services.domain.fleet.shop import SCOPE_ALL
from services.domain.gates import quiet_hours
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Past, Run
from services.domain.task.order import BrokerHealth
from services.domain.task.record import Attempt, Task
from services.domain.task.search.query import Query, Term, each, equals
from services.domain.task.status import Status, Triage
from services.engine.quiet import wished
from services.engine.registry import Registry
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor.schedules import ScheduleQueries, ScheduleRow
from services.monitor.waits.gates import GateLook
from services.monitor.works import WorkStory
from services.ports import Store

PAGE, MOST = 500, 5_000
#: of the tasks of a shop that wait, those that have waited for longest
MOST_WAITING = 200
HOUR_MS = 3_600_000
#: spans that can be asked for
SPANS = (6 * HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS)
#: how much of the span lies in front of now
AHEAD = 12
#: runs of a schedule that are told
COMING = 40

#: runs of a schedule that are told of one day of a work
COMING_DAY = 300
#: those that nobody came to and that are told one by one; the last of them stands for all that follow
LATE_DAY = 200

SUCCEEDED, RETRIED, DEAD, HELD, CANCELLED, RUNNING, PLANNED = (
    "succeeded", "retried", "dead", "held", "cancelled", "running", "planned",
)  # fmt: skip
#: of one work only: a letter whose work another task has done, a task that waits, a run that was due and did not come,
#: one that left the shop out, and one that made tasks for some shops, without a record of what it made for this one
OVERTAKEN, WAITS, MISSED, SKIPPED, UNKNOWN = "overtaken", "waits", "missed", "skipped", "unknown"
STATES = (SUCCEEDED, RETRIED, DEAD, HELD, CANCELLED, RUNNING, PLANNED, OVERTAKEN, WAITS, MISSED, SKIPPED, UNKNOWN)
#: who asked for a run: rows of the day of one work
SCHEDULE, PERSON, PROGRAM = "schedule", "person", "program"
ASKERS = (SCHEDULE, PERSON, PROGRAM)
#: by origin of a task; of what is not here nobody knows that a person asked for it
_ASKED: Mapping[str, str] = {
    "schedule": SCHEDULE,
    **dict.fromkeys(("console", "cli", "file", "again", "republish", "import"), PERSON),
}
#: outcomes of attempts in which nothing of the task was run
_NO_RUN = frozenset({"waiting", "fenced"})
#: of a whole shop; those that come later are among its runs, as planned ones
IN_WAIT = (Status.BLOCKED, Status.PENDING, Status.QUEUED)
_STOPPED = frozenset({"cancelled", "preempted", "returned"})


class DayAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt, or one that will be; instants are UTC ms."""

    task_type: str
    state: str  #: one of ``STATES``
    begins: int
    ends: int  #: of one that runs the instant of the answer; of a planned one its start
    task_id: str = ""  #: "" for a run that a schedule will create
    attempt: int = 0
    worker: str = ""
    error: str = ""
    error_kind: str = ""
    schedule: str = ""
    asked: str = ""  #: by whom, one of ``ASKERS``; only where it was asked for one work
    instead: str = ""  #: the task that did the work of a letter that was overtaken
    count: int = 1  #: runs that are told as this one
    gate: str = ""  #: of a task that waits: where
    key: str = ""  #: what tells it from others; made once, for whoever shows thousands asks for it again and again

    def __post_init__(self) -> None:
        key = f"{self.task_id}#{self.attempt}" if self.task_id else f"{self.schedule}@{self.begins}"
        force_setattr(self, "key", key)


class ShopDay(msgspec.Struct, frozen=True, kw_only=True):
    """What happened between two instants, and what is to come."""

    shop: str
    begins: int
    ends: int
    now: int
    types: tuple[str, ...] = ()  #: rows, by name
    runs: tuple[DayAttempt, ...] = ()  #: by start
    waiting: tuple[DayAttempt, ...] = ()  #: tasks that wait for their turn, the oldest first; only of a whole shop
    quiet: tuple[tuple[int, int], ...] = ()  #: when nothing of the shop, or of this work there, was to start
    complete: bool = True  #: False where it has more tasks than are looked at
    before: tuple[int, int] | None = None  #: as of ``ended``, of as much time before it


class ShopDays:
    """Blocking questions; call them off the GUI thread."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        health: Callable[[], BrokerHealth] | None = None,
        keeps_ms: int = 0,
        schedules: ScheduleQueries | None = None,
    ) -> None:
        """``health``: how the broker does for this process, None where nobody asks it; ``keeps_ms``: so long tasks that
        ended well are kept, 0 for ever; ``schedules``: of who asks beside.
        """
        self._store, self._registry, self._keeps_ms = store, registry, keeps_ms
        self._schedules = schedules or ScheduleQueries(store, registry)
        self._gates = GateLook(store, registry, health)
        self._last: tuple[str, Mapping[str, DayAttempt]] = "", {}  #: the shop that was looked at last, and its runs

    def look(self, shop: str, span_ms: int) -> ShopDay:
        """The last ``span_ms`` of a shop (``platform:shop_id``), and a twelfth of that ahead."""
        now = self._store.now_ms()
        begins, ends = now - span_ms, now + span_ms // AHEAD
        # what is kept in part would tell of failures alone
        earlier = begins - span_ms if not self._keeps_ms or 2 * span_ms <= self._keeps_ms else begins
        tasks = list(self._tasks(shop, earlier))
        runs = [run for task in tasks for run in _runs(task, begins, ends, now)]
        runs += self._coming(shop, now, ends)
        runs = self._as_before(shop, runs)
        return ShopDay(
            shop=shop,
            begins=begins,
            ends=ends,
            now=now,
            types=tuple(sorted({run.task_type for run in runs})),
            runs=tuple(sorted(runs, key=lambda run: (run.begins, run.key))),
            waiting=tuple(self._waiting(shop, tasks, now)),
            quiet=tuple(self._quiet(shop, begins, ends)),
            complete=sum(task.updated_at >= begins for task in tasks) < MOST,
            before=_ended(tasks, earlier, begins, now) if earlier < begins and len(tasks) < MOST else None,
        )

    def _as_before(self, shop: str, runs: Sequence[DayAttempt]) -> list[DayAttempt]:
        """The same objects for what is as it was at the last look: of thousands whoever shows them places the new."""
        of, known = self._last  # once: another thread may put its own there
        before = known if of == shop else {}
        found = [was if (was := before.get(run.key)) is not None and was == run else run for run in runs]
        self._last = shop, {run.key: run for run in found}
        return found

    def of(self, story: WorkStory, payload: Mapping[str, Any] | None = None) -> ShopDay:
        """The day that a story tells, by who asked: its runs, what waits, what schedules bring and what did not come.

        ``payload``: only schedules of these parameters are meant.
        """
        now, begins, ends = self._store.now_ms(), story.begins, story.ends
        tasks = {task.task_id: task for task in (*story.runs, *story.active)}
        runs = [_of_work(run, task) for task in tasks.values() for run in _runs(task, begins, ends, now)]
        runs += [one for task in story.active if (one := _waits(task, begins, ends)) is not None]
        complete = story.known
        for row in self._fitting(story, payload):
            past = row.planned.past
            not_come = self._not_come(row, story.shop, tasks.values(), begins, min(ends, now - schedules.GRACE_MS))
            runs += not_come
            runs += _to_come(row, max(begins, now), ends)
            if len(past) >= schedules.KEPT_RUNS and past[0].at > begins:
                complete = False  # what became of the first ones of the day is not kept
            if any(run.state == UNKNOWN for run in not_come):
                complete = False
        return ShopDay(
            shop=story.shop,
            begins=begins,
            ends=ends,
            now=now,
            types=ASKERS,
            runs=tuple(sorted(runs, key=lambda run: (run.begins, run.key))),
            quiet=tuple(self._quiet(story.shop, begins, ends, story.task_type)),
            complete=complete,
        )

    def _fitting(self, story: WorkStory, payload: Mapping[str, Any] | None) -> Iterator[ScheduleRow]:
        known = self._registry.shops().get(story.shop)
        for row in self._schedules.rows(1) if known is not None else ():
            if row.schedule.task_type != story.task_type or known is None:
                continue
            if payload is not None and dict(row.schedule.payload) != dict(payload):
                continue
            if schedules.fitting(row.schedule, [known]):
                yield row

    def _not_come(self, row: ScheduleRow, shop: str, tasks: Iterable[Task], begins: int, ends: int) -> list[DayAttempt]:
        """Runs of a schedule that were due and made nothing for a shop, or nobody knows whether they did."""
        found = {past.at: state for past in row.planned.past if begins <= past.at < ends and (state := _fate(past))}
        firing = row.planned.firing
        if firing is not None and begins <= firing.at < ends:
            found[firing.at] = UNKNOWN  # it has not come to all of its shops yet
        for at in self._made(row, shop, tasks, [at for at, state in found.items() if state == UNKNOWN]):
            del found[at]
        known = {past.at for past in row.planned.past} | {firing.at if firing is not None else 0}
        late = (at for at in _late(row, begins, ends) if at not in known)
        runs = [_undone(row, at, state) for at, state in found.items()]
        runs += [_undone(row, at, MISSED) for at in islice(late, LATE_DAY)]
        if more := sum(1 for _at in late):
            runs[-1] = replace(runs[-1], count=1 + more)
        return runs

    def _made(self, row: ScheduleRow, shop: str, tasks: Iterable[Task], instants: Sequence[int]) -> list[int]:
        """Those of some runs that made a task for a shop."""
        known = self._registry.shops().get(shop)
        if not instants or known is None:
            return []
        labels = {task.batch for task in tasks}
        runs = [Run(at=at, base=at) for at in instants]
        there = self._store.get([schedules.task_id(row.schedule, run, known) for run in runs])
        return [
            run.at
            for run, task in zip(runs, there, strict=True)
            if task is not None or schedules.label(row.schedule, run, row.zone) in labels
        ]

    def _tasks(self, shop: str, begins: int) -> Iterator[Task]:
        """What changed since then, and what is due later whenever it was written down."""
        terms = (equals("shop", shop),)
        seen: set[str] = set()
        for task in self._each(terms):
            if task.updated_at < begins:
                break
            seen.add(task.task_id)
            yield task
        for status in (Status.RUNNING, Status.SCHEDULED, Status.RETRYING):
            yield from (task for task in self._each((*terms, equals("status", status))) if task.task_id not in seen)

    def _each(self, terms: tuple[Term, ...]) -> Iterator[Task]:
        return each(self._store.query, Query(terms=terms, sort="updated", limit=PAGE, want_total=False), MOST)

    def _waiting(self, shop: str, tasks: Sequence[Task], now: int) -> Iterator[DayAttempt]:
        """``tasks``: of the shop, with all that are due at a time: what is past that waits as well."""
        terms = (equals("shop", shop), equals("status", *IN_WAIT))
        page = self._store.query(Query(terms=terms, descending=False, limit=MOST_WAITING, want_total=False))
        late = [one for one in tasks if one.status in (Status.SCHEDULED, Status.RETRYING) and one.due_at < now]
        found = sorted((*late, *page.tasks), key=lambda one: one.waits_since)[:MOST_WAITING]
        gates = self._gates.of(found)
        for task in found:
            yield DayAttempt(
                task_type=task.task_type, state=WAITS, begins=task.waits_since, ends=task.waits_since,
                task_id=task.task_id, attempt=task.attempt + 1, gate=gates.get(task.task_id, ""),
            )  # fmt: skip

    def _coming(self, shop: str, now: int, ends: int) -> Iterator[DayAttempt]:
        known = self._registry.shops().get(shop)
        for row in self._schedules.rows(COMING) if known is not None else ():
            if known is not None and schedules.fitting(row.schedule, [known]):
                for at in row.upcoming:
                    if now <= at < ends:
                        name = row.schedule.name
                        yield DayAttempt(
                            task_type=row.schedule.task_type, state=PLANNED, begins=at, ends=at, schedule=name
                        )

    def _quiet(self, shop: str, begins: int, ends: int, kind: str = "") -> list[tuple[int, int]]:
        """``kind``: that of the only tasks that are looked at."""
        zone = fleet_zone(self._store) or DEFAULT_ZONE
        scopes = {SCOPE_ALL, f"platform:{shop.partition(':')[0]}", f"shop:{shop}", f"type:{kind}"}
        found: list[tuple[int, int]] = []
        for hours in wished(self._store):
            if hours.scope in scopes:
                since = max(begins, hours.at)  # they held nothing back before somebody set them
                found += [(max(since, one), min(ends, end)) for one, end in quiet_hours.spans(hours, zone, since, ends)]
        return quiet_hours.merged(found)


def ended(runs: Iterable[DayAttempt]) -> tuple[int, int]:
    """How many of these were the end of their task, and how many of those a good one."""
    found = [run.state for run in runs if run.state in (SUCCEEDED, DEAD, HELD)]
    return len(found), found.count(SUCCEEDED)


def _ended(tasks: Iterable[Task], begins: int, ends: int, now: int) -> tuple[int, int]:
    return ended(run for task in tasks for run in _runs(task, begins, ends, now) if run.ends < ends)


def _of_work(run: DayAttempt, task: Task) -> DayAttempt:
    overtaken = run.state == DEAD and task.triage == Triage.OVERTAKEN
    return replace(
        run,
        asked=_ASKED.get(task.origin, PROGRAM),
        state=OVERTAKEN if overtaken else run.state,
        instead=task.successor if overtaken else "",
    )


def _waits(task: Task, begins: int, ends: int) -> DayAttempt | None:
    """A task that has not begun and is not for later, at the instant since when it waits."""
    if task.status not in (Status.PENDING, Status.QUEUED, Status.BLOCKED, Status.HELD) or task.attempts:
        return None
    at = task.waits_since if task.status != Status.HELD else task.updated_at
    if not begins <= at < ends:
        return None
    state = HELD if task.status == Status.HELD else WAITS
    asked = _ASKED.get(task.origin, PROGRAM)
    return DayAttempt(task_type=task.task_type, state=state, begins=at, ends=at, task_id=task.task_id, asked=asked)


def _fate(past: Past) -> str:
    """What a run did for each of its shops, "" for a task: its numbers are those of all shops together."""
    if past.kind == schedules.MISSED_RUN:
        return MISSED
    if past.kind == schedules.SKIPPED:
        return SKIPPED
    if bool(past.created) + bool(past.left_out) + bool(past.failed) > 1:
        return UNKNOWN
    return MISSED if past.failed else SKIPPED if past.left_out else ""


def _late(row: ScheduleRow, begins: int, ends: int) -> Iterator[int]:
    """The times of a schedule that nobody has come to."""
    if not row.upcoming or row.problem:
        return
    rule = schedules.rule(row.schedule, row.zone)
    yield from takewhile(lambda at: at < ends, rule.after(max(begins, row.upcoming[0]) - 1))


def _undone(row: ScheduleRow, at: int, state: str) -> DayAttempt:
    kind, name = row.schedule.task_type, row.schedule.name
    return DayAttempt(task_type=kind, state=state, begins=at, ends=at, schedule=name, asked=SCHEDULE)


def _to_come(row: ScheduleRow, begins: int, ends: int) -> Iterator[DayAttempt]:
    if not row.upcoming or row.problem:
        return
    rule = schedules.rule(row.schedule, row.zone)
    for at in takewhile(lambda at: at < ends, islice(rule.after(max(begins, row.upcoming[0]) - 1), COMING_DAY)):
        kind, name = row.schedule.task_type, row.schedule.name
        yield DayAttempt(task_type=kind, state=PLANNED, begins=at, ends=at, schedule=name, asked=SCHEDULE)


def _runs(task: Task, begins: int, ends: int, now: int) -> Iterator[DayAttempt]:
    last = len(task.attempts) - 1
    for place, one in enumerate(task.attempts):
        if one.outcome not in _NO_RUN and one.ended_at >= begins and one.started_at < ends:
            yield DayAttempt(
                task_type=task.task_type,
                state=_state(task, one, last=place == last),
                begins=one.started_at,
                ends=max(one.started_at, one.ended_at),
                task_id=task.task_id,
                attempt=one.number,
                worker=one.worker,
                error=one.error,
                error_kind=one.error_kind,
            )
    if task.status == Status.RUNNING and 0 < task.started_at < ends:
        yield DayAttempt(
            task_type=task.task_type, state=RUNNING, begins=task.started_at, ends=now, task_id=task.task_id,
            attempt=task.attempt, worker=task.worker,
        )  # fmt: skip
    elif task.status in (Status.SCHEDULED, Status.RETRYING) and now <= task.due_at < ends:
        yield DayAttempt(
            task_type=task.task_type, state=PLANNED, begins=task.due_at, ends=task.due_at, task_id=task.task_id,
            attempt=task.attempt + 1,
        )  # fmt: skip


def _state(task: Task, one: Attempt, *, last: bool) -> str:
    if one.outcome == "succeeded":
        return SUCCEEDED
    if one.outcome in _STOPPED:
        return CANCELLED
    if last and task.status in (Status.DEAD, Status.HELD):
        return DEAD if task.status == Status.DEAD else HELD
    return RETRIED
