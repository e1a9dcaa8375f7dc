"""Each rule on real servers: its condition is made, one message says so, also when the watcher dies meanwhile, and
one more once the condition is gone. ``no_leader`` and ``silent_worker`` are in ``tests/faults``: real processes die.
"""

from __future__ import annotations

import json
import locale
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from services import assembly, workforce
from services.clock import SystemClock
from services.domain.errors import StoreUnavailable
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.breaker import Rule as BreakerRule
from services.domain.plans import schedule as schedules
from services.domain.plans.schedule import Planned, Schedule
from services.engine.lead import leader
from services.ports import ScheduleEntry
from services.settings.values import AlertSettings
from services.watch import recorder
from services.watch.alerts import look
from services.watch.alerts.rules import DEFAULTS
from services.watch.drift import DriftKeeper
from tests.contract.waiting import eventually
from tests.integration import hook as hooks
from tests.integration.alert_rig import Watch
from tests.integration.fleet_rig import Fleet
from tests.integration.hook import Hook
from tests.integration.promise_rig import Desk
from tests.integration.rabbitmq_rig import set_disk_limit, set_memory_limit
from tests.support.services import RabbitMQ, Redis

ONLY_FLEET = pytest.mark.parametrize(
    "pair", [pytest.param("fleet", marks=[pytest.mark.rabbitmq, pytest.mark.redis])], indirect=True
)

ONLY_EMBEDDED = pytest.mark.parametrize("pair", ["embedded"], indirect=True)


@dataclass
class World:
    fleet: Fleet
    watch: Watch
    hook: Hook


#: beyond what any machine has, or below what any has used
UNREACHED = {set_disk_limit: "1000000GB", set_memory_limit: "0"}
#: makes a condition, yields what the message must say, and ends it
Situation = Callable[[World], Iterator[str]]


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


@pytest.fixture
def world(fleet: Fleet, hook: Hook) -> Iterator[World]:
    watch = Watch(fleet, hook, production=True)
    watch.channel()
    yield World(fleet, watch, hook)
    watch.stop.set()
    watch.keeper.stop()


def goes(world: World, situation: Iterator[str], *, of_shops: bool = False) -> None:
    """The condition begins, the watcher dies, another goes on, the condition ends: two messages in all; what shops
    have keeps their keys.
    """
    said, hook = next(situation), world.hook
    world.watch.raised()
    assert hook.titles[0].startswith("INC-1 ")
    assert said in hook.titles[0]
    assert "Cause: " in hook.told[0]["message"]
    assert "Next step: " in hook.told[0]["message"]
    (one,) = world.watch.now().incidents
    called = map(world.fleet.engine.registry.shop_name, one.incident.shops)
    assert tuple(called) == (one.incident.names if of_shops else ())
    assert bool(one.incident.shops) is of_shops
    world.watch.store.resign("watch", "w1")  # as its lease runs out after a kill
    after = Watch(world.fleet, hook, holder="w2", production=True)
    for _ in range(3):
        after.turn()
    assert not world.watch.keeper.tick()
    assert len(hook.told) == 1, hook.titles
    assert next(situation, None) is None
    after.resolved()
    assert len(hook.told) == 2, hook.titles
    assert hook.titles[1].startswith("INC-1 resolved: ")
    after.keeper.stop()


# -------------------------------------------------------------------------------------------------------- on both pairs
def dead_letters(world: World) -> Iterator[str]:
    world.watch.only("dead_letters", limits={"letters": 3})
    world.fleet.archiver()
    world.fleet.worker()
    ids = [world.fleet.create(f"s{n}", fail="risk_control", max_retries=0) for n in range(3)]
    world.fleet.wait_ended(ids)
    yield ": 3 dead letters, shops: 3"
    world.fleet.commands().dead_letters.set_triage(ids, "archived")


def shop_failing(world: World) -> Iterator[str]:
    world.watch.only("shop_failing")
    commands = world.fleet.commands().breakers
    commands.set_rule(BreakerRule(failures=2, of=3, cooldown_s=600, max_cooldown_s=600))
    world.fleet.worker()
    world.fleet.wait_ended([world.fleet.create(fail="risk_control", max_retries=0, n=n) for n in range(2)])
    yield "1 shop fails too often"
    commands.close("pdd:s1")


