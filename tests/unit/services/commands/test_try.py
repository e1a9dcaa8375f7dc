"""Try one anyway: who may, what is written down before, and what the leader does for those who wait for more."""

from __future__ import annotations

import json

import pytest

from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.outcome import Outcome
from services.commands.tasks import TaskCommands
from services.domain.change import Claim
from services.domain.errors import NotAllowed, StoreUnavailable, UsageError
from services.domain.fleet.shop import Pause
from services.domain.gates import passing
from services.domain.gates.passing import Pass
from services.engine.lead.opener import Opener
from tests.unit.services.engine.room import Room

WHY = "the buyer is on the phone"


def commands(room: Room, role: str = "operator") -> TaskCommands:
    who = Operator(who="ann@desk", role=role)
    return TaskCommands(
        room.store, room.producer, room.steps, Audit(room.store, who.who), who, republish=lambda _ids: Outcome()
    )


def parked(room: Room) -> str:
    room.store.set_pause(Pause(scope="all", by="bob@desk", reason="audit"))
    task = room.create()
    room.take()
    claim = Claim(task_id=task.task_id, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=1)
    assert room.ask(claim).code == "blocked"
    return task.task_id


def test_it_is_published_and_the_audit_says_who_and_why(room: Room) -> None:
    task_id = parked(room)
    assert commands(room).try_anyway(task_id, reason=f"  {WHY}\n").done == (task_id,)
    assert (room.task(task_id).status, room.ready()) == ("queued", 1)
    (entry,) = room.store.audit(10)
    assert (entry.who, entry.action, entry.target, entry.outcome) == ("ann@desk", "task.try", (task_id,), "done")
    assert json.loads(entry.detail)["reason"] == WHY


def test_the_entry_stands_before_the_act(room: Room) -> None:
    task_id = parked(room)
    desk = commands(room)
    room.store.forgetful = 1
    with pytest.raises(StoreUnavailable):
        desk.try_anyway(task_id, reason=WHY)
    assert [entry.action for entry in room.store.audit(10)] == ["task.try"]


def test_a_viewer_may_not(room: Room) -> None:
    task_id = parked(room)
    with pytest.raises(NotAllowed):
        commands(room, "viewer").try_anyway(task_id, reason=WHY)
    assert room.store.documents(passing.KIND) == {}
    assert room.ready() == 0


@pytest.mark.parametrize("reason", ["", "  \n", "x" * (passing.REASON_LIMIT + 1)])
def test_without_a_reason_nothing_happens(room: Room, reason: str) -> None:
    task_id = parked(room)
    with pytest.raises(UsageError) as refused:
        commands(room).try_anyway(task_id, reason=reason)
    assert refused.value.field == "reason"
    assert room.store.documents(passing.KIND) == {}


def test_the_leader_lets_go_who_waited_for_something_else_and_forgets_what_is_void(room: Room) -> None:
    task_id = parked(room)
    one = Pass(shop="pdd:s1", attempt=0, by="ann@desk", at=1, reason=WHY)
    for name, attempt in ((task_id, 0), ("gone", 0)):
        body = json.dumps({"shop": one.shop, "attempt": attempt, "by": one.by, "at": one.at, "reason": one.reason})
        room.store.put_document(passing.KIND, name, body)
    assert Opener(room.store, room.steps).open_passed() == 1
    assert room.task(task_id).status == "queued"
    assert set(room.store.documents(passing.KIND)) == {task_id}
    assert Opener(room.store, room.steps).open_passed() == 0
