"""Every public command, found by reflection, on both pairs: refused to a viewer, told by one entry, none without it.

A method of a command class that stands neither in ``ACTS`` nor in ``READS`` fails here, and so does a class of
``services.commands`` that reaches the store and is neither a command class nor in ``INNER``.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import pkgutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
import redis

import services.commands
from services import assembly, repairs
from services.commands.back.ways import WAYS, Way, take_back, way_of
from services.commands.bulk.republish import Control
from services.commands.operator import person
from services.commands.tasks import RaisedBatch
from services.domain.alerts.channel import Channel
from services.domain.alerts.incident import DOCUMENT as INCIDENTS
from services.domain.alerts.incident import Incident, Words, slot_of
from services.domain.audit import AuditEntry
from services.domain.change import Claim, CloseSession, Finish, SetTriage
from services.domain.errors import NotAllowed, StoreUnavailable, UsageError
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates import quiet_hours
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.gates.quiet_hours import QuietHours
from services.domain.plans import schedule as schedules
from services.domain.plans.handover import HandoverPlan
from services.domain.plans.schedule import Schedule
from services.domain.promises.promise import Promise
from services.domain.task.record import Attempt, Task
from services.domain.task.search.shared_view import SharedView
from services.domain.text.message import Message
from services.engine.producer import TaskSpec
from services.ports import ScheduleEntry
from services.watch.alerts.rules import DEFAULTS
from tests.integration.fleet_rig import Fleet

#: parts of commands that get the store and are reached through them only
INNER = {"Audit", "Book", "Shelf", "Planner", "BulkRun", "Republisher", "Checker"}
CAUSE = "9ac19ac19ac19ac1"


@dataclass
class Stage:
    """A fleet with something of every kind, and whoever acts in it. ``my``: the admin's commands, to prepare with."""

    fleet: Fleet
    my: dict[str, Any]  #: command object by the name of its class
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(100))

    @property
    def store(self) -> Any:
        return self.fleet.engine.store

    def spec(self, **fields: Any) -> TaskSpec:
        number = next(self._numbers)
        base = {"platform": "pdd", "shop_id": f"s{number}", "task_type": "work", "payload": {"n": number}}
        return TaskSpec(**(base | fields))

    def queued(self, **fields: Any) -> str:
        (task,) = self.fleet.submit(self.spec(**fields)).created
        return task.task_id

    def ended(self, to: str, **fields: Any) -> str:
        """A task whose only attempt ended so."""
        task = self.fleet.task(self.queued(**fields))
        claim = Claim(
            task_id=task.task_id, gen=task.gen, attempt=task.attempt, owner="w#1", worker="w", lease_ms=60_000
        )
        answer = self.fleet.apply(claim)
        assert answer.code == "run", answer
        taken = answer.task
        assert taken is not None
        words = {"retrying": "failed", "dead": "failed", "held": "lost"}
        attempt = Attempt(number=taken.attempt, worker="w", started_at=1, ended_at=2, outcome=words.get(to, to))
        why: dict[str, Any] = {"error": "no", "error_kind": "flow", "fingerprint": CAUSE, "delay_ms": 3_600_000}
        done = Finish(task_id=task.task_id, owner="w#1", to=to, attempt=attempt, **why)
        assert self.fleet.apply(done).code == "ok", to
        return task.task_id

    def dead(self) -> str:
        return self.ended("dead")

    def where_one_died(self) -> str:
        """The place of a letter, as a cause is split by it."""
        return f"shop:{self.fleet.task(self.dead()).shop}"

    def split_part(self) -> str:
        """What was split off from a cause."""
        return str(self.my["CauseCommands"].split_off(CAUSE, self.where_one_died()))

    def cancelled(self) -> str:
        task_id = self.queued()
        self.my["TaskCommands"].cancel([task_id])
        return task_id

    def behind_a_pause(self) -> str:
        """A task that waits for a pause of its shop to end."""
        key = self.shop()
        self.my["FleetCommands"].pause(f"shop:{key}")
        return self.queued(shop_id=key.partition(":")[2])

    def let_through(self) -> str:
        """Such a task, and somebody has let it through."""
        task_id = self.behind_a_pause()
        self.my["TaskCommands"].try_anyway(task_id, reason="one look")
        return task_id

    def batch(self, name: str) -> str:
        self.ended("dead", batch=name)
        self.queued(batch=name)
        return name

    def raised(self) -> RaisedBatch:
        batches = self.my["BatchCommands"]
        found = batches.raise_waiting(batches.plan_raise(self.batch("b6"))).raised
        assert found is not None
        return found

    def stopped_run(self) -> str:
        """A bulk run that somebody stopped before its first letter."""
        control = Control()
        control.stop()
        bulk = self.my["BulkRepublish"]
        bulk.run(bulk.plan([self.dead(), self.dead()]), control=control)
        run_id = bulk.runs()[0].entry.run_id
        assert isinstance(run_id, str)
        return run_id

    def shop(self) -> str:
        key = f"d{next(self._numbers)}"
        self.fleet.shop(key)
        self.fleet.engine.registry.forget()
        return f"pdd:{key}"

    def worker(self, **fields: Any) -> str:
        name = f"w{next(self._numbers)}"
        self.store.heartbeat(WorkerInfo(worker=name, host="h", pid=1, **fields))
        return name

    def plan(self) -> str:
        name = f"plan{next(self._numbers)}"
        self.my["ScheduleCommands"].add(schedule(name))
        return name

    def lapsed(self) -> str:
        """One that lacks a run."""
        name, now = self.plan(), self.store.now_ms()
        entry = next(one for one in self.store.schedules() if one.name == name)
        planned = schedules.load(entry.body)
        early = msgspec.structs.replace(planned.schedule, created_at=now - 7_200_000, first_at=now - 30_000)
        body = schedules.dump(msgspec.structs.replace(planned, schedule=early))
        self.store.put_schedule(ScheduleEntry(name=name, body=body, next_at=entry.next_at), entry.version)
        return name

    def token(self) -> str:
        name = f"t{next(self._numbers)}"
        self.my["TokenCommands"].create(name, "viewer")
        return name

    def quiet(self) -> str:
        self.my["QuietCommands"].set(QUIET)
        return QUIET.name

    def incident(self) -> str:
        """An open one."""
        name = f"INC-{next(self._numbers)}"
        words = Words(title=Message("alert.forgets"))
        made = Incident(id=name, key=name, rule=DEFAULTS[0], words=words, raised_at=1)
        self.store.put_document("alert_incident", slot_of(name), INCIDENTS.dump(made))
        return name

    def channel(self) -> str:
        name = f"ops{next(self._numbers)}"
        self.my["AlertCommands"].set_channel(Channel(name=name))
        return name

    def rule(self) -> str:
        """One that somebody changed."""
        found = DEFAULTS[0]
        self.my["AlertCommands"].set_rule(msgspec.structs.replace(found, for_s=found.for_s + next(self._numbers) + 1))
        return found.name

    def handover(self) -> HandoverPlan:
        return HandoverPlan(times=("08:00",), to=(self.channel(),))

    def planned(self) -> HandoverPlan:
        """It is sent at its times, and is to be so no more."""
        plan = self.handover()
        self.my["HandoverCommands"].set(plan)
        return plan

    def view(self) -> str:
        made = self.my["ViewCommands"].share(SharedView(key="", title=f"Views {next(self._numbers)}"))
        return str(made.key)

    def promise(self) -> str:
        self.my["PromiseCommands"].set(PROMISE)
        return PROMISE.name

    def letter(self) -> Task:
        """A record as an import brings it."""
        return self.fleet.engine.producer.prepare(self.spec())


