"""A shop's own queue: tasks move there and back, and it ends only when nothing can come any more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from services.domain.change import Finish
from services.domain.fleet.shop import Shop
from services.domain.task import envelope
from services.domain.task.order import Order
from services.domain.task.record import Attempt, Task
from services.engine.lead.reconcile import MissingFinder
from services.engine.lead.shop_queues import CLOSING_MS, ShopQueues
from tests.unit.services.engine.room import DELAYS, Room, opened

SHOP = Shop(platform="pdd", shop_id="s1")
HOLD_S = max(DELAYS) + 60


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with opened(tmp_path) as found:
        yield found


class Leader:
    """The leader's turn, made by hand."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.queues = ShopQueues(room.store, room.broker, room.steps, room.registry, room.clock)

    def wish(self, *, dedicated: bool) -> None:
        self.room.store.put_shops([structs.replace(SHOP, dedicated=dedicated)])
        self.room.registry.forget()

    def turn(self, seconds: float = 6) -> None:
        self.room.clock.advance(seconds)
        self.queues.tick()


def ready(room: Room) -> dict[str, int]:
    return {one.name: one.ready for one in room.broker.depths() if one.ready or one.kind == "shop"}


def test_a_wish_is_enough(room: Room) -> None:
    """As an import leaves it that died in the middle."""
    task = room.create()
    leader = Leader(room)
    leader.wish(dedicated=True)
    leader.turn()
    moved = room.task(task.task_id)
    assert (moved.queue, moved.status, moved.gen) == ("s1", "queued", 1)
    assert ready(room) == {"rpa_tasks_normal": 1, "single_shop_s1": 1}, "the old message is skipped when it comes"
    assert room.create().queue == "s1"
    assert room.registry.subscribed_shops() == ("s1",)
    leader.turn()
    assert room.task(task.task_id) == moved


def test_a_queue_that_somebody_deleted_is_made_again(room: Room) -> None:
    leader = Leader(room)
    leader.wish(dedicated=True)
    leader.turn()
    assert room.broker.close_shop("pdd", "s1")
    leader.turn()
    assert ready(room) == {"single_shop_s1": 0}


def left(room: Room) -> Leader:
    leader = Leader(room)
    leader.wish(dedicated=True)
    leader.turn()
    return leader


def test_a_queue_is_served_until_nothing_can_come(room: Room) -> None:
    leader = left(room)
    task = room.create()
    leader.wish(dedicated=False)
    leader.turn()
    assert room.task(task.task_id).queue == ""
    consumer = room.broker.consumer(["high", "normal", "low"], window=5, name="w")
    consumer.serve(room.registry.subscribed_shops(), 5)
    consumer.ack(consumer.take(5, 0.0))
    leader.turn(HOLD_S - 10)
    assert room.registry.subscribed_shops() == ("s1",)
    leader.turn()
    leader.turn()
    assert room.registry.subscribed_shops() == ()
    leader.turn(CLOSING_MS / 1000)
    assert "single_shop_s1" in ready(room), "a worker still serves it"
    consumer.serve((), 5)
    leader.turn()
    assert "single_shop_s1" not in ready(room)
    assert room.store.documents("queue") == {}
    assert room.create().queue == ""
    consumer.close()


def ended(room: Room, task: Task, to: str) -> Task:
    attempt = Attempt(number=task.attempt, worker="w1", started_at=1, ended_at=2, outcome="failed")
    answer = room.ask(Finish(task_id=task.task_id, owner=task.owner, to=to, attempt=attempt, delay_ms=120_000))
    assert answer.task is not None
    room.steps.publish([answer.task])
    return room.task(task.task_id)


def test_what_runs_when_the_shop_leaves_keeps_the_queue_until_it_has_another_way(room: Room) -> None:
    leader = left(room)
    task = room.claim(room.create())
    leader.wish(dedicated=False)
    for _ in range(3):
        leader.turn(HOLD_S)
    assert room.task(task.task_id).queue == "s1"
    assert room.registry.subscribed_shops() == ("s1",)
    ended(room, task, "retrying")
    leader.turn()
    moved = room.task(task.task_id)
    assert (moved.status, moved.queue) == ("retrying", "")


def test_a_foreign_message_keeps_the_queue(room: Room) -> None:
    leader = left(room)
    leader.wish(dedicated=False)
    for _ in range(2):
        leader.turn(HOLD_S)
    assert room.registry.subscribed_shops() == ()
    body, headers = envelope.build(structs.replace(room.producer.prepare(room.spec()), created_at=1))
    order = Order(kind="work", routing_key="task.pdd.s1", body=body, message_id="m", headers=headers)
    assert room.broker.publish([order])[0].ok
    leader.turn(HOLD_S)
    assert room.registry.subscribed_shops() == ("s1",), "workers take it before the queue ends"
    assert ready(room)["single_shop_s1"] == 1


def test_a_shop_that_comes_back_keeps_its_queue(room: Room) -> None:
    leader = left(room)
    leader.wish(dedicated=False)
    leader.turn()
    task = room.create()
    leader.wish(dedicated=True)
    leader.turn()
    assert room.task(task.task_id).queue == "s1"
    leader.turn(HOLD_S * 3)
    assert ready(room)["single_shop_s1"] >= 1


def test_a_lost_message_of_a_shop_is_published_again(room: Room) -> None:
    left(room)
    task = room.create()
    finder = MissingFinder(room.store, room.steps)
    assert finder.look(room.broker.depths()) == 0
    consumer = room.broker.consumer(["high", "normal", "low"], window=5, name="takes and forgets")
    consumer.serve(["s1"], 1)
    consumer.ack(consumer.take(5, 0.0))
    consumer.close()
    eventually_empty = room.broker.depths()
    room.clock.advance(1)
    assert finder.look(eventually_empty) == 0
    room.clock.advance(31)
    assert finder.look(room.broker.depths()) == 1
    assert ready(room) == {"single_shop_s1": 1}
    assert room.task(task.task_id).gen == task.gen
