"""What was promised of the work of shops is judged by who leads, from what the store knows, on both pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import pytest

from services import messages
from services.domain.change import Claim, CloseSession, Finish
from services.domain.fleet.shop import Pause, Shop
from services.domain.gates.quiet_hours import Once, QuietHours, Weekly
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.domain.promises import promise as promises
from services.domain.promises import standing
from services.domain.promises.promise import BY, STATE
from services.domain.promises.standing import Row, Standing
from services.domain.task.record import Attempt
from services.domain.task.status import Status
from services.engine import quiet
from services.engine.zone import set_fleet_zone
from services.ports import ScheduleEntry
from services.watch.promises.keeper import PromiseKeeper
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet
from tests.integration.promise_rig import MINUTE, Desk


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
    row = desk.row(keeper=desk.judge("other"))  # who leads next knows the pace too
    assert (row.state, row.check, row.code, row.created) == ("at_risk", "created", "promise.silent", False)
    desk.done("s1", 10.2)
    assert desk.stands().state == "kept"  # a moment late is not silent


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


def test_where_each_run_of_a_shop_dies_it_is_not_said_that_none_was_created(desk: Desk) -> None:
    desk.shops("s1", "s2")
    desk.dead("s1", 20, fingerprint="9ac1")
    desk.dead("s1", 10, fingerprint="9ac1")
    desk.promise(ago=61)
    row = desk.row()
    assert (row.state, row.check, row.verb, row.target) == ("broken", "page", "triage", "9ac1")
    assert said(row) == "its last 2 runs failed (page_changed)"
    assert desk.row("s2").code == "promise.unplanned"


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


def test_of_work_by_an_hour_the_first_success_of_a_window_tells_how_long_it_takes(desk: Desk) -> None:
    desk.shops("s1")
    hour = desk.now // (60 * MINUTE) % 24
    zone = "UTC" if 6 <= hour < 18 else "Etc/GMT+12"
    set_fleet_zone(desk.fleet.engine.store, zone)
    minute = (desk.now // MINUTE - (0 if zone == "UTC" else 720)) % 1440
    desk.done("s1", 45)
    desk.promise(kind=BY, window=Weekly(days=tuple(range(7)), start=minute - 30, end=minute + 30))
    assert desk.stands().gaps == ()
    desk.done("s1", 20)
    (gap,) = desk.stands().gaps
    assert 590 <= gap <= 670
    desk.done("s1", 5)
    assert desk.stands().gaps == (gap,), "what comes once more in it is no other way through it"


@pytest.mark.parametrize("held", [False, True])
def test_a_success_that_a_gate_held_back_tells_no_pace(desk: Desk, *, held: bool) -> None:
    store = desk.fleet.engine.store
    desk.shops("s1")
    desk.done("s1", 20)
    desk.promise()
    if held:
        store.set_pause(Pause(scope="shop:pdd:s1", by="ann@desk"))
    assert [row.check for row in desk.stands().rows] == (["gates"] if held else [])
    store.clear_pause("shop:pdd:s1")
    desk.done("s1", 1)
    assert len(desk.stands().gaps) == (0 if held else 1)


def test_what_is_switched_off_is_not_judged_and_what_is_gone_leaves_nothing(desk: Desk) -> None:
    desk.shops("s1")
    desk.promise()
    desk.stands()
    commands = desk.fleet.commands().promises
    assert commands.enable("orders", enabled=False)
    assert desk.keeper.tick() == 0
    assert commands.remove("orders")
    assert desk.fleet.engine.store.documents(STATE) == {}
    desk.fleet.engine.store.put_document(STATE, "orders", standing.DOCUMENT.dump(Standing(name="orders")))
    desk.keeper.tick()
    assert desk.fleet.engine.store.documents(STATE) == {}
    desk.fleet.engine.store.put_document(promises.KIND, "broken", "{}")
    assert desk.keeper.tick() == 0


def test_a_round_that_is_told_to_stop_asks_no_more_and_keeps_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.shops("s1")
    desk.promise()
    desk.promise(name="goods", task_type="goods")
    desk.plan(10)
    engine = desk.fleet.open()
    keeper = PromiseKeeper(engine.store, engine.registry, engine.clock, "second", engine.broker.health)
    asked, successes_of = list[str](), engine.store.successes_of

    def stops(name: str) -> Mapping[str, int]:
        asked.append(name)
        keeper.stop()
        return successes_of(name)

    monkeypatch.setattr(engine.store, "successes_of", stops)
    assert keeper.tick() == 0
    assert len(asked) == 1
    assert engine.store.documents(STATE) == {}


def test_of_many_schedules_only_those_whose_run_comes_first_are_put_in_order(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.shops("s1", "s2")
    desk.done("s1", 30)
    desk.promise(limit_s=6 * 3600)
    for number in range(20):
        at = desk.now + (180 - number) * MINUTE
        made = Schedule(
            name=f"n{number}", uid=str(number), task_type="work", every_s=86400, first_at=at, all_shops=True
        )
        body = schedules.dump(Planned(schedule=made))
        desk.fleet.engine.store.put_schedule(ScheduleEntry(name=made.name, body=body, next_at=at), 0)
    chosen, choose = list[str](), schedules.choose

    def counting(schedule: Schedule, shops: Iterable[Shop]) -> list[Shop]:
        chosen.append(schedule.name)
        return choose(schedule, shops)

    monkeypatch.setattr(schedules, "choose", counting)
    assert desk.stands().name == "orders"
    assert chosen == ["n19"]


def test_the_strip_and_the_breaks_survive_a_change_of_the_leader(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 61)
    desk.promise()
    before = desk.stands()
    old = before.judged_at - before.judged_at % standing.HALF_HOUR_MS - standing.HALF_HOUR_MS
    stored = msgspec.structs.replace(before, strip=((old, "kept"), *before.strip))
    desk.fleet.engine.store.put_document(STATE, "orders", standing.DOCUMENT.dump(stored))
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


def test_what_is_promised_anew_under_a_name_is_at_risk_since_then_only(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 61)
    desk.promise()
    before = desk.stands()
    eventually(lambda: desk.now > before.judged_at)
    desk.promise(version=2, limit_s=1800)
    found = desk.stands()
    assert (found.version, found.state, len(found.breaks), len(found.strip)) == (2, "broken", 1, 1)
    assert found.risk_since == found.judged_at > before.risk_since


def test_who_leads_judges_by_itself(desk: Desk) -> None:
    desk.shops("s1")
    desk.done("s1", 61)
    desk.promise()
    desk.fleet.steward()
    found = eventually(lambda: desk.fleet.engine.store.documents(STATE).get("orders"), 30.0)
    assert standing.DOCUMENT.load(found).broken == 1


def test_in_which_order_promises_are_judged_is_all_the_same(desk: Desk) -> None:
    """Whether a breaker stays open depends on how much fails by chance now, in the work of all promises."""
    desk.shops("s1", "s2")
    for number in range(20):
        desk.done("s2", 1 + number / 4)
        desk.done("s2", 1.1 + number / 4, kind="other", retries=2)
    desk.done("s1", 59)
    for _ in range(5):
        task_id = desk.fleet.create("s1", kind="third")
        desk.fleet.apply(Claim(task_id=task_id, gen=1, attempt=0, owner="o", worker="w", lease_ms=60_000))
        attempt = Attempt(number=1, worker="w", started_at=desk.now, ended_at=desk.now, outcome="failed")
        desk.fleet.apply(Finish(task_id=task_id, owner="o", to="dead", attempt=attempt, error_kind="captcha"))
    assert [one.shop for one in desk.fleet.engine.store.breakers()] == ["pdd:s1"]
    desk.plan(5)
    desk.promise(name="m", task_type="other")
    first, last = desk.promise(name="a"), desk.promise(name="z")
    judged = [desk.stands("a"), desk.stands("z"), *map(desk.judge("second").tried, (first, last))]
    assert [one.high > 0 for found in judged for one in found.rows if one.shop == "pdd:s1"] == [True] * 4


def test_what_helps_is_forecast_beside_what_comes_if_nothing_changes(desk: Desk) -> None:
    desk.shops("s1", "s2")
    desk.promise()
    for name in ("s1", "s2"):
        desk.done(name, 40)
        desk.fleet.create(name)
    desk.fleet.engine.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    found = desk.stands()
    assert counts(found) == (1, 1, 0, 0)
    assert found.course is not None
    assert found.course.stays[-1][0] > 60 * 60, "nobody opens it"
    assert found.course.helped[-1][1] < 40 * 60, "resumed it is through at once"
    assert 0 < found.course.kept_at < found.first_break
    assert (found.course.breaks, found.course.untold) == (0, 0)


def test_what_a_new_worker_would_do_nobody_can_tell(desk: Desk) -> None:
    desk.shops("s1")
    desk.promise()
    desk.done("s1", 40)
    desk.fleet.create("s1")
    desk.beat(executors=(), state="draining")
    found = desk.stands()
    assert found.course is not None
    assert (found.course.untold, found.course.helped) == (1, ())


@pytest.mark.parametrize("paused", [False, True])
def test_with_what_helps_done_quiet_hours_go_on(desk: Desk, paused: bool) -> None:
    desk.shops("s1")
    desk.promise()
    desk.done("s1", 40)
    desk.fleet.create("s1")
    ends = desk.now + 90 * MINUTE
    once = (Once(start=desk.now - MINUTE, end=ends),)
    hours = QuietHours(name="night", scope="platform:pdd", once=once, reason="night", by="ann")
    quiet.put(desk.fleet.engine.store, hours, "UTC")
    if paused:
        desk.fleet.engine.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    else:
        desk.fleet.apply(CloseSession(shop="pdd:s1", kind="login_expired", by="ann@desk"))
    found = desk.stands()
    assert found.course is not None
    assert (found.course.untold, found.course.breaks) == (0, 1)
    assert found.course.helped
    assert found.course.kept_at > ends // 60_000 * 60_000


def test_where_a_worker_is_missing_help_is_no_later_than_what_comes_anyway(desk: Desk) -> None:
    desk.shops("s1")
    desk.promise()
    desk.done("s1", 70)
    began = desk.now - 5 * MINUTE
    running = {"status": Status.RUNNING, "worker": "gone", "started_at": began, "lease_until": began + MINUTE}
    desk.record("s1", began, "work", **running)
    found = desk.stands()
    assert found.rows[0].code == "promise.away"
    assert found.course is not None
    assert found.course.untold == 0
    assert found.course.kept_at > desk.now
