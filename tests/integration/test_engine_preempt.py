"""An urgent task that finds no slot takes that of a task that may be stopped and begun again; both pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.waiting import eventually
from tests.integration.fleet_rig import Fleet, define, moves


def crawl(fleet: Fleet, count: int, gate: Path, **policy: Any) -> list[str]:
    """Low tasks that run until the gate opens, of a type that may be stopped."""
    define(fleet, "work", **({"preemptible": True} | policy))
    return [fleet.create(f"c{number}", priority="low", until=str(gate)) for number in range(count)]


def running(fleet: Fleet, ids: list[str]) -> list[str]:
    return [task_id for task_id in ids if fleet.task(task_id).status == "running"]


def test_it_takes_the_slot_of_a_low_one_which_begins_again_uncounted(fleet: Fleet) -> None:
    gate = fleet.folder / "gate"
    low = crawl(fleet, 2, gate)
    worker = fleet.worker(2)
    eventually(lambda: len(running(fleet, low)) == 2, 30)
    urgent = fleet.create("u", "once", priority=8)
    fleet.wait(urgent, "succeeded")
    (victim,) = [task_id for task_id in low if len(fleet.task(task_id).attempts) == 1]
    task = fleet.task(victim)
    (attempt,) = task.attempts
    assert (attempt.outcome, attempt.error) == ("preempted", f"made way for {urgent}")
    assert (task.retries, task.error_kind) == (0, "")
    assert moves(task)[:4] == ["pending", "queued", "running", "pending"]
    gate.touch()
    ended = fleet.wait_ended(low)
    assert {(one.status, one.retries) for one in ended} == {("succeeded", 0)}
    assert worker.info().failed == 0
    eventually(
        lambda: all(
            not depth.ready and not depth.unacked for depth in fleet.engine.broker.depths() if depth.kind != "notice"
        ),
        30,
    )


def test_one_slot_is_left_to_the_low_lane_and_nobody_makes_way_for_ever(fleet: Fleet) -> None:
    gate, second = fleet.folder / "gate", fleet.folder / "second"
    low = crawl(fleet, 2, gate)
    fleet.worker(2, preemptions=1)
    eventually(lambda: len(running(fleet, low)) == 2, 30)
    urgent = [fleet.create(f"u{number}", "once", priority="high", until=str(second)) for number in range(2)]
    eventually(lambda: len(running(fleet, urgent)) == 1, 30)
    eventually(lambda: len(running(fleet, low)) == 1, 30)
    assert len(running(fleet, urgent)) == 1, "one slot is kept for the low lane"
    second.touch()
    fleet.wait_ended(urgent)
    eventually(lambda: len(running(fleet, low)) == 2, 30)
    third = fleet.create("u3", "once", priority="high")
    fleet.wait(third, "succeeded")
    made_way = [one.outcome for task_id in low for one in fleet.task(task_id).attempts]
    assert made_way == ["preempted"] * 2, "the other one, for this has made way as often as it must"
    eventually(lambda: len(running(fleet, low)) == 2, 30)
    last = fleet.create("u4", "once", priority="high", until=str(gate))
    assert fleet.task(last).status == "queued"
    gate.touch()
    fleet.wait_ended([*low, last])
    assert [len(fleet.task(task_id).attempts) for task_id in low] == [2, 2]


def test_what_may_not_be_stopped_is_not(fleet: Fleet) -> None:
    gate = fleet.folder / "gate"
    low = crawl(fleet, 1, gate, preemptible=False)
    above = [fleet.create("n", priority=4, until=str(gate))]
    fleet.worker(2)
    eventually(lambda: len(running(fleet, [*low, *above])) == 2, 30)
    define(fleet, "once", preemptible=True)
    urgent = fleet.create("u", "once", priority="high")
    other = fleet.create("o", "once", priority="high")
    gate.touch()
    for task in fleet.wait_ended([*low, *above, urgent, other]):
        assert [one.outcome for one in task.attempts] == ["succeeded"]


def test_of_two_full_workers_one_makes_room(fleet: Fleet) -> None:
    gate = fleet.folder / "gate"
    low = crawl(fleet, 4, gate, idempotent=False)
    for name in ("w1", "w2"):
        fleet.worker(2, engine=fleet.open(), name=name)
    eventually(lambda: len(running(fleet, low)) == 4, 30)
    urgent = fleet.create("u", "once", priority="high", until=str(gate))
    fleet.wait(urgent, "running")
    eventually(lambda: len(running(fleet, low)) == 3, 30)
    gate.touch()
    ended = fleet.wait_ended([*low, urgent])
    assert {task.status for task in ended} == {"succeeded"}
    assert sum(len(task.attempts) for task in ended) == 6


def test_a_task_that_a_gate_holds_back_takes_no_slot(fleet: Fleet) -> None:
    gate = fleet.folder / "gate"
    low = crawl(fleet, 2, gate)
    fleet.worker(2)
    eventually(lambda: len(running(fleet, low)) == 2, 30)
    fleet.commands().fleet.pause("shop:pdd:u")
    urgent = fleet.create("u", "once", priority="high")
    assert fleet.wait(urgent, "blocked").gate == "paused"
    assert len(running(fleet, low)) == 2
    gate.touch()
    fleet.wait_ended(low)
    assert [len(fleet.task(task_id).attempts) for task_id in low] == [1, 1]


@pytest.mark.parametrize(("older", "younger", "stopped"), [(2, 2, "younger"), (1, 2, "older"), (2, 1, "younger")])
def test_the_least_urgent_makes_way_and_of_two_the_one_that_loses_least(
    fleet: Fleet, older: int, younger: int, stopped: str
) -> None:
    gate = fleet.folder / "gate"
    define(fleet, "work", preemptible=True)
    fleet.worker(2)
    first = fleet.create("c1", priority=older, until=str(gate))
    fleet.wait(first, "running")
    second = fleet.create("c2", priority=younger, until=str(gate))
    fleet.wait(second, "running")
    fleet.wait(fleet.create("u", "once", priority="high"), "succeeded")
    made_way = [one for one in (first, second) if fleet.task(one).attempts]
    gate.touch()
    fleet.wait_ended([first, second])
    assert made_way == [{"older": first, "younger": second}[stopped]]
