"""Random steps with limits: both drivers answer alike, nothing runs past a limit, and no free place stays unused."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.clock import SystemClock
from services.domain.change import Answer, Cancel, Create, Move, OpenLimit, OpenShop
from services.domain.fleet.shop import Pause, Shop
from services.domain.gates import limit as limits
from services.domain.gates.limit import Limit
from services.domain.task.record import Task
from services.domain.task.search.query import Query
from services.domain.task.status import Status
from services.ports import Store
from tests.contract.conftest import open_store
from tests.contract.rig import Rig
from tests.support.services import Redis

pytestmark = pytest.mark.race

SHOPS = {"pdd:a": 1, "pdd:b": 2, "temu:a": 1, "temu:c": 3}
KINDS = ("t1", "t2")
SCOPES = ("platform:pdd", "platform:temu", "type:t1", "type:t2")
PAUSES = ("shop:pdd:b", "type:t2", "platform:temu", "all")
ACTS = ("new",) * 6 + ("claim",) * 5 + ("finish",) * 5 + ("limit",) * 3 + ("move", "cancel", "pause", "resume", "open")
Step = tuple[str, int, int]
STEPS = st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 40), st.integers(0, 9)), min_size=5, max_size=60)
Shown = tuple[str, tuple[str, ...]]


@dataclass
class Side:
    """One driver and what has become of its tasks."""

    rig: Rig
    ids: list[str] = field(default_factory=list)

    def play(self, step: Step, born: int) -> Shown:
        act, pick, how = step
        if act == "new":
            return self._new(pick, how, born)
        if act == "limit":
            scope = SCOPES[pick % len(SCOPES)]
            self.rig.store.put_limit(Limit(scope=scope, concurrency=how % 4, per_minute=0 if how < 8 else 3))
            return self._told(self.rig.ask(OpenLimit(scope=scope, most=5)))
        if act == "pause":
            self.rig.store.set_pause(Pause(scope=PAUSES[pick % len(PAUSES)], by="ann", at=1))
            return act, ()
        if act == "resume":
            self.rig.store.clear_pause(PAUSES[pick % len(PAUSES)])
            return act, ()
        if act == "open":
            return self._told(self.rig.ask(OpenShop(shop=list(SHOPS)[pick % len(SHOPS)], most=how % 3)))
        return self._one(act, self.rig.record(self.ids[pick % len(self.ids)]), how) if self.ids else (act, ())

    def _new(self, pick: int, how: int, born: int) -> Shown:
        platform, _, shop_id = list(SHOPS)[pick % len(SHOPS)].partition(":")
        task = Task(
            task_id=f"t{len(self.ids):03d}",
            platform=platform,
            shop_id=shop_id,
            task_type=KINDS[pick // 7 % 2],
            priority=1 + how,
            uniq=f"{platform}{shop_id}{pick % 3}" if how > 6 else "",
            created_at=born + len(self.ids),
        )
        self.ids.append(task.task_id)
        made = self.rig.ask(Create(task=task, on_duplicate="queue")).task
        assert made is not None
        self.rig.confirm(made)
        return self._told(self.rig.claim(self.rig.record(made), f"n#{made.task_id}", able=how != 0))

    def _one(self, act: str, task: Task, how: int) -> Shown:
        if act == "claim":
            return self._told(self.rig.claim(task, f"w#{task.task_id}{task.attempt}"))
        if act == "finish":
            to = ("succeeded", "succeeded", "pending", "dead")[how % 4]
            return self._told(self.rig.finish(task, to)) if task.status == Status.RUNNING else (act, ())
        if act == "move":
            return self._told(self.rig.ask(Move(task_id=task.task_id, by="ann", lane="high", priority=8 + how % 3)))
        return self._told(self.rig.ask(Cancel(task_id=task.task_id, by="ann")))

    def _told(self, answer: Answer) -> Shown:
        for task in answer.released:
            self.rig.confirm(task)
        return answer.code, tuple(task.task_id for task in answer.released)

    def tasks(self) -> list[Task]:
        return sorted(self.rig.store.query(Query(limit=1000)).tasks, key=lambda task: task.task_id)

    def shown(self) -> list[tuple[str, str, str]]:
        return [(task.task_id, str(task.status), task.gate) for task in self.tasks()]

    def sweep(self) -> None:
        """As the reconciler does, until nothing more may go."""
        store, asked = self.rig.store, True
        while asked:
            asked = any(self._told(self.rig.ask(OpenLimit(scope=one, most=50)))[1] for one in store.waiting_limits())
            asked |= any(self._told(self.rig.ask(OpenShop(shop=one)))[1] for one in store.parked_shops(100))


def check_limits(store: Store, tasks: Iterable[Task], before: dict[str, int]) -> dict[str, int]:
    """Nothing began past a limit, and the numbers of the limits are those of the records."""
    running: dict[str, int] = {}
    for task in tasks:
        if task.status == Status.RUNNING:
            for scope in limits.scopes(task):
                running[scope] = running.get(scope, 0) + 1
    for one in store.limits():
        scope, most = one.limit.scope, one.limit.concurrency
        assert one.running == running.get(scope, 0)
        assert not most or one.running <= max(most, before.get(scope, 0))
        assert not one.limit.per_minute or one.started <= one.limit.per_minute
    return running


def nothing_is_left_lying(side: Side) -> None:
    """After the reconciler's round every parked task waits for a gate that is closed."""
    tasks = side.tasks()
    used = dict.fromkeys(SHOPS, 0)
    for task in tasks:
        used[task.shop] += task.status in (Status.RUNNING, Status.QUEUED, Status.PENDING)  # it may have a promise
    full = {one.limit.scope for one in side.rig.store.limits() if one.full}
    paused = {pause.scope for pause in side.rig.store.pauses()}
    for task in tasks:
        if task.status != Status.BLOCKED or task.gate == "no_worker" or task.uniq:
            continue
        scopes = {"all", f"platform:{task.platform}", f"shop:{task.shop}", f"type:{task.task_type}"}
        closed = used[task.shop] >= SHOPS[task.shop] or paused & scopes or full & set(limits.scopes(task))
        assert closed, (task.task_id, task.gate)