def failure_rate(world: World) -> Iterator[str]:
    world.watch.only("failure_rate", limits={"percent": 30, "attempts": 5, "minutes": 0.15})
    worker = world.fleet.worker()
    eventually(lambda: any(one.worker == worker.name for one in world.fleet.engine.store.workers()))
    world.watch.turn()
    world.fleet.wait_ended([world.fleet.create(f"s{n}", fail="risk_control", max_retries=0) for n in range(6)])
    yield "attempts failed (100.0\u202f%)"


def drift(world: World) -> Iterator[str]:
    world.watch.only("drift")
    world.fleet.worker()
    keeper = DriftKeeper(world.fleet.engine.store, world.fleet.engine.clock, "w")

    def runs(rows: int, count: int, first: int) -> int:
        tasks = [world.fleet.create(rows=rows, n=number) for number in range(first, first + count)]
        assert {one.status for one in world.fleet.wait_ended(tasks)} == {"succeeded"}
        return keeper.tick()

    assert runs(40, 16, 0) == 0
    assert runs(0, 5, 20) == 1
    yield "work on PDD: orders per run fell to 0 at "
    assert runs(40, 5, 40) == 0


def captcha(world: World) -> Iterator[str]:
    world.watch.only("needs_login")
    world.fleet.worker()
    waits = world.fleet.create(fail="captcha", fail_first=1)
    world.fleet.wait(waits, "blocked")
    yield "1 shop shows a captcha"
    world.fleet.commands().sessions.open("pdd:s1", note="solved")


def schedule_late(world: World) -> Iterator[str]:
    world.watch.only("schedule_late")
    world.fleet.shop("s1")
    store = world.fleet.engine.store
    at = store.now_ms() - 90_000
    made = Schedule(name="orders", uid="orders", task_type="work", every_s=3600, first_at=at, all_shops=True)
    store.put_schedule(ScheduleEntry(name="orders", body=schedules.dump(Planned(schedule=made)), next_at=at), 0)
    yield "Schedule orders has not fired, "
    workforce.scheduler(world.fleet.engine).tick()


def login(world: World) -> Iterator[str]:
    world.watch.only("needs_login")
    world.fleet.worker()
    world.fleet.wait(world.fleet.create(fail="login_expired", fail_first=1), "blocked")
    yield "1 shop must be logged in again"
    world.fleet.commands().sessions.open("pdd:s1", note="logged in")


def lane_unserved(world: World) -> Iterator[str]:
    world.watch.only("lane_unserved")
    world.fleet.worker(lanes=("high",))
    waits = world.fleet.create()
    yield "No worker takes the lane normal: 1 task waits"
    world.fleet.worker(engine=world.fleet.open())
    world.fleet.wait(waits, "succeeded")


def lane_depth(world: World) -> Iterator[str]:
    world.watch.only("lane_depth", limits={"tasks": 3})
    ids = [world.fleet.create(f"s{n}", n=n) for n in range(5)]
    yield "5 tasks in the lane normal (3 allowed)"
    world.fleet.worker()
    world.fleet.wait_ended(ids)


def oldest_wait(world: World) -> Iterator[str]:
    world.watch.only("oldest_wait", limits={"normal_minutes": 0.001})
    task = world.fleet.create()
    yield "The oldest task of the lane normal has waited for"
    world.fleet.worker()
    world.fleet.wait(task, "succeeded")


def unacked_age(world: World) -> Iterator[str]:
    world.watch.only("unacked_age", limits={"minutes": 0.001})
    world.fleet.worker()
    end = world.fleet.folder / "go"
    task = world.fleet.create(until=str(end))
    yield "1 task held by its worker"
    end.touch()
    world.fleet.wait(task, "succeeded")


def running_long(world: World) -> Iterator[str]:
    world.watch.only("running_long")
    world.fleet.worker()
    world.fleet.wait_ended([world.fleet.create(n=number) for number in range(3)])
    store = world.fleet.engine.store
    slot = SlotState(task_id="t1", task_type="work", shop="pdd:s1", since=store.now_ms() - 600_000)
    holder = WorkerInfo(worker="w9", host="h", pid=1, slots=(slot,))
    store.heartbeat(holder)
    yield "work of pdd:s1 seems to hang: it runs for 10"
    store.heartbeat(msgspec.structs.replace(holder, slots=(SlotState(),)))