#: none of the tasks here are of it
QUIET = QuietHours(
    name="night", scope="platform:other", weekly=(quiet_hours.weekly("daily 22:00-06:00"),), reason="sale"
)
PROMISE = Promise(name="orders", task_type="work", limit_s=3600, all_shops=True)


def schedule(name: str) -> Schedule:
    return Schedule(name=name, task_type="work", every_s=3600, shops=("pdd:s0",))


NEXT_WEEK = round(time.time() * 1000) + 7 * 86_400_000
Prepare = Callable[[Stage], Callable[[Any], Any]]


def of(name: str, /, *prepare: Callable[[Stage], Any], **words: Any) -> Prepare:
    """A call of a method with prepared values."""

    def ready(stage: Stage) -> Callable[[Any], Any]:
        values = [one(stage) for one in prepare]
        return lambda commands: getattr(commands, name)(*values, **words)

    return ready


def one(make: Callable[[Stage], str]) -> Callable[[Stage], list[str]]:
    return lambda stage: [make(stage)]


def unplanned(stage: Stage) -> Callable[[Any], Any]:
    stage.planned()
    return lambda commands: commands.remove()


def purge_low(stage: Stage) -> Callable[[Any], Any]:
    stage.queued(priority=2)
    plan = stage.my["QueueCommands"].plan_purge("low")
    return lambda commands: commands.purge(plan, typed="rpa_tasks_low")


