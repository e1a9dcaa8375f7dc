"""What was promised of the work of shops is judged by who leads, from what the store knows, on both pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from services import messages
from services.domain.change import Claim, CloseSession, Create, Finish
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.quiet_hours import Once, QuietHours, Weekly
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.domain.promises import promise as promises
from services.domain.promises import standing
from services.domain.promises.promise import BY, STATE, Promise
from services.domain.promises.standing import Row, Standing
from services.domain.task.record import Attempt, Step, Task
from services.domain.task.status import Status
from services.engine import quiet
from services.engine.zone import set_fleet_zone
from services.ports import ScheduleEntry
from services.watch.promises.keeper import PromiseKeeper
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet

MINUTE = 60_000


@dataclass
class Desk:
    """A fleet with a worker that is heard of and does nothing by itself, and a judge whose rounds a test turns."""

    fleet: Fleet
    keeper: PromiseKeeper = field(init=False)

    def __post_init__(self) -> None:
        self.beat()
        self.keeper = self.judge("first")

    def judge(self, name: str) -> PromiseKeeper:
        engine = self.fleet.open()
        return PromiseKeeper(engine.store, engine.registry, engine.clock, name, engine.broker.health)

    def beat(self, **fields: Any) -> None:
        usual = {"slots": (SlotState(), SlotState()), "executors": ("rpa",), "node": "desk"}
        self.fleet.engine.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, **(usual | fields)))

    @property
    def now(self) -> int:
        return self.fleet.engine.store.now_ms()

    def shops(self, *names: str) -> None:
        for name in names:
            self.fleet.shop(name)

    def promise(self, *, ago: int = 600, **fields: Any) -> Promise:
        """One that holds for so many minutes already."""
        words = {"name": "orders", "task_type": "work", "all_shops": True, "version": 1, **fields}
        if words.get("kind") != BY:
            words.setdefault("limit_s", 3600)
        made = Promise(since=self.now - ago * MINUTE, **words)
        self.fleet.engine.store.put_document(promises.KIND, made.name, promises.dump(made))
        return made

    def done(self, shop: str, ago: float, kind: str = "work", **fields: Any) -> None:
        """A success so many minutes ago, as an import brings it."""
        at = self.now - round(ago * MINUTE)
        words = {"status": Status.SUCCEEDED, "started_at": at - 20_000, "ended_at": at, **fields}
        self.record(shop, at, kind, **words)

    def dead(self, shop: str, ago: float, kind: str = "work", **fields: Any) -> None:
        at = self.now - round(ago * MINUTE)
        words = {"status": Status.DEAD, "triage": "open", "started_at": at - 20_000, "ended_at": at, **fields}
        self.record(shop, at, kind, error="the list is gone", error_kind="page_changed", **words)

    def record(self, shop: str, at: int, kind: str, **fields: Any) -> None:
        task = Task(
            task_id=f"{shop}-{at}", shop_id=shop, platform="pdd", task_type=kind, created_at=at - 30_000,
            updated_at=at, uniq=f"{shop}-{at}", steps=(Step(at, "", fields["status"]),), **fields,
        )  # fmt: skip
        self.fleet.apply(Create(task=task, on_duplicate="force"))

    def plan(self, minutes: float, kind: str = "work", name: str = "hourly") -> None:
        """A schedule whose next run is due in so many minutes."""
        at = self.now + round(minutes * MINUTE)
        made = Schedule(name=name, uid=name, task_type=kind, every_s=3600, first_at=at, all_shops=True)
        body = schedules.dump(Planned(schedule=made))
        store = self.fleet.engine.store
        for one in store.schedules():
            store.remove_schedule(one.name, one.version)
        store.put_schedule(ScheduleEntry(name=name, body=body, next_at=at), 0)

    def stands(self, name: str = "orders", keeper: PromiseKeeper | None = None) -> Standing:
        """After one more round."""
        (keeper or self.keeper).tick()
        return standing.load(self.fleet.engine.store.documents(STATE)[name])

    def row(self, shop: str = "s1", **words: Any) -> Row:
        (found,) = [one for one in self.stands(**words).rows if one.shop == f"pdd:{shop}"]
        return found


def said(row: Row) -> str:
    assert row.message is not None
    return messages.english(row.message)


@pytest.fixture
def desk(fleet: Fleet) -> Desk:
    return Desk(fleet)


def counts(found: Standing) -> tuple[int, int, int, int]:
    return found.kept, found.at_risk, found.broken, found.not_due


def test_each_shop_is_kept_at_risk_or_broken_by_its_last_success(desk: Desk) -> None:
    desk.shops("s1", "s2", "s3")
    desk.done("s1", 5)
    desk.done("s2", 59.5)
    desk.done("s3", 61)
    desk.promise()
    found = desk.stands()
    assert counts(found) == (1, 1, 1, 0)
    assert [(one.shop, one.state) for one in found.rows] == [("pdd:s3", "broken"), ("pdd:s2", "at_risk")]
    assert found.rows[0].break_at < desk.now < found.rows[1].break_at
    assert (found.version, found.by, found.total, found.state) == (1, "first", 3, "broken")
    assert abs(found.judged_at - desk.now) < 10_000


def test_a_shop_that_never_ran_is_not_due_before_its_first_limit(desk: Desk) -> None:
    desk.shops("s1")
    desk.promise(ago=10)
    assert counts(desk.stands()) == (0, 0, 0, 1)
    desk.promise(ago=61)
    assert counts(desk.stands()) == (0, 0, 1, 0)


def test_work_that_a_gate_holds_is_at_risk_long_before_it_breaks(desk: Desk) -> None:
    desk.shops("s1", "s2")
    desk.done("s1", 20)
    desk.done("s2", 20)
    desk.promise()
    assert counts(desk.stands()) == (2, 0, 0, 0)
    desk.fleet.engine.store.set_pause(Pause(scope="shop:pdd:s1", by="ann@desk", reason="stock-taking"))
    found = desk.stands()
    assert counts(found) == (1, 1, 0, 0)
    (row,) = found.rows
    assert (row.shop, row.check, row.who, row.verb, row.target) == (
        *("pdd:s1", "gates", "ann@desk"),
        *("resume", "shop:pdd:s1"),
    )
    assert said(row) == "shop:pdd:s1 paused by ann@desk: stock-taking"
    assert (found.first_break, found.first_shops) == (row.break_at, 1)
    assert abs(row.break_at - (desk.now + 40 * MINUTE)) < 10_000
    desk.fleet.create("s1")  # what waits behind the pause is no excuse either
    row = desk.row()
    assert (row.created, row.check, row.code) == (True, "gates", "promise.paused_why")


def test_quiet_hours_are_the_reason_where_they_outlast_the_limit(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 20)
    desk.promise()
    now = desk.now
    for minutes, state in ((20, "kept"), (90, "at_risk")):
        hours = QuietHours(
            name="sale", scope="platform:pdd", once=(Once(start=now - MINUTE, end=now + minutes * MINUTE),),
            reason="sale", by="ann",
        )  # fmt: skip
        quiet.put(desk.fleet.engine.store, hours, "UTC")
        assert desk.stands().state == state
    assert desk.row().code == "promise.quiet"
    assert said(desk.row()).startswith("quiet hours until ")


def test_a_login_and_a_missing_worker_are_named(desk: Desk) -> None:
    desk.shops("s1", "s2")
    desk.done("s1", 20)
    desk.done("s2", 20)
    desk.promise()
    desk.fleet.apply(CloseSession(shop="pdd:s1", kind="login_expired", by="ann@desk", note="new password"))
    row = desk.row("s1")
    assert (row.check, row.verb, row.target, row.role) == ("login", "login_shop", "pdd:s1", "promise.of_login")
    desk.beat(executors=(), state="draining")
    found = desk.stands()
    assert found.at_risk == 2
    assert {one.shop: one.check for one in found.rows} == {"pdd:s1": "login", "pdd:s2": "worker"}
    assert sorted((one.code, one.shops) for one in found.causes) == [("promise.login", 1), ("promise.no_worker", 1)]


def test_a_run_that_was_never_created_is_noticed_within_a_minute(desk: Desk) -> None:
    """Nobody fires here: the leader's scheduler is stuck, or was told nothing."""
    desk.shops("s1")
    desk.done("s1", 10)
    desk.promise()
    desk.plan(minutes=-0.3)
    assert counts(desk.stands()) == (1, 0, 0, 0)  # it may be on its way
    desk.plan(minutes=-0.75, name="late")
    row = desk.row()
    assert (row.check, row.code, row.verb, row.target, row.created) == (
        *("created", "promise.unfired", "open_schedule"),
        *("late", False),
    )
    assert "late did not fire" in said(row)


