"""One run of a schedule: a task for each of its shops, under ids that whoever makes them makes the same."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import msgspec

from services.domain.fleet.shop import Shop
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Run, Schedule, Tally
from services.domain.task import ledger, own_words
from services.domain.text import refusals
from services.domain.text.said import said
from services.engine.producer import Producer, TaskSpec
from services.engine.registry import Registry
from services.engine.zone import DEFAULT_ZONE as DEFAULT_ZONE
from services.engine.zone import fleet_zone as fleet_zone
from services.engine.zone import set_fleet_zone as set_fleet_zone
from services.ports import Store

log = logging.getLogger(__name__)
CHUNK = 200
NO_SHOP = own_words.write("own.no_shop")


class Firing:
    """Creates the tasks of a run; asked again, it creates only those that are missing."""

    def __init__(self, store: Store, producer: Producer, registry: Registry) -> None:
        self._store, self._producer, self._registry = store, producer, registry

    def shops(self, schedule: Schedule) -> list[Shop]:
        """Whom a run would be for now."""
        return schedules.choose(schedule, self._registry.shops().values())

    def make_up(self, schedule: Schedule, run: Run, shops: Sequence[Shop], zone: str, *, by: str) -> Tally:
        """Create the tasks of a run of long ago for some of its shops, at once, each behind one that is active.

        Raises:
            StoreUnavailable: some may be created; ask for the same again.
        """
        tally = Tally(at=run.at, base=run.base, by=by, label=schedules.label(schedule, run, zone))
        late = msgspec.structs.replace(schedule, overlap="queue")
        specs = [_spec(late, run, shop, tally.label, by, 0) for shop in shops]
        for start in range(0, len(specs), CHUNK):
            tally = self._submit(specs[start : start + CHUNK], tally)
        return tally

    def foresee(self, schedule: Schedule, run: Run, zone: str, *, by: str) -> Tally:
        """What ``fire`` would make of it now; nothing is created.

        Raises:
            StoreUnavailable: it cannot be asked.
        """
        shops = self.shops(schedule)
        tally = Tally(at=run.at, base=run.base, by=by, label=schedules.label(schedule, run, zone))
        if not shops:
            return msgspec.structs.replace(tally, error=NO_SHOP)
        found = self._producer.check(_specs(schedule, run, shops, tally.label, by))
        asks = {id(one.spec): one for one in found.before if one.asks}
        active = {id(one.spec) for one in found.twins if one.spec.if_duplicate == "reject"}
        unread = [one.spec for key, one in asks.items() if key not in active and ledger.unread(one.done)]
        failed = len(found.errors) + len(unread)
        done = len(asks.keys() - active) - len(unread)
        why = [error for _spec, _field, error in found.errors[:1]]
        why += [said(refusals.UNSURE, work=self._producer.prepare(spec).work) for spec in unread[:1]]
        return msgspec.structs.replace(
            tally,
            created=len(shops) - len(active) - done - failed,
            active=len(active),
            done=done,
            failed=failed,
            error=str(why[0]) if why else "",
        )

    def fire(
        self, schedule: Schedule, run: Run, zone: str, *, by: str = "", stopped: Callable[[], bool] = lambda: False
    ) -> Tally | None:
        """Create the tasks; None when ``stopped`` said so before all were there.

        Raises:
            StoreUnavailable: some may be created; fire the same run again.
        """
        shops = self.shops(schedule)
        tally = Tally(at=run.at, base=run.base, by=by, label=schedules.label(schedule, run, zone))
        if not shops:
            return msgspec.structs.replace(tally, error=NO_SHOP)
        specs = _specs(schedule, run, shops, tally.label, by)
        for start in range(0, len(specs), CHUNK):
            if stopped():
                return None
            tally = self._submit(specs[start : start + CHUNK], tally)
        log.info(
            "schedule %s: %d tasks, %d left out, %d done already, %d failed",
            schedule.name,
            tally.created,
            tally.active,
            tally.done,
            tally.failed,
        )
        return tally

    def _submit(self, specs: Sequence[TaskSpec], tally: Tally) -> Tally:
        done = self._producer.submit(specs)
        # one that has its id and other contents was made by this run before somebody edited the schedule
        own = sum(1 for spec, task in done.duplicates if task.task_id == spec.task_id)
        return msgspec.structs.replace(
            tally,
            created=tally.created + len(done.created) + own,
            active=tally.active + len(done.duplicates) - own,
            done=tally.done + len(done.done),
            failed=tally.failed + len(done.errors),
            error=tally.error or (str(done.errors[0][2]) if done.errors else ""),
        )


def _specs(schedule: Schedule, run: Run, shops: Sequence[Shop], label: str, by: str) -> list[TaskSpec]:
    return [
        _spec(schedule, run, shop, label, by, schedules.offset_ms(schedule, place, len(shops)))
        for place, shop in enumerate(shops)
    ]


def _spec(schedule: Schedule, run: Run, shop: Shop, label: str, by: str, offset_ms: int) -> TaskSpec:
    return TaskSpec(
        task_id=schedules.task_id(schedule, run, shop),
        platform=shop.platform,
        shop_id=shop.shop_id,
        task_type=schedule.task_type,
        payload=schedule.payload,
        priority=schedule.priority,
        at_ms=run.base + offset_ms,
        if_duplicate="queue" if schedule.overlap == "queue" else "reject",
        batch=label,
        origin="schedule",
        created_by=by or f"schedule:{schedule.name}",
    )