def exactly(value: Any) -> Callable[[Stage], Any]:
    return lambda stage: value


def edit_shop(stage: Stage) -> Callable[[Any], Any]:
    key = stage.shop()
    opened = next(one for one in stage.store.shops() if one.key == key)
    return lambda fleet: fleet.edit_shop(opened, msgspec.structs.replace(opened, name="Edited"))


def take_back_pause(stage: Stage) -> Callable[[Any], Any]:
    """Two who may have each paused a platform, and whoever acts takes back the own pause."""
    for scope, who in (("platform:etsy", person()), ("platform:wish", "cleo@desk-03")):
        stage.store.set_pause(Pause(scope=scope, by=who))

    def act(fleet: Any) -> None:
        try:
            fleet.take_back_pause("platform:etsy", None)
        except UsageError:
            fleet.take_back_pause("platform:wish", None)

    return act


def put_back(stage: Stage) -> Callable[[Any], Any]:
    """A shop gets the name again that it had before an import."""
    key = stage.shop()
    left = next(one for one in stage.store.shops() if one.key == key)
    return lambda fleet: fleet.put_back_shops([left], {key: msgspec.structs.replace(left, name="Before")})


#: what changes something, by class and method; several calls of one where it has several ways
ACTS: dict[str, Prepare | tuple[Prepare, ...]] = {
    "TaskCommands.create": of("create", lambda stage: [stage.spec()], origin="cli"),
    "TaskCommands.cancel": of("cancel", one(Stage.queued)),
    "TaskCommands.create_again": of("create_again", one(Stage.cancelled)),
    "TaskCommands.run_now": of("run_now", one(Stage.queued)),
    "TaskCommands.try_anyway": of("try_anyway", Stage.behind_a_pause, reason="one look"),
    "TaskCommands.take_back_try": of("take_back_try", Stage.let_through),
    "TaskCommands.prioritize": of("prioritize", one(Stage.queued), exactly("high")),
    "TaskCommands.place": of("place", lambda stage: {stage.queued(): ("low", 5)}),
    "TaskCommands.lower_back": of("lower_back", Stage.raised),
    "TaskCommands.retry_waiting": (
        of("retry_waiting", lambda stage: [stage.ended("held")], reason="looked"),
        of("retry_waiting", lambda stage: [stage.ended("retrying")]),
        of("retry_waiting", one(Stage.dead)),
        of("retry_waiting", lambda stage: [stage.ended("held"), stage.dead()], reason="looked"),
    ),
    "TaskCommands.resolve": of("resolve", lambda stage: [stage.ended("held")], exactly("succeeded"), note="it ran"),
    "DeadLetterCommands.republish": of("republish", one(Stage.dead)),
    "DeadLetterCommands.set_triage": of("set_triage", one(Stage.dead), exactly("archived")),
    "DeadLetterCommands.note": of("note", Stage.dead, exactly("a word")),
    "BulkRepublish.run": (
        of("run", lambda stage: stage.my["BulkRepublish"].plan([stage.dead()])),
        of("run", lambda stage: stage.my["BulkRepublish"].plan([stage.dead(), stage.dead()])),
    ),
    "BulkRepublish.resume": of("resume", Stage.stopped_run),
    "BulkRepublish.abort": of("abort", Stage.stopped_run),
    "CauseCommands.describe": of("describe", exactly(CAUSE), name="a cause", note=""),
    "CauseCommands.ignore": of("ignore", exactly(CAUSE)),
    "CauseCommands.lift": of("lift", exactly(CAUSE)),
    "CauseCommands.know": of("know", exactly(CAUSE), owner="ann"),
    "CauseCommands.forget": of("forget", exactly(CAUSE)),
    "CauseCommands.merge": of("merge", exactly(["ab" * 8]), exactly(CAUSE)),
    "CauseCommands.split": of("split", exactly(CAUSE)),
    "CauseCommands.split_off": of("split_off", exactly(CAUSE), Stage.where_one_died),
    "CauseCommands.join": of("join", Stage.split_part),
    "RecordCommands.import_records": of("import_records", lambda stage: [stage.letter()], exactly({})),
    "RecordCommands.reveal": of("reveal", exactly("fleetdeck export")),
    "FleetCommands.import_shops": of("import_shops", exactly([Shop(platform="temu", shop_id="t1")])),
    "FleetCommands.replace_shops": of("replace_shops", exactly([Shop(platform="temu", shop_id="t2")])),
    "FleetCommands.edit_shop": edit_shop,
    "FleetCommands.put_back_shops": put_back,
    "FleetCommands.dedicate": of("dedicate", Stage.shop),
    "FleetCommands.undedicate": of("undedicate", Stage.shop),
    "FleetCommands.pause": of("pause", exactly("platform:temu")),
    "FleetCommands.resume": of("resume", exactly("platform:temu")),
    "FleetCommands.take_back_pause": take_back_pause,
    "FleetCommands.set_limit": of("set_limit", exactly(Limit(scope="platform:pdd", concurrency=7))),
    "FleetCommands.limit_type": of("limit_type", exactly("once"), concurrency=3, per_minute=0),
    "FleetCommands.import_types": of("import_types", exactly(['{"name": "fresh"}'])),
    "FleetCommands.tell_worker": of("tell_worker", Stage.worker, exactly("drain")),
    "FleetCommands.forget_worker": of("forget_worker", lambda stage: stage.worker(state="stopped")),
    "FleetCommands.set_concurrency": of("set_concurrency", Stage.shop, exactly(5)),
    "HomeCommands.move": of("move", Stage.shop, exactly("attic"), force=True),
    "BreakerCommands.set_rule": of("set_rule", exactly(Rule(failures=4))),
    "BreakerCommands.close": of("close", exactly("pdd:s0")),
    "SessionCommands.open": of("open", exactly("pdd:s0")),
    "SessionCommands.login": of("login", exactly("pdd:s0"), exactly(lambda: True)),
    "SessionCommands.close": of("close", exactly("pdd:s0")),
    "BatchCommands.cancel": of("cancel", lambda stage: stage.my["BatchCommands"].plan_cancel(stage.batch("b1"))),
    "BatchCommands.raise_waiting": of(
        "raise_waiting", lambda stage: stage.my["BatchCommands"].plan_raise(stage.batch("b5"))
    ),
    "BatchCommands.retry": of("retry", lambda stage: stage.my["BatchCommands"].plan_retry(stage.batch("b2"))),
    "QueueCommands.purge": purge_low,
    "QuietCommands.set": of("set", exactly(QUIET)),
    "QuietCommands.remove": of("remove", Stage.quiet),
    "PromiseCommands.set": of("set", exactly(PROMISE)),
    "AlertCommands.answer": of("answer", Stage.incident),
    "AlertCommands.unanswer": of("unanswer", Stage.incident),
    "AlertCommands.mute": of("mute", Stage.incident, exactly(NEXT_WEEK), exactly("known")),
    "AlertCommands.unmute": of("unmute", Stage.incident),
    "AlertCommands.escalate": of("escalate", Stage.incident),
    "AlertCommands.set_rule": of("set_rule", exactly(msgspec.structs.replace(DEFAULTS[0], for_s=7))),
    "AlertCommands.add_rule": of("add_rule", exactly(msgspec.structs.replace(DEFAULTS[0], name="nights"))),
    "AlertCommands.enable_rule": of("enable_rule", exactly(DEFAULTS[0].name), enabled=False),
    "AlertCommands.reset_rule": of("reset_rule", Stage.rule),
    "AlertCommands.set_channel": of("set_channel", exactly(Channel(name="ops"))),
    "AlertCommands.remove_channel": of("remove_channel", Stage.channel),
    "AlertCommands.test_channel": of("test_channel", Stage.channel),
    "HandoverCommands.set": of("set", Stage.handover),
    "HandoverCommands.remove": unplanned,
    "HandoverCommands.send": of("send", lambda stage: [stage.channel()], exactly(60_000)),
    "ViewCommands.share": of("share", exactly(SharedView(key="", title="Mine", filter="status:dead"))),
    "ViewCommands.remove": of("remove", Stage.view),
    "PromiseCommands.enable": of("enable", Stage.promise, enabled=False),
    "PromiseCommands.remove": of("remove", Stage.promise),
    "ScheduleCommands.add": of("add", lambda stage: schedule("fresh")),
    "ScheduleCommands.remove": of("remove", one(Stage.plan)),
    "ScheduleCommands.switch": of("switch", one(Stage.plan), enabled=False),
    "ScheduleCommands.skip": of("skip", one(Stage.plan)),
    "ScheduleCommands.run": of("run", Stage.plan),
    "ScheduleCommands.backfill": of(
        "backfill", Stage.lapsed, lambda stage: stage.store.now_ms() - 60_000, exactly(2**45)
    ),
    "ScheduleCommands.set_zone": of("set_zone", exactly("Asia/Shanghai")),
    "RepairCommands.repair": of("repair"),
    "AuditCommands.accept": of("accept", note="a backup"),
    "RoleCommands.set": of("set", exactly("ben@desk-02"), exactly("operator")),
    "RoleCommands.remove": of("remove", exactly("cleo@desk-03")),
    "RoleCommands.set_default": of("set_default", exactly("viewer")),
    "SettingCommands.change": of(
        "change", exactly({"worker.slots": 6}), lambda stage: stage.my["SettingCommands"].look().mark
    ),
    "TokenCommands.create": of("create", exactly("fresh"), exactly("operator")),
    "TokenCommands.revoke": of("revoke", Stage.token),
}
#: what only looks and is for everybody
READS: dict[str, Prepare] = {
    "TaskCommands.check": of("check", lambda stage: [stage.spec()]),
    "TaskCommands.after": of("after", lambda stage: [stage.spec()]),
    "BulkRepublish.plan": of("plan", one(Stage.dead)),
    "BulkRepublish.runs": of("runs"),
    "BulkRepublish.plan_of": of("plan_of", Stage.stopped_run),
    "BulkRepublish.fates": of("fates", Stage.stopped_run),
    "FleetCommands.plan_types": of("plan_types", exactly(['{"name": "work"}'])),
    "HomeCommands.nodes": of("nodes"),
    "RecordCommands.foresee": of("foresee", lambda stage: [stage.letter()], exactly({})),
    "BreakerCommands.rule": of("rule"),
    "ScheduleCommands.foresee": of("foresee", Stage.plan),
    "ScheduleCommands.zone": of("zone"),
    "ScheduleCommands.knows_type": of("knows_type", exactly("work")),
    "ViewCommands.known": of("known"),
    "PromiseCommands.known": of("known"),
    "PromiseCommands.names": of("names"),
    "PromiseCommands.zone": of("zone"),
    "PromiseCommands.checked": of("checked", exactly(PROMISE)),
    "QuietCommands.known": of("known"),
    "SettingCommands.look": of("look"),
    "SettingCommands.check": of("check", exactly({"worker.slots": 6})),
    "TokenCommands.known": of("known"),
    "AlertCommands.rules": of("rules"),
    "HandoverCommands.plan": of("plan"),
    "AlertCommands.channels": of("channels"),
    "QuietCommands.names": of("names"),
    "QuietCommands.zone": of("zone"),
    "ScheduleCommands.checked": of("checked", lambda stage: schedule("other")),
}
#: what only looks, for those who may act upon it
PLANS: dict[str, Prepare] = {
    "BatchCommands.plan_cancel": of("plan_cancel", lambda stage: stage.batch("b3")),
    "BatchCommands.plan_raise": of("plan_raise", lambda stage: stage.batch("b6")),
    "BatchCommands.plan_retry": of("plan_retry", lambda stage: stage.batch("b4")),
    "QueueCommands.plan_purge": of("plan_purge", exactly("rpa_tasks_low")),
    "RepairCommands.plan": of("plan"),
}
#: what an operator may not do either
ADMINS = {
    "AlertCommands.add_rule",
    "AlertCommands.set_rule",
    "AlertCommands.enable_rule",
    "AlertCommands.reset_rule",
    "AlertCommands.set_channel",
    "AlertCommands.remove_channel",
    "HandoverCommands.set",
    "HandoverCommands.remove",
    "RecordCommands.import_records",
    "FleetCommands.limit_type",
    "FleetCommands.import_types",
    "BreakerCommands.set_rule",
    "ScheduleCommands.set_zone",
    "RepairCommands.repair",
    "AuditCommands.accept",
    "SettingCommands.change",
    "RoleCommands.set",
    "RoleCommands.remove",
    "RoleCommands.set_default",
    "TokenCommands.create",
    "TokenCommands.revoke",
}


