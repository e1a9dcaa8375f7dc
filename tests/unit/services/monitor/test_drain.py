"""When what waits will have run, asked of a store."""

from __future__ import annotations

import pytest

from services.domain.change import Claim, CloseSession, Create
from services.domain.fleet.shop import Pause
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.task.record import Attempt, Task
from services.domain.text.message import Message
from services.messages import english
from services.monitor.forecast import drain
from services.monitor.forecast.drain import DrainQueries
from tests.unit.services.engine.room import Room


def worker(room: Room, slots: int) -> None:
    room.store.heartbeat(WorkerInfo(worker="w", host="desk", pid=1, slots=(SlotState(),) * slots, executors=("rpa",)))


def measured(room: Room, seconds: int) -> None:
    for number in range(6):
        task = room.running(f"w#{number}", shop_id=f"m{number}")
        room.clock.advance(seconds)
        end = room.store.now_ms()
        room.finish(task, "succeeded", attempt=Attempt(1, "w", task.started_at, end, "succeeded"))


def sent_on(room: Room, *, able: bool = False, **fields: str) -> Task:
    """A task that a worker could not start: ``able``, for another reason than that it cannot run it."""
    task = room.create(**fields)
    words = {"task_id": task.task_id, "gen": task.gen, "attempt": task.attempt}
    answer = room.ask(Claim(owner="w#1", worker="w", lease_ms=60_000, able=able, **words))  # type: ignore[arg-type]
    assert answer.code == "blocked"
    return task


def test_lanes_and_platforms_are_told_when_they_are_clear(room: Room) -> None:
    measured(room, 10)
    worker(room, 2)
    room.clock.advance(600)
    worker(room, 2)
    for number in range(10):
        room.create(shop_id=f"s{number}")
    found = DrainQueries(room.store, room.registry).look()
    rows = {one.name: one for one in found.rows}
    assert rows.keys() == {"lane:normal", "platform:pdd"}
    assert rows["lane:normal"].waiting == 10
    assert found.slots == 2
    clear = rows["lane:normal"].clear_s
    assert clear is not None
    assert 40 <= clear <= 90


def test_a_deadline_that_is_missed_is_told_with_the_slots_that_would_do(room: Room) -> None:
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    soon = room.store.now_ms() + 60_000
    for number in range(40):
        room.create(shop_id=f"s{number}", deadline_ms=soon)
    (row,) = DrainQueries(room.store, room.registry).look().instants
    assert (row.kind, row.waiting) == ("deadline", 40)
    assert row.miss.left > 20
    assert row.miss.more >= 3
    assert "more slots would do" in english(row.said)


def test_nothing_waits_and_nobody_works(room: Room) -> None:
    found = DrainQueries(room.store, room.registry).look()
    assert (found.rows, found.instants, found.slots) == ((), (), 0)
    room.create()
    (row, _platform) = DrainQueries(room.store, room.registry).look().rows
    assert english(row.said) == "no worker takes them"


def test_workers_that_cannot_reach_the_broker_start_nothing_and_it_is_told_why(room: Room) -> None:
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    room.create(deadline_ms=room.store.now_ms() + 60_000)
    queries = DrainQueries(room.store, room.registry)
    assert queries.look().rows[0].clear_s is not None
    lost = LinkState(lost_at=room.store.now_ms())
    room.store.heartbeat(
        WorkerInfo(worker="w", host="desk", pid=1, slots=(SlotState(),) * 2, executors=("rpa",), link=lost)
    )
    for found in (queries.look(), queries.look(reached=False)):
        assert [(row.waiting, row.clear_s, english(row.said)) for row in found.rows] == [
            (1, None, "the broker cannot be reached: none starts until it is back")
        ] * 2
        assert (found.slots, found.instants) == (0, ())