def drain(side: Side) -> None:
    """With pauses and starts a minute out of the way, ends alone carry everything through."""
    for scope in PAUSES:
        side.rig.store.clear_pause(scope)
    for one in side.rig.store.limits():
        side.rig.store.put_limit(Limit(scope=one.limit.scope, concurrency=one.limit.concurrency))
    side.sweep()
    for _ in range(200):
        left = [task for task in side.tasks() if not task.ended]
        if not left:
            return
        for task in left:
            if task.status == Status.RUNNING:
                side._told(side.rig.finish(task))
            elif task.status != Status.BLOCKED or task.gate == "no_worker":
                side._told(side.rig.claim(task, f"d#{task.task_id}{task.attempt}"))
    raise AssertionError(f"stuck: {[(task.task_id, task.status, task.gate) for task in left]}")


def opened(kind: str, where: object) -> Side:
    rig = Rig(open_store(kind, where, SystemClock()), None)
    shops = [key.partition(":") for key in SHOPS]
    rig.store.put_shops(
        Shop(platform=platform, shop_id=shop_id, concurrency=SHOPS[f"{platform}:{shop_id}"])
        for platform, _, shop_id in shops
    )
    return Side(rig)


@pytest.mark.redis
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_both_drivers_keep_the_limits_alike(redis_server: Redis, steps: list[Step]) -> None:
    redis_server.flush()
    with tempfile.TemporaryDirectory() as folder:
        sides = [opened("embedded", Path(folder) / "fleet.sqlite"), opened("redis", redis_server.url)]
        try:
            born = sides[0].rig.store.now_ms() - 100_000
            before: list[dict[str, int]] = [{}, {}]
            for step in steps:
                one, two = (side.play(step, born) for side in sides)
                assert one == two, step
                assert sides[0].shown() == sides[1].shown(), step
                before = [
                    check_limits(side.rig.store, side.tasks(), was) for side, was in zip(sides, before, strict=True)
                ]
            for side in sides:
                side.sweep()
                nothing_is_left_lying(side)
                drain(side)
        finally:
            for side in sides:
                side.rig.store.close()
