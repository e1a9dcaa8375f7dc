"""What an operator may do to schedules: add, change, switch, skip, run by hand, remove."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.domain.errors import NotFound, StoreError, UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans import recurrence
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Past, Planned, Run, Schedule, Tally
from services.domain.promises.promise import Promise
from services.domain.task import ids
from services.domain.text.said import Said, said
from services.domain.types import task_type
from services.engine import recipe
from services.engine.lead.backfill import Backfill
from services.engine.lead.firing import Firing, fleet_zone, set_fleet_zone
from services.engine.registry import Registry
from services.engine.zone import need_readable_zone, settle_zone, zone_here
from services.ports import ScheduleEntry, Store

C = TypeVar("C", Schedule, Promise)
#: a name is taken for a misspelt one where it is so like a known one (0-1)
MISSPELT = 0.75


class Checker:
    """A schedule runs unattended for months, so that a misspelt name is refused and not guessed."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

    def named(self, schedule: C) -> C:
        """The same with every shop as ``platform:shop_id``.

        Raises:
            UsageError: a shop is not known, or a bare id is on several platforms.
        """
        known = self._registry.shops()
        return msgspec.structs.replace(schedule, shops=tuple(dict.fromkeys(_key(one, known) for one in schedule.shops)))

    def check(self, schedule: Schedule) -> None:
        """Look everything else up.

        Raises:
            UsageError: ``field`` names what to change.
        """
        self._check_selection(schedule)
        name = schedule.task_type
        self._check_type(name)
        recipe.payload_text(schedule.payload)
        problems = task_type.validate_payload(self._registry.task_type(name), schedule.payload)
        if problems:
            where = problems[0].path or "payload"
            raise UsageError(said("payload.bad", field=where, problem=problems[0].message), field=where)

    def check_words(self, one: Schedule | Promise) -> None:
        """Look up platforms, groups and the type.

        Raises:
            UsageError: nobody has defined one of them; the sentence says what was probably meant.
        """
        self._check_selection(one)
        types = self._types()
        if one.task_type not in types:
            raise UsageError(_unknown("type.unknown", one.task_type, types, 70), field="type")

    def is_known(self, name: str) -> bool:
        """Whether somebody has defined this type, or a worker has a handler of this name."""
        return name in self._types()

    def _check_selection(self, one: Schedule | Promise) -> None:
        shops = list(self._registry.shops().values())
        _check_known("platform", one.platforms, {shop.platform for shop in shops})
        _check_known("group", one.groups, {shop.group for shop in shops if shop.group})

    def _check_type(self, name: str) -> None:
        """As a task may be of a type that nobody has defined, so may what makes tasks; not of one that is misspelt."""
        if not ids.valid_task_type(name):
            raise UsageError(said("type.name", name=f"{name!r:.60}"), field="type")
        types = self._types()
        if name not in types and (near := difflib.get_close_matches(name, types, n=1, cutoff=MISSPELT)):
            raise UsageError(said("type.unknown_near", name=repr(name)[:70], near=near[0]), field="type")

    def _types(self) -> set[str]:
        return set(self._registry.types()) | {name for info in self._store.workers() for name in info.handlers}


def _key(text: str, known: dict[str, Shop]) -> str:
    if text in known:
        return text
    found = sorted(key for key, shop in known.items() if shop.shop_id == text)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(said("shop.several", name=repr(text), keys=", ".join(found)), field="shop")
    raise UsageError(_unknown("shop.unknown", text, known, 80), field="shop")


def _check_known(field: str, words: Iterable[str], known: set[str]) -> None:
    for word in words:
        if word not in known:
            raise UsageError(_unknown(f"shop.no_{field}", word, known, 70), field=field)


def _unknown(code: str, word: str, known: Iterable[str], most: int) -> Said:
    near = difflib.get_close_matches(word[:130], list(known), n=1, cutoff=0.6)
    name = repr(word)[:most]
    return said(f"{code}_near", name=name, near=near[0]) if near else said(code, name=name)


