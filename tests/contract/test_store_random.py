"""Random operation sequences: whatever the order, the rules hold and the numbers agree."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.clock import ManualClock, SystemClock
from services.domain.change import (
    Cancel,
    CloseSession,
    Create,
    Forget,
    GiveUp,
    Move,
    Nudge,
    OpenSession,
    OpenShop,
    Rehome,
    Republish,
    Resolve,
    SetTriage,
    TellDependants,
)
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import WorkerInfo
from services.domain.gates.dependency import GATE
from services.domain.gates.home import NO_WORKER, in_lot, is_fetched, node_of
from services.domain.task.record import HISTORY_LIMIT, Task
from services.domain.task.search.query import Query
from services.domain.task.status import ACTIVE, TERMINAL, Status
from tests.contract.conftest import open_store
from tests.contract.rig import Rig, ended, recount, same_counts, shown, told
from tests.support.moves import may_become
from tests.support.services import Redis

pytestmark = pytest.mark.race

SHOPS = ("a", "b")
SCOPES = ("all", "shop:pdd:a", "type:t1")
LIMITS = {"a": 1, "b": 2}
ACTS = (
    "create", "create", "create", "confirm", "confirm", "claim", "claim", "claim", "finish", "finish", "finish",
    "cancel", "move", "republish", "triage", "resolve", "nudge", "open", "pause", "resume", "time", "adopt", "expire",
    "give_up", "depend", "depend", "tell", "forget", "forget", "login", "login",
    "rehome",
)  # fmt: skip
Step = tuple[str, int, int]
STEPS = st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 11), st.integers(0, 5)), min_size=1, max_size=60)
ENDS = ("succeeded", "retrying", "dead", "held", "cancelled", "pending")


class Player:
    """Plays steps on a store and remembers which ids exist."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.ids: list[str] = []
        self.messages: list[Task] = []  #: states whose message somebody may still deliver
        self.released: list[str] = []
        self.removed: set[str] = set()

    def play(self, step: Step) -> None:
        act, pick, how = step
        if act in ("create", "adopt", "open", "pause", "resume", "time"):
            getattr(self, f"_{act}")(pick, how)
        elif self.ids:
            getattr(self, f"_{act}")(self.rig.record(self.ids[pick % len(self.ids)]), how)

    def _ask(self, op: Any) -> None:
        answer = self.rig.ask(op)
        self._publish(answer.released)

    def _publish(self, tasks: tuple[Task, ...]) -> None:
        for task in tasks:
            assert task.status == Status.PENDING
            self.messages.append(task)
            self.rig.confirm(task)

    def _fields(self, pick: int, how: int) -> dict[str, Any]:
        return {
            "shop_id": SHOPS[pick % 2],
            "task_type": f"t{pick % 3}",
            "uniq": f"U{pick}" if how < 3 else "",
            "priority": 1 + pick % 10,
            "status": Status.SCHEDULED if how == 5 else Status.PENDING,
            "due_at": self.rig.store.now_ms() + 5000 if how == 5 else 0,
        }

    def _create(self, pick: int, how: int) -> None:
        task = self.rig.task(**self._fields(pick, how))
        answer = self.rig.ask(Create(task=task, on_duplicate=("reject", "queue", "force")[how % 3]))
        if answer.code == "created":
            self.ids.append(task.task_id)
            assert answer.task is not None
            self.messages.append(answer.task)

    def _depend(self, task: Task, how: int) -> None:
        """A task that waits for this one, and with some luck for another."""
        other = self.ids[how % len(self.ids)]
        fresh = self.rig.task(
            **self._fields(len(self.ids), how),
            depends_on=tuple(dict.fromkeys((task.task_id, other))),
            on_dependency_failure=("hold", "cancel")[how % 2],
        )
        answer = self.rig.ask(Create(task=fresh, on_duplicate="queue"))
        assert answer.code == "created"
        assert answer.task is not None
        self._publish(answer.released)
        self.ids.append(fresh.task_id)
        self.messages.append(answer.task)

    def _tell(self, task: Task, how: int) -> None:
        self._ask(TellDependants(task_id=task.task_id))

    def _forget(self, task: Task, how: int) -> None:
        answer = self.rig.ask(Forget(task_id=task.task_id, updated_at=task.updated_at - (how == 5), tomb_ms=600_000))
        if answer.code == "ok":
            assert task.ended
            self.ids.remove(task.task_id)
            self.removed.add(task.task_id)

    def _adopt(self, pick: int, how: int) -> None:
        task = self.rig.task(**(self._fields(pick, 0) | {"status": Status.QUEUED, "due_at": 0}))
        self.rig.claim(task, f"foreign#{len(self.ids)}", adopt=task)
        self.ids.append(task.task_id)

    def _confirm(self, task: Task, how: int) -> None:
        self.rig.confirm(task)

    def _claim(self, task: Task, how: int) -> None:
        message = self.messages[how % len(self.messages)] if how > 2 and self.messages else task
        home = ("", "desk", "hall")[task.priority % 3]
        self.rig.claim(message, f"w{how}#{len(task.steps)}", lease_ms=1000, able=how % 2 == 0, home=home)

    def _rehome(self, task: Task, how: int) -> None:
        self.rig.store.put_home(task.shop, ("desk", "hall")[how % 2])
        self._ask(Rehome(task_id=task.task_id, by="ann"))

    def _finish(self, task: Task, how: int) -> None:
        if task.status == Status.RUNNING:
            self._publish(self.rig.finish(task, ENDS[how], delay_ms=2000).released)

    def _login(self, task: Task, how: int) -> None:
        """Its shop asks for a person, or one has been there."""
        if how > 3:
            self._ask(OpenSession(shop=task.shop, by="ann"))
        elif task.status == Status.RUNNING:
            self._publish(self.rig.finish(task, "blocked", error_kind="captcha").released)
        elif how == 3:
            self._ask(CloseSession(shop=task.shop, kind="login_expired", by="ann"))

    def _expire(self, task: Task, how: int) -> None:
        for gone in self.rig.store.expired(5):
            self._publish(self.rig.finish(gone, ENDS[how], delay_ms=1000, if_expired=True, lost=True).released)

    def _cancel(self, task: Task, how: int) -> None:
        self._ask(Cancel(task_id=task.task_id, by="ann"))

    def _move(self, task: Task, how: int) -> None:
        self._ask(Move(task_id=task.task_id, by="ann", lane="high", priority=8 + how % 3, run_now=how % 2 == 0))

    def _republish(self, task: Task, how: int) -> None:
        fresh = self.rig.task(shop_id=task.shop_id, parent=task.task_id, uniq=task.work)
        if self.rig.ask(Republish(task_id=task.task_id, task=fresh, by="ann")).code == "ok":
            self.ids.append(fresh.task_id)

    def _triage(self, task: Task, how: int) -> None:
        self._ask(SetTriage(task_id=task.task_id, triage=("open", "archived", "ignored")[how % 3], by="ann"))

    def _resolve(self, task: Task, how: int) -> None:
        self._ask(Resolve(task_id=task.task_id, to=("pending", "succeeded", "dead")[how % 3], by="ann"))

    def _nudge(self, task: Task, how: int) -> None:
        self._ask(Nudge(task_id=task.task_id, gen=task.gen, attempt=task.attempt))

    def _give_up(self, task: Task, how: int) -> None:
        if how == 0:
            self._ask(GiveUp(task_id=task.task_id, gen=task.gen, attempt=task.attempt, error="e", error_kind="unknown"))

    def _open(self, pick: int, how: int) -> None:
        self._ask(OpenShop(shop=f"pdd:{SHOPS[pick % 2]}"))

    def _pause(self, pick: int, how: int) -> None:
        self.rig.store.set_pause(Pause(scope=SCOPES[pick % 3], by="ann"))

    def _resume(self, pick: int, how: int) -> None:
        self.rig.store.clear_pause(SCOPES[pick % 3])

    def _time(self, pick: int, how: int) -> None:
        if self.rig.clock is not None:
            self.rig.clock.advance(how * 1.7)


