"""Runs of a schedule that are missing in a span of time, found by the ledger of works, and made up for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

import msgspec
from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Run, Schedule
from services.domain.task import ledger
from services.domain.task.ledger import Ran
from services.domain.task.status import Status
from services.domain.text.said import said
from services.domain.types import task_type
from services.engine import recipe
from services.engine.registry import Registry
from services.ports import Store

#: runs of one backfill, and works that are looked up for it
MOST_RUNS, MOST_WORKS = 400, 50_000
#: how far the run after the last one is looked for
_AHEAD_MS = 366 * ledger.DAY_MS
PART = 1000


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """One planned time (UTC ms) and how its shops stand."""

    at: int
    missing: tuple[Shop, ...] = ()  #: for which a task would be made
    later: int = 0  #: missing too, but a later run did the same work, or makes up for it
    done: int = 0  #: whose work succeeded
    there: int = 0  #: whose task of this run waits, runs, or ended otherwise: it is not made anew
    others: frozenset[str] = frozenset()  #: the last two by name


class BackfillPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a backfill would do, run by run, the oldest first."""

    schedule: Schedule
    gaps: tuple[Gap, ...] = ()

    @property
    def tasks(self) -> int:
        """How many would be made."""
        return sum(len(gap.missing) for gap in self.gaps)

    @property
    def shops(self) -> int:
        """For how many shops."""
        return len({shop.key for gap in self.gaps for shop in gap.missing})

    @property
    def done(self) -> int:
        """How often the work of a shop succeeded."""
        return sum(gap.done for gap in self.gaps)


class Backfill:
    """Looks; what is made of it is the caller's."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

    def look(self, planned: Planned, zone: str, since: int, until: int, *, each: bool = False) -> BackfillPlan:
        """What is missing of the runs from ``since`` to before ``until`` (UTC ms).

        Runs of one schedule ask for the same work: a shop gets one task for all that it lacks, and none where a
        later run has it; or with ``each`` one for each run.

        Raises:
            UsageError: the span is empty, reaches back further than the ledger, or holds too much.
        """
        now = self._store.now_ms()
        if until <= since:
            raise UsageError(said("backfill.empty"), field="until")
        if since < now - ledger.KEPT_MS:
            raise UsageError(said("backfill.old", days=ledger.KEPT_MS // ledger.DAY_MS), field="since")
        schedule = planned.schedule
        runs = list(islice(schedules.planned_times(planned, zone, since, min(until, now + 1)), MOST_RUNS + 1))
        if len(runs) > MOST_RUNS:
            raise UsageError(said("backfill.many", most=MOST_RUNS), field="since")
        shops = schedules.choose(schedule, self._registry.shops().values())
        if len(runs) * len(shops) > MOST_WORKS:
            raise UsageError(said("backfill.much", runs=len(runs), shops=len(shops)), field="since")
        later = schedules.planned_times(planned, zone, runs[-1] + 1, now + _AHEAD_MS) if runs else ()
        gaps = list(self._gaps(schedule, zone, runs, next(iter(later), now + 1), shops))
        return BackfillPlan(schedule=schedule, gaps=tuple(gaps if each else _last_only(gaps)))

    def _gaps(
        self, schedule: Schedule, zone: str, runs: Sequence[int], following: int, shops: Sequence[Shop]
    ) -> Iterator[Gap]:
        known = self._known(schedule, shops)
        days = _days(runs, schedule.zone or zone)
        for at, end in pairwise((*runs, following)):
            run = Run(at=at, base=at)
            states = self._states([schedules.task_id(schedule, run, shop) for shop in shops])
            missing: list[Shop] = []
            others, done = set[str](), 0
            for shop, state in zip(shops, states, strict=True):
                if state == Status.SUCCEEDED or succeeded(known.get(shop.key), at, end, days[at]):
                    done += 1
                elif not state:
                    missing.append(shop)
                    continue
                others.add(shop.key)
            yield Gap(at=at, missing=tuple(missing), done=done, there=len(others) - done, others=frozenset(others))

    def _known(self, schedule: Schedule, shops: Sequence[Shop]) -> dict[str, Ran]:
        kind, payload = self._registry.task_type(schedule.task_type), recipe.payload_text(schedule.payload)
        works = {shop.key: task_type.uniqueness_key(kind, shop.platform, shop.shop_id, payload) for shop in shops}
        named = [(key, work) for key, work in works.items() if work]
        found: dict[str, Ran] = {}
        for start in range(0, len(named), PART):
            part = named[start : start + PART]
            answers = self._store.ran([work for _key, work in part])
            found |= {key: ran for (key, _work), ran in zip(part, answers, strict=True) if ran is not None}
        return found

    def _states(self, ids: Sequence[str]) -> list[str]:
        """How each of these tasks stands, or ended before its record was removed; "" of what was never made. The ledger
        does not tell of all: not of types without uniqueness, nor of a payload that the schedule has no more.
        """
        found: list[str] = []
        for start in range(0, len(ids), PART):
            part = ids[start : start + PART]
            records = dict(zip(part, self._store.get(part), strict=True))
            gone = [name for name, task in records.items() if task is None]
            stones = dict(zip(gone, self._store.tombstones(gone), strict=True)) if gone else {}
            for name, task in records.items():
                stone = stones.get(name)
                found.append(str(task.status) if task is not None else stone.status if stone is not None else "")
        return found


def succeeded(ran: Ran | None, at: int, end: int, runs_of_day: tuple[int, int, int]) -> bool:
    """Whether the ledger knows of a success of a work between a run and the next one. It counts ends by days: where a
    day had several runs, it is told only by an end of which the instant is known, or by as many successes as runs.

    ``runs_of_day``: how many runs the day of this one had, where it begins and where it ends.
    """
    if ran is None:
        return False
    if ran.done is not None and at <= ran.done.at < end:
        return True
    count, begins, ends = runs_of_day
    for day in ran.days:
        if not day.succeeded:
            continue
        if not day.failed and any(at <= instant < end for instant in (day.first_at, day.last_at)):
            return True
        whole = begins <= day.first_at < ends
        if whole and day.succeeded >= count and (count > 1 or day.last_at >= at):
            return True
    return False


def _days(runs: Sequence[int], zone: str) -> dict[int, tuple[int, int, int]]:
    spans = {at: ledger.day_begins(at, zone) for at in runs}
    counts: dict[int, int] = {}
    for begins, _ends in spans.values():
        counts[begins] = counts.get(begins, 0) + 1
    return {at: (counts[begins], begins, ends) for at, (begins, ends) in spans.items()}


def _last_only(gaps: Sequence[Gap]) -> list[Gap]:
    """Each shop in its last gap alone, where no later run has its task or its success."""
    seen: set[str] = set()
    found = []
    for gap in reversed(gaps):
        kept = tuple(shop for shop in gap.missing if shop.key not in seen)
        found.append(replace(gap, missing=kept, later=len(gap.missing) - len(kept)))
        seen |= {shop.key for shop in kept} | gap.others
    return found[::-1]
