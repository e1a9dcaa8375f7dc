"""A schedule: which task for which shops, when it repeats, and what has come of it so far."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import takewhile
from typing import Any, Protocol

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans import recurrence
from services.domain.plans.recurrence import Rule
from services.domain.task import ids, lane, ledger
from services.domain.text.said import said, words_of
from services.domain.upkeep.stored import Instant

MISSED = ("once", "skip")
OVERLAP = ("skip", "queue")
MAX_SHOPS = 10_000
#: a run that begins later than this was missed: a leader that dies is replaced within 15 s
GRACE_MS = 60_000
#: no blanks and nothing that a filter, a shell or a label would cut
_NAME = re.compile(r"[^\s\"'`,:;|\\/@*~<>=]{1,64}\Z")


class Choice(Protocol):
    """A choice of shops: by name, by platform and group, or all."""

    @property
    def shops(self) -> tuple[str, ...]: ...
    @property
    def platforms(self) -> tuple[str, ...]: ...
    @property
    def groups(self) -> tuple[str, ...]: ...


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked for. ``cron`` or ``every_s``; one kind of shop selection."""

    name: str
    uid: str = ""  #: tells it from another one that had this name before
    task_type: str
    payload: dict[str, Any] = {}
    priority: str = ""  #: "" the type's
    cron: str = ""
    every_s: int = 0
    first_at: Instant = 0  #: UTC ms of the first run of an interval
    zone: str = ""  #: "" the fleet's
    shops: tuple[str, ...] = ()  #: platform:shop_id
    platforms: tuple[str, ...] = ()  #: with groups: both must fit
    groups: tuple[str, ...] = ()
    all_shops: bool = False
    spread_s: int = 0  #: the shops of one run start evenly over this many seconds
    missed: str = "once"  #: runs that nobody could start in time: once | skip
    overlap: str = "skip"  #: where a shop is not through with the run before: skip | queue
    enabled: bool = True
    note: str = ""
    created_by: str = ""
    created_at: Instant = 0
    updated_by: str = ""
    updated_at: Instant = 0


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run: ``at`` is the instant it is due and named by, ``base`` the one from which the shops are spread."""

    at: Instant
    base: int


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What one run made. ``active``: shops left out because their task of the run before is not through; ``done``:
    those left out because their work has succeeded so lately that it may not be done again without a reason.
    """

    at: Instant = 0
    base: int = 0
    by: str = ""  #: who ran it by hand, "" for the schedule itself
    label: str = ""  #: the batch of its tasks
    created: int = 0
    active: int = 0
    done: int = 0
    failed: int = 0
    error: str = ""  #: why the first of the failed was not created


RAN, HAND, BACKFILL, MISSED_RUN, SKIPPED = "ran", "hand", "backfill", "missed", "skipped"
#: runs that are told of a schedule
KEPT_RUNS = 30


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one planned time. ``kind``: ran | hand | backfill | missed | skipped."""

    at: Instant
    kind: str = RAN
    label: str = ""  #: the batch of its tasks, "" where it made none
    created: int = 0
    left_out: int = 0
    failed: int = 0
    by: str = ""
    began: Instant = 0  #: of what ran at its time, 0 where nobody wrote it down

    @property
    def late_ms(self) -> int:
        """How long after its time it began, as far as that is known."""
        return max(0, self.began - self.at) if self.began else 0


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """When a schedule repeated, and what it made, until that was changed. ``zone``: its own, or the fleet's then."""

    begins: Instant
    until: Instant
    task_type: str
    cron: str = ""
    every_s: int = 0
    first_at: Instant = 0
    zone: str = ""


#: changes of times that are remembered of a schedule, and for how long: what is made up for reaches no further back
KEPT_TIMES, KEPT_TIMES_MS = 50, ledger.KEPT_MS


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule with its progress, as it is kept. ``firing`` is a run that was begun and not ended."""

    schedule: Schedule
    firing: Run | None = None
    last: Tally | None = None
    past: tuple[Past, ...] = ()  #: the last ``KEPT_RUNS``, the oldest first
    was: tuple[Times, ...] = ()  #: the oldest first


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What to do about a schedule that is due: run this (or nothing), and look again at ``next_at`` (0 never)."""

    run: Run | None
    next_at: Instant


_DECODER = msgspec.json.Decoder(Planned)


def load(body: str) -> Planned:
    """Read what ``dump`` wrote; fields of a newer program are passed over.

    Raises:
        UsageError: it is not readable.
    """
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError) as exc:
        raise UsageError(said("schedule.unreadable", error=str(exc)), field="name") from exc


