"""A cancelled task is created again: the same work under a new id, once, through the duplicate guard; both pairs."""

from __future__ import annotations

import json

import pytest

from services import assembly
from services.commands.back.ways import Way, take_back, way_of
from services.domain import audit
from services.domain.errors import UsageError
from services.domain.task.status import Status
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, define


def test_what_was_cancelled_while_it_waited_is_created_again_once(fleet: Fleet) -> None:
    spec = TaskSpec(
        platform="pdd", shop_id="s1", task_type="work", payload={"n": 1}, priority=9, batch="b", max_retries=1
    )
    (old,) = fleet.submit(spec).created
    behind = fleet.create("s2", n=2, depends_on=(old.task_id,))
    tasks = fleet.commands().tasks
    assert tasks.create_again([old.task_id]).skipped[0].why.code == "task.not_cancelled"
    assert set(tasks.cancel([old.task_id, behind]).done) == {old.task_id, behind}
    outcome = tasks.create_again([old.task_id])
    assert outcome.done == (old.task_id,)
    fresh = fleet.task(outcome.made[old.task_id])
    assert fresh.task_id != old.task_id
    assert (fresh.parent, fresh.origin, fresh.shop, fresh.batch) == (old.task_id, "again", "pdd:s1", "b")
    assert (fresh.priority, fresh.lane, fresh.max_retries, fresh.uniq) == (9, "high", 1, old.uniq)
    assert json.loads(fresh.payload) == {"n": 1}
    assert fleet.task(old.task_id).status == Status.CANCELLED
    detail = assembly.queries(fleet.engine).tasks.detail(old.task_id)
    assert detail is not None
    assert detail.again == fresh.task_id
    (again,) = tasks.create_again([old.task_id]).skipped
    assert (again.why.code, again.why.params["id"]) == ("task.created_again", fresh.task_id)
    assert [one.action for one in fleet.engine.store.audit(1)] == ["task.create_again"]
    fleet.worker()
    fleet.wait(fresh.task_id, Status.SUCCEEDED)