def test_what_the_broker_takes_no_message_of_is_not_foretold(room: Room) -> None:
    """It is full: what it has goes on, what is recorded meanwhile starts once it has room."""
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    room.create(shop_id="s1")
    room.store.apply([Create(task=Task(task_id="unsent", shop_id="s2", platform="pdd", task_type="t"))])
    queries = DrainQueries(room.store, room.registry)
    assert (queries.look().rows[0].waiting, queries.look().unsent) == (2, 0), "it is on its way"
    full = LinkState(blocked_at=room.store.now_ms(), why="low on disk")
    heard = queries.look(blocked=True)
    room.store.heartbeat(
        WorkerInfo(worker="w", host="desk", pid=1, slots=(SlotState(),) * 2, executors=("rpa",), link=full)
    )
    for found in (heard, queries.look()):
        assert [(row.waiting, row.clear_s is None) for row in found.rows] == [(1, False)] * 2
        assert found.unsent == 1


def test_what_only_some_workers_can_run_waits_for_their_slots(room: Room) -> None:
    """A worker that cannot run it has sent it on: it waits for a slot all the same, of those that can."""
    measured(room, 10)
    room.clock.advance(900)
    own = WorkerInfo(worker="own", host="desk", pid=1, slots=(SlotState(),) * 2, executors=("rpa",))
    other = WorkerInfo(worker="other", host="desk", pid=2, slots=(SlotState(),) * 8, executors=("http",))
    room.store.heartbeat(own)
    room.store.heartbeat(other)
    for number in range(20):
        sent_on(room, shop_id=f"s{number}")
    found = DrainQueries(room.store, room.registry).look()
    rows = {one.name: one for one in found.rows}
    assert (found.slots, found.stuck, rows["lane:normal"].waiting) == (10, 0, 20)
    clear = rows["lane:normal"].clear_s
    assert clear is not None
    assert clear == pytest.approx(100, rel=0.25), "20 tasks of 10 s in 2 slots"


def test_what_no_slot_opens_is_told_by_its_gate(room: Room) -> None:
    room.store.heartbeat(WorkerInfo(worker="w", host="desk", pid=1, slots=(SlotState(),), executors=("http",)))
    sent_on(room, shop_id="s1")
    room.create(shop_id="s2")
    room.store.heartbeat(WorkerInfo(worker="w", host="desk", pid=1, slots=(SlotState(),), executors=("rpa",)))
    room.ask(CloseSession(shop="pdd:s3", kind="login_expired", by="ann"))
    sent_on(room, able=True, shop_id="s3")
    assert DrainQueries(room.store, room.registry).look().why == (("session", 1),)
    room.store.heartbeat(WorkerInfo(worker="w", host="desk", pid=1, slots=(SlotState(),), executors=("http",)))
    found = DrainQueries(room.store, room.registry).look()
    assert (found.rows, found.why, found.stuck) == ((), (("no_worker", 3),), 3)


def test_what_is_paused_after_it_parked_or_while_it_is_on_its_way_is_clear_never(room: Room) -> None:
    """The record of a parked task names the gate of then, and one in a queue has met none."""
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    running = room.running("w#1", shop_id="s1")
    behind = sent_on(room, able=True, shop_id="s1")
    room.create(shop_id="s2")
    assert (running.status, room.task(behind.task_id).gate) == ("running", "shop_busy")
    queries = DrainQueries(room.store, room.registry)
    assert (queries.look().rows[0].waiting, queries.look().why) == (2, ())
    room.store.set_pause(Pause(scope="platform:pdd", by="ann", at=room.store.now_ms()))
    assert (queries.look().rows, queries.look().why) == ((), (("paused", 2),))