def dump(planned: Planned) -> str:
    """The JSON document of a schedule and its progress."""
    return msgspec.json.encode(planned).decode()


def rule(schedule: Schedule, fleet_zone: str) -> Rule:
    """When it repeats.

    Raises:
        UsageError: cron, zone or every is not acceptable.
    """
    if bool(schedule.cron) == bool(schedule.every_s):
        raise UsageError(said("schedule.one_rule"), field="cron")
    if schedule.cron:
        return recurrence.Cron(schedule.cron, schedule.zone or fleet_zone)
    recurrence.zone_named(schedule.zone or fleet_zone)
    return recurrence.Interval(schedule.every_s, schedule.first_at)


def check(schedule: Schedule, fleet_zone: str, now: int) -> None:
    """Refuse a schedule that could not run.

    Raises:
        UsageError: ``field`` names what to change.
    """
    if not _NAME.match(schedule.name) or not schedule.name.isprintable():
        raise UsageError(said("schedule.name", name=f"{schedule.name!r:.80}"), field="name")
    if not ids.valid_task_type(schedule.task_type):
        raise UsageError(said("type.name", name=f"{schedule.task_type!r:.60}"), field="type")
    _check_choices(schedule)
    _check_shops(schedule)
    repeats = rule(schedule, fleet_zone)
    _check_spread(schedule, repeats, now)


def with_past(planned: Planned, *more: Past) -> Planned:
    """The schedule with what became of other planned times; one that ran later after all is told as that."""
    if not more:
        return planned
    found = {one.at: one for one in (*planned.past, *more)}
    return msgspec.structs.replace(planned, past=tuple(found[at] for at in sorted(found))[-KEPT_RUNS:])


def changed(planned: Planned, before: str, schedule: Schedule, zone: str, now: int) -> tuple[Times, ...]:
    """What ``was`` becomes once ``schedule`` stands in the place of what is planned. ``before``, ``zone``: time zone of
    the fleet, until now and from now on.
    """
    kept = tuple(one for one in planned.was if one.until > now - KEPT_TIMES_MS)
    old, new = _times(planned.schedule, before), _times(schedule, zone)
    if old == new:
        return kept
    begins = planned.was[-1].until + 1 if planned.was else planned.schedule.created_at
    task_type, cron, every_s, first_at, stood = old
    ended = Times(
        begins=begins, until=now, task_type=task_type, cron=cron, every_s=every_s, first_at=first_at, zone=stood
    )
    return (*kept, ended)[-KEPT_TIMES:]


def _times(schedule: Schedule, fleet_zone: str) -> tuple[str, str, int, int, str]:
    zone = (schedule.zone or fleet_zone) if schedule.cron else ""
    return schedule.task_type, schedule.cron, schedule.every_s, schedule.first_at if schedule.every_s else 0, zone


def planned_times(planned: Planned, fleet_zone: str, since: int, until: int) -> Iterator[int]:
    """The planned times from ``since`` to before ``until``, each by the rule that stood then: a run is known by its
    instant, so by another rule it would be taken for one that was never made. What made tasks of another type is left
    out.
    """
    schedule = planned.schedule
    for one in planned.was:
        if one.task_type == schedule.task_type:
            stood = msgspec.structs.replace(
                schedule, cron=one.cron, every_s=one.every_s, first_at=one.first_at, zone=one.zone
            )
            yield from _within(rule(stood, fleet_zone), max(since, one.begins), min(until, one.until + 1))
    begins = planned.was[-1].until + 1 if planned.was else schedule.created_at  # it had no runs before
    yield from _within(rule(schedule, fleet_zone), max(since, begins), until)


def _within(repeats: Rule, since: int, until: int) -> Iterator[int]:
    return takewhile(lambda at: at < until, repeats.after(since - 1)) if since < until else iter(())


def past_of(tally: Tally, kind: str = "") -> Past:
    """A run as part of the past."""
    return Past(
        at=tally.at,
        kind=kind or (HAND if tally.by else RAN),
        label=tally.label if tally.created else "",
        created=tally.created,
        left_out=tally.active + tally.done,
        failed=tally.failed,
        by=tally.by,
        began=0 if tally.by or kind else tally.base,
    )


def missed(schedule: Schedule, fleet_zone: str, due: int, decision: Decision, now: int) -> tuple[Past, ...]:
    """The planned times from ``due`` to now that a decision lets go, the last ones."""
    if decision.run is not None and decision.run.at <= due:
        return ()
    repeats = rule(schedule, fleet_zone)
    end = decision.run.at if decision.run is not None else now + 1
    begin = max(due, end - KEPT_RUNS * recurrence.shortest_gap(repeats, due)) - 1
    return tuple(Past(at=at, kind=MISSED_RUN) for at in takewhile(lambda at: at < end, repeats.after(begin)))