def running_rules(rig: Rig) -> None:
    """After every step: slots and uniqueness."""
    running = rig.store.query(Query(terms=(), limit=1000)).tasks
    now = [task for task in running if task.status == Status.RUNNING]
    for shop, limit in LIMITS.items():
        assert sum(1 for task in now if task.shop_id == shop) <= limit
    kinds = [task.guard for task in now if task.guard]
    assert len(kinds) == len(set(kinds)), "two tasks of one uniqueness run at once"


def record_rules(tasks: list[Task]) -> None:
    """What every record must look like, whatever happened to it."""
    for task in tasks:
        assert (task.gate != "") == (task.status == Status.BLOCKED)
        assert (task.ended_at > 0) == (task.status in TERMINAL)
        assert (task.triage != "") == (task.status == Status.DEAD)
        assert (task.lease_until > 0) == (task.status == Status.RUNNING)
        assert (task.due_at > 0) == (task.status in (Status.SCHEDULED, Status.RETRYING))
        assert task.updated_at == task.steps[-1].at
        assert task.steps[-1].to == task.status
        for before, after in zip(task.steps, task.steps[1:], strict=False):
            assert after.from_ == before.to
            if after.from_ != after.to:
                assert may_become(Status(after.from_), Status(after.to))


def stands_for(rig: Rig, task_id: str) -> str:
    """How the task stands that an id means now."""
    (task,) = rig.store.get([task_id])
    if task is not None:
        return stands_for(rig, task.successor) if task.successor else task.status
    (stone,) = rig.store.tombstones([task_id])
    assert stone is not None
    return stands_for(rig, stone.successor) if stone.successor else stone.status