def test_what_no_slot_opens_is_told_beside_what_is_clear_soon(room: Room) -> None:
    """A lane is not clear, nor is all done in time, while tasks of it wait for a login."""
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    soon = room.store.now_ms() // 60_000 * 60_000 + 600_000
    room.ask(CloseSession(shop="pdd:s9", kind="login_expired", by="ann"))
    stuck = room.create(shop_id="s9", deadline_ms=soon)
    words = {"task_id": stuck.task_id, "gen": stuck.gen, "attempt": stuck.attempt}
    answer = room.ask(Claim(owner="w#1", worker="w", lease_ms=60_000, able=True, **words))
    assert answer.code == "blocked"
    room.create(shop_id="s1", deadline_ms=soon)
    queries = DrainQueries(room.store, room.registry)
    found = queries.look()
    assert {english(row.said).split(" in about ")[0] for row in found.rows} == {"1 clears"}
    assert {english(row.said).split("; ")[1] for row in found.rows} == {"held up: 1"}
    (due,) = found.instants
    assert english(due.said).endswith("but for 1 held up")
    room.create(shop_id="s2", deadline_ms=soon)
    assert english(queries.look().rows[0].said).startswith("2 clear in about ")


def test_a_batch_that_came_at_once_does_not_go_on_coming(room: Room) -> None:
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 4)
    for number in range(60):
        room.create(shop_id=f"s{number}")
    rows = {one.name: one for one in DrainQueries(room.store, room.registry).look().rows}
    clear = rows["lane:normal"].clear_s
    assert clear is not None
    assert clear == pytest.approx(150, rel=0.25)


def test_of_more_than_is_looked_at_all_are_counted(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "MOST", 10)
    monkeypatch.setattr(drain, "PAGE", 5)
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 4)
    for number in range(60):
        room.create(shop_id=f"s{number}")
    rows = {one.name: one for one in DrainQueries(room.store, room.registry).look().rows}
    assert (rows["lane:normal"].waiting, rows["platform:pdd"].waiting) == (60, 60)


def test_a_batch_that_is_raised_is_through_sooner_and_others_wait_for_it(room: Room) -> None:
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    for number in range(20):
        room.create(shop_id=f"o{number}")
    for number in range(10):
        room.create(shop_id=f"b{number}", batch="nightly")
    found = DrainQueries(room.store, room.registry).raised("nightly")
    assert (found.number, found.others, found.why) == (10, 20, None)
    assert found.as_is_s is not None
    assert found.raised_s is not None
    assert 40 <= found.raised_s <= 70, "ten of ten seconds in two slots"
    assert 130 <= found.as_is_s <= 180, "and all thirty of them"
    assert 20 <= found.later_s <= 30, "half as long as the ten take: as it is, both go on side by side"


def test_of_a_batch_larger_than_is_looked_at_all_is_counted(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    for number in range(40):
        room.create(shop_id=f"b{number}", batch="nightly")
    whole = DrainQueries(room.store, room.registry).raised("nightly")
    monkeypatch.setattr(drain, "MOST", 10)
    monkeypatch.setattr(drain, "PAGE", 10)
    found = DrainQueries(room.store, room.registry).raised("nightly")
    assert (found.number, found.others) == (whole.number, whole.others) == (40, 0)
    assert found.raised_s is not None
    assert found.raised_s == pytest.approx(whole.raised_s, rel=0.2)


def test_what_goes_first_already_costs_nobody_anything(room: Room) -> None:
    measured(room, 10)
    room.clock.advance(900)
    worker(room, 2)
    for number in range(4):
        room.create(shop_id=f"o{number}", priority="low")
        room.create(shop_id=f"b{number}", batch="nightly", priority="high")
    found = DrainQueries(room.store, room.registry).raised("nightly")
    assert found.as_is_s == found.raised_s
    assert found.later_s == 0


def test_what_nobody_can_say_of_a_batch_is_said(room: Room) -> None:
    room.create(batch="nightly")
    queries = DrainQueries(room.store, room.registry)
    assert english(queries.raised("nightly").why or Message("")) == "no worker takes them"
    worker(room, 2)
    assert english(queries.raised("nightly").why or Message("")) == "how long its tasks take was not measured yet"
    assert queries.raised("other").number == 0
