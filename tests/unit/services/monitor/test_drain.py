"""When what waits will have run, asked of a store."""

from __future__ import annotations

from services.domain.fleet.worker import SlotState, WorkerInfo
from services.domain.task.record import Attempt
from services.messages import english
from services.monitor.forecast.drain import DrainQueries
from tests.unit.services.engine.room import Room


def worker(room: Room, slots: int) -> None:
    room.store.heartbeat(WorkerInfo(worker="w", host="desk", pid=1, slots=(SlotState(),) * slots))


def measured(room: Room, seconds: int) -> None:
    for number in range(6):
        task = room.running(f"w#{number}", shop_id=f"m{number}")
        room.clock.advance(seconds)
        end = room.store.now_ms()
        room.finish(task, "succeeded", attempt=Attempt(1, "w", task.started_at, end, "succeeded"))


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