#: succeeds here without changing anything that is kept
IDLE = {
    *(
        "AuditCommands.accept",
        "BreakerCommands.close",
        "CauseCommands.lift",
        "CauseCommands.forget",
        "CauseCommands.split",
    ),
    "AlertCommands.test_channel",
    "SettingCommands.change",  # a file of this machine, not the store
    *("FleetCommands.undedicate", "RecordCommands.reveal", "RepairCommands.repair"),
}


# ---------------------------------------------------------------------------------------------------- by reflection
def classes() -> dict[str, type]:
    """Every class that a module of the package defines."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(services.commands.__path__, "services.commands."):
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__ == module.name:
                assert name not in found or name in ("Fault", "Change", "Clock"), f"two classes are called {name}"
                found[name] = kind
    return found


def asks_for(kind: type, word: str) -> bool:
    """Whether it is made with something of this type."""
    if "__init__" not in vars(kind):
        return False
    return any(word in str(one.annotation) for one in inspect.signature(kind).parameters.values())


def command_classes() -> dict[str, type]:
    return {name: kind for name, kind in classes().items() if asks_for(kind, "Operator")}


def methods() -> set[str]:
    """``Class.method`` of all that somebody can call."""
    return {
        f"{name}.{method}"
        for name, kind in command_classes().items()
        for method, _function in inspect.getmembers(kind, callable)
        if not method.startswith("_")
    }


def test_every_class_that_reaches_the_store_is_known() -> None:
    found = classes()
    reaching = {name for name, kind in found.items() if asks_for(kind, "Store") or asks_for(kind, "Repair")}
    assert reaching - command_classes().keys() == INNER
    assert found.keys() >= INNER
    for name, kind in command_classes().items():
        assert asks_for(kind, "Audit"), f"{name} acts without an audit"


def test_every_command_class_is_among_the_commands_of_a_person() -> None:
    fields = {word.split(".")[-1] for word in assembly.Commands.__annotations__.values()} - {"Operator"}
    assert fields | {"RepairCommands"} == command_classes().keys()


def test_every_public_method_is_either_an_act_or_a_look() -> None:
    known = [*ACTS, *READS, *PLANS]
    assert len(known) == len(set(known))
    assert set(known) == methods(), "say in this file what a new command is, and how it is called"
    assert ACTS.keys() >= ADMINS


# ---------------------------------------------------------------------------------------------------- on both pairs
def commands_of(engine: assembly.Engine, name: str = "") -> dict[str, Any]:
    """The commands of a person by the name of their class."""
    made = assembly.commands(engine, name=name)
    found = [getattr(made, field) for field in made.__struct_fields__ if field != "operator"]
    return {type(one).__name__: one for one in [*found, repairs.commands(engine, name=name)]}


@pytest.fixture
def stage(fleet: Fleet) -> Stage:
    """A fleet whose admin is this process's person, with an operator and a viewer."""
    found = Stage(fleet, my=commands_of(fleet.engine))
    for name in ("s0", "s1"):
        fleet.shop(name)
    for who, role in (("ann", "admin"), ("cleo@desk-03", "operator"), ("vera@desk-04", "viewer")):
        fleet.engine.store.put_document("role", who, f'{{"role": "{role}"}}')
    fleet.engine.store.add_document("fleet", "time_zone", '"UTC"')
    fleet.engine.store.append_audit(AuditEntry(entry_id="e1", at=1, who="ann", action="x", digest="made up"))
    fleet.apply(CloseSession(shop="pdd:s1", kind="captcha", by="ann", note=""))
    fleet.apply(SetTriage(task_id=found.dead(), triage="archived", by="ann"))
    return found


