"""A batch as one on both pairs: what is running, waiting, dead and held in it."""

from __future__ import annotations

import pytest

from services import assembly
from services.commands.back.ways import take_back
from services.domain.errors import UsageError
from services.engine.spec import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet


def test_a_batch_of_every_kind_is_cancelled_and_retried(fleet: Fleet) -> None:
    batches, look = fleet.commands().batches, assembly.queries(fleet.engine).batches
    failed = [fleet.create(f"f{n}", fail="bad_payload", batch="B") for n in range(2)]
    fleet.worker(2)
    fleet.wait_ended(failed)
    running = fleet.create("s1", sleep=60, batch="B")
    fleet.wait(running, "running")
    parked = fleet.create("s1", n=2, batch="B")
    fleet.wait(parked, "blocked")
    other = fleet.create("s1", n=3, batch="other")
    assert [view.batch for view in look.page(5)[0]] == ["other", "B"]
    view = look.show("B")
    assert (view.counts, view.progress) == ({"dead": 2, "running": 1, "blocked": 1}, 50)
    assert view.begun_at == fleet.task(failed[0]).created_at
    assert view.left_s is not None
    assert view.left_s > 0
    plan = batches.plan_cancel("B")
    assert set(plan.task_ids) == {running, parked}
    done = batches.cancel(plan, reason="enough")
    assert (done.outcome.done, done.outcome.pending) == ((parked,), (running,))
    assert fleet.wait(running, "cancelled").reason == "enough"
    assert fleet.task(other).status != "cancelled"
    again = batches.retry(batches.plan_retry("B"))
    assert set(again.outcome.made) == set(failed)
    assert again.before == {"dead": 2, "cancelled": 2}
    assert sum(again.after.values()) == 4, "the new ones may have died already, and stand for the old ones"
    eventually(lambda: look.show("B").counts == {"dead": 2, "cancelled": 2}, 30)
    assert [(view.batch, view.total) for view in look.page(5)[0]] == [("other", 1), ("B", 4)], "as it stands itself"
    assert look.show("B").left_s == 0.0
    assert batches.plan_cancel("B").task_ids == ()
    with pytest.raises(UsageError, match="batch list"):
        batches.plan_retry("nobody")


def test_what_was_created_again_counts_once_in_what_is_told_of_an_act(fleet: Fleet) -> None:
    commands, batches = fleet.commands(), fleet.commands().batches
    ids = [fleet.create(f"s{n}", n=n, batch="B") for n in range(3)]
    assert batches.cancel(batches.plan_cancel("B")).after == {"cancelled": 3}
    assert len(commands.tasks.create_again(ids).made) == 3
    plan = batches.plan_cancel("B")
    assert (sum(plan.before.values()), len(plan.task_ids)) == (3, 3)
    assert batches.cancel(plan).after == {"cancelled": 3}
    (entry,) = fleet.engine.store.audit(1)
    assert (entry.action, entry.outcome) == ("batch.cancel", "done; after: cancelled 3")
    assert '"before": {"queued": 3}' in entry.detail


def test_a_large_batch_that_was_raised_is_lowered_again_but_for_what_is_to_run_now(fleet: Fleet) -> None:
    commands = fleet.commands()
    specs = [spec(f"s{n}", {"n": n}, "B", 2 if n < 3 else 6) for n in range(260)]
    ids = [task.task_id for task in fleet.submit(*specs).created]
    urgent = fleet.create("u", batch="B", priority=10)
    commands.tasks.place({ids[5]: ("low", 6)})
    done = commands.batches.raise_waiting(commands.batches.plan_raise("B"))
    assert len(done.outcome.done) == 260
    (entry,) = fleet.engine.store.audit(1)
    commands.tasks.run_now([ids[9], urgent])
    back = take_back(commands, assembly.queries(fleet.engine).audit, entry)
    assert set(back.done) == {*ids} - {ids[9]}
    assert [(one.task_id, one.why.code) for one in back.skipped] == [(ids[9], "back.differs")]
    stands = [(task.lane, task.priority) for task in fleet.engine.store.get(ids) if task is not None]
    expected = [("low", 2)] * 3 + [("normal", 6)] * 257
    expected[5], expected[9] = ("low", 6), ("high", 10)
    assert (stands, fleet.task(urgent).lane) == (expected, "high")


def spec(shop: str, payload: dict[str, object], batch: str, priority: int) -> TaskSpec:
    return TaskSpec(
        platform="pdd", shop_id=shop, task_type="sync_order", payload=payload, batch=batch, priority=priority
    )


def test_nobody_can_tell_how_long_it_takes_before_something_has_ended(fleet: Fleet) -> None:
    look = assembly.queries(fleet.engine).batches
    fleet.create("s1", batch="B")
    assert look.show("B").left_s is None, "nothing has ended yet"
    assert look.show("nobody").total == 0


def test_nobody_can_tell_when_a_batch_is_through_of_which_tasks_wait_for_what_never_succeeds(fleet: Fleet) -> None:
    look = assembly.queries(fleet.engine).batches
    done, dropped = [fleet.create("s1", n=n, batch="B") for n in range(3)], fleet.create("s2", delay_s=60, batch="B")
    fleet.worker()
    fleet.wait_ended(done)
    waiting = fleet.create("s3", batch="B", depends_on=(dropped,))
    fleet.create("s4", batch="B", depends_on=(waiting,))
    assert look.show("B").left_s is not None
    fleet.commands().tasks.cancel([dropped])
    assert look.show("B").left_s is None
    fleet.commands().tasks.cancel([waiting])
    assert look.show("B").left_s is None, "the next one waits for it"
