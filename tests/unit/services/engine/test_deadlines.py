"""What may not begin any more becomes a dead letter; what began in time goes on."""

from __future__ import annotations

from typing import Any

import pytest

from services.domain.errors import UsageError
from services.domain.fleet.shop import Pause
from services.domain.task.record import Task
from services.engine.lead import deadlines
from tests.unit.services.engine.room import Room


def due_soon(room: Room, **fields: Any) -> Task:
    """A task that must begin within ten seconds."""
    return room.create(deadline_ms=room.store.now_ms() + 10_000, **fields)


def end_overdue(room: Room) -> int:
    return deadlines.end_overdue(room.store, room.steps)


def test_a_task_that_did_not_begin_in_time_is_dead_with_the_reason(room: Room) -> None:
    task = due_soon(room)
    room.clock.advance(9.9)
    assert end_overdue(room) == 0
    room.clock.advance(0.2)
    assert end_overdue(room) == 1
    dead = room.task(task.task_id)
    assert (dead.status, dead.triage, dead.error_kind, dead.attempt) == ("dead", "open", "expired", 0)
    assert "nothing was run" in dead.error
    assert dead.fingerprint
    assert end_overdue(room) == 0


def test_what_has_begun_goes_on(room: Room) -> None:
    running = room.claim(due_soon(room))
    failed = room.finish(room.claim(due_soon(room, shop_id="s2")), "retrying", delay_ms=30_000)
    room.clock.advance(11)
    assert end_overdue(room) == 0
    assert [room.task(task.task_id).status for task in (running, failed)] == ["running", "retrying"]
    assert room.store.overdue(10) == [], "nobody needs to look at them again"


def test_a_parked_task_ends_too_and_lets_its_dependants_know(room: Room) -> None:
    room.store.set_pause(Pause(scope="shop:pdd:s1", by="ann"))
    task = due_soon(room)
    follower = room.create(shop_id="s2", depends_on=(task.task_id,), on_dependency_failure="cancel")
    room.clock.advance(11)
    assert end_overdue(room) == 1
    assert [room.task(one.task_id).status for one in (task, follower)] == ["dead", "cancelled"]


def test_a_record_that_is_gone_is_not_asked_for_again(room: Room) -> None:
    task = due_soon(room)
    room.store.forget_deadlines([task.task_id])
    room.clock.advance(11)
    assert room.store.overdue(10) == []
    assert end_overdue(room) == 0


def test_a_late_claim_is_told_by_the_record(room: Room) -> None:
    task = due_soon(room)
    assert not deadlines.missed(room.claim(task))
    late = due_soon(room, shop_id="s2")
    room.clock.advance(11)
    assert deadlines.missed(room.claim(late))


@pytest.mark.parametrize(("deadline", "delay"), [(-1, 0.0), (0, 0.0), (5_000, 5.0), (5_000, 6.0)])
def test_a_deadline_that_cannot_be_kept_is_refused(room: Room, deadline: int, delay: float) -> None:
    at = room.store.now_ms() + deadline
    with pytest.raises(UsageError, match="deadline cannot be kept") as refused:
        room.producer.prepare(room.spec(deadline_ms=at, delay_s=delay))
    assert refused.value.field == "deadline"