_TRIES = 5
Change = Callable[[Planned, int], tuple[Planned, int]]  #: (schedule, next run) to what they become


class ScheduleCommands:
    """Audited commands on schedules; a change of what somebody else has just changed is made on top of it."""

    def __init__(
        self,
        store: Store,
        firing: Firing,
        registry: Registry,
        audit: Audit,
        operator: Operator,
        own_zone: Callable[[], str],
    ) -> None:
        """``own_zone``: of this machine; it becomes the fleet's where nobody has set that, "" when it is not known."""
        self._store, self._firing, self._audit, self._operator = store, firing, audit, operator
        self._own_zone, self._checker = own_zone, Checker(store, registry)
        self._backfill = Backfill(store, registry)

    def zone(self) -> str:
        """The fleet's time zone, or what it would become."""
        return zone_here(self._store, self._own_zone)

    def knows_type(self, name: str) -> bool:
        """Whether somebody has defined this type, or a worker has a handler of this name."""
        return self._checker.is_known(name)

    def checked(self, schedule: Schedule) -> Schedule:
        """The schedule with its shops by their full names, changed nowhere.

        Raises:
            UsageError: ``field`` names what to change.
        """
        found = self._checker.named(schedule)
        schedules.check(found, self.zone(), self._store.wall_ms())
        self._checker.check(found)
        return found

    def add(self, schedule: Schedule, *, replace: bool = False) -> Planned:
        """Keep a new schedule; with ``replace`` in the place of one of that name, which goes on under its history.

        Raises:
            UsageError: it is not acceptable, or there is one of that name.
            Unreadable: the time zone of the fleet is.
        """
        self._audit.need(self._operator, "operator", "schedule.add", [schedule.name])
        need_readable_zone(self._store)
        found = self.checked(schedule)
        entry = self._entry(found.name)
        if entry is not None and not replace:
            raise UsageError(said("schedule.there", name=repr(found.name)), field="name")
        now = self._store.wall_ms()
        old = schedules.load(entry.body) if entry is not None else None
        made = _signed(found, old.schedule if old else None, self._operator.who, now)
        detail = {"schedule": msgspec.to_builtins(made)}
        if old is not None:
            detail["before"] = msgspec.to_builtins(old.schedule)
        with self._audit.act("schedule.change" if old else "schedule.add", [made.name], detail):
            settle_zone(self._store, self.zone())
            planned = Planned(schedule=made)
            if old is not None:
                was = schedules.changed(old, self.zone(), made, self.zone(), now)
                planned = Planned(schedule=made, last=old.last, past=old.past, was=was)
            next_at = schedules.planned_at(made, self.zone(), now)
            if not self._store.put_schedule(_kept(planned, next_at), entry.version if entry else 0):
                raise StoreError(said("schedule.changed", name=made.name))
        return planned

    def remove(self, names: Sequence[str]) -> tuple[str, ...]:
        """Strike schedules off; the tasks they have made stay.

        Raises:
            UsageError: there is none of a name; then nothing is removed.
        """
        self._audit.need(self._operator, "operator", "schedule.remove", names)
        found = [self._need(name) for name in dict.fromkeys(names)]
        detail = {"schedules": [msgspec.to_builtins(schedules.load(entry.body).schedule) for entry in found]}
        with self._audit.act("schedule.remove", [entry.name for entry in found], detail):
            for entry in found:
                self._remove(entry)
        return tuple(entry.name for entry in found)

    def switch(self, names: Sequence[str], *, enabled: bool) -> tuple[str, ...]:
        """Enable schedules (the next run is the next one from now), or disable them; returns those that changed.

        Raises:
            UsageError: there is none of a name; then nothing is changed.
        """
        self._audit.need(self._operator, "operator", "schedule.enable" if enabled else "schedule.disable", names)
        zone, now = self.zone(), self._store.wall_ms()
        found = [schedules.load(self._need(name).body).schedule for name in dict.fromkeys(names)]
        changed = [one.name for one in found if one.enabled != enabled]

        def change(planned: Planned, next_at: int) -> tuple[Planned, int]:
            if planned.schedule.enabled == enabled:
                return planned, next_at
            schedule = msgspec.structs.replace(
                planned.schedule, enabled=enabled, updated_by=self._operator.who, updated_at=now
            )
            made = msgspec.structs.replace(planned, schedule=schedule, firing=None)
            return made, schedules.planned_at(schedule, zone, now)

        act = "schedule.enable" if enabled else "schedule.disable"
        return self._change(act, names, change, {"changed": changed})

    def skip(self, names: Sequence[str], *, at: int = 0) -> tuple[str, ...]:
        """Leave the next run out; ``at``: the one that was seen, UTC ms, and no other.

        Raises:
            UsageError: there is none of a name, or one is disabled; or its next run is another than ``at``.
        """
        self._audit.need(self._operator, "operator", "schedule.skip", names)
        zone = self.zone()

        def change(planned: Planned, next_at: int) -> tuple[Planned, int]:
            if not next_at:
                raise UsageError(said("schedule.no_next", name=planned.schedule.name), field="name")
            if at and next_at != at:
                raise UsageError(said("schedule.begun", name=planned.schedule.name), field="name")
            if planned.firing is not None:  # whoever leads next finds the rest of this run by its instant
                text = said("schedule.starting", name=planned.schedule.name)
                raise UsageError(text, field="name")
            skipped = Past(at=next_at, kind=schedules.SKIPPED, by=self._operator.who)
            return schedules.with_past(planned, skipped), schedules.planned_at(planned.schedule, zone, next_at)

        return self._change("schedule.skip", names, change)

    def foresee(self, name: str) -> Tally:
        """What ``run`` would make now: nothing is created.

        Raises:
            UsageError: there is none of this name.
        """
        now, schedule = self._store.now_ms(), schedules.load(self._need(name).body).schedule
        return self._firing.foresee(schedule, Run(at=now, base=now), self.zone(), by=self._operator.who)

    def run(self, name: str) -> Tally:
        """Run a schedule now, also a disabled one; its next run stays as planned.

        Raises:
            UsageError: there is none of this name.
        """
        self._audit.need(self._operator, "operator", "schedule.run", [name])
        schedule = schedules.load(self._need(name).body).schedule
        now = self._store.now_ms()
        with self._audit.act("schedule.run", [name]) as act:
            run = Run(at=now, base=now)
            tally = self._firing.fire(schedule, run, self.zone(), by=self._operator.who) or Tally(at=now)
            act.counted(tally.created, tally.active + tally.failed, tally.error)
            self._write(name, lambda planned, next_at: (_ran(planned, tally), next_at))
        return tally

    def backfill(self, name: str, since: int, until: int, *, each: bool = False) -> Tally:
        """Make up for the runs of a span (UTC ms) that are missing by the ledger; what succeeded is left out.

        Raises:
            UsageError: there is none of this name, or the span is not acceptable.
        """
        self._audit.need(self._operator, "operator", "schedule.backfill", [name])
        planned, zone = schedules.load(self._need(name).body), self.zone()
        schedule, plan = planned.schedule, self._backfill.look(planned, zone, since, until, each=each)
        now, who = self._store.now_ms(), self._operator.who
        clock = schedule.zone or zone
        span = {"since": recurrence.iso(since, clock), "until": recurrence.iso(min(until, now), clock)}
        whole = Tally(at=now, base=now, by=who)
        with self._audit.act("schedule.backfill", [name], {**span, "each": each, "tasks": plan.tasks}) as act:
            made: list[Past] = []
            for gap in plan.gaps:
                if not gap.missing:
                    continue
                tally = self._firing.make_up(schedule, Run(at=gap.at, base=now), gap.missing, zone, by=who)
                made.append(schedules.past_of(tally, schedules.BACKFILL))
                whole = _sum(whole, tally)
            act.counted(whole.created, whole.active + whole.failed, whole.error)
            self._write(name, lambda planned, next_at: (schedules.with_past(planned, *made), next_at))
        return whole

    def set_zone(self, zone: str) -> int:
        """Set the fleet's time zone; schedules without one of their own follow it. Returns how many.

        Raises:
            UsageError: there is no such zone.
        """
        self._audit.need(self._operator, "admin", "fleet.time_zone", [zone])
        recurrence.zone_named(zone)
        now = self._store.wall_ms()
        followers = [entry for entry in self._store.schedules() if not schedules.load(entry.body).schedule.zone]
        before = self.zone()

        def move(planned: Planned, next_at: int) -> tuple[Planned, int]:
            was = schedules.changed(planned, before, planned.schedule, zone, now)
            return msgspec.structs.replace(planned, was=was), _moved(planned, next_at, zone, now)

        with self._audit.act("fleet.time_zone", [zone], {"before": fleet_zone(self._store)}):
            # first the schedules: where it breaks off, asking again still knows by which zone they ran
            for entry in followers:
                self._write(entry.name, move)
            set_fleet_zone(self._store, zone)
        return len(followers)

    def _change(
        self, action: str, names: Sequence[str], change: Change, detail: dict[str, object] | None = None
    ) -> tuple[str, ...]:
        wanted = [self._need(name).name for name in dict.fromkeys(names)]
        with self._audit.act(action, wanted, detail):
            return tuple(name for name in wanted if self._write(name, change))

    def _write(self, name: str, change: Change) -> bool:
        for _ in range(_TRIES):
            entry = self._need(name)
            planned = schedules.load(entry.body)
            made = change(planned, entry.next_at)
            if made == (planned, entry.next_at):
                return False
            if self._store.put_schedule(_kept(*made), entry.version):
                return True
        raise StoreError(said("document.contested", name=name))

    def _remove(self, entry: ScheduleEntry) -> None:
        for _ in range(_TRIES):
            if self._store.remove_schedule(entry.name, entry.version):
                return
            found = self._entry(entry.name)
            if found is None:
                return
            entry = found
        raise StoreError(said("document.contested", name=entry.name))

    def _entry(self, name: str) -> ScheduleEntry | None:
        return next((entry for entry in self._store.schedules() if entry.name == name), None)

    def _need(self, name: str) -> ScheduleEntry:
        found = self._entry(name)
        if found is None:
            raise NotFound(said("schedule.unknown", name=f"{name!r:.80}"), field="name")
        return found