def calls(*known: Mapping[str, Prepare | tuple[Prepare, ...]]) -> list[tuple[str, Prepare]]:
    """Every way of every method."""
    return [
        (name, way)
        for ways_of in known
        for name, ways in ways_of.items()
        for way in (ways if isinstance(ways, tuple) else (ways,))
    ]


def told(stage: Stage) -> int:
    """How many entries the audit has."""
    return len(stage.store.audit(10_000))


def contents(stage: Stage) -> dict[str, str]:
    """Everything that is kept, but the audit itself and who was refused when."""
    fleet = stage.fleet
    if fleet.kind == "embedded":
        found: dict[str, str] = {}
        with closing(sqlite3.connect(fleet.settings.database)) as db:
            tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                rows = sorted(map(repr, db.execute(f"SELECT * FROM {table}")))
                if not table.startswith("audit"):
                    found[table] = repr([row for row in rows if "'refused:" not in row])
        return found
    fleet.engine.store.counts()  # marks that nobody waits for are written before anything is read
    with closing(redis.Redis.from_url(fleet.settings.store.url)) as server:
        names = [name for name in server.scan_iter(count=1000) if b"audit" not in name and b"refused:" not in name]
        return {name.decode(): repr(value_of(server, name)) for name in names}


def value_of(server: Any, name: bytes) -> Any:
    """What a key holds; its bytes in the server say nothing, for they change when somebody reads them."""
    kind = server.type(name)
    if kind == b"hash":
        return sorted(server.hgetall(name).items())
    if kind == b"set":
        return sorted(server.smembers(name))
    if kind == b"zset":
        return server.zrange(name, 0, -1, withscores=True)
    if kind == b"list":
        return server.lrange(name, 0, -1)
    return server.xinfo_stream(name)["last-generated-id"] if kind == b"stream" else server.get(name)