def promise_at_risk(world: World) -> Iterator[str]:
    desk = _promised(world, ago=55)
    yield "Promise at risk: orders breaks at "
    _done_by_the_next(desk)


def promise_broken(world: World) -> Iterator[str]:
    desk = _promised(world, ago=61)
    yield "Promise broken: orders, in 1 shop of 1 since "
    _done_by_the_next(desk)


def _promised(world: World, *, ago: float) -> Desk:
    world.watch.only("promise_at_risk", "promise_broken")
    desk = Desk(world.fleet)
    desk.shops("s1")
    desk.done("s1", ago)
    desk.promise()
    desk.stands()
    return desk


def _done_by_the_next(desk: Desk) -> None:
    """Who leads next judges, from what stands in the store."""
    after = desk.judge("second")
    desk.done("s1", 0)
    desk.stands(keeper=after)


BOTH: list[Situation] = [
    dead_letters,
    shop_failing,
    failure_rate,
    drift,
    captcha,
    login,
    schedule_late,
    lane_unserved,
    lane_depth,
    oldest_wait,
    unacked_age,
    running_long,
    promise_at_risk,
    promise_broken,
]
OF_OTHERS = (schedule_late, lane_unserved, lane_depth)
#: rules whose condition needs more than the work of a test: they are tried below, and those of killed processes in
#: ``tests/faults``
BELOW = {"broker_alarm", "publisher_blocked", "redis_forgets", "recorder_gap"}
KILLED = {"no_leader", "silent_worker"}


def test_every_default_rule_is_tried() -> None:
    tried = {"needs_login" if one in (captcha, login) else one.__name__ for one in BOTH}
    assert {one.name for one in DEFAULTS} == tried | BELOW | KILLED


@pytest.mark.parametrize("situation", BOTH, ids=lambda one: one.__name__)
def test_a_rule_tells_once_and_when_it_is_over(world: World, situation: Situation) -> None:
    goes(world, situation(world), of_shops=situation not in OF_OTHERS)


# ----------------------------------------------------------------------------------------------- on RabbitMQ and Redis
@ONLY_FLEET
@pytest.mark.parametrize(
    ("rules", "limit", "said"),
    [
        (("broker_alarm", "publisher_blocked"), set_disk_limit, "The broker is out of disk and takes no new messages"),
        (("publisher_blocked",), set_memory_limit, "The broker takes no messages"),
    ],
    ids=["broker_alarm", "publisher_blocked"],
)
def test_an_alarm_of_the_broker(
    world: World, rabbitmq: RabbitMQ, rules: tuple[str, ...], limit: Callable[..., None], said: str
) -> None:
    def situation() -> Iterator[str]:
        world.watch.only(*rules)
        world.watch.turn()
        limit(rabbitmq, UNREACHED[limit])
        world.fleet.create()
        yield said
        limit(rabbitmq)
        world.fleet.reconciler().republish_outbox()

    try:
        goes(world, situation())
    finally:
        limit(rabbitmq)


@ONLY_FLEET
def test_a_redis_that_may_forget(world: World, redis_server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "FACTS_S", 0.0)

    def situation() -> Iterator[str]:
        world.watch.only("redis_forgets")
        redis_server.command("CONFIG SET appendfsync everysec")
        yield "Redis may forget what it was told"
        redis_server.command("CONFIG SET appendfsync always")

    try:
        goes(world, situation())
    finally:
        redis_server.command("CONFIG SET appendfsync everysec")


@ONLY_FLEET
def test_a_redis_that_keeps_nothing_is_told_wherever_it_is(
    fleet: Fleet, hook: Hook, redis_server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "FACTS_S", 0.0)
    watch = Watch(fleet, hook, production=False)
    watch.channel()
    watch.only("redis_forgets")
    watch.turn()
    assert hook.told == [], "a last second may be lost where nobody said that this is production"
    redis_server.command("CONFIG SET appendonly no")
    try:
        watch.raised()
    finally:
        redis_server.command("CONFIG SET appendonly yes")
    watch.resolved()
    assert len(hook.told) == 2
    watch.keeper.stop()