@pytest.mark.parametrize("portion", [200, 1])
def test_tasks_that_waited_for_each_other_do_so_again(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    """In whatever order they are named: what waits for a cancelled one would wait for ever."""
    monkeypatch.setattr("services.commands.tasks.BATCH", portion)
    first = fleet.create("s1", n=1)
    second = fleet.create("s2", n=2, depends_on=(first,))
    third = fleet.create("s3", n=3, depends_on=(first, second))
    tasks = fleet.commands().tasks
    tasks.cancel([first, second, third])
    made = tasks.create_again([third, second, first]).made
    assert made.keys() == {first, second, third}
    assert fleet.task(made[third]).depends_on == (made[first], made[second])
    fleet.worker()
    for fresh in made.values():
        fleet.wait(fresh, Status.SUCCEEDED)


def test_one_waits_for_what_stands_for_a_cancelled_one_since_earlier(fleet: Fleet) -> None:
    first = fleet.create("s1", n=1)
    second = fleet.create("s2", n=2, depends_on=(first,))
    tasks = fleet.commands().tasks
    tasks.cancel([first, second])
    again = tasks.create_again([first]).made[first]
    tasks.cancel([again])
    last = tasks.create_again([again]).made[again]
    made = tasks.create_again([first, second]).made
    assert made.keys() == {second}
    assert fleet.task(made[second]).depends_on == (last,)


def test_the_same_work_that_is_active_already_is_not_created_beside_it(fleet: Fleet) -> None:
    spec = TaskSpec(platform="pdd", shop_id="s1", task_type="once", payload={"n": 1})
    (old,) = fleet.submit(spec).created
    tasks = fleet.commands().tasks
    tasks.cancel([old.task_id])
    (other,) = fleet.submit(spec).created
    (left,) = tasks.create_again([old.task_id]).skipped
    assert (left.why.code, left.why.params["id"]) == ("task.duplicate", other.task_id)
    assert tasks.create_again(["nobody"]).skipped[0].why.code == "task.unknown"


@pytest.mark.parametrize("kind", ["once", "single"])
def test_what_somebody_has_done_since_is_created_again_for_a_reason_only(fleet: Fleet, kind: str) -> None:
    """Also where its type asks for none, or no longer: the work was asked for before that success."""
    define(fleet, kind, idempotent=kind == "single", uniqueness="shop_type", unique_for="1s" if kind == "once" else "")
    old, tasks = fleet.create("s1", kind), fleet.commands().tasks
    tasks.cancel([old])
    fleet.worker()
    done = fleet.wait(fleet.create("s1", kind), Status.SUCCEEDED)
    eventually(lambda: fleet.engine.store.now_ms() > done.ended_at + 1_000)
    (left,) = tasks.create_again([old]).skipped
    assert (left.why.code, left.why.params["id"]) == ("task.done", done.task_id)
    outcome = tasks.create_again([old], reason="the shop lost it")
    again = fleet.wait(outcome.made[old], Status.SUCCEEDED)
    assert again.reason == "the shop lost it"


def test_a_deadline_that_has_passed_is_not_asked_for_again_and_one_to_come_is(fleet: Fleet) -> None:
    """Nobody could keep it: the task would be refused for the very reason for which somebody creates it again."""
    store, tasks = fleet.engine.store, fleet.commands().tasks
    soon, later = store.now_ms() + 500, store.now_ms() + 3_600_000
    missed = fleet.create("s1", n=1, deadline_ms=soon)
    waits = fleet.create("s2", n=2, deadline_ms=later)
    assert set(tasks.cancel([missed, waits]).done) == {missed, waits}
    eventually(lambda: store.now_ms() > soon)
    outcome = tasks.create_again([missed, waits])
    assert (set(outcome.done), outcome.skipped) == ({missed, waits}, ())
    assert fleet.task(outcome.made[missed]).deadline == 0
    assert fleet.task(outcome.made[waits]).deadline == later


def test_what_was_done_of_an_act_is_taken_back_from_its_entry_and_no_other(fleet: Fleet) -> None:
    waits, ended, also = (fleet.create(name) for name in ("s1", "s2", "s3"))
    commands, trail = fleet.commands(), assembly.queries(fleet.engine).audit
    assert commands.tasks.cancel([ended]).clean
    outcome = commands.tasks.cancel([waits, ended, also])
    assert set(outcome.done) == {waits, also}
    entry = fleet.engine.store.audit(1)[0]
    assert audit.state(entry, fleet.engine.store.now_ms()) == "partly"
    way = way_of(entry, fleet.engine.store.now_ms())
    assert isinstance(way, Way)
    assert (set(way.objects), way.asked) == ({waits, also}, 3)
    back = take_back(commands, trail, entry)
    assert set(back.done) == {waits, also}
    assert {fleet.task(new).parent for new in back.made.values()} == {waits, also}
    told = fleet.engine.store.audit(1)[0]
    assert (told.action, set(told.target), told.outcome) == ("task.create_again", {waits, also}, "done")
    with pytest.raises(UsageError):
        take_back(commands, trail, entry)


def test_a_batch_that_was_cancelled_in_part_names_what_was_not(fleet: Fleet) -> None:
    made = fleet.submit(*(TaskSpec(platform="pdd", shop_id=f"s{n}", task_type="work", batch="b") for n in range(3)))
    first, *others = (one.task_id for one in made.created)
    commands, trail = fleet.commands(), assembly.queries(fleet.engine).audit
    plan = commands.batches.plan_cancel("b")
    commands.tasks.cancel([first])
    commands.batches.cancel(plan)
    entry = fleet.engine.store.audit(1)[0]
    way = way_of(entry, fleet.engine.store.now_ms())
    assert isinstance(way, Way)
    assert (set(way.objects), way.asked) == (set(others), 3)
    assert set(take_back(commands, trail, entry).done) == set(others)