def planned_at(schedule: Schedule, fleet_zone: str, after: int) -> int:
    """The next instant to look at it, 0 while it is disabled or ends."""
    return recurrence.next_after(rule(schedule, fleet_zone), after) if schedule.enabled else 0


def put_right(planned: Planned, fleet_zone: str, next_at: int, now: int) -> int:
    """When to look at one again that is not due: the first of at least two instants that come before ``next_at`` and
    nobody has skipped, for those were left out while a clock was ahead; else ``next_at``.
    """
    after = max([now, *(one.at for one in planned.past if one.kind == SKIPPED)])
    first = planned_at(planned.schedule, fleet_zone, after)
    second = planned_at(planned.schedule, fleet_zone, first) if first else 0
    return first if 0 < second < next_at else next_at


def decide(schedule: Schedule, fleet_zone: str, due: int, now: int) -> Decision:
    """What is due since ``due``: whatever came together runs once, as the latest of its instants.

    Raises:
        UsageError: its rule is not readable any more.
    """
    repeats = rule(schedule, fleet_zone)
    at = recurrence.latest(repeats, due, now)
    following = recurrence.next_after(repeats, max(at, now))
    if not at:
        return Decision(run=None, next_at=following)
    late = now - at > GRACE_MS
    if late and schedule.missed == "skip":
        return Decision(run=None, next_at=following)
    return Decision(run=Run(at=at, base=now if late else at), next_at=following)


def choose(schedule: Schedule, shops: Iterable[Shop]) -> list[Shop]:
    """The shops of a run in the order in which they start: mixed, but the same every time.

    Disabled shops are left out, and those nobody has described are taken only where they are named one by one.
    """
    return sorted(fitting(schedule, shops), key=lambda shop: sha256(f"{schedule.uid}\0{shop.key}".encode()).digest())


def fitting(choice: Choice, shops: Iterable[Shop]) -> list[Shop]:
    """The same shops in no order: where they are only counted, mixing ten thousand of them would cost more."""
    named = frozenset(choice.shops)
    return [shop for shop in shops if shop.enabled and (shop.key in named if named else _fits(choice, shop))]


def offset_ms(schedule: Schedule, place: int, count: int) -> int:
    """How much later than the run the shop at this place starts."""
    return schedule.spread_s * 1000 * place // max(1, count)


def task_id(schedule: Schedule, run: Run, shop: Shop) -> str:
    """The id of the one task of this schedule, run and shop: whoever makes it makes the same one."""
    digest = sha256(f"{schedule.uid}\0{run.at}\0{shop.key}".encode()).hexdigest()
    return ids.task_id(shop.platform, schedule.task_type, shop.shop_id, digest[:16])


def label(schedule: Schedule, run: Run, fleet_zone: str) -> str:
    """The batch of a run's tasks, readable and found by ``batch:``."""
    moment = recurrence.iso(run.at, schedule.zone or fleet_zone)
    return f"{schedule.name}@{moment.replace(':', '').replace('-', '', 2)}"


def _fits(choice: Choice, shop: Shop) -> bool:
    return (
        not shop.unregistered
        and (not choice.platforms or shop.platform in choice.platforms)
        and (not choice.groups or shop.group in choice.groups)
    )


def _check_choices(schedule: Schedule) -> None:
    for name, value, known in (("missed", schedule.missed, MISSED), ("overlap", schedule.overlap, OVERLAP)):
        if value not in known:
            raise UsageError(
                said("schedule.one_of", name=name, known=" or ".join(known), value=f"{value!r:.40}"), field=name
            )
    if schedule.priority:
        try:
            lane.parse_priority(schedule.priority)
        except ValueError as exc:
            raise UsageError(words_of(exc), field="priority") from exc


def _check_shops(schedule: Schedule) -> None:
    wide = bool(schedule.platforms or schedule.groups)
    if sum((bool(schedule.shops), wide, schedule.all_shops)) != 1:
        raise UsageError(said("schedule.one_choice"), field="shop")
    if len(schedule.shops) > MAX_SHOPS:
        raise UsageError(said("schedule.many_shops", most=MAX_SHOPS), field="shop")


def _check_spread(schedule: Schedule, repeats: Rule, now: int) -> None:
    gap = recurrence.shortest_gap(repeats, now) // 1000
    if schedule.spread_s < 0 or (gap and schedule.spread_s >= gap):
        raise UsageError(said("schedule.spread", gap=gap, value=schedule.spread_s), field="spread")