def test_a_recorder_that_cannot_write(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "EVERY_S", 0.1)
    world.watch.only("recorder_gap", limits={"seconds": 2})
    folder = assembly.recorder_file(world.fleet.engine.settings).parent
    assert world.watch.store.lead(leader.ROLE, "leads", 600_000)
    engine = world.fleet.open()
    records = workforce.watchers(engine, workforce.eyes(engine))[0]

    def situation() -> Iterator[str]:
        folder.write_text("a file stands where its folder belongs")
        records.start()
        yield "The fleet is not recorded"
        folder.unlink()

    try:
        goes(world, situation())
    finally:
        records.stop()


@ONLY_EMBEDDED
@pytest.mark.parametrize("counted", [False, True], ids=["sleep_is_not_counted", "sleep_is_counted"])
@pytest.mark.parametrize("first", ["w1", "w2"])
def test_a_machine_that_slept_or_whose_clock_was_set_ahead_is_no_fleet_that_nobody_led(
    world: World, monkeypatch: pytest.MonkeyPatch, counted: bool, first: str
) -> None:
    """Whoever watches first when it wakes, and whether its monotonic clock counts sleep, as that of Windows does."""
    watch = world.watch
    other = Watch(world.fleet, world.hook, holder="w2")
    watch.only("no_leader", limits={"seconds": 1})
    assert watch.store.lead(leader.ROLE, "leads", leader.TTL_MS)
    world.fleet.create()
    watch.turn()
    assert not other.keeper.tick()
    later = SimpleNamespace(**{**vars(time), "time_ns": lambda: time.time_ns() + 7200 * 10**9})
    monkeypatch.setattr("services.clock.time", later)
    if counted:
        monkeypatch.setattr(SystemClock, "monotonic", staticmethod(lambda: time.monotonic() + 7200))
    woken = watch if first == "w1" else other
    assert not woken.turn().incidents, "the lease has run out, and who had it is about to renew it"
    assert watch.store.lead(leader.ROLE, "leads", leader.TTL_MS)
    assert not woken.turn().incidents
    other.keeper.stop()


def held_from_now(watch: Watch, monkeypatch: pytest.MonkeyPatch, *, minutes: float) -> tuple[WorkerInfo, list[int]]:
    """A worker that has just begun a task, told after ``minutes``; and by how many seconds the wall clock is ahead."""
    passed = [0]
    watch.only("unacked_age", limits={"minutes": minutes})
    slot = SlotState(task_id="t1", task_type="work", shop="pdd:s1", since=watch.store.now_ms())
    holder = WorkerInfo(worker="w9", host="h", pid=1, slots=(slot,))
    watch.store.heartbeat(holder)
    assert not watch.turn().incidents
    later = SimpleNamespace(**{**vars(time), "time_ns": lambda: time.time_ns() + passed[0] * 10**9})
    monkeypatch.setattr("services.clock.time", later)
    return holder, passed


