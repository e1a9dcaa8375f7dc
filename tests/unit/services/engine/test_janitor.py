"""Which records the janitor removes, how many at a time, and what it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from services.domain.change import Create, SetTriage
from services.domain.errors import StoreUnavailable
from services.domain.task.status import Status
from services.engine.lead.janitor import BATCH, DAY_MS, REST_S, Janitor, Retention
from services.engine.producer import TaskSpec
from tests.unit.services.engine.room import Room

DAY_S = 86_400.0


def janitor(room: Room, **keep: Any) -> Janitor:
    return Janitor(room.store, room.steps, room.clock, Retention(**keep))


def ended(room: Room, number: int, status: str = "succeeded", **fields: Any) -> list[str]:
    """Records that ended just now, as an import makes them."""
    base = room.recorded()
    made = [
        structs.replace(
            base, task_id=f"{status}{number}_{place}", status=status, uniq="", created_at=0, steps=(), **fields
        )
        for place in range(number)
    ]
    for answer in room.store.apply([Create(task=task) for task in made]):
        assert answer.code == "created"
    return [task.task_id for task in made]


def left(room: Room, ids: list[str]) -> list[str]:
    return [task.task_id for task in room.store.get(ids) if task is not None]


@pytest.mark.parametrize("status", ["succeeded", "cancelled"])
def test_what_ended_three_days_ago_goes(room: Room, status: str) -> None:
    old = ended(room, 3, status)
    room.clock.advance(2 * DAY_S)
    new = ended(room, 2, status)
    one = janitor(room)
    assert one.tick() == 0
    room.clock.advance(DAY_S + 1)
    assert one.tick() == 3
    assert (left(room, old), left(room, new)) == ([], new)
    assert room.store.counts().status[status] == 2
    assert room.store.tombstones(old)[0] is not None


def test_it_rests_when_nothing_is_left(room: Room) -> None:
    one = janitor(room)
    assert one.tick() == 0
    ended(room, 2)
    room.clock.advance(REST_S - 1)
    assert janitor(room, finished_ms=1).tick() == 2
    ended(room, 4)
    assert one.tick() == 0, "it rests"


@pytest.mark.parametrize("status", ["succeeded", "cancelled"])
def test_the_newest_stay_where_there_are_too_many(room: Room, status: str) -> None:
    old = ended(room, 5, status)
    room.clock.advance(10)
    new = ended(room, 3, status)
    assert janitor(room, finished_count=4).tick() == 4
    assert len(left(room, old)) == 1
    assert left(room, new) == new


def test_what_may_still_come_out_of_its_lane_is_known_for_a_month(room: Room) -> None:
    """The message of another program that was cancelled before anybody took it: it would run, were it unknown."""
    (task_id,) = ended(room, 1, "cancelled", marks=("noticed",))
    one = janitor(room)
    room.clock.advance(29 * DAY_S)
    assert one.tick() == 0
    room.clock.advance(2 * DAY_S)
    assert one.tick() == 1
    assert left(room, [task_id]) == []


def test_for_ever_is_for_ever(room: Room) -> None:
    kept = ended(room, 2)
    room.clock.advance(4000 * DAY_S)
    assert janitor(room, finished_ms=0, finished_count=0).tick() == 0
    assert left(room, kept) == kept


def test_a_tick_has_an_end(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock costs a second here, so that a tick has time for one batch."""
    old = ended(room, 2 * BATCH + 10)
    room.clock.advance(4 * DAY_S)
    one = janitor(room)
    real = room.clock.monotonic
    monkeypatch.setattr(room.clock, "monotonic", lambda: (room.clock.advance(1.0), real())[1])
    assert [one.tick() for _ in range(3)] == [BATCH, BATCH, 10]
    assert left(room, old) == []


def dead(room: Room, triage: str) -> str:
    (task_id,) = ended(room, 1, "dead", fingerprint=triage)
    room.store.apply([SetTriage(task_id=task_id, triage=triage, by="ann")])
    return task_id


@pytest.mark.parametrize(
    ("triage", "keep", "days"),
    [
        ("archived", {}, 90),
        ("ignored", {}, 30),
        ("archived", {"archived_ms": 5 * DAY_MS}, 5),
        ("open", {"open_ms": 365 * DAY_MS}, 365),
    ],
)
def test_dead_letters_by_what_was_done_about_them(room: Room, triage: str, keep: dict[str, int], days: int) -> None:
    letter = dead(room, triage)
    one = janitor(room, **keep)
    room.clock.advance((days - 1) * DAY_S)
    assert one.tick() == 0
    room.clock.advance(DAY_S + 1)
    assert one.tick() == 1
    assert left(room, [letter]) == []


def test_open_letters_stay_for_ever_unless_somebody_says_otherwise(room: Room) -> None:
    letter = dead(room, "open")
    room.clock.advance(4000 * DAY_S)
    assert janitor(room).tick() == 0
    assert left(room, [letter]) == [letter]


def test_what_somebody_waits_for_does_not_stand_in_the_way(room: Room) -> None:
    needed, *others = [dead(room, "archived"), *ended(room, BATCH + 5)]
    spec = TaskSpec(platform="pdd", shop_id="s9", task_type="sync_order", payload={}, depends_on=(needed,))
    (waits,) = room.producer.submit([spec]).created
    assert waits.status == Status.BLOCKED
    room.clock.advance(40 * DAY_S)
    one = janitor(room)
    one.tick()
    assert left(room, [needed, *others]) == [needed]


def test_a_silent_store_is_asked_again(room: Room) -> None:
    old = ended(room, 2)
    room.clock.advance(4 * DAY_S)
    one = janitor(room)
    room.store.silent = 1
    with pytest.raises(StoreUnavailable):
        one.tick()
    assert one.tick() == 2
    assert left(room, old) == []