def test_a_run_that_is_planned_too_late_is_named(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 20)
    desk.promise()
    desk.plan(minutes=10)
    assert counts(desk.stands()) == (1, 0, 0, 0)
    desk.plan(minutes=50, name="late")
    assert (desk.row().check, desk.row().code) == ("created", "promise.planned")


def test_a_producer_that_fell_silent_is_noticed_by_its_usual_pace(desk: Desk) -> None:
    desk.shops("s1")
    desk.promise(limit_s=3 * 3600)
    desk.done("s1", 112)
    desk.stands()
    for ago in (102, 92, 82, 72, 62, 52):
        desk.done("s1", ago)
        found = desk.stands()
    assert found.gaps == (600,) * 6
    assert found.state == "kept"  # it is late, and the limit is still far
    keeper = desk.judge("other")
    desk.promise(limit_s=65 * 60)
    store = desk.fleet.engine.store
    body = standing.dump(msgspec.structs.replace(found, version=1))
    store.put_document(STATE, "orders", body)
    row = desk.row(keeper=keeper)
    assert (row.state, row.check, row.code) == ("at_risk", "created", "promise.silent")


def test_a_page_that_fails_again_and_again_is_the_reason(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 30)
    desk.dead("s1", 20, fingerprint="9ac1")
    desk.dead("s1", 10, fingerprint="9ac1")
    desk.promise()
    desk.fleet.create("s1")
    row = desk.row()
    assert (row.check, row.verb, row.target, row.created) == ("page", "triage", "9ac1", True)
    assert said(row) == "its last 2 runs failed (page_changed)"