@ONLY_EMBEDDED
def test_what_a_machine_slept_through_was_held_by_no_worker(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, store = world.watch, world.watch.store
    holder, passed = held_from_now(watch, monkeypatch, minutes=0.2)
    for seconds in (7200, 7206):
        passed[0] = seconds
        store.heartbeat(holder)
        assert not watch.turn().incidents
    passed[0] = 7213
    store.heartbeat(holder)
    assert watch.turn().incidents
    assert re.search(r"the oldest for 1\d\s?s$", world.hook.titles[0])


@ONLY_EMBEDDED
@pytest.mark.parametrize("refuses", [False, True], ids=["late", "refuses"])
def test_what_a_worker_held_while_the_store_was_slow_counts(
    world: World, monkeypatch: pytest.MonkeyPatch, refuses: bool
) -> None:
    watch, store = world.watch, world.watch.store
    holder, passed = held_from_now(watch, monkeypatch, minutes=0.5)
    monkeypatch.setattr(SystemClock, "monotonic", staticmethod(lambda: time.monotonic() + passed[0]))
    lead = watch.store.lead

    def slow(role: str, holder_: str, ttl_ms: int) -> bool:
        passed[0] += 31
        if refuses:
            raise StoreUnavailable("database is locked")
        return lead(role, holder_, ttl_ms)

    with monkeypatch.context() as busy:
        busy.setattr(watch.store, "lead", slow)
        with suppress(StoreUnavailable):
            watch.keeper.tick()
    store.heartbeat(holder)
    assert watch.turn().incidents


@ONLY_EMBEDDED
def test_while_the_store_takes_nothing_nobody_is_to_blame_that_nobody_leads(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who led leads on once the disk has room again: a second one would have led no better."""
    watch, passed, lead = world.watch, [0], world.watch.store.lead
    watch.only("no_leader")
    assert lead(leader.ROLE, "leads", leader.TTL_MS)
    world.fleet.create()
    watch.turn()
    later = SimpleNamespace(**{**vars(time), "time_ns": lambda: time.time_ns() + passed[0] * 10**9})
    monkeypatch.setattr("services.clock.time", later)
    monkeypatch.setattr(SystemClock, "monotonic", staticmethod(lambda: time.monotonic() + passed[0]))

    def full(*_asked: object) -> bool:
        raise StoreUnavailable("database or disk is full")

    monkeypatch.setattr(watch.store, "lead", full)
    for seconds in range(5, 95, 5):
        passed[0] = seconds
        with pytest.raises(StoreUnavailable):
            watch.keeper.tick()
    monkeypatch.setattr(watch.store, "lead", lead)
    assert lead(leader.ROLE, "leads", leader.TTL_MS)
    (one,) = watch.turn().incidents
    told = world.hook.told[0]["message"]
    assert one.incident.rule.name == "no_leader"
    assert "Cause: the store did not answer, or took no writes" in told
    assert "Next step: Look at the load and the disk of this computer" in told


@ONLY_EMBEDDED
def test_a_store_that_refuses_who_has_just_begun_to_watch_is_not_why_nobody_led_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = world.watch
    watch.only("no_leader")
    assert watch.store.lead(leader.ROLE, "leads", leader.TTL_MS)
    world.fleet.create()
    watch.turn()
    later = SimpleNamespace(**{**vars(time), "time_ns": lambda: time.time_ns() + 95 * 10**9})
    monkeypatch.setattr("services.clock.time", later)
    monkeypatch.setattr(SystemClock, "monotonic", staticmethod(lambda: time.monotonic() + 95))
    other = Watch(world.fleet, world.hook, holder="w2")

    def full(*_asked: object) -> bool:
        raise StoreUnavailable("database or disk is full")

    with monkeypatch.context() as refusing:
        refusing.setattr(other.store, "lead", full)
        with pytest.raises(StoreUnavailable):
            other.keeper.tick()
    (one,) = other.turn().incidents
    told = world.hook.told[0]["message"]
    assert one.incident.rule.name == "no_leader"
    assert "Cause: leads, which led, is not heard of any more" in told
    other.keeper.stop()


# ------------------------------------------------------------------------------------------------------------- channels
def test_a_channel_that_never_answers_delays_no_task_and_no_other_channel(world: World) -> None:
    fleet, watch, hook = world.fleet, world.watch, world.hook
    watch.only("lane_depth", limits={"tasks": 0})
    watch.channel("hangs", language="zh")
    with hooks.listening() as other:
        watch.secrets["hangs"] = other.url
        other.hangs = threading.Event()
        fleet.create()
        began = time.monotonic()
        while not (hook.told and other.asked):
            watch.keeper.tick()
            watch.keeper.send(watch.stop)
            assert time.monotonic() - began < 30
        fleet.worker()
        done = fleet.wait_ended([fleet.create(f"t{n}") for n in range(20)])
        assert {one.status for one in done} == {"succeeded"}
        assert not other.told, "it still has not answered"
        assert [one.waiting for one in watch.now().channels if one.channel.name == "hangs"] == [1]
        other.hangs.set()
        watch.until(lambda _now: other.told, 60)


def test_an_incident_nobody_answers_escalates_by_itself(world: World) -> None:
    watch, hook = world.watch, world.hook
    watch.only("lane_depth", limits={"tasks": 0}, escalate_s=1)
    watch.channel("boss", group="lead")
    with hooks.listening() as boss:
        watch.secrets["boss"] = boss.url
        world.fleet.create()
        watch.raised()
        watch.until(lambda _now: boss.told)
        assert boss.titles[0].startswith("INC-1 escalated: ")
        assert "Nobody has answered for " in boss.told[0]["message"]
        world.fleet.worker()
        watch.resolved()
        assert [title.split(":")[0] for title in boss.titles] == ["INC-1 escalated", "INC-1 resolved"]
        assert len(hook.told) == 2, hook.titles


# ------------------------------------------------------------------------------------------ what a rule does by itself
SAVES = """
import os, sys
names = " ".join(name for name in os.environ if "FLEET" in name)
open(sys.argv[1], "a").write(sys.stdin.read() + "|" + names)
"""


#: a command that says so as a program of a Chinese Windows writes it
GBK = "import sys; sys.stderr.buffer.write('\\u6ca1\\u6709\\u96c6\\u7fa4'.encode('gbk')); sys.exit(1)"


def commanded(world: World, *words: str, seconds: float = 60.0) -> Watch:
    """A watch on a machine whose settings know a command."""
    settings = AlertSettings(commands={"scale_out": words} if words else {}, command_seconds=seconds)
    changed = world.fleet.open(alerts=settings)
    watch = Watch(world.fleet, world.hook, engine=changed)
    watch.only("lane_depth", limits={"tasks": 0}, action="run:scale_out")
    world.fleet.create()
    watch.raised()
    return watch


def test_a_rule_runs_a_command_of_its_machine_once(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEETDECK_SECRET__OPS", "json://a-secret")
    file = tmp_path / "heard.txt"
    watch = commanded(world, sys.executable, "-c", SAVES, str(file))
    heard, _, variables = eventually(lambda: file.exists() and file.read_text()).partition("|")
    told = json.loads(heard)
    assert (told["incident"], told["rule"], told["title"]) == (
        "INC-1",
        "lane_depth",
        "1 task in the lane normal (0 allowed)",
    )
    assert "SECRET" not in variables
    for _ in range(3):
        (one,) = watch.turn().incidents
    assert file.read_text().count("INC-1") == 1
    entry = next(one for one in world.fleet.engine.store.audit(10) if one.action == "alert.run")
    assert (entry.who, entry.target, entry.outcome) == ("rule lane_depth", ("INC-1",), "done")
    assert one.incident.lines[-1].message.params == {"rule": "lane_depth", "action": "run scale_out"}
    watch.keeper.stop()


def test_a_command_that_leaves_something_running_has_ended(world: World, tmp_path: Path) -> None:
    """To start more workers is what it is for, and those write to the same stderr as long as they live."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    watch = commanded(world, "sh", "-c", f"cat {gate} & exit 0", seconds=2.0)

    def outcomes() -> list[str]:
        return [one.outcome for one in world.fleet.engine.store.audit(10) if one.action == "alert.run" and one.outcome]

    try:
        assert eventually(outcomes) == ["done"]
    finally:
        os.close(os.open(gate, os.O_RDWR))  # lets what it left end
        watch.keeper.stop()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "know no command scale_out"),
        ((sys.executable, "-c", "import sys; sys.exit('no cluster')"), "ended with 1: no cluster"),
        ((sys.executable, "-c", GBK), "没有集群"),
        (("/there/is/none",), "No such file or directory"),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "was ended after"),
    ],
    ids=["unknown", "fails", "code page", "missing", "slow"],
)
def test_a_command_that_fails_is_told_and_holds_up_no_alert(
    world: World, words: tuple[str, ...], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locale, "getencoding", lambda: "gbk")
    watch = commanded(world, *words, seconds=1.0)
    (one,) = watch.until(
        lambda now: now.incidents[0].incident.lines[-1].message.code == "alert.line_action_failed"
    ).incidents
    assert why in str(one.incident.lines[-1].message.params["why"])
    assert len(world.hook.told) == 1
    failed = [one.outcome for one in world.fleet.engine.store.audit(10) if one.action == "alert.run"]
    assert len(failed) == (1 if words else 0)
    assert all(one.startswith("failed: ") for one in failed)
    watch.keeper.stop()
