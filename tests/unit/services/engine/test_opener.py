"""How many parked tasks go at a time, once what held them back is open."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.domain.change import Answer, Claim, Op
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.gates.limit import Limit
from services.engine.lead.opener import STEP, STEPS, Opener
from tests.unit.services.engine.room import Room

MANY = 12


@pytest.fixture
def shops(room: Room) -> list[str]:
    """Each with a task that a pause has parked; that is over, and nobody has said so yet."""
    room.store.set_pause(Pause(scope="all", by="ann"))
    tasks = [room.create(shop_id=f"s{number}") for number in range(MANY)]
    room.take(count=MANY)
    for task in tasks:
        claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)
        assert room.ask(claim).code == "blocked"
    room.store.clear_pause("all")
    return [task.shop for task in tasks]


def heard(room: Room, slots: int) -> None:
    room.store.heartbeat(WorkerInfo(worker="w", host="h", pid=1, slots=(SlotState(),) * slots))


def test_twice_as_many_as_the_fleet_has_slots_are_on_their_way(room: Room, shops: list[str]) -> None:
    opener = Opener(room.store, room.steps)
    heard(room, 2)
    assert opener.open_shops(shops) == 4
    assert opener.open_shops(shops) == 0, "those are still to be started"


def test_slots_of_a_worker_that_is_no_more_are_not_counted(room: Room, shops: list[str]) -> None:
    heard(room, 50)
    room.clock.advance(600)
    assert Opener(room.store, room.steps).open_shops(shops) == 2


def test_of_a_limit_that_was_lifted_many_go_in_one_round_and_nobody_asks_on_where_few_wait(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks on where none is left holds the others up; who stops after one step lets a lifted limit fill slowly."""
    asked: list[int] = []
    real = room.steps.apply

    def apply(ops: Sequence[Op]) -> list[Answer]:
        asked.append(len(ops))
        return real(ops)

    monkeypatch.setattr(room.steps, "apply", apply)
    opener = Opener(room.store, room.steps)
    heard(room, STEP * STEPS)
    for waiting, steps in ((STEP + 20, 2), (3, 1)):
        room.store.put_limit(Limit(scope="platform:pdd", concurrency=1))
        running = room.running(shop_id="first", owner="w#0")
        tasks = [room.create(shop_id=f"s{number}") for number in range(waiting)]
        for task in tasks:
            claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=60_000)
            assert room.ask(claim).code == "blocked"
        room.store.put_limit(Limit(scope="platform:pdd", concurrency=1000))
        asked.clear()
        assert opener.open_limits() == waiting
        assert len(asked) == steps
        room.finish(running, "succeeded")
        for task in tasks:
            room.finish(room.claim(room.task(task.task_id), f"w#{task.task_id}"), "succeeded")


def test_one_task_of_a_failing_shop_tries_once_its_rest_is_over(room: Room) -> None:
    for _ in range(5):
        room.finish(room.running(shop_id="s1"), "dead", error="no page", error_kind="network")
        room.take(count=MANY)
    waits = room.create(shop_id="s1")
    room.take(count=MANY)
    claim = Claim(task_id=waits.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)
    assert room.ask(claim).code == "blocked"
    (breaker,) = room.store.breakers()
    opener = Opener(room.store, room.steps)
    assert opener.open_breakers() == 0
    room.clock.advance((breaker.until - room.store.now_ms()) / 1000 + 1)
    heard(room, 1)
    assert opener.open_breakers() == 1
    assert room.task(waits.task_id).status == "queued"