def dependency_rules(rig: Rig, tasks: list[Task]) -> None:
    """Who waits, waits for something; who waits for nothing does not."""
    assert rig.store.untold(10) == []
    for task in tasks:
        now = [stands_for(rig, name) for name in task.depends_on]
        unmet = sorted(name for name, one in zip(task.depends_on, now, strict=True) if one != Status.SUCCEEDED)
        if task.status == Status.SCHEDULED or task.gate == GATE:
            assert rig.store.needs([task.task_id])[0] == unmet
            assert unmet or task.gate != GATE
            if task.on_dependency_failure == "cancel":
                assert not any(one in (Status.DEAD, Status.CANCELLED) for one in now)
        else:
            assert rig.store.needs([task.task_id])[0] == []
            assert not unmet or task.status in (Status.CANCELLED, Status.DEAD)


@contextmanager
def opened(kind: str, where: Any) -> Iterator[Rig]:
    clock = ManualClock() if kind == "embedded" else None
    store = open_store(kind, where, clock or SystemClock())
    try:
        rig = Rig(store, clock)
        for shop, limit in LIMITS.items():
            rig.shop(shop, concurrency=limit)
        yield rig
    finally:
        store.close()


def play(rig: Rig, steps: list[Step]) -> None:
    start = rig.store.events("", 1, 0).cursor
    player = Player(rig)
    for step in steps:
        player.play(step)
        running_rules(rig)
    tasks = list(rig.store.query(Query(limit=1000)).tasks)
    events = rig.all_events(start)
    assert {task.task_id for task in tasks} == set(player.ids)
    record_rules(tasks)
    assert same_counts(rig.store.counts(), recount(tasks))
    assert set(ended(events).values()) <= {1}
    assert set(ended(events)) == {task.task_id for task in tasks if task.status in TERMINAL} | player.removed
    assert {event.task_id for event in events if event.to == ""} == player.removed
    for task in tasks:
        if len(task.steps) < HISTORY_LIMIT:
            assert told(events, task) == shown(task)
    waiting = {task.task_id for task in tasks if task.status == Status.PENDING}
    assert waiting <= rig.outbox(), "a pending task without an outbox mark is lost"
    dependency_rules(rig, tasks)
    lots = [task for task in tasks if task.status == Status.BLOCKED and in_lot(task.gate)]
    parked = {task.shop for task in lots}
    assert set(rig.store.parked_shops(100)) == parked
    unserved = Counter((task.lane, task.task_type) for task in tasks if task.gate == NO_WORKER)
    assert rig.store.unserved() == unserved
    assert rig.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1)).unserved == set(unserved)
    apart = Counter((task.lane, task.task_type, node_of(task.gate)) for task in tasks if node_of(task.gate))
    assert rig.store.homebound() == apart
    for node in ("desk", "hall"):
        heard = rig.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, node=node)).homebound
        assert heard == {kind[:2] for kind in apart if kind[2] == node}
    best = sorted(
        (task for task in tasks if task.gate == NO_WORKER),
        key=lambda task: (-task.priority, task.created_at, task.task_id),
    )
    assert rig.store.unserved_tasks(sorted(unserved), 3) == best[:3]


def drain(rig: Rig) -> None:
    """Play the engine until nothing moves: every active task must be able to end."""
    for scope in SCOPES:
        rig.store.clear_pause(scope)
    for shop in SHOPS:
        rig.ask(OpenSession(shop=f"pdd:{shop}", by="ann"))
    for _ in range(400):
        tasks = [task for task in rig.store.query(Query(limit=1000)).tasks if task.status in ACTIVE]
        if not tasks:
            return
        for task in tasks:
            _advance(rig, task)
        for shop in rig.store.parked_shops(100):
            rig.ask(OpenShop(shop=shop))
    raise AssertionError(f"stuck: {[(task.task_id, task.status, task.gate) for task in tasks]}")


def _advance(rig: Rig, task: Task) -> None:
    task = rig.record(task)
    if task.status == Status.RUNNING:
        rig.finish(task)
    elif task.status == Status.HELD:
        rig.ask(Resolve(task_id=task.task_id, to="succeeded", by="ann"))
    elif task.status == Status.SCHEDULED:
        rig.ask(Move(task_id=task.task_id, by="ann", lane=task.lane, priority=task.priority, run_now=True))
    elif task.status != Status.BLOCKED or is_fetched(task.gate):
        rig.claim(task, f"drain#{task.task_id}#{task.attempt}")
    elif task.gate == GATE and any(
        stands_for(rig, name) in (Status.DEAD, Status.CANCELLED) for name in task.depends_on
    ):
        rig.ask(Cancel(task_id=task.task_id, by="ann"))


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_any_order_of_operations_embedded(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened("embedded", Path(folder) / "fleet.sqlite") as rig:
        play(rig, steps)
        drain(rig)


@pytest.mark.redis
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_order_of_operations_redis(redis_server: Redis, steps: list[Step]) -> None:
    redis_server.flush()
    with opened("redis", redis_server.url) as rig:
        play(rig, steps)
        drain(rig)
