"""Tasks that wait for other tasks, with workers at work; both pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from services import assembly
from services.domain.change import Claim, Finish
from services.domain.insight import wait
from services.domain.task.record import Attempt
from services.engine.producer import TaskSpec
from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, lines, moves


def order(seen: Path) -> list[str]:
    """Ids in the order of their starts."""
    return [row[1] for row in lines(seen, "start")]


def test_a_chain_runs_link_by_link(fleet: Fleet, seen: Path) -> None:
    one = fleet.create("s1", seen=str(seen), n=1)
    two = fleet.create("s2", seen=str(seen), n=2, depends_on=(one,))
    three = fleet.create("s3", seen=str(seen), n=3, depends_on=(two,))
    assert [fleet.task(one_id).status for one_id in (two, three)] == ["blocked", "blocked"]
    fleet.worker()
    assert {task.status for task in fleet.wait_ended([one, two, three])} == {"succeeded"}
    assert order(seen) == [one, two, three]
    went = [status for status in moves(fleet.task(three)) if status != "queued"]  # claimed before the confirm counted
    assert went == ["blocked", "pending", "running", "succeeded"]


def test_a_fan_in_of_five(fleet: Fleet, seen: Path) -> None:
    five = [fleet.create(f"s{number}", seen=str(seen), sleep=0.02 * number) for number in range(5)]
    last = fleet.create("last", seen=str(seen), depends_on=tuple(five))
    fleet.worker(8)
    fleet.wait_ended([*five, last])
    assert order(seen)[-1] == last
    assert len(order(seen)) == 6
    assert fleet.task(last).started_at >= max(fleet.task(task_id).ended_at for task_id in five)


def test_a_fan_out_of_fifty_in_one_bulk(fleet: Fleet) -> None:
    specs = [TaskSpec(platform="pdd", shop_id="first", task_type="work", key="first")]
    specs += [
        TaskSpec(platform="pdd", shop_id=f"s{number}", task_type="work", depends_on=["first"]) for number in range(50)
    ]
    done = fleet.submit(*specs)
    assert (done.errors, len(done.created)) == ((), 51)
    fleet.worker(8)
    tasks = fleet.wait_ended([task.task_id for task in done.created])
    assert {task.status for task in tasks} == {"succeeded"}


def test_a_failed_dependency_holds_or_cancels(fleet: Fleet) -> None:
    bad = fleet.create("s1", fail="bad_payload")
    held = fleet.create("s2", depends_on=(bad,))
    gone = fleet.create("s3", depends_on=(bad,), on_dependency_failure="cancel")
    after = fleet.create("s4", depends_on=(gone,), on_dependency_failure="cancel")
    fleet.worker()
    fleet.wait(bad, "dead")
    assert fleet.wait(after, "cancelled").reason == f"dependency {gone} is cancelled"
    assert fleet.task(gone).reason == f"dependency {bad} is dead"
    assert (fleet.task(held).status, fleet.task(held).gate) == ("blocked", "dependency")
    (closed,) = [gate for gate in gates(fleet, held) if gate.state == "closed"]
    assert (closed.name, closed.code, closed.params["id"]) == ("dependency", "gate.dependency_dead", bad)


def gates(fleet: Fleet, task_id: str) -> tuple[wait.GateView, ...]:
    detail = assembly.queries(fleet.engine).tasks.detail(task_id)
    assert detail is not None
    return detail.gates


def test_a_republished_dependency_is_followed(fleet: Fleet) -> None:
    bad = fleet.create("s1", fail="bad_payload", fail_first=1)
    second = fleet.create("s2", depends_on=(bad,))
    fleet.worker()
    fleet.wait(bad, "dead")
    outcome = fleet.commands().dead_letters.republish([bad], payload={})
    again = outcome.made[bad]
    fleet.wait(again, "succeeded")
    assert fleet.wait(second, "succeeded").depends_on == (bad,)


def test_the_sentence_names_the_republished_task(fleet: Fleet) -> None:
    bad = fleet.create("s1", fail="bad_payload")
    second = fleet.create("s2", depends_on=(bad,))
    worker = fleet.worker()
    fleet.wait(bad, "dead")
    worker.stop(5.0)
    again = fleet.commands().dead_letters.republish([bad]).made[bad]
    (closed,) = [gate for gate in gates(fleet, second) if gate.state == "closed"]
    assert (closed.code, closed.params["id"], closed.params["status"]) == ("gate.dependency", again, "queued")


def test_unknown_and_circular_dependencies_are_refused(fleet: Fleet) -> None:
    known = fleet.create("s1")
    done = fleet.submit(
        TaskSpec(platform="pdd", shop_id="s2", task_type="work", depends_on=[known, "nobody"]),
        TaskSpec(platform="pdd", shop_id="s3", task_type="work", key="a", depends_on=["b"]),
        TaskSpec(platform="pdd", shop_id="s4", task_type="work", key="b", depends_on=["a"]),
    )
    assert done.created == ()
    assert [field for _, field, _ in done.errors] == ["depends_on"] * 3
    assert "'nobody'" in done.errors[0][2]
    assert "a → b → a" in done.errors[1][2]


def test_a_crash_between_success_and_release_is_repaired(fleet: Fleet) -> None:
    """The worker recorded the outcome and was killed before it published what that released."""
    first = fleet.create("s1")
    second = fleet.create("s2", depends_on=(first,))
    claim = Claim(task_id=first, gen=0, attempt=0, owner="w#1", worker="w", lease_ms=60_000)
    claimed = fleet.apply(claim).task
    assert claimed is not None
    outcome = Attempt(
        number=1, worker="w", started_at=claimed.started_at, ended_at=claimed.started_at, outcome="succeeded"
    )
    answer = fleet.apply(Finish(task_id=first, owner=claimed.owner, to="succeeded", attempt=outcome))
    assert [task.task_id for task in answer.released] == [second]
    assert fleet.task(second).status == "pending", "released, and nobody has published it"
    fleet.reconciler().republish_outbox()
    fleet.worker()
    fleet.wait(second, "succeeded")


@pytest.mark.parametrize("count", [260])
def test_very_many_dependants_are_released(fleet: Fleet, count: int) -> None:
    first = fleet.create("first")
    done = fleet.submit(
        *(
            TaskSpec(platform="pdd", shop_id=f"s{number}", task_type="work", depends_on=[first])
            for number in range(count)
        )
    )
    fleet.worker(8)
    reconciler = fleet.reconciler()
    fleet.wait(first, "succeeded")
    eventually(lambda: reconciler.tell_dependants() > 0 or not fleet.engine.store.untold(1), 30)
    tasks = fleet.wait_ended([task.task_id for task in done.created])
    assert {task.status for task in tasks} == {"succeeded"}


def test_a_batch_is_counted_cancelled_and_retried_as_one(fleet: Fleet) -> None:
    specs = [
        TaskSpec(platform="pdd", shop_id=f"s{number}", task_type="work", batch="B", payload={"fail": "bad_payload"})
        for number in range(3)
    ]
    specs += [
        TaskSpec(platform="pdd", shop_id=f"p{number}", task_type="work", batch="B", delay_s=3600) for number in range(2)
    ]
    ids = [task.task_id for task in fleet.submit(*specs).created]
    other = fleet.create("other", delay_s=3600)
    fleet.worker()
    for task_id in ids[:3]:
        fleet.wait(task_id, "dead")
    questions = assembly.queries(fleet.engine)
    tasks, batches = questions.tasks, questions.batches
    view = batches.show("B")
    assert (dict(view.counts), view.total, view.ended, view.progress) == ({"dead": 3, "scheduled": 2}, 5, 3, 60)
    chosen = tasks.ids("batch:B status:active")
    assert sorted(fleet.commands().tasks.cancel(chosen).done) == sorted(ids[3:])
    assert batches.show("B").progress == 100
    made = fleet.commands().dead_letters.republish(tasks.ids("batch:B status:dead")).made
    assert sorted(made) == sorted(ids[:3])
    assert batches.show("B").total == 5, "what a letter was sent again as stands for it there"
    assert len(tasks.ids("batch:B")) == 8
    assert fleet.task(other).status == "scheduled"