def differs(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def refused(stage: Stage, ways: list[tuple[str, Prepare]], by: dict[str, Any]) -> list[str]:
    """What was permitted, or changed something all the same, or was told otherwise than once for each act."""
    wrong: list[str] = []
    for name, way in ways:
        call = way(stage)
        before, entries = contents(stage), told(stage)
        try:
            call(by[name.partition(".")[0]])
            wrong.append(f"{name} was permitted")
        except NotAllowed:
            pass
        wrong += [f"{name} changed {what}" for what in differs(before, contents(stage))]
        more = told(stage) - entries  # none where the same was refused within the hour
        if more > 1 or (more and not stage.store.audit(1)[0].outcome.startswith("refused: ")):
            wrong.append(f"{name} was told {more} times: {stage.store.audit(1)}")
    return wrong


def test_a_viewer_may_do_none_of_it(stage: Stage) -> None:
    vera = commands_of(stage.fleet.engine, "vera@desk-04")
    assert refused(stage, calls(ACTS, PLANS), vera) == []
    rows = [one for one in stage.store.audit(10_000) if one.who == "vera@desk-04"]
    assert len({one.action for one in rows}) == len(rows) >= 35, "each act is told, and once"


def test_nobody_may_do_any_of_it_through_a_read_only_connection(stage: Stage) -> None:
    looking = commands_of(stage.fleet.open(read_only=True))
    wrong = []
    for name, way in calls(ACTS, PLANS):
        call = way(stage)
        before = contents(stage)
        with pytest.raises(NotAllowed, match="read-only"):
            call(looking[name.partition(".")[0]])
        wrong += [f"{name} changed {what}" for what in differs(before, contents(stage))]
    assert wrong == []


def test_an_operator_may_do_all_but_what_is_an_admins(stage: Stage) -> None:
    cleo = commands_of(stage.fleet.engine, "cleo@desk-03")
    for name, way in calls({name: ways for name, ways in ACTS.items() if name in ADMINS}):
        with pytest.raises(NotAllowed, match="needs the role admin"):
            way(stage)(cleo[name.partition(".")[0]])
    for name, way in calls({name: ways for name, ways in ACTS.items() if name not in ADMINS}, PLANS):
        way(stage)(cleo[name.partition(".")[0]])


def test_each_success_is_told_once(stage: Stage) -> None:
    wrong: list[str] = []
    for name, way in calls(ACTS):
        call = way(stage)
        before, entries = contents(stage), told(stage)
        call(stage.my[name.partition(".")[0]])
        (entry, *_) = stage.store.audit(1)
        if told(stage) != entries + 1:
            wrong.append(f"{name} was told {told(stage) - entries} times")
        if not entry.outcome or entry.who != person() or entry.outcome.startswith("failed"):
            wrong.append(f"{name} was told as {entry}")
        if name not in IDLE and not differs(before, contents(stage)):
            wrong.append(f"{name} did nothing here, so nothing is shown by it")
    assert wrong == []


def test_without_its_entry_nothing_is_done(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object, **_words: object) -> None:
        raise StoreUnavailable("nobody answers")

    wrong: list[str] = []
    for name, way in calls(ACTS):
        call = way(stage)
        before, entries = contents(stage), told(stage)
        with monkeypatch.context() as patched:
            patched.setattr(stage.store, "append_audit", silent)
            try:
                call(stage.my[name.partition(".")[0]])
                wrong.append(f"{name} was done without an entry")
            except StoreUnavailable:
                pass
        wrong += [f"{name} changed {what}" for what in differs(before, contents(stage))]
        if told(stage) != entries:
            wrong.append(f"{name} was told")
    assert wrong == []


def test_what_only_looks_changes_nothing_and_is_for_everybody(stage: Stage) -> None:
    wrong: list[str] = []
    people = [("viewer", commands_of(stage.fleet.engine, "vera@desk-04"), calls(READS))]
    people += [("operator", commands_of(stage.fleet.engine, "cleo@desk-03"), calls(READS, PLANS))]
    for role, by, ways in people:
        for name, way in ways:
            call = way(stage)
            before, entries = contents(stage), told(stage)
            call(by[name.partition(".")[0]])
            wrong += [f"{name} of a {role} changed {what}" for what in differs(before, contents(stage))]
            if told(stage) != entries:
                wrong.append(f"{name} of a {role} was told")
    assert wrong == []


def test_what_an_entry_says_can_be_taken_back_is_taken_back_by_the_act_it_names(stage: Stage) -> None:
    made, trail = assembly.commands(stage.fleet.engine), assembly.queries(stage.fleet.engine).audit
    seen: set[str] = set()
    wrong: list[str] = []
    for name, way in calls(ACTS, WITH_SOMETHING_BEFORE):
        call = way(stage)
        call(stage.my[name.partition(".")[0]])
        (entry,) = stage.store.audit(1)
        found = way_of(entry, stage.store.now_ms())
        if isinstance(found, Message):
            continue
        seen.add(entry.action)
        try:
            went = take_back(made, trail, entry)
        except Exception as exc:
            wrong.append(f"{name}: {exc!r}")
            continue
        last = stage.store.audit(1)[0]
        if last.action != found.by or not last.outcome.startswith("done"):
            wrong.append(f"{name} was taken back by {last}, not by {found.by}")
        if (*went.done, *went.pending) != found.objects:
            wrong.append(f"{name} was taken back of {went}, not of {found.objects}")
        with contextlib.suppress(UsageError):
            take_back(made, trail, entry)
            wrong.append(f"{name} was taken back twice")
    assert wrong == []
    assert WAYS.keys() - seen == {"dead.ignored", "schedule.enable"}, "no act of this file makes these"


def changed_plan(stage: Stage) -> Callable[[Any], Any]:
    """A schedule that is changed."""
    name = stage.plan()
    return lambda plans: plans.add(msgspec.structs.replace(schedule(name), every_s=7200), replace=True)


def resumed(stage: Stage) -> Callable[[Any], Any]:
    """A platform that was paused goes on."""
    stage.my["FleetCommands"].pause("platform:ebay", reason="sale")
    return lambda fleet: fleet.resume("platform:ebay")


def logged_in(stage: Stage) -> Callable[[Any], Any]:
    """A shop that waited for its login."""
    key = stage.shop()
    stage.my["SessionCommands"].close(key)
    return lambda sessions: sessions.open(key)


def dedicated(stage: Stage) -> str:
    """A shop with a queue of its own."""
    key = stage.shop()
    stage.my["FleetCommands"].dedicate(key)
    return key


WITH_SOMETHING_BEFORE: dict[str, Prepare] = {
    "ScheduleCommands.add": changed_plan,
    "FleetCommands.resume": resumed,
    "FleetCommands.undedicate": of("undedicate", dedicated),
    "FleetCommands.tell_worker": of("tell_worker", lambda stage: stage.worker(state="draining"), exactly("resume")),
    "SessionCommands.open": logged_in,
}


def test_taking_back_asks_for_the_role_of_whoever_does_it_and_says_what_it_cannot(stage: Stage) -> None:
    trail = assembly.queries(stage.fleet.engine).audit
    stage.my["BreakerCommands"].set_rule(Rule(failures=4))
    (entry,) = stage.store.audit(1)
    found = way_of(entry, stage.store.now_ms())
    assert isinstance(found, Way)
    assert found.role == "admin"
    with pytest.raises(NotAllowed):
        take_back(assembly.commands(stage.fleet.engine, name="cleo@desk-03"), trail, entry)
    stage.my["ScheduleCommands"].add(schedule("fresh"), replace=True)
    hidden = msgspec.structs.replace(schedule("fresh"), payload={"password": "hunter22"})
    stage.my["ScheduleCommands"].add(hidden, replace=True)
    stage.my["ScheduleCommands"].remove(["fresh"])
    (entry,) = stage.store.audit(1)
    refused_ = way_of(entry, stage.store.now_ms())
    assert isinstance(refused_, Message)
    assert refused_.code == "back.secret"
