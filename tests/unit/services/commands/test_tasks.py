"""Commands on tasks: item by item, in batches, each with its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.commands import tasks as tasks_
from services.commands.outcome import Outcome, Refusal
from services.commands.tasks import BATCH, join
from services.domain.audit import TARGETS_KEPT, count_of
from services.domain.change import Cancel
from services.domain.errors import UsageError
from services.domain.task.record import Task
from services.domain.text.message import Message
from tests.unit.services.commands.conftest import Desk
from tests.unit.services.engine.room import Room


def test_who_asked_is_kept_in_the_record(room: Room, desk: Desk) -> None:
    (task,) = desk.tasks.create([room.spec()], origin="console").created
    assert (task.created_by, task.origin) == ("ann@desk", "console")


def test_a_large_bulk_is_one_audit_entry_and_one_outcome(room: Room, desk: Desk) -> None:
    tasks = desk.tasks.create([room.spec(shop_id=f"s{number}") for number in range(BATCH + 10)], origin="cli").created
    outcome = desk.tasks.cancel([task.task_id for task in tasks])
    assert len(outcome.done) == BATCH + 10
    assert outcome.clean
    assert room.store.counts().status == {"cancelled": BATCH + 10}
    assert [entry.action for entry in room.store.audit(10)] == ["task.cancel", "task.create"]


def test_an_entry_of_new_tasks_names_each_shop_once(room: Room, desk: Desk) -> None:
    specs = [room.spec(shop_id=f"s{number}", task_type=name) for name in ("a", "b") for number in range(TARGETS_KEPT)]
    desk.tasks.create(specs, origin="cli")
    (entry,) = room.store.audit(1)
    assert entry.target == tuple(f"pdd:s{number}" for number in range(TARGETS_KEPT))
    assert count_of(entry) == TARGETS_KEPT, "shops, not tasks"


def test_a_running_task_is_asked_and_its_worker_told(room: Room, desk: Desk) -> None:
    task = room.running()
    outcome = desk.tasks.cancel([task.task_id])
    assert (outcome.done, outcome.pending, outcome.clean) == ((), (task.task_id,), True)
    assert room.task(task.task_id).cancel == "requested"
    ended = room.finish(room.running(shop_id="s2"), "succeeded")
    desk.tasks.cancel([room.running(shop_id="s3").task_id, ended.task_id])
    assert room.store.audit(1)[0].outcome.startswith("partly: 1 done, 1 refused")


def test_cancelling_what_holds_a_shop_lets_the_next_go(room: Room, desk: Desk) -> None:
    held = room.finish(room.running(), "held", error_kind="worker_lost")
    assert desk.tasks.resolve([held.task_id], "succeeded", note="it is there").done == (held.task_id,)
    assert room.store.executed([held.task_id]) == [True]
    with pytest.raises(UsageError):
        desk.tasks.resolve([held.task_id], "running", note="")


@pytest.mark.parametrize(
    ("status", "code"),
    [("succeeded", "retry.use_duplicate"), ("cancelled", "retry.use_duplicate"), ("queued", "retry.not_failed")],
)
def test_retry_says_what_to_do_instead(room: Room, desk: Desk, status: str, code: str) -> None:
    task = room.create()
    if status == "succeeded":
        task = room.finish(room.claim(task), "succeeded")
    elif status == "cancelled":
        desk.tasks.cancel([task.task_id])
    (refusal,) = desk.tasks.retry_waiting([task.task_id]).skipped
    assert refusal.why.code == code


def test_what_waits_to_be_tried_again_is_tried_at_once(room: Room, desk: Desk) -> None:
    task = room.finish(room.running(), "retrying", delay_ms=600_000, error_kind="network")
    assert desk.tasks.retry_waiting([task.task_id]).done == (task.task_id,)
    assert (room.task(task.task_id).status, room.task(task.task_id).due_at) == ("queued", 0)


def test_what_is_tried_at_once_keeps_its_place(room: Room, desk: Desk) -> None:
    task = room.finish(room.running(priority=2), "retrying", delay_ms=600_000, error_kind="network")
    desk.tasks.retry_waiting([task.task_id])
    found = room.task(task.task_id)
    assert (found.lane, found.priority) == (task.lane, task.priority) == ("low", 2)


def test_what_is_created_again_keeps_what_it_was_asked_for_with(room: Room, desk: Desk) -> None:
    first = room.create(shop_id="s1")
    old = room.create(
        shop_id="s2", depends_on=(first.task_id,), on_dependency_failure="cancel", extra='{"trace": "7"}', batch="night"
    )
    desk.tasks.cancel([old.task_id])
    fresh = room.task(desk.tasks.create_again([old.task_id]).made[old.task_id])
    assert (fresh.on_dependency_failure, fresh.extra, fresh.batch) == ("cancel", '{"trace": "7"}', "night")
    assert fresh.depends_on == (first.task_id,)


def test_what_may_have_been_done_is_created_again_for_a_reason(room: Room, desk: Desk) -> None:
    room.define("once", idempotent=False)
    begun = held(room, task_type="once")
    desk.tasks.cancel([begun.task_id], reason="looked into the shop")
    left = desk.tasks.create_again([begun.task_id], reason=" ", untouched=True).skipped
    assert [one.why.code for one in left] == ["verdict.outcome_unknown"]
    assert desk.tasks.create_again([begun.task_id], reason="it was not there", untouched=True).done == (begun.task_id,)


def test_retrying_what_is_dead_is_republishing_it(room: Room, desk: Desk) -> None:
    dead, held = room.dead(), room.finish(room.running(shop_id="s2"), "held", error_kind="worker_lost")
    outcome = desk.tasks.retry_waiting([dead.task_id, held.task_id, dead.task_id], reason="looked")
    assert (set(outcome.done), outcome.skipped) == ({dead.task_id, held.task_id}, ())
    fresh = room.task(outcome.made[dead.task_id])
    assert (fresh.status, fresh.parent, room.task(dead.task_id).successor) == ("queued", dead.task_id, fresh.task_id)
    (again,) = desk.tasks.retry_waiting([dead.task_id]).skipped
    assert (again.why.code, again.why.params) == ("dead.already", {"id": fresh.task_id})
    assert {entry.action for entry in room.store.audit(10)} == {"task.retry", "dead.republish"}


def test_what_may_be_done_already_runs_again_only_with_a_reason_that_is_kept(room: Room, desk: Desk) -> None:
    one, other = held(room), held(room)
    (refusal,) = desk.tasks.retry_waiting([one.task_id], reason=" ").skipped
    assert refusal.why.code == "retry.say_why"
    with pytest.raises(UsageError) as caught:
        desk.tasks.resolve([one.task_id], "pending", note=" ")
    assert caught.value.field == "note"
    assert room.task(one.task_id).status == "held"
    assert desk.tasks.retry_waiting([one.task_id], reason="the shop lost it").done == (one.task_id,)
    assert desk.tasks.resolve([other.task_id], "pending", note="the shop lost it").done == (other.task_id,)
    assert {room.task(task.task_id).triage_note for task in (one, other)} == {"the shop lost it"}
    entries = room.store.audit(10)
    assert [entry.action for entry in entries if "the shop lost it" in entry.detail] == ["task.resolve", "task.retry"]


def test_what_may_be_done_already_is_given_up_only_with_a_reason_that_is_kept(room: Room, desk: Desk) -> None:
    """Its twin runs when it is over, and so does what somebody creates then: a second time without anybody's reason."""
    room.define("once", idempotent=False)
    one, other, harmless = (
        held(room, task_type="once", shop_id="s1"),
        held(room, task_type="once", shop_id="s2"),
        held(room, shop_id="s3"),
    )
    for refused in (desk.tasks.cancel([one.task_id], reason=" "), desk.tasks.resolve([one.task_id], "dead", note="")):
        assert [skip.why.code for skip in refused.skipped] == ["give_up.say_why"]
    assert room.task(one.task_id).status == "held"
    assert desk.tasks.cancel([one.task_id], reason="it did not run").done == (one.task_id,)
    assert desk.tasks.resolve([other.task_id], "dead", note="it did not run").done == (other.task_id,)
    assert (room.task(one.task_id).reason, room.task(other.task_id).triage_note) == ("it did not run",) * 2
    assert desk.tasks.cancel([harmless.task_id]).done == (harmless.task_id,), "its type may repeat its work"


