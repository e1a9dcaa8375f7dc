"""Messages that the broker loses while others come and go: found by what came out after them, and no others are."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.domain.change import Claim, Create, Finish
from services.domain.task.record import Attempt
from services.engine.lead.reconcile import OVERTAKEN_MS, MissingFinder
from tests.unit.services.engine.room import Room

NEVER = 10**12
SHOPS = itertools.count()  #: each task has a shop of its own
#: ten tasks a minute, and five minutes from submission to start
TICK_S, EACH, BACKLOG = 60.0, 10, 50


def finder(room: Room, **fields: Any) -> MissingFinder:
    return MissingFinder(room.store, room.steps, **({"missing_after_ms": NEVER} | fields))


def look(room: Room, found: MissingFinder) -> int:
    return found.look(room.broker.depths())


def submit(room: Room, count: int = EACH, **fields: Any) -> list[str]:
    specs = [room.spec(shop_id=f"s{next(SHOPS)}", **fields) for _ in range(count)]
    return [task.task_id for task in room.producer.submit(specs).created]


def work(room: Room, count: int) -> int:
    """A worker takes some messages and does what they ask for; returns how many were twins."""
    tasks = room.store.get([delivery.message_id for delivery in room.take("normal", count)])
    claims = [
        Claim(task_id=task.task_id, gen=0, attempt=0, owner=f"w#{task.task_id}", worker="w", lease_ms=60_000)
        for task in tasks
        if task is not None
    ]
    answers = room.store.apply(claims)
    room.store.apply(
        [
            Finish(
                task_id=op.task_id, owner=op.owner, to="succeeded", attempt=Attempt(1, "w", 1, 2, "succeeded"),
            )
            for op in claims
        ]
    )  # fmt: skip
    return sum(answer.code != "run" for answer in answers)


def lose(folder: Path, *task_ids: str) -> None:
    """The broker forgets messages."""
    with closing(sqlite3.connect(folder / "room.sqlite", timeout=30)) as db, db:
        for task_id in task_ids:
            assert db.execute("DELETE FROM messages WHERE message_id = ?", (task_id,)).rowcount == 1


def test_where_the_youngest_goes_first_being_overtaken_is_no_sign(room: Room) -> None:
    submit(room, 3)
    room.clock.advance(2 * OVERTAKEN_MS / 1000)
    submit(room, 1, priority="low")
    submit(room, 1)
    late = room.take("normal", 4)
    claim = room.store.get([late[-1].message_id])[0]
    assert claim is not None
    room.claim(claim)
    assert look(room, finder(room, lifo=("normal",))) == 0
    assert look(room, finder(room)) == 3


def test_ten_of_a_thousand_under_steady_load(room: Room, tmp_path: Path) -> None:
    found = finder(room)
    ids, lost = submit(room, BACKLOG), list[str]()
    mended = twins = 0
    while len(ids) < 1_000:
        room.clock.advance(TICK_S)
        fresh = submit(room)
        ids += fresh
        if len(ids) % 90 == 0 and len(lost) < 10:
            lost.append(fresh[3])
            lose(tmp_path, fresh[3])
        twins += work(room, EACH)
        mended += look(room, found)
    assert len(lost) == 10
    while mended < len(lost):
        room.clock.advance(TICK_S)
        ids += submit(room)
        twins += work(room, EACH)
        mended += look(room, found)
        assert len(ids) < 1_200, "they should have been found by now"
    twins += work(room, 1_000)
    assert {task.status for task in room.store.get(ids) if task is not None} == {"succeeded"}
    assert (mended, twins) == (10, 0), "nothing was published again that was not lost"


def test_a_more_urgent_message_says_nothing_about_a_less_urgent_one(room: Room) -> None:
    found = finder(room)
    (low,) = submit(room, 1, priority=4)
    room.clock.advance(OVERTAKEN_MS / 1000 + 60)
    submit(room, 3, priority=7)
    assert work(room, 3) == 0
    assert look(room, found) == 0
    assert work(room, 1) == 0
    assert room.task(low).status == "succeeded"


def test_a_less_urgent_one_speaks_for_those_above_it(room: Room, tmp_path: Path) -> None:
    found = finder(room)
    (lost,) = submit(room, 1, priority=7)
    lose(tmp_path, lost)
    room.clock.advance(OVERTAKEN_MS / 1000 + 60)
    submit(room, 1, priority=4)
    assert look(room, found) == 0
    assert work(room, 1) == 0
    assert look(room, found) == 1
    assert look(room, found) == 0, "it waits anew"
    assert work(room, 1) == 0
    assert room.task(lost).status == "succeeded"


def test_ten_minutes_must_lie_between(room: Room, tmp_path: Path) -> None:
    found = finder(room)
    (lost,) = submit(room, 1)
    lose(tmp_path, lost)
    room.clock.advance(OVERTAKEN_MS / 1000 - 60)
    submit(room, 1)
    assert work(room, 1) == 0
    assert look(room, found) == 0


@pytest.mark.parametrize("executed", [False, True])
def test_with_foreign_consumers_a_person_decides(room: Room, tmp_path: Path, executed: bool) -> None:
    """Where they say that they did it, nobody need ask."""
    found = finder(room, foreign_consumers=True)
    (lost,) = submit(room, 1)
    lose(tmp_path, lost)
    room.clock.advance(OVERTAKEN_MS / 1000 + 60)
    if executed:
        room.store.mark_executed([lost])
    submit(room, 1)
    work(room, 1)
    assert look(room, found) == 1
    task = room.task(lost)
    if executed:
        assert (task.status, task.worker) == ("succeeded", "foreign")
    else:
        assert (task.status, "unknown consumer" in task.error) == ("held", True)
    assert room.ready() == 0
    assert look(room, found) == 0


def test_what_is_lost_while_the_queue_is_always_empty(room: Room, tmp_path: Path) -> None:
    """Of a lane whose workers are quick every look finds nothing, long before the message is published and lost."""
    found = finder(room, missing_after_ms=30_000)
    for _ in range(10):
        assert look(room, found) == 0
        room.clock.advance(10.0)
    (lost,) = submit(room, 1)
    lose(tmp_path, lost)
    mended = 0
    for _ in range(6):
        room.clock.advance(10.0)
        mended += look(room, found)
    assert mended == 1
    assert work(room, 1) == 0
    assert room.task(lost).status == "succeeded"


def test_what_was_published_after_the_first_empty_look_is_not_missing_at_once(room: Room, tmp_path: Path) -> None:
    found = finder(room, missing_after_ms=30_000)
    assert look(room, found) == 0
    room.clock.advance(35.0)
    (lost,) = submit(room, 1)
    lose(tmp_path, lost)
    room.clock.advance(1.0)
    assert look(room, found) == 0
    room.clock.advance(29.0)
    assert look(room, found) == 0
    room.clock.advance(1.0)
    assert look(room, found) == 1


def test_what_waits_in_the_queue_of_its_shop_is_not_missing_from_its_lane(room: Room) -> None:
    """Its lane is empty, and others of that lane come out for a quarter of an hour: neither says anything about it."""
    made = msgspec.structs.replace(room.producer.prepare(room.spec(shop_id="own")), queue="own")
    task = room.ask(Create(task=made)).task
    assert task is not None
    room.confirm(task)
    assert (room.task(task.task_id).status, room.task(task.task_id).queue) == ("queued", "own")
    empty, overtaken = finder(room, missing_after_ms=30_000), finder(room)
    for _ in range(4):
        assert look(room, empty) == 0
        room.clock.advance(31.0)
    for _ in range(15):
        submit(room)
        work(room, EACH)
        room.clock.advance(TICK_S)
        assert look(room, overtaken) == 0
    assert room.task(task.task_id).gen == task.gen, "nor was it published again"


def test_what_waits_in_its_lane_is_not_missing_from_the_queue_that_its_shop_has_got(room: Room) -> None:
    """It was published before there was one, and nobody has moved it yet."""
    task = room.create(shop_id="own")
    room.broker.open_shop("pdd", "own")
    found = finder(room, missing_after_ms=30_000)
    for _ in range(4):
        assert look(room, found) == 0
        room.clock.advance(31.0)
    assert (room.task(task.task_id).gen, room.ready()) == (task.gen, 1), "nor was it published again"


def test_what_somebody_holds_and_has_not_started_is_not_missing(room: Room, tmp_path: Path) -> None:
    found = finder(room, missing_after_ms=30_000)
    held, lost = submit(room, 2)
    consumer = room.broker.consumer(["normal"], window=10, name="slow")
    assert {delivery.message_id for delivery in consumer.take(10, 0.0)} == {held, lost}
    for _ in range(5):
        room.clock.advance(10.0)
        assert look(room, found) == 0, "its queue is empty, for both have been delivered"
    consumer.close()
    lose(tmp_path, lost)
    room.take("normal", 1)
    mended = 0
    for _ in range(5):
        room.clock.advance(10.0)
        mended += look(room, found)
    assert mended == 2


def test_a_running_task_keeps_its_delivery_and_hides_nothing_that_its_lane_has_lost(room: Room, tmp_path: Path) -> None:
    found = finder(room, missing_after_ms=30_000)
    runs, lost = submit(room, 2)
    lose(tmp_path, lost)
    consumer = room.broker.consumer(["normal"], window=10, name="busy")
    assert [delivery.message_id for delivery in consumer.take(10, 0.0)] == [runs]
    room.claim(room.task(runs), lease_ms=3_600_000)
    room.clock.advance(1.0)
    assert look(room, found) == 0
    room.clock.advance(31.0)
    assert look(room, found) == 1
    assert [delivery.message_id for delivery in consumer.take(10, 0.0)] == [lost]
    consumer.close()


def test_a_message_in_the_queue_of_a_shop_begins_its_looks_anew(room: Room, tmp_path: Path) -> None:
    """Of what is taken and given back between two looks the queue seems empty now and then."""
    room.broker.open_shop("pdd", "own")

    def send() -> str:
        made = msgspec.structs.replace(room.producer.prepare(room.spec(shop_id="own")), queue="own")
        room.store.apply([Create(task=made)])
        room.steps.publish([room.task(made.task_id)])
        return made.task_id

    found, first = finder(room, missing_after_ms=30_000), send()
    lose(tmp_path, first)
    room.clock.advance(1.0)
    assert look(room, found) == 0
    room.clock.advance(20.0)
    second = send()
    assert look(room, found) == 0
    lose(tmp_path, second)
    room.clock.advance(20.0)
    assert look(room, found) == 0, "it held a message in between"
    room.clock.advance(31.0)
    assert look(room, found) == 2


def test_what_another_program_sent_is_not_given_up_because_others_came_out_before_it(room: Room) -> None:
    """It may have given its message a priority of its own."""
    made = msgspec.structs.replace(
        room.producer.prepare(room.spec()), status="queued", origin="foreign", marks=("noticed",)
    )
    room.store.apply([Create(task=made)])
    room.clock.advance(OVERTAKEN_MS / 1000 + 60)
    submit(room, 1)
    assert work(room, 1) == 0
    assert look(room, finder(room)) == 0
    assert room.task(made.task_id).status == "queued"