def test_work_that_is_to_be_done_by_an_hour(desk: Desk) -> None:
    desk.shops("s1", "s2")
    hour = desk.now // (60 * MINUTE) % 24
    zone = "UTC" if 6 <= hour < 18 else "Etc/GMT+12"  # where the day is neither young nor old
    set_fleet_zone(desk.fleet.engine.store, zone)
    minute = (desk.now // MINUTE - (0 if zone == "UTC" else 720)) % 1440
    days = tuple(range(7))
    desk.done("s1", 5)
    due = Weekly(days=days, start=minute - 10, end=minute - 1)
    desk.promise(kind=BY, window=due)
    found = desk.stands()
    assert counts(found) == (1, 0, 1, 0)
    assert found.rows[0].shop == "pdd:s2"
    assert found.rows[0].break_at == found.ends
    coming = Weekly(days=days, start=minute - 10, end=minute + 30)
    desk.promise(kind=BY, window=coming, version=2)
    assert counts(desk.stands()) == (2, 0, 0, 0)
    desk.fleet.engine.store.set_pause(Pause(scope="type:work", by="ann@desk"))
    found = desk.stands()
    assert counts(found) == (1, 1, 0, 0)
    assert found.breaks[0].until  # that one is over: somebody has promised less


def test_what_is_switched_off_is_not_judged_and_what_is_gone_leaves_nothing(desk: Desk) -> None:
    desk.shops("s1")
    desk.promise()
    desk.stands()
    commands = desk.fleet.commands().promises
    assert commands.enable("orders", enabled=False)
    assert desk.keeper.tick() == 0
    assert commands.remove("orders")
    assert desk.fleet.engine.store.documents(STATE) == {}
    desk.fleet.engine.store.put_document(STATE, "orders", standing.dump(Standing(name="orders")))
    desk.keeper.tick()
    assert desk.fleet.engine.store.documents(STATE) == {}
    desk.fleet.engine.store.put_document(promises.KIND, "broken", "{}")
    assert desk.keeper.tick() == 0


def test_the_strip_and_the_breaks_survive_a_change_of_the_leader(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 61)
    desk.promise()
    before = desk.stands()
    old = before.judged_at - before.judged_at % standing.HALF_HOUR_MS - standing.HALF_HOUR_MS
    stored = msgspec.structs.replace(before, strip=((old, "kept"), *before.strip))
    desk.fleet.engine.store.put_document(STATE, "orders", standing.dump(stored))
    found = desk.stands(keeper=desk.judge("second"))
    assert found.by == "second"
    assert found.strip[0] == (old, "kept")
    assert found.strip[-1][1] == "broken"
    assert [one.at for one in found.breaks] == [one.at for one in before.breaks]
    task_id = desk.fleet.create("s1")
    task = desk.fleet.task(task_id)
    desk.fleet.apply(Claim(task_id=task_id, gen=task.gen, attempt=0, owner="o", worker="w", lease_ms=60_000))
    attempt = Attempt(number=1, worker="w", started_at=desk.now, ended_at=desk.now, outcome="succeeded")
    desk.fleet.apply(Finish(task_id=task_id, owner="o", to="succeeded", attempt=attempt))
    healed = desk.stands(keeper=desk.judge("third"))
    assert healed.state == "kept"
    (one,) = healed.breaks
    assert (one.shops, one.first, one.until > one.at) == (1, "pdd:s1", True)
    assert healed.strip[-1][1] == "broken"  # the worst of its half hour


def test_who_leads_judges_by_itself(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 61)
    desk.promise()
    desk.fleet.steward()
    found = eventually(lambda: desk.fleet.engine.store.documents(STATE).get("orders"), 30.0)
    assert standing.load(found).broken == 1
