"""When an urgent task takes the slot of another one, and of which: looks at a full worker by a clock that is turned."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from services.domain.gates.lane_share import Share, Sharing
from services.domain.task.lane import LANES
from services.domain.task.record import Attempt, Task
from services.workers.burst import Burst
from services.workers.intake import Intake
from services.workers.preempt import STOP_S, Preemptor
from services.workers.prefetch import PrefetchWindow
from services.workers.slots import ClaimedTask, SlotPool
from tests.contract.waiting import eventually
from tests.unit.services.engine.room import Room


class Worker:
    """A worker whose slots are full of tasks that run until they are let go."""

    def __init__(self, room: Room, slots: int) -> None:
        self.room = room
        self.claimed: list[ClaimedTask] = []
        self._ends: dict[str, threading.Event] = {}
        self.pool = SlotPool(self._work, slots, "test")
        self._consumer = room.broker.consumer(list(LANES), window=1, name="test")
        intake = Intake(
            room.store, self._consumer, room.steps, room.registry, room.clock, worker="w1", session="s",
            lease_ms=60_000, put=self._put, burst=Burst(room.clock, PrefetchWindow(self.pool, room.clock)),
        )  # fmt: skip
        self.sharing = Sharing(list(LANES), slots, {})
        self.unable: set[str] = set()  #: types that it cannot run
        self.preemptor = Preemptor(
            self.pool, intake, room.store, room.registry, room.clock, lanes=tuple(LANES), limit=1,
            fetches=lambda kind: kind not in self.unable, sharing=lambda: self.sharing,
        )  # fmt: skip
        room.define("crawl", preemptible=True)
        room.clock.advance(10.0)

    def _work(self, held: ClaimedTask, _slot: int) -> None:
        self._end_of(held).wait(30)

    def _end_of(self, held: ClaimedTask) -> threading.Event:
        return self._ends.setdefault(held.task.task_id, threading.Event())

    def _put(self, held: ClaimedTask) -> None:
        held.put_at = self.room.clock.monotonic()
        self.claimed.append(held)
        self.pool.put(held)

    def run(self, shop: str, priority: int = 2) -> ClaimedTask:
        """A task of the low lane in a slot."""
        return self.hold(self.room.running(owner=f"w1#{shop}", shop_id=shop, priority=priority, task_type="crawl"))

    def hold(self, task: Task) -> ClaimedTask:
        """Put a claimed task into a slot."""
        self._ends.pop(task.task_id, None)
        held = ClaimedTask(task=task, owner=task.owner, delivery=None, started=self.room.clock.monotonic())
        self.pool.put(held)
        eventually(lambda: held in self.pool.running())
        self.room.clock.advance(1.0)
        return held

    def urgent(self, shop: str, priority: int | str = "high") -> Task:
        """One that waits from now on."""
        return self.room.create(shop_id=shop, priority=priority)

    def look(self, after: float = 0.0) -> int:
        """Turn the clock, then let the worker look."""
        self.room.clock.advance(after)
        return self.preemptor.look()

    def end(self, held: ClaimedTask) -> None:
        """Let a task end."""
        self._end_of(held).set()
        eventually(lambda: held not in self.pool.running())

    def close(self) -> None:
        for held in [*self.pool.running(), *self.claimed]:
            self._end_of(held).set()
        assert self.pool.close(10)
        self._consumer.close()


@pytest.fixture
def worker(room: Room) -> Iterator[Worker]:
    made = Worker(room, 3)
    yield made
    made.close()


def reasons(*held: ClaimedTask) -> list[str]:
    return [one.cancel_reason for one in held]


def test_nobody_is_stopped_for_what_has_waited_less_than_a_second(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "abc"]
    task = worker.urgent("u")
    assert (worker.look(0.9), reasons(*victims)) == (0, ["", "", ""])
    assert (worker.look(1.0), reasons(*victims)) == (1, ["", "", "preempted"])
    assert (victims[2].made_way_for, [held.task.task_id for held in worker.claimed]) == (task.task_id, [task.task_id])


def test_a_full_worker_looks_once_a_second(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "abc"]
    worker.urgent("u")
    assert worker.look(0.6) == 0
    assert worker.look(0.6) == 0, "it has waited long enough, and was looked for a moment ago"
    assert reasons(*victims) == ["", "", ""]
    assert worker.look(0.6) == 1


def test_one_that_is_ending_makes_no_way_again_and_the_share_of_its_lane_is_kept(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "abc"]
    waiting = [worker.urgent(shop) for shop in "uvw"]
    assert worker.look(1.5) == 2, "the third slot is kept for the low lane"
    assert reasons(*victims) == ["", "preempted", "preempted"]
    assert [held.made_way_for for held in victims] == ["", waiting[1].task_id, waiting[0].task_id]
    assert worker.look(1.5) == 0, "two are still ending: the one that stays is the share of its lane"
    assert reasons(*victims) == ["", "preempted", "preempted"]


def test_one_that_a_person_has_stopped_is_not_kept_as_the_share_of_its_lane(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "ab"]
    victims[0].cancel("requested")
    worker.urgent("u")
    assert (worker.look(1.5), reasons(*victims)) == (0, ["requested", ""])


def test_only_what_is_urgent_takes_a_slot_and_never_from_its_like(worker: Worker) -> None:
    least, equal = worker.run("a", 1), worker.run("b", 3)
    above = worker.run("c", 3)
    worker.urgent("n", "normal")
    worker.urgent("l", 3)
    assert worker.look(1.5) == 0
    worker.urgent("u", 8)
    assert worker.look(1.5) == 1
    assert reasons(least, equal, above) == ["preempted", "", ""]


def test_who_is_being_stopped_already_makes_no_way(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "abc"]
    victims[2].cancel("requested")
    worker.urgent("u")
    assert worker.look(1.5) == 1
    assert reasons(*victims) == ["", "preempted", "requested"]
    assert victims[2].made_way_for == ""


def test_the_other_lanes_make_no_way_whatever_their_type_permits(worker: Worker) -> None:
    normal = [worker.run(shop, 5) for shop in "abc"]
    worker.urgent("u", 10)
    assert (worker.look(1.5), reasons(*normal)) == (0, ["", "", ""])


def test_nobody_is_stopped_for_what_could_not_run_here_then(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "abc"]
    worker.urgent("u")
    worker.unable.add("work")
    assert (worker.look(1.5), reasons(*victims)) == (0, ["", "", ""])
    worker.unable.clear()
    worker.sharing = Sharing(list(LANES), 3, {"high": Share(0, 1)})
    assert worker.look(1.5) == 1
    worker.urgent("v")
    assert worker.look(1.5) == 0, "its lane may use one slot, and has it"


def test_the_most_urgent_goes_first_then_who_has_waited_longest(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "abc"]
    first = worker.urgent("u", 8)
    worker.room.clock.advance(0.1)
    worker.urgent("v", 8)
    most = worker.urgent("w", 10)
    assert worker.look(1.5) == 2
    assert [held.task.task_id for held in worker.claimed] == [most.task_id, first.task_id]
    assert victims[0].cancel_reason == ""


def test_who_has_made_way_often_enough_is_left_alone(worker: Worker) -> None:
    once = worker.run("a")
    worker.run("b")
    worker.end(once)
    made_way = Attempt(1, "w1", 0, 0, "preempted")
    again = worker.hold(worker.room.claim(worker.room.finish(once.task, "pending", attempt=made_way), "w1#again"))
    worker.urgent("u")
    assert worker.look(1.5) == 1
    assert again.cancel_reason == "", "although it is the younger of two"


def test_the_urgent_one_waits_for_its_slot_but_not_for_ever(worker: Worker) -> None:
    victims = [worker.run(shop) for shop in "abc"]
    worker.urgent("u")
    worker.urgent("v")
    assert worker.look(1.5) == 2
    first, second = worker.claimed
    assert (worker.preemptor.waits(first), worker.preemptor.waits(second)) == (True, True)
    worker.end(victims[2])
    assert (worker.preemptor.waits(first), worker.preemptor.waits(second)) == (False, True)
    worker.room.clock.advance(STOP_S + 0.1)
    assert not worker.preemptor.waits(second), "what should end does not: the urgent one goes elsewhere"