def _kept(planned: Planned, next_at: int) -> ScheduleEntry:
    return ScheduleEntry(name=planned.schedule.name, body=schedules.dump(planned), next_at=next_at)


def _ran(planned: Planned, tally: Tally) -> Planned:
    return schedules.with_past(msgspec.structs.replace(planned, last=tally), schedules.past_of(tally))


def _sum(whole: Tally, part: Tally) -> Tally:
    return msgspec.structs.replace(
        whole,
        created=whole.created + part.created,
        active=whole.active + part.active,
        done=whole.done + part.done,
        failed=whole.failed + part.failed,
        error=whole.error or part.error,
    )


def _moved(planned: Planned, next_at: int, zone: str, now: int) -> int:
    """The next run in another zone; one that was begun keeps its instant: by that its rest is found."""
    return next_at if planned.firing is not None else schedules.planned_at(planned.schedule, zone, now)


def _signed(schedule: Schedule, old: Schedule | None, who: str, now: int) -> Schedule:
    """Who made it and when; one that replaces another is the same schedule, and its interval counts on."""
    first_at = schedule.first_at or (now + schedule.every_s * 1000 if schedule.every_s else 0)
    if old is None:
        return msgspec.structs.replace(
            schedule, uid=secrets.token_hex(6), first_at=first_at, created_by=who, created_at=now
        )
    if not schedule.first_at and old.every_s == schedule.every_s:
        first_at = old.first_at
    return msgspec.structs.replace(
        schedule,
        uid=old.uid,
        first_at=first_at,
        created_by=old.created_by,
        created_at=old.created_at,
        updated_by=who,
        updated_at=now,
    )