@pytest.mark.parametrize(
    ("act", "done"),
    [
        (lambda desk, ids: desk.tasks.cancel(ids), True),
        (lambda desk, ids: desk.tasks.resolve(ids, "dead", note=""), False),
    ],
)
def test_what_is_held_only_when_its_portion_comes_is_not_given_up_without_a_reason_either(
    room: Room, desk: Desk, act: Callable[[Desk, list[str]], Outcome], done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many are a matter of minutes: what was read of the last before the first says nothing then."""
    monkeypatch.setattr(tasks_, "BATCH", 1)
    room.define("once", idempotent=False)
    first, last = room.create(shop_id="s1"), room.running(task_type="once", shop_id="s2")
    real = room.store.apply

    def apply(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(room.store, "apply", real)
        answer = real(*args, **more)
        room.finish(room.task(last.task_id), "held", error_kind="worker_lost")
        return answer

    monkeypatch.setattr(room.store, "apply", apply)
    outcome = act(desk, [first.task_id, last.task_id])
    assert outcome.done == ((first.task_id,) if done else ())
    assert outcome.skipped[-1] == Refusal(task_id=last.task_id, why=Message("give_up.say_why"))
    assert room.task(last.task_id).status == "held"


#: each command on a list of tasks, with a task that it is for
LISTS: dict[str, tuple[Callable[[Room], Task], Callable[[Desk, list[str]], Outcome]]] = {
    "cancel": (lambda room: room.create(), lambda desk, ids: desk.tasks.cancel(ids)),
    "run now": (lambda room: room.create(), lambda desk, ids: desk.tasks.run_now(ids)),
    "prioritize": (lambda room: room.create(), lambda desk, ids: desk.tasks.prioritize(ids, "high")),
    "create again": (lambda room: cancelled(room), lambda desk, ids: desk.tasks.create_again(ids)),
    "retry held": (lambda room: held(room), lambda desk, ids: desk.tasks.retry_waiting(ids, reason="looked")),
    "retry dead": (lambda room: room.dead(), lambda desk, ids: desk.tasks.retry_waiting(ids)),
    "resolve": (lambda room: held(room), lambda desk, ids: desk.tasks.resolve(ids, "dead", note="x")),
    "republish": (lambda room: room.dead(), lambda desk, ids: desk.dead_letters.republish(ids)),
    "archive": (lambda room: room.dead(), lambda desk, ids: desk.dead_letters.set_triage(ids, "archived")),
}


def cancelled(room: Room) -> Task:
    task = room.create()
    assert room.ask(Cancel(task_id=task.task_id, by="ann")).code == "ok"
    return room.task(task.task_id)


def held(room: Room, **fields: Any) -> Task:
    return room.finish(room.running(**fields), "held", error_kind="worker_lost")


@pytest.mark.parametrize("word", LISTS)
def test_a_task_that_is_named_twice_is_acted_on_and_counted_once(room: Room, desk: Desk, word: str) -> None:
    make, act = LISTS[word]
    task = make(room)
    outcome = act(desk, [task.task_id, task.task_id])
    assert (outcome.done, outcome.skipped, outcome.failed) == ((task.task_id,), (), ())
    (entry,) = room.store.audit(1)
    assert (entry.target, entry.outcome) == ((task.task_id,), "done")


def test_moving_what_runs_is_refused_with_its_status(room: Room, desk: Desk) -> None:
    task = room.running()
    (refusal,) = desk.tasks.prioritize([task.task_id], 9).skipped
    assert (refusal.why.code, refusal.why.params) == ("task.refused", {"status": "running"})


def test_outcomes_are_joined_in_order() -> None:
    refusal = Refusal(task_id="c", why=Message("task.unknown", {"id": "c"}))
    left = Outcome(done=("a",), made={"a": "x"})
    right = Outcome(done=("b",), skipped=(refusal,), pending=("d",), made={"b": "y"})
    both = join(left, right)
    assert (both.done, both.skipped, both.pending, both.made) == (("a", "b"), (refusal,), ("d",), {"a": "x", "b": "y"})
    assert (left.clean, both.clean) == (True, False)
